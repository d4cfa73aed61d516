"""Encoders, held against one sentence at a time, word by word, without padding."""

import pytest
import torch
from torch import nn

from attnlib.encoders import BidirectionalGRU, BidirectionalLSTM, StackedLSTM
from attnlib.experiments.training import count_products
from attnlib.layers import Embedding

VOCAB, EMB, HID, DEC, LAYERS, SRC = 23, 3, 5, 7, 3, 11
LENGTHS = (4, 9, 1, 9, 7)  # none as long as the padding
PAD = VOCAB - 1  # what stands at the padding, and nowhere else


def padded():
    source = torch.randint(PAD, (len(LENGTHS), SRC), generator=torch.Generator().manual_seed(0))
    return torch.where(torch.arange(SRC) < torch.tensor(LENGTHS)[:, None], source, PAD), torch.tensor(LENGTHS)


@pytest.fixture
def sentences():
    return padded()


ENCODERS = {
    "gru": lambda: BidirectionalGRU(Embedding(VOCAB, EMB), HID, DEC),
    "lstm": lambda: StackedLSTM(Embedding(VOCAB, EMB), HID, LAYERS),
    "reversed": lambda: StackedLSTM(Embedding(VOCAB, EMB), HID, LAYERS, reverse=True),
    "both": lambda: BidirectionalLSTM(Embedding(VOCAB, EMB), 2 * HID, LAYERS),
}


def made(name):
    torch.manual_seed(0)
    return ENCODERS[name]().double()


def close(x, y):
    torch.testing.assert_close(x, y, rtol=1e-12, atol=1e-12)


def read_word_by_word(gru, x):
    cell, h, states = nn.GRUCell(EMB, HID).double(), torch.zeros(HID).double(), []
    cell.load_state_dict({name.removesuffix("_l0"): p for name, p in gru.state_dict().items()})
    for x_i in x:
        h = cell(x_i, h)
        states.append(h)
    return states


def test_the_bidirectional_gru_is_two_loops_over_the_words(sentences):
    gru, (source, lengths) = made("gru"), sentences
    encoded = gru(source, lengths)
    for b, S in enumerate(LENGTHS):
        x = gru.embedding(source[b, :S])
        forwards, backwards = (
            read_word_by_word(gru.forward_rnn, x),
            read_word_by_word(gru.backward_rnn, x.flip(0))[::-1],
        )
        for j in range(S):
            close(encoded.annotations[b, j], torch.cat([forwards[j], backwards[j]]))
        close(encoded.summary[b], torch.cat([forwards[-1], backwards[0]]))
        close(encoded.initial_state[0][b], torch.tanh(gru.W_s @ backwards[0]))


@pytest.mark.parametrize(
    ("name", "costs"),
    [
        ("gru", 6 * HID * (EMB + HID)),
        ("lstm", 4 * HID * (EMB + HID) + (LAYERS - 1) * 8 * HID**2),
        ("both", 4 * 2 * HID * (EMB + HID) + (LAYERS - 1) * 4 * 2 * HID * (2 * HID + HID)),
    ],
)
def test_they_cost_what_they_say(name, costs):
    encoder, sentences = made(name), torch.zeros(2, SRC, dtype=torch.long)
    once = DEC * HID * 2 if name == "gru" else 0  # s_0
    assert count_products(lambda: encoder(sentences, torch.tensor([SRC, SRC]))) == 2 * SRC * costs + once


def test_the_stacked_lstm_is_torchs_on_each_sentence_alone(sentences):
    lstm, (source, lengths) = made("lstm"), sentences
    encoded = lstm(source, lengths)
    assert torch.equal(encoded.lengths, lengths)
    assert encoded.initial_state[0].shape == (len(LENGTHS), LAYERS, HID)
    for b, S in enumerate(LENGTHS):
        states, (h, c) = lstm.lstm(lstm.embedding(source[b, :S])[None])
        close(encoded.annotations[b, :S], states[0])
        close(encoded.summary[b], states[0, -1])
        close(encoded.initial_state[0][b], h[:, 0])
        close(encoded.initial_state[1][b], c[:, 0])


def test_reading_in_reverse_is_reading_the_reversed_sentence(sentences):
    source, lengths = sentences
    encoded = made("reversed")(source, lengths)
    for b, S in enumerate(LENGTHS):
        alone = made("lstm")(source[b : b + 1, :S].flip(1), lengths[b : b + 1])
        close(encoded.annotations[b, :S], alone.annotations[0].flip(0))
        close(encoded.summary[b], alone.summary[0])
        for state, expected in zip(encoded.initial_state, alone.initial_state, strict=True):
            close(state[b], expected[0])


def test_both_directions_are_torchs_on_each_sentence_alone(sentences):
    both, (source, lengths) = made("both"), sentences
    theirs = nn.LSTM(EMB, HID, LAYERS, batch_first=True, bidirectional=True).double()
    for n in range(LAYERS):
        for lstm, suffix in ((both.forward_rnn[n], ""), (both.backward_rnn[n], "_reverse")):
            for name, p in lstm.named_parameters():
                getattr(theirs, name.replace("_l0", f"_l{n}{suffix}")).data.copy_(p)
    encoded = both(source, lengths)
    assert torch.equal(encoded.lengths, lengths)
    for b, S in enumerate(LENGTHS):
        states, ends = theirs(both.embedding(source[b, :S])[None])
        close(encoded.annotations[b, :S], states[0])
        close(encoded.summary[b], torch.cat([states[0, -1, :HID], states[0, 0, HID:]]))
        for result, end in zip(encoded.initial_state, ends, strict=True):
            close(result[b], end[:, 0].unflatten(0, (LAYERS, 2)).flatten(1))


@pytest.mark.parametrize("name", ENCODERS)
def test_padding_never_enters_even_if_it_holds_nan(name, sentences):
    encoder = made(name)
    before = encoder(*sentences)
    with torch.no_grad():
        encoder.embedding.weight[PAD] = torch.nan
    after = encoder(*sentences)
    assert not before.annotations[sentences[0] == PAD].any()
    for x, y in zip((*before[:3], *before.initial_state), (*after[:3], *after.initial_state), strict=True):
        assert torch.equal(x, y)


@pytest.mark.parametrize("make", [BidirectionalGRU, StackedLSTM, BidirectionalLSTM])
def test_dropout_of_embeddings_is_for_training_only(make, sentences):
    dropping, plain = (make(Embedding(VOCAB, EMB, share), 6, 2) for share in (0.5, 0.0))
    dropping.load_state_dict(plain.state_dict())
    assert not torch.equal(dropping(*sentences).annotations, dropping(*sentences).annotations)
    assert torch.equal(dropping.eval()(*sentences).annotations, plain(*sentences).annotations)


@pytest.mark.parametrize("make", [StackedLSTM, BidirectionalLSTM])
@pytest.mark.parametrize("layers", [1, 2])
def test_dropout_is_for_training_only_and_from_one_layer_to_the_next(make, layers, sentences):
    dropping, plain = (make(Embedding(VOCAB, EMB), 6, layers, dropout=share) for share in (0.5, 0.0))
    dropping.load_state_dict(plain.state_dict())
    one, other = (dropping(*sentences).annotations for _ in range(2))
    assert torch.equal(one, other) == (layers == 1)
    assert torch.equal(dropping.eval()(*sentences).annotations, plain(*sentences).annotations)


def test_an_odd_width_has_no_half(refused):
    refused(lambda: BidirectionalLSTM(Embedding(VOCAB, EMB), 7), "^hidden_size is 7; expected an even number")
