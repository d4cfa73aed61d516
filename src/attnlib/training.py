"""One training loop for every model and every text: Adam on the cross-entropy of the true words."""

import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import cos, inf, isfinite, pi
from threading import current_thread, main_thread
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.utils import clip_grad_norm_
from tqdm import tqdm

from attnlib import processes
from attnlib.batching import Batch
from attnlib.checks import check_positive, check_seed, check_share, check_whole
from attnlib.data import PAD
from attnlib.seq2seq import EncoderDecoder


class History(NamedTuple):
    """Losses, speed, and evaluations of a training.

    Attributes
    ----------
    losses
        The mean loss of each batch before its step, in nats per target word, EOS among them.
    words_per_second : float
        Target words, EOS among them.
    dev_scores : tuple of dict
        Evaluations on the development set: see `TrainingState`.
    stop_reason : {"steps", "minutes", "early", "interrupted"}
        What ended the training.
    """

    losses: Float[np.ndarray, "steps"]
    words_per_second: float
    dev_scores: tuple[dict[str, float], ...] = ()
    stop_reason: str = "steps"


@dataclass
class TrainingState:
    """State of a training: all that is needed to continue it. Losses are those of `History`.

    Attributes
    ----------
    words : int
        The number of target words of all steps, EOS among them.
    dev_scores : list of dict
        Evaluations on the development set, as lines of a history: ``step``, the number of training steps before it;
        ``dev_loss``, in nats per word; and ``dev_bleu`` or ``dev_chrf``, 0 to 100.
    best : state dict, optional
        The weights with the best score.
    should_stop : bool
        Whether to end before the next step. A callback may set it.
    random : tensor, optional
        State of torch's generator after the last step. None before the first.
    """

    model: EncoderDecoder
    optimizer: torch.optim.Optimizer
    losses: list[float] = field(default_factory=list)
    words: int = 0
    seconds: float = 0.0
    dev_scores: list[dict[str, float]] = field(default_factory=list)
    best: dict[str, Tensor] | None = None
    should_stop: bool = False
    random: Tensor | None = None

    @property
    def step(self) -> int:
        """The number of steps taken."""
        return len(self.losses)

    @property
    def device(self) -> torch.device:
        """The device of the weights."""
        return next(self.model.parameters()).device

    @property
    def words_per_second(self) -> float:
        """The number of target words per second of training."""
        return self.words / (self.seconds or 1.0)


def warmup_cosine(fraction: float) -> float:
    """Return the factor of a learning rate, which falls along a cosine to 0 after the warmup of `warmup_constant`."""
    return warmup_constant(fraction) * (1 + cos(pi * fraction)) / 2


def warmup_constant(fraction: float) -> float:
    """Return the factor of a learning rate that is constant after warmup, the first twentieth of the training."""
    return min(1.0, 20 * fraction)


def init_training(model: EncoderDecoder) -> TrainingState:
    """Return the initial training state of a model, with a new optimizer."""
    if any(weight.is_inference() for weight in model.parameters()):
        raise ValueError("model was made under torch.inference_mode; expected a model made outside of it")
    if not any(weight.requires_grad for weight in model.parameters()):
        raise ValueError("model has only frozen weights; expected trainable weights: call model.requires_grad_()")
    return TrainingState(model, torch.optim.Adam(model.parameters(), fused=True))


def train(
    model: EncoderDecoder,
    batches: Iterable[Batch],
    *,
    steps: int | None = None,
    minutes: float | None = None,
    seed: int = 0,
    learning_rate: float = 5e-3,
    max_grad_norm: float = 1.0,
    label_smoothing: float = 0.0,
    schedule: Callable[[float], float] = warmup_cosine,
    progress: bool | None = None,
    state: TrainingState | None = None,
    on_step: Callable[[TrainingState, bool], Any] | None = None,
) -> History:
    """Train a model with Adam on the cross-entropy of the true words, and say how it went.

    The same batches and the same seed give the same weights on one machine with the same number of threads. The state
    of torch's generator is not changed. Ctrl-C ends the training after the current step and keeps the weights.
    Several processes, each given its share of every batch, end with the same weights: see `attnlib.processes`.

    Parameters
    ----------
    model : EncoderDecoder
        The model, which is changed in place. It is set to training mode for the steps, and is left in evaluation mode.
    batches : iterable of Batch
        One batch per step: see `attnlib.batching.infinite_batches`. With several processes, each gives its own share.
    steps : int, optional
        The total number of steps, those of `state` included. If None, the training ends after `minutes`. At least one
        of the two is needed; with both, the first limit reached ends the training.
    minutes : float, optional
        The longest time of training. If None, there is no limit.
    seed : int, default 0
        Decides which features dropout sets to 0.
    learning_rate : float, default 5e-3
        Adam's learning rate at its maximum.
    max_grad_norm : float, default 1.0
        The greatest norm of the gradient of all weights together. Longer gradients are scaled down to it.
    label_smoothing : float, default 0.0
        See `attnlib.seq2seq.EncoderDecoder.loss`.
    schedule : function, default `warmup_cosine`
        Returns the factor of the learning rate, given the fraction of the training that is done.
    progress : bool, optional
        Whether to show a progress bar. If None, only in a terminal.
    state : TrainingState, optional
        A training of the same model to continue, which is changed in place; `batches` continue its batches, and the
        result includes its steps and dev scores. If None, a new training.
    on_step : function, optional
        Called after each step, in evaluation mode, with the state and whether the training ends with this step. It may
        set ``state.should_stop``.

    Raises
    ------
    TypeError, ValueError
        If `steps` or `seed` is not a whole number, an argument is out of range, or the batches end before the training.
    FloatingPointError
        If the loss is not finite.

    Examples
    --------
    >>> from attnlib import Vocabulary, infinite_batches, luong, train
    >>> from attnbook import sample
    >>> pairs = sample(20, seed=0, clauses=[1])
    >>> words = [Vocabulary.from_sentences(side) for side in zip(*((p.source, p.target) for p in pairs))]
    >>> model = luong(*words, embedding_dim=8, hidden_size=8)
    >>> history = train(model, infinite_batches(pairs, *words, max_tokens=60, seed=0), steps=3, progress=False)
    >>> len(history.losses), history.stop_reason
    (3, 'steps')
    """
    if not torch.is_grad_enabled():
        raise ValueError("train is called without gradients; expected no torch.no_grad or inference_mode around it")
    fixed: dict[str, Any] = {"seed": seed, "max_grad_norm": max_grad_norm, "label_smoothing": label_smoothing}
    if steps is None and minutes is None:
        raise ValueError("steps and minutes are None; expected a number for one of them")
    check_whole(steps=1 if steps is None else steps)
    check_seed(seed)
    check_share(label_smoothing=label_smoothing)
    check_positive(minutes=1 if minutes is None else minutes, learning_rate=learning_rate, max_grad_norm=max_grad_norm)
    state, most = state or init_training(model), (float(steps or inf), float(minutes or inf))
    parts, bar = iter(batches), _bar(progress, steps, state)
    with _mode(state, training=True), interruptible() as interrupted, bar:
        if state.random is None:
            torch.manual_seed(int(seed))
        else:
            torch.set_rng_state(state.random)
        while not (reason := _stop_reason(state, *most, interrupted())):
            began = perf_counter()
            done = max((state.step + 1) / (most[0] + 1), min(1.0, state.seconds / (60 * most[1])))
            rate = learning_rate * schedule(done)
            state.losses.append(_step(state, next(parts, None), rate=rate, **fixed))
            state.random = torch.get_rng_state()
            state.seconds += perf_counter() - began
            if not isfinite(state.losses[-1]):
                raise FloatingPointError(f"loss is {state.losses[-1]} at step {state.step}; expected a finite number")
            if on_step:
                with _mode(state, training=False), torch.no_grad():
                    on_step(state, bool(_stop_reason(state, *most)))
            bar.update()
            bar.set_postfix(loss=f"{state.losses[-1]:.3f}", words_s=f"{state.words_per_second:,.0f}", refresh=False)
    return History(np.array(state.losses), state.words_per_second, tuple(state.dev_scores), reason)


@contextmanager
def interruptible() -> Iterator[Callable[[], bool]]:
    """Yield a function that tells whether Ctrl-C was pressed in the enclosed block.

    A second Ctrl-C raises KeyboardInterrupt. In a thread other than the main one, and where another handler is set, the
    function returns False.
    """
    if current_thread() is not main_thread() or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield lambda: False
        return
    asked = False

    def ask(number: int, frame: object) -> None:
        nonlocal asked
        asked = True
        signal.signal(signal.SIGINT, signal.default_int_handler)

    signal.signal(signal.SIGINT, ask)
    try:
        yield lambda: asked
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _step(
    state: TrainingState, batch: Batch | None, *, rate: float, seed: int, max_grad_norm: float, label_smoothing: float
) -> float:
    """Take one training step on a batch, of which each process has its share, and return the mean loss."""
    if batch is None:
        raise ValueError(f"batches ended after {state.step} steps; expected a batch for each step")
    model, words = state.model, int((batch.target != PAD).sum())
    words_of_all = processes.all_reduce_sum(words)
    state.optimizer.param_groups[0]["lr"] = rate
    if state.device.type != "cpu" or processes.world_size() > 1:  # no generator's state is kept: each step has a seed
        numbers = np.random.SeedSequence([int(seed), processes.rank(), state.step + 1])
        torch.manual_seed(int(numbers.generate_state(1)[0]))
    state.optimizer.zero_grad()
    loss = torch.zeros((), device=state.device, requires_grad=True)
    if words:
        source, lengths, target = (x.to(state.device) for x in batch)
        with processes.cast_weights_once():
            loss = words / words_of_all * model.loss(source, lengths, target, label_smoothing)
    loss.backward()
    loss = processes.all_reduce_gradients(model.parameters(), loss.detach())
    clip_grad_norm_(model.parameters(), max_grad_norm)
    state.optimizer.step()
    state.words += words_of_all
    return loss.item()


def _stop_reason(state: TrainingState, steps: float, minutes: float, interrupted: bool = False) -> str | None:
    """Return the reason to end the training now, the same in all processes, or None."""
    state.seconds, asked = processes.all_reduce_max(state.seconds, float(interrupted))
    reasons = {
        "steps": state.step >= steps,
        "minutes": state.seconds >= 60 * minutes,
        "early": state.should_stop,
        "interrupted": asked,
    }
    return next((reason for reason, true in reasons.items() if true), None)


def _bar(progress: bool | None, steps: int | None, state: TrainingState) -> tqdm:
    """Make a progress bar: redrawn twice a second in a terminal, a line every ten seconds elsewhere, as in a log."""
    hidden = None if progress is None else not progress or processes.rank() > 0
    how: dict[str, Any] = {"mininterval": 0.5}
    if hidden is not None and not sys.stderr.isatty():
        how = {"mininterval": 10.0, "file": _Lines(), "bar_format": "{n_fmt}/{total_fmt} steps, {elapsed}{postfix}"}
    return tqdm(total=steps, initial=state.step, disable=hidden, unit="step", **how)


class _Lines:
    """Standard error that is not a terminal: each state of a progress bar becomes a line."""

    def write(self, text: str) -> None:
        if line := text.strip():
            sys.stderr.write(f"{line}\n")

    def flush(self) -> None:
        sys.stderr.flush()


@contextmanager
def _mode(state: TrainingState, *, training: bool) -> Iterator[None]:
    """Set the model to a mode for a block, and to the other one afterward; restore the state of torch's generators."""
    with torch.random.fork_rng(devices=[state.device] * (state.device.type == "cuda")):
        state.model.train(training)
        try:
            yield
        finally:
            state.model.train(not training)
