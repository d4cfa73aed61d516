"""The page Notation, and in each chapter the cards of its letters, of their names in the code and of its equations."""

import re
from html import escape
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from bookext.letters import Place, closest, mathml, rows, table

PAPERS = "Bahdanau et al. 2015", "Luong et al. 2015"
NAME = re.compile(r'(?<!<span class="o">\.</span>)<span class="(n|pre)">(\w+)</span>')


def called(where: str) -> str:
    """Say which page or equation `where` names in the table."""
    numbers = {"07": "appendix A", "08": "appendix B"}
    return f"({where})" if "." in where else numbers.get(where, f"chapter {where.lstrip('0')}")


def facts(row: dict[str, Any]) -> dict[str, str]:
    """Say in Markdown, by head of column, what the table has about a letter."""
    return {
        "shape": row.get("shape", ""),
        "Bahdanau et al.": f"${row['bahdanau']}$" if "bahdanau" in row else "",
        "Luong et al.": f"${row['luong']}$" if "luong" in row else "",
        "in code": ", ".join(f"`{name}`" for name in row.get("code", [])),
        "defined in": f"({row['defined']})" if "defined" in row else "",
        "only in": ", ".join(map(called, row.get("where", []))),
    }


def markdown(lines: list[dict[str, str]]) -> str:
    """Write a table, without the columns that would be empty."""
    heads = [head for head in lines[0] if any(line[head] for line in lines)]
    cells = [heads, ["---"] * len(heads), *([line[head] for head in heads] for line in lines)]
    return "\n".join(f"| {' | '.join(row)} |" for row in cells)


class Letters(SphinxDirective):
    """Show one group of letters as a table."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Write the table and have it parsed."""
        lines = [
            {
                "here": f'<span id="{name}"></span>' + ", ".join(f"${tex}$" for tex in row["letters"]),
                "meaning": f"{row['name']}: {row['meaning']}",
                **facts(row),
            }
            for name, row in table()[self.arguments[0]].items()
        ]
        return self.parse_text_to_nodes(markdown(lines))


class Equations(SphinxDirective):
    """Show the equations of one paper, or those of all but two, as a table."""

    optional_arguments, final_argument_whitespace = 1, True

    def run(self) -> list[nodes.Node]:
        """Write the table and have it parsed."""
        paper = "".join(self.arguments)
        lines = []
        for row in table()["equations"]:
            places, number = row.get("paper", ["—"]), row.get("number")
            if paper not in places[0] or (not paper and places[0].startswith(PAPERS)):
                continue
            chapter = f"[chapter {row.get('section', '')[1:2]}](../notebooks/{row.get('section')})"
            lines.append({
                "in the paper": "; ".join(place.removeprefix(f"{paper}, ") for place in places),
                "here": f'<span id="equation-{number}"></span>({number})' if number else chapter,
                "what it says": row["says"],
                "code": ", ".join(f"{{name}}`{name.split('.', 1)[1]} <attnlib.{name}>`" for name in row.get("code", [])) or "—",
            })
        return self.parse_text_to_nodes(markdown(lines))


def html(app: Sphinx, page: str, text: str) -> str:
    """Write what the table says in its Markdown: mathematics, code, and numbers of equations, which are links."""
    at = app.env.get_domain("math").equations
    text = re.sub(r"\$(.+?)\$", lambda tex: mathml(tex[1], display=False), escape(text, quote=False))
    text = re.sub("`(.+?)`", r"<code>\1</code>", text)
    return re.sub(
        r"\((\w\.\d+)\)",
        lambda n: f'<a href="{app.builder.get_relative_uri(page, at[n[1]][0])}#equation-{n[1]}">{n[0]}</a>',
        text,
    )


def card(app: Sphinx, page: str, name: str) -> str:
    """Write the card of a letter or of an equation, folded under its name."""
    if name.startswith("equation-"):
        row = next(row for row in table()["equations"] if row.get("number") == name.removeprefix("equation-"))
        title, says = f"Equation ({row['number']})", row["says"]
        objects = app.env.get_domain("py").objects
        code = [(short, objects[f"attnlib.{short}"]) for short in row.get("code", [])]
        links = [f'<a href="{app.builder.get_relative_uri(page, o.docname)}#{o.node_id}"><code>{short}</code></a>' for short, o in code]
        told = {"in the paper": "; ".join(row.get("paper", [])), "in code": ", ".join(links)}
    else:
        row = rows()[name]
        title, says = f"{html(app, page, '$' + row['letters'][0] + '$')} {html(app, page, row['name'])}", html(app, page, row["meaning"])
        told = {head: html(app, page, text) for head, text in facts(row).items()}
    row_at = f"{app.builder.get_relative_uri(page, 'book/notation')}#{name}"
    list_ = "".join(f"<dt>{head}</dt><dd>{text}</dd>" for head, text in told.items() if text)
    return (f'<details name="letter" data-card="{name}"><summary>{title}</summary><div><p>{says}</p><dl>{list_}</dl>'
            f'<p><a href="{row_at}">in the table of notation</a></p></div></details>')  # fmt: skip


def explain(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: object) -> None:
    """Name in the code of a chapter what its names stand for, and list its letters with their cards."""
    if not page.startswith("notebooks/") or "body" not in context:
        return
    numbers = frozenset(n for n, (at, _) in app.env.get_domain("math").equations.items() if at == page)
    place, names = Place(page.rpartition("/")[2], numbers), {}
    for name, row in rows().items():
        for code in row.get("code", []):
            names.setdefault(code, []).append(name)

    def named(token: re.Match) -> str:
        name = closest(names.get(token[2], []), place)
        return f'<span class="{token[1]}" data-letter="{name}">{token[2]}</span>' if name else token[0]

    context["body"] = NAME.sub(named, context["body"])
    seen = set(re.findall(r'data-letter="([^"]+)"', context["body"]))
    order = [*rows(), *(f"equation-{row['number']}" for row in table()["equations"] if "number" in row)]
    context["letters"] = "".join(card(app, page, name) for name in order if name in seen)


def setup(app: Sphinx) -> dict[str, Any]:
    """Tell Sphinx."""
    app.add_directive("letters", Letters)
    app.add_directive("equations", Equations)
    app.connect("html-page-context", explain)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
