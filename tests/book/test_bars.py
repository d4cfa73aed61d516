"""The bars of each card that a page stores sum to 1, the end of a sentence included; local-p's may be below."""

import json
import re

import nbformat

CARD = re.compile(
    r'<div class="attnlib-card attnlib-(?:demo|comparison) .*?<script type="application/json">(.*?)</script>', re.DOTALL
)
ROUNDED = 0.05  # of weights that are recorded in hundredths


def test_the_bars_of_a_step_sum_to_one(notebook_path):
    outputs = [one for cell in nbformat.read(notebook_path, as_version=4).cells for one in cell.get("outputs", [])]
    stored = "".join(one.get("data", {}).get("text/html", "") for one in outputs)
    below = [
        f"{model['title']}, step {t}: {sum(weights) / 10_000:.2f}"
        for data in map(json.loads, CARD.findall(stored))
        for model in data["models"]
        if "local-p" not in model["title"]
        for t, step in enumerate(model.get("steps", []))
        if (weights := step.get("weights") if isinstance(step, dict) else step[1])
        if abs(sum(weights) / 10_000 - 1) > ROUNDED
    ]
    assert below == []
