"""Write the MathML of the equations that cards show, so that cards need no converter.

Run as ``PYTHONPATH=extensions python tools/mathml.py``.

They are in files of the packages called ``equations.json``: the keys are TeX, the values what is made of it. To add an
equation, add its TeX with an empty string, and run this. Each letter names, in ``data-letter``, its row of
``book/notation.toml``. A test keeps the files as this writes them.
"""

import json
from pathlib import Path

from bookext.letters import mathml

FILES = sorted(Path(__file__).parents[1].glob("src/*/*/equations.json"))


def converted(text: str) -> str:
    """Fill in the MathML of every key."""
    made = {tex: mathml(tex, display=True, page="") for tex in json.loads(text)}
    return json.dumps(made, ensure_ascii=False, indent=1) + "\n"


if __name__ == "__main__":
    for path in FILES:
        path.write_text(converted(path.read_text("utf-8")), "utf-8")
