"""Encoders, held against torch's own layers, one sentence at a time, without padding."""

import pytest
import torch
from torch import nn

from attnlib.encoders import BidirectionalGRU, BidirectionalLSTM, StackedLSTM
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


def both_directions(make, encoder, num_layers):
    """Give torch's own bidirectional layers the weights of an encoder."""
    theirs = make(EMB, HID, num_layers, bidirectional=True).double()
    for rnns, suffix in ((encoder.forward_rnn, ""), (encoder.backward_rnn, "_reverse")):
        for n, rnn in enumerate([rnns] if num_layers == 1 else rnns):
            for name, p in rnn.named_parameters():
                getattr(theirs, name.replace("_l0", f"_l{n}{suffix}")).data.copy_(p)
    return theirs


def alone(encoder, x):
    """Read one sentence with torch's own layers: annotations, the summary, and what the decoder begins from."""
    match encoder:
        case BidirectionalGRU():
            h, _ = both_directions(nn.GRU, encoder, 1)(x)
            return h, torch.cat([h[-1, :HID], h[0, HID:]]), [torch.tanh(encoder.W_s @ h[0, HID:])]
        case BidirectionalLSTM():
            h, ends = both_directions(nn.LSTM, encoder, LAYERS)(x)
            return h, torch.cat([h[-1, :HID], h[0, HID:]]), [end.view(LAYERS, 2 * HID) for end in ends]
        case StackedLSTM():
            h, ends = encoder.lstm(x.flip(0) if encoder.reverse else x)
            return h.flip(0) if encoder.reverse else h, h[-1], ends


@pytest.mark.parametrize("name", ENCODERS)
def test_an_encoder_is_torchs_on_each_sentence_alone(name, sentences):
    encoder, (source, lengths) = made(name), sentences
    encoded = encoder(source, lengths)
    assert torch.equal(encoded.lengths, lengths)
    assert not encoded.annotations[source == PAD].any()
    for b, S in enumerate(LENGTHS):
        annotations, summary, state = alone(encoder, encoder.embedding(source[b, :S]))
        close(encoded.annotations[b, :S], annotations)
        close(encoded.summary[b], summary)
        for result, expected in zip(encoded.initial_state, state, strict=True):
            close(result[b], expected)


@pytest.mark.parametrize("make", [StackedLSTM, BidirectionalLSTM])
@pytest.mark.parametrize("layers", [1, 2])
def test_dropout_is_for_training_only_and_from_one_layer_to_the_next(make, layers, sentences):
    dropping, plain = (make(Embedding(VOCAB, EMB), 6, layers, dropout=share) for share in (0.5, 0.0))
    dropping.load_state_dict(plain.state_dict())
    one, other = (dropping(*sentences).annotations for _ in range(2))
    assert torch.equal(one, other) == (layers == 1)
    assert torch.equal(dropping.eval()(*sentences).annotations, plain(*sentences).annotations)
