"""Chapter 3's drawing of Luong's model, which fades into the Transformer in chapter 6: what stays, and what goes.

Two radio buttons choose, so the card has no script. On paper and on GitHub the Transformer is shown.
"""

import re

from attnbook.cards import schematic
from attnbook.cards.card import Card, card
from attnbook.cards.schematic import COLUMN, ROW, Arrow, Part

_HEIGHTS = {"x": 0.0, "p": 0.95, "a": 2.25, "f": 3.2, "h": 4.1, "c": 5.65, "s": 6.85, "~": 7.85, "g": 8.75, "y": 9.75}
_SELF = (0.5, 0.1, 0.3, 0.1), (0.1, 0.3, 0.5, 0.1), (0.15, 0.35, 0.3, 0.2), (0.05, 0.1, 0.6, 0.25)  # no trained weights
_SHARED = {"hc", "sc", "c~", "s~"}  # arrows of both models, by the rows of their ends
_GONE = {"hh", "hs", "ss", "~s"}
_ROWS = {  # what stands at the left in Luong's model and in the Transformer, each with the chapters that built it
    "x": (("source words", ""), ("source words", "")),
    "p": (("", ""), ("positions", "1")),
    "a": (("", ""), ("self-attention", "1")),
    "f": (("", ""), ("feed-forward", "")),
    "h": (("annotations", "23"), ("annotations", "23")),
    "c": (("contexts", "23"), ("cross-attention", "23")),
    "s": (("decoder states", "3"), ("self-attention", "1")),
    "~": (("attentional states", "3"), ("sum with context", "")),
    "g": (("", ""), ("feed-forward", "")),
    "y": (("target words", ""), ("target words", "")),
}
_TOLD = (
    "Luong's model in the place of the Transformer. In the Transformer, source words with positions added go through "
    "self-attention and a feed-forward network to annotations. Each decoder state attends to the words before it, asks "
    "the annotations for a context, and is summed with it; a feed-forward network writes the word. Built before: "
    "positions and self-attention in chapter 1, annotations and contexts in chapters 2 and 3. New: feed-forward "
    "networks, residual paths, layer norms. Gone: all arrows from one state to the next."
)
_KEYS = (
    '<p class="at-keys"><span><i class="at-lit"></i> you have built it, in chapter <b>1</b> <b>2</b> <b>3</b></span> '
    '<span class="at-luong"><i class="at-gone"></i> will be gone</span><span class="at-new">'
    "new: <i>f</i> feed-forward network, residual path, <u></u> layer norm</span></p>"
    '<p class="at-luong">Which arrows will go? Switch to the Transformer.</p>'
    '<p class="at-new">All arrows from one state to the next are gone, and the state with which the decoder began. '
    "Words that met by recurrence meet by attention, so each must be told its position. Annotations, queries and "
    "contexts stayed in their places.</p>"
)


def draw_transformer() -> Card:
    """Draw Luong's model and the Transformer in the same places; the reader switches from one to the other.

    One layer with one head, over two steps. The widths of the arrows illustrate weights; they come from no trained
    model.

    Notes
    -----
    After Luong et al. 2015, figure 4, and Vaswani et al. 2017, figure 1.
    """
    model = schematic.LUONG_FEEDING
    old = {name: part._replace(y=_HEIGHTS[name[0]]) for name, part in schematic.parts_of(model).items()}
    new = _parts(old)
    arrows, own = schematic.arrows_of(model), _arrows()
    drawn = [
        *(schematic.draw_arrow(old, ends, arrow, _kind(ends, arrow)) for ends, arrow in arrows.items()),
        *(
            schematic.draw_arrow(new, ends, arrow, f"at-new {'at-weight' if arrow.weighs else 'at-old'}")
            for ends, arrow in own.items()
        ),
        *_ways(new),
        *(schematic.draw_part(name, part, _look(name)) for name, part in old.items()),
        *(
            schematic.draw_part(name, part, f"at-new{' at-lit' * (name[0] in 'paqz')}")
            for name, part in new.items()
            if name not in old
        ),
        *(label for row in _ROWS.items() for label in _label(*row)),
    ]
    buttons = "".join(
        f'<input type="radio" name="attnlib-model" class="at-{kind}" aria-label="{name}">'
        for kind, name in {'from" checked="': "Luong’s model (chapter 3)", "to": "Transformer"}.items()
    )
    parts = re.sub(r"<g (?=[^>]*at-luong)", '<g opacity="0" ', "".join(drawn))  # if styles go
    svg = f"{schematic.open_svg(_TOLD, old['y1'].y, right=66)}{parts}</svg>"
    return card("crossfade", f"{buttons}\n{svg}{_KEYS}\n", {}, _TOLD)


def _parts(old: dict[str, Part]) -> dict[str, Part]:
    """Return the Transformer's parts: those that stay, and others in their places."""
    parts = {name: part for name, part in old.items() if name[0] in "xhcy"}
    for i in range(1, 5):
        x = old[f"x{i}"].x
        parts |= {f"{row}{i}": Part(x, _HEIGHTS[row], text) for row, text in (("p", "+"), ("a", f"a_{i}"), ("f", "f"))}
    for t in range(3):
        x = old[f"y{t}"].x
        if t < 2:
            parts[f"q{t}"] = Part(x + 0.62, _HEIGHTS["y"] - 0.78, "+")
        if t:
            parts |= {f"z{t}": Part(x, _HEIGHTS["s"], f"s_{t}"), f"k{t}": Part(x, _HEIGHTS["~"], "+")}
            parts[f"g{t}"] = Part(x, _HEIGHTS["g"], "f")
    return parts


def _arrows() -> dict[tuple[str, str], Arrow]:
    """Return the arrows that only the Transformer has."""
    columns = [(f"{below}{i}", f"{above}{i}") for i in range(1, 5) for below, above in ("xp", "af", "fh")]
    steps = [(f"{below}{t}", f"{above}{t}") for t in (1, 2) for below, above in ("kg", "gy")]
    arrows = dict.fromkeys([*columns, *steps, ("y0", "q0"), ("y1", "q1")], Arrow())
    arrows |= {
        (f"p{i}", f"a{j}"): Arrow(0.4 + 6 * weight, weighs=True)
        for j, weights in enumerate(_SELF, 1)
        for i, weight in enumerate(weights, 1)
    }
    return arrows | {
        ("q0", "z1"): Arrow(3.4, weighs=True),
        ("q0", "z2"): Arrow(1.8, bend=-0.1, weighs=True),
        ("q1", "z2"): Arrow(3.2, weighs=True),
    }


def _ways(parts: dict[str, Part]) -> list[str]:
    """Draw the residual paths, each to the dot of its layer norm."""
    reads = [(f"p{i}", *way) for i in range(1, 5) for way in ((1.28, 2.73, 0.42), (2.73, 3.6, -0.4))]
    drawn = []
    for name, low, high, aside in [*reads, ("k1", 8.25, 9.17, 0.44), ("k2", 8.25, 9.17, 0.44)]:
        x, side = COLUMN * parts[name].x, COLUMN * (parts[name].x + aside)
        drawn.append((f"M{x:.1f} {-ROW * low:.1f}C{side:.1f} {-ROW * low:.1f} {side:.1f}", x, -ROW * high))
    for t in (1, 2):  # from the word before, past the self-attention; and the sum with the context
        begin, end, y = COLUMN * parts[f"q{t - 1}"].x, COLUMN * parts[f"k{t}"].x, -ROW * 7.49
        drawn.append((f"M{begin:.1f} {y - 56:.1f}C{begin + 4:.1f} {y - 10:.1f} {end - 36:.1f}", end, y))
        drawn.append((f"M{end:.1f} {y - 30:.1f}C{end:.1f} {y - 30:.1f} {end:.1f}", end, -ROW * 8.25))
    return [
        f'<g class="at-new"><path class="at-way" d="{way} {y:.1f} {x:.1f} {y:.1f}"></path>'
        f'<path class="at-norm" d="M{x - 3:.1f} {y:.1f}a3 3 0 1 0 6 0a3 3 0 1 0 -6 0"></path></g>'
        for way, x, y in drawn
    ]


def _kind(ends: tuple[str, str], arrow: Arrow) -> str:
    rows = ends[0][0] + ends[1][0]
    kind = "at-weight" if arrow.weighs else "at-gone" if rows in _GONE else "at-old"
    return f"{kind}{' at-luong' * (rows not in _SHARED)}"


def _look(name: str) -> str:
    """Return the look of one of Luong's parts: lit where it was built before, gone where the Transformer lacks it."""
    kind = {"h": "at-lit", "c": "at-lit", "s": "at-luong at-lit", "~": "at-luong at-lit"}.get(name[0], "at-old")
    return "at-luong at-gone" if name == "s0" else kind


def _label(row: str, sides: tuple[tuple[str, str], ...]) -> list[str]:
    """Write what a row is in both models, and the chapters that built it."""
    kinds = {"": sides[0]} if sides[0] == sides[1] else {"at-luong": sides[0], "at-new": sides[1]}
    return [f'<g class="{kind}">{_write(-ROW * _HEIGHTS[row], *side)}</g>' for kind, side in kinds.items()]


def _write(y: float, text: str, chapters: str) -> str:
    badges = [(4.8 * COLUMN + 40 - 9 * (len(chapters) - 1) + 18 * n, chapter) for n, chapter in enumerate(chapters)]
    return schematic.draw_label(-28, y, text, "end") + "".join(
        f'<g class="at-badge"><circle cx="{x:.0f}" cy="{y:.1f}" r="8"></circle>'
        f'<text x="{x:.0f}" y="{y + 4:.1f}" text-anchor="middle" font-size="11">{chapter}</text></g>'
        for x, chapter in badges
    )
