"""The attention explorer: where each target word looks, for a reader to point at and to step through.

Source words stand in a column, target words in another, and the thickness of a line between them shows a weight. A
reader points at a target word, or steps from word to word with keys or buttons, and sees its weights with their values
and, for a local variant, the window, the centre and the Gaussian. Buttons switch variants, a slider changes `D`.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Int, Real

from attnlib.checks import check_whole
from attnlib.pictures.cards import (
    KEYS,
    LARGEST,
    Card,
    card,
    checked_mapping,
    checked_numbers,
    checked_text,
    checked_words,
    framed,
    table,
    two_decimals,
    width,
    words_by_title,
)
from attnlib.shapes import Array

_TOP, _PITCH = 42, 26  # pixels: the middle of the first row, and from row to row
_BASE, _VALUE = 64, 104  # pixels from the left: where bars begin, which grow leftwards, and where values end
_GAP = 100  # pixels between source and target words
_WHOLE = 10_000  # weights are kept as whole numbers of ten-thousandths
_THIN = 200  # those below are in the table and in the numbers, but no line is drawn for them


@dataclass(frozen=True, eq=False)
class Local:
    """The attention of a local variant, with what its window is drawn from.

    Attributes
    ----------
    weights : ``"tgt src"``
        The weights over the whole source, 0 outside the window. They need not sum to 1.
    centres : ``"tgt"``
        p_t of each target word, in source positions from 0.
    half_width : int
        `D`, in source positions, at least 1.
    gaussian : bool
        Whether a Gaussian with a standard deviation of D / 2 favours the centre: true of local-p, not of local-m.
    """

    weights: Real[Array, "tgt src"]
    centres: Real[Array, "tgt"]
    half_width: int
    gaussian: bool = True


class _Setting(NamedTuple):
    """What is shown at one time: a variant, at one half-width if it is local."""

    name: str
    target: list[str]
    weights: Int[np.ndarray, "tgt src"]  # in ten-thousandths
    local: Local | None


def explore(
    weights: Mapping[str, Any],
    source: Sequence[str],
    target: Sequence[str] | Mapping[str, Sequence[str]],
    *,
    across: str = "source",
    down: str = "target",
    largest: int = LARGEST,
) -> Card:
    """Show where each target word looked, for a reader to point at, to step through, and to compare.

    Parameters
    ----------
    weights : for each title, ``"tgt src"``, or a `Local`, or several
        The variants, in the order of their buttons. A `Local` also shows its window. A list of them, one for each
        half-width, gets a slider.
    source : words
        What was looked at.
    target : words, or for each title words
        What looked; where models translated differently, one list for each.
    across, down : str
        What the source words and the target words are.
    largest : int
        What the figure may weigh, in bytes: a page of its own may weigh more than one among others.

    Returns
    -------
    Card
        As the value of a cell it shows itself.

    Notes
    -----
    In a chapter, `pair` being a sentence pair, EOS left out::

        def looks(translator):
            source, lengths, target = batch([pair], translator.source_vocabulary, translator.target_vocabulary)
            attended = translator(source, lengths, target).attended
            return attended.dense(source.shape[1])[0, :-1, :-1].detach()


        def looks_near(translator, D):
            (p,) = centres(translator, [pair])
            return figures.Local(looks(translator), p, D)


        near = [looks_near(translator, D) for D, translator in by_half_width.items()]
        figures.explore({"global": looks(everywhere), "local-p": near}, pair.source, pair.target)
    """
    checked_mapping(weights, "weights", "title")
    source, across, down = checked_words(source, "source"), checked_text(across, "across"), checked_text(down, "down")
    words = words_by_title(target, weights)
    settings = [setting for name in weights for setting in _settings(name, weights[name], source, words[name])]
    first, left = settings[0], _VALUE + 8 + width(source)
    most = max(width(setting.target) for setting in settings)
    rows = max(len(source), *(len(setting.target) for setting in settings))
    size = left + _GAP + 16 + max(most, width([down])), _TOP + _PITCH * rows - 8
    data = {"source": source, "across": across, "down": down, "x": [_BASE, _VALUE, left, left + _GAP]}
    data |= {"y": [_TOP, _PITCH], "thin": _THIN, "settings": [_data(setting) for setting in settings]}
    safe = json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    body = [
        _controls(settings),
        f'<p class="attnlib-shown">{escape(_title(first))}</p>' if len(settings) > 1 else "",
        framed(_picture(first, data, size)),
        table(f"{_title(first)}: {down} down, {across} across", *_rows(first, source, down)),
        f'<script type="application/json">{safe}</script>',
    ]
    said = f"Explorer of {len(first.target)} words that look at {len(source)}: {'; '.join(map(_title, settings))}"
    return card("explorer", "\n".join(body), said, largest)


def _settings(name: Any, variant: Any, source: list[str], words: list[str]) -> list[_Setting]:
    """Check one variant, and list what of it can be shown: one setting, or one for each half-width."""
    checked_text(name, "a title of weights")
    place, expected = f"weights[{name!r}]", (len(words), len(source))
    if isinstance(variant, Local):
        variant = [variant]
    several = isinstance(variant, Sequence) and all(isinstance(one, Local) for one in variant)
    if not several:
        return [_Setting(name, words, _checked_weights(variant, place, expected), None)]
    widths = [_checked_local(local, place, len(words)).half_width for local in variant]
    if not widths or len(set(widths)) < len(widths):
        raise ValueError(f"{place} has the half-widths {widths}; expected at least one, and each once")
    ordered = sorted(variant, key=lambda local: local.half_width)
    return [_Setting(name, words, _checked_weights(local.weights, place, expected), local) for local in ordered]


def _checked_weights(weights: Any, place: str, expected: tuple[int, int]) -> Int[np.ndarray, "tgt src"]:
    shares = checked_numbers(weights, place)
    if shares.shape != expected:
        raise ValueError(f"{place} has shape {shares.shape}; expected {expected}, (target words, source words)")
    wrong = shares[~((shares >= 0) & (shares <= 1 + 1e-6))]
    if wrong.size:
        raise ValueError(f"{place} holds {wrong[0]:g}; expected weights from 0 to 1")
    return np.rint(np.minimum(shares, 1) * _WHOLE).astype(int)


def _checked_local(local: Local, place: str, tgt: int) -> Local:
    check_whole(**{f"{place}.half_width": local.half_width})
    if not isinstance(local.gaussian, bool):
        raise TypeError(f"{place} has gaussian {local.gaussian!r}; expected True or False")
    centres = checked_numbers(local.centres, f"{place}.centres")
    if centres.shape != (tgt,) or not np.isfinite(centres).all():
        raise ValueError(f"{place} has centres {centres}; expected {tgt} finite numbers, one for each target word")
    return local


def _title(setting: _Setting) -> str:
    return setting.name if setting.local is None else f"{setting.name}, D = {setting.local.half_width}"


def _data(setting: _Setting) -> dict[str, Any]:
    """Tell the script what it draws a setting from."""
    data = {"name": setting.name, "target": setting.target, "weights": setting.weights.tolist()}
    if setting.local is None:
        return data
    return data | {"D": setting.local.half_width, "p": _centres(setting.local), "gaussian": setting.local.gaussian}


def _centres(local: Local) -> list[float]:
    return np.asarray(local.centres, dtype=float).round(4).tolist()


def _rows(setting: _Setting, source: list[str], down: str) -> tuple[list[str], list[list[str]]]:
    """Lay out the text form: the column headings, and a row for each target word."""
    rows = [[_share(weight) for weight in row] for row in setting.weights.tolist()]
    head = [down, *source]
    if setting.local is not None:
        head += ["p", "sum"]
        for row, p, total in zip(rows, _centres(setting.local), setting.weights.sum(axis=1).tolist(), strict=True):
            row += [two_decimals(p), _share(total)]
    return head, [[word, *row] for word, row in zip(setting.target, rows, strict=True)]


def _share(weight: int) -> str:
    return two_decimals(weight / _WHOLE)


def _controls(settings: list[_Setting]) -> str:
    """Write buttons and a slider, hidden until the script makes them work."""
    names = [escape(name) for name, _ in groupby(setting.name for setting in settings)]
    variants = "".join(f'<button {KEYS} type="button" aria-pressed="false">{name}</button>' for name in names)
    steps = "".join(f'<button {KEYS} type="button">{name}</button>' for name in ("← Previous", "Next →", "All words"))
    return (
        '<div class="attnlib-controls" hidden>'
        f'<div role="group" aria-label="variant"{" hidden" if len(names) == 1 else ""}>{variants}</div>'
        f'<label hidden>half-width D <input {KEYS} type="range" min="0" value="0" step="1"><b></b></label>'
        f'<div role="group" aria-label="step through the words">{steps}</div></div>'
    )


def _picture(setting: _Setting, data: dict[str, Any], size: tuple[int, int]) -> str:
    """Draw what stands there without the script: the words, and all lines that are not too thin."""
    source, across, down, (*_, left, right) = data["source"], data["across"], data["down"], data["x"]
    middle = (left + right) // 2
    y = [_TOP + _PITCH * n for n in range(max(len(source), len(setting.target)))]
    links = [
        "".join(
            f'<path d="M{left + 6} {y[i]}C{middle} {y[i]} {middle} {y[t]} {right - 6} {y[t]}" '
            f'stroke-width="{weight / 1000:g}"></path>'
            for i, weight in enumerate(row)
            if weight >= _THIN
        )
        for t, row in enumerate(setting.weights.tolist())
    ]
    asked = "".join(
        f'<text x="{left}" y="{y[i] + 5}" text-anchor="end">{escape(word)}</text>' for i, word in enumerate(source)
    )
    asking = "".join(
        f'<g><rect x="{right - 4}" y="{y[t] - 12}" width="{size[0] - right}" height="24" rx="4"></rect>'
        f'<text x="{right}" y="{y[t] + 5}">{escape(word)}</text></g>'
        for t, word in enumerate(setting.target)
    )
    most = [
        f"{word} looks most at {source[int(row.argmax())]}, {_share(int(row.max()))}"
        for word, row in zip(setting.target, setting.weights, strict=True)
    ]
    return (
        f'<svg role="img" width="{size[0]}" height="{size[1]}" viewBox="0 0 {size[0]} {size[1]}">'
        f"<title>{escape(_title(setting))}</title><desc>Lines from {len(source)} words to {len(most)}, as thick as "
        f"the weights. {escape('; '.join(most))}.</desc>\n"
        f'<text class="muted" x="{left}" y="18" text-anchor="end">{escape(across)}</text>'
        f'<text class="muted" x="{right}" y="18">{escape(down)}</text><g class="attnlib-behind"></g>\n'
        f'<g class="attnlib-links">{"".join(f"<g>{lines}</g>" for lines in links)}</g>\n'
        f'<g class="attnlib-source">{asked}</g>\n<g class="attnlib-target">{asking}</g></svg>'
    )
