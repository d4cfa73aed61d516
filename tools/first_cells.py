"""Run the first cell of every notebook where no `attnlib` is installed: it installs what the others import."""

import json
from glob import glob
from importlib.util import find_spec
from pathlib import Path

from IPython.core.interactiveshell import InteractiveShell

if __name__ == "__main__":
    if find_spec("attnlib"):
        raise SystemExit("attnlib is installed; expected an environment without it")
    shell = InteractiveShell.instance()
    for name in sorted(glob("**/*.ipynb", root_dir=Path(__file__).parents[1] / "notebooks", recursive=True)):
        cells = json.loads((Path(__file__).parents[1] / "notebooks" / name).read_text("utf-8"))["cells"]
        shell.run_cell("".join(next(cell["source"] for cell in cells if cell["cell_type"] == "code"))).raise_error()
        print(name, "begins", flush=True)
