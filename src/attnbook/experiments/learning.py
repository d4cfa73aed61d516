"""What a model wrote and where it looked on its way through a training, for chapters 2 and 4 and the first page.

``record/learning.py`` recorded it; ``learning.toml`` says what is to be seen at its stations.
"""

import json
import tomllib
from pathlib import Path
from typing import Any

from attnbook.experiments.runs import RECORDED


def read_learning(row: str) -> dict[str, Any]:
    """Read the moments of a recorded training.

    Returns
    -------
    dict
        ``source`` and ``target``, a sentence and its right translation; ``steps``, the moments; the number of sentence
        ``pairs`` read by then, the mean ``loss`` on test sentences, the mean share of ``light`` on their gold links,
        and the ``words`` that the model writes, for each moment. ``weights`` are those of the words, in parts of 255,
        one after another, a byte each, in base64. ``stations`` are steps with what is said of them.
    """
    said = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
    recorded = json.loads((RECORDED / f"learning.{row}.json").read_text("utf-8"))
    return {**recorded, "stations": said.get(row, [])}
