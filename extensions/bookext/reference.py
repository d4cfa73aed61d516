"""A module of the package is a page: its docstrings, and its signatures as the source has them.

A page of the table of contents may be a Python file. A name in single backticks is a link where it names something of
the package, and plain code where it is a parameter or a symbol. A full name that leads nowhere is an error.
"""

import ast
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from types import FunctionType
from typing import Any

import jaxtyping
from docutils import nodes
from docutils.transforms import Transform
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.ext.autodoc import DataDocumenter, FunctionDocumenter
from sphinx.parsers import RSTParser
from sphinx.roles import XRefRole
from sphinx.transforms import SphinxTransform
from sphinx.util.docutils import SphinxDirective
from sphinx.util.nodes import make_refnode

PACKAGE = "attnlib"
HOME = f"src/{PACKAGE}/"


class ModuleParser(RSTParser):
    """Read a Python file as the page of its module."""

    supported = ("python",)

    def get_transforms(self) -> list[type[Transform]]:
        """Add the one that displays equations."""
        return [*super().get_transforms(), LoneEquation]

    def parse(self, inputstring: str, document: nodes.document) -> None:
        """Ask autodoc for all of the module."""
        name = f"{PACKAGE}.{Path(document.current_source).stem}"
        page = [name, "=" * len(name), "", ".. default-role:: name", "", f".. automodule:: {name}", "   :members:"]
        super().parse("\n".join(page), document)


class ModulesInReadingOrder(SphinxDirective):
    """List the modules that are below this page in the table of contents, with the first sentence of each."""

    def run(self) -> list[nodes.Node]:
        """Write the list and have it parsed."""
        below = self.config.external_site_map[self.env.docname].subtrees[0].items
        lines = [".. default-role:: name", ""]
        for page in map(str, below):
            source = Path(self.env.srcdir, page).with_suffix(".py")
            self.env.note_dependency(str(source))
            summary = ast.get_docstring(ast.parse(source.read_text("utf-8"))).partition("\n\n")[0].replace("\n", " ")
            lines.append(f"* :doc:`{source.stem} </{HOME}{source.stem}>`: {summary}")
        return self.parse_text_to_nodes("\n".join(lines))


class ConstantDocumenter(DataDocumenter):
    """Show a constant as the source writes it, if that is short: its value may be a path of this machine."""

    def should_suppress_value_header(self) -> bool:
        """Leave out the value that Python has."""
        return True

    def add_directive_header(self, sig: str) -> None:
        """Add what the source has."""
        super().add_directive_header(sig)
        value = constants(self.modname).get(self.object_name, "")
        if 0 < len(value) <= 60:
            self.add_line(f"   :value: {value}", self.get_sourcename())

    def process_doc(self, docstrings: list[list[str]]) -> Iterator[str]:
        """Take the docstring as it is: what comes before its first colon is no type."""
        for lines in docstrings:
            yield from lines


class EachSignatureOnce(FunctionDocumenter):
    """A function whose first argument decides what is done lists its cases, each once."""

    def format_signature(self, **options: Any) -> str:
        """Drop what has been listed."""
        return "\n".join(dict.fromkeys(super().format_signature(**options).split("\n")))


class LoneEquation(SphinxTransform):
    """A paragraph of a docstring that is only an equation is a displayed one."""

    default_priority = 400

    def apply(self) -> None:
        """Replace it."""
        for equation in list(self.document.findall(nodes.math)):
            if equation.parent.children == [equation] and isinstance(equation.parent, nodes.paragraph):
                text = equation.astext()
                block = nodes.math_block(text, text, docname=self.env.docname, number=None, label=None, nowrap=False)
                equation.parent.replace_self(block)


@cache
def constants(module: str) -> dict[str, str]:
    """Read the values that a module gives to names, as they are written."""
    tree = ast.parse(Path(find_spec(module).origin).read_text("utf-8"))
    assigned = [node for node in tree.body if isinstance(node, ast.Assign | ast.AnnAssign) and node.value]
    targets = [node.targets[0] if isinstance(node, ast.Assign) else node.target for node in assigned]
    return {ast.unparse(target): ast.unparse(node.value) for target, node in zip(targets, assigned, strict=True)}


@cache
def definitions(module: str) -> dict[str, ast.AST]:
    """Find all functions and classes of a module, by their full names."""
    tree = ast.parse(Path(find_spec(module).origin).read_text("utf-8"))

    def below(parent: ast.AST, name: str) -> Iterator[tuple[str, ast.AST]]:
        for node in parent.body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                yield f"{name}.{node.name}", node
                yield from below(node, f"{name}.{node.name}")

    return dict(below(tree, module))


class Unquoted(ast.NodeTransformer):
    """Take the quotes off a class that is named before it exists, and leave those of a shape."""

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        """Leave what is within a type of jaxtyping."""
        return node if hasattr(jaxtyping, getattr(node.value, "id", "")) else self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        """Read a string as the name that it is."""
        return ast.parse(node.value, mode="eval").body if isinstance(node.value, str) else node


def written(annotation: ast.AST | None) -> str:
    """Write an annotation as the source has it."""
    return "" if annotation is None else ast.unparse(Unquoted().visit(annotation))


def signature(node: ast.AST, method: bool) -> tuple[str, str]:
    """Write the arguments and the result of a function, or what makes an object of a class."""
    if isinstance(node, ast.ClassDef):
        own = [f for f in node.body if isinstance(f, ast.FunctionDef) and f.name == "__init__"]
        if own:
            return signature(own[0], method=True)[0], ""
        fields = [field for field in node.body if isinstance(field, ast.AnnAssign)]
        defaults = [f" = {ast.unparse(field.value)}" if field.value else "" for field in fields]
        shown = [f"{f.target.id}: {written(f.annotation)}{d}" for f, d in zip(fields, defaults, strict=True)]
        return f"({', '.join(shown)})" if shown else "", ""
    arguments = node.args
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
    for argument in filter(None, every):
        argument.annotation = argument.annotation and Unquoted().visit(argument.annotation)
    static = any(getattr(decorator, "id", "") == "staticmethod" for decorator in node.decorator_list)
    if method and not static and arguments.args[:1] and arguments.args[0].arg in {"self", "cls"}:
        del arguments.args[0]
    return f"({ast.unparse(arguments)})", written(node.returns)


def show_signature(app: Sphinx, what: str, name: str | None, *_: object) -> tuple[str, str] | None:
    """Give autodoc the signature that the source has, in place of what Python made of it."""
    if what not in {"function", "class", "method"} or not name:  # the cases of a single dispatch have no name
        return None
    node = definitions(".".join(name.split(".")[:2])).get(name)
    return node and signature(node, method=what == "method")


def skip(app: Sphinx, what: str, name: str, obj: object, *_: object) -> bool | None:
    """Leave out the fields of a named tuple, which its docstring describes, and show what calling an object does."""
    if type(obj).__name__ == "_tuplegetter":
        return True
    return False if name == "__call__" and isinstance(obj, FunctionType) and obj.__doc__ else None


def own_names(node: nodes.Node) -> Iterator[str]:
    """Name the parameters of the functions and classes that a node describes."""
    while node := node.parent:
        if isinstance(node, addnodes.desc):
            for parameter in node.findall(addnodes.desc_parameter):
                yield from (name.astext() for name in parameter.findall(addnodes.desc_sig_name))


def resolve(app: Sphinx, env: BuildEnvironment, node: addnodes.pending_xref, text: nodes.Node) -> nodes.Node | None:
    """Find what a name of the package leads to; leave any other name as it is."""
    in_prose = node["reftype"] == "name"
    if not in_prose and node.get("refdomain") != "py":
        return None
    name, objects = node["reftarget"], env.get_domain("py").objects
    if in_prose and name in own_names(node):
        return text
    module, within = node.get("py:module") or PACKAGE, node.get("py:class")
    places = [f"{module}.{within}", module, PACKAGE]
    known = [full for full in (name, *(f"{place}.{name}" for place in places)) if full in objects]
    known = known or [full for full in objects if full.count(".") == 2 + name.count(".") and full.endswith(f".{name}")]
    known = [full for full in known if in_prose or objects[full].objtype not in {"module", "function", "method"}]
    if known:
        found = objects[known[0]]
        return make_refnode(app.builder, node["refdoc"], found.docname, found.node_id, text, known[0])
    return None if name.startswith(f"{PACKAGE}.") else text


def let_links_find_names(app: Sphinx, env: BuildEnvironment) -> None:
    """Let a link in Markdown, `attention.py#attnlib.attention.attention`, lead to that place on the module's page."""
    for name, found in env.get_domain("py").objects.items():
        env.metadata[found.docname].setdefault("myst_slugs", {})[name] = (0, found.node_id, name)


def setup(app: Sphinx) -> dict[str, Any]:
    """Tell Sphinx."""
    app.setup_extension("sphinx.ext.autodoc")
    app.setup_extension("sphinx.ext.napoleon")
    app.setup_extension("sphinx.ext.viewcode")
    app.add_autodocumenter(ConstantDocumenter, override=True)
    app.add_autodocumenter(EachSignatureOnce, override=True)
    app.add_source_suffix(".py", "python")
    app.add_source_parser(ModuleParser)
    app.add_role("name", XRefRole(innernodeclass=nodes.literal))
    app.add_directive("modules-in-reading-order", ModulesInReadingOrder)
    app.connect("autodoc-process-signature", show_signature)
    app.connect("autodoc-skip-member", skip)
    app.connect("missing-reference", resolve)
    app.connect("env-updated", let_links_find_names)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
