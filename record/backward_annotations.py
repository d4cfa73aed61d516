"""Why the weights of Bahdanau's Figure 3 run backward: guesses, each tried on small models.

See ``plans/backward-annotations.md``. ``python record/backward_annotations.py`` does what is not recorded yet, and
writes

- ``backward_annotations.csv``: a line for each guess, degree, seed, and moment of training;
- ``backward_annotations.readers.csv``: what the keys of unchanged models take from each reader.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
import tyro
from recipes import RECIPES, held_out_sentences, retrain
from seed_ranges import SEEDS, adjectives
from tables import is_recorded, replace_lines
from torch import nn

from attnlib.alignment import AttentionLayer, sequence_mask
from attnlib.data import SentencePair, Vocabulary, collate, infinite_batches
from attnlib.decoders import BahdanauDecoder
from attnlib.encoders import BidirectionalGRU
from attnlib.experiments.plan import build_vocabularies
from attnlib.experiments.predictions import compute_metrics, predict
from attnlib.experiments.runs import RECORDED
from attnlib.language import lexicon
from attnlib.layers import Embedding, seeded
from attnlib.scores import Additive
from attnlib.seq2seq import EncoderDecoder, rnn_search
from attnlib.training import train
from attnlib.windows import GlobalWindow


class Experiment(NamedTuple):
    """One change to the recipe of `bahdanau`: the guess it belongs to, its degree, and what it sets."""

    guess: str
    degree: float
    hidden_size: int = 96
    forward: int | None = None
    numbers: int = 1
    times: int = 1


EXPERIMENTS = (
    *(Experiment("forward reader", units, forward=units) for units in (0, 8, 24)),
    *(Experiment("words", numbers, numbers=numbers) for numbers in (20, 5)),
    *(Experiment("size", size, hidden_size=size) for size in (48, 24)),
    Experiment("length", 3, times=3),
    Experiment("size", 192, hidden_size=192),
)
"""In the order in which they are run."""

MOMENTS = {"length": (1 / 9, 1 / 3, 2 / 3, 1)}
"""Shares of the training after which the weights are looked at; of other guesses only at its end."""

AFTER = frozenset(word.english for word in lexicon.ADJECTIVES if word.place == "after")
"""English adjectives that follow their noun in French."""


class UnequalGRU(BidirectionalGRU):
    """Bahdanau's encoder with a forward reader of another size than the backward one, or, of size 0, none."""

    def __init__(self, embedding: Embedding, forward: int, hidden_size: int):
        super().__init__(embedding, hidden_size, hidden_size)
        self.forward_rnn = nn.GRU(embedding.embedding_dim, forward, batch_first=True) if forward else Nothing()


class Nothing(nn.Module):
    """A reader without units."""

    def forward(self, x):
        """Return states of no features."""
        return x[..., :0], None


def build(
    experiment: Experiment, source: Vocabulary, target: Vocabulary, embedding_dim: int, seed: int
) -> EncoderDecoder:
    """Build the model of an experiment, untrained."""
    size = experiment.hidden_size
    if experiment.forward is None:
        return rnn_search(source, target, embedding_dim=embedding_dim, hidden_size=size, seed=seed)
    sizes = {"decoder_size": size, "encoder_size": experiment.forward + size}
    with seeded(seed):
        encoder = UnequalGRU(Embedding(len(source), embedding_dim), experiment.forward, size)
        attention = AttentionLayer(Additive(*sizes.values(), size), GlobalWindow())
        decoder = BahdanauDecoder(attention, Embedding(len(target), embedding_dim), **sizes, maxout=size // 2)
    return EncoderDecoder(encoder, decoder, source, target)


def numbered(pairs: Sequence[SentencePair], numbers: int, seed: int) -> list[SentencePair]:
    """Assign random numbers, if there are several, to adjectives that follow their noun in French.

    An adjective has the same number in both languages.
    """
    rng, new = np.random.default_rng(seed), []
    for pair in pairs:
        source, target = [*pair.source], [*pair.target]
        for i, word in enumerate(pair.source):
            if numbers > 1 and word in AFTER:
                number = str(rng.integers(numbers))
                source[i] += number
                for t in (t for k, t in pair.links if k == i):
                    target[t] += number
        new.append(pair._replace(source=tuple(source), target=tuple(target)))
    return new


def record(experiment: Experiment, seed: int) -> list[dict]:
    """Train a model and measure it: a line for each moment of its training."""
    config = RECIPES["bahdanau"].experiment().longer(experiment.times)
    sentences = numbered(config.training_sentences(seed), experiment.numbers, seed)
    known = build_vocabularies()
    if experiment.numbers > 1:
        known = [Vocabulary.from_sentences(side) for side in zip(*(pair[:2] for pair in sentences), strict=True)]
    test = numbered(held_out_sentences(1, 2, 3), experiment.numbers, 0)
    translator = build(experiment, *known, embedding_dim=48, seed=seed)
    moments = {round(share * config.max_steps) for share in MOMENTS.get(experiment.guess, (1,))}
    lines = []

    def look(training, last):
        if training.step in moments:
            lines.append({"step": training.step} | measure(translator, test))

    batches = infinite_batches(sentences, *known, max_tokens=800, seed=seed)
    options = {"steps": config.max_steps, "learning_rate": config.learning_rate, "progress": False}
    train(translator, batches, **options, on_step=look)
    return lines


@torch.no_grad()
def measure(translator: EncoderDecoder, pairs: Sequence[SentencePair]) -> dict[str, float]:
    """Translate the pairs and see where the adjectives after their nouns attend."""
    predictions = predict(translator, pairs, beam_size=1)
    metrics = compute_metrics(predictions)
    chosen = {name: metrics[name] for name in ("exact_match", "alignment_error_rate")}
    return chosen | adjectives(pairs, predictions.links)


class HalfKeys(nn.Module):
    """An additive score whose keys see one half of the annotations replaced by its mean over the sentence."""

    def __init__(self, score: Additive, half: slice):
        super().__init__()
        self.score, self.half = score, half

    def project_keys(self, h):
        """Compute the keys; padding, which is 0 everywhere, does not count in the mean."""
        h, real = h.clone(), (h != 0).any(2, keepdim=True)
        part = h[..., self.half]
        h[..., self.half] = part.sum(1, keepdim=True) / real.sum(1, keepdim=True) * real
        return self.score.project_keys(h)

    def forward(self, s, keys):
        """Score states against keys."""
        return self.score(s, keys)


def readers(translator: EncoderDecoder) -> Iterator[dict]:
    """For each reader, compute its share of the keys' variance within sentences, and measure the model without it."""
    pairs = held_out_sentences(1, 2, 3)
    size = translator.decoder.cell.hidden_size
    score = translator.decoder.attention.score
    halves = {"forward": slice(0, size), "backward": slice(size, 2 * size)}
    spread = {name: _spread(translator, pairs, half) for name, half in halves.items()}
    yield {"keys_without": "nothing", "share_of_variance": 1.0, **measure(translator, pairs)}
    for name, half in halves.items():
        translator.decoder.attention.score = HalfKeys(score, half)
        share = spread[name] / sum(spread.values())
        yield {"keys_without": name, "share_of_variance": share, **measure(translator, pairs)}
        translator.decoder.attention.score = score


@torch.no_grad()
def _spread(translator: EncoderDecoder, pairs: Sequence[SentencePair], half: slice) -> float:
    """Compute the mean squared norm of one half's part of the keys, around its mean over the sentence."""
    source, lengths, _ = collate(pairs, translator.source_vocabulary, translator.target_vocabulary)
    h = translator.encoder(source, lengths).annotations[..., half]
    parts = h @ translator.decoder.attention.score.U_a[:, half].T
    real = sequence_mask(lengths, source.shape[1])[:, :, None]
    away = (parts - (parts * real).sum(1, keepdim=True) / lengths[:, None, None]) * real
    return float(away.square().sum() / real.sum())


def main(tables: Path = RECORDED) -> None:
    """Record the runs of the plan backward-annotations that the tables lack.

    Parameters
    ----------
    tables
        The folder of the tables; the default is in the package.
    """
    torch.set_num_threads(1)
    for seed in SEEDS:
        if not is_recorded("backward_annotations.readers", tables, seed=seed):
            lines = [*readers(retrain("bahdanau", seed))]
            replace_lines({"readers": lines}, "backward_annotations", tables, seed=seed)
    for experiment in EXPERIMENTS:
        for seed in (10, 11):
            key = {"guess": experiment.guess, "degree": experiment.degree, "seed": seed}
            if not is_recorded("backward_annotations", tables, **key):
                replace_lines({"": record(experiment, seed)}, "backward_annotations", tables, **key)
                print(experiment, seed, flush=True)


if __name__ == "__main__":
    tyro.cli(main)
