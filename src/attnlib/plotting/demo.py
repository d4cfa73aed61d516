"""The attention demo: models that translate in the page, with attention weights that the reader can edit.

The explorer is the demo without a model, for weights that were computed before. Without scripts, on paper and on
GitHub, both are a picture of one sentence with its translations and weights.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cache
from html import escape
from typing import Any

import numpy as np
import torch

from attnlib.data import EOS, UNK, SentencePair, encode_batch
from attnlib.language import lexicon
from attnlib.language.grammar import sample
from attnlib.plotting.cards import Card, Question, card, check_all, checked_weights, digest, two_decimals, width
from attnlib.plotting.packing import pack_models
from attnlib.search import greedy_search
from attnlib.seq2seq import EncoderDecoder
from attnlib.shapes import typechecked

LEAST = 0.9
"""Least weight that a bar must be given to answer a question about it."""

_CLAUSES, _EACH = 8, 4  # sentences to draw: of so many clauses at most, and so many of each number
_GRAMMAR = 3000  # sentences in which it is seen which kind of word may follow which
_LIKELIEST = 3
_WHOLE = 10_000  # weights are kept as whole numbers of ten-thousandths
_FIRST = 4  # the id of the explorer's first target word: those below stand for no words of a sentence
_PITCH, _BAR, _GAP = 26, 60, 90  # pixels of the still picture: from row to row, a bar of weight 1, the lines
_BUNDLE = 12  # pixels: the lines of one target word together


@typechecked
def attention_demo(
    models: Mapping[str, EncoderDecoder],
    sentence: str | SentencePair | None = None,
    *,
    question: Question | None = None,
    step: int = 0,
) -> Card:
    """Build a card of models that translate, with weights that can be edited.

    The reader types a sentence or draws one whose translation is known, chooses a word of the translation, and sees its
    weights as bars and as lines. The reader can drag bars, hide words, and choose other words; the following words are
    translated again, and marked where they change. The models run in the page.

    Parameters
    ----------
    models : mapping of str to EncoderDecoder
        One model, or two to compare, by title, of the English-French grammar, with the same vocabularies.
    sentence : str or SentencePair, optional
        First sentence. A pair includes the right translation. If None, a sentence of two clauses.
    question : Question, optional
        A question that is answered after one of these experiments: ``{"target": word, "source": word}``, the first
        model gives a weight of at least `LEAST` to the source word where it writes the target word; ``{"hidden":
        words}``, exactly these source words are hidden; ``{"clauses": number}``, three sentences of at least so many
        clauses are drawn.
    step : int, default 0
        Position of the word of the translation that is chosen first, if the question names none.

    Returns
    -------
    Card
        The card, as the value of a cell.

    Raises
    ------
    ValueError
        If there are no models or more than two, or their vocabularies differ, or a model cannot be packed, or the
        sentence has no word or an unknown word, or the question names words that do not occur.

    Notes
    -----
    In a chapter, with pretrained models::

        from attnlib import load_pretrained
        from attnlib.plotting import attention_demo

        no_attention, bahdanau = (load_pretrained(name) for name in ("no-attention", "bahdanau"))
        attention_demo({"without attention": no_attention, "Bahdanau": bahdanau})
    """
    networks, packed = list(models.values()), pack_models(models)
    first = _pair(sentence, networks[0])
    steps = [_steps(network, first.source) for network in networks]
    decode = networks[0].target_vocabulary.decode
    written = [decode([one["word"] for one in each]) for each in steps]
    asked = _asked(question, first.source, written[0]) if question else {}
    chosen = asked.get("step", step)
    if not 0 <= chosen < len(steps[0]):
        raise ValueError(f"step is {chosen}; expected the position of a word, 0 to {len(steps[0]) - 1}")
    shown = [
        {"title": title, "digest": digest(model), "D": model["parts"].get("D"), "steps": each}
        for title, model, each in zip(models, packed, steps, strict=True)
    ]
    data = {
        **shown_data(("English", "French", "en", "fr", "word"), first.source, shown, chosen),
        "source": networks[0].source_vocabulary.words,
        "target": networks[0].target_vocabulary.words,
        "bar": asked.get("bar", 0),
        "first": [" ".join(side) for side in first[:2] if side],
        "pairs": _pairs(),
        "kinds": [_kinds().get(word, word) for word in networks[0].source_vocabulary.words],
        "follow": _follow(),
        "question": asked or None,
    }
    stills = "".join(
        still(title, first.source, words, [one.get("weights") for one in each], chosen)
        for title, words, each in zip(models, written, steps, strict=True)
    )
    picture = f'<div class="at-still"><p>English: {escape(" ".join(first.source))}</p>\n{stills}</div>\n'
    translations = "; ".join(f"{title}: {' '.join(words)}" for title, words in zip(models, written, strict=True))
    return card("demo", picture, data, f"{' '.join(first.source)}. {translations}", packed, question=question)


def attention_explorer(
    weights: Mapping[str, Any],
    source: Sequence[str],
    target: Sequence[str] | Mapping[str, Sequence[str]],
    *,
    question: Question | None = None,
) -> Card:
    """Build a card of attention weights to point at, step through, and compare.

    Parameters
    ----------
    weights : mapping of str to array, shape (tgt, src)
        Weights by title, from 0 to 1, in the order of their buttons.
    source : sequence of str
        Source words.
    target : sequence of str, or mapping of str to sequence of str
        Target words; if the translations differ, a sequence for each title.
    question : Question, optional
        A question that is answered after each of the titles has been chosen.

    Returns
    -------
    Card
        The card, as the value of a cell.
    """
    if not weights:
        raise ValueError("weights is empty; expected weights for at least one title")
    written = target if isinstance(target, Mapping) else dict.fromkeys(weights, target)
    if missing := weights.keys() - written.keys():
        raise ValueError(f"target has no words for {min(missing)!r}; expected words for each title of weights")
    known, models = sorted({word for name in weights for word in written[name]}), []
    for name, cells in weights.items():
        shares = checked_weights(f"weights[{name!r}]", cells, written[name], source)
        check_all((shares >= 0) & (shares <= 1 + 1e-6), shares, f"weights[{name!r}]", "weights from 0 to 1")
        rows = np.rint(np.minimum(shares, 1) * _WHOLE).astype(int).tolist()
        ids = [_FIRST + known.index(word) for word in written[name]]
        steps = [{"word": word, "weights": row} for word, row in zip(ids, rows, strict=True)]
        models.append({"title": name, "steps": steps})
    data = shown_data(("source", "target", "", "", "word"), list(source), models) | {"target": known}
    if question:
        data["question"] = {"right": question.right, "titles": True}
    (title, *_), first = weights, models[0]["steps"]
    drawn = still(title, source, written[title], [step["weights"] for step in first], 0)
    picture = f'<div class="at-still">{drawn}</div>\n'
    text = f"Explorer of {len(first)} words that look at {len(source)}: {'; '.join(weights)}"
    return card("demo", picture, data, text, question=question)


def shown_data(
    names: Sequence[str], words: Sequence[str], models: Sequence[Mapping[str, Any]], step: int = 0
) -> dict[str, Any]:
    """Return the data of a demo's script.

    Entries that only some demos need are empty: vocabularies, sentences to draw, possible next words, a question.

    Parameters
    ----------
    names : sequence of str
        Names of the source and the target side.
    words : sequence of str
        The sentence.
    models : sequence of mapping
        Each model, with its translation and weights.
    step : int, default 0
        Position of the word of the translation that is chosen first.

    Returns
    -------
    dict
        The data.
    """
    empty = {"source": [], "target": [], "bar": 0, "first": [""], "pairs": [], "kinds": [], "follow": {}}
    return {**empty, "names": names, "words": words, "models": models, "step": step}


def _pair(sentence: str | SentencePair | None, network: EncoderDecoder) -> SentencePair:
    if sentence is None:
        source, target = _pairs()[1][0]
        return SentencePair(tuple(source.split()), tuple(target.split()))
    pair = sentence if isinstance(sentence, SentencePair) else SentencePair(tuple(sentence.split()), ())
    numbers = network.source_vocabulary.encode(pair.source)
    if UNK in numbers:
        raise ValueError(f"sentence holds {pair.source[numbers.index(UNK)]!r}; expected words that the models know")
    return pair


def _asked(question: Question, source: Sequence[str], written: Sequence[str]) -> dict[str, Any]:
    """Return the required experiment of a question as ids, for the script."""

    def place(word: str, words: Sequence[str]) -> int:
        if word not in words:
            raise ValueError(f"question.tried names {word!r}; expected a word of {' '.join(words)!r}")
        return words.index(word)

    match dict(question.tried):
        case {"target": target, "source": bar}:
            tried = {"step": place(target, written), "bar": place(bar, source), "least": LEAST}
        case {"hidden": words}:
            tried = {"hidden": sorted(place(word, source) for word in words)}
        case {"clauses": int(number)}:
            tried = {"clauses": number}
        case _:
            raise ValueError(f"question.tried is {question.tried}; expected target and source, or hidden, or clauses")
    return {"right": question.right, **tried}


@torch.no_grad()
def _steps(network: EncoderDecoder, words: Sequence[str]) -> list[dict[str, Any]]:
    """Translate a sentence as the script does, and return each step.

    A step has the word, EOS counted, its weights in ten-thousandths, and its likeliest words with their probabilities
    in thousandths.

    Returns
    -------
    list of dict
        The steps.
    """
    source, lengths = encode_batch([words], network.source_vocabulary)
    best = greedy_search(network, source, lengths, 2 * len(words) + 6)
    logits, attended = network(source, lengths, best.ids)
    logits[..., :EOS] = -torch.inf
    shares, ids = logits[0].double().softmax(1).topk(_LIKELIEST)
    likely = torch.stack([ids, (1000 * shares).round().long()], 2)
    columns = {"word": best.ids[0].tolist(), "likely": likely.tolist()}
    if attended is not None:
        columns["weights"] = (attended.to_dense(source.shape[1])[0].double() * _WHOLE).round().int().tolist()
        if attended.center is not None:
            columns["center"] = [round(center, 4) for center in attended.center[0].tolist()]
    return [dict(zip(columns, step, strict=True)) for step in zip(*columns.values(), strict=True)]


def still(
    title: str, source: Sequence[str], target: Sequence[str], weights: Sequence[Sequence[int] | None], step: int
) -> str:
    """Draw the still picture of a translation, with words down both sides.

    Parameters
    ----------
    title : str
        Title of the model.
    source, target : sequence of str
        The sentence and its translation.
    weights : sequence of (sequence of int, or None)
        Weights of each step, in ten-thousandths. They are the thickness of the lines.
    step : int
        Position of the word whose weights are also drawn as bars.

    Returns
    -------
    str
        HTML of the translation and, with weights, an SVG picture.
    """
    translation = f'<p>{escape(title)}: <span lang="fr">{escape(" ".join(target))}</span></p>\n'
    if weights[0] is None:
        return translation
    written = [*target, "(end)"] if len(weights) > len(target) else list(target)
    read = [*source, "(end)"] if len(weights[0]) > len(source) else list(source)
    left = _BAR + 48 + width(read)
    right, size = left + _GAP, (left + _GAP + 12 + width(written), _PITCH * max(len(read), len(written)) + 4)
    middle = [_PITCH * n + 15 for n in range(max(len(read), len(written)))]
    rows = []
    for i, word in enumerate(read):
        share, bar = weights[step][i] / _WHOLE, f'<rect x="0" y="{middle[i] - 9}" height="18"'
        rows.append(
            f'{bar} width="{_BAR}" fill="var(--raise, #f1f3f5)"></rect>'
            f'{bar} width="{_BAR * share:.1f}" fill="var(--weight, #0072b2)"></rect>'
            f'<text x="{_BAR + 6}" y="{middle[i] + 5}" font-size="12">{two_decimals(share)}</text>'
            f'<text x="{left - 6}" y="{middle[i] + 5}" text-anchor="end">{escape(word)}</text>'
        )
    for t, word in enumerate(written):
        bold = ' font-weight="700"' if t == step else ""
        rows.append(f'<text x="{right + 6}" y="{middle[t] + 5}"{bold}>{escape(word)}</text>')
    lines = "".join(
        _lines(row, middle, middle[t], (left, right), 0.8 if t == step else 0.2) for t, row in enumerate(weights)
    )
    most = [f"{word} attends most to {read[row.index(max(row))]}" for word, row in zip(written, weights, strict=True)]
    label = f"{title}: lines from {len(read)} words to {len(written)}, as thick as the weights. {'; '.join(most)}."
    return (
        f'{translation}<svg role="img" aria-label="{escape(label)}" viewBox="0 0 {size[0]} {size[1]}" font-size="14" '
        f'fill="currentColor" style="width: 100%; max-width: {size[0]}px">{lines}{"".join(rows)}</svg>\n'
    )


def _lines(row: Sequence[int], middle: Sequence[int], y: int, ends: tuple[int, int], opacity: float) -> str:
    """Draw the lines of one target word, side by side at its end."""
    (left, right), to, lines = ends, y - _BUNDLE / 2, []
    for i, weight in enumerate(row):
        thick = _BUNDLE * weight / _WHOLE
        if weight >= 50:
            bend, end = (left + right) / 2, f"{to + thick / 2:.1f}"
            lines.append(
                f'<path d="M{left} {middle[i]}C{bend:g} {middle[i]} {bend:g} {end} {right} {end}" '
                f'stroke-width="{max(thick, 0.75):.2f}"></path>'
            )
        to += thick
    return f'<g fill="none" stroke="var(--weight, #0072b2)" opacity="{opacity}">{"".join(lines)}</g>'


@cache
def _pairs() -> list[list[list[str]]]:
    """Return the sentences that the reader can draw, by least number of clauses.

    None of them is a training sentence.

    Returns
    -------
    list of lists of (source, target)
        Sentence pairs for each least number of clauses.
    """
    drawn = (sample(_EACH, 38 + clauses, [clauses], part="test") for clauses in range(1, _CLAUSES + 1))
    return [[[" ".join(pair.source), " ".join(pair.target)] for pair in pairs] for pairs in drawn]


@cache
def _kinds() -> dict[str, str]:
    """Return the kind of each noun and verb, whose words have the same positions.

    Any other word is its own kind.

    Returns
    -------
    dict
        Kind of each noun and verb.
    """
    kinds = {}
    for noun in lexicon.NOUNS:
        kinds |= {noun.english: f"{noun.kind} singular", noun.english_plural: f"{noun.kind} plural"}
    for verb in lexicon.VERBS:
        kinds |= {verb.english: "verb plural", f"{verb.english}s": "verb singular"}
    return kinds


@cache
def _follow() -> dict[str, list[str]]:
    """Return the kinds of words that can follow each kind.

    The first word follows "". An asterisk marks a singular noun phrase: only singular nouns follow "big*".

    Returns
    -------
    dict
        Kinds of words that follow each kind.
    """
    follow = defaultdict(set)
    for pair in sample(_GRAMMAR, 38):
        before, singular = "", False
        for word in pair.source:
            kind = _kinds().get(word, word)
            follow[before].add(kind)
            singular = kind in ("a", "an") if kind in ("a", "an", "the") else singular
            before = kind + "*" * singular
    return {before: sorted(after) for before, after in sorted(follow.items())}
