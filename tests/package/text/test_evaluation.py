"""Scores by length of the source, and whether the weights of a model tell anything."""

import re
from types import SimpleNamespace

import pytest
import torch
from torch.nn.functional import one_hot

from attnbook import sample
from attnlib import EncoderDecoder, Vocabulary, rnn_encdec, rnn_search
from attnlib.metrics import bleu
from attntext.evaluation import attention_warning, evaluate, score_translations

PAIRS = sample(40, seed=0, clauses=(1,))
VOCABULARIES = tuple(Vocabulary.from_sentences(pair[side] for pair in PAIRS) for side in (0, 1))
LOOKS = {  # at which position of a source all weight of step t lies, and what is said of it
    "the last word": (lambda source, last, t: last, r"attention leaves out [89]\d percent of the source words: "),
    "the step's": (lambda source, last, t: last.clamp(max=t), "attention moves by only 0 percent when the source is "),
    "another word's": (lambda source, last, t: source.argsort(1, descending=True)[:, t % source.shape[1]], None),
}


def test_bleu_by_length_is_the_bleu_of_each_bin():
    pairs = [pair[:2] for pair in sample(200, seed=4)] + [(("a",) * 70, ("b",))]  # none has 51 to 60 words
    translations = [target[: 4 + len(target) // 2] for _, target in pairs]
    bins = score_translations(translations, pairs, "none").by_length
    assert [(b.shortest, b.longest) for b in bins] == [(n, n + 9) for n in (1, 11, 21, 31, 41, 61)]
    for b in bins:
        inside = [n for n, (source, _) in enumerate(pairs) if b.shortest <= len(source) <= b.longest]
        assert b.sentences == len(inside)
        assert b.bleu == bleu([translations[n] for n in inside], [pairs[n][1] for n in inside]).score


def test_pairs_with_links_are_evaluated_as_pairs(refused):
    model = rnn_search(*VOCABULARIES, embedding_dim=4, hidden_size=4).eval()
    given = {"beam_size": 1, "max_length": 5}
    assert evaluate(model, PAIRS[:3], **given) == evaluate(model, [pair[:2] for pair in PAIRS[:3]], **given)
    refused(lambda: evaluate(model, PAIRS[:3], gold=[]), "gold has 0 alignments; expected 3, one for each pair")


@pytest.mark.parametrize("where", LOOKS)
def test_attention_that_tells_nothing_is_doubted(where):
    place, says = LOOKS[where]

    class Looks(EncoderDecoder):
        def forward(self, source, lengths, target):
            places = torch.stack([place(source, lengths - 2, t) for t in range(target.shape[1])], 1)
            weights = one_hot(places, source.shape[1])
            return SimpleNamespace(attention=SimpleNamespace(to_dense=lambda src: weights.double()))

    model = rnn_search(*VOCABULARIES, embedding_dim=4, hidden_size=4)
    warning = attention_warning(Looks(model.encoder, model.decoder, *VOCABULARIES), PAIRS)
    assert warning is None if says is None else re.match(says, warning)
    assert attention_warning(rnn_encdec(*VOCABULARIES, embedding_dim=4, hidden_size=4), PAIRS) is None
    assert attention_warning(model, [pair for pair in PAIRS if len(pair.source) < 6]) is None
