"""The live card: models that translate what a reader writes, in the page itself, and whose attention he may change.

Where there are no scripts, on paper and on GitHub, it is a picture of one sentence, its translations and their weights.
"""

import json
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cache
from hashlib import sha256
from html import escape
from pathlib import Path
from typing import Any

from attnlib.data import UNKNOWN, SentencePair, encode
from attnlib.decoders import BahdanauDecoder
from attnlib.language import lexicon
from attnlib.language.grammar import sample
from attnlib.pictures.cards import Card, checked_text, embedded, width
from attnlib.pictures.packing import pack
from attnlib.search import greedy
from attnlib.translator import Translator

_BEGIN, _END = "<!-- carried -->", "<!-- /carried -->"
_FOLDER = Path(__file__).parent
_CLAUSES, _EACH = 8, 4  # sentences to draw: of so many clauses at most, and so many of each number
_GRAMMAR = 3000  # sentences in which it is seen which kind of word may follow which
_CELL, _LETTER = 16, 7.2  # pixels of the still picture


def live(models: Mapping[str, Translator], sentence: str | SentencePair | None = None) -> Card:
    """Show models that translate what a reader writes, and let the reader interfere with their attention.

    The reader writes a sentence or draws one whose translation is known, chooses a word of the translation and sees
    its step, and changes where it looks; what comes after is computed anew, and marked where it changed. The models
    run in the page.

    Parameters
    ----------
    models : for each title, a translator
        One, or two to compare, of the English-French grammar, with the same vocabularies.
    sentence : str or SentencePair, optional
        What is translated at first. Of a pair the right translation is known. None: a sentence of two clauses.

    Returns
    -------
    Card
        As the value of a cell it shows itself.

    Raises
    ------
    TypeError
        If `models` is not a mapping of titles to translators, or `sentence` is not one.
    ValueError
        If there are none or more than two, or their vocabularies differ, or a model cannot be packed, or the sentence
        has no word or one that the models do not know.

    Notes
    -----
    In a chapter, with models that came with the book::

        from attnlib import pretrained
        from attnlib.pictures import live

        no_attention, bahdanau = (pretrained.load(name).translator for name in ("no-attention", "bahdanau"))
        live({"without attention": no_attention, "Bahdanau": bahdanau})
        live({"Bahdanau": bahdanau}, "the man that loves the european economic area sings")

        everywhere, near = (pretrained.load(name).translator for name in ("global", "local-p"))
        live({"global": everywhere, "local-p": near})
    """
    translators = _checked(models)
    first = _pair(sentence, translators[0])
    packed = [pack(translator) for translator in translators]
    shown, stills, translations = [], [], []
    for (title, translator), model in zip(models.items(), packed, strict=True):
        steps = _steps(translator, first.source)
        words = translator.target_vocabulary.decode([step["word"] for step in steps])
        shown.append({"title": title, "digest": digest(model), "asks": asks(translator), "steps": steps})
        stills.append(_still(title, first.source, words, steps))
        translations.append(f"{title}: {' '.join(words)}")
    data = {
        "names": ["English", "French"],
        "source": packed[0]["source"],
        "target": packed[0]["target"],
        "models": shown,
        "first": [" ".join(side) for side in first[:2] if side],
        "pairs": _pairs(),
        "kinds": [_kinds().get(word, word) for word in packed[0]["source"]],
        "follow": _follow(),
    }
    html = (
        '<div class="attnlib-card attnlib-live tex2jax_ignore mathjax_ignore">\n<div class="attnlib-still">'
        f"<p>English: {escape(' '.join(first.source))}</p>\n{''.join(stills)}</div>\n"
        f'<script type="application/json">{embedded(data)}</script></div>\n{_carried(packed)}'
    )
    return Card(html, f"{' '.join(first.source)}. {'; '.join(translations)}")


def without_carried(html: str) -> str:
    """Take out what live cards carry for a kernel's reader, style, scripts and weights: stored outputs have none."""
    return re.sub(f"{_BEGIN}.*?{_END}", _BEGIN + _END, html, flags=re.DOTALL)


def digest(packed: Mapping[str, Any]) -> str:
    """Name a packed model by its weights, parts and words: the same on every machine."""
    return sha256(json.dumps(packed, sort_keys=True).encode()).hexdigest()[:12]


def style() -> str:
    """Read the style of a live card."""
    return "".join((_FOLDER / name).read_text("utf-8") for name in ("cards.css", "live.css"))


def script() -> str:
    """Read the script of a live card, the models first."""
    return "".join((_FOLDER / name).read_text("utf-8") for name in ("recurrent.js", "live.js"))


def _carried(packed: Sequence[Mapping[str, Any]]) -> str:
    models = (
        f'<script type="application/json" data-model="{digest(model)}">{json.dumps(model)}</script>\n'
        for model in packed
    )
    return f"{_BEGIN}<style>\n{style()}</style>\n{''.join(models)}<script>\n{script()}</script>{_END}"


def _checked(models: Any) -> list[Translator]:
    if not isinstance(models, Mapping):
        raise TypeError(f"models is a {type(models).__name__}; expected for each title a translator")
    if len(models) not in (1, 2):
        raise ValueError(f"models holds {len(models)}; expected one, or two to compare")
    for title, translator in models.items():
        checked_text(title, "a title")
        if not isinstance(translator, Translator):
            raise TypeError(f"models[{title!r}] is a {type(translator).__name__}; expected a Translator")
    translators = list(models.values())
    vocabularies = [(one.source_vocabulary, one.target_vocabulary) for one in translators]
    if vocabularies[0] != vocabularies[-1]:
        raise ValueError("the models have different vocabularies; expected the same words")
    return translators


def _pair(sentence: str | SentencePair | None, translator: Translator) -> SentencePair:
    if sentence is None:
        source, target = _pairs()[1][0]
        return SentencePair(tuple(source.split()), tuple(target.split()))
    given = isinstance(sentence, SentencePair)
    pair = sentence if given else SentencePair(tuple(checked_text(sentence, "sentence").split()), ())
    numbers = translator.source_vocabulary.encode(pair.source)
    if UNKNOWN in numbers:
        raise ValueError(f"sentence holds {pair.source[numbers.index(UNKNOWN)]!r}; expected words that the models know")
    return pair


def _steps(translator: Translator, words: Sequence[str]) -> list[dict[str, Any]]:
    """Translate a sentence as the script does: the numbers of words, EOS among them, and weights in thousandths."""
    source, lengths = encode([words], translator.source_vocabulary)
    hypotheses = greedy(translator, source, lengths, 2 * len(words) + 6)
    numbers = hypotheses.words[0].tolist()
    if hypotheses.weights is None:
        return [{"word": number} for number in numbers]
    weights = (hypotheses.weights[0] * 1000).round().int().tolist()
    return [{"word": number, "weights": row} for number, row in zip(numbers, weights, strict=True)]


def asks(translator: Translator) -> str:
    """Name the state that asks."""
    before = isinstance(translator.decoder, BahdanauDecoder)
    return "The state before the step" if before else "The new state"


@cache
def _pairs() -> list[list[list[str]]]:
    """Draw what a reader may draw, by how many clauses a sentence has at least; none is of the training sentences."""
    drawn = (sample(_EACH, 38 + clauses, [clauses], part="test") for clauses in range(1, _CLAUSES + 1))
    return [[[" ".join(pair.source), " ".join(pair.target)] for pair in pairs] for pairs in drawn]


@cache
def _kinds() -> dict[str, str]:
    """Sort nouns and verbs into kinds whose words stand in the same places; any other word is its own kind."""
    kinds = {}
    for noun in lexicon.NOUNS:
        kinds |= {noun.english: f"{noun.kind} singular", noun.english_plural: f"{noun.kind} plural"}
    for verb in lexicon.VERBS:
        kinds |= {verb.english: "verb plural", f"{verb.english}s": "verb singular"}
    return kinds


@cache
def _follow() -> dict[str, list[str]]:
    """Say which kinds of words may follow: at first, after ""; after "big*", a big, only nouns in the singular."""
    follow = defaultdict(set)
    for pair in sample(_GRAMMAR, 38):
        before, singular = "", False
        for word in pair.source:
            kind = _kinds().get(word, word)
            follow[before].add(kind)
            singular = kind in ("a", "an") if kind in ("a", "an", "the") else singular
            before = kind + "*" * singular
    return {before: sorted(after) for before, after in sorted(follow.items())}


def _still(title: str, source: Sequence[str], target: Sequence[str], steps: Sequence[Mapping[str, Any]]) -> str:
    """Say a translation, and draw its weights with the words along both sides, EOS left out."""
    translation = f'<p>{escape(title)}: <span lang="fr">{escape(" ".join(target))}</span></p>\n'
    weights = [step.get("weights", []) for step in steps[: len(target)]]
    if not any(weights):
        return translation
    left, top = int(width(target) * 0.86) + 8, int(width(source) * 0.86) + 8
    cells = [
        f'<rect x="{left + _CELL * i}" y="{top + _CELL * t}" width="{_CELL}" height="{_CELL}" fill="#0072b2" '
        f'fill-opacity="{weight / 1000:.2f}"></rect>'
        for t, row in enumerate(weights)
        for i, weight in enumerate(row[: len(source)])
        if weight >= 20
    ]
    down = (
        f'<text x="{left - 4}" y="{top + _CELL * t + 12}" text-anchor="end">{escape(word)}</text>'
        for t, word in enumerate(target)
    )
    across = (
        f'<text transform="translate({left + _CELL * i + 12} {top - 4}) rotate(-90)">{escape(word)}</text>'
        for i, word in enumerate(source)
    )
    size = left + _CELL * len(source) + 2, top + _CELL * len(target) + 2
    label = f"Weights of {title}: English across, French down"
    return (
        f'{translation}<svg role="img" aria-label="{escape(label)}" viewBox="0 0 {size[0]} {size[1]}" font-size="12" '
        f'style="width: 100%; max-width: {size[0]}px">'
        f'<rect x="{left}" y="{top}" width="{size[0] - left - 2}" height="{size[1] - top - 2}" fill="#f3f4f6"></rect>'
        f"{''.join(cells)}{''.join(down)}{''.join(across)}</svg>\n"
    )
