"""Hybrids: one step by hand, steps against all at once, and what each single change leaves alone."""

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from attnlib.alignment import Align
from attnlib.encoders import BidirectionalGRU, StackedLSTM
from attnlib.experiments.hybrids import StepFirstDecoder
from attnlib.experiments.mixtures import step_first
from attnlib.scores import Additive, General
from attnlib.translator import luong, rnn_search
from attnlib.vocabulary import START, Vocabulary
from attnlib.windows import Everywhere

VOCABULARIES = Vocabulary(tuple("abcdefg")), Vocabulary(tuple("hijkl"))
SOURCE, LENGTHS = torch.tensor([[5, 7, 9, 4, 2], [6, 8, 2, 0, 0], [10, 2, 0, 0, 0]]), torch.tensor([5, 3, 2])
TARGET = torch.tensor([[4, 6, 8, 2], [7, 2, 0, 0], [5, 5, 2, 0]])


@pytest.fixture(params=[("gru", "additive"), ("gru", "general"), ("lstm", "additive"), ("lstm", "general")])
def translator(request):
    recurrent, score = request.param
    return step_first(*VOCABULARIES, recurrent=recurrent, score=score, emb=5, hid=6).double()


def test_a_step_by_hand(translator):
    """With torch's own cells on the whole input: step with the context before, attend from the new state."""
    decoder, encoded = translator.decoder, translator.encoder(SOURCE, LENGTHS)
    memory = decoder.align.remember(encoded.annotations, LENGTHS)
    states = tuple(x.reshape(3, -1) for x in encoded.state)
    context = torch.zeros(3, encoded.annotations.shape[2], dtype=torch.float64)
    state = translator.start(SOURCE, LENGTHS)
    for t, word in enumerate((START, 6, 8)):
        words = torch.full((3,), word)
        y = decoder.embedding(words)
        lstm = isinstance(decoder.cell, nn.LSTMCell)
        moved = decoder.cell(torch.cat([y, context], 1), states if lstm else states[0])
        states = moved if lstm else (moved,)
        attended = decoder.align(states[0][:, None], memory, torch.tensor([t]))
        context = attended.context[:, 0]
        logits, seen, state = translator.step(words, state)
        assert_close(seen.weights, attended.weights)
        assert_close(logits, decoder.readout(states[0], y, context))


def test_all_at_once_is_step_by_step(translator):
    logits = translator(SOURCE, LENGTHS, TARGET).logits
    state, words = translator.start(SOURCE, LENGTHS), torch.full((3,), START)
    for t in range(TARGET.shape[1]):
        scores, _, state = translator.step(words, state)
        assert_close(scores, logits[:, t])
        words = TARGET[:, t]


@pytest.mark.parametrize(("recurrent", "gates", "enc"), [("gru", 3, 12), ("lstm", 4, 6)])
def test_multiply_adds_by_hand(recurrent, gates, enc):
    decoder = step_first(*VOCABULARIES, recurrent=recurrent, emb=5, hid=6).decoder
    attention, readout = (6 * 6 + 13 * 6) + 13 * enc, 2 * 3 * (6 + 5 + enc) + 9 * 3
    assert decoder.multiply_adds(13) == attention + gates * 6 * (5 + enc + 6) + readout


def test_neighbours_do_not_matter(translator):
    together = translator(SOURCE, LENGTHS, TARGET).logits
    for n, length in enumerate(LENGTHS):
        alone = translator(SOURCE[n : n + 1, :length], LENGTHS[n : n + 1], TARGET[n : n + 1]).logits
        assert_close(together[n], alone[0])


def test_each_hybrid_takes_its_parts_from_one_paper_or_the_other():
    first, last = rnn_search(*VOCABULARIES), luong(*VOCABULARIES)
    made = [
        step_first(*VOCABULARIES),
        step_first(*VOCABULARIES, recurrent="lstm"),
        step_first(*VOCABULARIES, recurrent="lstm", score="general"),
    ]
    chain = [first, *made, last]
    assert [type(t.encoder) for t in chain] == [BidirectionalGRU] * 2 + [StackedLSTM] * 3
    assert [type(t.decoder.align.score) for t in chain] == [Additive] * 3 + [General] * 2
    assert all(t.encoder.reverse for t in chain[2:])
    assert not hasattr(made[2].decoder, "W_c")
    assert hasattr(last.decoder, "W_c")


def test_the_same_seed_gives_the_same_weights_and_leaves_torch_alone():
    torch.manual_seed(7)
    before = torch.random.get_rng_state()
    first, second, other = (step_first(*VOCABULARIES, seed=seed) for seed in (3, 3, 4))
    assert_close(torch.random.get_rng_state(), before)
    assert_close(first.state_dict(), second.state_dict())
    assert not torch.equal(first.decoder.embedding.weight, other.decoder.embedding.weight)


def decoder(**wrong):
    sizes = {"vocab": 6, "emb": 5, "dec": 6, "enc": 6, "maxout": 3} | wrong
    return StepFirstDecoder(Align(General(6, 6), Everywhere()), nn.GRUCell(11, 6), **sizes)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: step_first(*VOCABULARIES, recurrent="rnn"), "recurrent is 'rnn'; expected 'gru' or 'lstm'"),
        (lambda: step_first(*VOCABULARIES, score="dot"), "score is 'dot'; expected one of additive, general"),
        (lambda: step_first(*VOCABULARIES, hid=1), "hid is 1; expected at least 2"),
        (lambda: decoder(maxout=0), "maxout is 0"),
        (lambda: decoder(enc=5), r"cell is GRUCell\(11, 6\); expected one from 10 features, emb \+ enc, to 6, dec"),
        (lambda: decoder(dec=5), "to 5, dec"),
        (lambda: decoder().multiply_adds(0), "src is 0"),
    ],
)
def test_what_does_not_fit_is_refused(call, says, refused):
    refused(call, ValueError, says)
