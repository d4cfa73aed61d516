"""A model that must look at all words equally, and whether it learns where it should look.

For each seed the model of chapter 2 is trained twice, once as it is and once with weights that stay equal for the whole
training; afterwards the second one is released, with a fresh score, and trained on. ``python record/frozen.py [SEED
...]`` writes the table ``frozen.csv``, a line for each moment; some minutes of one core for each seed.
"""

from collections.abc import Iterator
from sys import argv
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from tables import write_lines
from torch import Tensor, nn

from attnbook.experiments.interventions import score_slopes
from attnbook.language.dictionary import NOUNS
from attnbook.language.sentences import sample, vocabularies
from attnlib import metrics, rnn_search
from attnlib.batching import Batch, infinite_batches
from attnlib.data import SentencePair
from attnlib.seq2seq import EncoderDecoder
from attnlib.training import TrainingState, train, warmup_constant
from attntext.loss import fused_backward

STEPS = 800
"""Of each training: with equal weights, after the release, and as it is."""

MOMENTS = (0, 50, 100, 150, 200, 300, 400, 600, 800)

_NOUNS = {word for noun in NOUNS for word in (noun.english, noun.english_plural)}


class Equal(nn.Module):
    """The score that is 0 for every word, so that all weights are equal."""

    def project_keys(self, h: Float[Tensor, "batch src enc"]) -> Float[Tensor, "batch src enc"]:
        """Return the annotations: nothing is projected."""
        return h

    def forward(
        self, s: Float[Tensor, "batch tgt dec"], keys: Float[Tensor, "batch src enc"]
    ) -> Float[Tensor, "batch tgt src"]:
        """Return zeros."""
        return s.new_zeros(*s.shape[:2], keys.shape[1])


def moment(model: EncoderDecoder, tests: list[SentencePair]) -> dict[str, float]:
    """Return the loss, and how often the right word of a noun has the steepest slope, and the greatest weight."""
    steepest, greatest = [], []
    for pair in tests:
        slopes, weights = score_slopes(model, pair), metrics.attention_weights(model, pair)
        for i, t in pair.links:
            if pair.source[i] in _NOUNS:
                steepest.append(slopes[t].argmin() == i)
                greatest.append(weights[t].argmax() == i)
    measured = {"loss": np.concatenate(metrics.token_nll(model, tests)), "steepest": steepest, "greatest": greatest}
    return {name: round(float(np.mean(numbers)), 4) for name, numbers in measured.items()}


def runs(seed: int) -> Iterator[dict[str, Any]]:
    """Train with equal weights, release, train as it is: the moments of each, as lines of a table."""
    tests = sample(100, seed=1, clauses=(1,), part="test")

    def trained(name: str, model: EncoderDecoder, batches: Iterator[Batch]) -> list[dict[str, Any]]:
        lines: list[dict[str, Any]] = []

        def look(step: int) -> None:
            lines.append({"model": name, "seed": seed, "step": step, **moment(model.eval(), tests)})
            print(*lines[-1].values(), flush=True)

        def at(state: TrainingState) -> None:
            if state.step in MOMENTS:
                look(state.step)
                model.train()

        look(0)
        train(
            model,
            batches,
            steps=STEPS,
            seed=seed,
            learning_rate=0.01,
            schedule=warmup_constant,
            backward=fused_backward,
            on_step=at,
        )
        return lines

    def lessons() -> Iterator[Batch]:
        pairs = sample(25_000, seed=100 + seed, clauses=(1,))
        return infinite_batches(pairs, *vocabularies(), max_tokens=400, seed=seed)

    def fresh() -> EncoderDecoder:
        return rnn_search(*vocabularies(), embedding_dim=48, hidden_size=64, seed=seed)

    model, batches = fresh(), lessons()
    score, model.decoder.attention.score = model.decoder.attention.score, Equal()
    yield from trained("equal", model, batches)
    model.decoder.attention.score = score  # as it was drawn, since it was not trained
    yield from trained("released", model, batches)
    yield from trained("as it is", fresh(), lessons())


if __name__ == "__main__":
    torch.set_num_threads(1)
    for seed in map(int, argv[1:] or "01234"):
        write_lines([*runs(seed)], "frozen", order=["equal", "released", "as it is"])
