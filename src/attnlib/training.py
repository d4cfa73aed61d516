"""One training loop for every translator and every text: Adam on the cross-entropy of the true words."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import cos, inf, pi
from numbers import Real
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.utils import clip_grad_norm_

from attnlib import processes
from attnlib.checks import check_finite, check_share, check_whole
from attnlib.data import Batch
from attnlib.devices import moved
from attnlib.losses import output_loss
from attnlib.progress import History, Training, interruptible, reporter
from attnlib.translator import Translator


def warm_cosine(done: float) -> float:
    """Raise the learning rate over the first twentieth of the training, then let it fall along a cosine to 0.

    From the share of the training that is done, 0 to 1, comes what the learning rate is multiplied by.
    """
    return warm(done) * (1 + cos(pi * done)) / 2


def warm(done: float) -> float:
    """Raise the learning rate over the first twentieth of the training, then keep it."""
    if not 0 <= done <= 1:
        raise ValueError(f"done is {done}; expected a share from 0 to 1")
    return min(1.0, 20 * done)


def begin(translator: Translator) -> Training:
    """Stand before the first step."""
    if not any(weight.requires_grad for weight in translator.parameters()):
        raise ValueError("translator's weights are frozen; expected some that learn: call translator.requires_grad_()")
    return Training(translator, torch.optim.Adam(translator.parameters(), fused=True))


def train(
    translator: Translator,
    batches: Iterable[Batch],
    *,
    steps: int | None = None,
    minutes: float | None = None,
    seed: int = 0,
    learning_rate: float = 5e-3,
    clip: float = 1.0,
    smoothing: float = 0.0,
    schedule: Callable[[float], float] = warm_cosine,
    progress: bool | str | None = None,
    training: Training | None = None,
    on_step: Callable[[Training, bool], Any] | None = None,
    on_checkpoint: Callable[[Training, bool], Any] = lambda training, last: None,
) -> History:
    """Change the translator's weights so that it gives the true translations a greater probability.

    The same batches and the same seed give the same weights on one machine with the same number of threads. Torch's
    own generator stays as it was. Ctrl-C ends the training after the step under way, and what was learnt stays.

    Several processes, each given its share of every batch, end with the same weights: see `attnlib.processes`.

    Parameters
    ----------
    batches : iterable of Batch
        What to learn from, one a step: see `attnlib.data.endless`. Of several processes, each its share.
    steps, minutes : optional
        How many batches to learn from, and how long at most. One of them is needed.
    seed : int
        Which features dropout sets to 0.
    learning_rate, schedule
        Adam's, at its highest, and what it is multiplied by: see `warm_cosine`.
    clip : float
        The greatest norm of the gradient of all weights together. A longer one is shortened to it.
    smoothing : float
        Of the labels: see `attnlib.losses.output_loss`.
    progress : bool or "lines", optional
        How to show how far it is: see `attnlib.progress.reporter`. None: a bar, only on a terminal.
    training : Training, optional
        One to go on with: the translator has its weights, torch its generator's state, and `batches` follow its own.
    on_step : function, optional
        Called after each step with the training and whether it was the last step, while the translator drops nothing.
        It may ask for an early end: see `Training`.
    on_checkpoint : function
        Called with the training whenever its losses are known, and whether this is the end: after each step, on a GPU,
        which no step shall wait for, about once a second; and once more at the end.
    """
    length, step = _Length(steps, minutes), _Step(seed, learning_rate, schedule, clip, smoothing)
    training = training or begin(translator)
    parts = moved(batches, training.device)
    reports = reporter(False if processes.rank() else progress, steps, training.step)
    with _dropping(training, seed), interruptible() as interrupted, reports as report:
        while not (ended := length.ended(training, interrupted())):
            with training.clocked():
                loss, words = step(training, next(parts, None), length.share(training, 1))
                training.add(loss, words, last=training.step + 1 == steps)
            if on_step:
                with _dropping_nothing(translator):
                    on_step(training, bool(length.ended(training, interrupted())))
            if not training.unread:
                report(training, length.share(training))
                on_checkpoint(training, False)
        training.read()
        on_checkpoint(training, True)
    return History(np.array(training.losses), training.pace, tuple(training.scores), ended)


@dataclass(frozen=True)
class _Step:
    """How a step is taken."""

    seed: int
    learning_rate: float
    schedule: Callable[[float], float]
    clip: float
    smoothing: float

    def __post_init__(self):
        check_whole(0, seed=self.seed)
        check_finite(learning_rate=self.learning_rate)
        if self.learning_rate < 0:
            raise ValueError(f"learning_rate is {self.learning_rate}; expected at least 0")
        _check_above_0(clip=self.clip)
        check_share(smoothing=self.smoothing)

    def __call__(self, training: Training, part: tuple[Batch, int] | None, done: float) -> tuple[Tensor, int]:
        """Learn, all processes together, from a batch: return its mean loss and its number of words."""
        if part is None:
            raise ValueError(f"batches ended after {training.step} steps; expected one for each step")
        (batch, words), translator = part, training.translator
        words_of_all = processes.total(words)
        training.optimizer.param_groups[0]["lr"] = self.learning_rate * self.schedule(done)
        self._seed(training)
        training.optimizer.zero_grad()
        loss = self._loss(translator, batch, words / words_of_all)
        loss.backward()
        loss = processes.summed(translator.parameters(), loss.detach())
        clip_grad_norm_(translator.parameters(), self.clip)
        training.optimizer.step()
        return loss, words_of_all

    def _seed(self, training: Training) -> None:
        """Seed what dropout sets to 0 in one step of one process, where no generator's state is kept."""
        if training.device.type != "cpu" or processes.count() > 1:
            numbers = [self.seed, processes.rank(), training.step + 1]
            torch.manual_seed(int(np.random.SeedSequence(numbers).generate_state(1)[0]))

    def _loss(self, translator: Translator, batch: Batch, part: float) -> Tensor:
        """Compute what a batch adds to the mean loss, having so large a part of all processes' words."""
        if not part:
            return torch.zeros((), device=batch.target.device, requires_grad=True)
        read = translator.before_output(*batch)
        return part * output_loss(read, translator.decoder.output, batch.target, self.smoothing)


class _Length:
    """How long to train: so many steps or minutes at most, one of them given and the other infinite."""

    def __init__(self, steps: int | None, minutes: float | None):
        if steps is None and minutes is None:
            raise ValueError("steps and minutes are None; expected one of them")
        check_whole(**{} if steps is None else {"steps": steps})
        _check_above_0(**{} if minutes is None else {"minutes": minutes})
        self.steps, self.minutes = (inf if most is None else most for most in (steps, minutes))

    def share(self, training: Training, more: int = 0) -> float:
        """Take the share of the training that is done, or will be after so many steps more."""
        by_steps = (training.step + more) / (self.steps + 1)
        by_clock = min(1.0, training.seconds / (60 * self.minutes))
        return max(by_steps, by_clock)

    def ended(self, training: Training, interrupted: bool) -> str | None:
        """Name what ends the training now, for all processes the same; None: it goes on."""
        training.seconds, asked = processes.greatest(training.seconds, float(interrupted))
        reasons = {
            "steps": training.step >= self.steps,
            "minutes": training.seconds >= 60 * self.minutes,
            "early": training.early,
            "interrupted": asked,
        }
        return next((reason for reason, true in reasons.items() if true), None)


@contextmanager
def _dropping(training: Training, seed: int) -> Iterator[None]:
    """Let the translator drop features inside, by random numbers of its own, which begin with the training."""
    with torch.random.fork_rng(devices=[training.device] * (training.device.type == "cuda")):
        if not training.step:
            torch.manual_seed(seed)
        training.translator.train()
        try:
            yield
        finally:
            training.translator.eval()


@contextmanager
def _dropping_nothing(translator: Translator) -> Iterator[None]:
    """Let the translator be without dropout and gradients inside, and random numbers be those of others."""
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        translator.eval()
        try:
            yield
        finally:
            translator.train()


def _check_above_0(**numbers: float) -> None:
    for name, number in numbers.items():
        if not isinstance(number, Real) or not number > 0:
            raise ValueError(f"{name} is {number}; expected a number above 0")
