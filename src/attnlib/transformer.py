"""The Transformer: what chapter 1 calls attention, several times side by side, and nothing recurrent.

Every position looks at every other in one step, so order has to be in the vectors: positions are added to the words'.
Masks keep padding out, and in the decoder what is not yet written. Sections and equations are those of Vaswani et al.
2017, "Attention Is All You Need".

The decoder's one method `TransformerDecoder.decode` takes any number of words: all of a sentence in training, one in a
step of a search. What earlier words are found by and answer with, their keys and values, goes from step to step in
the state and is never computed again.
"""

from math import sqrt

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn.functional import linear

from attnlib.alignment import Memory, sequence_mask
from attnlib.attention import AttentionOutput, attend
from attnlib.checks import check_share, check_whole
from attnlib.data import Tokenizer
from attnlib.decoders import Decoder, DecoderState
from attnlib.encoders import EncoderOutput
from attnlib.layers import Embedding, seeded, weight
from attnlib.seq2seq import EncoderDecoder

KeysValues = tuple[Tensor, Tensor]
"""What words are found by and what they answer with, ``"batch heads src d"`` each."""


def sinusoidal_positions(steps: Int[Tensor, "*batch tgt"], d_model: int) -> Float[Tensor, "*batch tgt emb"]:
    r"""Make each position a vector, :math:`[\sin \omega_0 t, \cos \omega_0 t, \sin \omega_1 t, \ldots]`.

    Positions count from 0; :math:`\omega_k = 10000^{-2k / d}` radians per position, with an even number `d` of
    features. The vector of position t + k is that of t, each pair turned by an angle that k alone decides.

    Vaswani et al. 2017, section 3.5.
    """
    omega = 10_000.0 ** (-torch.arange(0, d_model, 2, device=steps.device) / d_model)
    angles = steps[..., None] * omega
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(-2)


class PositionalEmbedding(Embedding):
    """Add a word's vector, times the square root of how many features it has, and its position's.

    Vaswani et al. 2017, sections 3.4 and 3.5.
    """

    def __init__(self, vocab_size: int, d_model: int, dropout: float = 0.0):
        if d_model % 2:
            raise ValueError(f"d_model is {d_model}; expected an even number, a sine and a cosine of each frequency")
        super().__init__(vocab_size, d_model, dropout)
        nn.init.normal_(self.weight, std=1 / sqrt(d_model))

    def forward(
        self, ids: Int[Tensor, "batch tgt"], offset: int | Int[Tensor, "batch 1"] = 0
    ) -> Float[Tensor, "batch tgt emb"]:
        """Look words up, the first of them at position `offset`, which each sentence may have for itself."""
        steps = offset + torch.arange(ids.shape[1], device=ids.device)
        places = sinusoidal_positions(steps, self.embedding_dim).to(self.weight.dtype)
        return super().forward(ids) * sqrt(self.embedding_dim) + places


class MultiHeadAttention(nn.Module):
    r"""Several attentions side by side, each with queries, keys and values of its own.

    :math:`W_O\,[\mathrm{head}_1; \ldots; \mathrm{head}_n]`, head k being `attnlib.attention.attention` of the k-th
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
        """Compute keys and values of what can be asked, once: ``2 * batch * src * emb²`` multiply-adds."""
        return self._apart(linear(x, self.W_K)), self._apart(linear(x, self.W_V))

    def forward(
        self, x: Float[Tensor, "batch tgt emb"], remembered: KeysValues, mask: Bool[Tensor, "#batch 1 #tgt src"]
    ) -> AttentionOutput:
        """Ask: context ``"batch tgt emb"``, and each head's weights ``"batch heads tgt src"``."""
        queries, (keys, values) = self._apart(linear(x, self.W_Q)), remembered
        scale = 1 / sqrt(queries.shape[-1])
        context, weights, *_ = attend((queries * scale) @ keys.mT, values, mask)
        return AttentionOutput(linear(context.transpose(1, 2).flatten(2), self.W_O), weights)

    def _apart(self, x: Float[Tensor, "batch src emb"]) -> Float[Tensor, "batch heads src d"]:
        return x.unflatten(2, (self.num_heads, -1)).transpose(1, 2)


class AddNorm(nn.Module):
    """Add what is new to what was there, and normalise: LayerNorm(x + new) (Vaswani et al. 2017, section 3.1)."""

    def __init__(self, d_model: int, dropout: float):
        super().__init__()
        self.norm, self.dropout = nn.LayerNorm(d_model), nn.Dropout(dropout)

    def forward(
        self, x: Float[Tensor, "batch tgt emb"], new: Float[Tensor, "batch tgt emb"]
    ) -> Float[Tensor, "batch tgt emb"]:
        """Take the layer norm of the sum; in training a share of what is new is dropped (section 5.4)."""
        return self.norm(x + self.dropout(new))


def feed_forward(d_model: int, dim_feedforward: int) -> nn.Sequential:
    """Build what each position goes through on its own, W_2 max(0, W_1 x + b_1) + b_2 (Vaswani et al. 2017, eq. 2)."""
    return nn.Sequential(nn.Linear(d_model, dim_feedforward), nn.ReLU(), nn.Linear(dim_feedforward, d_model))


class EncoderLayer(nn.Module):
    """Look at the sentence itself, then take each word on its own (Vaswani et al. 2017, section 3.1)."""

    def __init__(self, d_model: int, dim_feedforward: int, num_heads: int, dropout: float = 0.0):
        super().__init__()
        self.self_attention, self.feed_forward = (
            MultiHeadAttention(d_model, num_heads),
            feed_forward(d_model, dim_feedforward),
        )
        self.self_attention_norm, self.feed_forward_norm = AddNorm(d_model, dropout), AddNorm(d_model, dropout)

    def forward(
        self, x: Float[Tensor, "batch src emb"], mask: Bool[Tensor, "batch 1 1 src"]
    ) -> Float[Tensor, "batch src emb"]:
        """Read the sentence once more."""
        x = self.self_attention_norm(
            x, self.self_attention(x, self.self_attention.project_keys_values(x), mask).context
        )
        return self.feed_forward_norm(x, self.feed_forward(x))


class DecoderLayer(nn.Module):
    """Look at what is written, at the source, then take each word on its own (Vaswani et al. 2017, section 3.1)."""

    def __init__(self, d_model: int, dim_feedforward: int, num_heads: int, dropout: float = 0.0):
        super().__init__()
        self.self_attention, self.cross_attention, self.feed_forward = (
            MultiHeadAttention(d_model, num_heads),
            MultiHeadAttention(d_model, num_heads),
            feed_forward(d_model, dim_feedforward),
        )
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
        """Go on from the words before, whose keys and values are `past`; those of all words are returned too."""
        keys, values = (
            torch.cat(both, 2) for both in zip(past, self.self_attention.project_keys_values(x), strict=True)
        )
        x = self.self_attention_norm(x, self.self_attention(x, (keys, values), written).context)
        attended = self.cross_attention(x, source, real)
        x = self.cross_attention_norm(x, attended.context)
        return self.feed_forward_norm(x, self.feed_forward(x)), attended, (keys, values)


class TransformerEncoder(nn.Module):
    """Annotate each word, having looked at all words of the sentence in every layer.

    Sizes: `d_model` features of a word in every layer, `dim_feedforward` inner units of a feed-forward network. In
    training, `dropout` sets to 0 a share of what each sublayer adds, and each pair of sentences begins at a position
    drawn from 0 to `latest_start`; None: all begin at 0, as translations always do.

    Random positions are those of Kiyono et al. 2021, with the same one for source and target; the rest is that of
    Vaswani et al. 2017, section 3.1. A layer costs ``batch * src * (4 * emb² + 2 * emb * hid + 2 * src * emb)``
    multiply-adds, all positions at once. The summary, which the Transformer has no use for, is the annotation of EOS.
    """

    def __init__(
        self,
        embedding: PositionalEmbedding,
        *,
        dim_feedforward: int,
        num_heads: int,
        num_layers: int,
        dropout: float = 0.0,
        latest_start: int | None = None,
    ):
        super().__init__()
        self.embedding, self.latest_start = embedding, latest_start
        sizes = embedding.embedding_dim, dim_feedforward, num_heads
        self.layers = nn.ModuleList(EncoderLayer(*sizes, dropout) for _ in range(num_layers))

    def forward(self, source: Int[Tensor, "batch src"], lengths: Int[Tensor, "batch"]) -> EncoderOutput:
        """Annotate each word of each sentence; annotations of padding are 0."""
        real = sequence_mask(lengths, source.shape[1])
        first = self._starts(len(source), source.device)
        x = self.embedding(source, *first)
        for layer in self.layers:
            x = layer(x, real[:, None, None])
        annotations = torch.where(real[:, :, None], x, 0.0)
        return EncoderOutput(
            annotations, lengths, annotations[torch.arange(len(x), device=x.device), lengths - 1], first
        )

    def _starts(self, sentences: int, device: torch.device) -> tuple[Int[Tensor, "batch 1"], ...]:
        """Draw where sentences begin, if in training they may begin elsewhere than at 0."""
        if self.latest_start is None or not self.training:
            return ()
        return (torch.randint(self.latest_start + 1, (sentences, 1), device=device),)


class TransformerDecoder(Decoder):
    """Write a word having looked, in every layer, at the words before it and at the source.

    Instead of annotations and what a score keeps of them, the memory holds every layer's values and keys,
    ``"batch layers heads src d"``; a step hands the same to the next, for the words written. What a step is said to
    have looked at is the last layer's attention to the source, averaged over its heads.

    Vaswani et al. 2017, sections 3.1 and 3.2.3. The embedding's weights are the output's too, as in section 3.4. The
    cost of a step grows with what is written: see `attnlib.experiments.training.count_macs`.
    """

    def __init__(
        self,
        embedding: PositionalEmbedding,
        *,
        dim_feedforward: int,
        num_heads: int,
        num_layers: int,
        dropout: float = 0.0,
    ):
        super().__init__()
        self.embedding = embedding
        sizes = embedding.embedding_dim, dim_feedforward, num_heads
        self.layers = nn.ModuleList(DecoderLayer(*sizes, dropout) for _ in range(num_layers))

    def start(self, encoded: EncoderOutput) -> DecoderState:
        """Stand before the first word: the source's keys and values are computed, and nothing is written."""
        remembered = (layer.cross_attention.project_keys_values(encoded.annotations) for layer in self.layers)
        keys, values = (torch.stack(x, 1) for x in zip(*remembered, strict=True))
        real = sequence_mask(encoded.lengths, keys.shape[3])
        nothing = keys[:, :, :, :0]
        return DecoderState(Memory(keys, values, encoded.lengths, real[:, None]), (nothing, nothing), 0)

    def decode(
        self, ids: Int[Tensor, "batch tgt"], state: DecoderState, offset: int | Int[Tensor, "batch 1"] = 0
    ) -> tuple[Float[Tensor, "batch tgt emb"], list[AttentionOutput], DecoderState]:
        """Take the words that come next: what the output reads, each layer's looks at the source, and the state.

        The sentences began at the position `offset`.
        """
        memory, past, first = state
        x, outputs, kept = self.embedding(ids, offset + first), [], []
        steps = torch.arange(first + ids.shape[1], device=ids.device)
        written = steps <= steps[first:, None]
        for n, layer in enumerate(self.layers):
            source = memory.keys[:, n], memory.values[:, n]
            x, look, remembered = layer(
                x, (past[0][:, n], past[1][:, n]), source, written[None, None], memory.mask[:, None]
            )
            outputs.append(look)
            kept.append(remembered)
        past = tuple(torch.stack(x, 1) for x in zip(*kept, strict=True))
        return x, outputs, DecoderState(memory, past, len(steps))

    def step(
        self, ids: Int[Tensor, "batch"], state: DecoderState
    ) -> tuple[Float[Tensor, "batch vocab"], AttentionOutput, DecoderState]:
        """Take the word before and score the next one."""
        read, outputs, state = self.decode(ids[:, None], state)
        return linear(read[:, 0], self.output_weight), _mean_of_heads(outputs[-1]), state

    @property
    def output_weight(self) -> Float[Tensor, "vocab emb"]:
        """The weights of the output layer, which are the embedding's."""
        return self.embedding.weight

    def extract_features(
        self, ids: Int[Tensor, "batch tgt"], encoded: EncoderOutput
    ) -> tuple[Float[Tensor, "batch tgt emb"], AttentionOutput]:
        """Compute the last layer at all positions, given the word before each, beginning where the source does."""
        read, outputs, _ = self.decode(ids, self.start(encoded), *encoded.initial_state)
        return read, _mean_of_heads(outputs[-1])


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
    """Make the model of Vaswani et al. 2017; its base model has 512, 2048, 8 and 6, and dropout of 0.1.

    For encoder and decoder see `TransformerEncoder`; the paper's two sides share one vocabulary and its embedding. The
    `seed` decides where the weights begin; torch's own generator stays as it was.
    """
    check_whole(
        d_model=d_model,
        dim_feedforward=dim_feedforward,
        num_heads=num_heads,
        num_layers=num_layers,
        **{} if latest_start is None else {"latest_start": latest_start},
    )
    check_share(dropout=dropout, embedding_dropout=embedding_dropout)
    options = {"dim_feedforward": dim_feedforward, "num_heads": num_heads, "num_layers": num_layers, "dropout": dropout}
    with seeded(seed):
        source = PositionalEmbedding(len(source_vocabulary), d_model, embedding_dropout)
        encoder = TransformerEncoder(source, **options, latest_start=latest_start)
        target = PositionalEmbedding(len(target_vocabulary), d_model, embedding_dropout)
        decoder = TransformerDecoder(target, **options)
    return EncoderDecoder(encoder, decoder, source_vocabulary, target_vocabulary)


def _mean_of_heads(look: AttentionOutput) -> AttentionOutput:
    return look._replace(weights=look.weights.mean(1))
