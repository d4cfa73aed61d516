"""Pages that are light, and that a screen reader and a telephone get right, where Sphinx and the theme fall short.

What Sphinx writes is changed in its own visitors, what myst-nb folds in its nodes, and what a page loads in its
context; the templates of the theme that differ are in `book/_templates`.
"""

import re
from collections.abc import Mapping, Sequence
from hashlib import sha256
from html import escape
from pathlib import Path
from typing import Any

import pydata_sphinx_theme
from docutils import nodes
from fontTools.subset import Options, Subsetter
from fontTools.ttLib import TTFont
from myst_nb.sphinx_ import HideCodeCellNode
from pygments.formatters import HtmlFormatter
from sphinx.application import Sphinx
from sphinx.highlighting import PygmentsBridge
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.images import get_image_size
from sphinx.writers.html5 import HTML5Translator

FONTS = Path(pydata_sphinx_theme.__file__).parent / "theme/pydata_sphinx_theme/static/vendor/fontawesome/webfonts"
ICONS = {
    "fa-solid-900": "f002 f019 f03a f042 f062 f065 f078 f0c9 f0eb f104 f105 f121 f135 f15b f185 f186 f1c1 f303",
    "fa-brands-400": "f09b",
}
THEME = ["styles/theme.css", "styles/pydata-sphinx-theme.css"]
IMPORT = re.compile(r'@import "([^"]+)";')
ADDRESS = re.compile(r"url\((?![\"']?(?:data:|#|/|\w+:))([\"']?)")
# of a finished page: test_a_long_name_of_a_row_may_ask_for_room
LONG = re.compile(r'<th scope="row">(?=[^<]{13})')


class Writer(HTML5Translator):
    """Sphinx's writer of HTML; pictures are loaded late, and axe finds the right roles."""

    def visit_image(self, node: nodes.image) -> None:
        """Write a picture that is loaded when it comes into sight, with the room that it will need."""
        size = node["uri"].endswith(".png") and get_image_size(Path(self.builder.srcdir, node["uri"]))
        super().visit_image(node)
        if size:
            room = f'<img loading="lazy" width="{size[0]}" height="{size[1]}" '
            self.body[-1] = self.body[-1].replace("<img ", room, 1)

    def visit_entry(self, node: nodes.entry) -> None:
        """Write a corner of a table that names nothing as a cell, not as a heading."""
        super().visit_entry(node)
        if not node.astext():
            self.body[-1], self.context[-1] = "<td>", "</td>\n"

    def visit_citation(self, node: nodes.citation) -> None:
        """Write a reference with the role of an item of a list: docutils gives it one that has been withdrawn."""
        super().visit_citation(node)
        self.body[-1] = self.body[-1].replace("doc-biblioentry", "listitem")


class Code(HtmlFormatter):
    """Code whose marks have the color of all code, and no element of their own: a quarter fewer are laid out."""

    def _get_css_classes(self, ttype: Any) -> str:
        classes = super()._get_css_classes(ttype)
        return "" if classes in {"p", "w", "nn"} else classes


def open_fold(writer: HTML5Translator, node: HideCodeCellNode) -> None:
    """Open what myst-nb folds, by the name that it has in the notebook, whether it is open or not."""
    kind = "code" if "code" in node["classes"] else "fold"
    writer.body.append(f'<details class="{kind}"><summary>{escape(node["prompt_show"])}</summary>\n')


def close_fold(writer: HTML5Translator, node: HideCodeCellNode) -> None:
    """Close it."""
    writer.body.append("</details>\n")


class Folds(SphinxPostTransform):
    """Behind a door the output comes first, its code has a door of its own, and the answer that follows is there."""

    default_priority = 200  # after myst-nb's own
    formats = ("html",)

    def run(self, **kwargs: Any) -> None:
        """Change the folds of a page."""
        cells = [node for node in self.document.findall(nodes.container) if node.get("nb_element") == "cell_code"]
        for cell in filter(len, cells):
            for fold in (child for child in cell if isinstance(child, HideCodeCellNode) and len(child) > 1):
                fold[0:1] = [HideCodeCellNode("", fold[0], prompt_show="Show the code", classes=["code"])]
            begin = cell.parent.index(cell) + 1
            texts = [x.astext() if isinstance(x, nodes.raw) else "" for x in cell.parent[begin:]]
            if isinstance(cell[-1], HideCodeCellNode) and texts and texts[0].startswith("<details>"):
                end = begin + next(n for n, text in enumerate(texts) if "</details>" in text)
                cell[-1].extend(cell.parent[begin + 1 : end])
                del cell.parent[begin : end + 1]


def lighten(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None) -> None:
    """Load one style sheet and no script that a page does without; scripts wait for the page.

    A telephone waits for each style sheet before it shows a page. No cell runs in one (Thebe), and few pages have what
    sphinx-design draws.
    """
    tag, toctree = context["js_tag"], context["generate_toctree_html"]
    drawn = any(mark in context.get("body", "") for mark in ('"sd-', " sd-"))
    unused = ("thebe",) if drawn else ("thebe", "design")
    wanted = [css for css in context["css_files"] if not any(name in str(css.filename) for name in unused)]
    sheet = "".join(context["css_tag"](css).partition("_static/")[2] for css in wanted)
    name = f"sheet-{sha256(sheet.encode()).hexdigest()[:12]}.css"
    sheets(app)[name] = [*THEME, *(str(css.filename).removeprefix("_static/") for css in wanted)]
    context["css_files"] = [f"_static/{name}"]
    context["script_files"] = [js for js in context["script_files"] if "thebe" not in f"{vars(js)}".lower()]

    def waiting(script: Any) -> str:
        """Defer a script, but for the settings that scripts in the page itself need."""
        wait = script.filename and "documentation_options" not in str(script.filename)
        return tag(script).replace("<script ", "<script defer ", 1) if wait else tag(script)

    def named(*args: Any, **kwargs: Any) -> Any:
        """Name the arrow that unfolds a chapter's pages."""
        tree = toctree(*args, **kwargs)
        for arrow in tree.select("details > summary"):
            arrow["aria-label"] = f"Pages of {arrow.parent.find_previous_sibling('a').text}"
        return tree

    context |= {"js_tag": waiting, "generate_toctree_html": named}
    if "body" in context:
        context["body"] = LONG.sub('<th scope="row" class="long">', context["body"])


def sheets(app: Sphinx) -> dict[str, Sequence[str]]:
    """Return the style sheets of the pages, each with the names of those that it has to hold."""
    return vars(app.builder).setdefault("bookext_sheets", {})


def style(sheet: Path, static: Path) -> str:
    """Read a style sheet with those that it imports; the addresses in it hold for a sheet in the folder `static`."""
    folder = sheet.parent.relative_to(static).as_posix()
    text = IMPORT.sub(lambda found: style((sheet.parent / found[1]).resolve(), static), sheet.read_text("utf-8"))
    return ADDRESS.sub(rf"url(\1{folder}/", text) + "\n"


def write_sheets(static: Path, wanted: Mapping[str, Sequence[str]]) -> None:
    """Write each style sheet, with all that it has to hold, to the folder of static files."""
    for name, parts in wanted.items():
        (static / name).write_text("".join(style(static / part, static) for part in parts), "utf-8")


def cut(font: TTFont, letters: set[int], target: Path) -> None:
    """Cut a font to some letters, with its names and what mathematics needs of it, and write it."""
    cutter = Subsetter(Options(name_IDs=["*"]))
    cutter.populate(unicodes=letters)
    cutter.subset(font)
    font.flavor = "woff"
    font.save(target)


def write(app: Sphinx, error: Exception | None) -> None:
    """Write the style sheets, and the icons on these pages: the theme's fonts and its script for them have 1.5 MB.

    `book.css` names the fonts that are written here.
    """
    if not error and app.builder.format == "html":
        static = Path(app.outdir, "_static").resolve()
        write_sheets(static, sheets(app))
        for name, letters in ICONS.items():
            font = TTFont(min(FONTS.glob(f"{name}.*")))  # newer themes have no .ttf, but .woff2
            cut(font, {int(letter, 16) for letter in letters.split()}, static / f"{name}.woff")


def setup(app: Sphinx) -> None:
    """Register the extension."""
    app.set_translator("html", Writer)
    PygmentsBridge.html_formatter = Code
    app.add_node(HideCodeCellNode, override=True, html=(open_fold, close_fold))
    app.add_post_transform(Folds)
    app.connect("html-page-context", lighten, priority=503)
    app.connect("build-finished", write, priority=900)  # after the theme has written its colors of code
