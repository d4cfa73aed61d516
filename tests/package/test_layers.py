"""How weights begin."""

import pytest
import torch

from attnbook.pretrained.folder import load
from attnbook.pretrained.models import FOLDER
from attnlib.data import Vocabulary
from attnlib.layers import seeded, weight
from attnlib.presets import luong, rnn_encdec, rnn_search
from attnlib.transformer import transformer
from attnlib.translation import translate


@pytest.fixture
def of_bfloat16():
    """Make bfloat16 the type of new tensors."""
    torch.set_default_dtype(torch.bfloat16)
    yield
    torch.set_default_dtype(torch.float32)


def test_a_model_is_float32_whatever_type_new_tensors_have(of_bfloat16):
    words = Vocabulary(("a", "b"))
    for make in (luong, rnn_search, rnn_encdec, transformer):
        assert {x.dtype for x in make(words, words).state_dict().values()} == {torch.float32}
    model = load(FOLDER / "bahdanau")
    assert {x.dtype for x in model.state_dict().values()} == {torch.float32}
    here = translate(model, "the old cat sleeps").probability
    torch.set_default_dtype(torch.float32)
    assert here == translate(load(FOLDER / "bahdanau"), "the old cat sleeps").probability


def test_a_weight_is_uniform_between_plus_and_minus_one_over_the_root_of_its_last_size():
    with seeded(0):
        drawn = weight(1000, 16).detach()
    assert drawn.shape == (1000, 16)
    assert 0.249 < drawn.abs().max() <= 0.25
    assert drawn.mean().abs() < 0.01
    assert drawn.std() == pytest.approx(0.5 / 12**0.5, rel=0.02)
    assert weight(3).requires_grad
