"""The Transformer: against torch's own layers with the same weights, and what its steps, masks and positions promise.

What every model promises, `test_seq2seq` checks of this one too.
"""

from math import cos, sin

import pytest
import torch
from torch import nn

from attnlib import EOS, EncoderOutput, Vocabulary
from attnlib.transformer import (
    AddNorm,
    DecoderLayer,
    EncoderLayer,
    PositionalEmbedding,
    TransformerDecoder,
    TransformerEncoder,
    sinusoidal_positions,
    transformer,
)

EMB, HEADS, HID, LAYERS, VOCAB, SRC, TGT = 14, 7, 5, 3, 19, 11, 5
LENGTHS = torch.tensor([11, 3, 7])
REAL = torch.arange(SRC) < LENGTHS[:, None]
NAMES = Vocabulary.from_sentences([["a", "b", "c"]])


def draw(*shape, seed):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def close(x, y):
    torch.testing.assert_close(x, y, rtol=1e-10, atol=1e-10)


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(0)


@pytest.fixture
def decoder():
    layers = [DecoderLayer(EMB, HID, HEADS) for _ in range(LAYERS)]
    return TransformerDecoder(PositionalEmbedding(VOCAB, EMB), layers).double()


@pytest.fixture
def encoded():
    h = torch.where(REAL[:, :, None], draw(len(LENGTHS), SRC, EMB, seed=1), 0.0)
    return EncoderOutput(h, LENGTHS, h[:, 0], ())


WORDS = torch.randint(VOCAB, (len(LENGTHS), TGT), generator=torch.Generator().manual_seed(3))


# --- Torch's own layers, with the same weights ---


def copy_heads(ours, theirs):
    """Torch stacks the three matrices; its biases begin as zeros, and we have none."""
    with torch.no_grad():
        theirs.in_proj_weight.copy_(torch.cat([ours.W_Q, ours.W_K, ours.W_V]))
        theirs.out_proj.weight.copy_(ours.W_O)


def copy_layer(ours, theirs):
    pairs = {"linear1": ours.feed_forward[0], "linear2": ours.feed_forward[2]}
    for n, add in enumerate((part for part in ours.children() if isinstance(part, AddNorm)), 1):
        nn.init.normal_(add.norm.weight)
        nn.init.normal_(add.norm.bias)
        pairs[f"norm{n}"] = add.norm
    for name, part in pairs.items():
        getattr(theirs, name).load_state_dict(part.state_dict())
    copy_heads(ours.self_attention, theirs.self_attn)
    if hasattr(ours, "cross_attention"):
        copy_heads(ours.cross_attention, theirs.multihead_attn)


def test_the_encoder_is_torchs():
    layers = [EncoderLayer(EMB, HID, HEADS) for _ in range(LAYERS)]
    encoder = TransformerEncoder(PositionalEmbedding(VOCAB, EMB), layers).double()
    source = torch.randint(VOCAB, REAL.shape)
    x = encoder.embedding(source)
    for ours in layers:
        theirs = nn.TransformerEncoderLayer(EMB, HEADS, HID, 0.0, batch_first=True).double()
        copy_layer(ours, theirs)
        x = theirs(x, src_key_padding_mask=~REAL)
    close(encoder(source, LENGTHS).annotations[REAL], x[REAL])


def test_the_decoder_is_torchs(decoder, encoded):
    x, later = decoder.embedding(WORDS), torch.ones(TGT, TGT).triu(1).bool()
    for ours in decoder.layers:
        theirs = nn.TransformerDecoderLayer(EMB, HEADS, HID, 0.0, batch_first=True).double()
        copy_layer(ours, theirs)
        x = theirs(x, encoded.annotations, tgt_mask=later, memory_key_padding_mask=~REAL)
    close(decoder(WORDS, encoded)[0], x @ decoder.embedding.weight.T)


# --- Positions ---


def test_position_vectors_are_sines_and_cosines_by_the_formula():
    result = sinusoidal_positions(torch.tensor([0, 3, 17]), 6)
    for row, t in zip(result, (0, 3, 17), strict=True):
        angles = [t / 10_000 ** (2 * k / 6) for k in range(3)]
        assert row.tolist() == pytest.approx([f(angle) for angle in angles for f in (sin, cos)], abs=1e-6)


@pytest.mark.parametrize("first", [4, torch.tensor([[0], [3], [11]])], ids=["of all", "of each"])
def test_a_words_vector_is_scaled_and_its_position_added(first):
    """The sentences begin at one place, or each at its own."""
    embedding = PositionalEmbedding(VOCAB, 6).double()
    result = embedding(WORDS, first)
    places = sinusoidal_positions(first + torch.arange(TGT), 6).double().expand(*WORDS.shape, 6)
    for n in range(len(LENGTHS)):
        for t in range(TGT):
            close(result[n, t], embedding.weight[WORDS[n, t]] * 6**0.5 + places[n, t])


def test_in_training_a_pair_of_sentences_begins_at_a_random_place_and_elsewhere_at_0():
    latest, at, sizes = 5, [], {"d_model": EMB, "dim_feedforward": HID, "num_heads": HEADS}
    model = transformer(NAMES, NAMES, **sizes, latest_start=latest)
    assert all(map(torch.equal, model.parameters(), transformer(NAMES, NAMES, **sizes).parameters()))
    for side in (model.encoder, model.decoder):
        side.embedding.register_forward_pre_hook(lambda _, given: at.append(sum(given[1:])))
    source, lengths = torch.full((200, 3), EOS), torch.full((200,), 3)
    model.train()(source, lengths, source)
    assert torch.equal(*at), "source and target begin at the same place"
    assert {*at[0].flatten().tolist()} == {*range(latest + 1)}, "every place is drawn"
    at.clear()
    model.eval()(source, lengths, source)
    assert at == [0, 0]


# --- The decoder ---


def test_words_one_by_one_some_at_a_time_or_all_at_once_are_the_same(decoder, encoded):
    """And a state stays as it was, so that several hypotheses may go on from it."""
    read, looks, _ = decoder.decode(WORDS, decoder.start(encoded))
    state, parts = decoder.start(encoded), []
    for first, end in ((0, 1), (1, 4), (4, 5)):
        before = [x.clone() for x in state.cache]
        part, heads, after = decoder.decode(WORDS[:, first:end], state)
        assert after.position == end
        assert all(torch.equal(x, y) for x, y in zip(state.cache, before, strict=True))
        for look, whole in zip(heads, looks, strict=True):
            close(look.weights, whole.weights[:, :, first:end])
        state = after
        parts.append(part)
    close(torch.cat(parts, 1), read)


def test_what_a_step_looked_at_is_the_mean_of_the_last_layers_heads(decoder, encoded):
    _, looks, _ = decoder.decode(WORDS, decoder.start(encoded))
    _, attended = decoder(WORDS, encoded)
    assert len(looks) == LAYERS
    assert looks[-1].weights.shape == (len(LENGTHS), HEADS, TGT, SRC)
    close(attended.weights, sum(looks[-1].weights[:, head] for head in range(HEADS)) / HEADS)


# --- What is wrong ---


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"d_model": 10}, "num_heads is 4; expected a divisor of d_model, 10"),
        ({"d_model": 7, "num_heads": 1}, "d_model is 7; expected an even number"),
        ({"num_layers": 0}, "num_layers is 0; expected at least 1"),
        ({"latest_start": 0}, "latest_start is 0"),
        ({"dropout": 1.0}, "dropout is 1.0; expected a share"),
    ],
)
def test_what_does_not_fit_is_refused(options, says, refused):
    refused(lambda: transformer(NAMES, NAMES, **options), f"^{says}")
