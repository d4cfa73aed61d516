"""Memory: the most that each notebook's kernel has, and that a training on a short and on a long text has.

    python benchmarks/memory.py [notebooks] [training]

Of a training, only what its process holds itself is counted (Linux's RssAnon), which includes the encoded text.
Pages of files, such as those of libraries, are shared by all processes and are left out.
"""

import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter, sleep

import nbformat
import numpy as np
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell

NOTEBOOKS = sorted(Path(__file__).parents[1].glob("notebooks/*.ipynb"))
PEAK = "import resource\n\nprint(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
PAIRS, STEPS = (10_000, 100_000), 20


def measure_notebooks():
    for path in NOTEBOOKS:
        notebook = nbformat.read(path, as_version=4)
        notebook.cells.append(new_code_cell(PEAK))
        began = perf_counter()
        NotebookClient(notebook, timeout=600, resources={"metadata": {"path": path.parent}}).execute()
        peak = int(notebook.cells[-1].outputs[0].text) / (1024 if sys.platform == "linux" else 1024**2)
        print(f"{path.stem:34}{perf_counter() - began:7.1f} s{peak:8,.0f} MiB", flush=True)


def measure_training():
    rng = np.random.default_rng(0)
    share = 1 / (10 + np.arange(8000))
    for pairs in PAIRS:
        with tempfile.TemporaryDirectory() as home:
            for side in ("source", "target"):
                with Path(home, side).open("w") as text:
                    sizes = rng.integers(4, 31, pairs)
                    drawn = np.split(rng.choice(8000, sizes.sum(), p=share / share.sum()), sizes.cumsum()[:-1])
                    text.writelines(" ".join(f"w{n}" for n in numbers) + "\n" for numbers in drawn)
            command = ["-m", "attnlib", "train", "--source", "source", "--target", "target", "--model", "model"]
            began = perf_counter()
            process = subprocess.Popen([sys.executable, *command, "--words", "--steps", str(STEPS)], cwd=home)
            print(f"{pairs:,} pairs: {most_of_its_own(process):,} MiB in {perf_counter() - began:.0f} s", flush=True)


def most_of_its_own(process):
    """Return the most memory, in MiB, that a process has for itself.

    It is sampled a hundred times per second.
    """
    most = 0
    while process.poll() is None:
        held = Path(f"/proc/{process.pid}/status").read_text().partition("RssAnon:")[2]
        most = max(most, int(held.split()[0]) // 1024 if held else 0)
        sleep(0.01)
    if process.returncode:
        raise SystemExit(process.returncode)
    return most


if __name__ == "__main__":
    for part in sys.argv[1:] or ["notebooks", "training"]:
        globals()[f"measure_{part}"]()
