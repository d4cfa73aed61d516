"""Run the unit tests on mutants, and see whether one of them notices.

Mutmut's own runner does not serve here: it puts trampolines around functions, which the tests' hook (jaxtyping and
beartype) would take for the functions. Here pytest collects the tests once, under that hook, as they always run. Then
a child is forked for each mutant. It gives the one function the mutant's code, defaults included, so that who imported
it beforehand runs the mutant too. It runs the tests that reach the changed lines, until one fails. Hypothesis draws the
same examples each time. A mutant has timed out that takes twice as long as its tests, and three seconds.
"""

import gc
import json
import os
import signal
import sys
from argparse import ArgumentParser
from collections.abc import Callable, Iterable, Sequence
from inspect import unwrap
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from types import SimpleNamespace

import hypothesis
import pytest
from coverage import Coverage

from verify.mutating import Mutant, Mutants, survivors

MODULES = ("attention", "scores", "windows", "alignment", "encoders", "decoders", "search", "metrics")
ROOT = Path(__file__).parents[2]
KILLED, TIMED_OUT, SURVIVED = "killed", "timed out", "survived"
FAILED = 3  # the exit status of a child in which a test has failed


class Hunt:
    """A plugin for pytest: in the place of running the tests it runs them on each mutant, and keeps what became of it.

    Parameters
    ----------
    modules : list of str
        Whose mutants, by the modules' names.
    sample : int
        How many mutants of each module to try, evenly spaced, among those that are not known to survive; each on its
        module's own tests and those of bad input. 0: all, on all tests that reach them.
    """

    def __init__(self, modules: Sequence[str], sample: int):
        self.modules, self.sample, self.outcomes = modules, sample, []

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Hunt the mutants instead."""
        if session.testsfailed:
            raise session.Interrupted("a file of tests cannot be read")
        files = {name: sys.modules[f"attnlib.{name}"].__file__ for name in self.modules}
        sources = {name: Path(file).read_text(encoding="utf-8") for name, file in files.items()}
        mutants = [mutant for name, source in sources.items() for mutant in self._chosen(Mutants(name, source))]
        unchanged = {mutant.function: mutant._replace(source=sources[mutant.module]) for mutant in mutants}
        reach = _own if self.sample else _reaching(session.items, files, unchanged.values())
        gc.freeze()  # what the children share with this process they need not go through, and so need not copy
        for name, of in groupby(mutants, attrgetter("module")):
            began = perf_counter()
            for mutant in of:
                tests, seconds = reach(session.items, mutant)
                outcome = _forked(lambda mutant=mutant, tests=tests: _run(tests, [mutant]), seconds)
                self.outcomes.append((*mutant.key, outcome))
            print(f"{name}: {perf_counter() - began:.0f} s", flush=True)
        return True

    def _chosen(self, mutants: Mutants) -> list[Mutant]:
        return mutants.spaced(self.sample, survivors()) if self.sample else mutants.different()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_makereport(self, call: pytest.CallInfo) -> None:
        """End the child as soon as a test fails; no report of it is needed."""
        if call.excinfo is not None:
            os._exit(FAILED)


def _own(tests: Sequence[pytest.Item], mutant: Mutant) -> tuple[list[pytest.Item], float]:
    """Find the tests of a mutant's module and of bad input; say how many seconds of the processor they may take."""
    return [test for test in tests if test.path.stem in (f"test_{mutant.module}", "test_bad_input")], 10.0


def _reaching(tests: Sequence[pytest.Item], files: dict[str, str], unchanged: Iterable[Mutant]) -> Callable:
    """Run all tests once, and return a function like `_own` that finds those that reach a mutant, the fastest first.

    They run on functions that were given their own code again, so that this alone fails no test.
    """

    def measure() -> None:
        coverage = Coverage(data_file=None, config_file=False, include=list(files.values()))
        coverage.start()
        _run([], unchanged)
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

    def reaching(tests: Sequence[pytest.Item], mutant: Mutant) -> tuple[list[pytest.Item], float]:
        reached = {int(n): {int(test) for test in of if test} for n, of in lines[mutant.module].items()}
        hit = [set().union(*(reached.get(n, set()) for n in span)) for span in (mutant.lines, mutant.body)]
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


def _run(tests: Sequence[pytest.Item], mutants: Iterable[Mutant] = ()) -> None:
    """Give the functions of the mutants their code, and run the tests."""
    for mutant in mutants:
        home, changed = sys.modules[f"attnlib.{mutant.module}"], {"__name__": f"attnlib.{mutant.module}"}
        exec(compile(mutant.source, home.__file__, "exec"), changed)
        path = mutant.function.removeprefix(f"{mutant.module}.")
        old, new = (unwrap(attrgetter(path)(of)) for of in (home, SimpleNamespace(**changed)))
        old.__code__, old.__defaults__, old.__kwdefaults__ = new.__code__, new.__defaults__, new.__kwdefaults__
    for test, after in zip(tests, [*tests[1:], None], strict=False):
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
    names = (*arguments.modules, "bad_input") if arguments.sample else (*MODULES, "translator", "bad_input")
    files = [str(ROOT / "tests" / f"test_{name}.py") for name in names]
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    options = ["-q", "-s", "-p", "jaxtyping", "-p", "no:cacheprovider"]
    status = pytest.main([*options, *files], plugins=[hunt])
    arguments.record.write_text(json.dumps(hunt.outcomes), encoding="utf-8")
    sys.exit(status)
