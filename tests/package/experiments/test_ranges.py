"""Means and ranges are of all runs of each model, and can be read back from the table and the pictures."""

import re
from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from attnbook.cards import table
from attnbook.experiments import Recording
from attnbook.experiments.ranges import (
    apart,
    mean_by_seed,
    model_table,
    plot_changes,
    plot_lengths,
    plot_papers,
    spread,
)

plt.switch_backend("Agg")
LEVELS = {"bahdanau": 0.9, "no-attention": 0.1, "global": 0.5, "local-m": 0.474, "local-p": 0.7}
SEEDS = {"bahdanau": 5, "no-attention": 3, "global": 3, "local-m": 3, "local-p": 2}


class Made(Recording):
    """Runs that lose a tenth of their exact match with each clause, and gain a hundredth with each seed."""

    def __init__(self) -> None:
        super().__init__("world")

    def runs(self, by: str | None = None) -> pd.DataFrame:
        """Make the runs."""
        rows = [
            (name, n, 10 + seed, LEVELS[name] * (1 - n / 10) + seed / 100)
            for name, seeds in SEEDS.items()
            for n in (1, 2, 3, 4, 5, 6, 8)
            for seed in range(seeds)
        ]
        runs = pd.DataFrame(rows, columns=["model", "clauses", "seed", "exact_match"])
        errors = (1 - runs["exact_match"]).where(runs["model"] != "no-attention")
        return runs.assign(bleu_beam=100 * runs["exact_match"], alignment_error_rate=errors)

    @property
    def costs(self) -> pd.DataFrame:
        """Make the costs."""
        sizes = {"parameters": 2000, "macs": 1000, "words_per_second": 30_000}
        return pd.DataFrame(sizes, index=[*LEVELS]).rename_axis("model").mul([1, 2, 3, 4, 5], axis=0)


def rows(html: str) -> dict[str, list[str]]:
    """List the cells of each row by its heading, without the markup of bars."""
    found = re.findall(r'<th scope="row">(.*?)</th>(.*?)</tr>', html)
    return {name: re.findall(r"<td[^>]*>(.*?)(?:<svg.*?)?</td>", cells) for name, cells in found}


def test_no_run_is_left_out():
    means = mean_by_seed(Made(), ["global", "bahdanau", "local-p", "never"], clauses=(4, 6))
    assert [*means] == ["global", "bahdanau", "local-p"]
    assert means.count().tolist() == [3, 5, 2]
    assert [*means.index] == [10, 11, 12, 13, 14]
    assert means["bahdanau"].tolist() == pytest.approx([0.45, 0.46, 0.47, 0.48, 0.49])
    assert [*mean_by_seed(Made(), ["no-attention", "global"], "alignment_error_rate")] == ["global"]


@pytest.mark.parametrize("plan", ["world", "sentences"])
def test_every_recorded_run_is_in_the_means(plan):
    recording = Recording(plan)
    part = {"world": [1], "sentences": ["test"]}[plan]
    counts = mean_by_seed(recording, recording.plan.configs, "bleu_beam", part).count()
    assert counts.to_dict() == {name: len(config.seeds) for name, config in recording.plan.configs.items()}


def test_runs_are_apart_where_they_are_equally_many(refused):
    of = {"a": [0.5, 0.6, np.nan], "b": [0.4, np.nan, 0.3], "c": [0.5, np.nan, 0.1], "d": [0.1, 0.2, 0.3]}
    runs = pd.DataFrame(of)
    assert apart(runs["a"], runs["b"])
    assert not apart(runs["b"], runs["a"])
    assert not apart(runs["a"], runs["c"]), "ranges that touch overlap"
    refused(lambda: apart(runs["a"], runs["d"]), "less has 3 runs; expected 2, as many as more, or the planned test")


def test_an_entry_says_its_range_and_its_row():
    entry = spread(Made(), "global", [0.25, np.nan, 0.5])
    assert str(entry) == "0.38 (0.25–0.50)"
    assert str(spread(Made(), "global", [12.26, 12.31], 1)) == "12.3"
    assert '<td data-row="world/global" data-runs="2">0.38' in table(["model", "exact"], [["G", entry]]).html


def test_the_table_has_runs_means_ranges_and_costs():
    models = {"no-attention": "none <", "bahdanau": "B", "global": "G", "local-m": "m", "local-p": "p"}
    card = model_table(Made(), models)
    cells = rows(card.html)
    assert [*cells] == ["none &lt;", "B", "G", "m", "p"]
    assert [row[0] for row in cells.values()] == ["3", "5", "3", "3", "2"]
    assert cells["B"][1:3] == ["0.74 <small>0.72–0.76</small>", "0.47 <small>0.45–0.49</small>"]
    assert cells["G"][2:4] == ["0.26 <small>0.25–0.27</small>", "26 <small>25–27</small>"]
    assert cells["none &lt;"][4] == ""
    assert cells["G"][5:] == ["6", "3", "90"]
    assert 'data-row="world/bahdanau" data-runs="5"' in card.html
    assert "Means of all runs. As in training: 1 to 3 clauses; longer: 4 to 6." in card.html
    bars = re.findall(r'<rect (?:x="(.*?)" )?y?.*?width="(.*?)"', card.html.split("<tr>")[3])
    assert bars[:3] == [("", "74.0"), ("72.0", "1"), ("73.0", "1")]
    assert bars[-2:] == 2 * [("", "20.0")]


def test_each_paper_is_a_line_that_says_who_is_better():
    ax = plot_papers(pd.DataFrame({"a": [0.1, 0.2, 0.3], "b": [0.2, 0.1, 0.5]}))
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["a is better: 1 of 3", "b is better: 2 of 3"]
    assert sorted([*map(float, line.get_ydata())] for line in ax.lines) == [[0.1, 0.2], [0.2, 0.1], [0.3, 0.5]]
    ends = [segment[:, 1].tolist() for segment in ax.collections[0].get_segments()]
    assert ends == [[0.1, 0.3], [0.1, 0.5]]


def test_each_change_is_a_row_of_dots():
    scores = pd.DataFrame({"start": [0.5, 0.6], "left": [0.1, 0.3], "right": [0.2, 0.2]})
    one = {"start": "S", "left": "L", "right": "R"}
    plot_changes(scores, {"one": one, "two": {"right": "R", "start": "S", "never": "N", "left": "L"}})
    one, two = plt.gcf().axes
    labels = [[text.get_text() for text in ax.get_yticklabels()] for ax in (one, two)]
    assert labels == [["S (2)", "L (2)", "R (2)"], ["R (2)", "S (2)"]]
    dots = [[*map(float, line.get_xdata())] for line in one.lines[1:]]
    assert dots == [[0.5, 0.1, 0.2], [0.6, 0.3, 0.2]]
    assert one.lines[0].get_xdata().tolist() == pytest.approx([0.55, 0.2, 0.2])
    assert one.get_ylim()[0] > one.get_ylim()[1]


def test_lengths_have_lines_in_bands():
    half = {"B": "bahdanau", "p": "local-p", "G": "global"}
    plot_lengths(Made(), {"half": half, "none": {"G": "no-attention"}, "few": {"B": "never"}})
    half, none = plt.gcf().axes
    (line, _, other, _), (again, _) = half.lines, none.lines
    assert line.get_ydata().tolist() == pytest.approx([0.83, 0.74, 0.65, 0.56, 0.47, 0.38])
    assert other.get_color() == again.get_color() != line.get_color()
    assert [line.get_label(), other.get_label(), again.get_label()] == ["B (5)", "G (3)", "G"]
    assert (half.get_title(), none.get_title()) == ("half, in parentheses: runs", "none, 3 runs")
    band = half.collections[0].get_paths()[0].vertices
    assert np.ptp(band[band[:, 0] == 2, 1]) == pytest.approx(0.04)


def test_another_metric_has_its_own_scale_and_lengths_and_each_training_its_dotted_line():
    made = Made()
    configs = made.plan.configs | {"global": made.plan.configs["global"].replace(clauses=(1, 2))}
    made.plan = replace(made.plan, configs=configs)
    plot_lengths(made, {"": {"B": "bahdanau", "G": "global"}}, "bleu_beam", (2, 8))
    (ax,) = plt.gcf().axes
    line, _, *dotted = ax.lines
    assert line.get_xydata().tolist() == [pytest.approx([2, 74]), pytest.approx([8, 20])]
    assert sorted(mark.get_xdata()[0] for mark in dotted) == [2, 3]
    assert (ax.get_ylabel(), ax.get_ylim()) == ("BLEU", pytest.approx((-3, 103)))
