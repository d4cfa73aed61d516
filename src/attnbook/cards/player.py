"""The step player (chapters 2 and 3): one step of a model in six phases, each with its equation and its numbers.

Without scripts it is a table of the step's weights and a list of the phases.
"""

import json
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

import torch

from attnbook.cards.card import Card, Question, card, model_digest, to_numpy, weight_table
from attnbook.cards.packing import pack_models
from attnbook.language.sentences import max_output_length
from attnlib.batching import encode_batch
from attnlib.checks import check_whole, check_words
from attnlib.decoders import BahdanauDecoder, LuongDecoder
from attnlib.search import greedy_search
from attnlib.seq2seq import EncoderDecoder
from attnlib.units import split_words

MOST_WORDS = 9
"""Greatest number of words of a sentence, which fit side by side on a phone."""


class Phase(NamedTuple):
    """A phase of a decoder step: its key, title, equations in TeX, and the number of its equation in the chapters."""

    key: str
    title: str
    equations: tuple[str, ...]
    number: str


_SOFTMAX = (r"\alpha_{t,i} = \frac{\exp(e_{t,i})}{\sum_{k=1}^{S} \exp(e_{t,k})}",)
_CONTEXT = (r"c_t = \sum_{i=1}^{S} \alpha_{t,i}\, h_i",)
_DEEP_OUTPUT = (r"p(y_t) = \mathrm{softmax}\big(W_o\, \mathrm{maxout}(", r"U_o s_{t-1} + V_o E y_{t-1} + C_o c_t)\big)")
_ATTENTIONAL_OUTPUT = (r"\tilde{s}_t = \tanh(W_c\, [c_t; s_t])", r"p(y_t) = \mathrm{softmax}(W_y\, \tilde{s}_t)")
BAHDANAU = (
    Phase("query", "The old state is the query", (r"W_a s_{t-1}",), "2.4"),
    Phase("scores", "Each word gets a score", (r"e_{t,i} = v_a \cdot \tanh(W_a s_{t-1} + U_a h_i)",), "2.4"),
    Phase("softmax", "Scores become weights", _SOFTMAX, "1.2"),
    Phase("context", "They make a context", _CONTEXT, "1.3"),
    Phase("word", "A word is written", _DEEP_OUTPUT, "2.6"),
    Phase("state", "The state moves on", (r"s_t = f(s_{t-1},\, y_{t-1},\, c_t)",), "2.5"),
)
"""Phases of a step whose query is the previous state, in order."""

LUONG = (
    Phase("state", "The state moves first", (r"s_t, m_t = \mathrm{LSTM}(s_{t-1}, m_{t-1}, y_{t-1})",), "3.2"),
    Phase("query", "The new state is the query", (r"s_t",), "3.4"),
    Phase("scores", "Each word gets a score", (r"e_{t,i} = s_t \cdot W_a h_i",), "3.4"),
    Phase("softmax", "Scores become weights", _SOFTMAX, "1.2"),
    Phase("context", "They make a context", _CONTEXT, "1.3"),
    Phase("word", "A word is written", _ATTENTIONAL_OUTPUT, "3.3"),
)
"""Phases of a step whose query is the new state, in order."""

_KEY = (
    "A strip is a vector, 6 numbers a row: the stronger the color, the greater the number, up to 1; gray is negative. "
    "Green: annotations h and contexts c. Orange: states s. Blue: scores and weights."
)


def step_player(
    models: Mapping[str, EncoderDecoder],
    sentence: str,
    *,
    step: int = 0,
    previous: Sequence[str] = (),
    question: Question | None = None,
) -> Card:
    """Build a card that plays one decoder step, phase by phase.

    Parameters
    ----------
    models : mapping of str to EncoderDecoder
        One model, or two to compare, by title, with the same vocabularies: `rnn_search` models, or `luong` models with
        the general score, a global window and no input feeding.
    sentence : str
        The sentence, of `MOST_WORDS` words at most.
    step : int, default 0
        Position of the word of the translation that is shown first.
    previous : sequence of str, optional
        Target words that are offered, beside likely words, in place of the previous word.
    question : Question, optional
        A question that is answered after one of `previous` has been chosen in each model.
    """
    words, packed, (first, *_) = split_words(sentence), pack_models(models), models.values()
    check_words("previous", previous)
    if not 0 < len(words) <= MOST_WORDS:
        raise ValueError(f"sentence has {len(words)} words; expected 1 to {MOST_WORDS} words")
    if unknown := [word for word in previous if word not in first.target_vocabulary.words]:
        raise ValueError(f"previous holds {unknown[0]!r}; expected target words that the models know")
    phases = [_phases(title, network) for title, network in models.items()]
    shown = [
        {
            "title": title,
            "digest": model_digest(model),
            "late": each is LUONG,
            "phases": [phase._asdict() for phase in each],
        }
        for title, model, each in zip(models, packed, phases, strict=True)
    ]
    shares, written, summary = _still(first, words, step)
    equations = json.loads(Path(__file__).with_name("equations.json").read_text("utf-8"))
    used = {tex for each in phases for phase in each for tex in phase.equations}
    data = {
        "words": words,
        "models": shown,
        "source": first.source_vocabulary.words,
        "target": first.target_vocabulary.words,
        "equations": {tex: equations[tex] for tex in sorted(used)},
        "written": written,
        "step": step,
        "previous": list(previous),
        "right": question.right if question else 0,
        "key": _KEY,
    }
    steps = "".join(
        f"<li>{phase.title} ({phase.number}): {' '.join(equations[tex] for tex in phase.equations)}</li>"
        for phase in phases[0]
    )
    still = f'<div class="at-still"><p>{escape(summary)}</p>{shares}<ol>{steps}</ol></div>\n'
    return card("player", still, data, summary, packed, question=question)


def _phases(title: str, network: EncoderDecoder) -> tuple[Phase, ...]:
    """Return the phases and equations of a model."""
    decoder = network.decoder
    if isinstance(decoder, BahdanauDecoder) and not decoder.reads_new_state:
        return BAHDANAU
    if isinstance(decoder, LuongDecoder) and not decoder.input_feeding:
        parts = type(decoder.attention.score).__name__, type(decoder.attention.window).__name__
        if parts == ("General", "GlobalWindow"):
            return LUONG
    raise ValueError(
        f"models[{title!r}] has a {type(decoder).__name__} with other equations; expected an rnn_search model, or a "
        "luong model with the general score, a global window, and no input feeding"
    )


@torch.no_grad()
def _still(network: EncoderDecoder, words: Sequence[str], step: int) -> tuple[str, list[str], str]:
    """Return a table of a step's weights, the words of the translation, and a description."""
    source, lengths = encode_batch([words], network.source_vocabulary)
    best: Any = greedy_search(network, source, lengths, max_output_length(words))
    written = network.target_vocabulary.decode(best.ids[0])
    check_whole(0, len(written) - 1, step=step)
    weights = to_numpy(best.weights[0, step])[:, None]
    summary = f"{' '.join(words)}: after {' '.join(written[:step]) or 'nothing'} the model writes {written[step]}."
    return weight_table([written[step]], [*words, "(end)"], weights), [*written, "(end)"], summary
