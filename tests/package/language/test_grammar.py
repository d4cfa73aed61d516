"""What holds of every sentence of both grammars, and of the French one's words and sizes."""

from hashlib import sha256
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attnlib.language import german
from attnlib.language.grammar import sample

SEEDS = st.integers(0, 10**6)
each_grammar = pytest.mark.parametrize("sample", [sample, german.sample], ids=["french", "german"])


@each_grammar
@settings(max_examples=40)
@given(seed=SEEDS, clauses=st.integers(1, 8))
def test_every_word_of_both_languages_is_linked(sample, seed, clauses):
    for pair in sample(3, seed, (clauses,)):
        assert {i for i, _ in pair.links} == set(range(len(pair.source)))
        assert {t for _, t in pair.links} == set(range(len(pair.target)))


@each_grammar
def test_one_english_sentence_has_one_translation(sample):
    pairs = {}
    for pair in sample(2000, seed=0, clauses=(1,)):
        assert pairs.setdefault(pair.source, pair) == pair


@each_grammar
def test_the_parts_share_no_sentence_and_the_test_part_is_a_quarter(sample):
    train, test = (sample(800, 0, (1,), part) for part in ("train", "test"))
    assert not {pair.source for pair in train} & {pair.source for pair in test}
    hashes = [sha256(" ".join(pair.source).encode()).digest()[0] for pair in test + train]
    assert max(hashes[:800]) < 64 <= min(hashes[800:])


@settings(max_examples=40)
@given(seed=SEEDS)
def test_nothing_stands_that_should_be_elided_or_contracted(seed):
    for pair in sample(5, seed, (1, 2, 5)):
        for left, right in pairwise(pair.target):
            assert not (left in {"le", "la", "de", "ne", "que", "beau"} and right[0] in "aeiouéh"), pair.target
            assert left not in {"de", "à"} or right not in {"le", "les"}, pair.target
            assert not left.endswith("'") or right[0] in "aeiouéh", pair.target
            assert left not in {"bel", "vieil"} or right[0] in "aeiouéh", pair.target
        assert pair.target.count("pas") == sum(word in {"ne", "n'"} for word in pair.target) == pair.source.count("not")


def test_sentences_are_as_long_as_their_docstring_says():
    drawn = [sample(1000, 5, (clauses,)) for clauses in (1, 3, 8)]
    words = np.array([[(len(pair.source), len(pair.target)) for pair in pairs] for pairs in drawn])
    assert words[0, :, 0].min() == 3
    english, french = words.mean(1).T
    assert english.round().tolist() == [9, 22, 59]
    assert (french / english).round(2).tolist() == [0.94, 0.94, 0.94]


@pytest.mark.parametrize(
    ("sample", "digest"),
    [
        (sample, "9c4b5ee6cca118679387556c43c19fe3f956ef7bea4b2fed375677dfd1395258"),
        (german.sample, "3ad0bdd8a913f1240b0d0551f2993ee5ad5ec4cd6fe6e11d0e31e0d862fbe318"),
    ],
)
def test_the_sample_of_a_seed_is_the_same_on_every_platform(sample, digest):
    pairs = sample(500, 42, (1, 2, 3, 7))
    text = "\n".join(f"{' '.join(p.source)}|{' '.join(p.target)}|{sorted(p.links)}" for p in pairs)
    assert sha256(text.encode()).hexdigest() == digest


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"n": 0}, "n is 0; expected at least 1"),
        ({"n": 1.5}, "TypeError: n is 1.5"),
        ({"seed": "one"}, "TypeError: seed is 'one'"),
        ({"clauses": ()}, "clauses is empty; expected at least one number of clauses"),
        ({"clauses": (2, 0)}, "clauses is 0; expected at least 1"),
        ({"clauses": (1.5,)}, "TypeError: clauses is 1.5; expected a whole number"),
        ({"part": "dev"}, "part is 'dev'; expected one of train, test"),
    ],
)
def test_what_does_not_fit_is_refused(wrong, says, refused):
    refused(lambda: sample(**{"n": 1, "seed": 0} | wrong), says)
