"""Make the mutants of a module: its source with one thing changed in one function.

The changes are mutmut's operators on every function, the decorated ones as well, such as `greedy` and `beam`, which
mutmut itself leaves alone. Left out by rule, since they are no equations:

- whatever is outside functions: imports, docstrings, the fields of tuples; and annotations and decorators;
- ``raise`` statements, so the wording of an error, but not the condition that leads to it; and `extra_repr`;
- the ``strict`` of a ``zip``, an assertion; and to call `len` or `isinstance` without an argument, which always fails.
"""

from collections.abc import Iterator
from difflib import ndiff
from typing import NamedTuple

import libcst as cst
from mutmut.mutation.mutators import mutation_operators


class Mutant(NamedTuple):
    """A change to a function, by its path in the module, and the module's source with it."""

    function: str
    source: str


class _Finder(cst.CSTVisitor):
    """Go through a module and gather what mutmut's operators make of each node that is not left out."""

    def __init__(self):
        self.path, self.changes = [], []

    def on_visit(self, node: cst.CSTNode) -> bool:
        """Gather the changes of a node in a function, as the function's path, the node, and what it becomes."""
        if _left_out(node):
            return False
        if self.path and isinstance(self.path[-1], cst.FunctionDef):
            function = ".".join(part.name.value for part in self.path)
            changed = [new for kind, operator in mutation_operators if isinstance(node, kind) for new in operator(node)]
            self.changes += [(function, node, new) for new in changed if not _trivial(node, new)]
        elif isinstance(node, cst.ClassDef | cst.FunctionDef):
            self.path.append(node)
        return True

    def on_leave(self, node: cst.CSTNode) -> None:
        """Forget the function or the class that ends."""
        if self.path and node is self.path[-1]:
            self.path.pop()


def _left_out(node: cst.CSTNode) -> bool:
    match node:
        case cst.Annotation() | cst.Decorator() | cst.Raise():
            return True
        case cst.FunctionDef(name=cst.Name(value="extra_repr")) | cst.Arg(keyword=cst.Name(value="strict")):
            return True
    return False


def _trivial(node: cst.CSTNode, changed: cst.CSTNode) -> bool:
    match node:
        case cst.Call(func=cst.Name(value="len" | "isinstance")):
            return True
        case cst.Call(func=cst.Name(value="zip")):
            return node.args[-1] not in changed.args
    return False


def mutants(source: str) -> Iterator[Mutant]:
    """Make all mutants of a module, each once, in the order of its source."""
    module, finder = cst.parse_module(source), _Finder()
    module.visit(finder)
    made = {module.deep_replace(node, new).code: function for function, node, new in finder.changes}
    return (Mutant(function, changed) for changed, function in made.items())


def change(old: str, new: str) -> str:
    """Say in one line which lines became which."""
    lines = [line for line in ndiff(old.splitlines(), new.splitlines()) if line[0] in "-+"]
    was, becomes = (" ".join(line[2:].strip() for line in lines if line[0] == side) for side in "-+")
    return f"{was!r} becomes {becomes!r}"
