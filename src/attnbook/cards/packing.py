"""Trained models as JSON for the scripts of a page, as `attnbook.cards.demo` needs them, with weights in float16."""

from base64 import b64encode
from collections.abc import Mapping
from math import inf
from typing import Any

import numpy as np

from attnbook.cards.card import to_numpy
from attnlib import transformer
from attnlib.checks import brief
from attnlib.data import Vocabulary
from attnlib.decoders import BahdanauDecoder, FixedContextDecoder, LuongDecoder
from attnlib.encoders import BidirectionalGRU, BidirectionalLSTM, StackedLSTM
from attnlib.seq2seq import EncoderDecoder, check_models


def pack_models(models: Mapping[str, EncoderDecoder], max_models: int = 2) -> list[dict[str, Any]]:
    """Pack the models of a card.

    Parameters
    ----------
    models : mapping of str to EncoderDecoder
        One model, or several to compare, by title, with the same vocabularies of words.
    max_models : int, default 2
        Greatest number of models.
    """
    if not isinstance(models, Mapping):
        raise TypeError(f"models is {brief(models)}; expected a mapping from titles to models")
    check_models(**{f"models[{title!r}]": model for title, model in models.items()})
    if not 1 <= len(models) <= max_models:
        raise ValueError(f"models holds {len(models)} models; expected one model, or up to {max_models} to compare")
    vocabularies = [(model.source_vocabulary, model.target_vocabulary) for model in models.values()]
    if not all(isinstance(vocabulary, Vocabulary) for pair in vocabularies for vocabulary in pair):
        raise ValueError("the vocabularies are not of whole words; expected vocabularies of words")
    if any(pair != vocabularies[0] for pair in vocabularies):
        raise ValueError("models have different vocabularies; expected the same words on each side")
    return [pack(model) for model in models.values()]


def pack(model: EncoderDecoder) -> dict[str, Any]:
    """Return all that ``models.js`` needs to run a model on ids.

    Weights are rounded to float16, which leaves those of a pretrained model unchanged.

    Returns
    -------
    dict
        Data for JSON: ``parts``, the classes of the model's parts with their options; and ``weights``, with their
        ``shapes`` by name, and in ``base64``.
    """
    parts = _transformer if isinstance(model.encoder, transformer.TransformerEncoder) else _recurrent
    return {"parts": parts(model), "weights": _weights(model)}


def _transformer(model: EncoderDecoder) -> dict[str, Any]:
    """Return the classes of a Transformer's parts, with the heads of each attention."""
    heads = {}
    for name, module in model.named_modules():
        own, *bases = (kind.__module__ == transformer.__name__ for kind in type(module).__mro__)
        if any(bases) and not own:
            raise ValueError(f"{name} is a {type(module).__name__}; expected a class of attnlib.transformer")
        if isinstance(module, transformer.MultiHeadAttention):
            heads[name] = module.num_heads
    return {"encoder": "TransformerEncoder", "decoder": "TransformerDecoder", "heads": heads}


def _recurrent(model: EncoderDecoder) -> dict[str, Any]:
    """Return the classes of a recurrent model's parts, with their options."""
    encoder: Any = model.encoder
    decoder: Any = model.decoder
    if not isinstance(encoder, BidirectionalGRU | BidirectionalLSTM | StackedLSTM):
        raise ValueError(f"the encoder is a {type(encoder).__name__}; expected a recurrent one of attnlib.encoders")
    if not isinstance(decoder, FixedContextDecoder | BahdanauDecoder | LuongDecoder):
        raise ValueError(f"the decoder is a {type(decoder).__name__}; expected one of attnlib.decoders")
    parts: dict[str, Any] = {"encoder": type(encoder).__name__, "decoder": type(decoder).__name__}
    if isinstance(encoder, StackedLSTM):
        parts["reverse"] = encoder.reverse
    if not decoder.has_attention:
        return parts
    score, window = decoder.attention.score, decoder.attention.window
    parts |= {"score": type(score).__name__, "window": type(window).__name__, "dec": getattr(score, "dec", None)}
    if window.half_width < inf:
        parts["D"] = window.half_width
    if isinstance(decoder, BahdanauDecoder):
        return parts | {"readsNewState": decoder.reads_new_state}
    return parts | {"feeds": decoder.input_feeding}


def _weights(model: EncoderDecoder) -> dict[str, Any]:
    """Round weights to float16 and concatenate them."""
    with np.errstate(over="ignore"):  # what overflows is refused below
        halves = {name: to_numpy(weight).astype("<f2") for name, weight in model.state_dict().items()}
    wrong = [name for name, weight in halves.items() if not np.isfinite(weight).all()]
    if wrong:
        raise ValueError(f"{wrong[0]} holds a number outside float16's range; expected finite numbers, at most 65504")
    shapes = {name: list(weight.shape) for name, weight in halves.items()}
    return {"shapes": shapes, "base64": b64encode(b"".join(weight.tobytes() for weight in halves.values())).decode()}
