"""The papers' models (chapters 2 and 3): three ways to choose an encoder and a decoder.

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

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from torch import nn

from attnlib.alignment import AttentionLayer
from attnlib.checks import check_choice, check_share, check_whole
from attnlib.data import Tokenizer
from attnlib.decoders import BahdanauDecoder, Decoder, FixedContextDecoder, LSTMDecoder, LuongDecoder
from attnlib.encoders import BidirectionalGRU, BidirectionalLSTM, StackedLSTM
from attnlib.layers import Embedding, seeded
from attnlib.scores import Additive, Concat, Dot, General, Location
from attnlib.seq2seq import EncoderDecoder
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

_ENCODERS: Mapping[str, Callable[..., nn.Module]] = {
    "backward": partial(StackedLSTM, reverse=True),
    "forward": StackedLSTM,
    "bidirectional": BidirectionalLSTM,
}


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
    """Build an untrained model without attention, whose decoder reads a summary of the sentence.

    Parameters
    ----------
    source_vocabulary, target_vocabulary, embedding_dim, hidden_size, dropout, embedding_dropout, seed
        As for `rnn_search`.

    Notes
    -----
    The model differs from `rnn_search` in the context only, so that differences in results are due to attention. The
    RNNencdec of Bahdanau et al. 2015 reads in one direction only.

    Examples
    --------
    >>> from attnlib import Vocabulary, rnn_encdec
    >>> words = Vocabulary(("a", "b"))
    >>> rnn_encdec(words, words).decoder.has_attention
    False
    """
    (hidden_size,) = check_whole(2, hidden_size=hidden_size)
    check_share(dropout=dropout, embedding_dropout=embedding_dropout)
    with seeded(seed):
        source = Embedding(len(source_vocabulary), embedding_dim, embedding_dropout)
        encoder = BidirectionalGRU(source, hidden_size, hidden_size)
        target = Embedding(len(target_vocabulary), embedding_dim, embedding_dropout)
        decoder = FixedContextDecoder(target, **_gru_sizes(hidden_size), dropout=dropout)
    return EncoderDecoder(encoder, decoder, source_vocabulary, target_vocabulary)


def rnn_search(
    source_vocabulary: Tokenizer,
    target_vocabulary: Tokenizer,
    *,
    embedding_dim: int = 64,
    hidden_size: int = 128,
    dropout: float = 0.0,
    embedding_dropout: float = 0.0,
    seed: int = 0,
) -> EncoderDecoder:
    """Build an untrained RNNsearch, the model of Bahdanau et al. 2015, with additive attention.

    Parameters
    ----------
    source_vocabulary, target_vocabulary : Tokenizer
        The mappings between words and ids, stored with the model.
    embedding_dim : int, default 64
        Features of an embedding.
    hidden_size : int, default 128
        Features of a state in one direction, and hidden units of the score. The maxout layer has half as many units.
    dropout : float, default 0.0
        Share of the maxout layer that is set to 0 in training.
    embedding_dropout : float, default 0.0
        Share of the features of embeddings that is set to 0 in training.
    seed : int, default 0
        Decides the initial weights. The state of torch's generator is not changed.

    Examples
    --------
    >>> from attnlib import Vocabulary, rnn_search
    >>> words = Vocabulary(("a", "b"))
    >>> rnn_search(words, words, hidden_size=8).decoder.attention.score
    Additive()
    """
    (hidden_size,) = check_whole(2, hidden_size=hidden_size)
    check_share(dropout=dropout, embedding_dropout=embedding_dropout)
    with seeded(seed):
        source = Embedding(len(source_vocabulary), embedding_dim, embedding_dropout)
        encoder = BidirectionalGRU(source, hidden_size, hidden_size)
        attention = AttentionLayer(Additive(hidden_size, 2 * hidden_size, hidden_size), GlobalWindow())
        target = Embedding(len(target_vocabulary), embedding_dim, embedding_dropout)
        decoder = BahdanauDecoder(attention, target, **_gru_sizes(hidden_size), dropout=dropout)
    return EncoderDecoder(encoder, decoder, source_vocabulary, target_vocabulary)


def luong(
    source_vocabulary: Tokenizer,
    target_vocabulary: Tokenizer,
    *,
    attention: bool = True,
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
    """Build an untrained model of Luong et al. 2015: stacked LSTMs, with attention from the new state.

    Parameters
    ----------
    source_vocabulary, target_vocabulary
        As for `rnn_search`.
    attention : bool, default True
        If False, the base system of the paper's table 1: score, window, and input feeding are no part of it.
    score : {"general", "dot", "concat", "location"}
        The score. "location" needs the window "global", and at most `LONGEST_LOCATION_SOURCE` source positions.
    window : {"global", "local-m", "local-p"}
        The window: the whole source, a window that moves one word per step, or one whose center is predicted.
    half_width : int, default 10
        `D` of a local window, in source positions; 10 in the paper.
    input_feeding : bool, default True
        Feed the attentional state to the next step.
    num_layers : int, default 1
        Number of LSTMs of the encoder and of the decoder.
    embedding_dim : int, default 64
        Features of an embedding.
    hidden_size : int, default 128
        Features of a state and of an annotation.
    encoder : {"backward", "forward", "bidirectional"}
        The direction of reading. The paper's is "backward", from the last word to the first. "bidirectional" is not in
        the paper: two directions of ``hidden_size / 2`` features each.
    dropout : float, default 0.0
        Share of features that is set to 0 in training: see `attnlib.decoders.LuongDecoder`. Some of the paper's models
        have 0.2.
    embedding_dropout, seed
        As for `rnn_search`.

    Examples
    --------
    >>> from attnlib import Vocabulary, luong
    >>> words = Vocabulary(("a", "b"))
    >>> luong(words, words, window="local-p", half_width=2).decoder.attention.window
    LocalPredictive(half_width=2)
    """
    hidden_size, num_layers = check_whole(hidden_size=hidden_size, num_layers=num_layers)
    check_choice(_SCORES, score=score)
    check_choice(_WINDOWS, window=window)
    check_choice(_ENCODERS, encoder=encoder)
    check_share(dropout=dropout, embedding_dropout=embedding_dropout)
    stack: dict[str, Any] = {"num_layers": num_layers, "dropout": dropout}
    sizes = {"decoder_size": hidden_size, "encoder_size": hidden_size}
    with seeded(seed):
        # Drawn also without attention, so that a seed gives both kinds of model the same encoder and embeddings.
        layer = AttentionLayer(_SCORES[score](hidden_size), _WINDOWS[window](hidden_size, half_width))
        source = Embedding(len(source_vocabulary), embedding_dim, embedding_dropout)
        encoder_module = _ENCODERS[encoder](source, hidden_size, **stack)
        target = Embedding(len(target_vocabulary), embedding_dim, embedding_dropout)
        decoder: Decoder
        if attention:
            decoder = LuongDecoder(layer, target, **sizes, input_feeding=input_feeding, **stack)
        else:
            decoder = LSTMDecoder(target, decoder_size=hidden_size, **stack)
    return EncoderDecoder(encoder_module, decoder, source_vocabulary, target_vocabulary)


def _gru_sizes(hidden_size: int) -> dict[str, Any]:
    """Give a decoder of Bahdanau et al. its sizes: an annotation is two states of the encoder side by side."""
    return {"decoder_size": hidden_size, "encoder_size": 2 * hidden_size, "maxout": hidden_size // 2}
