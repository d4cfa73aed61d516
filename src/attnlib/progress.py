"""How far a training is: a bar on a terminal, lines elsewhere, or nothing."""

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import current_thread, main_thread
from time import perf_counter
from typing import TYPE_CHECKING

from tqdm import tqdm

if TYPE_CHECKING:
    from attnlib.training import Training

_SECONDS = 10  # between two lines


@contextmanager
def reporter(
    progress: bool | str | None, steps: int | None, done: int
) -> Iterator[Callable[["Training", float], None]]:
    """Say how far a training is, on the standard error stream.

    Parameters
    ----------
    progress : bool or "lines", optional
        True: a bar. "lines": a line every ten seconds and for each score. False: nothing. None: a bar on a terminal.
    steps : int, optional
        How many there will be, if that is known.
    done : int
        How many there were before.

    Yields
    ------
    function
        To be called after each step with the training and the share of it that is done.
    """
    if progress == "lines":
        yield _lines(steps)
        return
    with tqdm(total=steps, initial=done, disable=None if progress is None else not progress, unit="step") as bar:

        def show(training: "Training", share: float) -> None:
            bar.update()
            said = {"loss": f"{training.losses[-1]:.3f}", "words/s": f"{training.words / training.seconds:,.0f}"}
            if training.scores:
                said["dev BLEU"] = f"{training.scores[-1].bleu:.1f}"
            bar.set_postfix(said, refresh=False)

        yield show


def _lines(steps: int | None) -> Callable[["Training", float], None]:
    began = said = perf_counter()
    first: float | None = None

    def show(training: "Training", share: float) -> None:
        nonlocal said, first
        first = share if first is None else first
        step, now = len(training.losses), perf_counter()
        score = training.scores[-1] if training.scores and training.scores[-1].step == step else None
        if now - said < _SECONDS and not score and step != steps:
            return
        said = now
        of = "" if steps is None else f" of {steps:,}"
        pace = f"{training.words / training.seconds:,.0f} words a second"
        line = f"step {step:,}{of}: loss {training.losses[-1]:.3f}, {pace}"
        if share > first:
            left = (now - began) * (1 - share) / (share - first)
            line += f", {left / 60:.0f} minutes left" if left >= 90 else f", {left:.0f} seconds left"
        if score:
            line += f"; dev loss {score.loss:.3f}, BLEU {score.bleu:.2f}"
        print(line, file=sys.stderr, flush=True)

    return show


@contextmanager
def interruptible() -> Iterator[Callable[[], bool]]:
    """Let Ctrl-C ask for an end instead of tearing off what is under way; a second one does tear it off.

    Yields
    ------
    function
        Whether it was asked. Never in a thread other than the main one, nor where another handler is set.
    """
    asked = False

    def ask(number: int, frame: object) -> None:
        nonlocal asked
        if asked:
            raise KeyboardInterrupt
        asked = True

    before = signal.getsignal(signal.SIGINT)
    mine = current_thread() is main_thread() and before is signal.default_int_handler
    if mine:
        signal.signal(signal.SIGINT, ask)
    try:
        yield lambda: asked
    finally:
        if mine:
            signal.signal(signal.SIGINT, before)
