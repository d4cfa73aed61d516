"""Decoders: the steps against the papers' equations, and teacher forcing against the steps."""

from functools import partial

import pytest
import torch
from torch import nn

from attnlib import AttentionLayer, EncoderOutput, GlobalWindow, LocalMonotonic, LocalPredictive
from attnlib.decoders import BahdanauDecoder, FixedContextDecoder, LSTMDecoder, LuongDecoder
from attnlib.layers import Embedding
from attnlib.scores import Additive, General

VOCAB, EMB, DEC, ENC, ATT, MAXOUT, LAYERS, SRC, TGT = 19, 3, 5, 7, 11, 2, 3, 13, 4
LENGTHS = (13, 3, 7)
SIZES = {"decoder_size": DEC, "encoder_size": ENC}


def aligned(window=None, score=None):
    return AttentionLayer(score or Additive(DEC, ENC, ATT), window or GlobalWindow())


fixed = partial(FixedContextDecoder, **SIZES, maxout=MAXOUT)
bahdanau = partial(BahdanauDecoder, **SIZES, maxout=MAXOUT)
luong = partial(LuongDecoder, **SIZES, num_layers=LAYERS)
DECODERS = {
    "fixed": fixed,
    "bahdanau": lambda words, **o: bahdanau(aligned(), words, **o),
    "bahdanau, new": lambda words, **o: bahdanau(aligned(), words, reads_new_state=True, **o),
    "bahdanau, local": lambda words, **o: bahdanau(aligned(LocalMonotonic(1)), words, **o),
    "lstm": partial(LSTMDecoder, decoder_size=DEC, num_layers=LAYERS),
    "luong": lambda words, **o: luong(aligned(), words, input_feeding=False, **o),
    "luong, local": lambda words, **o: luong(aligned(LocalMonotonic(2)), words, input_feeding=False, **o),
    "luong, fed": lambda words, **o: luong(aligned(), words, **o),
    "luong, fed, local": lambda words, **o: luong(aligned(LocalPredictive(DEC, 2), General(DEC, ENC)), words, **o),
}


def draw(*shape, seed):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def encoded(*state):
    real = torch.arange(SRC) < torch.tensor(LENGTHS)[:, None]
    h = torch.where(real[:, :, None], draw(len(LENGTHS), SRC, ENC, seed=0), 0.0)
    state = tuple(draw(len(LENGTHS), *shape, seed=seed) for seed, shape in enumerate(state, start=3))
    return EncoderOutput(h, torch.tensor(LENGTHS), draw(len(LENGTHS), ENC, seed=1), state)


def made(make, num_layers=LAYERS, embedding_dropout=0.0, **options):
    """Make a decoder, what it begins from, and words."""
    torch.manual_seed(0)
    decoder = make(Embedding(VOCAB, EMB, embedding_dropout), **options).double()
    state = [(num_layers, DEC)] * 2 if hasattr(decoder, "lstm") else [(DEC,)]
    return decoder, encoded(*state), torch.randint(VOCAB, (len(LENGTHS), TGT))


@pytest.fixture(params=DECODERS)
def case(request):
    return made(DECODERS[request.param])


def close(x, y):
    torch.testing.assert_close(x, y, rtol=1e-10, atol=1e-10)


# --- The papers' equations, one sentence and one word at a time ---


def look(decoder, s, encoded, b, t):
    """Attend from one state to one sentence, without padding."""
    h, lengths = encoded.annotations[b : b + 1, : LENGTHS[b]], encoded.lengths[b : b + 1]
    return decoder.attention(s[None, None], decoder.attention.precompute(h, lengths), torch.tensor([t])).context[0, 0]


def deep_output(out, s, y, c):
    t = out.U_o @ s + out.V_o @ y + out.C_o @ c
    return out.W_o @ torch.stack([torch.max(t[2 * j], t[2 * j + 1]) for j in range(len(t) // 2)])


def cells(make, stack):
    """Make a cell of each layer of a stack."""
    for n in range(stack.num_layers):
        weights = {k.removesuffix(f"_l{n}"): p for k, p in stack.state_dict().items() if k.endswith(f"_l{n}")}
        cell = make(weights["weight_ih"].shape[1], DEC).double()
        cell.load_state_dict(weights)
        yield cell


def gru_one(decoder, encoded, words, b):
    s = encoded.initial_state[0][b]
    attends = isinstance(decoder, BahdanauDecoder)
    cell = decoder.cell if attends else next(cells(nn.GRUCell, decoder.gru))
    for t, word in enumerate(words):
        y = decoder.embedding.weight[word]
        c = look(decoder, s, encoded, b, t) if attends else encoded.summary[b]
        before, s = s, cell(torch.cat([y, c]), s)
        yield deep_output(decoder.readout, s if getattr(decoder, "reads_new_state", False) else before, y, c)


def luong_one(decoder, encoded, words, b):
    h, c = (list(x[b]) for x in encoded.initial_state)
    tilde = torch.zeros(DEC).double()
    for t, word in enumerate(words):
        x = decoder.embedding.weight[word]
        x = torch.cat([x, tilde]) if decoder.input_feeding else x
        for n, cell in enumerate(cells(nn.LSTMCell, decoder.lstm)):
            h[n], c[n] = cell(x, (h[n], c[n]))
            x = h[n]
        tilde = torch.tanh(decoder.W_c @ torch.cat([look(decoder, x, encoded, b, t), x]))
        yield decoder.W_y @ tilde


def lstm_one(decoder, encoded, words, b):
    h, c = (list(x[b]) for x in encoded.initial_state)
    for word in words:
        x = decoder.embedding.weight[word]
        for n, cell in enumerate(cells(nn.LSTMCell, decoder.lstm)):
            h[n], c[n] = cell(x, (h[n], c[n]))
            x = h[n]
        yield decoder.W_y @ x


def test_teacher_forcing_is_the_papers_equations(case):
    decoder, encoded, words = case
    one = {LSTMDecoder: lstm_one, LuongDecoder: luong_one}.get(type(decoder), gru_one)
    logits, _ = decoder(words, encoded)
    for b in range(len(LENGTHS)):
        close(logits[b], torch.stack(list(one(decoder, encoded, words[b], b))))


# --- Steps ---


def test_steps_one_by_one_are_teacher_forcing_and_leave_their_state_as_it_was(case):
    decoder, encoded, words = case
    logits, attended = decoder(words, encoded)
    state = decoder.start(encoded)
    for t in range(TGT):
        assert state.position == t
        before = [x.clone() for x in state.cache]
        one, look, after = decoder.step(words[:, t], state)
        close(one, logits[:, t])
        assert all(torch.equal(x, y) for x, y in zip(state.cache, before, strict=True))
        for x, of_all in zip(look or (), attended or (), strict=True):  # no attention, no look
            assert x is of_all is None or close(x, of_all[:, t : t + 1]) is None
        state = after


# --- Options ---


@pytest.mark.parametrize("make", DECODERS.values(), ids=DECODERS)
@pytest.mark.parametrize("which", ["dropout", "embedding_dropout"])
def test_dropout_is_for_training_only(make, which):
    (decoder, encoded, words), (plain, _, _) = made(make, **{which: 0.5}), made(make)
    assert not torch.equal(decoder(words, encoded)[0], decoder(words, encoded)[0])
    assert torch.equal(decoder.eval()(words, encoded)[0], plain(words, encoded)[0])


@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("input_feeding", [False, True])
def test_dropout_reaches_the_attention_only_from_one_layer_to_the_next(layers, input_feeding):
    make = partial(luong, aligned(), num_layers=layers, input_feeding=input_feeding, dropout=0.5)
    decoder, encoded, words = made(make, layers)
    one, other = (decoder(words, encoded)[1].weights for _ in range(2))
    assert torch.equal(one, other) == (layers == 1)
