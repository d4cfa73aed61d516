"""The Transformer (chapter 6): what chapter 1 calls attention, several times side by side, and nothing recurrent.

Every position attends to every other in one step, so order has to be in the vectors: positions are added to the words'.
Masks keep padding out, and in the decoder what is not yet written. Sections and equations are those of Vaswani et al.
2017, "Attention Is All You Need".

The decoder's one method `TransformerDecoder.decode` takes any number of words: all of a sentence in training, one in a
step of a search. The state keeps the keys and values of earlier words, so that they are computed once.
"""

from collections.abc import Iterable
from math import sqrt
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn.functional import linear

from attnlib.alignment import Memory, sequence_mask
from attnlib.checks import check_share, check_whole
from attnlib.data import Tokenizer
from attnlib.decoders import Decoder, DecoderState
from attnlib.encoders import EncoderOutput
from attnlib.layers import Embedding, seeded, weight
from attnlib.mechanism import AttentionOutput, attend
from attnlib.seq2seq import EncoderDecoder

KeysValues = tuple[Tensor, Tensor]
"""Keys and values of words, ``"batch heads src d"`` each."""


def sinusoidal_positions(steps: Int[Tensor, "*batch tgt"], d_model: int) -> Float[Tensor, "*batch tgt emb"]:
    r"""Compute a vector for each position, :math:`[\sin \omega_0 t, \cos \omega_0 t, \sin \omega_1 t, \ldots]`.

    :math:`\omega_k = 10000^{-2k / d}` radians per position. The vector of position t + m is that of t, with pair
    k rotated by the angle :math:`\omega_k m`, whatever t is.

    Notes
    -----
    Vaswani et al. 2017, section 3.5.
    """
    dtype = torch.promote_types(torch.get_default_dtype(), torch.float32)  # bfloat16 tells few positions apart
    # From one radian per position down toward 1/10,000: the first features tell neighbors apart, the last far words.
    omega = 10_000.0 ** (-torch.arange(0, d_model, 2, dtype=dtype, device=steps.device) / d_model)
    angles = steps[..., None] * omega
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(-2)


class PositionalEmbedding(Embedding):
    """Embedding scaled by the square root of its features, plus the vector of the position.

    Notes
    -----
    Vaswani et al. 2017, sections 3.4 and 3.5. The number of features is even. Dropout applies to
    the embedding; in section 5.4 of the paper it applies to the sum of embedding and position.
    """

    def __init__(self, vocab_size: int, d_model: int, dropout: float = 0.0):
        if d_model % 2:
            raise ValueError(f"d_model is {d_model}; expected an even number, a sine and a cosine of each frequency")
        super().__init__(vocab_size, d_model, dropout)
        nn.init.normal_(self.weight, std=1 / sqrt(d_model))

    def forward(
        self, ids: Int[Tensor, "batch tgt"], offset: int | Int[Tensor, "batch 1"] = 0
    ) -> Float[Tensor, "batch tgt emb"]:
        """Return the vectors of words at their positions.

        The first word's position is `offset`, for all sentences or each.
        """
        steps = offset + torch.arange(ids.shape[1], device=ids.device)
        places = sinusoidal_positions(steps, self.embedding_dim).to(self.weight.dtype)
        # Weights begin with a standard deviation of 1 / sqrt(d), since the output layer uses them too; here they are
        # scaled up to the size of the sines and cosines that are added.
        return super().forward(ids) * sqrt(self.embedding_dim) + places


class MultiHeadAttention(nn.Module):
    r"""Several attentions side by side, each with queries, keys and values of its own.

    :math:`W_O\,[\mathrm{head}_1; \ldots; \mathrm{head}_n]`, head k being `attnlib.mechanism.attention` of the k-th
    part of :math:`W_Q x`, :math:`W_K h` and :math:`W_V h`.

    All four matrices are ``(d_model, d_model)``; a head's queries, keys and values have ``d_model / num_heads``
    features.

    Vaswani et al. 2017, section 3.2.2. There are no biases in the paper, and none here.
    """

    def __init__(self, d_model: int, num_heads: int):
        if d_model % num_heads:
            raise ValueError(f"num_heads is {num_heads}; expected a divisor of d_model, {d_model}")
        super().__init__()
        self.num_heads = num_heads
        self.W_Q, self.W_K, self.W_V, self.W_O = (weight(d_model, d_model) for _ in range(4))

    def project_keys_values(self, x: Float[Tensor, "batch src emb"]) -> KeysValues:
        """Compute the keys and values of all heads: ``2 * batch * src * emb²`` multiply-adds."""
        return self._apart(linear(x, self.W_K)), self._apart(linear(x, self.W_V))

    def forward(
        self, x: Float[Tensor, "batch tgt emb"], remembered: KeysValues, mask: Bool[Tensor, "#batch 1 #tgt src"]
    ) -> AttentionOutput:
        """Compute the attention of all heads: contexts, and each head's weights, shape (batch, heads, tgt, src).

        The queries are projected from `x`. `mask` is True at positions that may receive weight.
        """
        queries, (keys, values) = self._apart(linear(x, self.W_Q)), remembered
        scale = 1 / sqrt(queries.shape[-1])
        context, weights, *_ = attend((queries * scale) @ keys.mT, values, mask)
        return AttentionOutput(linear(context.transpose(1, 2).flatten(2), self.W_O), weights)

    def _apart(self, x: Float[Tensor, "batch src emb"]) -> Float[Tensor, "batch heads src d"]:
        return x.unflatten(2, (self.num_heads, -1)).transpose(1, 2)


class AddNorm(nn.Module):
    """Residual connection followed by layer normalization, LayerNorm(x + new) (Vaswani et al. 2017, section 3.1).

    In training, `dropout` is the share of `new` that is set to 0 (section 5.4).
    """

    def __init__(self, d_model: int, dropout: float):
        super().__init__()
        self.norm, self.dropout = nn.LayerNorm(d_model), nn.Dropout(dropout)

    def forward(
        self, x: Float[Tensor, "batch tgt emb"], new: Float[Tensor, "batch tgt emb"]
    ) -> Float[Tensor, "batch tgt emb"]:
        """Compute the layer norm of a sublayer's input plus its output, `new`."""
        return self.norm(x + self.dropout(new))


def feed_forward(d_model: int, dim_feedforward: int) -> nn.Sequential:
    """Build the position-wise network W_2 max(0, W_1 x + b_1) + b_2 (Vaswani et al. 2017, eq. 2)."""
    return nn.Sequential(nn.Linear(d_model, dim_feedforward), nn.ReLU(), nn.Linear(dim_feedforward, d_model))


class EncoderLayer(nn.Module):
    """Encoder layer: self-attention, then a position-wise network (Vaswani et al. 2017, section 3.1).

    Parameters
    ----------
    d_model : int
        Features of a vector.
    dim_feedforward : int
        Inner units of the position-wise network.
    num_heads : int
        Number of heads, a divisor of `d_model`.
    dropout : float, default 0.0
        Share of each sublayer's output that is set to 0 in training.
    """

    def __init__(self, d_model: int, dim_feedforward: int, num_heads: int, dropout: float = 0.0):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, num_heads)
        self.feed_forward = feed_forward(d_model, dim_feedforward)
        self.self_attention_norm, self.feed_forward_norm = AddNorm(d_model, dropout), AddNorm(d_model, dropout)

    def forward(
        self, x: Float[Tensor, "batch src emb"], mask: Bool[Tensor, "batch 1 1 src"]
    ) -> Float[Tensor, "batch src emb"]:
        """Compute the output of the layer for one vector per word; `mask` is True at words."""
        own = self.self_attention.project_keys_values(x)
        x = self.self_attention_norm(x, self.self_attention(x, own, mask).context)
        return self.feed_forward_norm(x, self.feed_forward(x))


class DecoderLayer(nn.Module):
    """Decoder layer: self-attention, cross-attention, then a position-wise network (Vaswani et al. 2017, section 3.1).

    Its parameters are those of `EncoderLayer`.
    """

    def __init__(self, d_model: int, dim_feedforward: int, num_heads: int, dropout: float = 0.0):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, num_heads)
        self.cross_attention = MultiHeadAttention(d_model, num_heads)
        self.feed_forward = feed_forward(d_model, dim_feedforward)
        self.self_attention_norm, self.cross_attention_norm, self.feed_forward_norm = (
            AddNorm(d_model, dropout) for _ in range(3)
        )

    def forward(
        self,
        x: Float[Tensor, "batch tgt emb"],
        past: KeysValues,
        source: KeysValues,
        written: Bool[Tensor, "1 1 tgt all"],
        real: Bool[Tensor, "batch 1 1 src"],
    ) -> tuple[Float[Tensor, "batch tgt emb"], AttentionOutput, KeysValues]:
        """Compute one vector per new word, the attention to the source, and the keys and values of all target words.

        `past` and `source` are keys and values of the words before, and of the source. `written` is True where a new
        word may attend to a target word, `real` at the words of the source.
        """
        new = self.self_attention.project_keys_values(x)
        keys, values = (torch.cat(both, 2) for both in zip(past, new, strict=True))
        x = self.self_attention_norm(x, self.self_attention(x, (keys, values), written).context)
        attended = self.cross_attention(x, source, real)
        x = self.cross_attention_norm(x, attended.context)
        return self.feed_forward_norm(x, self.feed_forward(x)), attended, (keys, values)


class TransformerEncoder(nn.Module):
    """Stack of encoder layers with self-attention.

    Parameters
    ----------
    embedding : PositionalEmbedding
        The source embedding.
    layers : iterable of EncoderLayer
        The layers, from the lowest. They have as many features as the embedding.
    latest_start : int, optional
        In training, each pair of sentences begins at a position drawn from 0 to this number. If None, all begin at 0,
        as translations in evaluation mode do.

    Notes
    -----
    Random positions are those of Kiyono et al. 2021, with the same one for source and target; the rest is that of
    Vaswani et al. 2017, section 3.1. A layer costs ``batch * src * (4 * emb² + 2 * emb * hid + 2 * src * emb)``
    multiply-adds, all positions at once, where `hid` is ``dim_feedforward``. The summary, which the Transformer does
    not use, is the annotation of EOS.
    """

    def __init__(self, embedding: PositionalEmbedding, layers: Iterable[EncoderLayer], latest_start: int | None = None):
        super().__init__()
        self.embedding, self.layers, self.latest_start = embedding, nn.ModuleList(layers), latest_start

    def forward(self, source: Int[Tensor, "batch src"], lengths: Int[Tensor, "batch"]) -> EncoderOutput:
        """Compute the annotation of each word; annotations of padding are 0.

        The initial state holds the drawn positions, if there are any.
        """
        real = sequence_mask(lengths, source.shape[1])
        first: tuple[Tensor, ...] = ()
        if self.training and self.latest_start is not None:
            first = (torch.randint(self.latest_start + 1, (len(source), 1), device=source.device),)
        x = self.embedding(source, *first)
        for layer in self.layers:
            x = layer(x, real[:, None, None])
        annotations = torch.where(real[:, :, None], x, 0.0)
        summary = annotations[torch.arange(len(x), device=x.device), lengths - 1]
        return EncoderOutput(annotations, lengths, summary, first)


class TransformerDecoder(Decoder):
    """Stack of decoder layers with masked self-attention and cross-attention.

    The memory holds every layer's keys and values of the source, shape (batch, layers, heads, src, d); the cache holds
    those of the words so far. The attention of a step is the last layer's attention to the source, averaged over its
    heads.

    Parameters
    ----------
    embedding : PositionalEmbedding
        The target embedding. Its weights are the output's too.
    layers : iterable of DecoderLayer
        The layers, from the lowest. They have as many features as the embedding.

    Notes
    -----
    Vaswani et al. 2017, sections 3.1, 3.2.3, and 3.4. The cost of a step grows with the number of words before it: see
    `attnbook.costs.count_macs`.
    """

    layers: Any  # a torch.nn.ModuleList of DecoderLayer

    def __init__(self, embedding: PositionalEmbedding, layers: Iterable[DecoderLayer]):
        super().__init__()
        self.embedding, self.layers = embedding, nn.ModuleList(layers)

    def start(self, encoded: EncoderOutput) -> DecoderState:
        """Return the state before the first word, with the keys and values of the source."""
        remembered = (layer.cross_attention.project_keys_values(encoded.annotations) for layer in self.layers)
        keys, values = (torch.stack(x, 1) for x in zip(*remembered, strict=True))
        real = sequence_mask(encoded.lengths, keys.shape[3])
        nothing = keys[:, :, :, :0]
        return DecoderState(Memory(keys, values, encoded.lengths, real[:, None]), (nothing, nothing), 0)

    def decode(
        self, ids: Int[Tensor, "batch tgt"], state: DecoderState, offset: int | Int[Tensor, "batch 1"] = 0
    ) -> tuple[Float[Tensor, "batch tgt emb"], list[AttentionOutput], DecoderState]:
        """Compute the features of the words that come next, one or several per sentence.

        `state` is that after the words before, and is not changed. The sentences began at the position `offset`, all or
        each.

        Returns
        -------
        tuple
            The features that the output layer reads, each layer's attention to the source, and the new state.
        """
        memory, past, first = state
        x, outputs, kept = self.embedding(ids, offset + first), [], []
        steps = torch.arange(first + ids.shape[1], device=ids.device)
        # Row t is True up to column t: no word attends to words that come after it.
        written = steps <= steps[first:, None]
        for n, layer in enumerate(self.layers):
            source = memory.keys[:, n], memory.values[:, n]
            before = past[0][:, n], past[1][:, n]
            x, attended, remembered = layer(x, before, source, written[None, None], memory.mask[:, None])
            outputs.append(attended)
            kept.append(remembered)
        past = tuple(torch.stack(x, 1) for x in zip(*kept, strict=True))
        return x, outputs, DecoderState(memory, past, len(steps))

    def step(
        self, ids: Int[Tensor, "batch"], state: DecoderState
    ) -> tuple[Float[Tensor, "batch vocab"], AttentionOutput, DecoderState]:
        """Compute the scores of the next word, with the last layer's attention, averaged over its heads."""
        features, outputs, state = self.decode(ids[:, None], state)
        return linear(features[:, 0], self.embedding.weight), _mean_of_heads(outputs[-1]), state

    def features(self, ids, encoded):
        """Compute the output of the last layer at all positions."""
        features, outputs, _ = self.decode(ids, self.start(encoded), *encoded.initial_state)
        return features, self.embedding.weight, _mean_of_heads(outputs[-1])


def transformer(
    source_vocabulary: Tokenizer,
    target_vocabulary: Tokenizer,
    *,
    d_model: int = 64,
    dim_feedforward: int = 256,
    num_heads: int = 4,
    num_layers: int = 2,
    dropout: float = 0.0,
    embedding_dropout: float = 0.0,
    latest_start: int | None = None,
    seed: int = 0,
) -> EncoderDecoder:
    """Build an untrained model of Vaswani et al. 2017.

    Parameters
    ----------
    source_vocabulary, target_vocabulary : Tokenizer
        The mappings between words and ids, stored with the model. The paper's two sides share one vocabulary and its
        embedding.
    d_model : int, default 64
        Features of a vector, an even number; 512 in the paper's base model.
    dim_feedforward : int, default 256
        Inner units of the position-wise networks; 2048 in the base model.
    num_heads : int, default 4
        Number of heads; 8 in the base model.
    num_layers : int, default 2
        Number of layers of encoder and decoder; 6 in the base model.
    dropout : float, default 0.0
        Share of each sublayer's output that is set to 0 in training; 0.1 in the base model.
    embedding_dropout, seed
        As for `attnlib.presets.rnn_search`.
    latest_start : int, optional
        The latest position at which sentences begin in training: see `TransformerEncoder`. If None, all begin at 0.
    """
    sizes = {"d_model": d_model, "dim_feedforward": dim_feedforward, "num_heads": num_heads}
    sizes = dict(zip(sizes, check_whole(**sizes), strict=True))
    num_layers, _ = check_whole(num_layers=num_layers, latest_start=1 if latest_start is None else latest_start)
    check_share(dropout=dropout, embedding_dropout=embedding_dropout)
    with seeded(seed):
        source = PositionalEmbedding(len(source_vocabulary), d_model, embedding_dropout)
        reading = (EncoderLayer(**sizes, dropout=dropout) for _ in range(num_layers))
        encoder = TransformerEncoder(source, reading, latest_start)
        target = PositionalEmbedding(len(target_vocabulary), d_model, embedding_dropout)
        writing = (DecoderLayer(**sizes, dropout=dropout) for _ in range(num_layers))
        decoder = TransformerDecoder(target, writing)
    return EncoderDecoder(encoder, decoder, source_vocabulary, target_vocabulary)


def _mean_of_heads(attended: AttentionOutput) -> AttentionOutput:
    return attended._replace(weights=attended.weights.mean(1))
