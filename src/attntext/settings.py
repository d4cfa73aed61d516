"""Settings of a training on a text, declared once for Python and for the command.

A field is an option of the command, with the same name and default. The text below the field is the option's help.
"""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from tyro.conf import Suppress

LEAST_STEPS = 400
"""Steps below which a new model translates poorly, however small its text."""

_LUONG_ONLY = ("encoder", "half_width", "input_feeding", "score", "window")
_LACKS = {  # what a preset has no setting for
    "luong": (),
    "rnn_search": (*_LUONG_ONLY, "num_layers"),
    "rnn_encdec": (*_LUONG_ONLY, "num_layers"),
    "transformer": _LUONG_ONLY,
}


@dataclass(frozen=True)
class Architecture:
    """Choice of a network. A value of None stands for the setting of the preset's paper.

    Without a preset it is Luong's decoder with the concat score, on a bidirectional encoder.
    """

    preset: Literal["luong", "rnn_search", "rnn_encdec", "transformer"] | None = None
    """a paper's own model, instead of the default"""
    encoder: Literal["bidirectional", "backward", "forward"] | None = None
    """directions that the encoder reads in. None: bidirectional; for --preset luong: backward"""
    score: Literal["dot", "general", "concat", "location"] | None = None
    """attention score. None: concat; for --preset luong: general"""
    window: Literal["global", "local-m", "local-p"] | None = None
    """source positions that a step attends to. None: global"""
    half_width: int | None = None
    """half-width D of a local window, in words or subwords. None: 10"""
    input_feeding: bool | None = None
    """feed a step the attentional state of the step before. None: True"""
    num_layers: int | None = None
    """number of layers. None: 1, and 2 for a transformer"""
    features: int = 256
    """size of an embedding and of a hidden state: embedding_dim and hidden_size, or d_model, of the preset"""
    dropout: float = 0.3
    """dropout rate before the output layer and between LSTMs; of a transformer: of each sublayer"""
    embedding_dropout: float = 0.2
    """dropout rate of the embeddings"""

    def options(self, seed: int = 0) -> tuple[str, dict[str, Any]]:
        """Return the name of the preset and the arguments of its function, apart from the vocabularies."""
        given = {name: value for name, value in vars(self).items() if value is not None}
        preset, size = given.pop("preset", "luong"), given.pop("features")
        if other := [name for name in _LACKS[preset] if name in given]:
            raise ValueError(f"{other[0]} is set with the preset {preset}; expected it with luong's preset, or none")
        if "half_width" in given and given.get("window", "global") == "global":
            raise ValueError("half_width is set without a local window; expected it with the window local-m or local-p")
        default = {} if self.preset else {"encoder": "bidirectional", "score": "concat"}
        sizes = {"embedding_dim": size, "hidden_size": size}
        if preset == "transformer":
            sizes = {"d_model": size, "dim_feedforward": 4 * size}
        return preset, default | given | sizes | {"seed": seed}


@dataclass(frozen=True)
class TrainingConfig:
    """Settings of a training. The epochs count unless `steps` or `minutes` are given.

    The defaults were chosen by a few trials, most of them on 29,000 captions.

    Attributes
    ----------
    preset : str, default "luong"
        One of `attnbook.pretrained.folder.PRESETS`.
    options : dict
        Arguments of the preset's function: see `Architecture.options`.
    """

    preset: Suppress[str] = "luong"
    options: Suppress[dict[str, Any]] = field(default_factory=lambda: Architecture().options()[1])
    embedding_scale: float = 0.5
    """standard deviation of the initial embeddings; not for a transformer"""
    words: bool = False
    """use a vocabulary of whole words; otherwise of subwords"""
    vocab_size: int = 8000
    """most subwords, or words, of a vocabulary"""
    share_vocabulary: bool = False
    """use one vocabulary for both sides"""
    min_count: int | None = None
    """with --words: how often a word must occur to be in the vocabulary. None: 2"""
    max_input_length: int = 100
    """most words, or subwords, of a side of a pair; longer pairs are left out"""
    epochs: int | None = None
    """passes through the training pairs. None: 10, and more for a small text, up to 400 steps"""
    steps: int | None = None
    """number of training steps, instead of epochs; with minutes, the first limit reached ends the training"""
    minutes: float | None = None
    """duration of the whole training, dev scores among it, instead of epochs"""
    max_sentences: int = 64
    """most pairs of a batch, over all processes"""
    max_tokens: int = 8000
    """most words or subwords on one side of a batch, padding counted"""
    learning_rate: float = 2e-3
    """Adam's highest learning rate"""
    schedule: Literal["cosine", "constant"] = "cosine"
    """schedule of the learning rate after the warm-up"""
    label_smoothing: float = 0.1
    """share of the target distribution that is spread over all words"""
    max_grad_norm: float = 1.0
    """norm above which the gradient is scaled down"""
    eval_every: int | None = None
    """steps between two dev scores. None: an epoch, or 50 if it has fewer"""
    patience: int | None = None
    """stop after this many dev scores in a row that are no better than the best"""
    seed: int = 0
    """seed of initial weights, batches and dropout"""

    def check(self) -> None:
        """Raise an error if a setting is out of range, or two settings exclude each other."""
        import torch  # noqa: PLC0415, help should not wait for what checks

        from attnbook.pretrained.folder import PRESETS  # noqa: PLC0415
        from attnlib.checks import check_choice, check_positive, check_seed, check_share, check_whole  # noqa: PLC0415
        from attnlib.data import Vocabulary  # noqa: PLC0415

        sizes = ("vocab_size", "min_count", "max_input_length", "max_sentences", "max_tokens")
        times = ("epochs", "steps", "eval_every", "patience")
        check_whole(**{name: n for name in (*sizes, *times) if (n := getattr(self, name)) is not None})
        check_seed(self.seed)
        check_choice(PRESETS, preset=self.preset)
        check_choice(("cosine", "constant"), schedule=self.schedule)
        check_share(label_smoothing=self.label_smoothing)
        rates = ("minutes", "learning_rate", "max_grad_norm", "embedding_scale")
        check_positive(**{name: x for name in rates if (x := getattr(self, name)) is not None})
        if self.min_count is not None and not self.words:
            raise ValueError(f"min_count is {self.min_count} with subwords; expected it with whole words only")
        if self.preset == "transformer" and self.embedding_scale != TrainingConfig.embedding_scale:
            raise ValueError(f"embedding_scale is {self.embedding_scale}; expected it with recurrent models only")
        few = Vocabulary(("a",))
        with torch.device("meta"):  # a network without numbers, to have its own checks before a text is read
            PRESETS[self.preset](few, few, **self.options)

    def train_arguments(self, epoch: int) -> dict[str, Any]:
        """Return the arguments of `attnlib.training.train`, given the steps of an epoch."""
        by_epochs = self.steps is None and self.minutes is None
        names = ("minutes", "seed", "learning_rate", "max_grad_norm")
        epochs = self.epochs or max(10, -(-LEAST_STEPS // epoch))
        return {"steps": epochs * epoch if by_epochs else self.steps} | {n: getattr(self, n) for n in names}


def read_settings(path: Path) -> tuple[Architecture, TrainingConfig]:
    """Return the options of a training from the ``config.json`` that it wrote, or from its folder."""
    from attnbook.pretrained.folder import CONFIG, refuse_damage  # noqa: PLC0415, help should not wait for torch

    path = path / CONFIG if path.is_dir() else path
    with refuse_damage(path, "the config.json of a training"):
        training = TrainingConfig(**json.loads(path.read_text("utf-8"))["settings"])
        training.check()
        given: dict[str, Any] = {"preset": training.preset, **training.options}
        given["features"] = given.get("hidden_size", given.get("d_model"))
        architecture = Architecture(**{name: given[name] for name in vars(Architecture()) if name in given})
        if architecture.options(training.seed) != (training.preset, training.options):
            raise ValueError("it has options that attnlib train does not have")
    return architecture, training
