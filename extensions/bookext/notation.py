"""The page Notation, and in each chapter the cards of its letters, of the names in its code and of its equations."""

import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from bookext.letters import Place, closest, mathml, rows, table

PAPERS = "Bahdanau et al. 2015", "Luong et al. 2015"
NAME = re.compile(r'(?<!<span class="o">\.</span>)<span class="(n|pre)">(\w+)</span>')


def called(where: str) -> str:
    """Say which equation or page it is that a letter is used with."""
    appendix = {"07": "appendix A", "08": "appendix B"}
    return f"({where})" if "." in where else appendix.get(where, f"chapter {int(where)}")


def facts(row: dict[str, Any]) -> dict[str, str]:
    """Say in Markdown what the table has about a letter, in the columns of the page Notation."""
    return {
        "shape": row.get("shape", ""),
        "Bahdanau et al.": f"${row['bahdanau']}$" if "bahdanau" in row else "",
        "Luong et al.": f"${row['luong']}$" if "luong" in row else "",
        "in code": ", ".join(f"`{name}`" for use in ("code", "by_hand") for name in row.get(use, [])),
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
        lines = []
        for name, row in table()[self.arguments[0]].items():
            letters = ", ".join(f"${tex}$" for tex in row["letters"])
            told = facts(row)
            meaning = f"{row['name']}: {row['meaning']} {told.pop('defined in')}"
            lines.append({"here": f'<span id="{name}"></span>{letters}', "meaning": meaning} | told)
        return self.parse_text_to_nodes(markdown(lines))


class Equations(SphinxDirective):
    """Show the equations of one paper as a table, or without one those of neither of the two."""

    optional_arguments, final_argument_whitespace = 1, True

    def run(self) -> list[nodes.Node]:
        """Write the table and have it parsed."""
        paper, lines = "".join(self.arguments), []
        for row in table()["equations"]:
            places, section = row.get("paper", ["—"]), row.get("section", "")
            if places[0].startswith(paper) if paper else not places[0].startswith(PAPERS):
                number = '<span id="equation-{0}"></span>({0})'.format(row.get("number"))
                code = [f"{{name}}`{name.split('.', 1)[1]} <attnlib.{name}>`" for name in row.get("code", [])]
                lines.append(
                    {
                        "in the paper": "; ".join(place.removeprefix(f"{paper}, ") for place in places),
                        "here": f"[{called(section[:2])}](../notebooks/{section})" if section else number,
                        "what it says": row["says"],
                        "code": ", ".join(code) or "—",
                    }
                )
        return self.parse_text_to_nodes(markdown(lines))


class Cards:
    """The cards of a page: what the table says, as HTML that the page can show."""

    def __init__(self, app: Sphinx, page: str):
        self.uri = lambda other, place: f"{app.builder.get_relative_uri(page, other)}#{place}"
        self.objects = app.env.get_domain("py").objects
        self.equations = app.env.get_domain("math").equations

    def html(self, text: str) -> str:
        """Convert Markdown of the table: mathematics, code, and numbers of equations, which become links."""
        text = re.sub(r"\$(.+?)\$", lambda tex: mathml(tex[1], display=False), text)
        text = re.sub("`(.+?)`", r"<code>\1</code>", text)
        return re.sub(r"\((\w\.\d+)\)", lambda cited: self.link(f"equation-{cited[1]}", cited[0]), text)

    def link(self, place: str, text: str) -> str:
        """Lead to an equation, `equation-1.3`, or to the place in the reference of what has a full name."""
        found = self.objects.get(place)
        page = found.docname if found else self.equations[place.removeprefix("equation-")][0]
        return f'<a href="{self.uri(page, found.node_id if found else place)}">{text}</a>'

    def of_letter(self, name: str) -> dict[str, Any]:
        """Say what a letter means."""
        row = rows()[name]
        told = {head: self.html(text) for head, text in facts(row).items() if text}
        return {
            "title": self.html(f"${row['letters'][0]}$ {row['name']}"),
            "says": self.html(row["meaning"]),
            "facts": told,
        }

    def of_equation(self, row: dict[str, Any]) -> dict[str, Any]:
        """Say what an equation says, and name and link the code that computes it."""
        code = ", ".join(self.link(f"attnlib.{name}", f"<code>{name}</code>") for name in row.get("code", []))
        told = {"in the paper": "; ".join(row.get("paper", [])), "in code": code}
        title = f"Equation ({row['number']})"
        return {
            "title": title,
            "says": self.html(row["says"]),
            "facts": {head: text for head, text in told.items() if text},
        }


def explain(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: object) -> None:
    """Say in the code of a chapter what its names stand for, and make the cards of what is on the page."""
    if not page.startswith("notebooks/") or "body" not in context:
        return
    cards = Cards(app, page)
    place = Place(page.rpartition("/")[2], frozenset(n for n, (at, _) in cards.equations.items() if at == page))
    uses = ["code", "by_hand"] if place.page.startswith(tuple(table()["by_hand"])) else ["code"]

    def named(token: re.Match) -> str:
        names = [name for name, row in rows().items() if any(token[2] in row.get(use, []) for use in uses)]
        name = closest(names, place)
        return f'<span class="{token[1]}" data-letter="{name}">{token[2]}</span>' if name else token[0]

    context["body"] = NAME.sub(named, context["body"])
    seen = set(re.findall(r'data-letter=\\?"([\w.-]+)', context["body"]))
    equations = {f"equation-{row['number']}": row for row in table()["equations"] if "number" in row}
    context["letters"] = {name: cards.of_letter(name) for name in rows() if name in seen} | {
        name: cards.of_equation(row) for name, row in equations.items() if name in seen
    }


def setup(app: Sphinx) -> dict[str, Any]:
    """Tell Sphinx."""
    app.add_directive("letters", Letters)
    app.add_directive("equations", Equations)
    app.connect("html-page-context", explain)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
