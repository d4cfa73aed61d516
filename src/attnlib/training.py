"""One training loop for every translator: Adam on the cross-entropy of the true words."""

from collections.abc import Callable, Iterator, Sequence
from math import cos, isfinite, pi
from random import Random
from time import perf_counter
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import cross_entropy
from tqdm import tqdm

from attnlib.batches import Batch, batches
from attnlib.checks import check_finite, check_shape, check_vocabularies, check_whole
from attnlib.translator import Translator
from attnlib.vocabulary import PAD, SentencePair


class History(NamedTuple):
    """What happened in training.

    Attributes
    ----------
    losses : ``"steps"``
        The mean loss of each step's real target words, in nats a word, before the step.
    words_per_second : float
        Real target words, END among them, by the clock.
    """

    losses: Float[np.ndarray, "steps"]
    words_per_second: float


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
    if not 0 <= done <= 1:
        raise ValueError(f"done is {done}; expected a share from 0 to 1")
    return min(1.0, 20 * done) * (1 + cos(pi * done)) / 2


def word_loss(logits: Float[Tensor, "batch tgt vocab"], target: Int[Tensor, "batch tgt"]) -> Float[Tensor, ""]:
    """Take the mean cross-entropy over real words, END among them and padding not, in nats.

    Notes
    -----
    Luong et al. 2015, eq. 4, where it is the sum over all sentences.
    """
    check_shape("target", target, *logits.shape[:-1])
    return cross_entropy(logits.flatten(0, 1), target.flatten(), ignore_index=PAD)


def train(
    translator: Translator,
    pairs: Sequence[SentencePair],
    *,
    steps: int,
    seed: int,
    learning_rate: float = 5e-3,
    words: int = 600,
    clip: float = 1.0,
    schedule: Callable[[float], float] = warm_cosine,
    progress: bool | None = None,
) -> History:
    """Change the translator's weights, so that it gives the true translations a greater probability.

    The same seed gives the same weights on one machine with the same number of threads. Torch's own generator
    stays as it was.

    Parameters
    ----------
    translator : Translator
        With its vocabularies. Its weights are changed in place.
    pairs : sentence pairs
        What to learn from, over and over, in another order each time.
    steps : int
        How many batches to learn from.
    seed : int
        Which pairs share a batch, in which order.
    learning_rate : float
        Adam's, at its highest.
    words : int
        The most words of a batch on one side; see `attnlib.batches.batches`.
    clip : float
        The greatest norm of the gradient of all weights together. A longer one is shortened to it.
    schedule : function
        From the share of the steps done, 0 to 1, to what the learning rate is multiplied by.
    progress : bool, optional
        Whether a bar shows how far it is. None: only on a terminal.

    Returns
    -------
    History

    Raises
    ------
    TypeError
        If `steps`, `words` or `seed` is no whole number.
    ValueError
        If `steps` is below 1, or `clip` not above 0, or `learning_rate` not finite, or the translator has no
        vocabularies, or a sentence is longer than `words`.
    FloatingPointError
        If the loss is not a finite number, at the step where it happens.
    """
    check_whole(steps=steps)
    check_whole(0, seed=seed)
    check_vocabularies(translator)
    check_finite(learning_rate=learning_rate)
    if not clip > 0:
        raise ValueError(f"clip is {clip}; expected a number above 0")
    device = next(translator.parameters()).device
    optimizer = torch.optim.Adam(translator.parameters(), lr=learning_rate)
    losses, seen = [], 0
    began = perf_counter()
    with torch.random.fork_rng(), tqdm(total=steps, disable=_hidden(progress), unit="step") as bar:
        torch.manual_seed(seed)
        for source, lengths, target in _endless(translator, pairs, words, seed):
            optimizer.param_groups[0]["lr"] = learning_rate * schedule((len(losses) + 1) / (steps + 1))
            losses.append(
                _step(translator, optimizer, Batch(source.to(device), lengths.to(device), target.to(device)), clip)
            )
            if not isfinite(losses[-1]):
                raise FloatingPointError(f"loss is {losses[-1]} at step {len(losses)}; expected a finite number")
            seen += int((target != PAD).sum())
            bar.update()
            bar.set_postfix(loss=f"{losses[-1]:.3f}", refresh=False)
            if len(losses) == steps:
                break
    return History(np.array(losses), seen / (perf_counter() - began))


def _step(translator: Translator, optimizer: torch.optim.Optimizer, batch: Batch, clip: float) -> float:
    optimizer.zero_grad()
    loss = word_loss(translator(*batch).logits, batch.target)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(translator.parameters(), clip)
    optimizer.step()
    return loss.item()


def _endless(translator: Translator, pairs: Sequence[SentencePair], words: int, seed: int) -> Iterator[Batch]:
    """All batches of the corpus, then all again, cut and ordered anew."""
    rng = Random(seed)
    while True:
        epoch = int(rng.random() * 2**32)
        yield from batches(pairs, translator.source_vocabulary, translator.target_vocabulary, words=words, seed=epoch)


def _hidden(progress: bool | None) -> bool | None:
    """Tell tqdm; its own None is: hidden unless on a terminal."""
    return None if progress is None else not progress
