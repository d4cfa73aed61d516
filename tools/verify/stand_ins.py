"""What stands in a copy of the book for what Sphinx makes: pages of modules, the book's own directives and roles."""

import ast
from pathlib import Path
from typing import Any

import yaml

from verify.record import ROOT


def chapters() -> list[dict[str, Any]]:
    """Read the pages below the first one, in reading order."""
    contents = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    return [chapter for part in contents["parts"] for chapter in part["chapters"]]


def pages() -> list[str]:
    """Name the pages that people write, without their endings."""
    contents = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    return [contents["root"], *(chapter["file"] for chapter in chapters())]


def modules() -> list[str]:
    """Name the pages that are made of Python files, without their endings."""
    return [section["file"] for chapter in chapters() for section in chapter.get("sections", [])]


def module_page(source: Path) -> str:
    """Write what a module is about, and each of its public names, where links to it find it."""
    tree, module = ast.parse(source.read_text(encoding="utf-8")), f"attnlib.{source.stem}"
    texts = {name: first_paragraph(node) for node in tree.body for name in names(node) if name[0] != "_"}
    labels = {name.lower(): f"({module}.{name})=\n" for name in reversed(texts)}
    parts = [f"{labels.pop(name.lower(), '')}## {name}\n\n{text}" for name, text in texts.items()]
    return "\n\n".join([f"# {module}", first_paragraph(tree), *parts]) + "\n"


def names(node: ast.stmt) -> list[str]:
    """Name what a statement defines: a function, a class, or constants."""
    match node:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.AnnAssign(target=ast.Name(id=name)):
            return [name]
        case ast.Assign(targets=targets):
            return [target.id for target in targets if isinstance(target, ast.Name)]
    return []


def first_paragraph(node: ast.Module | ast.stmt) -> str:
    """Take the first paragraph of a docstring, from reStructuredText to Markdown; a constant has none."""
    documented = isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
    paragraph = (ast.get_docstring(node) or "" if documented else "").partition("\n\n")[0]
    return paragraph.replace(":math:`", "{math}`").replace("``", "`")


def defined(what: str) -> set[str]:
    """Name the directives, or the roles, that the book's own extensions define."""
    files = (ROOT / "extensions" / "bookext").glob("*.py")
    nodes = [node for file in files for node in ast.walk(ast.parse(file.read_text("utf-8")))]
    calls = [node for node in nodes if isinstance(node, ast.Call)]
    return {call.args[0].value for call in calls if getattr(call.func, "attr", "") == f"add_{what}"}


def stand_ins() -> dict[str, Any]:
    """Write for each of the book's own directives what is to stand in its place."""
    links = [
        f"- [{Path(name).name}](/{name}.md): {first_paragraph(ast.parse((ROOT / f'{name}.py').read_text('utf-8')))}"
        for name in modules()
    ]
    table = "| {argument} |\n| --- |\n| Sphinx makes this table when it has read all pages. |"
    lists = {"modules-in-reading-order": "\n".join(links)}
    return {
        "directives": {name: lists.get(name, table) for name in sorted(defined("directive"))},
        "roles": sorted(defined("role")),
    }
