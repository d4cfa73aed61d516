"""Whole models: what enters a sentence's scores, how they begin, and how large they are."""

from functools import partial

import pytest
import torch
from torch import nn
from torch.nn.functional import cross_entropy
from torch.nn.utils import parameters_to_vector, vector_to_parameters

from attnlib import PAD, EncoderDecoder, Vocabulary, luong, rnn_encdec, rnn_search
from attnlib.presets import BAHDANAU_SIZES, LUONG_SIZES
from attnlib.scores import Concat, Dot, General, Location
from attnlib.transformer import transformer
from attntext.loss import fused_loss


def vocabulary(size):
    """Make a vocabulary of that many words, the special ones included."""
    return Vocabulary(tuple(f"w{n}" for n in range(4, size)))


SOURCE, TARGET = vocabulary(23), vocabulary(29)
SMALL = {"embedding_dim": 5, "hidden_size": 8}
LENGTHS = (7, 3, 11, 1)
small = partial(luong, SOURCE, TARGET, **SMALL)
MODELS = {
    "encdec": partial(rnn_encdec, SOURCE, TARGET, **SMALL),
    "search": partial(rnn_search, SOURCE, TARGET, **SMALL),
    "base": partial(small, attention=False, num_layers=2),
    "dot": partial(small, score="dot", input_feeding=False, encoder="forward"),
    "general": small,
    "concat": partial(small, score="concat", num_layers=2, encoder="bidirectional"),
    "location": partial(small, score="location"),
    "local-m": partial(small, window="local-m", half_width=1),
    "local-p": partial(small, window="local-p", half_width=2, input_feeding=False),
    "transformer": partial(transformer, SOURCE, TARGET, d_model=6, dim_feedforward=5, num_heads=3),
}


@pytest.fixture(params=MODELS)
def model(request):
    return MODELS[request.param](seed=1).double()


@pytest.fixture
def sentences():
    rng = torch.Generator().manual_seed(0)
    source = torch.randint(4, len(SOURCE), (len(LENGTHS), 13), generator=rng)
    target = torch.randint(4, len(TARGET), (len(LENGTHS), 5), generator=rng)
    return source, torch.tensor(LENGTHS), target


def close(x, y):
    torch.testing.assert_close(x, y, rtol=1e-10, atol=1e-10)


def test_a_sentence_gets_alone_what_it_gets_in_a_batch(model, sentences):
    source, lengths, target = sentences
    together = model(source, lengths, target)
    assert not model.encoder(source, lengths).annotations[torch.arange(13) >= lengths[:, None]].any()
    for b, S in enumerate(LENGTHS):
        alone = model(source[b : b + 1, :S], lengths[b : b + 1], target[b : b + 1])
        close(alone.logits[0], together.logits[b])
        if alone.attention is not None:
            close(alone.attention.to_dense(S)[0], together.attention.to_dense(13)[b, :, :S])


class Bare(nn.Module):
    """A decoder that has the three methods and nothing else, as a reader's own has."""

    def __init__(self, decoder):
        super().__init__()
        self.start, self.step, self.forward = decoder.start, decoder.step, decoder.forward


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_the_loss_is_torchs_and_a_decoder_needs_three_methods(model, sentences, smoothing):
    source, lengths, target = sentences
    target[1, 3:], target[2, 1:] = PAD, PAD
    logits = model(*sentences).logits
    expected = cross_entropy(logits.mT, target, ignore_index=PAD, label_smoothing=smoothing)
    close(model.loss(*sentences, smoothing), expected)
    close(fused_loss(model, *sentences, smoothing), expected)
    bare = EncoderDecoder(model.encoder, Bare(model.decoder))
    close(bare.loss(*sentences, smoothing), expected)
    one, other = (each.step(target[:, 0], each.start(source, lengths)) for each in (bare, model))
    close(one[0], other[0])


def test_every_tensor_is_made_where_the_sentences_are(model, sentences):
    expected = model(*sentences).logits
    with torch.device("meta"):  # there lies what is made without saying where
        again = model(*sentences)
        model.step(sentences[2][:, 0], model.start(*sentences[:2]))
    close(again.logits, expected)
    assert (again.attention is not None) == model.decoder.has_attention


def test_the_gradient_along_a_direction_is_that_of_finite_differences(model, sentences):
    begin = parameters_to_vector(model.parameters()).detach()
    direction = torch.randn(begin.shape, generator=torch.Generator().manual_seed(2), dtype=begin.dtype)

    def loss(step):
        vector_to_parameters(begin + step * direction, model.parameters())
        return cross_entropy(model(*sentences).logits.flatten(0, 1), sentences[2].flatten())

    slopes = torch.autograd.grad(loss(0), [*model.parameters()])
    assert all(slope.any() for slope in slopes)
    expected = torch.cat([slope.flatten() for slope in slopes]) @ direction
    torch.testing.assert_close((loss(1e-6) - loss(-1e-6)) / 2e-6, expected, rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize("name", MODELS)
def test_the_seed_alone_decides_where_the_weights_begin(name):
    torch.manual_seed(0)
    expected = torch.rand(3)
    torch.manual_seed(0)
    one, same, other = MODELS[name](seed=1), MODELS[name](seed=1), MODELS[name](seed=2)
    assert torch.equal(torch.rand(3), expected)
    for p, q, r in zip(one.parameters(), same.parameters(), other.parameters(), strict=True):
        assert torch.equal(p, q)
        assert not torch.equal(p, r) or p.unique().numel() == 1, "a norm begins with ones and zeros"


def test_names_choose_the_pieces():
    scores = [small(score=name).decoder.attention.score for name in ("dot", "general", "concat", "location")]
    assert [*map(type, scores)] == [Dot, General, Concat, Location]
    windows = [small(window=name, half_width=3).decoder.attention.window for name in ("global", "local-m", "local-p")]
    assert [*map(str, windows)] == ["GlobalWindow()", "LocalMonotonic(half_width=3)", "LocalPredictive(half_width=3)"]


def test_the_papers_luong_reads_in_reverse_one_layer_high():
    encoder = small().encoder
    assert (encoder.reverse, encoder.lstm.num_layers) == (True, 1)


@pytest.mark.parametrize(
    ("preset", "size", "options", "weights"),
    [
        (rnn_search, 30_000, BAHDANAU_SIZES, 80_401_000),
        (rnn_encdec, 30_000, BAHDANAU_SIZES, 77_400_000),
        (luong, 50_000, LUONG_SIZES, 221_000_000),
        (luong, 50_000, {**LUONG_SIZES, "window": "local-p"}, 222_001_000),
        (luong, 50_000, {**LUONG_SIZES, "score": "dot", "input_feeding": False}, 216_000_000),
    ],
)
def test_the_papers_sizes(preset, size, options, weights):
    words = vocabulary(size)
    with torch.device("meta"):
        model = preset(words, words, **options)
    assert sum(p.numel() for name, p in model.named_parameters() if "bias" not in name) == weights


IDS, S_LENGTHS = torch.tensor([[4, 5, 2], [4, 2, 0]]), torch.tensor([3, 2])
LONG = torch.full((1, 101), 4), torch.tensor([101])


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: small()(IDS, S_LENGTHS, IDS[:, :0]), r"target has shape \(2, 0\); expected at least one"),
        (lambda: small()(IDS, S_LENGTHS, IDS + 27), "target holds 32; expected numbers from 0 to 28"),
        (lambda: small()(IDS, S_LENGTHS - 2, IDS), "lengths holds 0; expected numbers from 1 to 3"),
        (lambda: small().start(IDS + 21, S_LENGTHS), "source holds 26; expected numbers from 0 to 22"),
        (lambda: small(score="location").start(*LONG), "h has 101 source positions; expected at most max_src, 100$"),
        (lambda: small(score="genral"), "score is 'genral'; expected one of dot, general, concat"),
        (lambda: small(window="local"), "window is 'local'; expected one of global, local-m, local-p"),
        (lambda: small(score="location", window="local-p"), r"LocalPredictive\(.*expected GlobalWindow\(\)"),
        (lambda: small(window="local-p", half_width=0), "half_width is 0; expected at least 1"),
        (lambda: small(encoder="bidirectional", hidden_size=7), "^hidden_size is 7; expected an even number"),
        (lambda: rnn_encdec(SOURCE, TARGET, hidden_size=1), "hidden_size is 1; expected at least 2"),
        (lambda: rnn_search(SOURCE, TARGET, dropout=1.0), "dropout is 1.0; expected a share"),
        (lambda: small(embedding_dim=0), "embedding_dim is 0; expected at least 1"),
        (lambda: small(num_layers=0), "layers is 0; expected at least 1"),
        (lambda: small(dropout=None), "dropout is None; expected a finite number"),
        (lambda: small(seed=-1), "seed is -1; expected at least 0"),
    ],
)
def test_what_does_not_fit_is_refused(call, says, refused):
    refused(call, says)
