"""Change one thing at a time in a function of a module, and see whether a unit test notices.

The changes are mutmut's: its operators go through the code of every function. Its runner does not serve here. It puts
trampolines around functions, which the tests' own hook (jaxtyping and beartype) would take for the functions, and it
leaves out whatever is decorated, so all of `greedy` and `beam`. Here pytest collects the tests once, under that hook,
as they always run. Then a child is forked for each mutant. It gives the one function the mutant's code, defaults
included, so that who imported it beforehand runs the mutant too. It runs the tests that reach the changed lines, until
one fails. Hypothesis draws the same examples each time. A mutant has timed out that takes twice as long as its
tests, and three seconds.

Left out by rule, since they are no equations:

- whatever is outside functions: imports, docstrings, the fields of tuples; and annotations and decorators;
- ``raise`` statements, so the wording of an error, but not the condition that leads to it; and `extra_repr`;
- the ``strict`` of a ``zip``, an assertion; and to call `len` or `isinstance` without an argument, which always fails.
"""

import gc
import json
import os
import signal
import sys
import tomllib
from argparse import ArgumentParser
from collections.abc import Callable, Container, Sequence
from difflib import SequenceMatcher
from inspect import unwrap
from operator import attrgetter
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from types import SimpleNamespace
from typing import NamedTuple

import hypothesis
import libcst as cst
import pytest
from coverage import Coverage
from libcst.metadata import MetadataWrapper, PositionProvider
from mutmut.mutation.mutators import mutation_operators

MODULES = ("attention", "scores", "windows", "alignment", "encoders", "decoders", "search", "metrics")
ROOT = Path(__file__).parents[2]
SURVIVORS = Path(__file__).with_name("survivors.toml")
KILLED, TIMED_OUT, SURVIVED = "killed", "timed out", "survived"
FAILED = 3  # the exit status of a child in which a test has failed


class Mutant(NamedTuple):
    """A change: to which function, what its lines were and become, which these are, and the whole module with it."""

    function: str
    was: str
    becomes: str
    lines: range
    body: range
    source: str

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


class Hunt:
    """A plugin for pytest: in the place of running the tests it runs them on each mutant, and keeps what became of it.

    Parameters
    ----------
    modules : list of str
        Whose mutants, by the modules' names.
    sample : int
        How many mutants of each module to try, evenly spaced, among those that are not known to survive; each on its
        module's own tests. 0: all, on all tests that reach them.
    """

    def __init__(self, modules: Sequence[str], sample: int):
        self.modules, self.sample, self.outcomes = modules, sample, []

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Hunt the mutants instead."""
        files = {name: sys.modules[f"attnlib.{name}"].__file__ for name in self.modules}
        reach = _own(session.items) if self.sample else _reaching(session.items, files)
        for name, file in files.items():
            all_of_them, began = Mutants(name, Path(file).read_text(encoding="utf-8")), perf_counter()
            gc.freeze()  # what the children share with this process they need not go through, and so need not copy
            mutants = all_of_them.spaced(self.sample, survivors()) if self.sample else all_of_them.different()
            for mutant in mutants:
                tests, seconds = reach(name, mutant)
                outcome = _forked(lambda mutant=mutant, tests=tests: _run(tests, mutant), seconds)
                self.outcomes.append((*mutant.key, outcome))
            print(f"{name}: {len(mutants)} mutants, {perf_counter() - began:.0f} s", flush=True)
        return True

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_makereport(self, call: pytest.CallInfo) -> None:
        """End the child as soon as a test fails; no report of it is needed."""
        if call.excinfo is not None:
            os._exit(FAILED)


def _own(tests: Sequence[pytest.Item]) -> Callable[[str, Mutant], tuple[list[pytest.Item], float]]:
    """Return a function that finds a module's own tests, and how many seconds of the processor they may take."""
    return lambda name, mutant: ([test for test in tests if test.path.stem == f"test_{name}"], 10.0)


def _reaching(tests: Sequence[pytest.Item], files: dict[str, str]) -> Callable[[str, Mutant], tuple[list, float]]:
    """Run all tests once, and return a function that finds those that reach a mutant, the fastest first."""

    def measure() -> None:
        coverage = Coverage(data_file=None, config_file=False, include=list(files.values()))
        coverage.start()
        for number, test in enumerate(tests):
            coverage.switch_context(str(number))
            began = perf_counter()
            _run([test])
            seconds.append(perf_counter() - began)
        coverage.stop()
        lines = {name: coverage.get_data().contexts_by_lineno(file) for name, file in files.items()}
        record.write_text(json.dumps([seconds, lines]), encoding="utf-8")

    with TemporaryDirectory() as folder:
        record, seconds = Path(folder, "reach.json"), []
        if _forked(measure, 600) != SURVIVED:
            raise RuntimeError("a test fails without any mutation; expected all to pass")
        seconds, lines = json.loads(record.read_text(encoding="utf-8"))

    def reaching(name: str, mutant: Mutant) -> tuple[list[pytest.Item], float]:
        reached = {n: {int(test) for test in of if test} for n, of in lines[name].items()}
        hit = [set().union(*(reached.get(str(n), set()) for n in span)) for span in (mutant.lines, mutant.body)]
        chosen = sorted(hit[0] or hit[1], key=seconds.__getitem__)
        return [tests[number] for number in chosen], 3 + 2 * sum(seconds[number] for number in chosen)

    return reaching


def _forked(work: Callable[[], None], seconds: float) -> str:
    """Do the work in a child that ends when a test fails or so many seconds of the processor are over."""
    child = os.fork()
    if not child:
        try:
            gc.disable()
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, 1)
            os.dup2(nowhere, 2)
            signal.setitimer(signal.ITIMER_PROF, seconds)
            work()
            os._exit(0)
        finally:
            os._exit(FAILED)
    status = os.waitpid(child, 0)[1]
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGPROF:
        return TIMED_OUT
    return KILLED if status else SURVIVED


def _run(tests: Sequence[pytest.Item], mutant: Mutant | None = None) -> None:
    """Run the tests, on the mutant if there is one."""
    if mutant:
        module, _, path = mutant.function.partition(".")
        home, changed = sys.modules[f"attnlib.{module}"], {"__name__": f"attnlib.{module}"}
        exec(compile(mutant.source, home.__file__, "exec"), changed)
        old, new = (unwrap(attrgetter(path)(of)) for of in (home, SimpleNamespace(**changed)))
        old.__code__, old.__defaults__, old.__kwdefaults__ = new.__code__, new.__defaults__, new.__kwdefaults__
    for test, after in zip(tests, [*tests[1:], None], strict=True):
        test.config.hook.pytest_runtest_protocol(item=test, nextitem=after)


if __name__ == "__main__":
    parser = ArgumentParser()
    parser.add_argument("record", type=Path)
    parser.add_argument("--modules", nargs="+", choices=MODULES, default=MODULES)
    parser.add_argument("--sample", type=int, default=0)
    arguments = parser.parse_args()
    without_shrinking = (hypothesis.Phase.explicit, hypothesis.Phase.generate)
    hypothesis.settings.register_profile(
        "mutants", derandomize=True, database=None, deadline=None, phases=without_shrinking
    )
    hypothesis.settings.load_profile("mutants")
    hunt = Hunt(arguments.modules, arguments.sample)
    names = arguments.modules if arguments.sample else (*MODULES, "translator")
    files = [str(ROOT / "tests" / f"test_{name}.py") for name in names]
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    options = ["-q", "-s", "-p", "jaxtyping", "-p", "no:cacheprovider"]
    status = pytest.main([*options, *files], plugins=[hunt])
    arguments.record.write_text(json.dumps(hunt.outcomes), encoding="utf-8")
    sys.exit(status)
