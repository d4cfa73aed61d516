"""A run in miniature, recorded beside a variant's results: it tells whether the code still does what it did.

A recorded result holds for the code that made it. Reading the code does not tell whether a change to it changes the
result; running it does. So a probe trains for ten steps, and measures what the translator then makes of three
sentences. Another processor, which rounds differently, changes the losses by less than a millionth of their size.
"""

from collections.abc import Sequence
from copy import deepcopy
from itertools import count
from math import isclose
from typing import Any

import torch

from attnlib.data import SentencePair
from attnlib.experiments.evaluation import evaluate, summarise
from attnlib.experiments.measures import SOURCE, multiply_adds, parameters, train_variant
from attnlib.experiments.plan import LANGUAGES, Budget, Variant
from attnlib.translator import Translator

TINY = Budget(emb=16, hid=16, pairs=200, words=200, steps=10, learning_rate=1e-2, test_clauses=(1, 2), width=3)
"""The budget of a probe, half a second for each variant."""

RELATIVE, ABSOLUTE = 2e-5, 1.5e-4
"""How far a number may be off on another processor: by a part of itself, or by 1.5 units of the fourth decimal."""


def probe(variant: Variant, sentences: int | None = None) -> dict[str, Any]:
    """Train a variant for a few steps, and say what comes of it.

    Parameters
    ----------
    sentences : int, optional
        The seed of the three sentences that are translated, as an earlier probe has it. None: choose one. A model that
        has hardly learnt may find two words almost equally good, and which of them it says is then left to the
        processor. So the first three are taken that it translates and links alike even if all its weights change at
        random, by a thousandth of themselves.

    Returns
    -------
    dict
        ``losses`` of each step, in nats per word; ``sentences``; ``greedy`` and ``beam``, their translations;
        ``measures``, as in `attnlib.experiments.evaluation`; ``parameters`` and ``multiply_adds``, as
        `attnlib.experiments.measures.benchmark` counts them.
    """
    translator, history = train_variant(variant, 0, TINY, progress=False)
    if sentences is None:
        sentences = next(seed for seed in count() if _is_steady(translator, _three(seed, variant.language)))
    evaluation = evaluate(translator, _three(sentences, variant.language), TINY.width)
    return {
        "losses": [round(float(loss), 6) for loss in history.losses],
        "sentences": sentences,
        "greedy": [" ".join(words) for words in evaluation.greedy],
        "beam": [" ".join(words) for words in evaluation.beam],
        "measures": summarise(evaluation),
        "parameters": parameters(translator),
        "multiply_adds": multiply_adds(translator, SOURCE, SOURCE - 1),
    }


def agree(first: Any, second: Any) -> bool:
    """Say whether two probes, or two parts of probes, are the same but for rounding."""
    if isinstance(first, dict) and isinstance(second, dict):
        return first.keys() == second.keys() and all(agree(first[key], second[key]) for key in first)
    if isinstance(first, list) and isinstance(second, list):
        return len(first) == len(second) and all(map(agree, first, second))
    if isinstance(first, float) and isinstance(second, float):
        return isclose(first, second, rel_tol=RELATIVE, abs_tol=ABSOLUTE)
    return first == second


def _three(seed: int, language: str) -> list[SentencePair]:
    return LANGUAGES[language](3, seed=seed, clauses=TINY.test_clauses, part="test")


def _is_steady(translator: Translator, pairs: Sequence[SentencePair]) -> bool:
    """Say whether small changes of the weights leave words and links as they are."""
    others = (_shaken(translator, seed) for seed in range(3))
    as_it_is = _words_and_links(translator, pairs)
    return all(_words_and_links(other, pairs) == as_it_is for other in others)


def _words_and_links(translator: Translator, pairs: Sequence[SentencePair]) -> tuple:
    evaluation = evaluate(translator, pairs, TINY.width)
    return evaluation.greedy, evaluation.beam, evaluation.links, evaluation.inside


@torch.no_grad()
def _shaken(translator: Translator, seed: int) -> Translator:
    other, random = deepcopy(translator), torch.Generator().manual_seed(seed)
    for weight in other.parameters():
        weight.mul_(1 + 1e-3 * torch.randn(weight.shape, generator=random))
    return other
