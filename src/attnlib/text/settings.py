"""How a model is made from a text: all that a training is told, declared once for Python and for the command.

A field that is an `option` has the command's default, and says what the command's help says of it.
"""

from argparse import _ArgumentGroup
from collections.abc import Mapping, Sequence
from dataclasses import Field, dataclass, field, fields
from math import inf
from types import NoneType
from typing import Any, get_args, get_type_hints

from attnlib.checks import check_choice, check_share, check_whole

MAX_LINE = 1000
"""The most words, or pieces of words, of a line that is translated or linked."""

_TEXT, _MODEL, _TRAINING = "the text", "the model", "the training"


def option(
    default: Any,
    group: str,
    about: str | None = None,
    *,
    flag: str | None = None,
    choices: Sequence[str] | None = None,
    one_of: str | None = None,
) -> Any:
    """Declare a field that is an option of the command too.

    Parameters
    ----------
    default
        The field's.
    group, about : str
        The heading in the command's help, and what it says below.
    flag : str, optional
        What the command calls it. None: as the field, with hyphens. Of a field that is true or false, the option turns
        it round, or makes it false if the flag begins with ``--no``.
    choices : strings, optional
    one_of : str, optional
        Of all options with this name here only one may be given.
    """
    metadata = {"group": group, "about": about, "flag": flag, "choices": choices, "one_of": one_of}
    return field(default=default, metadata=metadata)


def options_of(cls: type) -> list[Field]:
    """List the fields of a dataclass that are options."""
    return [one for one in fields(cls) if "group" in one.metadata]


def flag_of(one: Field) -> str:
    """Name an option as the command calls it."""
    return one.metadata["flag"] or f"--{one.name.replace('_', '-')}"


def add_options(groups: Mapping[str, _ArgumentGroup], *classes: type) -> None:
    """Add the options of dataclasses to a parser's groups; a value that it reads has the name of its field."""
    alternatives: dict[str, Any] = {}
    for one, hint in ((one, get_type_hints(cls)[one.name]) for cls in classes for one in options_of(cls)):
        group, about, _, choices, one_of = one.metadata.values()
        parser = groups[group]
        if one_of:
            parser = alternatives.get(one_of) or alternatives.setdefault(one_of, parser.add_mutually_exclusive_group())
        flag = flag_of(one)
        [kind] = {*(get_args(hint) or [hint])} - {NoneType}
        if kind is bool:
            how = {"action": "store_false" if one.default or flag.startswith("--no-") else "store_true"}
        else:
            metavar = None if choices else flag[2:].replace("-", "_").upper()
            how = {"type": kind, "choices": choices, "metavar": metavar}
        parser.add_argument(flag, dest=one.name, default=one.default, help=about, **how)


@dataclass(frozen=True)
class Architecture:
    """Which model to make, as the command is told. None: what the paper of the preset has, or else the default model.

    That is Luong's decoder with the dot score, on an encoder that reads both ways.
    """

    preset: str | None = option(
        None,
        _MODEL,
        "a paper's own model, instead of the default",
        choices=("luong", "rnn_search", "rnn_encdec", "transformer"),
    )
    encoder: str | None = option(
        None, _MODEL, "default: both; for --preset luong: reversed", choices=("both", "reversed", "forwards")
    )
    score: str | None = option(
        None, _MODEL, "default: dot; for --preset luong: general", choices=("dot", "general", "concat", "location")
    )
    window: str | None = option(None, _MODEL, "default: everywhere", choices=("everywhere", "monotonic", "predictive"))
    half_width: int | None = option(None, _MODEL, "of a local window, in words; default: 10")
    input_feeding: bool | None = option(None, _MODEL, flag="--no-input-feeding")
    layers: int | None = option(None, _MODEL, "default: 1, and 2 for a transformer")
    features: int = option(256, _MODEL, "of an embedding and of a state")
    dropout: float = option(0.3, _MODEL, "share of features set to 0, of what the output reads")
    embedding_dropout: float = option(0.2, _MODEL, "the same, of the embeddings")

    def options(self, seed: int = 0) -> tuple[str, dict[str, Any]]:
        """Name the preset, and list what it is told.

        Raises
        ------
        ValueError
            If something is chosen that only Luong's model has, for another preset, or a width without a window.
        """
        preset, size = self.preset or "luong", self.features
        if self.half_width is not None and self.window in (None, "everywhere"):
            raise ValueError("--half-width is of a local window; expected --window monotonic or predictive with it")
        dropouts = {"dropout": self.dropout, "embedding_dropout": self.embedding_dropout}
        names = ("encoder", "score", "window", "half_width", "input_feeding", "layers")
        wanted = {name: getattr(self, name) for name in names if getattr(self, name) is not None}
        if preset == "luong":
            own = {"encoder": "reversed"} if self.preset else {"encoder": "both", "score": "dot"}
            return preset, own | wanted | {"emb": size, "hid": size, **dropouts, "seed": seed}
        layers = {"layers": wanted.pop("layers")} if preset == "transformer" and "layers" in wanted else {}
        if wanted.get("encoder") == "both":
            del wanted["encoder"]
        if wanted:
            other = ", ".join(flag_of(one) for one in options_of(Architecture) if one.name in wanted)
            raise ValueError(f"{other} is a choice of Luong's model, not of {preset}; leave it or --preset out")
        hid = 4 * size if preset == "transformer" else size
        return preset, {"emb": size, "hid": hid, **dropouts, "seed": seed, **layers}


@dataclass(frozen=True)
class Settings:
    """How a model is made from a text: what ``attnlib train --help`` says of each option, and of it also this.

    The defaults are the best of the few tried on 29,000 captions. A record of a run knows it by these names and values.

    Attributes
    ----------
    preset : str
        One of `attnlib.text.checkpoint.PRESETS`.
    options : dict
        What the preset is told: see `Architecture`.
    subwords : bool
        Cut words into pieces; else know whole words.
    least : int
        How often a whole word must occur to be known: ``--min-count``.
    epochs, steps, minutes
        The epochs count unless `steps` or `minutes` are given.
    sentences, words : int
        The sizes of a batch: ``--batch-sentences`` and ``--batch-words``.
    score_every : int, optional
        ``--dev-every``.
    """

    preset: str = "luong"
    options: dict[str, Any] = field(default_factory=lambda: Architecture().options()[1])
    embedding_scale: float = option(0.5, _MODEL, "standard deviation that embeddings begin with")
    subwords: bool = option(True, _TEXT, "know whole words; otherwise subwords", flag="--words")
    vocabulary: int = option(8000, _TEXT, "most subwords, or words, of a side")
    shared: bool = option(False, _TEXT, "one set of subwords for both sides")
    least: int = option(2, _TEXT, "with --words: how often a word must occur", flag="--min-count")
    longest: int = option(100, _TEXT, "most words, or subwords, of a side of a pair")
    epochs: int = option(10, _TRAINING, "how often each pair is learnt from", one_of="length")
    steps: int | None = option(None, _TRAINING, "how many batches", one_of="length")
    minutes: float | None = option(None, _TRAINING, "how long", one_of="length")
    sentences: int = option(64, _TRAINING, "most pairs of a batch, over all processes", flag="--batch-sentences")
    words: int = option(8000, _TRAINING, "most words or subwords on one side of it", flag="--batch-words")
    learning_rate: float = option(2e-3, _TRAINING, "Adam's, at its highest")
    schedule: str = option("cosine", _TRAINING, "after a warm-up", choices=("cosine", "constant"))
    smoothing: float = option(0.1, _TRAINING, "of labels")
    clip: float = option(1.0, _TRAINING, "greatest norm of the gradient")
    score_every: int | None = option(
        None, _TRAINING, "steps from one dev score to the next; default: an epoch", flag="--dev-every"
    )
    patience: int | None = option(None, _TRAINING, "end after so many dev scores no better than the best")
    seed: int = option(0, _TRAINING, "of weights, batches and dropout")

    def __post_init__(self):
        names = ("vocabulary", "least", "longest", "epochs", "steps", "sentences", "words", "score_every", "patience")
        check_whole(**{name: getattr(self, name) for name in names if getattr(self, name) is not None})
        check_whole(0, seed=self.seed)
        check_share(smoothing=self.smoothing)
        for name in ("embedding_scale", "minutes", "learning_rate", "clip"):
            number = getattr(self, name)
            if number is not None and not 0 < number < inf:
                raise ValueError(f"{name} is {number}; expected a number above 0")
        if self.shared and not self.subwords:
            raise ValueError("shared is True with whole words; expected it with subwords only")
        if self.subwords and self.least != Settings.least:
            raise ValueError(f"least is {self.least} with subwords; expected it with --words only")
        if self.preset == "transformer" and self.embedding_scale != Settings.embedding_scale:
            raise ValueError(f"embedding_scale is {self.embedding_scale}; a transformer's embeddings have their own")
        for one in fields(self):
            if one.metadata.get("choices"):
                check_choice(one.metadata["choices"], **{one.name: getattr(self, one.name)})

    def length(self, epoch: int) -> dict[str, int | float | None]:
        """Tell `attnlib.training.train` how long to learn, when so many steps make an epoch."""
        by_epochs = self.epochs * epoch if self.minutes is None else None
        return {"steps": by_epochs if self.steps is None else self.steps, "minutes": self.minutes}
