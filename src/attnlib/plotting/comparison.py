"""The comparison: one sentence, translated in the page by several models side by side.

Without scripts, on paper and on GitHub, it is a picture of one sentence with all translations and weights.
"""

from collections.abc import Mapping, Sequence
from html import escape
from math import inf
from random import Random
from typing import Any

import torch

from attnlib.costs import count_macs
from attnlib.data import EOS, SentencePair, encode_batch
from attnlib.language import lexicon
from attnlib.language.dictionary import ADJECTIVES, CONJUNCTIONS, NOUNS, PREPOSITIONS, VERBS
from attnlib.language.phrases import concatenate, words
from attnlib.language.sentences import part_of, sample
from attnlib.plotting.cards import Card, Question, card, digest, two_decimals
from attnlib.plotting.packing import pack_models
from attnlib.search import greedy_search
from attnlib.seq2seq import EncoderDecoder
from attnlib.shapes import typechecked

MOST = 8
"""Greatest number of models of a card, and of clauses of a sentence that grows."""

_END = "(end)"
_SENTENCES = 8  # to draw
_SHADES = 10  # of weights: paths of one opacity each

_Translation = tuple[list[str], list[list[float]] | None]  # the words, with the end, and their weights


@typechecked
def model_comparison(
    models: Mapping[str, EncoderDecoder],
    sentences: Sequence[Sequence[SentencePair]] = (),
    *,
    notes: Mapping[str, str] | None = None,
    length: int = 2,
    step: int = 0,
    question: Question | None = None,
) -> Card:
    """Build a card in which several models translate the same sentence.

    The reader types a sentence, or lets one grow by a clause at a time, and puts first in English what French puts
    last. Every model translates it; words that are not in the right translation are marked. The reader chooses a word
    of a translation, and sees where each model looks when it writes it. The models run in the page.

    Parameters
    ----------
    models : mapping of str to EncoderDecoder
        Up to `MOST` models by title, of the grammar of `attnlib.language.sentences`, with the same vocabularies.
    sentences : sequence of sequences of SentencePair, optional
        Sentences that grow, as lists of clauses. If empty, sentences are drawn, none of them from the training part.
    notes : mapping of str to str, optional
        A line below the title of a model.
    length : int, default 2
        Clauses of the sentence that is shown first.
    step : int, default 0
        Position of the word of the first model's translation that is chosen first.
    question : Question, optional
        A question that is answered when a sentence has grown to its full length.

    Returns
    -------
    Card
        The card, as the value of a cell.

    Raises
    ------
    ValueError
        If there are no models or more than `MOST`, or their vocabularies differ, or a model cannot be packed, or
        `length` or `step` is out of range.
    """
    packed, growing = pack_models(models, MOST), sentences or _draw_sentences()
    if not 1 <= length <= len(growing[0]):
        raise ValueError(f"length is {length}; expected the number of some of the {len(growing[0])} clauses")
    shown = _joined(growing[0][:length])
    written = {title: _translate(model, shown.source) for title, model in models.items()}
    lead = next(iter(written.values()))[0]
    if not 0 <= step < len(lead):
        raise ValueError(f"step is {step}; expected the position of a word, 0 to {len(lead) - 1}")
    network = next(iter(models.values()))
    costs = {title: _costs(model) for title, model in models.items()}
    data = {
        "grammar": grammar_tables(),
        "source": network.source_vocabulary.words,
        "target": network.target_vocabulary.words,
        "models": [
            {"title": title, "digest": digest(one), "cost": costs[title]}
            for title, one in zip(models, packed, strict=True)
        ],
        "sentences": [[" ".join(clause.source) for clause in one] for one in growing],
        "length": length,
        "step": step,
        "question": question and question.right,
    }
    english = [*shown.source, _END]
    rows = "".join(_row(title, lead, step, english, each) for title, each in written.items())
    panels = "".join(
        _panel(title, (notes or {}).get(title, ""), [*shown.target, _END], english, each)
        for title, each in written.items()
    )
    heads = " ".join(f"<span>{escape(word)}</span>" for word in english)
    body = (
        f'<div class="at-bench" hidden></div><p class="at-english" lang="en">{escape(" ".join(shown.source))}</p>'
        f'<p class="at-right">Right: <span lang="fr">{escape(" ".join(shown.target))}</span></p>'
        f'<p class="at-lead">Where each model looks when it writes <b lang="fr">{escape(lead[step])}</b></p>'
        f'<div class="at-rows" style="--n: {len(english)}"><div class="at-words" lang="en">{heads}</div>{rows}</div>\n'
        f'<div class="at-panels">{panels}</div>\n'
    )
    translations = "; ".join(f"{title}: {' '.join(each[0][:-1])}" for title, each in written.items())
    return card("comparison", body, data, f"{' '.join(shown.source)}. {translations}", packed, question=question)


def _draw_sentences() -> list[list[SentencePair]]:
    """Draw sentences that grow; each clause has a place, and no stage is a sentence of the training part."""
    clauses = [pair for pair in sample(400, 38, [1], part="test", reordering=0) if {*PREPOSITIONS} & {*pair.source}]
    rng, drawn = Random(38), []
    for _ in range(_SENTENCES):
        grown: list[SentencePair] = []
        while len(grown) < MOST:
            more = [*grown, clauses[int(rng.random() * len(clauses))]]
            if len(more[-1].source) < 10 and part_of(_joined(more).target) == "test":
                grown = more
        drawn.append(grown)
    return drawn


def _joined(clauses: Sequence[SentencePair]) -> SentencePair:
    first, *others = clauses
    return concatenate(first, *(part for clause in others for part in (words("and", "et"), clause)))


@torch.no_grad()
def _translate(model: EncoderDecoder, sentence: Sequence[str]) -> _Translation:
    """Return the words of a translation, its end counted, and their weights."""
    source, lengths = encode_batch([sentence], model.source_vocabulary)
    best = greedy_search(model, source, lengths, len(sentence) + 9)
    ids = best.ids[0].tolist()
    written = [*model.target_vocabulary.decode(ids), *[_END] * (ids[-1] == EOS)]
    return written, None if best.weights is None else best.weights[0].tolist()


def _costs(model: EncoderDecoder) -> list[int]:
    """Return multiply-adds: of a step, more for a source word, for how many such, more for a target word."""
    one, two, later = count_macs(model, 1), count_macs(model, 2), count_macs(model, 1, 1)
    width = getattr(getattr(getattr(model.decoder, "attention", None), "window", None), "half_width", inf)
    return [2 * one - two, two - one, 2 * width + 1 if width < inf else 999, later - one]


def _row(title: str, lead: list[str], step: int, english: list[str], each: _Translation) -> str:
    """Draw the weights of one model's step as bars."""
    written, weights = each
    t = step if written[: step + 1] == lead[: step + 1] else -1
    bars, said = "", "no weights: one vector for all"
    if weights and t < 0:
        said = "does not write it here"
    elif weights:
        row = weights[t]
        bars = "".join(f"M{i + 0.08:.2f} 1v{-w:.3f}h.84V1z" for i, w in enumerate(row) if w >= 0.005)
        i = row.index(max(row))
        said = f"most at {english[i]}, {two_decimals(row[i])}"
    return (
        f'<div class="at-row"><p><b>{escape(title)}</b> <small>{escape(said)}</small></p>'
        f'<svg width="400" height="30" fill="var(--weight, #0072b2)" viewBox="0 0 {len(english)} 1" '
        'preserveAspectRatio="none" aria-hidden="true">'
        f'<path d="{bars}"></path></svg></div>'
    )


def _panel(title: str, note: str, right: list[str], english: list[str], each: _Translation) -> str:
    """Draw one model's translation beside its weights."""
    written, weights = each
    fits = [n < len(right) and word == right[n] for n, word in enumerate(written)]
    shades = [""] * _SHADES
    for t, row in enumerate(weights or []):
        for i, weight in enumerate(row):
            if weight >= 0.03:
                shades[min(int(_SHADES * weight), _SHADES - 1)] += f"M{i} {t}h1v1h-1z"
    cells = "".join(f'<path d="{d}" opacity="{(n + 1) / _SHADES}"></path>' for n, d in enumerate(shades))
    options = " ".join(
        f"<span{'' if fit else ' class=at-wrong'}>{escape(word)}</span>"
        for word, fit in zip(written, fits, strict=True)
    )
    wrong = written != right
    return (
        f'<section class="at-panel{" at-failed" * wrong}"><p><b>{escape(title)}</b> '
        f'<small class="at-told">{"not right" if wrong else "✓ right"}</small></p><p class="at-note">{escape(note)}</p>'
        f'<div class="at-matrix" style="--rows: {len(written)}"><div class="at-french" lang="fr">{options}</div>'
        f'<svg width="200" height="{15 * len(written)}" viewBox="0 0 {len(english)} {len(written)}" '
        'fill="var(--weight, #0072b2)" preserveAspectRatio="none" aria-hidden="true">'
        f"{cells}</svg></div>"
        '<p class="at-dots"></p><p class="at-cost"></p></section>'
    )


def grammar_tables() -> dict[str, Any]:
    """Return the tables of the grammar, for ``french.js``."""
    nouns = {}
    for noun in NOUNS:
        for english, french, plural in (
            (noun.english, noun.french, 0),
            (noun.english_plural, noun.french_plural, 1),
        ):
            nouns[english] = {
                "french": french,
                "feminine": int(noun.gender == "f"),
                "plural": plural,
                "kind": noun.kind,
            }
    adjectives = {
        one.english: {
            "before": one.place == "before",
            "forms": one[3:8],
            "type": one.word_class,
            "kinds": one.kinds.split(","),
        }
        for one in ADJECTIVES
    }
    verbs = {
        verb.english: {
            "forms": [verb.french, verb.french_plural],
            "particle": verb.particle,
            "to": verb.to,
            "kinds": verb.kinds.split(",") if verb.kinds else [],
            "subjects": verb.subjects.split(","),
        }
        for verb in VERBS
    }
    return {
        "nouns": nouns,
        "adjectives": adjectives,
        "verbs": verbs,
        "places": PREPOSITIONS,
        "conjunctions": CONJUNCTIONS,
        "elided": lexicon.ELIDED,
        "contracted": {" ".join(pair): word for pair, word in lexicon.CONTRACTED.items()},
    }
