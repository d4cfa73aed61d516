"""Variants and budgets: a seed decides what it should, and no test sentence is among those learnt from."""

import pytest
import torch

from attnlib.experiments.variants import Budget, Variant, held_out, vocabularies
from attnlib.translator import luong, rnn_search

SMALL = Budget(emb=5, hid=6, pairs=40, test_sentences=30)


def test_a_seed_decides_weights_and_sentences():
    variant = Variant("global-dot", luong, {"score": "dot"})
    first, again, other = (variant.translator(seed, SMALL).state_dict() for seed in (0, 0, 1))
    torch.testing.assert_close(first, again)
    assert not torch.equal(first["decoder.W_y"], other["decoder.W_y"])
    assert variant.training_pairs(0, SMALL) == variant.training_pairs(0, SMALL) != variant.training_pairs(1, SMALL)


def test_no_test_sentence_is_learnt_from():
    """The shortest are the likeliest to be drawn twice."""
    variant = Variant("bahdanau", rnn_search, clauses=(1,))
    test = {pair.source for pair in held_out(1)}
    learnt = {pair.source for pair in variant.training_pairs(0, Budget(pairs=3000))}
    assert len(test) > 90
    assert len(learnt) < 3000, "some are drawn twice"
    assert test.isdisjoint(learnt)


def test_the_vocabularies_know_every_word():
    source, target = vocabularies()
    for clauses in (1, 5, 8):
        for pair in held_out(clauses):
            assert source.decode(source.encode(pair.source)) == pair.source
            assert target.decode(target.encode(pair.target)) == pair.target


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: Variant("other", luong, {"score": "cosine"}).translator(0), "score is .cosine."),
        (lambda: Variant("bahdanau", rnn_search).training_pairs(0, Budget(pairs=0)), "n is 0; expected at least 1"),
        (lambda: held_out(0), r"clauses is \(0,\); expected one or more numbers, each at least 1"),
    ],
)
def test_what_no_model_can_be_made_of_is_refused(refused, call, says):
    refused(call, ValueError, says)
