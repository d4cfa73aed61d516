"""An encoder and a decoder make a model, and the papers' models are three ways to choose them.

========================================= ========== ========== ====================
model                                     vocabulary weights    sizes
========================================= ========== ========== ====================
`rnn_search`, Bahdanau et al. 2015        30,000     80.4 M     `BAHDANAU_SIZES`
`rnn_encdec`, the same without attention  30,000     77.4 M     `BAHDANAU_SIZES`
`luong`, Luong et al. 2015                50,000     221 M      `LUONG_SIZES`
========================================= ========== ========== ====================

The weights are counted at the papers' sizes, without biases, for `luong` with the general score everywhere and
input feeding. The defaults are small: they train on a laptop in seconds. To use the papers' sizes, unpack
them: ``rnn_search(source_vocabulary, target_vocabulary, **BAHDANAU_SIZES)``.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from attnlib.alignment import AttentionLayer
from attnlib.attention import AttentionOutput
from attnlib.checks import check_choice, check_range, check_share, check_whole
from attnlib.data import BOS, Tokenizer
from attnlib.decoders import BahdanauDecoder, DecoderState, FixedContextDecoder, LuongDecoder
from attnlib.encoders import BidirectionalGRU, BidirectionalLSTM, StackedLSTM
from attnlib.layers import Embedding, seeded
from attnlib.scores import Additive, Concat, Dot, General, Location
from attnlib.shapes import typechecked
from attnlib.windows import GlobalWindow, LocalMonotonic, LocalPredictive

BAHDANAU_SIZES = {"embedding_dim": 620, "hidden_size": 1000}
"""The sizes of `rnn_search` and `rnn_encdec` in Bahdanau et al. 2015, appendix A.2.3."""

LUONG_SIZES = {"embedding_dim": 1000, "hidden_size": 1000, "num_layers": 4}
"""The sizes of `luong` in Luong et al. 2015, section 4.1."""

LONGEST_LOCATION_SOURCE = 100
"""The `max_src` of the location score in `luong`, in words, EOS among them."""


_SCORES = {
    "dot": lambda hid: Dot(),
    "general": lambda hid: General(hid, hid),
    "concat": lambda hid: Concat(hid, hid, hid),
    "location": lambda hid: Location(hid, LONGEST_LOCATION_SOURCE),
}
_WINDOWS = {
    "global": lambda hid, half_width: GlobalWindow(),
    "local-m": lambda hid, half_width: LocalMonotonic(half_width),
    "local-p": LocalPredictive,
}
_ENCODERS = {"backward": partial(StackedLSTM, reverse=True), "forward": StackedLSTM, "bidirectional": BidirectionalLSTM}


class Seq2SeqOutput(NamedTuple):
    """What a model says of given target sentences: ``logits[:, t]`` scores every word as ``target[:, t]``."""

    logits: Float[Tensor, "batch tgt vocab"]
    attention: AttentionOutput | None


class EncoderDecoder(nn.Module):
    """From source sentences to target sentences.

    The encoder is one of `attnlib.encoders`, the decoder one of `attnlib.decoders`. Those who train or translate need
    the vocabularies, which say which number is which word. The `config` of a model from a folder says how it was made.
    """

    def __init__(
        self,
        encoder: nn.Module,
        decoder: nn.Module,
        source_vocabulary: Tokenizer | None = None,
        target_vocabulary: Tokenizer | None = None,
    ):
        super().__init__()
        self.encoder, self.decoder = encoder, decoder
        self.source_vocabulary, self.target_vocabulary = source_vocabulary, target_vocabulary
        self.config: Mapping[str, Any] = {}

    @typechecked
    def forward(
        self, source: Int[Tensor, "batch src"], lengths: Int[Tensor, "batch"], target: Int[Tensor, "batch tgt"]
    ) -> Seq2SeqOutput:
        """Score given translations, each word from the true words before it (teacher forcing).

        Sentences are word numbers, each ends in EOS and is padded at the end; `lengths` counts the words of the
        sources, EOS among them. BOS is put before the target here. The scores at padding mean nothing.
        """
        return Seq2SeqOutput(*self.decoder(*self._inputs(source, lengths, target)))

    @typechecked
    def extract_features(
        self, source: Int[Tensor, "batch src"], lengths: Int[Tensor, "batch"], target: Int[Tensor, "batch tgt"]
    ) -> Float[Tensor, "batch tgt read"]:
        """Compute what `forward` makes its logits of, by the decoder's weights `output_weight`."""
        return self.decoder.extract_features(*self._inputs(source, lengths, target))[0]

    @typechecked
    def start(self, source: Int[Tensor, "batch src"], lengths: Int[Tensor, "batch"]) -> DecoderState:
        """Read the source sentences and stand before the first target word."""
        return self.decoder.start(self._encode(source, lengths))

    def step(
        self, ids: Int[Tensor, "batch"], state: DecoderState
    ) -> tuple[Float[Tensor, "batch vocab"], AttentionOutput | None, DecoderState]:
        """Score the next word of each sentence.

        Before each stands one of `ids`, BOS at first. The state is from `start` or from the step before, and stays as
        it was; what the step looked at has ``tgt = 1``.
        """
        return self.decoder.step(ids, state)

    def _inputs(self, source, lengths, target):
        """Give the word before each target word, BOS at first, and the encoded source."""
        check_range(0, self.decoder.embedding.num_embeddings - 1, target=target)
        before = torch.cat([target.new_full((len(target), 1), BOS), target[:, :-1]], 1)
        return before, self._encode(source, lengths)

    def _encode(self, source, lengths):
        check_range(0, self.encoder.embedding.num_embeddings - 1, source=source)
        check_range(1, source.shape[1], lengths=lengths)
        return self.encoder(source, lengths)


def rnn_encdec(
    source_vocabulary: Tokenizer,
    target_vocabulary: Tokenizer,
    *,
    embedding_dim: int = 64,
    hidden_size: int = 128,
    dropout: float = 0.0,
    embedding_dropout: float = 0.0,
    seed: int = 0,
) -> EncoderDecoder:
    """Make the model without attention: the decoder sees the sentence's summary only.

    With `rnn_search` it shares everything but the context, so that what differs is due to attention. The RNNencdec of
    Bahdanau et al. 2015 reads in one direction only.
    """
    check_whole(2, hidden_size=hidden_size)
    check_share(dropout=dropout, embedding_dropout=embedding_dropout)
    with seeded(seed):
        encoder = BidirectionalGRU(
            Embedding(len(source_vocabulary), embedding_dim, embedding_dropout), hidden_size, hidden_size
        )
        embedding = Embedding(len(target_vocabulary), embedding_dim, embedding_dropout)
        decoder = FixedContextDecoder(
            embedding, decoder_size=hidden_size, encoder_size=2 * hidden_size, maxout=hidden_size // 2, dropout=dropout
        )
    return EncoderDecoder(encoder, decoder, source_vocabulary, target_vocabulary)


def rnn_search(
    source_vocabulary: Tokenizer,
    target_vocabulary: Tokenizer,
    *,
    attention_size: int | None = None,
    embedding_dim: int = 64,
    hidden_size: int = 128,
    dropout: float = 0.0,
    embedding_dropout: float = 0.0,
    seed: int = 0,
) -> EncoderDecoder:
    """Make the model of Bahdanau et al. 2015: the additive score, everywhere, asked by the state before.

    Parameters
    ----------
    source_vocabulary, target_vocabulary : Tokenizer
        They travel with the model.
    attention_size : int, optional
        Hidden units of the score. None: `hidden_size`, as in the paper.
    embedding_dim, hidden_size : int
        Features of an embedding, and of a state in one direction; the maxout layer has half as many as the latter.
    dropout, embedding_dropout : float
        In training, the share of features that is set to 0: of the maxout layer, and of embeddings.
    seed : int
        Where the weights begin. Torch's own generator stays as it was.
    """
    check_whole(2, hidden_size=hidden_size)
    attention_size = hidden_size if attention_size is None else attention_size
    check_whole(attention_size=attention_size)
    check_share(dropout=dropout, embedding_dropout=embedding_dropout)
    with seeded(seed):
        encoder = BidirectionalGRU(
            Embedding(len(source_vocabulary), embedding_dim, embedding_dropout), hidden_size, hidden_size
        )
        attention = AttentionLayer(Additive(hidden_size, 2 * hidden_size, attention_size), GlobalWindow())
        embedding = Embedding(len(target_vocabulary), embedding_dim, embedding_dropout)
        decoder = BahdanauDecoder(
            attention,
            embedding,
            decoder_size=hidden_size,
            encoder_size=2 * hidden_size,
            maxout=hidden_size // 2,
            dropout=dropout,
        )
    return EncoderDecoder(encoder, decoder, source_vocabulary, target_vocabulary)


def luong(
    source_vocabulary: Tokenizer,
    target_vocabulary: Tokenizer,
    *,
    score: str = "general",
    window: str = "global",
    half_width: int = 10,
    input_feeding: bool = True,
    num_layers: int = 1,
    embedding_dim: int = 64,
    hidden_size: int = 128,
    encoder: str = "backward",
    dropout: float = 0.0,
    embedding_dropout: float = 0.0,
    seed: int = 0,
) -> EncoderDecoder:
    """Make a model of Luong et al. 2015: stacked LSTMs, attention asked by the new state.

    Parameters
    ----------
    score : str
        "dot", "general", "concat" or "location". The last goes with the window "global" only, and with
        sources of at most `LONGEST_LOCATION_SOURCE` words.
    window : str
        "global", "local-m" or "local-p".
    half_width : int
        `D` of a local window, in source positions; 10 in the paper.
    input_feeding : bool
        Feed the attentional state to the next step.
    num_layers, embedding_dim, hidden_size : int
        Height of the stacks; features of an embedding; of a state and of an annotation.
    encoder : str
        "backward", from the last word to the first as in the paper; "forward"; or "bidirectional", which is not the
        paper's: two directions of ``hidden_size / 2`` features each.
    dropout, embedding_dropout : float
        In training, the share of features that is set to 0: see `LuongDecoder`. Some of the paper's models have 0.2.
    source_vocabulary, target_vocabulary, seed
        As for `rnn_search`.
    """
    check_whole(hidden_size=hidden_size, num_layers=num_layers)
    check_choice(_SCORES, score=score)
    check_choice(_WINDOWS, window=window)
    check_choice(_ENCODERS, encoder=encoder)
    check_share(dropout=dropout, embedding_dropout=embedding_dropout)
    stack = {"num_layers": num_layers, "dropout": dropout}
    with seeded(seed):
        attention = AttentionLayer(_SCORES[score](hidden_size), _WINDOWS[window](hidden_size, half_width))
        reader = _ENCODERS[encoder](
            Embedding(len(source_vocabulary), embedding_dim, embedding_dropout), hidden_size, **stack
        )
        embedding = Embedding(len(target_vocabulary), embedding_dim, embedding_dropout)
        decoder = LuongDecoder(
            attention,
            embedding,
            decoder_size=hidden_size,
            encoder_size=hidden_size,
            input_feeding=input_feeding,
            **stack,
        )
    return EncoderDecoder(reader, decoder, source_vocabulary, target_vocabulary)
