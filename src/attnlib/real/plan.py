"""What is trained on the real text: each row with how many seeds, all with one effort. Fixed before the first run.

==================== ======== ===================================================================================
row                  seeds    model
==================== ======== ===================================================================================
no-attention         0, 1, 2  `attnlib.translator.rnn_encdec`
bahdanau             0, 1, 2  `rnn_search`
luong                0, 1, 2  `luong`: general score, everywhere, input feeding; it reads from last to first word
luong-both           0, 1, 2  the same with an encoder that reads both ways
local-p              0, 1, 2  ``luong`` with the window "predictive", D = 10
local-m              0, 1, 2  ``luong`` with the window "monotonic", D = 2
transformer          0, 1, 2  `attnlib.transformer.transformer`: two layers, four heads, words of 256 features
==================== ======== ===================================================================================

A window of D = 10, as in the paper, holds nearly all of a caption. With D = 2, one that stays at the position t holds
0.84 of the sure links of our own German captions and 0.94 of the French ones: there it can make a difference.

Each row of the second table differs from ``luong`` in one thing, has one seed, and is shown without a verdict; its
last row differs from ``luong-both``.

==================== ======== ===================================================================================
dot, concat,
location             0        the score
no-feeding           0        no input feeding
local-p-D2           0        the window "predictive", D = 2
subwords             0        both ways, and subwords in place of words
==================== ======== ===================================================================================

To French: ``french-bahdanau``, ``french-luong``, ``french-local-m`` and ``french-local-p``, with seeds 0, 1, 2. On
the first 1,000, 3,000 and 10,000 pairs of German: ``no-attention-1000`` to ``bahdanau-10000``, with seed 0. All get
equally many batches of equally many pairs; what is not said here is as `attnlib.text.settings.Settings` has it by
default. Only the Transformer cannot bear the default learning rate: of 0.0005, 0.001 and 0.002 it takes the second,
which gave it the most BLEU on the dev part after 1,200 batches (20.9, 25.0 and 5.4), with a seed that it is not judged
by.

What is claimed of them was written down before any run: `CLAIMS`, and what decides them: `attnlib.real.verdicts`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from attnlib.text.settings import Settings


@dataclass(frozen=True)
class Effort:
    """What every row gets alike.

    Attributes
    ----------
    features : int
        Of an embedding, and of a state.
    steps : int
        How many batches of 64 pairs are learnt from: about eight times all of the text.
    score_every : int
        How many batches there are from one score of the dev part to the next. The best weights are kept.
    beam, max_length : int
        Hypotheses of the search, and the most words, or pieces of words, of a translation.
    """

    features: int = 256
    steps: int = 3_600
    score_every: int = 450
    beam: int = 5
    max_length: int = 200


EFFORT = Effort()


@dataclass(frozen=True)
class TextRow:
    """A model, and the text that it learns from.

    Attributes
    ----------
    name : str
        Files of its runs begin with it.
    preset, options
        As `attnlib.text.settings.Settings` has them.
    seeds : numbers
        Each is a run: weights to begin with, order of the batches, what dropout sets to 0.
    language : str
        What the English is translated to.
    pairs : int, optional
        How many pairs, from the start of the text, are learnt from. None: all.
    subwords : bool
        Pieces of words, or words.
    learning_rate : float
        The highest; see `attnlib.training.warm_cosine`.
    """

    name: str
    preset: str
    options: Mapping[str, Any] = field(default_factory=dict)
    seeds: tuple[int, ...] = (0,)
    language: str = "german"
    pairs: int | None = None
    subwords: bool = False
    learning_rate: float = Settings.learning_rate

    def settings(self, seed: int, effort: Effort = EFFORT) -> Settings:
        """Give all that `attnlib.text.learning.learn` is told."""
        sizes = {"emb": effort.features, "hid": effort.features, "dropout": 0.3, "embedding_dropout": 0.2}
        return Settings(
            preset=self.preset,
            options=sizes | dict(self.options) | {"seed": seed},
            subwords=self.subwords,
            steps=effort.steps,
            score_every=effort.score_every,
            learning_rate=self.learning_rate,
            seed=seed,
        )


def _luong(name: str, seeds: tuple[int, ...] = (0,), language: str = "german", **options: Any) -> TextRow:
    return TextRow(name, "luong", {"score": "general", "encoder": "reversed"} | options, seeds, language)


_THREE = (0, 1, 2)
_LOCAL = {"local-m": {"window": "monotonic", "half_width": 2}, "local-p": {"window": "predictive"}}
_GROUPS = (
    (
        TextRow("no-attention", "rnn_encdec", seeds=_THREE),
        TextRow("bahdanau", "rnn_search", seeds=_THREE),
        _luong("luong", _THREE),
        _luong("luong-both", _THREE, encoder="both"),
        _luong("local-p", _THREE, **_LOCAL["local-p"]),
        TextRow("transformer", "transformer", {"hid": 1024}, _THREE, learning_rate=1e-3),
    ),
    (
        TextRow("french-bahdanau", "rnn_search", seeds=_THREE, language="french"),
        _luong("french-luong", _THREE, "french"),
        *(_luong(f"french-{name}", _THREE, "french", **options) for name, options in _LOCAL.items()),
        _luong("local-m", _THREE, **_LOCAL["local-m"]),
    ),
    tuple(
        TextRow(f"{name}-{pairs}", preset, pairs=pairs)
        for pairs in (1_000, 3_000, 10_000)
        for name, preset in (("no-attention", "rnn_encdec"), ("bahdanau", "rnn_search"))
    ),
    (
        *(_luong(score, score=score) for score in ("dot", "concat", "location")),
        _luong("no-feeding", input_feeding=False),
        _luong("local-p-D2", window="predictive", half_width=2),
        TextRow("subwords", "luong", {"score": "general", "encoder": "both"}, subwords=True),
    ),
)

ROWS: Mapping[str, TextRow] = MappingProxyType({row.name: row for group in _GROUPS for row in group})
"""Every row, by its name."""

RUNS: tuple[tuple[str, int], ...] = tuple(
    (row.name, seed) for group in _GROUPS for seed in _THREE for row in group if seed in row.seeds
)
"""Row and seed of every run, in the order in which they are wanted."""

CLAIMS: tuple[tuple[str, str], ...] = (
    ("bahdanau", "no-attention"),
    ("bahdanau", "luong"),
    ("luong-both", "luong"),
    ("local-p", "luong"),
    ("luong", "local-m"),
    ("french-local-p", "french-luong"),
    ("french-luong", "french-local-m"),
    ("bahdanau", "transformer"),
)
"""Pairs of rows, each claiming that the first has more BLEU on the test part, by beam search, than the second.

In Luong et al. 2015, table 4, the fourth is so, and the fifth is the other way round. The rest are guesses.
"""
