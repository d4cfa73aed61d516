"""A module of the package is a page, made by autodoc from its docstrings and signatures.

A page of the table of contents may be a Python file below `src`. A name in single backticks is a link where it names
something of its own module, or in full something of another, and plain code where it is a parameter or a symbol. A full
name that leads nowhere is an error: `nitpick_ignore_regex` passes over all others.
"""

import ast
import re
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.parsers import RSTParser
from sphinx.util.docutils import SphinxDirective
from sphinx.util.nodes import make_refnode


def module(page: str) -> str:
    """Return the name of the module at a path below `src`."""
    return page.removeprefix("src/").replace("/", ".")


class ModuleParser(RSTParser):
    """A parser that reads a Python file as the page of its module."""

    supported = ("python",)

    def parse(self, inputstring: str, document: nodes.document) -> None:
        """Parse the page that autodoc makes of the module."""
        name = module(document.settings.env.docname)
        page = [name, "=" * len(name), "", ".. default-role:: py:obj", "", f".. automodule:: {name}"]
        super().parse("\n".join([*page, "   :members:", "   :special-members: __call__"]), document)


class ModulesInReadingOrder(SphinxDirective):
    """A list of the modules below this page in the table of contents, with the first sentence of each."""

    def run(self) -> list[nodes.Node]:
        """Build the list and parse it."""
        lines = [".. default-role:: py:obj", ""]
        for part in self.config.external_site_map[self.env.docname].subtrees:
            for page in map(str, part.items):
                source = Path(self.env.srcdir, page).with_suffix(".py")
                self.env.note_dependency(str(source))
                summary = ast.get_docstring(ast.parse(source.read_text("utf-8"))).partition("\n\n")[0]
                lines.append(f"* :doc:`{module(page)} </{page}>`: {summary}".replace("\n", " "))
        return self.parse_text_to_nodes("\n".join(lines))


def show_signature(app: Sphinx, what: str, name: str, obj: object, options: object, *parts: str | None) -> tuple:
    """Rename arrays as in the source, and omit defaults that are not Python."""
    parts = (part and part.replace("[Any, '", "[~attnlib.shapes.Array, '") for part in parts)
    return tuple(part and re.sub("<[^<>]*>", "...", part) for part in parts)


def skip(app: Sphinx, what: str, name: str, obj: object, *_: object) -> bool | None:
    """Leave out the fields of a named tuple, which its docstring describes."""
    return True if type(obj).__name__ == "_tuplegetter" else None


def resolve(app: Sphinx, env: BuildEnvironment, node: nodes.Element, text: nodes.Node) -> nodes.Node | None:
    """Return a link to an alias of a type, cited as a class and documented as data: Sphinx 7 does not find it."""
    entry = env.get_domain("py").objects.get(node["reftarget"])
    return entry and make_refnode(app.builder, node["refdoc"], entry.docname, entry.node_id, text)


def let_links_find_names(app: Sphinx, env: BuildEnvironment) -> None:
    """Register the names of the package as anchors for links in Markdown.

    A link is written ``mechanism.py#attnlib.mechanism.attention``.
    """
    for name, entry in env.get_domain("py").objects.items():
        env.metadata[entry.docname].setdefault("myst_slugs", {})[name] = (0, entry.node_id, name)


def setup(app: Sphinx) -> None:
    """Register the extension."""
    for extension in ("autodoc", "napoleon", "viewcode"):
        app.setup_extension(f"sphinx.ext.{extension}")
    app.add_source_suffix(".py", "python")
    app.add_source_parser(ModuleParser)
    app.add_directive("modules-in-reading-order", ModulesInReadingOrder)
    app.connect("autodoc-process-signature", show_signature)
    app.connect("autodoc-skip-member", skip)
    app.connect("missing-reference", resolve)
    app.connect("env-updated", let_links_find_names)
