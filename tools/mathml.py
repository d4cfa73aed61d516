"""Write the MathML of the equations that cards show, so that cards need no converter: ``python tools/mathml.py``.

They are in files of the packages called ``equations.json``: the keys are TeX, the values what is made of it. To add an
equation, add its TeX with an empty string, and run this. Each letter names, in ``data-letter``, its row of
``book/notation.toml``. A test keeps the files as this writes them.
"""

import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FILES = sorted(ROOT.glob("src/*/*/equations.json"))


def converted(text: str) -> str:
    """Fill in the MathML of every key."""
    from bookext.letters import ANYWHERE, mathml  # noqa: PLC0415 the extensions are no package

    made = {tex: mathml(tex, display=True, place=ANYWHERE) for tex in json.loads(text)}
    return json.dumps(made, ensure_ascii=False, indent=1) + "\n"


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT / "extensions"))
    for path in FILES:
        path.write_text(converted(path.read_text("utf-8")), "utf-8")
