"""How a model is made from a text: all that a training is told, checked when it is said."""

from collections.abc import Callable
from dataclasses import dataclass, field
from math import inf
from typing import Any

from attnlib.checks import check_choice, check_share, check_whole
from attnlib.training import warm, warm_cosine

SCHEDULES: dict[str, Callable[[float], float]] = {"cosine": warm_cosine, "constant": warm}
"""How the learning rate goes, after it has risen over the first twentieth of the training."""


@dataclass(frozen=True)
class Settings:
    """How a model is made from a text. The defaults are the best of the few tried on 29,000 captions.

    Attributes
    ----------
    preset : str
        One of `attnlib.text.checkpoint.PRESETS`.
    options : dict
        What the preset is told.
    embedding_scale : float
        The standard deviation of the numbers that embeddings begin with. A Transformer's begin as its paper has them.
    subwords : bool
        Cut words into pieces; else know whole words.
    vocabulary : int
        The most pieces, or words, of a side.
    shared : bool
        One set of pieces for both sides.
    least : int
        How often a whole word must occur to be known.
    longest : int
        The most pieces, or words, that a side of a pair to learn from may have.
    epochs, steps, minutes : int, int or float, optional
        How long to learn: the epochs count unless `steps` or `minutes` are given.
    sentences, words : int
        The most pairs of a batch, and the most pieces, or words, on one side of it, padding counted.
    learning_rate, schedule, smoothing, clip
        As for `attnlib.training.train`; the schedule by its name in `SCHEDULES`.
    score_every : int, optional
        The steps from one dev score to the next. None: an epoch.
    patience : int, optional
        End after so many dev scores in a row that were no better than the best.
    seed : int
        The order of the batches, and what dropout sets to 0.
    """

    preset: str = "luong"
    options: dict[str, Any] = field(
        default_factory=lambda: {
            "encoder": "both",
            "score": "dot",
            "emb": 256,
            "hid": 256,
            "dropout": 0.3,
            "embedding_dropout": 0.2,
            "seed": 0,
        }
    )
    embedding_scale: float = 0.5
    subwords: bool = True
    vocabulary: int = 8000
    shared: bool = False
    least: int = 2
    longest: int = 100
    epochs: int = 10
    steps: int | None = None
    minutes: float | None = None
    sentences: int = 64
    words: int = 8000
    learning_rate: float = 2e-3
    schedule: str = "cosine"
    smoothing: float = 0.1
    clip: float = 1.0
    score_every: int | None = None
    patience: int | None = None
    seed: int = 0

    def __post_init__(self):
        names = ("vocabulary", "least", "longest", "epochs", "steps", "sentences", "words", "score_every", "patience")
        check_whole(**{name: getattr(self, name) for name in names if getattr(self, name) is not None})
        check_whole(0, seed=self.seed)
        check_share(smoothing=self.smoothing)
        for name in ("embedding_scale", "minutes", "learning_rate", "clip"):
            number = getattr(self, name)
            if number is not None and not 0 < number < inf:
                raise ValueError(f"{name} is {number}; expected a number above 0")
        check_choice(SCHEDULES, schedule=self.schedule)

    def length(self, epoch: int) -> dict[str, int | float | None]:
        """Tell `attnlib.training.train` how long to learn, when so many steps make an epoch."""
        by_epochs = self.epochs * epoch if self.minutes is None else None
        return {"steps": by_epochs if self.steps is None else self.steps, "minutes": self.minutes}
