"""The attention explorer: where each target word looks, for a reader to point at and to step through.

Source words stand in a column, target words in another, and the thickness of a line between them shows a weight. A
reader points at a target word, or steps from word to word with keys or buttons, and sees its weights with their values.
Buttons switch from one model's weights to another's.
"""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any, NamedTuple

import numpy as np

from attnlib.pictures.cards import (
    KEYS,
    LARGEST,
    Card,
    card,
    check_all,
    checked_mapping,
    checked_numbers,
    checked_text,
    checked_words,
    details,
    embedded,
    framed,
    two_decimals,
    width,
)

_TOP, _PITCH = 42, 26  # pixels: the middle of the first row, and from row to row
_BASE, _VALUE = 64, 104  # pixels from the left: where bars begin, which grow leftwards, and where values end
_GAP = 100  # pixels between source and target words
_WHOLE = 10_000  # weights are kept as whole numbers of ten-thousandths
_THIN = 200  # those below are in the table and in the numbers, but no line is drawn for them


class _Variant(NamedTuple):
    """What is shown at one time."""

    name: str
    target: list[str]
    weights: list[list[int]]  # in ten-thousandths, for each target word


def explore(
    weights: Mapping[str, Any],
    source: Sequence[str],
    target: Sequence[str] | Mapping[str, Sequence[str]],
    *,
    largest: int = LARGEST,
) -> Card:
    """Show where each target word looked, for a reader to point at, to step through, and to compare.

    Parameters
    ----------
    weights : for each title, ``"tgt src"``
        The weights, from 0 to 1, in the order of their buttons.
    source : words
        What was looked at.
    target : words, or for each title words
        What looked; where models translated differently, one list for each.
    largest : int
        What the figure may weigh, in bytes: a page of its own may weigh more than one among others.

    Returns
    -------
    Card
        As the value of a cell it shows itself.
    """
    checked_mapping(weights, "weights", "title")
    source = checked_words(source, "source")
    variants = [_checked(name, weights[name], len(source), target) for name in weights]
    first, left = variants[0], _VALUE + 8 + width(source)
    most = max(width(variant.target) for variant in variants)
    rows = max(len(source), *(len(variant.target) for variant in variants))
    size = left + _GAP + 16 + max(most, width(["target"])), _TOP + _PITCH * rows - 8
    data = {"source": source, "x": [_BASE, _VALUE, left, left + _GAP], "y": [_TOP, _PITCH], "thin": _THIN}
    data["variants"] = [variant._asdict() for variant in variants]
    numbers = [[word, *map(_share, row)] for word, row in zip(first.target, first.weights, strict=True)]
    body = [
        _controls(variants),
        f'<p class="attnlib-shown">{escape(first.name)}</p>' if len(variants) > 1 else "",
        framed(_picture(source, first, left, size)),
        details(f"{first.name}: target down, source across", ["target", *source], numbers),
        f'<script type="application/json">{embedded(data)}</script>',
    ]
    text = f"Explorer of {len(first.target)} words that look at {len(source)}: {'; '.join(weights)}"
    return card("explorer", "\n".join(body), text, largest)


def _checked(name: Any, weights: Any, src: int, target: Any) -> _Variant:
    """Check the weights of a title and its words, its own where `target` is a mapping, or those that all share."""
    checked_text(name, "a title of weights")
    if isinstance(target, Mapping) and name not in target:
        raise ValueError(f"target has no words for {name!r}; expected them for each title of weights")
    words = target[name] if isinstance(target, Mapping) else target
    words = checked_words(words, f"target[{name!r}]" if isinstance(target, Mapping) else "target")
    place = f"weights[{name!r}]"
    shares = checked_numbers(weights, place, (len(words), src), "(target words, source words)")
    check_all((shares >= 0) & (shares <= 1 + 1e-6), shares, place, "weights from 0 to 1")
    return _Variant(name, words, np.rint(np.minimum(shares, 1) * _WHOLE).astype(int).tolist())


def _share(weight: int) -> str:
    return two_decimals(weight / _WHOLE)


def _controls(variants: Sequence[_Variant]) -> str:
    """Write buttons, hidden until the script makes them work."""
    names = "".join(
        f'<button {KEYS} type="button" aria-pressed="false">{escape(variant.name)}</button>' for variant in variants
    )
    steps = "".join(f'<button {KEYS} type="button">{name}</button>' for name in ("← Previous", "Next →", "All words"))
    return (
        '<div class="attnlib-controls" hidden>'
        f'<div role="group" aria-label="variant"{" hidden" if len(variants) == 1 else ""}>{names}</div>'
        f'<div role="group" aria-label="step through the words">{steps}</div></div>'
    )


def _picture(source: Sequence[str], variant: _Variant, left: int, size: tuple[int, int]) -> str:
    """Draw what stands there without the script: the words, and all lines that are not too thin."""
    right, middle = left + _GAP, left + _GAP // 2
    y = [_TOP + _PITCH * n for n in range(max(len(source), len(variant.target)))]
    links = [
        "".join(
            f'<path d="M{left + 6} {y[i]}C{middle} {y[i]} {middle} {y[t]} {right - 6} {y[t]}" '
            f'stroke-width="{weight / 1000:g}"></path>'
            for i, weight in enumerate(row)
            if weight >= _THIN
        )
        for t, row in enumerate(variant.weights)
    ]
    sources = "".join(
        f'<text x="{left}" y="{y[i] + 5}" text-anchor="end">{escape(word)}</text>' for i, word in enumerate(source)
    )
    targets = "".join(
        f'<g><rect x="{right - 4}" y="{y[t] - 12}" width="{size[0] - right}" height="24" rx="4"></rect>'
        f'<text x="{right}" y="{y[t] + 5}">{escape(word)}</text></g>'
        for t, word in enumerate(variant.target)
    )
    most = [
        f"{word} looks most at {source[row.index(max(row))]}, {_share(max(row))}"
        for word, row in zip(variant.target, variant.weights, strict=True)
    ]
    return (
        f'<svg role="img" width="{size[0]}" height="{size[1]}" viewBox="0 0 {size[0]} {size[1]}">'
        f"<title>{escape(variant.name)}</title><desc>Lines from {len(source)} words to {len(most)}, as thick as "
        f"the weights. {escape('; '.join(most))}.</desc>\n"
        f'<text class="muted" x="{left}" y="18" text-anchor="end">source</text>'
        f'<text class="muted" x="{right}" y="18">target</text><g class="attnlib-behind"></g>\n'
        f'<g class="attnlib-links">{"".join(f"<g>{lines}</g>" for lines in links)}</g>\n'
        f'<g class="attnlib-source">{sources}</g>\n<g class="attnlib-target">{targets}</g></svg>'
    )
