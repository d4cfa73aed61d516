"""One training loop for every model and every text: Adam on the cross-entropy of the true words."""

import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import cos, inf, isfinite, pi
from numbers import Real
from threading import current_thread, main_thread
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.utils import clip_grad_norm_
from tqdm import tqdm

from attnlib import processes
from attnlib.checks import check_choice, check_finite, check_share, check_whole
from attnlib.data import PAD, Batch
from attnlib.losses import linear_cross_entropy
from attnlib.seq2seq import EncoderDecoder


class DevScore(NamedTuple):
    """How a model did on sentences kept apart, after so many steps: nats per word, and BLEU or chrF, 0 to 100."""

    step: int
    loss: float
    score: float
    metric: str = "BLEU"

    @property
    def rank(self) -> tuple[float, float]:
        """Order scores, the better one greater: by BLEU or chrF and, where that is equal, by smaller loss."""
        return self.score, -self.loss


class History(NamedTuple):
    """What happened in training.

    Attributes
    ----------
    losses : ``"steps"``
        The mean loss of each step's real target words, in nats per word, before the step.
    words_per_second : float
        Real target words, EOS among them.
    dev_scores : tuple of DevScore
    stop_reason : str
        "steps", "minutes", "early" or "interrupted".
    """

    losses: Float[np.ndarray, "steps"]
    words_per_second: float
    dev_scores: tuple[DevScore, ...] = ()
    stop_reason: str = "steps"


@dataclass
class TrainingState:
    """A training under way: with torch's generator, all that is needed to go on with it.

    Attributes
    ----------
    model, optimizer
        As they are now.
    losses : list of float
        One per step.
    words, seconds
        Real target words learnt from, and what the steps took.
    dev_scores : list of DevScore
    best : state dict, optional
        The weights at the best of the scores.
    should_stop : bool
        Whether to end before the next step, which whoever looks on may ask for.
    """

    model: nn.Module
    optimizer: torch.optim.Optimizer
    losses: list[float] = field(default_factory=list)
    words: int = 0
    seconds: float = 0.0
    dev_scores: list[DevScore] = field(default_factory=list)
    best: dict[str, Tensor] | None = None
    should_stop: bool = False

    @property
    def step(self) -> int:
        """How many steps were taken."""
        return len(self.losses)

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return next(self.model.parameters()).device

    @property
    def words_per_second(self) -> float:
        """How many words were learnt from in a second."""
        return self.words / (self.seconds or 1.0)


def warmup_cosine(fraction: float) -> float:
    """Raise the learning rate over the first twentieth of the training, then let it fall along a cosine to 0.

    From the fraction of the training that is done, 0 to 1, comes what the learning rate is multiplied by.
    """
    return warmup_constant(fraction) * (1 + cos(pi * fraction)) / 2


def warmup_constant(fraction: float) -> float:
    """Raise the learning rate over the first twentieth of the training, then keep it."""
    if not 0 <= fraction <= 1:
        raise ValueError(f"fraction is {fraction}; expected a share from 0 to 1")
    return min(1.0, 20 * fraction)


def init_training(model: EncoderDecoder) -> TrainingState:
    """Stand before the first step."""
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
    """Change the model's weights so that it gives the true translations a greater probability.

    The same batches and the same seed give the same weights on one machine with the same number of threads. Torch's
    own generator stays as it was. Ctrl-C ends the training after the step under way, and what was learnt stays.

    Several processes, each given its share of every batch, end with the same weights: see `attnlib.processes`.

    Parameters
    ----------
    batches : iterable of Batch
        What to learn from, one a step: see `attnlib.data.infinite_batches`. Of several processes, each its share.
    steps, minutes : optional
        How many batches to learn from, and how long at most. One of them is needed.
    seed : int
        Which features dropout sets to 0.
    learning_rate, schedule
        Adam's, at its highest, and what it is multiplied by: see `warmup_cosine`.
    max_grad_norm : float
        The greatest norm of the gradient of all weights together. A longer one is shortened to it.
    label_smoothing : float
        See `attnlib.losses.linear_cross_entropy`.
    progress : bool, optional
        Whether to show a bar. None: only on a terminal.
    state : TrainingState, optional
        One to go on with: the model has its weights, torch its generator's state, and `batches` follow its own.
    on_step : function, optional
        Called after each step with the state and whether the training ends with it, while the model drops nothing.
        It may ask for an early end: see `TrainingState`.
    """
    fixed = {"seed": seed, "max_grad_norm": max_grad_norm, "label_smoothing": label_smoothing}
    _check(steps, minutes, learning_rate=learning_rate, **fixed)
    state, most = state or init_training(model), (float(steps or inf), float(minutes or inf))
    parts, bar = iter(batches), _bar(progress, steps, state)
    with _dropping(state, seed), interruptible() as interrupted, bar:
        while not (reason := _stop_reason(state, *most, interrupted())):
            began = perf_counter()
            rate = learning_rate * schedule(_fraction(state, *most))
            state.losses.append(_step(state, next(parts, None), learning_rate=rate, **fixed))
            state.seconds += perf_counter() - began
            if not isfinite(state.losses[-1]):
                raise FloatingPointError(f"loss is {state.losses[-1]} at step {state.step}; expected a finite number")
            if on_step:
                with _dropping_nothing(model):
                    on_step(state, bool(_stop_reason(state, *most)))
            bar.update()
            bar.set_postfix(loss=f"{state.losses[-1]:.3f}", words_s=f"{state.words_per_second:,.0f}", refresh=False)
    return History(np.array(state.losses), state.words_per_second, tuple(state.dev_scores), reason)


@contextmanager
def interruptible() -> Iterator[Callable[[], bool]]:
    """Let Ctrl-C ask for an end instead of tearing off what is under way; a second one does tear it off.

    It yields a function: whether it was asked. Never in another thread, nor where another handler is set.
    """
    if current_thread() is not main_thread() or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield lambda: False
        return
    asked = False

    def ask(number: int, frame: object) -> None:
        nonlocal asked
        if asked:
            raise KeyboardInterrupt
        asked = True

    signal.signal(signal.SIGINT, ask)
    try:
        yield lambda: asked
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _step(
    state: TrainingState,
    batch: Batch | None,
    *,
    learning_rate: float,
    seed: int,
    max_grad_norm: float,
    label_smoothing: float,
) -> float:
    """Learn, all processes together, from a batch, or each from its part of it: return its mean loss."""
    if batch is None:
        raise ValueError(f"batches ended after {state.step} steps; expected one for each step")
    model, words = state.model, int((batch.target != PAD).sum())
    words_of_all = processes.all_reduce_sum(words)
    state.optimizer.param_groups[0]["lr"] = learning_rate
    if state.device.type != "cpu" or processes.world_size() > 1:  # no generator's state is kept: each step has a seed
        torch.manual_seed(int(np.random.SeedSequence([seed, processes.rank(), state.step + 1]).generate_state(1)[0]))
    state.optimizer.zero_grad()
    loss = torch.zeros((), device=state.device, requires_grad=True)
    if words:
        source, lengths, target = (x.to(state.device) for x in batch)
        read = model.extract_features(source, lengths, target)
        part = words / words_of_all
        loss = part * linear_cross_entropy(read, model.decoder.output_weight, target, label_smoothing)
    loss.backward()
    loss = processes.all_reduce_gradients(model.parameters(), loss.detach())
    clip_grad_norm_(model.parameters(), max_grad_norm)
    state.optimizer.step()
    state.words += words_of_all
    return loss.item()


def _fraction(state: TrainingState, steps: float, minutes: float) -> float:
    """Take the fraction of the training that will be done after one step more."""
    return max((state.step + 1) / (steps + 1), min(1.0, state.seconds / (60 * minutes)))


def _stop_reason(state: TrainingState, steps: float, minutes: float, interrupted: bool = False) -> str | None:
    """Name what ends the training now, for all processes the same; None: it goes on."""
    state.seconds, asked = processes.all_reduce_max(state.seconds, float(interrupted))
    reasons = {
        "steps": state.step >= steps,
        "minutes": state.seconds >= 60 * minutes,
        "early": state.should_stop,
        "interrupted": asked,
    }
    return next((reason for reason, true in reasons.items() if true), None)


def _bar(progress: bool | None, steps: int | None, state: TrainingState) -> tqdm:
    """Show how far a training is: twice a second on a terminal; every ten seconds elsewhere, as in a log."""
    check_choice((None, True, False), progress=progress)
    shown = None if progress is None else not progress or processes.rank() > 0
    seconds = 0.5 if sys.stderr.isatty() else 10.0
    return tqdm(total=steps, initial=state.step, disable=shown, unit="step", mininterval=seconds)


@contextmanager
def _dropping(state: TrainingState, seed: int) -> Iterator[None]:
    """Let the model drop features inside, by random numbers of its own, which begin with the training."""
    with torch.random.fork_rng(devices=[state.device] * (state.device.type == "cuda")):
        if not state.step:
            torch.manual_seed(seed)
        state.model.train()
        try:
            yield
        finally:
            state.model.eval()


@contextmanager
def _dropping_nothing(model: EncoderDecoder) -> Iterator[None]:
    """Let the model be without dropout and gradients inside, and random numbers be those of others."""
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        model.eval()
        try:
            yield
        finally:
            model.train()


def _check(
    steps: int | None,
    minutes: float | None,
    *,
    seed: int,
    learning_rate: float,
    max_grad_norm: float,
    label_smoothing: float,
) -> None:
    if steps is None and minutes is None:
        raise ValueError("steps and minutes are None; expected one of them")
    check_whole(**{} if steps is None else {"steps": steps})
    check_whole(0, seed=seed)
    check_finite(learning_rate=learning_rate)
    check_share(label_smoothing=label_smoothing)
    if learning_rate < 0:
        raise ValueError(f"learning_rate is {learning_rate}; expected at least 0")
    for name, number in (("minutes", inf if minutes is None else minutes), ("max_grad_norm", max_grad_norm)):
        if not isinstance(number, Real) or not number > 0:
            raise ValueError(f"{name} is {number}; expected a number above 0")
