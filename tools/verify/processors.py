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
    scalar = {"ATEN_CPU_CAPABILITY": "default"}
    one = {"OMP_NUM_THREADS": "1"}

    def is_one(now: dict[str, Any]) -> bool:
        return now["threads"] == 1

    def is_scalar(now: dict[str, Any]) -> bool:
        return now["torch"] == "DEFAULT"

    def is_narrow(now: dict[str, Any]) -> bool:
        return now["numpy"] == []

    def is_old(now: dict[str, Any]) -> bool:
        return not set(now["openblas"]) & set(plain["openblas"])

    return [
        Processor("as it is", {}, lambda now: now == plain),
        Processor("one thread", one, is_one),
        Processor("PyTorch without vector instructions", scalar, is_scalar),
        Processor("PyTorch with AVX2 only", {"ATEN_CPU_CAPABILITY": "avx2"}, lambda now: now["torch"] == "AVX2"),
        Processor("NumPy without its choice of vector instructions", narrow, is_narrow),
        Processor("OpenBLAS for a processor of 2004", old, is_old),
        Processor(
            "all of these",
            one | scalar | narrow | old,
            lambda now: is_one(now) and is_scalar(now) and is_narrow(now) and is_old(now),
        ),
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
