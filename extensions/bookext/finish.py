"""The last hand on every page: what the theme and the tools below it leave to mend, and what a page need not load.

The theme draws its icons in the browser, with a script of 1.5 MB. Here each becomes a drawing in the page, cut out of
that script: Font Awesome Free, whose icons are under CC BY 4.0. Its style sheets become one, without what nothing uses.
"""

import posixpath
import re
import struct
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from html import escape
from pathlib import Path
from queue import SimpleQueue
from types import SimpleNamespace
from typing import Any
from urllib.parse import unquote

import sphinx_sitemap
from sphinx.application import Sphinx
from sphinx.config import Config

UNUSED = (  # scripts and styles of extensions that Jupyter Book always loads, and of a search that types ahead
    "fontawesome.js",
    "sphinx-thebe.",
    "sphinx-design.",
    "design-tabs.js",
)
SEARCH = ("searchtools.js", "language_data.js", "searchindex.js")
SCRIPT = re.compile(r"[ \t]*<script\b([^>]*)>(.*?)</script>\n?", re.DOTALL)
STYLE = re.compile(
    r"[ \t]*<link\b(?=[^>]*\brel=\"stylesheet\")[^>]*?\bhref=\"([^\"]*?_static/)([^\"?]*)[^\"]*\"[^>]*>\n?"
)
ICON = re.compile(r'<(?P<tag>i|span) class="(?P<classes>[^"]*\bfa-[^"]*)"(?P<more>[^>]*)></(?P=tag)>')
ICON_RULE = re.compile(r'(?:\.fa-[\w-]+::?before,?)+\{content:"[^"]*"\}')
SETS = {"fa-solid": "fas", "fas": "fas", "fa-regular": "far", "far": "far", "fa-brands": "fab", "fab": "fab"}


# --- Scripts and styles ---


def scripts(page: str, name: str) -> str:
    """Drop what nothing on the page uses, and let nothing that has a file of its own hold the page up."""
    unused = UNUSED if name == "search" else UNUSED + SEARCH

    def mended(script: re.Match) -> str:
        address = re.search(r'\bsrc="([^"]*)"', script[1])
        source, text = address[1] if address else "", script[2]
        if any(part in source for part in unused) or "THEBE_JS_URL" in text:
            return ""
        waits = source and name != "search" and "documentation_options" not in source
        return script[0].replace("<script", "<script defer", 1) if waits and "defer" not in script[0] else script[0]

    return SCRIPT.sub(mended, page)


def styles(page: str, wanted: dict[str, list[str]]) -> str:
    """Link one sheet in place of many, and note what it is to hold."""
    links = [link for link in STYLE.finditer(page) if not any(part in link[2] for part in UNUSED)]
    if not links:
        return page
    digest = sha256("".join(link[0] for link in links).replace(links[0][1], "").encode()).hexdigest()[:8]
    wanted[f"styles/all-{digest}.css"] = [link[2] for link in links]
    one = f'<link rel="stylesheet" href="{links[0][1]}styles/all-{digest}.css" />\n'
    first = page.index(links[0][0])
    return page[:first] + one + STYLE.sub("", page[first:])


def sheet(names: list[str], static: Path) -> str:
    """Put style sheets one after the other, as seen from the folder `styles`."""
    return "\n".join(ICON_RULE.sub("", rules(name, static)) for name in names)


def rules(name: str, static: Path) -> str:
    """Read a style sheet, with those that it imports, and mend the addresses in it."""

    def moved(address: str) -> str:
        return posixpath.relpath(posixpath.join(posixpath.dirname(name), address), "styles")

    text = (static / name).read_text("utf-8")
    text = re.sub(
        r'@import "([^"]*)";',
        lambda link: rules(posixpath.normpath(f"{posixpath.dirname(name)}/{link[1]}"), static),
        text,
    )
    return re.sub(r"url\((?![\"']?(?:data:|#|\.\./vendor))([^)\"']*)\)", lambda link: f"url({moved(link[1])})", text)


# --- Icons ---


def icons(page: str, static: Path) -> str:
    """Draw the icons in the page."""

    def drawn(tag: re.Match) -> str:
        classes = tag["classes"].split()
        kind = next(SETS[name] for name in classes if name in SETS)
        name = next(name for name in classes if name.startswith("fa-") and name not in {*SETS, "fa-lg"})
        width, height, path = drawings(static / "scripts" / "fontawesome.js")[kind, name.removeprefix("fa-")]
        kept = " ".join(name for name in classes if name not in SETS)
        return (
            f'<svg class="svg-inline--fa {kept}"{tag["more"]} aria-hidden="true" focusable="false"'
            f' viewBox="0 0 {width} {height}"><path fill="currentColor" d="{path}"/></svg>'
        )

    note = "<!-- Icons: Font Awesome Free, fontawesome.com, CC BY 4.0 -->\n"
    return ICON.sub(drawn, page).replace("</head>", f"{note}</head>", 1)


@cache
def drawings(script: Path) -> dict[tuple[str, str], tuple[str, str, str]]:
    """Find every icon in the theme's script: its set and name, then its width, height and outline."""
    found, text = {}, script.read_text("utf-8")
    icon = re.compile(r'([\w$-]+|"[^"]+"):\[(\d+),(\d+),\[([^]]*)\],"[0-9a-f]+","([^"]*)"\]')
    for kind in set(SETS.values()):
        end = text.index(f'd("{kind}",p)')
        for name, width, height, others, path in icon.findall(text, text.rindex("var p={", 0, end), end):
            for known in (name.strip('"'), *re.findall(r'"([^"]+)"', others)):
                found[kind, known] = width, height, path
    return found


# --- Structure ---

REPAIRS: tuple[tuple[str, str | Callable[[re.Match], str]], ...] = (
    # the logo is a way home, and so among the landmarks
    (r'(<a class="navbar-brand logo".*?</a>)', r'<nav aria-label="Home">\1</nav>'),
    # the arrow that unfolds a chapter's pages has a name
    (r'>([^<]+)</a><details([^>]*)><summary>', r'>\1</a><details\2><summary aria-label="Pages of \1">'),
    # a page knows from the first moment whether it is light or dark
    (r'(localStorage\.getItem\("theme"\) \|\| )"auto"',
     r'\1(matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")'),
    # what is folded says what it is: a whole cell is a solution here
    (r'<summary aria-label="Toggle hidden content">(.*?)</summary>',
     lambda fold: f"<summary>{fold[1]}</summary>".replace("code cell", "the").replace("the content", "the solution")),
    # docutils gives references a role that has been withdrawn
    (r'(<div class="citation"[^>]*) role="doc-biblioentry"', r'\1 role="listitem"'),
    # the lines of a long signature are no definitions
    (r'<dl>\s*((?:<dd><em class="sig-param">.*?</em>,?</dd>\s*)+)</dl>',
     lambda lines: re.sub(r"<(/?)dd>", lambda tag: "</span>" if tag[1] else '<span class="sig-line">', lines[1])),
)  # fmt: skip


def structure(page: str) -> str:
    """Mend what readers of a page by ear or by key would stumble over."""
    for fault, cure in REPAIRS:
        page = re.sub(fault, cure, page, flags=re.DOTALL)
    return page


def once(page: str) -> str:
    """Keep one of several equal settings for narrow screens."""
    kept, *again = re.findall(r'[ \t]*<meta name="viewport"[^>]*>\n?', page)
    start = page.index(kept) + len(kept)
    for tag in again:
        page = page[:start] + page[start:].replace(tag, "", 1)
    return page


def description(page: str, name: str) -> str:
    """Say in a line what a page is that has no text to take it from."""
    if '<meta name="description"' in page:
        return page
    title = re.search(r"<title>(.*?)</title>", page, re.DOTALL)
    text = " ".join((title[1] if title else name).replace("&#8212;", "in").split())
    return page.replace(
        "</title>", f'</title>\n    <meta name="description" content="{escape(text, quote=True)}" />', 1
    )


# --- Pictures ---

ROOM = 6.2  # inches of a picture that a telephone shows at once, with its letters still legible


def pictures(page: str, find: Callable[[str], Path | None]) -> str:
    """Say how large each picture is, so that nothing moves when it comes, and load only the first at once.

    A picture wider than a telephone can show stands in a frame, in which it scrolls there (`book.css`).
    """
    seen = 0

    def sized(tag: re.Match) -> str:
        nonlocal seen
        source = re.search(r'\bsrc="([^"]*)"', tag[0])
        path = source and find(unquote(source[1]))
        known = size(path) if path and not re.search(r"\b(?:width|height)\s*[=:]", tag[0]) else None
        more = f' width="{known[0]}" height="{known[1]}"' if known else ""
        in_text = source and "_static/" not in source[1]
        seen += bool(in_text)
        later = ' loading="lazy" decoding="async"' if in_text and seen > 1 else ""
        picture = tag[0].replace("<img", f"<img{more}{later}", 1)
        width = inches(path) if known and in_text else 0
        return f'<span class="picture" style="--inches: {width:.2f}">{picture}</span>' if width > ROOM else picture

    return re.sub(r"<img\b[^>]*>", sized, page)


@cache
def size(path: Path) -> tuple[int, int] | None:
    """Read the width and height of a PNG or SVG, in pixels."""
    start = path.read_bytes()[:2000]
    if start.startswith(b"\x89PNG"):
        return struct.unpack(">II", start[16:24])
    box = re.search(rb'<svg[^>]*\bviewBox="\S+ \S+ (\S+) (\S+)"', start)
    return (round(float(box[1])), round(float(box[2]))) if box else None


@cache
def inches(path: Path) -> float:
    """Read how many inches wide a PNG was drawn, which decides how large its letters are; 0 where it does not say."""
    found = re.search(rb"pHYs(.{4}).{4}\x01", path.read_bytes()[:2000], re.DOTALL)
    return size(path)[0] / int.from_bytes(found[1], "big") / 0.0254 if found else 0


# --- Sphinx ---


def begin(app: Sphinx) -> None:
    """Have every page pass through here when it has been made."""
    if app.builder.format != "html":
        return
    make, static = app.builder.templates.render, Path(app.outdir, "_static")

    def find(source: str) -> Path | None:
        folder, _, name = source.rpartition("/")
        if folder.endswith("_images"):
            copied = {name: Path(app.srcdir, path) for path, name in app.builder.images.items()}
            return copied.get(name)
        path = static / source.partition("_static/")[2]
        return path if path.is_file() else None

    def made(template: str, context: dict[str, Any]) -> str:
        page, name = make(template, context), context.get("pagename", "")
        if "</html>" not in page:
            return page
        page = icons(styles(scripts(page, name), app.sheets), static)
        return description(pictures(once(structure(page)), find), name)

    app.sheets, app.builder.templates.render = {}, made


def end(app: Sphinx, error: Exception | None) -> None:
    """Write the style sheets, once the theme has finished its own."""
    static = Path(app.outdir, "_static")
    for name, parts in ({} if error else getattr(app, "sheets", {})).items():
        (static / name).write_text(sheet(parts, static), "utf-8")


def set_mathjax(app: Sphinx, config: Config) -> None:
    """Load the parts of MathJax that the configuration lists, and no more."""
    config.mathjax_path = "mathjax/startup.js"


def setup(app: Sphinx) -> dict[str, Any]:
    """Tell Sphinx. One process writes all pages; the sitemap's queue needs no server, which outlives a killed build."""
    sphinx_sitemap.Manager = lambda: SimpleNamespace(Queue=SimpleQueue)
    app.connect("config-inited", set_mathjax)
    app.connect("builder-inited", begin)
    app.connect("build-finished", end, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": False}
