"""Scores by length of the source."""

from attnlib.language.sentences import sample
from attnlib.metrics import bleu
from attnlib.text.evaluation import bleu_by_length


def test_bleu_by_length_is_the_bleu_of_each_bin():
    pairs = sample(200, seed=4)
    translations = [pair.target[: 4 + len(pair.target) // 2] for pair in pairs]
    bins = bleu_by_length(translations, pairs, (3, 10, 20, 30, 200, 300))
    assert [(b.shortest, b.longest) for b in bins] == [(3, 9), (10, 19), (20, 29), (30, 199)]
    for b in bins:
        inside = [n for n, pair in enumerate(pairs) if b.shortest <= len(pair.source) <= b.longest]
        assert b.sentences == len(inside)
        assert b.bleu == bleu([translations[n] for n in inside], [pairs[n].target for n in inside])
