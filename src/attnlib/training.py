"""One training loop for every translator and every text: Adam on the cross-entropy of the true words."""

from collections.abc import Callable, Iterable
from math import cos, inf, isfinite, pi
from time import perf_counter
from typing import Any

import numpy as np
import torch
from torch import Tensor

from attnlib import processes
from attnlib.batches import Batch
from attnlib.checks import check_finite, check_share, check_whole
from attnlib.devices import computing_in, moved
from attnlib.losses import output_loss
from attnlib.progress import DevScore, History, Training, interruptible, reporter
from attnlib.translator import Translator


def warm_cosine(done: float) -> float:
    """Raise the learning rate over the first twentieth of the training, then let it fall along a cosine to 0.

    Parameters
    ----------
    done : float
        The share of the steps done, from 0 to 1.

    Returns
    -------
    float
        What the learning rate is multiplied by.
    """
    return warm(done) * (1 + cos(pi * done)) / 2


def warm(done: float) -> float:
    """Raise the learning rate over the first twentieth of the training, then keep it. As for `warm_cosine`."""
    if not 0 <= done <= 1:
        raise ValueError(f"done is {done}; expected a share from 0 to 1")
    return min(1.0, 20 * done)


def begin(translator: Translator) -> Training:
    """Stand before the first step."""
    return Training(torch.optim.Adam(translator.parameters(), fused=True))


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
    look: Callable[[int, Translator], Any] | None = None,
    score: Callable[[Translator], tuple[float, float]] | None = None,
    score_every: int = 500,
    patience: int | None = None,
    progress: bool | str | None = None,
    training: Training | None = None,
    keep: Callable[[Training, bool], Any] = lambda training, last: None,
    precision: str = "float32",
) -> History:
    """Change the translator's weights so that it gives the true translations a greater probability.

    The same batches and the same seed give the same weights on one machine with the same number of threads. Torch's
    own generator stays as it was. Ctrl-C ends the training after the step under way, and what was learnt stays.

    On a GPU the losses are read once a second, so that no step waits for one: then, and at each score, progress
    is shown and `keep` called. Several processes, each given its share of every batch, end with the same weights; the
    first of them scores and shows progress: see `attnlib.processes`.

    Parameters
    ----------
    translator : Translator
        Its weights are changed in place.
    batches : iterable of Batch
        What to learn from, one a step: see `attnlib.batches.endless`. Of several processes, each its share.
    steps : int, optional
        How many batches to learn from.
    minutes : float, optional
        How long to learn at most. One of `steps` and `minutes` is needed.
    seed : int
        Which features dropout sets to 0. Without dropout it changes nothing.
    learning_rate : float
        Adam's, at its highest.
    clip : float
        The greatest norm of the gradient of all weights together. A longer one is shortened to it.
    smoothing : float
        Of the labels: see `attnlib.losses.word_loss`.
    schedule : function
        From the share of the training done, 0 to 1, to what the learning rate is multiplied by.
    look : function, optional
        Called after each step with the number of steps so far and the translator, as it is without dropout.
    score : function, optional
        From the translator to its loss and its BLEU on sentences kept apart. If given, the weights with the best score
        are kept in the end, by BLEU and then by loss.
    score_every : int
        The steps from one score to the next; the last step is followed by one too.
    patience : int, optional
        End when so many scores in a row were no better than the best before them.
    progress : bool or "lines", optional
        How to show how far it is: see `attnlib.progress.reporter`. None: a bar, only on a terminal.
    training : Training, optional
        One to go on with: the translator has its weights, torch its generator's state, and `batches` follow its own.
    keep : function
        Called after each step, on a GPU about once a second, and once more at the end: with the training and whether
        this is the end.
    precision : str
        Of matrix products: one of `attnlib.devices.PRECISIONS`.

    Returns
    -------
    History

    Raises
    ------
    TypeError
        If `steps`, `seed`, `score_every` or `patience` is no whole number.
    ValueError
        If `steps` is below 1, or there are neither steps nor minutes, or `clip` or `minutes` is not above 0, or
        `learning_rate` is not finite, or `smoothing` is not a share, or there is no such `precision`, or there are
        too few batches.
    FloatingPointError
        If the loss is not a finite number: it names the step where it happens.
    """
    check_whole(0, seed=seed)
    check_finite(learning_rate=learning_rate)
    check_share(smoothing=smoothing)
    _check_ends(steps, minutes, clip=clip, score_every=score_every, patience=patience)
    device = next(translator.parameters()).device
    coming, precise = moved(batches, device), computing_in(precision, device)
    goes_on, training = training is not None, training or begin(translator)
    step, unread, looked = len(training.losses), [], perf_counter()
    gpus, one_stream = [device] * (device.type == "cuda"), device.type == "cpu" and processes.count() == 1

    def share(steps_done: int) -> float:
        by_steps = 0.0 if steps is None else steps_done / (steps + 1)
        return max(by_steps, 0.0 if minutes is None else min(1.0, training.seconds / (60 * minutes)))

    def ended() -> str | None:
        training.seconds, asked = processes.greatest(training.seconds, float(interrupted()))
        worse = 0 if not training.scores else len(training.scores) - 1 - _best(training.scores)
        reasons = {
            "steps": step >= (inf if steps is None else steps),
            "minutes": minutes is not None and training.seconds >= 60 * minutes,
            "early": patience is not None and worse >= patience,
            "interrupted": asked,
        }
        return next((reason for reason, true in reasons.items() if true), None)

    with (
        torch.random.fork_rng(devices=gpus),
        interruptible() as interrupted,
        reporter(False if processes.rank() else progress, steps, step) as report,
    ):
        if not goes_on:
            torch.manual_seed(seed)
        translator.train()
        while not (reason := ended()):
            began = perf_counter()
            batch, words = next(coming, None) or _run_out(step)
            step += 1
            training.optimizer.param_groups[0]["lr"] = learning_rate * schedule(share(step))
            if not one_stream:
                torch.manual_seed(_stream(seed, step))
            words_of_all = processes.total(words)
            with precise:
                unread.append(_step(training, translator, batch, words / words_of_all, clip=clip, smoothing=smoothing))
            training.words += words_of_all
            if device.type == "cpu" or step == steps or began - looked >= 1:
                looked = _read(unread, training)
            training.seconds += perf_counter() - began
            if score and (step % score_every == 0 or ended()):
                looked = _read(unread, training)
                scored = processes.from_first(lambda: _undisturbed(score, translator), 2)
                _add(training, translator, DevScore(step, *scored))
            if look:
                _undisturbed(look, step, translator)
            if not unread:
                report(training, share(step))
                keep(training, False)
        _read(unread, training)
        keep(training, True)
    if training.best is not None:
        translator.load_state_dict(training.best)
    translator.eval()
    pace = training.words / (training.seconds or 1.0)
    return History(np.array(training.losses), pace, tuple(training.scores), reason)


def _step(
    training: Training, translator: Translator, batch: Batch, part: float, *, clip: float, smoothing: float
) -> Tensor:
    """Learn from a batch, of whose words this process has so large a part, and give the loss of all of it."""
    training.optimizer.zero_grad()
    loss = torch.zeros((), device=batch.target.device)
    if part:
        read = translator.before_output(*batch)
        loss = part * output_loss(read, translator.decoder.output, batch.target, smoothing)
        loss.backward()
    loss = processes.summed(translator.parameters(), loss.detach())
    torch.nn.utils.clip_grad_norm_(translator.parameters(), clip)
    training.optimizer.step()
    return loss


def _check_ends(
    steps: int | None, minutes: float | None, *, clip: float, score_every: int, patience: int | None
) -> None:
    given = {"steps": steps, "patience": patience}
    check_whole(score_every=score_every, **{name: number for name, number in given.items() if number is not None})
    if steps is None and minutes is None:
        raise ValueError("steps and minutes are None; expected one of them")
    for name, number in (("clip", clip), ("minutes", minutes)):
        if number is not None and not number > 0:
            raise ValueError(f"{name} is {number}; expected a number above 0")


def _read(unread: list[Tensor], training: Training) -> float:
    """Wait for the losses that are still being computed, refuse one that is no finite number, and give the time."""
    for loss in torch.stack(unread).tolist() if unread else []:
        training.losses.append(loss)
        if not isfinite(loss):
            raise FloatingPointError(f"loss is {loss} at step {len(training.losses)}; expected a finite number")
    unread.clear()
    return perf_counter()


def _stream(seed: int, step: int) -> int:
    """Seed what dropout sets to 0 in one step of one process, so that no generator's state need be kept."""
    return int(np.random.SeedSequence([seed, processes.rank(), step]).generate_state(1)[0])


def _undisturbed(look: Callable, *arguments: Any) -> Any:
    """Call a function of the translator, the last argument, without dropout, with random numbers of its own."""
    translator = arguments[-1]
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        translator.eval()
        found = look(*arguments)
        translator.train()
    return found


def _add(training: Training, translator: Translator, score: DevScore) -> None:
    training.scores.append(score)
    if _best(training.scores) == len(training.scores) - 1:
        training.best = {name: x.detach().clone() for name, x in translator.state_dict().items()}


def _best(scores: list[DevScore]) -> int:
    """Find the best score, of equal ones the first."""
    return max(range(len(scores)), key=lambda n: scores[n].rank)


def _run_out(step: int) -> Any:
    raise ValueError(f"batches ended after {step} steps; expected one for each step")
