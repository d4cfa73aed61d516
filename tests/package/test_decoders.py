"""Decoders, held against the papers' equations, one sentence and one word at a time."""

import pytest
import torch
from torch import nn

from attnlib.alignment import Align
from attnlib.decoders import BahdanauDecoder, DeepOutput, FixedContextDecoder, LuongDecoder
from attnlib.encoders import Encoded
from attnlib.scores import Additive, General
from attnlib.windows import Everywhere, LocalMonotonic, LocalPredictive

VOCAB, EMB, DEC, ENC, ATT, MAXOUT, LAYERS, SRC, TGT = 19, 3, 5, 7, 11, 2, 3, 13, 4
LENGTHS = (13, 3, 7)
SIZES = {"vocab": VOCAB, "emb": EMB, "dec": DEC, "enc": ENC}


def draw(*shape, seed):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def encoded(*state):
    real = torch.arange(SRC) < torch.tensor(LENGTHS)[:, None]
    h = torch.where(real[:, :, None], draw(len(LENGTHS), SRC, ENC, seed=0), 0.0)
    state = tuple(draw(len(LENGTHS), *shape, seed=seed) for seed, shape in enumerate(state, start=3))
    return Encoded(h, torch.tensor(LENGTHS), draw(len(LENGTHS), ENC, seed=1), state)


def align(window):
    return Align(Additive(DEC, ENC, ATT), window())


DECODERS = {
    "fixed": (lambda: FixedContextDecoder(**SIZES, maxout=MAXOUT), [(DEC,)]),
    "fixed, new": (lambda: FixedContextDecoder(**SIZES, maxout=MAXOUT, reads_new_state=True), [(DEC,)]),
    "bahdanau": (lambda: BahdanauDecoder(align(Everywhere), **SIZES, maxout=MAXOUT), [(DEC,)]),
    "bahdanau, new": (
        lambda: BahdanauDecoder(align(Everywhere), **SIZES, maxout=MAXOUT, reads_new_state=True),
        [(DEC,)],
    ),
    "bahdanau, local": (lambda: BahdanauDecoder(align(lambda: LocalMonotonic(1)), **SIZES, maxout=MAXOUT), [(DEC,)]),
    "luong": (
        lambda: LuongDecoder(align(Everywhere), **SIZES, layers=LAYERS, input_feeding=False),
        [(LAYERS, DEC)] * 2,
    ),
    "luong, fed": (lambda: LuongDecoder(align(Everywhere), **SIZES, layers=LAYERS), [(LAYERS, DEC)] * 2),
    "luong, fed, local": (
        lambda: LuongDecoder(Align(General(DEC, ENC), LocalPredictive(DEC, 2)), **SIZES, layers=LAYERS),
        [(LAYERS, DEC)] * 2,
    ),
}


@pytest.fixture(params=DECODERS)
def case(request):
    torch.manual_seed(0)
    make, state = DECODERS[request.param]
    return make().double(), encoded(*state), torch.randint(VOCAB, (len(LENGTHS), TGT))


def look(decoder, s, encoded, b, t):
    """Attend from one state to one sentence, without padding."""
    h, lengths = encoded.annotations[b : b + 1, : LENGTHS[b]], encoded.lengths[b : b + 1]
    return decoder.align(s[None, None], decoder.align.remember(h, lengths), torch.tensor([t])).context[0, 0]


def deep_output(out, s, y, c):
    t = out.U_o @ s + out.V_o @ y + out.C_o @ c
    return out.W_o @ torch.stack([torch.max(t[2 * j], t[2 * j + 1]) for j in range(len(t) // 2)])


def gru_cell(gru):
    cell = nn.GRUCell(EMB + ENC, DEC).double()
    cell.load_state_dict({name.removesuffix("_l0"): p for name, p in gru.state_dict().items()})
    return cell


def lstm_cells(lstm):
    for n in range(LAYERS):
        cell = nn.LSTMCell(getattr(lstm, f"weight_ih_l{n}").shape[1], DEC).double()
        cell.load_state_dict(
            {k.removesuffix(f"_l{n}"): p for k, p in lstm.state_dict().items() if k.endswith(f"_l{n}")}
        )
        yield cell


def decode_one(decoder, encoded, words, b):
    """Score each word of one sentence, as the equations are written."""
    if isinstance(decoder, LuongDecoder):
        yield from luong_one(decoder, encoded, words, b)
        return
    s = encoded.state[0][b]
    for t, word in enumerate(words):
        y = decoder.embedding.weight[word]
        if isinstance(decoder, BahdanauDecoder):
            c, cell = look(decoder, s, encoded, b, t), decoder.cell
        else:
            c, cell = encoded.summary[b], gru_cell(decoder.gru)
        before, s = s, cell(torch.cat([y, c]), s)
        yield deep_output(decoder.readout, s if decoder.reads_new_state else before, y, c)


def luong_one(decoder, encoded, words, b):
    h, c = (list(x[b]) for x in encoded.state)
    tilde = torch.zeros(DEC).double()
    for t, word in enumerate(words):
        x = decoder.embedding.weight[word]
        x = torch.cat([x, tilde]) if decoder.input_feeding else x
        for n, cell in enumerate(lstm_cells(decoder.lstm)):
            h[n], c[n] = cell(x, (h[n], c[n]))
            x = h[n]
        tilde = torch.tanh(decoder.W_c @ torch.cat([look(decoder, x, encoded, b, t), x]))
        yield decoder.W_y @ tilde


def test_teacher_forcing_equals_the_papers_equations(case):
    decoder, encoded, words = case
    logits, _ = decoder(words, encoded)
    for b in range(len(LENGTHS)):
        alone = torch.stack(list(decode_one(decoder, encoded, words[b], b)))
        torch.testing.assert_close(logits[b], alone, rtol=1e-10, atol=1e-10)


def test_steps_one_by_one_equal_teacher_forcing_and_leave_their_state_as_it_was(case):
    decoder, encoded, words = case
    logits, attended = decoder(words, encoded)
    state = decoder.start(encoded)
    for t in range(TGT):
        assert state.step == t
        before = [x.clone() for x in state.recurrent]
        one, look, after = decoder.step(words[:, t], state)
        torch.testing.assert_close(one, logits[:, t], rtol=1e-10, atol=1e-10)
        assert all(torch.equal(x, y) for x, y in zip(state.recurrent, before, strict=True))
        if attended is None:
            assert look is None
        else:
            whole = attended.dense(SRC)[:, t : t + 1]
            torch.testing.assert_close(look.dense(SRC), whole, rtol=1e-10, atol=1e-10)
        state = after


def test_a_state_goes_on_with_the_rows_that_are_chosen(case):
    decoder, encoded, words = case
    _, _, state = decoder.step(words[:, 0], decoder.start(encoded))
    rows = torch.tensor([2, 0, 0, 1])
    whole, _, _ = decoder.step(words[:, 1], state)
    chosen, _, _ = decoder.step(words[rows, 1], state.select(rows))
    torch.testing.assert_close(chosen, whole[rows], rtol=1e-10, atol=1e-10)


def test_gradients_reach_every_parameter(case):
    decoder, encoded, words = case
    (decoder(words, encoded)[0] ** 2).sum().backward()
    for name, p in decoder.named_parameters():
        assert p.grad.abs().sum() > 0, name


def test_gradients_reach_the_encoder_and_stop_at_its_padding(case):
    decoder, encoded, words = case
    given = [x.requires_grad_() for x in (encoded.annotations, encoded.summary, *encoded.state)]
    (decoder(words, encoded)[0] ** 2).sum().backward()
    annotations, summary, *state = [x.grad for x in given]
    assert all(x.abs().sum() > 0 for x in state)
    if isinstance(decoder, FixedContextDecoder):
        assert annotations is None
        assert summary.abs().sum() > 0
    else:
        assert all(annotations[b, :S].any() and not annotations[b, S:].any() for b, S in enumerate(LENGTHS))


def test_every_tensor_is_made_where_the_words_are(case):
    decoder, encoded, words = case
    expected, _ = decoder(words, encoded)
    with torch.device("meta"):  # there lies what is made without saying where
        logits, _ = decoder(words, encoded)
    torch.testing.assert_close(logits, expected, rtol=1e-10, atol=1e-10)


def test_nothing_is_changed(case):
    decoder, encoded, words = case
    given = (words, *encoded[:3], *encoded.state)
    before = [x.clone() for x in given]
    decoder(words, encoded)
    assert all(torch.equal(x, y) for x, y in zip(given, before, strict=True))


def test_the_maxout_layer_keeps_the_larger_of_each_pair():
    out = DeepOutput(vocab=VOCAB, emb=EMB, dec=DEC, enc=ENC, maxout=MAXOUT).double()
    s, y, c = (draw(size, seed=size) for size in (DEC, EMB, ENC))
    torch.testing.assert_close(out(s, y, c), deep_output(out, s, y, c), rtol=1e-12, atol=1e-12)


def test_options_are_kept_and_are_the_papers_if_nothing_else_is_said():
    for make in (FixedContextDecoder, lambda **o: BahdanauDecoder(align(Everywhere), **o)):
        options = ({}, {"reads_new_state": False}, {"reads_new_state": True})
        assert [make(**SIZES, maxout=MAXOUT, **o).reads_new_state for o in options] == [False, False, True]
    luong = LuongDecoder(align(Everywhere), **SIZES)
    assert (luong.lstm.num_layers, luong.input_feeding) == (1, True)
