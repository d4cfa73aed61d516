"""What the experiments compare: the models of both papers, and the one budget that they all train under."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from types import MappingProxyType
from typing import Any

from attnlib.data import SentencePair, Vocabulary
from attnlib.language import german, grammar
from attnlib.translator import Translator

LANGUAGES: Mapping[str, Callable[..., list[SentencePair]]] = MappingProxyType(
    {"french": grammar.sample, "german": german.sample}
)
"""What English is translated into, and what draws the sentence pairs."""


@dataclass(frozen=True)
class Budget:
    """What every variant gets alike.

    Attributes
    ----------
    emb, hid : int
        Features of an embedding, and of a state in one direction.
    pairs : int
        How many sentence pairs there are to learn from; each seed draws its own.
    words : int
        The most words of a batch on one side.
    steps : int
        How many batches are learnt from.
    learning_rate : float
        Adam's, at its highest.
    test_clauses : numbers
        The clauses of the test sentences.
    test_sentences : int
        How many test sentences there are of each number of clauses, the same for all variants and seeds.
    width : int
        Hypotheses of the beam search.
    test_seed : int
        Another seed gives other test sentences.
    """

    emb: int = 48
    hid: int = 96
    pairs: int = 20_000
    words: int = 800
    steps: int = 700
    learning_rate: float = 5e-3
    test_clauses: tuple[int, ...] = (1, 2, 3, 4, 5, 6, 8)
    test_sentences: int = 100
    width: int = 5
    test_seed: int = 0


BUDGET = Budget()


@dataclass(frozen=True)
class Variant:
    """A row of the comparison.

    Attributes
    ----------
    name : str
        Also the name of the file of its results.
    model : function
        One of `attnlib.translator` or of `attnlib.experiments.mixtures`: from vocabularies, sizes and a seed to a
        translator.
    options : mapping
        What else `model` is told.
    clauses : numbers
        How many clauses the sentences that it learns from have at least, as the grammars count.
    seeds : numbers
        Each is a run of its own: other weights to begin with, other sentences, in another order.
    language : str
        One of `LANGUAGES`.
    """

    name: str
    model: Callable[..., Translator]
    options: Mapping[str, Any] = field(default_factory=dict)
    clauses: tuple[int, ...] = (1, 2, 3)
    seeds: tuple[int, ...] = (0, 1, 2, 3, 4)
    language: str = "french"

    def translator(self, seed: int, budget: Budget = BUDGET) -> Translator:
        """Make the model, untrained."""
        return self.model(*vocabularies(self.language), **self.options, emb=budget.emb, hid=budget.hid, seed=seed)

    def training_pairs(self, seed: int, budget: Budget = BUDGET) -> list[SentencePair]:
        """Draw the sentence pairs of one run."""
        return LANGUAGES[self.language](budget.pairs, seed=seed, clauses=self.clauses)


def held_out(clauses: int, budget: Budget = BUDGET, language: str = "french") -> list[SentencePair]:
    """Draw the test sentences with so many clauses, as the grammars count; no run learns from any of them."""
    return [*_test_sentences(budget.test_sentences, budget.test_seed + clauses, clauses, language)]


def development(clauses: int, budget: Budget = BUDGET, language: str = "french") -> list[SentencePair]:
    """Draw sentences to choose learning rates by: neither a test sentence nor one that any run learns from."""
    tested = {pair.source for pair in held_out(clauses, budget, language)}
    drawn = LANGUAGES[language](2 * budget.test_sentences, seed=1000 + clauses, clauses=(clauses,), part="test")
    return [pair for pair in drawn if pair.source not in tested][: budget.test_sentences]


@cache
def vocabularies(language: str = "french") -> tuple[Vocabulary, Vocabulary]:
    """Collect the words of a grammar, English and the other language's."""
    pairs = LANGUAGES[language](2_000, seed=0)
    return Vocabulary.of(pair.source for pair in pairs), Vocabulary.of(pair.target for pair in pairs)


@cache
def _test_sentences(n: int, seed: int, clauses: int, language: str) -> tuple[SentencePair, ...]:
    return tuple(LANGUAGES[language](n, seed=seed, clauses=(clauses,), part="test"))
