"""The last hand on every page: no script holds it up, and nobody who reads it by ear or by key stumbles."""

import re
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import pydata_sphinx_theme
from fontTools.subset import Options, Subsetter
from fontTools.ttLib import TTFont
from sphinx.application import Sphinx
from sphinx.util.images import get_image_size

FONTS = Path(pydata_sphinx_theme.__file__).parent / "theme/pydata_sphinx_theme/static/vendor/fontawesome/webfonts"
ICONS = {
    "fa-solid-900": "f002 f019 f03a f042 f062 f065 f078 f0c9 f0eb f104 f105 f121 f135 f15b f185 f186 f1c1 f303",
    "fa-brands-400": "f09b",
}

SHEET = re.compile(r'<link\b[^>]*\bhref="([^"]*_static/)([^"?]*\.css)([^"]*)"[^>]*>\s*')
IMPORT = re.compile(r'@import "([^"]+)";')
ADDRESS = re.compile(r"url\((?![\"']?(?:data:|#|/|\w+:))([\"']?)")
SEARCH = re.compile(r"<script\b[^>]*(?:searchtools|language_data|searchindex)\.js[^>]*></script>\n?")
PICTURE = re.compile(r'<img\b([^>]*\bsrc="[^"]*_images/([^"/]+\.png)")')
REPAIRS: tuple[tuple[str, str | Callable[[re.Match], str]], ...] = (
    # the theme's script for icons has 1.5 MB, and the style sheet has them as letters of a font; no cell runs in a page
    (r"<script\b[^>]*(?:fontawesome\.js|sphinx-thebe\.js|>const THEBE_JS_URL).*?</script>\n?", ""),
    (r'<link\b[^>]*(?:sphinx-thebe\.css|rel="preload" as="script")[^>]*>\n?', ""),
    # scripts wait for the page, except those that others depend on
    (r'<script\b(?![^>]*(?:defer|documentation_options))([^>]*\bsrc="[^"]*"[^>]*)></script>',
     r"<script defer\1></script>"),
    # the logo is a way home, and so among the landmarks
    (r'(<a class="navbar-brand logo".*?</a>)', r'<nav aria-label="Home">\1</nav>'),
    # the arrow that unfolds a chapter's pages has a name
    (r'>([^<]+)</a><details([^>]*)><summary>', r'>\1</a><details\2><summary aria-label="Pages of \1">'),
    # a page knows from the first moment whether it is light or dark
    (r'(localStorage\.getItem\("theme"\) \|\| )"auto"',
     r'\1(matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")'),
    # what is folded is called what it says, and looks like any answer
    (r'<details class="admonition hide [\w-]+">\s*<summary[^>]*>\s*<p[^>]*>([^<]*)</p>\s*<p[^>]*>.*?</p>\s*</summary>',
     r'<details class="fold"><summary>\1</summary>'),
    # an answer that follows a folded output is behind the same door
    (r"</details>\s*</div>\s*<details>\s*<summary>[^<]*</summary>(.*?)</details>", r"\1</details></div>"),
    # behind a door the output comes first, and the code that made it has a door of its own
    (r'(<details class="fold"><summary>[^<]*</summary>)\s*'
     r'(<div class="cell_input(?:(?!</?details).)*?</div>)\s*(?=<div class="cell_output)',
     r'\1<details class="code"><summary>Show the code</summary>\2</details>'),
    # a formula and the comma that follows it stay on one line
    (r'(<span class="math[^>]*>(?:(?!</span>).)*</span>[,.;:?!)]+)', r'<span class="together">\1</span>'),
    # a long name of a row may ask for room on a telephone
    (r'<th scope="row">(?=[^<]{13})', '<th scope="row" class="long">'),
    # a corner of a table that names nothing is no heading
    (r'<th(?: class="head")?>(?:<p></p>)?</th>', "<td></td>"),
    # docutils gives references a role that has been withdrawn
    (r'(<div class="citation"[^>]*) role="doc-biblioentry"', r'\1 role="listitem"'),
    # names and marks of code have the color of all code: without an element of their own, a third fewer are laid out
    (r'<span class="(?:n|nn|p|w)">([^<]*)</span>', r"\1"),
    # the lines of a long signature are no definitions
    (r'<dl>\s*((?:<dd><em class="sig-param">.*?</em>,?</dd>\s*)+)</dl>',
     lambda lines: re.sub(r"<(/?)dd>", lambda tag: "</span>" if tag[1] else '<span class="sig-line">', lines[1])),
)  # fmt: skip


def pictures(page: str, files: Mapping[str, Path]) -> str:
    """Load each picture lazily, in a space of its size; `files` finds it by name."""

    def kept(picture: re.Match) -> str:
        width, height = get_image_size(files[picture[2]])
        return f'<img loading="lazy" width="{width}" height="{height}"{picture[1]}'

    return PICTURE.sub(kept, page)


def one_sheet(page: str, sheets: dict[str, tuple[str, ...]]) -> str:
    """Link one style sheet in place of all, since a telephone waits for each of them before it shows a page.

    `sheets` receives the name of the sheet, with the names of those that it has to hold.
    """
    links = [*SHEET.finditer(page)]
    if not links:
        return page
    name = f"sheet-{sha256(''.join(link[2] + link[3] for link in links).encode()).hexdigest()[:12]}.css"
    sheets[name] = tuple(link[2] for link in links)
    link = f'<link rel="stylesheet" href="{links[0][1]}{name}" />\n'
    return page[: links[0].start()] + link + SHEET.sub("", page[links[0].end() :])


def style(sheet: Path, static: Path) -> str:
    """Read a style sheet with those that it imports; the addresses in it hold for a sheet in the folder `static`."""
    folder = sheet.parent.relative_to(static).as_posix()
    text = IMPORT.sub(lambda found: style((sheet.parent / found[1]).resolve(), static), sheet.read_text("utf-8"))
    return ADDRESS.sub(rf"url(\1{folder}/", text) + "\n"


def write_sheets(static: Path, sheets: Mapping[str, Sequence[str]]) -> None:
    """Write each style sheet, with all that it has to hold, to the folder of static files."""
    for name, parts in sheets.items():
        (static / name).write_text("".join(style(static / part, static) for part in parts), "utf-8")


def repaired(page: str) -> str:
    """Correct what holds a page up, and what hinders readers with a screen reader or a keyboard."""
    for fault, cure in REPAIRS:
        page = re.sub(fault, cure, page, flags=re.DOTALL)
    return page


def cut(font: TTFont, letters: set[int], target: Path) -> None:
    """Cut a font to some letters, with its names and what mathematics needs of it, and write it."""
    cutter = Subsetter(Options(name_IDs=["*"]))
    cutter.populate(unicodes=letters)
    cutter.subset(font)
    font.flavor = "woff"
    font.save(target)


def write_icons(static: Path) -> None:
    """Cut the icons on these pages out of the theme's fonts, since a page waits for its icons before it shows.

    `book.css` names what is written here.
    """
    for name, letters in ICONS.items():
        cut(TTFont(FONTS / f"{name}.ttf"), {int(letter, 16) for letter in letters.split()}, static / f"{name}.woff")


def begin(app: Sphinx) -> None:
    """Process every page after it has been written."""
    if app.builder.format != "html":
        return
    make = app.builder.templates.render
    sheets: dict[str, tuple[str, ...]] = {}

    def made(template: str, context: dict[str, Any]) -> str:
        page = make(template, context)
        if "</html>" not in page:
            return page
        if template != "search.html":
            page = SEARCH.sub("", page)
        files = {name: Path(app.srcdir, source) for source, name in app.builder.images.items()}
        return one_sheet(repaired(pictures(page, files)), sheets)

    def write(app: Sphinx, error: Exception | None) -> None:
        if not error:
            static = Path(app.outdir, "_static").resolve()
            write_icons(static)
            write_sheets(static, sheets)

    app.builder.templates.render = made
    app.connect("build-finished", write)


def setup(app: Sphinx) -> None:
    """Register the extension."""
    app.connect("builder-inited", begin)
