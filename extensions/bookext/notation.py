"""The table of notation on its page, and in each chapter as cards: of letters, names in the code, and equations.

What the page and the cards look like is in `book/_templates`.
"""

import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

from bookext.letters import closest, mathml, rows, table

# of a finished page: test_a_name_in_code_and_the_number_of_an_equation_explain_themselves
NAME = re.compile(r'(?<!<span class="o">\.</span>)<span class="(n|pre)">(\w+)</span>')


def fill(app: Sphinx, page: str, source: list[str]) -> None:
    """Insert the tables into the page Notation, whose source is a template."""
    if page == "book/notation":
        source[0] = app.builder.templates.render_string(source[0], {"table": table()})


def explain(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None) -> None:
    """Mark names in a chapter's code with their meanings, for the cards."""
    if not page.startswith("notebooks/") or doctree is None:
        return
    equations, objects = app.env.get_domain("math").equations, app.env.get_domain("py").objects
    chapter = page.removeprefix("notebooks/")
    uses = ["code", "by_hand"] if chapter.startswith(tuple(table()["by_hand"])) else ["code"]

    def named(token: re.Match) -> str:
        names = [name for name, row in rows().items() if any(token[2] in row.get(use, []) for use in uses)]
        name = closest(names, chapter)
        if not name:  # the color of all code: without elements of their own, names are laid out faster
            return token[2] if token[1] == "n" else token[0]
        return f'<span class="{token[1]}" data-letter="{name}">{token[2]}</span>'

    def link(name: str, text: str) -> str:
        """Lead to an equation by its number, or by a full name to its place in the reference."""
        at, anchor = objects[name][:2] if name in objects else (equations[name][0], f"equation-{name}")
        return f'<a href="{app.builder.get_relative_uri(page, at)}#{anchor}">{text}</a>'

    def html(markdown: str) -> str:
        """Convert mathematics, code, and numbers of equations, which become links."""
        text = re.sub(r"\$(.+?)\$", lambda tex: mathml(tex[1], display=False), markdown)
        text = re.sub("`(.+?)`", r"<code>\1</code>", text)
        return re.sub(r"\((\w\.\d+)\)", lambda cited: link(cited[1], cited[0]), text)

    context["body"] = NAME.sub(named, context["body"])
    # of a finished page: test_letters_are_reached_by_key_and_without_scripts
    seen = set(re.findall(r'data-letter=\\?"([\w.-]+)', context["body"]))
    context["letters"] = {name: row for name, row in rows().items() if name in seen}
    context["equations"] = [row for row in table()["equations"] if f"equation-{row.get('number')}" in seen]
    context.update(html=html, link=link)


def setup(app: Sphinx) -> None:
    """Register the extension."""
    app.connect("source-read", fill)
    app.connect("html-page-context", explain)
