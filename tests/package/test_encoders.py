"""Encoders, held against one sentence at a time, word by word, without padding."""

import pytest
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from attnlib.encoders import BidirectionalGRU, StackedLSTM

VOCAB, EMB, HID, DEC, LAYERS, SRC = 23, 3, 5, 7, 2, 11
LENGTHS = (4, 9, 1, 9, 7)  # none as long as the padding


@pytest.fixture
def sentences():
    source = torch.randint(VOCAB, (len(LENGTHS), SRC), generator=torch.Generator().manual_seed(0))
    return source, torch.tensor(LENGTHS)


@pytest.fixture
def gru():
    torch.manual_seed(0)
    return BidirectionalGRU(VOCAB, EMB, HID, DEC).double()


@pytest.fixture
def lstm():
    torch.manual_seed(0)
    return StackedLSTM(VOCAB, EMB, HID, LAYERS).double()


@pytest.fixture
def reversed_lstm(lstm):
    encoder = StackedLSTM(VOCAB, EMB, HID, LAYERS, reverse=True).double()
    encoder.load_state_dict(lstm.state_dict())
    return encoder


@pytest.fixture(params=["gru", "lstm", "reversed_lstm"])
def encoder(request):
    return request.getfixturevalue(request.param)


def close(x, y):
    torch.testing.assert_close(x, y, rtol=1e-12, atol=1e-12)


def cell_of(gru):
    cell = nn.GRUCell(EMB, HID).double()
    cell.load_state_dict({name.removesuffix("_l0"): p for name, p in gru.state_dict().items()})
    return cell


def read_word_by_word(gru, x):
    cell, h, states = cell_of(gru), torch.zeros(HID).double(), []
    for x_i in x:
        h = cell(x_i, h)
        states.append(h)
    return states


def test_the_bidirectional_gru_equals_two_loops_over_the_words(gru, sentences):
    source, lengths = sentences
    encoded = gru(source, lengths)
    for b, S in enumerate(LENGTHS):
        x = gru.embedding(source[b, :S])
        forwards, backwards = read_word_by_word(gru.forwards, x), read_word_by_word(gru.backwards, x.flip(0))[::-1]
        for j in range(S):
            close(encoded.annotations[b, j], torch.cat([forwards[j], backwards[j]]))
        close(encoded.summary[b], torch.cat([forwards[-1], backwards[0]]))
        close(encoded.state[0][b], torch.tanh(gru.W_s @ backwards[0]))


def test_the_stacked_lstm_equals_torchs_on_each_sentence_alone(lstm, sentences):
    source, lengths = sentences
    encoded = lstm(source, lengths)
    for b, S in enumerate(LENGTHS):
        states, (h, c) = lstm.lstm(lstm.embedding(source[b, :S])[None])
        close(encoded.annotations[b, :S], states[0])
        close(encoded.summary[b], states[0, -1])
        close(encoded.state[0][b], h[:, 0])
        close(encoded.state[1][b], c[:, 0])


def test_the_stacked_lstm_equals_torchs_on_packed_sequences(lstm, sentences):
    source, lengths = sentences
    packed = pack_padded_sequence(lstm.embedding(source), lengths, batch_first=True, enforce_sorted=False)
    states, (h, c) = lstm.lstm(packed)
    encoded = lstm(source, lengths)
    close(encoded.annotations, pad_packed_sequence(states, batch_first=True, total_length=SRC)[0])
    close(encoded.state[0].transpose(0, 1), h)
    close(encoded.state[1].transpose(0, 1), c)


def test_reading_in_reverse_is_reading_the_reversed_sentence(lstm, reversed_lstm, sentences):
    source, lengths = sentences
    encoded = reversed_lstm(source, lengths)
    for b, S in enumerate(LENGTHS):
        alone = lstm(source[b : b + 1, :S].flip(1), lengths[b : b + 1])
        close(encoded.annotations[b, :S], alone.annotations[0].flip(0))
        close(encoded.summary[b], alone.summary[0])
        close(encoded.state[0][b], alone.state[0][0])


def test_padding_never_enters(encoder, sentences):
    source, lengths = sentences
    encoded = encoder(source, lengths)
    padding = torch.arange(SRC) >= lengths[:, None]
    other = encoder(torch.where(padding, VOCAB - 1 - source, source), lengths)
    assert not encoded.annotations[padding].any()
    for x, y in zip((*encoded[:3], *encoded.state), (*other[:3], *other.state), strict=True):
        assert torch.equal(x, y)


def test_the_words_of_padding_get_no_gradient_and_every_parameter_gets_some(encoder, sentences):
    source, lengths = sentences
    source = torch.where(torch.arange(SRC) < lengths[:, None], source.clamp(max=VOCAB - 2), VOCAB - 1)
    encoded = encoder(source, lengths)
    sum((x**2).sum() for x in (encoded.annotations, *encoded.state)).backward()
    assert not encoder.embedding.weight.grad[VOCAB - 1].any()
    for name, p in encoder.named_parameters():
        assert p.grad.abs().sum() > 0, name


def test_the_order_of_the_sentences_does_not_matter(encoder, sentences):
    source, lengths = sentences
    order = torch.tensor([3, 0, 4, 2, 1])
    encoded, other = encoder(source, lengths), encoder(source[order], lengths[order])
    close(other.annotations, encoded.annotations[order])
    close(other.state[0], encoded.state[0][order])


def test_nothing_is_changed(encoder, sentences):
    before = [x.clone() for x in sentences]
    encoder(*sentences)
    assert all(torch.equal(x, y) for x, y in zip(sentences, before, strict=True))


@pytest.mark.parametrize("wrong", [0, SRC + 1])
def test_lengths_that_do_not_fit_are_refused(encoder, sentences, wrong):
    source, lengths = sentences
    with pytest.raises(ValueError, match=f"lengths holds {wrong}; expected 1 to {SRC}"):
        encoder(source, torch.where(lengths == 7, wrong, lengths))


def test_a_stack_is_one_layer_high_and_reads_forwards_if_nothing_else_is_said():
    encoder = StackedLSTM(VOCAB, EMB, HID)
    assert (encoder.lstm.num_layers, encoder.reverse) == (1, False)
