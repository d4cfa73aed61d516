"""The comparison: one sentence, translated in the page by several models side by side.

Without scripts, on paper and on GitHub, it is a picture of one sentence with all translations and weights.
"""

from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from html import escape
from math import inf
from typing import NamedTuple

import torch

from attnbook.cards.card import Card, Question, card, digest, two_decimals
from attnbook.cards.french import grammar_tables
from attnbook.cards.packing import pack_models
from attnbook.costs import count_macs, count_parameters
from attnbook.language.phrases import concatenate, words
from attnbook.language.sentences import sample
from attnlib.batching import encode_batch
from attnlib.checks import check_whole
from attnlib.data import EOS, SentencePair, as_pair
from attnlib.search import greedy_search
from attnlib.seq2seq import EncoderDecoder

MOST = 8
"""Greatest number of models of a card, and of clauses of a sentence that grows."""

_END = "(end)"
_SEEDS = 2, 419, 668, 21, 33, 47, 60  # of sentences: three in which models fail one after another, then as they come
_SHADES = 10  # of weights: paths of one opacity each

_LEGEND = (
    '<p class="at-legend">A row is a French word, and a column is an English word; the darker the cell, the greater '
    'the weight. <span class="at-wrong">× red</span>: not in the right translation. Each dot is a number of clauses: '
    '<b class="at-yes">●</b> all words right, <b class="at-no">✕</b> not all, ○ not tried. '
    "Multiply-adds are those of one French word.</p>"
)


class _Shown(NamedTuple):
    """A model in the still picture: its translation, the end counted, with the weights; its size, and its costs."""

    title: str
    words: list[str]
    weights: list[list[float]] | None
    size: int
    cost: list[int]


def model_comparison(
    models: Mapping[str, EncoderDecoder],
    sentences: Sequence[Sequence[SentencePair | tuple]] = (),
    *,
    length: int = 2,
    step: int = 0,
    question: Question | None = None,
) -> Card:
    """Build a card in which several models translate the same sentence.

    The reader types a sentence, or lets one grow by a clause at a time, and puts first in English what French puts
    last. Every model translates it; words that are not in the right translation are marked. The reader chooses a word
    of a translation, and sees where each model looks when it writes it. A narrow screen shows two models, which the
    reader chooses; the others are a swipe away. The models run in the page.

    Parameters
    ----------
    models : mapping of str to EncoderDecoder
        Up to `MOST` models by title, of the grammar of `attnbook.language.sentences`, with the same vocabularies.
    sentences : sequence of sequences of SentencePair, optional
        Sentences that grow, as lists of clauses. If empty, those of `growing_sentences`: in the first three, the
        pretrained models fail one after another.
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
    packed = pack_models(models, MOST)
    growing = [[as_pair(clause) for clause in clauses] for clauses in sentences] or growing_sentences()
    check_whole(1, len(growing[0]), length=length)
    pair = joined(growing[0][:length])
    shown = [_show(title, model, pair.source) for title, model in models.items()]
    lead = shown[0].words
    check_whole(0, len(lead) - 1, step=step)
    network = next(iter(models.values()))
    data = {
        "grammar": grammar_tables(),
        "source": network.source_vocabulary.words,
        "target": network.target_vocabulary.words,
        "models": [
            {"title": each.title, "digest": digest(one), "cost": each.cost}
            for each, one in zip(shown, packed, strict=True)
        ],
        "sentences": [[" ".join(clause.source) for clause in one] for one in growing],
        "length": length,
        "step": step,
        "question": question and question.right,
    }
    english, right = [*pair.source, _END], [*pair.target, _END]
    panels = "".join(_panel(each, right, english, length, len(growing[0])) for each in shown)
    heads = " ".join(f"<span>{escape(word)}</span>" for word in english)
    body = (
        f'<div class="at-bench" hidden></div><p class="at-english" lang="en">{escape(" ".join(pair.source))}</p>'
        f'<p class="at-right">Right: <span lang="fr">{escape(" ".join(pair.target))}</span></p>'
        f'<p class="at-lead">Where each model looks when it writes <b lang="fr">{escape(lead[step])}</b></p>'
        f'<div class="at-rows" style="--n: {len(english)}"><div class="at-words" lang="en">{heads}</div>'
        f"{''.join(_row(each, lead, step, english) for each in shown)}</div>\n"
        f'<div class="at-panels"><div class="at-strip" tabindex="0" role="group" aria-label="Models">'
        f"{panels}</div>{_LEGEND}</div>\n"
    )
    translations = "; ".join(f"{each.title}: {' '.join(each.words[:-1])}" for each in shown)
    return card("comparison", body, data, f"{' '.join(pair.source)}. {translations}", packed, question=question)


def growing_sentences() -> list[list[SentencePair]]:
    """Draw the sentences that a card lets grow if it is given none.

    Returns
    -------
    list of lists of SentencePair
        Eight short clauses of each sentence. Its first three stages are of the test part; the others are longer than
        all sentences of a training.
    """
    drawn = (sample(40, seed, [1], part="test", reordering=0) for seed in _SEEDS)
    return [[clause for clause in clauses if len(clause.source) < 9][:MOST] for clauses in drawn]


def joined(clauses: Sequence[SentencePair]) -> SentencePair:
    """Join clauses by *and*.

    Parameters
    ----------
    clauses : sequence of SentencePair
        At least one clause.

    Returns
    -------
    SentencePair
        The sentence.
    """
    first, *others = clauses
    return concatenate(first, *(part for clause in others for part in (words("and", "et"), clause)))


@torch.no_grad()
def _show(title: str, model: EncoderDecoder, sentence: Sequence[str]) -> _Shown:
    source, lengths = encode_batch([sentence], model.source_vocabulary)
    best = greedy_search(model, source, lengths, len(sentence) + 9)
    ids = best.ids[0].tolist()
    words = [*model.target_vocabulary.decode(ids), *[_END] * (ids[-1] == EOS)]
    weights = None if best.weights is None else best.weights[0].tolist()
    return _Shown(title, words, weights, count_parameters(model), _costs(model))


def _costs(model: EncoderDecoder) -> list[int]:
    """Return multiply-adds: of a step, more for a source word, for how many such, more for a target word."""
    one, two, later = count_macs(model, 1), count_macs(model, 2), count_macs(model, 1, 1)
    width = getattr(getattr(getattr(model.decoder, "attention", None), "window", None), "half_width", inf)
    return [2 * one - two, two - one, 2 * width + 1 if width < inf else 999, later - one]


def _row(shown: _Shown, lead: list[str], step: int, english: list[str]) -> str:
    """Draw the weights of one model's step as bars."""
    t = step if shown.words[: step + 1] == lead[: step + 1] else -1
    bars, said = "", "no weights: one vector for all"
    if shown.weights and t < 0:
        said = "does not write it here"
    elif shown.weights:
        row = shown.weights[t]
        bars = "".join(f"M{i + 0.08:.2f} 1v{-w:.3f}h.84V1z" for i, w in enumerate(row) if w >= 0.005)
        i = row.index(max(row))
        said = f"most at {english[i]}, {two_decimals(row[i])}"
    return (
        f'<div class="at-row"><p><b>{escape(shown.title)}</b> <small>{escape(said)}</small></p>'
        f'<svg width="400" height="30" fill="var(--weight, #0072b2)" viewBox="0 0 {len(english)} 1" '
        f'preserveAspectRatio="none" aria-hidden="true"><path d="{bars}"></path></svg></div>'
    )


def _panel(shown: _Shown, right: list[str], english: list[str], length: int, longest: int) -> str:
    """Draw one model's translation beside its weights, and what it costs."""
    written, (base, slope, most, later) = shown.words, shown.cost
    blocks = SequenceMatcher(None, written, right, autojunk=False).get_matching_blocks()
    kept = {a + n for a, _, size in blocks for n in range(size)}
    options = " ".join(
        f"<span{'' if t in kept else ' class=at-wrong'}>{escape(word)}</span>" for t, word in enumerate(written)
    )
    shades = [""] * _SHADES
    for t, row in enumerate(shown.weights or []):
        for i, weight in enumerate(row):
            if weight >= 0.03:
                shades[min(int(_SHADES * weight), _SHADES - 1)] += f"M{i} {t}h1v1h-1z"
    cells = "".join(f'<path d="{d}" opacity="{(n + 1) / _SHADES}"></path>' for n, d in enumerate(shades))
    wrong = max(len(written), len(right)) - len(kept)
    now = '<b class="at-no">✕</b>' if wrong else '<b class="at-yes">●</b>'
    dots = "".join(now if n == length else "<b>○</b>" for n in range(1, longest + 1))
    macs = base + slope * min(len(english), most) + later * (len(written) - 1) / 2
    return (
        f'<section class="at-panel{" at-failed" * bool(wrong)}"><p><b>{escape(shown.title)}</b> '
        f'<small class="at-told">{f"{wrong} wrong" if wrong else "✓ right"}</small></p>'
        f'<div class="at-matrix" style="--rows: {len(written)}"><div class="at-french" lang="fr">{options}</div>'
        f'<svg width="200" height="{15 * len(written)}" viewBox="0 0 {len(english)} {len(written)}" '
        f'fill="var(--weight, #0072b2)" preserveAspectRatio="none" aria-hidden="true">{cells}</svg></div>'
        f'<p class="at-dots" role="img" aria-label="Clauses: {length} {"wrong" if wrong else "right"}">{dots}</p>'
        f'<p class="at-cost"><b>{shown.size / 1000:.0f} k</b> parameters<br><b class="at-macs">{macs / 1000:.0f} k</b> '
        "multiply-adds</p></section>"
    )
