"""Costs: the formulas against what torch was seen to multiply."""

import pytest
import torch
from attnlib.costs import multiply_adds, parameters
from attnlib.hybrids import step_first
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

from attnlib.translator import luong, rnn_encdec, rnn_search
from attnlib.vocabulary import START, Vocabulary

VOCABULARIES = Vocabulary(tuple("abcdefg")), Vocabulary(tuple("hijkl"))
SIZES = {"emb": 5, "hid": 14}


class Products(TorchDispatchMode):
    """Count the multiply-adds of every matrix product that torch runs."""

    def __init__(self):
        super().__init__()
        self.count = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        name = function.overloadpacket.__name__
        if name in ("mm", "bmm", "mv", "dot"):
            self.count += result.numel() * args[0].shape[-1]
        elif name == "addmm":
            self.count += result.numel() * args[1].shape[-1]
        else:
            assert not name.startswith(("matmul", "linear", "baddbmm", "addmv", "einsum")), name
        return result


def products_of_a_step(translator, src):
    """Count what one step of one sentence multiplies."""
    source = torch.arange(src)[None] % 7 + 4
    with torch.no_grad():
        state = translator.start(source, torch.tensor([src]))
        with Products() as products:
            translator.step(torch.tensor([START]), state)
    return products.count


MODELS = {
    "bahdanau": lambda: rnn_search(*VOCABULARIES, **SIZES),
    "new state": lambda: step_first(*VOCABULARIES, **SIZES),
    "lstm": lambda: step_first(*VOCABULARIES, recurrent="lstm", score="general", **SIZES),
    **{
        score: lambda score=score: luong(*VOCABULARIES, score=score, **SIZES)
        for score in ("dot", "general", "concat", "location")
    },
    "local-m": lambda: luong(*VOCABULARIES, score="dot", window="monotonic", half_width=3, **SIZES),
    "local-p": lambda: luong(*VOCABULARIES, score="concat", window="predictive", half_width=3, **SIZES),
    "two layers": lambda: luong(*VOCABULARIES, layers=2, **SIZES),
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("src", [4, 19])
def test_formula_is_what_torch_multiplies(name, src):
    translator = MODELS[name]()
    assert multiply_adds(translator.decoder, src) == products_of_a_step(translator, src)


def test_without_input_feeding_the_fed_state_is_not_multiplied():
    fed, unfed = (luong(*VOCABULARIES, input_feeding=feeding, **SIZES).decoder for feeding in (True, False))
    assert multiply_adds(fed, 11) - multiply_adds(unfed, 11) == 4 * 14 * 14


def test_without_attention_the_step_is_that_of_bahdanau_less_the_attention():
    dec, enc, att, src = 14, 28, 14, 11
    with_attention, without = rnn_search(*VOCABULARIES, **SIZES), rnn_encdec(*VOCABULARIES, **SIZES)
    attention = att * dec + src * att + src * enc
    assert multiply_adds(with_attention.decoder, src) - multiply_adds(without.decoder, src) == attention


def test_what_is_no_decoder_is_refused():
    with pytest.raises(TypeError, match="decoder is a Linear; expected one of"):
        multiply_adds(nn.Linear(2, 3), 5)


def test_an_unknown_score_is_refused():
    translator = luong(*VOCABULARIES, **SIZES)
    translator.decoder.align.score = nn.Identity()
    with pytest.raises(TypeError, match="score is a Identity; expected one of"):
        multiply_adds(translator.decoder, 5)


def test_parameters_are_counted():
    assert parameters(nn.Linear(2, 3)) == 9
    frozen = nn.Linear(2, 3).requires_grad_(False)
    assert parameters(frozen) == 0
