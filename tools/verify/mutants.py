"""Change the equations, one thing at a time, and count the changes that a unit test of their module notices.

Mutmut's own runner does not serve here: it puts trampolines around functions, which the tests' hook (jaxtyping and
beartype) would take for the functions. Here pytest collects a module's tests once, under that hook, as they always run.
Then a child is forked for each mutant. It gives the one function the mutant's code, defaults included, so that
whoever imported it beforehand runs the mutant too, and runs the tests until one fails. Hypothesis draws the same
examples each time. A mutant that takes four times as long as its tests without a change has timed out, and so been
noticed.
"""

import gc
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from inspect import unwrap
from operator import attrgetter
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from types import SimpleNamespace

import hypothesis
import pytest

from verify import ROOT, Found
from verify.mutating import Mutant, change, mutants

MODULES = ("attention", "scores", "windows", "alignment", "cells", "encoders", "decoders", "search", "metrics")
LEAST = 97  # per cent of each module's mutants that must be noticed
SURVIVED, NOTICED = 0, 3  # the exit status of a child


class Hunt:
    """A plugin for pytest: in the place of running the tests it runs them on each mutant, and keeps the survivors."""

    def __init__(self, module: str):
        self.name, self.tried, self.survivors = module, 0, []

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Hunt the mutants. First all tests have to pass on functions that were given their own code again."""
        source = Path(import_module(self.name).__file__).read_text(encoding="utf-8")
        hunted = [*mutants(source)]
        unchanged = [Mutant(function, source) for function in {mutant.function for mutant in hunted}]
        began = perf_counter()
        if session.testsfailed or forked(lambda: self.run(session.items, unchanged), 3600) != SURVIVED:
            raise session.Interrupted("a test fails without any change")
        seconds = 2 + 4 * (perf_counter() - began)
        gc.freeze()  # what the children share with this process they need not go through, and so need not copy
        for mutant in hunted:
            if forked(lambda mutant=mutant: self.run(session.items, [mutant]), seconds) == SURVIVED:
                self.survivors.append(f"{self.name}.{mutant.function}: {change(source, mutant.source)}")
        self.tried = len(hunted)
        return True

    def run(self, tests: Sequence[pytest.Item], changed: Sequence[Mutant]) -> None:
        """Give functions the code that they have in the mutants' source, and run the tests."""
        home = sys.modules[self.name]
        for mutant in changed:
            names = {"__name__": self.name}
            exec(compile(mutant.source, home.__file__, "exec"), names)
            found = (attrgetter(mutant.function)(of) for of in (home, SimpleNamespace(**names)))
            old, new = (unwrap(getattr(function, "fget", function)) for function in found)
            old.__code__, old.__defaults__, old.__kwdefaults__ = new.__code__, new.__defaults__, new.__kwdefaults__
        for test, after in zip(tests, [*tests[1:], None], strict=True):
            test.config.hook.pytest_runtest_protocol(item=test, nextitem=after)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_makereport(self, call: pytest.CallInfo) -> None:
        """End the child as soon as a test fails; no report of it is needed."""
        if call.excinfo and not isinstance(call.excinfo.value, pytest.skip.Exception):
            os._exit(NOTICED)


def forked(work: Callable[[], None], seconds: float) -> int:
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
            os._exit(SURVIVED)
        finally:
            os._exit(NOTICED)
    return os.waitpid(child, 0)[1]


def tests_of(module: str) -> list[Path]:
    """Find a module's own tests, and those of known bugs and of bad input."""
    return [path for name in (module, "bugs", "bad_input") for path in ROOT.glob(f"tests/**/test_{name}.py")]


def hunt(module: str, tests: Sequence[Path]) -> tuple[int, list[str]]:
    """Hunt a module's mutants in a process of its own. Give how many there are, and those that no test noticed."""
    path = os.pathsep.join([str(ROOT / "tools"), os.environ.get("PYTHONPATH", "")])
    alone = {"PYTHONPATH": path, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": "", "OMP_NUM_THREADS": "1"}
    with TemporaryDirectory() as folder:
        record = Path(folder, "outcomes.json")
        command = [sys.executable, "-m", "verify.mutants", record, module, *tests]
        subprocess.run(command, cwd=ROOT, env=os.environ | alone, check=True)
        return tuple(json.loads(record.read_text(encoding="utf-8")))


def verify(modules: Sequence[str] = MODULES) -> Found:
    """Hunt the mutants of each module, one module a core; an hour or so for all."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        hunted = pool.map(lambda name: hunt(f"attnlib.{name}", tests_of(name)), modules)
        return judged(dict(zip(modules, hunted, strict=True)))


def judged(hunted: dict[str, tuple[int, list[str]]]) -> Found:
    """Count what was noticed, and name the survivors of a module where that is too little."""
    rows, failures = [["module", "mutants", "noticed", "per cent"]], []
    for module, (tried, survivors) in hunted.items():
        noticed = tried - len(survivors)
        rows.append([module, str(tried), str(noticed), f"{100 * noticed / tried:.1f}"])
        print(*survivors, sep="\n")
        failures += [f"{module}: expected at least {LEAST} per cent"] if 100 * noticed < LEAST * tried else []
    return Found(rows, failures)


if __name__ == "__main__":
    record, module, *files = sys.argv[1:]
    phases = (hypothesis.Phase.explicit, hypothesis.Phase.generate)  # without shrinking
    hypothesis.settings.register_profile("mutants", derandomize=True, database=None, deadline=None, phases=phases)
    hypothesis.settings.load_profile("mutants")
    plugin = Hunt(module)
    status = pytest.main(["-q", "-s", "-p", "no:cacheprovider", *files], plugins=[plugin])
    Path(record).write_text(json.dumps([plugin.tried, plugin.survivors]), encoding="utf-8")
    sys.exit(status)
