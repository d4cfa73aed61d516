"""What training may change is counted, and so is every product of a step: as reckoned by hand."""

from functools import partial

import pytest
import torch
from torch import nn

from attnlib.data import Vocabulary
from attnlib.experiments.costs import multiply_adds, parameters, products
from attnlib.experiments.mixtures import between
from attnlib.transformer import transformer
from attnlib.translator import luong, rnn_encdec, rnn_search

VOCABULARIES = Vocabulary(tuple("abcdefg")), Vocabulary(tuple("hijkl"))
E, H, V = 5, 6, len(VOCABULARIES[1])
DEEP = 2 * 3 * (H + E + 2 * H) + V * 3  # three maxout units, and annotations of both directions
LSTM, ABOVE, READ = 4 * H * (E + H), 8 * H * H, H * 2 * H + V * H
MODELS = {
    "no attention": (rnn_encdec, lambda src: 3 * H * (E + 2 * H + H) + DEEP),
    "bahdanau": (
        partial(rnn_search, att=7),
        lambda src: 3 * H * (E + 2 * H + H) + DEEP + 7 * H + src * 7 + src * 2 * H,
    ),
    "dot": (partial(luong, score="dot"), lambda src: LSTM + 4 * H * H + READ + 2 * src * H),
    "general, not fed": (partial(luong, input_feeding=False), lambda src: LSTM + READ + 2 * src * H),
    "concat, three layers": (
        partial(luong, score="concat", layers=3),
        lambda src: LSTM + 4 * H * H + 2 * ABOVE + READ + H * H + 2 * src * H,
    ),
    "location": (partial(luong, score="location"), lambda src: LSTM + 4 * H * H + READ + 2 * src * H),
    "monotonic": (
        partial(luong, window="monotonic", half_width=2),
        lambda src: LSTM + 4 * H * H + READ + 2 * min(5, src) * H,
    ),
    "predictive": (
        partial(luong, window="predictive", half_width=2),
        lambda src: LSTM + 4 * H * H + READ + 2 * min(5, src) * H + H * H + H,
    ),
    "hybrid": (
        partial(between, reader="reversed", width=1, projected=False, maxout=False, feeds_readout=True),
        lambda src: LSTM + 4 * H * H + READ + H * H + 2 * src * H,
    ),
}


def test_parameters_are_counted():
    assert parameters(nn.Linear(2, 3)) == 9
    assert parameters(nn.Linear(2, 3).requires_grad_(False)) == 0


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("src", [4, 19])
@pytest.mark.parametrize("written", [0, 3])
def test_multiply_adds_by_hand(name, src, written):
    make, by_hand = MODELS[name]
    assert multiply_adds(make(*VOCABULARIES, emb=E, hid=H), src, written) == by_hand(src)


@pytest.mark.parametrize(("src", "written"), [(4, 0), (19, 2), (2, 10)])
def test_a_transformer_looks_at_what_is_written_too(src, written):
    model = transformer(*VOCABULARIES, emb=6, heads=2, layers=2, hid=11)
    of_a_layer = (4 + 2) * 6 * 6 + 2 * 6 * 11 + 2 * 6 * src + 2 * 6 * (written + 1)
    assert multiply_adds(model, src, written) == 2 * of_a_layer + V * 6


def test_products_are_counted_whoever_takes_them():
    x = torch.ones(2, 7, 3)
    for lstm in (nn.LSTM(3, 5, batch_first=True), nn.LSTM(3, 5, batch_first=True).double()):
        assert products(lambda lstm=lstm: lstm(x.to(lstm.weight_ih_l0.dtype))) == 2 * 7 * 4 * 5 * (3 + 5)
    assert products(lambda: (x @ torch.ones(3), x + x)) == 2 * 7 * 3


@pytest.mark.parametrize(
    ("src", "written", "says"), [(0, 0, "src is 0; expected at least 1"), (1, -1, "written is -1; expected at least 0")]
)
def test_what_cannot_be_counted_is_refused(src, written, says, refused):
    refused(lambda: multiply_adds(rnn_encdec(*VOCABULARIES, emb=E, hid=H), src, written), ValueError, says)
