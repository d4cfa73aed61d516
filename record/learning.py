"""How a model learns where to look: what it writes, and where it looks, at moments of its training.

``python record/learning.py [row ...]`` trains models of `recipes.RECIPES` anew, a few minutes each, and writes
``learning.ROW.json`` beside the other records. Each moment is measured as the models that ship are: with weights in
float16, computed with in float64.
"""

import json
from base64 import b64encode
from copy import deepcopy
from itertools import accumulate
from pathlib import Path
from sys import argv
from typing import Any

import numpy as np
import torch
from recipes import RECIPES

from attnbook.experiments.fitting import train_from_config
from attnbook.experiments.runs import RECORDED
from attnbook.language.phrases import course_sentence
from attnbook.language.sentences import vocabularies
from attnlib import metrics
from attnlib.batching import encode_batch, infinite_batches
from attnlib.data import SentencePair
from attnlib.search import greedy_search
from attnlib.seq2seq import EncoderDecoder
from attnlib.training import TrainingState
from attntext.atomic_files import write_atomically
from attntext.loss import fused_backward

STEPS = (*range(0, 400, 5), *range(400, 800, 25), *range(800, 1600, 100), *range(1600, 3001, 200))
"""The moments: more of them where more happens."""

SENTENCE = course_sentence()


@torch.no_grad()
def moment(model: EncoderDecoder, tests: list[SentencePair]) -> dict[str, Any]:
    """Return what a model writes for `SENTENCE`, where it looks, its loss, and its light.

    It writes at most as many words as it reads. The light is the mean share of weight on gold links, over the words of
    the test sentences that have one. Weights of the translation are whole numbers, in parts of 255.
    """
    model = deepcopy(model).half().double().eval()
    source, lengths = encode_batch([SENTENCE.source], model.source_vocabulary)
    found = greedy_search(model, source, lengths, source.shape[1])
    words = [*model.target_vocabulary.decode(found.ids[0])]
    written = [*words, "(end)"][: source.shape[1]]
    weights = found.weights[0, : len(written)]
    return {
        "words": " ".join(written),
        "weights": (255 * weights).round().byte().numpy().tobytes(),
        "loss": round(float(np.mean(np.concatenate(metrics.token_nll(model, tests)))), 4),
        "light": round(float(np.mean(np.concatenate([on_gold(model, pair) for pair in tests]))), 4),
    }


def on_gold(model: EncoderDecoder, pair: SentencePair) -> list[float]:
    """Return the share of weight on gold links of each target word that has one."""
    weights = metrics.attention_weights(model, pair)
    gold = np.zeros_like(weights)
    for i, t in pair.links:
        gold[t, i] = 1
    return (weights * gold).sum(axis=1)[gold.any(axis=1)].tolist()


def record(row: str) -> dict[str, Any]:
    """Train a model by its recipe, and return its moments."""
    recipe = RECIPES[row]
    config, moments = recipe.experiment(), []
    tests = config.test_sentences(1)

    def look(state: TrainingState) -> None:
        if state.step in STEPS:
            moments.append(moment(state.model, tests))
            print(row, state.step, moments[-1]["words"], moments[-1]["loss"], moments[-1]["light"], flush=True)

    moments.append(moment(config.build_model(recipe.seed), tests))
    train_from_config(config, recipe.seed, backward=fused_backward, on_step=look)
    drawn = infinite_batches(
        config.training_sentences(recipe.seed), *vocabularies(), max_tokens=config.max_tokens, seed=recipe.seed
    )
    read = [0, *accumulate(len(next(drawn).lengths) for _ in range(STEPS[-1]))]
    return {
        "source": " ".join(SENTENCE.source),
        "target": " ".join(SENTENCE.target),
        "steps": STEPS,
        "pairs": [read[step] for step in STEPS],
        **{key: [one[key] for one in moments] for key in ("loss", "light", "words")},
        "weights": b64encode(b"".join(one["weights"] for one in moments)).decode(),
    }


if __name__ == "__main__":
    torch.set_num_threads(1)
    for row in argv[1:] or ["bahdanau"]:
        as_json = json.dumps(record(row), ensure_ascii=False, separators=(",", ":"))
        write_atomically(Path(RECORDED, f"learning.{row}.json"), f"{as_json}\n".encode())
