"""The norm-first Transformer: PyTorch's layer, one word at a time, and the post-norm model's initial weights."""

import pandas as pd
import pytest
import torch
from norm_first import FAILED, NormFirstDecoderLayer, NormFirstEncoderLayer, chosen, norm_first_transformer, trials
from torch import nn

from attnlib.data import BOS, Vocabulary, encode_batch
from attnlib.transformer import transformer

SOURCES = ("the", "cat", "sees", "a", "dog"), ("a", "cat")
TARGETS = ("le", "chat", "voit", "un", "chien"), ("un", "chat", "le", "chien", "un")
ENGLISH, FRENCH = Vocabulary.from_sentences(SOURCES), Vocabulary.from_sentences(TARGETS)
SIZES = {"d_model": 12, "dim_feedforward": 20, "num_heads": 3, "num_layers": 2}


def test_the_layer_is_that_of_pytorch():
    """PyTorch's attention also has biases, which begin as zeros."""
    layer = NormFirstEncoderLayer(12, 20, 3).double()
    theirs = nn.TransformerEncoderLayer(12, 3, 20, dropout=0.0, batch_first=True, norm_first=True).double()
    for weight in layer.parameters():
        nn.init.normal_(weight)
    heads, (first, _, second) = layer.self_attention, layer.feed_forward
    norms = {"norm1": layer.self_attention_norm.norm, "norm2": layer.feed_forward_norm.norm}
    weights = nn.ModuleDict({"linear1": first, "linear2": second, **norms}).state_dict()
    weights["self_attn.in_proj_weight"] = torch.cat([heads.W_Q, heads.W_K, heads.W_V])
    weights["self_attn.out_proj.weight"] = heads.W_O
    theirs.load_state_dict(weights, strict=False)
    x = torch.randn(2, 7, 12, dtype=torch.float64)
    real = torch.arange(7) < torch.tensor([[7], [5]])
    expected = theirs(x, src_key_padding_mask=~real)
    torch.testing.assert_close(layer(x, real[:, None, None])[real], expected[real])


@pytest.fixture
def translator():
    return norm_first_transformer(ENGLISH, FRENCH, **SIZES, seed=3).double()


def test_a_step_computes_what_all_positions_together_do(translator):
    source, lengths = encode_batch(SOURCES, ENGLISH)
    target = torch.tensor([FRENCH.encode(words) for words in TARGETS])
    together = translator(source, lengths, target).logits
    state, words = translator.start(source, lengths), torch.full((2,), BOS)
    for t in range(target.shape[1]):
        logits, _, state = translator.step(words, state)
        assert torch.allclose(logits, together[:, t])
        words = target[:, t]


def test_what_encoder_and_decoder_return_is_normalized_and_their_layers_are_norm_first(translator):
    source, lengths = encode_batch([["the", "cat"]], ENGLISH)
    annotations = translator.encoder(source, lengths).annotations[0]
    written, state = torch.tensor([FRENCH.encode(["un", "chat"])]), translator.start(source, lengths)
    features = translator.decoder.decode(written, state)[0][0]
    for x in (annotations, features):
        assert torch.allclose(x.mean(1), torch.zeros(3, dtype=torch.float64), atol=1e-12)
        assert torch.allclose(x.var(1, correction=0), torch.ones(3, dtype=torch.float64), atol=1e-3)
    assert {type(layer) for layer in translator.encoder.layers} == {NormFirstEncoderLayer}
    assert {type(layer) for layer in translator.decoder.layers} == {NormFirstDecoderLayer}


def test_it_begins_with_the_weights_of_the_post_norm_model():
    ours = norm_first_transformer(ENGLISH, FRENCH, **SIZES, seed=3).state_dict()
    theirs = transformer(ENGLISH, FRENCH, **SIZES, seed=3).state_dict()
    assert all(torch.equal(ours[name], weight) for name, weight in theirs.items())


HALF = {0.0025: 5.0, 0.005: 4.0, 0.01: 3.0, 0.02: 2.0}


def test_half_a_training_chooses_the_rate_and_a_whole_one_tries_the_rate_that_failed():
    """Which rates are tried is tested with the command that records plans."""
    lines = [(rate, 0.5, seed, loss) for rate, loss in HALF.items() for seed in (100, 101)]
    losses = pd.DataFrame([*lines, (FAILED, 1, 102, 1.0)], columns=["learning_rate", "share", "seed", "loss"])
    assert chosen(losses) == 0.02
    wanted = [(rate, 0.5, seed) for rate in (*HALF, 0.04) for seed in (100, 101)]
    assert [(*key.values(),) for key in trials(losses)] == wanted + [(FAILED, 1, seed) for seed in (100, 101, 102)]
