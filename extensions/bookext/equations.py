r"""Equations are MathML, made from TeX when the book is built, and a font is cut to the letters that they need.

Authors write `$...$` and `$$...$$`, with `\tag{...}` for a number. Where a text says `(2.6)`, that is a link.
"""

import re
import unicodedata
from collections.abc import Iterable
from pathlib import Path

from docutils import nodes
from fontTools.ttLib import TTFont
from math_core import LatexError
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.writers.html5 import HTML5Translator

from bookext.finish import cut
from bookext.letters import mathml

FONT = Path(__file__).parents[2] / "book" / "_static" / "stix-two-math.woff"
TAG = re.compile(r"\s*\\tag\{(.+?)\}")
MARKS = re.compile(r"[,.;:?!)]+")
CITED = re.compile(r"(\((?:\d|[A-Z])\.\d+\))")
ITALICS = [0x210E, *range(0x1D434, 0x1D468), *range(0x1D6E2, 0x1D71C)]
_LOG = logging.getLogger(__name__)


def number(node: nodes.Node) -> str:
    """Read the number that an equation carries, empty if it has none."""
    return "".join(TAG.findall(node.astext()))


def converted(writer: HTML5Translator, node: nodes.math | nodes.math_block) -> str:
    """Convert an equation. What the converter does not know, or the table of notation in a chapter, is an error."""
    folder, _, page = writer.builder.current_docname.partition("/")
    tex = TAG.sub("", node.astext()).strip()
    try:
        return mathml(tex, "block" in node.tagname, page if folder == "notebooks" else None)
    except (LatexError, LookupError) as error:
        _LOG.warning("%s in the equation %s", error, tex, location=node)
        return f"<code>{writer.encode(tex)}</code>"


def inline(writer: HTML5Translator, node: nodes.math) -> None:
    """Write an equation that stands in a line of text."""
    writer.body.append(f'<span class="math notranslate">{converted(writer, node)}</span>')
    raise nodes.SkipNode


def block(writer: HTML5Translator, node: nodes.math_block) -> None:
    """Write an equation that stands alone. Its number leads to its row on the page Notation."""
    equation, tag, name = f"<span>{converted(writer, node)}</span>", number(node), ""
    if tag:
        name = f' id="equation-{tag}"'
        row = writer.builder.get_relative_uri(writer.builder.current_docname, "book/notation")
        equation += f'<a class="eqno" data-letter="equation-{tag}" href="{row}#equation-{tag}">({tag})</a>'
    writer.body.append(f'<div class="math notranslate"{name}>{equation}</div>\n')
    raise nodes.SkipNode


def note(app: Sphinx, page: nodes.document) -> None:
    """Remember where the numbered equations are; no two have one number."""
    for node in filter(number, page.findall(nodes.math_block)):
        app.env.get_domain("math").note_equation(app.env.docname, number(node), location=node)


def link(app: Sphinx, page: nodes.document, name: str) -> None:
    """Replace every number of an equation in the text by a link."""
    at = app.env.get_domain("math").equations
    for text in [*page.findall(nodes.Text)]:
        if isinstance(text.parent, nodes.paragraph) and len(parts := CITED.split(text)) > 1:
            cited = [part.strip("()") for part in parts]
            uri = {n: f"{app.builder.get_relative_uri(name, at[n][0])}#equation-{n}" for n in cited if n in at}
            new = [nodes.reference("", p, refuri=uri[n], internal=True) if n in uri else nodes.Text(p)
                   for p, n in zip(parts, cited, strict=True)]  # fmt: skip
            text.parent.replace(text, new)
    keep_together(page)


def keep_together(page: nodes.document) -> None:
    """Keep an equation and the comma that follows it on one line."""
    for math in [*page.findall(nodes.math)]:
        after = math.next_node(descend=False, siblings=True)
        if isinstance(after, nodes.Text) and (marks := MARKS.match(after)):
            line, n = math.parent, math.parent.index(math)
            both = nodes.inline("", "", math, nodes.Text(marks[0]), classes=["together"])
            line[n : n + 2] = [both, nodes.Text(after[marks.end() :])]


def fit(pages: Iterable[str], target: Path) -> None:
    """Cut the font to what stands in the equations of some pages, upright and slanted, and write it."""
    # of finished pages: test_the_font_keeps_what_mathematics_needs
    letters = {letter for page in pages for math in re.findall(r"<math.*?</math>", page, re.DOTALL) for letter in math}
    slanted = {code for code in ITALICS if unicodedata.normalize("NFKC", chr(code)) in letters}
    cut(TTFont(FONT), {ord("√"), *map(ord, letters), *slanted}, target)


def finish(app: Sphinx, error: Exception | None) -> None:
    """Fit the font to all pages."""
    if not error and app.builder.format == "html":
        pages = (path.read_text("utf-8") for path in Path(app.outdir).rglob("*.html"))
        fit(pages, Path(app.outdir, "_static", FONT.name))


def setup(app: Sphinx) -> None:
    """Register the extension."""
    app.add_html_math_renderer("mathml", inline_renderers=(inline, None), block_renderers=(block, None))
    app.connect("doctree-read", note)
    app.connect("doctree-resolved", link)
    app.connect("build-finished", finish)
