"""Transformers with one part exchanged (laboratory 6): the place of the norms, or what tells the order of words.

The methods have the arguments, and the shapes, of those in `attnlib.transformer` that they replace.
"""

from collections.abc import Mapping
from math import sqrt
from typing import Any

import torch
from torch import nn

from attnlib.alignment import sequence_mask
from attnlib.data import Tokenizer
from attnlib.layers import Embedding
from attnlib.mechanism import AttentionOutput, attend
from attnlib.seq2seq import EncoderDecoder
from attnlib.transformer import (
    DecoderLayer,
    EncoderLayer,
    MultiHeadAttention,
    PositionalEmbedding,
    TransformerDecoder,
    TransformerEncoder,
    transformer,
)


class _NormFirstEncoderLayer(EncoderLayer):
    """Encoder layer that normalizes what each sublayer reads (Xiong et al. 2020, table 1)."""

    def forward(self, x, mask):
        """Compute the output of the layer."""
        normed = self.self_attention_norm.norm(x)
        own = self.self_attention.project_keys_values(normed)
        x = x + self.self_attention_norm.dropout(self.self_attention(normed, own, mask).context)
        return x + self.feed_forward_norm.dropout(self.feed_forward(self.feed_forward_norm.norm(x)))


class _NormFirstDecoderLayer(DecoderLayer):
    """Decoder layer that normalizes what each sublayer reads; the encoder has normalized the source."""

    def forward(self, x, past, source, written, real):
        """Compute the output of the layer, the attention to the source, and the keys and values of all words."""
        normed = self.self_attention_norm.norm(x)
        new = self.self_attention.project_keys_values(normed)
        keys, values = (torch.cat(both, 2) for both in zip(past, new, strict=True))
        x = x + self.self_attention_norm.dropout(self.self_attention(normed, (keys, values), written).context)
        attended = self.cross_attention(self.cross_attention_norm.norm(x), source, real)
        x = x + self.cross_attention_norm.dropout(attended.context)
        x = x + self.feed_forward_norm.dropout(self.feed_forward(self.feed_forward_norm.norm(x)))
        return x, attended, (keys, values)


class _NormFirstEncoder(TransformerEncoder):
    """Encoder with a norm after its last layer."""

    def forward(self, source, lengths):
        """Compute the normalized annotations; those of padding are 0."""
        encoded = super().forward(source, lengths)
        real = sequence_mask(lengths, source.shape[1])[:, :, None]
        return encoded._replace(annotations=torch.where(real, self.norm(encoded.annotations), 0.0))


class _NormFirstDecoder(TransformerDecoder):
    """Decoder with a norm before its output."""

    def decode(self, ids, state, offset=0):
        """Compute the normalized features, each layer's attention to the source, and the state."""
        x, outputs, after = super().decode(ids, state, offset)
        return self.norm(x), outputs, after


class _DistanceAttention(MultiHeadAttention):
    r"""Attention with the scores :math:`q \cdot k / \sqrt{d} - m |i - j|`.

    The slopes :math:`m` of the n heads are :math:`2^{-8/n}, 2^{-16/n}, \ldots, 2^{-8}` (Press et al. 2022, section 3).
    """

    def forward(self, x, remembered, mask):
        """Compute the attention of the last words of a sentence to all its words."""
        queries, (keys, values) = self._apart(x @ self.W_Q.mT), remembered
        place = torch.arange(keys.shape[2], device=x.device)
        distance = (place - place[-queries.shape[2] :, None]).abs()
        slope = 2 ** (-8 * torch.arange(1, self.num_heads + 1, device=x.device, dtype=x.dtype) / self.num_heads)
        scores = queries @ keys.mT / sqrt(queries.shape[-1]) - slope[:, None, None] * distance
        context, weights, *_ = attend(scores, values, mask)
        return AttentionOutput(context.transpose(1, 2).flatten(2) @ self.W_O.mT, weights)


class _WordEmbedding(PositionalEmbedding):
    """Scaled embedding without positions."""

    def forward(self, ids, offset=0):
        """Look up the vectors of words."""
        return Embedding.forward(self, ids) * sqrt(self.embedding_dim)


def transformer_norm_first(
    source_vocabulary: Tokenizer, target_vocabulary: Tokenizer, *, d_model: int = 64, **options: Any
) -> EncoderDecoder:
    """Build a Transformer whose norms come first, with the arguments and initial weights of `transformer`."""
    model = transformer(source_vocabulary, target_vocabulary, d_model=d_model, **options)
    model.encoder.norm, model.decoder.norm = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
    classes = {TransformerEncoder: _NormFirstEncoder, TransformerDecoder: _NormFirstDecoder}
    return _exchange(model, {**classes, EncoderLayer: _NormFirstEncoderLayer, DecoderLayer: _NormFirstDecoderLayer})


def transformer_alibi(
    source_vocabulary: Tokenizer, target_vocabulary: Tokenizer, *, d_model: int = 64, **options: Any
) -> EncoderDecoder:
    """Build a Transformer with a penalty on distances in place of positions, with the arguments of `transformer`."""
    model = transformer(source_vocabulary, target_vocabulary, d_model=d_model, **options)
    for layer in (*model.encoder.layers, *model.decoder.layers):
        layer.self_attention.__class__ = _DistanceAttention
    return _exchange(model, {PositionalEmbedding: _WordEmbedding})


def _exchange(model: EncoderDecoder, classes: Mapping[type[nn.Module], type[nn.Module]]) -> EncoderDecoder:
    """Let modules be of other classes, which have the same weights."""
    for module in model.modules():
        module.__class__ = classes.get(type(module), type(module))
    return model
