"""The same values on other processors: the chapters and unit tests with one thread and without vector instructions.

Each environment is first asked whether it is what it says. Otherwise a variable that a library does not know
would be believed.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

from verify import Found, everything

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
    asked = os.environ | environment | {"OPENBLAS_VERBOSE": "2"}
    done = subprocess.run([sys.executable, "-c", PROBE], env=asked, capture_output=True, text=True, check=True)
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
    rows, failures = [["environment", "cells and tests"]], []
    for name, environment, shows in processors(probe({})):
        answers = probe(environment)
        counted, well = everything(environment)
        print(name, counted, flush=True)
        rows.append([name, counted])
        failures += [] if shows(answers) else [f"{name}: it is not, but {answers}"]
        failures += [] if well else [f"{name}: {counted}"]
    return Found(rows, failures)
