"""The page of our departures names every setting of the recorded models, with each value that a run had."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from inspect import signature
from typing import Any

import pytest

from attnbook.experiments import Recording
from attnlib.presets import luong, rnn_encdec, rnn_search
from attnlib.training import train, warmup_cosine
from attntext.loss import fused_backward

PAPERS = {"rnn_encdec": rnn_encdec, "rnn_search": rnn_search, "luong": luong}
NUMBER = r"(?<![\w.])\d[\d,]*\b(?:\.\d+)?"
NOT_OF_A_MODEL = {  # who is trained, and settings that another one replaces or that no paper could have
    *("source_vocabulary", "target_vocabulary", "seed", "preset", "options", "steps"),
    *("epochs", "minutes", "patience", "share_vocabulary", "state", "backward", "on_step", "model", "batches", "batch"),
}


@pytest.fixture(scope="module")
def rows(root) -> list[tuple[list[str], list[str]]]:
    """Return the settings named, and the cells, of each row of the tables of our departures."""
    text = (root / "book/differences.md").read_text("utf-8").partition("\n## Our departures from the papers\n")[2]
    lines = [re.split(r"\s*\|\s*", line)[1:-1] for line in text.splitlines() if line.startswith("| ")]
    return [(re.findall(r"`(\w+)`", first), [first, *cells]) for first, *cells in lines]


def settings(name: str) -> Iterator[Mapping[str, Any]]:
    """Give what each recorded run of a paper's model was built and trained with."""
    recording = Recording(name)
    for run in recording.details:
        config = recording.plan.configs[run["model"]]
        if config.model in PAPERS:
            asked = {"num_pairs": config.num_pairs, "max_steps": config.max_steps, "beam_size": config.beam_size}
            built = {name: p.default for name, p in signature(PAPERS[config.model]).parameters.items()}
            if name == "world":
                defaults = signature(fused_backward).parameters | signature(train).parameters
                trained = {name: p.default for name, p in defaults.items()}
                trained |= {"max_tokens": config.max_tokens, "learning_rate": run["learning_rate"]}
                built |= {**config.options, **config.sizes}
            else:
                trained = run["settings"] | {"max_length": run["search"]["max_length"]}
                built |= run["settings"]["options"]
            yield asked | trained | built


def written(value: object) -> str:
    """Write a value as the page does."""
    if value is warmup_cosine:
        return "cosine"
    return f"{value:,}".removesuffix(".0") if type(value) in {int, float} else str(value)


@pytest.mark.parametrize(("plan", "column"), [("world", 2), ("sentences", 3)])
def test_every_setting_of_a_recorded_run_is_on_the_page_with_its_values(rows, plan, column):
    had = defaultdict(set)
    for run in settings(plan):
        for name in run.keys() - NOT_OF_A_MODEL:
            had[name].add(written(run[name]))
    assert had.keys() <= {name for names, _ in rows for name in names}, "a setting has no row"
    for names, cells in rows:
        values = set().union(*(had[name] for name in names if name in had))
        numbers = {value for value in values if value[0].isdigit()}
        if values:
            assert {*re.findall(NUMBER, cells[column])} == numbers, cells
            assert all(re.search(rf"\b{value}\b", cells[column]) for value in values - numbers), (cells, values)
