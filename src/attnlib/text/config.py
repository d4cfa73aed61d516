"""How a model is made from a text: all that a training is told, declared once for Python and for the command.

A field is an option of the command, with the same name and default, and what stands below it is the option's help.
"""

from dataclasses import dataclass, field
from math import inf
from typing import Any, Literal

from tyro.conf import Suppress

from attnlib.checks import check_choice, check_share, check_whole


@dataclass(frozen=True)
class Architecture:
    """Which model to make, as the command is told. None: what the paper of the preset has, or else the default model.

    That is Luong's decoder with the dot score, on an encoder that reads both ways.
    """

    preset: Literal["luong", "rnn_search", "rnn_encdec", "transformer"] | None = None
    """a paper's own model, instead of the default"""
    encoder: Literal["bidirectional", "backward", "forward"] | None = None
    """None: bidirectional; for --preset luong: backward"""
    score: Literal["dot", "general", "concat", "location"] | None = None
    """None: dot; for --preset luong: general"""
    window: Literal["global", "local-m", "local-p"] | None = None
    """None: global"""
    half_width: int | None = None
    """of a local window, in words; None: 10"""
    no_input_feeding: bool = False
    """do not show a step what the step before it made of the context"""
    num_layers: int | None = None
    """None: 1, and 2 for a transformer"""
    features: int = 256
    """of an embedding and of a state"""
    dropout: float = 0.3
    """share of features set to 0, of what the output reads"""
    embedding_dropout: float = 0.2
    """the same, of the embeddings"""

    def options(self, seed: int = 0) -> tuple[str, dict[str, Any]]:
        """Name the preset, and list what it is told.

        Raises
        ------
        ValueError
            If something is chosen that only Luong's model has, for another preset, or a width without a window.
        """
        preset, size = self.preset or "luong", self.features
        if self.half_width is not None and self.window in (None, "global"):
            raise ValueError("half_width is of a local window; expected the window local-m or local-p with it")
        names = ("encoder", "score", "window", "half_width", "num_layers")
        wanted = {name: getattr(self, name) for name in names if getattr(self, name) is not None}
        wanted |= {"input_feeding": False} if self.no_input_feeding else {}
        own = {"luong": {*wanted}, "transformer": {"num_layers"}}.get(preset, set())
        if other := [
            name for name in wanted if name not in own and (name, wanted[name]) != ("encoder", "bidirectional")
        ]:
            name = "no_input_feeding" if other[0] == "input_feeding" else other[0]
            raise ValueError(f"{name} is a choice of Luong's model, not of {preset}; leave it or the preset out")
        begin = {"encoder": "backward"} if self.preset else {"encoder": "bidirectional", "score": "dot"}
        told = begin | wanted if preset == "luong" else {name: wanted[name] for name in own & {*wanted}}
        sizes = {"embedding_dim": size, "hidden_size": size}
        if preset == "transformer":
            sizes = {"d_model": size, "dim_feedforward": 4 * size}
        return preset, told | sizes | {
            "dropout": self.dropout,
            "embedding_dropout": self.embedding_dropout,
            "seed": seed,
        }


@dataclass(frozen=True)
class TrainingConfig:
    """How a model is made from a text. The epochs count unless `steps` or `minutes` are given.

    The defaults are the best of the few tried on 29,000 captions. A record of a run knows it by these names and values.

    Attributes
    ----------
    preset : str
        One of `attnlib.text.folder.PRESETS`.
    options : dict
        What the preset is told: see `Architecture`.
    """

    preset: Suppress[str] = "luong"
    options: Suppress[dict[str, Any]] = field(default_factory=lambda: Architecture().options()[1])
    embedding_scale: float = 0.5
    """standard deviation that embeddings begin with"""
    words: bool = False
    """know whole words; otherwise subwords"""
    vocab_size: int = 8000
    """most subwords, or words, of a side"""
    share_vocabulary: bool = False
    """one set of subwords for both sides"""
    min_count: int | None = None
    """with --words: how often a word must occur; None: 2"""
    max_input_length: int = 100
    """most words, or subwords, of a side of a pair; longer pairs are left out"""
    epochs: int = 10
    """how often each pair is learnt from"""
    steps: int | None = None
    """how many batches, instead of epochs"""
    minutes: float | None = None
    """how long, instead of epochs"""
    max_sentences: int = 64
    """most pairs of a batch, over all processes"""
    max_tokens: int = 8000
    """most words or subwords on one side of it"""
    learning_rate: float = 2e-3
    """Adam's, at its highest"""
    schedule: Literal["cosine", "constant"] = "cosine"
    """of the learning rate, after a warm-up"""
    label_smoothing: float = 0.1
    """probability that is shared by all words but the right one"""
    max_grad_norm: float = 1.0
    """greatest norm of the gradient"""
    eval_every: int | None = None
    """steps from one dev score to the next; None: an epoch"""
    patience: int | None = None
    """end after so many dev scores no better than the best"""
    seed: int = 0
    """of weights, batches and dropout"""

    def check(self) -> None:
        """Refuse what is not in its range, and what does not go together."""
        sizes = ("vocab_size", "min_count", "max_input_length", "max_sentences", "max_tokens")
        times = ("epochs", "steps", "eval_every", "patience")
        check_whole(**{name: n for name in (*sizes, *times) if (n := getattr(self, name)) is not None})
        check_whole(0, seed=self.seed)
        check_share(label_smoothing=self.label_smoothing)
        check_choice(("cosine", "constant"), schedule=self.schedule)
        for name in ("embedding_scale", "minutes", "learning_rate", "max_grad_norm"):
            number = getattr(self, name)
            if number is not None and not 0 < number < inf:
                raise ValueError(f"{name} is {number}; expected a number above 0")
        if self.steps is not None and self.minutes is not None:
            raise ValueError(f"steps is {self.steps} and minutes is {self.minutes}; expected one of them")
        if self.share_vocabulary and self.words:
            raise ValueError("share_vocabulary is True with whole words; expected it with subwords only")
        if self.min_count is not None and not self.words:
            raise ValueError(f"min_count is {self.min_count} with subwords; expected it with whole words only")
        if self.preset == "transformer" and self.embedding_scale != TrainingConfig.embedding_scale:
            raise ValueError(f"embedding_scale is {self.embedding_scale}; a transformer's embeddings have their own")

    def length(self, epoch: int) -> dict[str, int | float | None]:
        """Tell `attnlib.training.train` how long to learn, when so many steps make an epoch."""
        by_epochs = self.epochs * epoch if self.minutes is None else None
        return {"steps": by_epochs if self.steps is None else self.steps, "minutes": self.minutes}
