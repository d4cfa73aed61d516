"""Searchlights (chapter 2): the words and weights of a model at several moments of its training, as light.

Without scripts and on paper, it is a table of the weights of the last moment.
"""

from base64 import b64decode
from collections.abc import Mapping
from typing import Any

import numpy as np

from attnbook.cards.card import Card, Question, card, model_digest, styled
from attnbook.cards.explorer import WHOLE, still
from attnbook.cards.french import glosses
from attnbook.cards.packing import pack_models
from attnlib.seq2seq import EncoderDecoder, check_models


def learning_film(model: EncoderDecoder, learned: Mapping[str, Any], *, question: Question | None = None) -> Card:
    """Build a card of a training that one watches, and of the trained model, whose lights can be moved.

    Each French word is a lamp with one unit of light, which falls on the English words as the weights say.

    Parameters
    ----------
    model : EncoderDecoder
        The trained model, of the grammar.
    learned : mapping
        What it wrote and where it looked, as `attnbook.experiments.learning.read_learning` returns it.
    question : Question, optional
        A question that is answered after ``{"step": number}``: that moment has been seen, and a later one.
    """
    check_models(model=model)
    (packed,), source, target = pack_models({"": model}), learned["source"].split(), model.target_vocabulary.words
    data = {
        **{name: learned[name] for name in ("steps", "pairs", "loss", "light", "words", "weights")},
        "source": source,
        "ids": model.source_vocabulary.encode(source),
        "right": learned["target"].split(),
        "stations": [[step, styled(says)] for step, says in learned["stations"]],
        "target": target,
        "gloss": [glosses().get(word, "") for word in target],
        "models": [{"digest": model_digest(packed)}],
        "question": {"right": question.right, **question.tried} if question else None,
    }
    *written, _ = learned["words"][-1].split()
    rows = np.frombuffer(b64decode(learned["weights"]), np.uint8).reshape(-1, len(source) + 1)[-len(written) - 1 :]
    weights = WHOLE * (rows / rows.sum(axis=1, keepdims=True))
    drawn = still("At the end of the training", source, written, weights, language="fr")
    picture = f'<div class="at-still">{drawn}</div>\n'
    text = f"Searchlights: {learned['source']}. {' '.join(written)}"
    return card("searchlights", picture, data, text, [packed], question=question, below=True)
