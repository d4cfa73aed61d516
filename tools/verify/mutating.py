"""Make the mutants of a module: its source with one thing changed in one function.

The changes are mutmut's operators on every function, the decorated ones as well, such as `greedy` and `beam`, which
mutmut itself leaves alone. Left out by rule, since they are no equations:

- whatever is outside functions: imports, docstrings, the fields of tuples; and annotations and decorators;
- ``raise`` statements, so the wording of an error, but not the condition that leads to it; and `extra_repr`;
- the ``strict`` of a ``zip``, an assertion; and to call `len` or `isinstance` without an argument, which always fails.
"""

import tomllib
from collections.abc import Container, Sequence
from difflib import SequenceMatcher
from pathlib import Path
from typing import NamedTuple

import libcst as cst
from libcst.metadata import MetadataWrapper, PositionProvider
from mutmut.mutation.mutators import mutation_operators

SURVIVORS = Path(__file__).with_name("survivors.toml")


class Mutant(NamedTuple):
    """A change: to which function, what its lines were and become, which these are, and the whole module with it."""

    function: str
    was: str
    becomes: str
    lines: range
    body: range
    source: str

    @property
    def module(self) -> str:
        """The module's name, without the package's."""
        return self.function.partition(".")[0]

    @property
    def key(self) -> tuple[str, str, str]:
        """What names the change as long as its lines stay as they are, wherever they move to."""
        return self[:3]


class _Finder(cst.CSTVisitor):
    """Go through a module and gather what mutmut's operators make of each node that is not left out."""

    def __init__(self):
        self.path, self.changes = [], []

    def on_visit(self, node: cst.CSTNode) -> bool:
        """Gather the changes of a node in a function, as the path to it, the node, and what it becomes."""
        if _left_out(node):
            return False
        if self.path and isinstance(self.path[-1], cst.FunctionDef):
            for kind, operator in mutation_operators:
                if isinstance(node, kind):
                    changed = [new for new in operator(node) if not _trivial(node, new)]
                    self.changes += [(tuple(self.path), node, new) for new in changed]
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


class Mutants(Sequence[Mutant]):
    """The mutants of a module in the order of its source, made when they are asked for; a few may be the same."""

    def __init__(self, name: str, source: str):
        finder, wrapper = _Finder(), MetadataWrapper(cst.parse_module(source))
        wrapper.module.visit(finder)
        self.name, self.lines, self.changes, self.module = name, source.split("\n"), finder.changes, wrapper.module
        self.positions = wrapper.resolve(PositionProvider)

    def __len__(self) -> int:
        return len(self.changes)

    def __getitem__(self, number: int) -> Mutant:
        path, node, becomes = self.changes[number]
        begin = self._lines_of([*path[0].decorators, path[0]][0]).start - 1
        end = self._lines_of(path[0]).stop - 1
        new = self.module.code_for_node(path[0].deep_replace(node, becomes)).strip("\n").split("\n")
        mutated = "\n".join((*self.lines[:begin], *new, *self.lines[end:]))
        function = ".".join((self.name, *(part.name.value for part in path)))
        changed = _difference(self.lines[begin:end], new)
        return Mutant(function, *changed, self._lines_of(node), self._lines_of(path[-1]), mutated)

    def _lines_of(self, node: cst.CSTNode) -> range:
        return range(self.positions[node].start.line, self.positions[node].end.line + 1)

    def different(self) -> list[Mutant]:
        """Make all of them, each once."""
        return list({mutant.source: mutant for mutant in self}.values())

    def spaced(self, number: int, known: Container[tuple[str, str, str]]) -> list[Mutant]:
        """Make so many at even distances, those that are known passed over."""
        places = (range((2 * n + 1) * len(self) // (2 * number), len(self)) for n in range(number))
        return [next(self[place] for place in after if self[place].key not in known) for after in places]


def _difference(old: list[str], new: list[str]) -> tuple[str, str]:
    """Give the lines that differ, before and after, each side as one line."""
    pieces = [piece for piece in SequenceMatcher(None, old, new, autojunk=False).get_opcodes() if piece[0] != "equal"]
    before = (line for _, begin, end, _, _ in pieces for line in old[begin:end])
    after = (line for _, _, _, begin, end in pieces for line in new[begin:end])
    return " ".join(map(str.strip, before)), " ".join(map(str.strip, after))


class Reason(NamedTuple):
    """Why a mutant survives: it is equivalent, or what it changes is not worth a test."""

    equivalent: bool
    text: str


def survivors(path: Path = SURVIVORS) -> dict[tuple[str, str, str], Reason]:
    """Read which mutants are known to survive, and why."""
    groups = tomllib.loads(path.read_text(encoding="utf-8"))["survivors"]
    return {tuple(key): Reason(group["equivalent"], group["reason"]) for group in groups for key in group["mutants"]}
