"""The recorded training: at the moments at which a model ships, it is what that model does."""

from base64 import b64decode

import numpy as np
import pytest

from attnbook import load_pretrained
from attnbook.experiments import read_learning, read_plan
from attnlib import encode_batch, greedy_search, metrics

SHIPPED = {0: "bahdanau-after-0", 200: "bahdanau-after-200", 300: "bahdanau-after-300", 3000: "bahdanau"}


@pytest.fixture(scope="module")
def learned() -> dict:
    return read_learning("bahdanau")


def test_there_is_something_of_each_moment_and_each_station_is_one(learned):
    moments = len(learned["steps"])
    assert all(len(learned[key]) == moments for key in ("pairs", "loss", "light", "words"))
    assert len(b64decode(learned["weights"])) == 10 * sum(len(words.split()) for words in learned["words"])
    assert {step for step, _ in learned["stations"]} <= {*learned["steps"]}


@pytest.mark.parametrize("step", SHIPPED)
def test_it_is_a_training_of_the_models_that_ship(step, learned):
    model, n = load_pretrained(SHIPPED[step]), learned["steps"].index(step)
    source, lengths = encode_batch([learned["source"].split()], model.source_vocabulary)
    found = greedy_search(model, source, lengths, 10)
    written = [*model.target_vocabulary.decode(found.ids[0]), "(end)"][:10]
    assert written == learned["words"][n].split()
    begin = 10 * sum(len(words.split()) for words in learned["words"][:n])
    parts = np.frombuffer(b64decode(learned["weights"]), np.uint8)[begin:][: 10 * len(written)].reshape(-1, 10) / 255
    assert np.abs(parts - found.weights[0, : len(written)].numpy()).max() <= 0.5001 / 255
    tests = read_plan("world").configs["bahdanau"].test_sentences(1)
    assert np.isclose(np.concatenate(metrics.token_nll(model, tests)).mean(), learned["loss"][n], atol=5e-5 + 1e-9)
