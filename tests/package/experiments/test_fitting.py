"""Training of a configuration, and counts of products against counts by hand."""

from functools import partial

import numpy as np
import pytest
import torch
from torch import nn

from attnbook.costs import count_products
from attnbook.experiments import Recording, count_macs, train_from_config
from attnbook.experiments.variants import hybrid
from attnbook.language.sentences import vocabularies
from attnlib import Vocabulary, luong, rnn_encdec, rnn_search
from attnlib.transformer import transformer

VOCABULARIES = Vocabulary(tuple("abcdefg")), Vocabulary(tuple("hijkl"))
E, H, V = 5, 6, len(VOCABULARIES[1])
DEEP = 2 * 3 * (H + E + 2 * H) + V * 3  # three maxout units, and annotations of both directions
LSTM, READ = 4 * H * (E + H), H * 2 * H + V * H
FED = LSTM + 4 * H * H + READ  # Luong's, but for the score and the context
BAHDANAU = 3 * H * (E + 2 * H + H) + DEEP  # Bahdanau's
HYBRID = partial(hybrid, encoder="backward", encoder_ratio=1, bridge=False, maxout=False, feeds_readout=True)
THREE_LAYERS = partial(luong, score="concat", num_layers=3)
WITHIN = {"half_width": 2}
MODELS = {
    "no attention": (rnn_encdec, lambda src: BAHDANAU),
    "bahdanau": (rnn_search, lambda src: BAHDANAU + H * H + src * H + src * 2 * H),
    "dot": (partial(luong, score="dot"), lambda src: FED + 2 * src * H),
    "general, not fed": (partial(luong, input_feeding=False), lambda src: LSTM + READ + 2 * src * H),
    "concat, three layers": (THREE_LAYERS, lambda src: FED + 2 * 8 * H * H + H * H + 2 * src * H),
    "location": (partial(luong, score="location"), lambda src: FED + 2 * src * H),
    "local-m": (partial(luong, window="local-m", **WITHIN), lambda src: FED + 2 * min(5, src) * H),
    "local-p": (partial(luong, window="local-p", **WITHIN), lambda src: FED + 2 * min(5, src) * H + H * H + H),
    "hybrid": (HYBRID, lambda src: FED + H * H + 2 * src * H),
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("src", [4, 19])
@pytest.mark.parametrize("written", [0, 3])
def test_multiply_adds_by_hand(name, src, written):
    make, by_hand = MODELS[name]
    assert count_macs(make(*VOCABULARIES, embedding_dim=E, hidden_size=H), src, written) == by_hand(src)


@pytest.mark.parametrize(("src", "written"), [(4, 0), (19, 2), (2, 10)])
def test_a_transformer_looks_at_what_is_written_too(src, written):
    model = transformer(*VOCABULARIES, d_model=6, num_heads=2, num_layers=2, dim_feedforward=11)
    of_a_layer = (4 + 2) * 6 * 6 + 2 * 6 * 11 + 2 * 6 * src + 2 * 6 * (written + 1)
    assert count_macs(model, src, written) == 2 * of_a_layer + V * 6


def test_products_are_counted_whoever_takes_them():
    x = torch.ones(2, 7, 3)
    for lstm in (nn.LSTM(3, 5, batch_first=True), nn.LSTM(3, 5, batch_first=True).double()):
        assert count_products(lambda lstm=lstm: lstm(x.to(lstm.weight_ih_l0.dtype))) == 2 * 7 * 4 * 5 * (3 + 5)
    assert count_products(lambda: (x @ torch.ones(3), x + x)) == 2 * 7 * 3


def test_a_seed_decides_where_a_training_begins_and_what_it_reads(small):
    config = small.configs["bahdanau"].replace(learning_rate=1e-9)
    model, _ = train_from_config(config, 10, steps=1)
    begin = config.build(*vocabularies(), **config.options, **config.sizes, seed=10)
    torch.testing.assert_close(model.state_dict(), begin.state_dict())
    assert config.training_sentences(10) != config.training_sentences(11)


def test_without_a_rate_of_its_own_it_takes_the_best_of_its_group(small, monkeypatch):
    best, config = {("small", "early"): 0.02}, small.configs["bahdanau"]
    monkeypatch.setattr(Recording, "best_learning_rate", lambda self, group: best[self.plan, group])
    monkeypatch.setattr("attnbook.experiments.runs.read_plan", str)
    _, chosen = train_from_config(config, 10, steps=5)
    _, given = train_from_config(config.replace(learning_rate=0.02), 10, steps=5)
    assert len(chosen.losses) == 5
    assert np.array_equal(chosen.losses, given.losses)
