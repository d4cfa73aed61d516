"""One training loop for every model and every text (chapter 5): Adam on the cross-entropy of the true words."""

import signal
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

from attnlib.batching import Batch
from attnlib.checks import brief, check_positive, check_seed, check_whole
from attnlib.data import PAD
from attnlib.seq2seq import EncoderDecoder


class History(NamedTuple):
    """Losses and speed of a training.

    Attributes
    ----------
    losses
        The mean loss of each batch before its step, in nats per target word, EOS among them.
    words_per_second : float
        Target words, EOS among them.
    stop_reason : {"steps", "minutes", "early", "interrupted"}
        What ended the training.
    """

    losses: Float[np.ndarray, "steps"]
    words_per_second: float
    stop_reason: str = "steps"


@dataclass
class TrainingState:
    """State of a training: all that is needed to continue it. Losses are those of `History`.

    Attributes
    ----------
    words : int
        The number of target words of all steps, EOS among them.
    seconds : float
        The time of all steps. That of the callbacks does not count.
    should_stop : bool
        Whether to end before the next step. A callback may set it. To continue such a training, set it to False.
    interrupted : bool
        Whether Ctrl-C was pressed.
    random : tensor, optional
        State of torch's generator after the last step. None before the first.
    """

    model: EncoderDecoder
    optimizer: torch.optim.Optimizer
    losses: list[float] = field(default_factory=list)
    words: int = 0
    seconds: float = 0.0
    should_stop: bool = False
    interrupted: bool = False
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


def plain_backward(state: TrainingState, batch: Batch, label_smoothing: float = 0.0) -> Tensor:
    """Compute the gradients of the cross-entropy of the true words, `EncoderDecoder.loss`, which is returned."""
    source, lengths, target = (x.to(state.device) for x in batch)
    loss = state.model.loss(source, lengths, target, label_smoothing)
    loss.backward()
    return loss.detach()


def train(
    model: EncoderDecoder,
    batches: Iterable[Batch],
    *,
    steps: int | None = None,
    minutes: float | None = None,
    seed: int = 0,
    learning_rate: float = 5e-3,
    max_grad_norm: float = 1.0,
    schedule: Callable[[float], float] = warmup_cosine,
    backward: Callable[[TrainingState, Batch], float | Tensor] = plain_backward,
    state: TrainingState | None = None,
    on_step: Callable[[TrainingState], Any] | None = None,
) -> History:
    """Train a model with Adam on the cross-entropy of the true words, and return losses and speed.

    The same batches and the same seed give the same weights on one machine with the same number of threads. The state
    of torch's generator is not changed. Ctrl-C ends the training after the current step and keeps the weights.

    Parameters
    ----------
    model : EncoderDecoder
        The model, which is changed in place. It is set to training mode for the steps, and is left in evaluation mode.
    batches : iterable of Batch
        One batch per step: see `attnlib.batching.infinite_batches`.
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
    schedule : function, default `warmup_cosine`
        Returns the factor of the learning rate, given the fraction of the training that is done.
    backward : function, default `plain_backward`
        Given the state and a batch, leaves the gradients of the mean loss in the weights, and returns the loss.
        ``partial(plain_backward, label_smoothing=0.1)`` smooths the labels.
    state : TrainingState, optional
        A training of the same model to continue, which is changed in place; `batches` continue its batches, and the
        result includes its steps. If None, a new training.
    on_step : function, optional
        Called with the state after each step, in evaluation mode. It may set ``state.should_stop``.

    Raises
    ------
    TypeError, ValueError
        If `steps` or `seed` is not a whole number, an argument is out of range, or the batches end before the training.
    FloatingPointError
        If the loss is not finite; the weights are then those before the step.

    Examples
    --------
    >>> from attnlib import SentencePair, Vocabulary, infinite_batches, luong, train
    >>> letters = Vocabulary(tuple("abcd"))
    >>> pairs = [SentencePair(tuple(word), tuple(reversed(word))) for word in ("abc", "bad", "cab", "dac")]
    >>> model = luong(letters, letters, embedding_dim=8, hidden_size=8)
    >>> history = train(model, infinite_batches(pairs, letters, letters, max_tokens=60, seed=0), steps=3)
    >>> len(history.losses), history.stop_reason
    (3, 'steps')
    """
    if state is not None and state.model is not model:
        raise ValueError("state is a training of another model; expected one of the model that is given")
    if not torch.is_grad_enabled():
        raise ValueError("train is called without gradients; expected no torch.no_grad or inference_mode around it")
    if steps is None and minutes is None:
        raise ValueError("steps and minutes are None; expected a number for one of them")
    check_whole(steps=1 if steps is None else steps)
    check_seed(seed)
    check_positive(minutes=1 if minutes is None else minutes, learning_rate=learning_rate, max_grad_norm=max_grad_norm)
    state, batches = state or init_training(model), iter(batches)
    most_steps, most_seconds = float(steps or inf), 60 * float(minutes or inf)
    with _mode(state, training=True), interruptible() as interrupted:
        state.interrupted = False
        if state.random is None:
            torch.manual_seed(int(seed))
        else:
            torch.set_rng_state(state.random)
        while not (reason := _stop_reason(state, most_steps, most_seconds)):
            began = perf_counter()
            batch = next(batches, None)
            if batch is None:
                raise ValueError(f"batches ended after {state.step} steps; expected a batch for each step")
            if not isinstance(batch, Batch):
                raise TypeError(f"batches yields {brief(batch)}; expected a Batch, as from infinite_batches")
            if state.device.type != "cpu":  # whose generator's state is not kept: each step has a seed of its own
                torch.manual_seed(step_seed(seed, state.step + 1))
            # The fraction of the steps or of the minutes that has passed, whichever is nearer to its limit.
            done = max((state.step + 1) / (most_steps + 1), min(1.0, state.seconds / most_seconds))
            state.optimizer.param_groups[0]["lr"] = learning_rate * schedule(done)
            state.optimizer.zero_grad()
            loss = float(backward(state, batch))
            if not isfinite(loss):
                raise FloatingPointError(f"loss is {loss} at step {state.step + 1}; expected a finite number")
            clip_grad_norm_(model.parameters(), max_grad_norm)
            state.optimizer.step()
            state.losses.append(loss)
            state.words += int((batch.target != PAD).sum())
            state.random = torch.get_rng_state()
            state.seconds += perf_counter() - began
            state.interrupted = interrupted()
            if on_step:
                with _mode(state, training=False), torch.no_grad():
                    on_step(state)
    return History(np.array(state.losses), state.words_per_second, reason)


def step_seed(seed: int, step: int, process: int = 0) -> int:
    """Return the seed of what dropout draws in one step, in one of several processes."""
    return int(np.random.SeedSequence([int(seed), process, step]).generate_state(1)[0])


@contextmanager
def interruptible() -> Iterator[Callable[[], bool]]:
    """Yield a function that returns whether Ctrl-C was pressed in the enclosed block.

    A second Ctrl-C raises KeyboardInterrupt. In a thread other than the main one, and where another handler is set, the
    function returns False.
    """
    if current_thread() is not main_thread() or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield lambda: False
        return
    pressed = False

    def press(number: int, frame: object) -> None:
        nonlocal pressed
        pressed = True
        signal.signal(signal.SIGINT, signal.default_int_handler)

    signal.signal(signal.SIGINT, press)
    try:
        yield lambda: pressed
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _stop_reason(state: TrainingState, most_steps: float, most_seconds: float) -> str | None:
    """Return the reason to end the training now, or None."""
    reasons = {
        "steps": state.step >= most_steps,
        "minutes": state.seconds >= most_seconds,
        "early": state.should_stop,
        "interrupted": state.interrupted,
    }
    return next((reason for reason, true in reasons.items() if true), None)


@contextmanager
def _mode(state: TrainingState, *, training: bool) -> Iterator[None]:
    """Set the model to a mode for a block, and to the other one afterward; restore the state of torch's generators."""
    with torch.random.fork_rng(devices=[state.device] * (state.device.type == "cuda")):
        state.model.train(training)
        try:
            yield
        finally:
            state.model.train(not training)
