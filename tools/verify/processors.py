"""The same values on other processors: notebooks and unit tests with one thread and without vector instructions.

Each environment is first asked whether it is what it says. A variable that a library does not know would else be
believed.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

from verify import suites
from verify.record import Found

PROBE = """
import json, numpy as np, scipy.linalg, torch
numpy = np.show_config("dicts")["SIMD Extensions"].get("found", [])
capability = torch.backends.cpu.get_cpu_capability()
print(json.dumps({"threads": torch.get_num_threads(), "torch": capability, "numpy": numpy}))
"""


class Processor(NamedTuple):
    """A processor that an environment imitates, and whether a probe's answers show that it does."""

    name: str
    environment: dict[str, str]
    shows: Callable[[dict[str, Any]], bool]


def probe(environment: dict[str, str]) -> dict[str, Any]:
    """Ask the libraries how many threads, which vector instructions and which kernels of OpenBLAS they use."""
    command = [sys.executable, "-c", PROBE]
    asked = {**os.environ, **environment, "OPENBLAS_VERBOSE": "2"}
    done = subprocess.run(command, env=asked, capture_output=True, text=True, check=True)
    lines = (done.stdout + done.stderr).splitlines()
    cores = sorted({line.removeprefix("Core: ") for line in lines if line.startswith("Core: ")})
    return json.loads(next(line for line in lines if line.startswith("{"))) | {"openblas": cores}


def processors(plain: dict[str, Any]) -> list[Processor]:
    """List the processors to imitate on a machine that answers so."""
    old = {"OPENBLAS_CORETYPE": "Prescott"}
    narrow = {"NPY_DISABLE_CPU_FEATURES": " ".join(plain["numpy"])}
    scalar, avx2 = ({"ATEN_CPU_CAPABILITY": name} for name in ("default", "avx2"))
    same = set(plain["openblas"])
    return [
        Processor("one thread", {"OMP_NUM_THREADS": "1"}, lambda now: now["threads"] == 1),
        Processor("PyTorch without vector instructions", scalar, lambda now: now["torch"] == "DEFAULT"),
        Processor("PyTorch with AVX2 only", avx2, lambda now: now["torch"] == "AVX2"),
        Processor("NumPy without its choice of vector instructions", narrow, lambda now: now["numpy"] == []),
        Processor("OpenBLAS for a processor of 2004", old, lambda now: not same & set(now["openblas"])),
    ]


def verify() -> Found:
    """Run everything on each."""
    plain = probe({})
    rows, failures = [], []
    for name, environment, shows in processors(plain):
        answers = probe(environment)
        counted = suites.run(environment)
        print(name, *counted.row(), flush=True)
        rows.append([name, *counted.row()])
        failures += [] if shows(answers) else [f"{name}: it is not, but {answers}"]
        failures += [f"{name}: {failure}" for failure in counted.failures]
    said = [
        f"As it is, PyTorch uses {plain['torch']}, NumPy {', '.join(plain['numpy']) or 'no more than its baseline'}, "
        f"OpenBLAS its kernels for {' and '.join(plain['openblas'])}. Each environment was asked, before its run, "
        "whether it is what its name says."
    ]
    return Found(["environment", *suites.HEAD], rows, said, failures)
