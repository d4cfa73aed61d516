"""The models that no paper has: with all parts of a paper they are its model, and each step is as by hand."""

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from attnbook.experiments import count_macs
from attnbook.experiments.variants import hybrid
from attnlib import BOS, Vocabulary, luong

VOCABULARIES = Vocabulary(tuple("abcdefg")), Vocabulary(tuple("hijkl"))
SIZES = {"embedding_dim": 5, "hidden_size": 6}
SOURCE, LENGTHS = torch.tensor([[5, 7, 9, 4, 2], [6, 8, 2, 0, 0], [10, 2, 0, 0, 0]]), torch.tensor([5, 3, 2])
TARGET = torch.tensor([[4, 6, 8, 2], [7, 2, 0, 0], [5, 5, 2, 0]])
LUONGS = {"encoder": "backward", "encoder_ratio": 1, "bridge": False, "score": "general", "maxout": False}
MODELS = {
    "asks after": {},
    "general": {"score": "general"},
    "attentional": {"maxout": False},
    "fed maxout": {"feeds_readout": True},
    "lstm": {"encoder": "bidirectional"},
    "fed, lstm": {"encoder": "bidirectional", "maxout": False, "feeds_readout": True},
    "backward": {"encoder": "backward", "encoder_ratio": 1, "bridge": False},
    "luong": LUONGS | {"feeds_readout": True},
}


def made(name):
    return hybrid(*VOCABULARIES, **MODELS[name], **SIZES, seed=3).double()


def test_with_all_parts_of_luong_it_is_theirs():
    theirs, ours = luong(*VOCABULARIES, **SIZES).double(), made("luong")
    names = {"W_c": "readout.W_c", "W_y": "readout.W_o"} | {
        f"lstm.{part}_l0": f"cell.{part}" for part in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    }
    ours.encoder.load_state_dict(theirs.encoder.state_dict())
    ours.decoder.load_state_dict({names.get(name, name): x for name, x in theirs.decoder.state_dict().items()})
    assert_close(ours(SOURCE, LENGTHS, TARGET), theirs(SOURCE, LENGTHS, TARGET))
    assert count_macs(ours, 11) == count_macs(theirs, 11)


@pytest.mark.parametrize("name", MODELS)
def test_steps_by_hand_are_those_taken_one_by_one_and_all_at_once(name):
    """With torch's own cells on the whole input."""
    translator = made(name)
    decoder, at_once = translator.decoder, translator(SOURCE, LENGTHS, TARGET)
    state, word = translator.start(SOURCE, LENGTHS), torch.full((3,), BOS)
    *states, fed = state.cache
    for t in range(TARGET.shape[1]):
        y, lstm = decoder.embedding(word), isinstance(decoder.cell, nn.LSTMCell)
        moved = decoder.cell(torch.cat([y, fed], 1), states if lstm else states[0])
        states = moved if lstm else (moved,)
        asked = decoder.attention.at(t, states[0], state.memory)
        c = asked.context[:, 0]
        read = decoder.readout.features(states[0], y, c)
        fed = read if MODELS[name].get("feeds_readout") else c
        logits, look, state = translator.step(word, state)
        for scores, weights in ((logits, look.weights[:, 0]), (at_once.logits[:, t], at_once.attention.weights[:, t])):
            assert_close(scores, read @ decoder.readout.W_o.T)
            assert_close(weights, asked.weights[:, 0])
        word = TARGET[:, t]


def test_a_bridge_begins_from_the_backward_state():
    translator = made("lstm")
    encoded = translator.encoder(SOURCE, LENGTHS)
    s_0, cell, fed = translator.decoder.start(encoded).cache
    assert_close(s_0, torch.tanh(encoded.annotations[:, 0, 6:] @ translator.decoder.begin.W_s.T))
    assert not cell.any()
    assert not fed.any()
