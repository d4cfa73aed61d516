"""How far a training has come, and how to say so: a bar on a terminal, lines elsewhere, or nothing."""

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import isfinite
from threading import current_thread, main_thread
from time import perf_counter
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn
from tqdm import tqdm

from attnlib.checks import check_choice

_SECONDS = 10  # between two lines


class DevScore(NamedTuple):
    """How a translator did on sentences kept apart, after so many steps: nats per word, and BLEU or chrF, 0 to 100."""

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
    scores : tuple of DevScore
    ended : str
        By "steps", "minutes", "early" or "interrupted".
    """

    losses: Float[np.ndarray, "steps"]
    words_per_second: float
    scores: tuple[DevScore, ...] = ()
    ended: str = "steps"


@dataclass
class Training:
    """A training under way: with torch's generator, all that is needed to go on with it.

    Attributes
    ----------
    translator, optimizer
        As they are now.
    losses : list of float
        One per step that was read.
    words, seconds
        Real target words learnt from, and what the steps took.
    scores : list of DevScore
    best : state dict, optional
        The weights at the best of the scores.
    early : bool
        Whether to end before the next step, which whoever looks on may ask for.
    unread : list of Tensor
        The losses of the last steps, which a GPU may still be computing.
    """

    translator: nn.Module
    optimizer: torch.optim.Optimizer
    losses: list[float] = field(default_factory=list)
    words: int = 0
    seconds: float = 0.0
    scores: list[DevScore] = field(default_factory=list)
    best: dict[str, Tensor] | None = None
    early: bool = False
    unread: list[Tensor] = field(default_factory=list)
    _last_read: float = field(default_factory=perf_counter)

    @property
    def step(self) -> int:
        """How many steps were taken."""
        return len(self.losses) + len(self.unread)

    @contextmanager
    def clocked(self) -> Iterator[None]:
        """Add the time that passes inside to the seconds."""
        began = perf_counter()
        yield
        self.seconds += perf_counter() - began

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return next(self.translator.parameters()).device

    @property
    def pace(self) -> float:
        """How many words were learnt from in a second."""
        return self.words / (self.seconds or 1.0)

    def add(self, loss: Tensor, words: int, *, last: bool) -> None:
        """Count a step, and read its loss: at once, but on a GPU, which should not wait, once a second."""
        self.unread.append(loss)
        self.words += words
        if last or self.device.type == "cpu" or perf_counter() - self._last_read >= 1:
            self.read()

    def read(self) -> None:
        """Wait for the losses that are still being computed, and refuse one that is no finite number."""
        for loss in torch.stack(self.unread).tolist() if self.unread else []:
            self.losses.append(loss)
            if not isfinite(loss):
                raise FloatingPointError(f"loss is {loss} at step {len(self.losses)}; expected a finite number")
        self.unread.clear()
        self._last_read = perf_counter()


@contextmanager
def reporter(progress: bool | str | None, steps: int | None, done: int) -> Iterator[Callable[[Training, float], None]]:
    """Report how far a training is, on the standard error stream.

    It yields a function, to be called after each step with the training and the share of it that is done.

    Parameters
    ----------
    progress : bool or "lines", optional
        True: a bar. "lines": a line every ten seconds and for each score. False: nothing. None: a bar on a terminal.
    steps : int, optional
        How many there will be, if that is known.
    done : int
        How many there were before.
    """
    check_choice((None, True, False, "lines"), progress=progress)
    if progress == "lines":
        yield _lines(steps)
        return
    with tqdm(total=steps, initial=done, disable=None if progress is None else not progress, unit="step") as bar:

        def show(training: Training, share: float) -> None:
            bar.update(training.step - bar.n)
            numbers = {"loss": f"{training.losses[-1]:.3f}", "words/s": f"{training.pace:,.0f}"}
            if training.scores:
                numbers[f"dev {training.scores[-1].metric}"] = f"{training.scores[-1].score:.1f}"
            bar.set_postfix(numbers, refresh=False)

        yield show


def _lines(steps: int | None) -> Callable[[Training, float], None]:
    printed = perf_counter()

    def show(training: Training, share: float) -> None:
        nonlocal printed
        scores = [score for score in training.scores[-1:] if score.step == training.step]
        if perf_counter() - printed < _SECONDS and not scores and training.step != steps:
            return
        printed, left = perf_counter(), training.seconds * (1 / share - 1)
        of = "" if steps is None else f" of {steps:,}"
        line = f"step {training.step:,}{of}: loss {training.losses[-1]:.3f}, {training.pace:,.0f} words a second, "
        line += f"{left / 60:.0f} minutes left" if left >= 90 else f"{left:.0f} seconds left"
        for score in scores:
            line += f"; dev loss {score.loss:.3f}, {score.metric} {score.score:.2f}"
        print(line, file=sys.stderr, flush=True)

    return show


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
