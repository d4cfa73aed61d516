"""What the experiments compare: the models of both papers, and the one budget that they all train under."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from types import MappingProxyType
from typing import Any

from attnlib.experiments.mixtures import step_first
from attnlib.language import german, grammar
from attnlib.translator import Translator, luong, rnn_encdec, rnn_search
from attnlib.vocabulary import SentencePair, Vocabulary

SHORT, LONGER = (1, 2, 3), (1, 2, 3, 4, 5)
"""How many clauses the training sentences have: up to about 30 words, or up to about 50."""

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
    half_width : int
        `D` of the local windows, in source positions.
    test_clauses : numbers
        The clauses of the test sentences.
    test_sentences : int
        How many test sentences there are of each number of clauses, the same for all variants and seeds.
    width : int
        Hypotheses of the beam search.
    test_seed : int
        With another, the test sentences are others.
    """

    emb: int = 48
    hid: int = 96
    pairs: int = 20_000
    words: int = 800
    steps: int = 700
    learning_rate: float = 5e-3
    half_width: int = 4
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
        How many clauses the sentences that it learns from have.
    seeds : numbers
        Each is a run of its own: other weights to begin with, other sentences, in another order.
    language : str
        One of `LANGUAGES`.
    """

    name: str
    model: Callable[..., Translator]
    options: Mapping[str, Any] = field(default_factory=dict)
    clauses: tuple[int, ...] = SHORT
    seeds: tuple[int, ...] = (0, 1, 2, 3, 4)
    language: str = "french"

    def translator(self, seed: int, budget: Budget = BUDGET) -> Translator:
        """Make the model, untrained."""
        return self.model(*vocabularies(self.language), **self.options, emb=budget.emb, hid=budget.hid, seed=seed)

    def training_pairs(self, seed: int, budget: Budget = BUDGET) -> list[SentencePair]:
        """Draw the sentence pairs of one run."""
        return LANGUAGES[self.language](budget.pairs, seed=seed, clauses=self.clauses)

    def settings(self, budget: Budget = BUDGET) -> dict[str, Any]:
        """Give all that tells this row from another, as JSON can hold it."""
        return {
            "model": self.model.__name__,
            "options": dict(self.options),
            "clauses": list(self.clauses),
            "budget": {name: _listed(value) for name, value in asdict(budget).items() if name != "test_seed"},
        }


def _listed(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def held_out(clauses: int, budget: Budget = BUDGET, language: str = "french") -> list[SentencePair]:
    """Draw the test sentences with so many clauses; no run learns from any of them."""
    return LANGUAGES[language](budget.test_sentences, seed=budget.test_seed + clauses, clauses=(clauses,), part="test")


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


def _global(score: str, feeding: bool) -> Variant:
    return Variant(
        f"global-{score}" + "-feeding" * feeding, luong, _options(score=score, window="everywhere", feeding=feeding)
    )


def _local(window: str, score: str, feeding: bool) -> Variant:
    return Variant(
        f"local-{window[0]}-{score}" + "-feeding" * feeding,
        luong,
        _options(score=score, window=window, feeding=feeding, half_width=BUDGET.half_width),
    )


def _half_width(half_width: int) -> Variant:
    options = _options(score="general", window="predictive", feeding=False, half_width=half_width)
    return Variant(f"local-p-general-D{half_width}", luong, options, seeds=(0, 1, 2))


def _options(*, feeding: bool, **options: Any) -> Mapping[str, Any]:
    return MappingProxyType(options | {"input_feeding": feeding})


def _named(variants: Sequence[Variant]) -> Mapping[str, Variant]:
    return MappingProxyType({variant.name: variant for variant in variants})


VARIANTS: Mapping[str, Variant] = _named(
    [
        Variant("no-attention", rnn_encdec),
        Variant("no-attention-longer", rnn_encdec, clauses=LONGER),
        Variant("bahdanau", rnn_search),
        Variant("bahdanau-longer", rnn_search, clauses=LONGER),
        Variant("chain-new-state", step_first, MappingProxyType({"recurrent": "gru", "score": "additive"})),
        Variant("chain-lstm", step_first, MappingProxyType({"recurrent": "lstm", "score": "additive"})),
        Variant("chain-multiplicative", step_first, MappingProxyType({"recurrent": "lstm", "score": "general"})),
        *(_global(score, feeding) for feeding in (False, True) for score in ("location", "dot", "general", "concat")),
        *(
            _local(window, score, feeding)
            for window in ("monotonic", "predictive")
            for feeding in (False, True)
            for score in ("dot", "general", "concat")
        ),
        *(_half_width(D) for D in range(1, 11) if BUDGET.half_width != D),
    ]
)
"""Every row, by its name. The half-width that the other local rows have is not run twice."""

CHAIN = ("bahdanau", "chain-new-state", "chain-lstm", "chain-multiplicative", "global-general-feeding")
"""From Bahdanau's model to Luong's: the new state asks; LSTMs, in one direction; the general score; s~_t."""


def half_width_row(half_width: int) -> str:
    """Name the row of local-p with the general score, without input feeding, of this half-width."""
    return "local-p-general" if half_width == BUDGET.half_width else f"local-p-general-D{half_width}"
