"""Scores by length of the source."""

from attnbook.language.sentences import sample
from attnlib.metrics import bleu
from attntext.evaluation import score_translations


def test_bleu_by_length_is_the_bleu_of_each_bin():
    pairs = [pair[:2] for pair in sample(200, seed=4)] + [(("a",) * 70, ("b",))]  # none has 51 to 60 words
    translations = [target[: 4 + len(target) // 2] for _, target in pairs]
    bins = score_translations(translations, pairs, "none").by_length
    assert [(b.shortest, b.longest) for b in bins] == [(n, n + 9) for n in (1, 11, 21, 31, 41, 61)]
    for b in bins:
        inside = [n for n, (source, _) in enumerate(pairs) if b.shortest <= len(source) <= b.longest]
        assert b.sentences == len(inside)
        assert b.bleu == bleu([translations[n] for n in inside], [pairs[n][1] for n in inside])
