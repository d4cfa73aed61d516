"""The models that the papers do not have, each made by one call: between the two, and Luong's with a part exchanged."""

from typing import Any

from torch import nn

from attnlib.alignment import Align
from attnlib.checks import check_choice, check_whole
from attnlib.data import Tokenizer
from attnlib.encoders import BidirectionalGRU, BidirectionalLSTM, StackedLSTM
from attnlib.experiments.baselines import ConcatWithIdentity, LastStateDecoder
from attnlib.experiments.hybrids import HybridDecoder
from attnlib.experiments.parts import AttentionalOutput, Copied, MaxoutOutput, Projected
from attnlib.parameters import seeded
from attnlib.scores import Additive, General
from attnlib.translator import Translator, luong
from attnlib.windows import Everywhere


def between(
    source_vocabulary: Tokenizer,
    target_vocabulary: Tokenizer,
    *,
    asks_before: bool = False,
    reads_new_state: bool = True,
    reader: str = "gru",
    width: int | float = 2,
    projected: bool = True,
    score: str = "additive",
    maxout: bool = True,
    feeds_readout: bool = False,
    emb: int = 64,
    hid: int = 128,
    seed: int = 0,
) -> Translator:
    """Make a model between Bahdanau's and Luong's, part by part. The defaults are Bahdanau's, but the new state asks.

    Parameters
    ----------
    source_vocabulary, target_vocabulary : Tokenizer
        They travel with the translator.
    asks_before, reads_new_state, feeds_readout : bool
        As for `attnlib.experiments.hybrids.HybridDecoder`.
    reader : str
        "gru": a GRU in both directions, and a GRU decodes. "both": an LSTM in both directions, "reversed": one from the
        last word to the first, and an LSTM decodes.
    width : number
        Features of an annotation for each of a state. The reader "gru" always has 2, one for each direction.
    projected : bool
        Begin at a projection of where the backward reader ended; otherwise there itself, which a "reversed" reader of
        width 1 can do. The reader "gru" always projects.
    score : str
        "additive" or "general".
    maxout : bool
        The output reads a maxout layer of ``hid // 2`` units; otherwise an attentional state.
    emb, hid : int
        Features of an embedding and of the decoder's state.
    seed : int
        Where the weights begin. Torch's own generator stays as it was.

    Raises
    ------
    ValueError
        If `reader` or `score` is none of these names, or the parts do not fit.
    """
    check_whole(2, hid=hid)
    enc = round(width * hid)
    sizes = len(source_vocabulary), emb
    readers = {
        "gru": lambda: BidirectionalGRU(*sizes, hid, hid),
        "both": lambda: BidirectionalLSTM(*sizes, enc),
        "reversed": lambda: StackedLSTM(*sizes, enc, reverse=True),
    }
    scores = {"additive": lambda: Additive(hid, enc, hid), "general": lambda: General(hid, enc)}
    check_choice(readers, reader=reader)
    check_choice(scores, score=score)
    if reader == "gru" and width != 2:
        raise ValueError(f"width is {width}; expected 2 with the reader 'gru', which reads in both directions")
    if not projected and (reader, width) != ("reversed", 1):
        raise ValueError("projected is False; expected the reader 'reversed' and width 1")
    fed = (hid // 2 if maxout else hid) if feeds_readout else enc
    output = {"vocab": len(target_vocabulary), "dec": hid, "enc": enc}
    with seeded(seed):
        align = Align(scores[score](), Everywhere())
        encoder = readers[reader]()
        cell = (nn.GRUCell if reader == "gru" else nn.LSTMCell)(emb + fed, hid)
        embedding = nn.Embedding(len(target_vocabulary), emb)
        readout = MaxoutOutput(**output, emb=emb, maxout=hid // 2) if maxout else AttentionalOutput(**output)
        begin = Projected(hid, enc // 2 if reader == "both" else enc) if projected and reader != "gru" else Copied()
    decoder = HybridDecoder(
        align,
        cell,
        embedding,
        readout,
        begin,
        asks_before=asks_before,
        reads_new_state=reads_new_state,
        feeds_readout=feeds_readout,
    )
    return Translator(encoder, decoder, source_vocabulary, target_vocabulary)


def luong_without_attention(
    source_vocabulary: Tokenizer, target_vocabulary: Tokenizer, *, emb: int = 64, hid: int = 128, seed: int = 0
) -> Translator:
    """Make Luong's model without attention: the decoder begins where the reversed reader ended, and sees no more.

    Parameters
    ----------
    source_vocabulary, target_vocabulary : Tokenizer
        They travel with the translator.
    emb, hid, seed
        As for `attnlib.translator.luong`.
    """
    with seeded(seed):
        encoder = StackedLSTM(len(source_vocabulary), emb, hid, reverse=True)
        decoder = LastStateDecoder(vocab=len(target_vocabulary), emb=emb, dec=hid)
    return Translator(encoder, decoder, source_vocabulary, target_vocabulary)


def luong_with_identity(source_vocabulary: Tokenizer, target_vocabulary: Tokenizer, **options: Any) -> Translator:
    """Make Luong's model with the concat score, whose half of W_a for the annotations is the identity.

    Parameters
    ----------
    source_vocabulary, target_vocabulary : Tokenizer
        They travel with the translator.
    **options
        As for `attnlib.translator.luong`, `score` apart.
    """
    translator = luong(source_vocabulary, target_vocabulary, **options, score="concat")
    concat = translator.decoder.align.score
    translator.decoder.align.score = ConcatWithIdentity(concat.W_a[:, : concat.dec].detach(), concat.v_a.detach())
    return translator
