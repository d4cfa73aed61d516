"""Time and peak memory of executing each notebook: seconds, and the most that its kernel ever had.

python benchmarks/notebook_memory.py
"""

import sys
from pathlib import Path
from time import perf_counter

import nbformat
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell

NOTEBOOKS = sorted(Path(__file__).parents[1].glob("notebooks/*.ipynb"))
PEAK = "import resource\n\nprint(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"


def measured(path):
    """Execute a notebook, and ask its kernel at the end; give seconds and MiB."""
    notebook = nbformat.read(path, as_version=4)
    notebook.cells.append(new_code_cell(PEAK))
    start = perf_counter()
    NotebookClient(notebook, timeout=600, resources={"metadata": {"path": path.parent}}).execute()
    seconds = perf_counter() - start
    return seconds, int(notebook.cells[-1].outputs[0].text) / (1024 if sys.platform == "linux" else 1024**2)


def main():
    print(f"{'notebook':34}{'seconds':>9}{'peak, MiB':>11}")
    for path in NOTEBOOKS:
        seconds, peak = measured(path)
        print(f"{path.stem:34}{seconds:9.1f}{peak:11.0f}", flush=True)


if __name__ == "__main__":
    main()
