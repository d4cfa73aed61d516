"""Means and ranges are over seeds that all models have, and can be read back from the table and the pictures."""

import re

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from attnbook.experiments import Recording
from attnbook.experiments.ranges import mean_by_seed, model_table, plot_changes, plot_lengths, plot_papers

plt.switch_backend("Agg")
LEVELS = {"bahdanau": 0.9, "no-attention": 0.1, "global": 0.5, "local-m": 0.474, "local-p": 0.7}
SEEDS = {"bahdanau": 4, "no-attention": 3, "global": 3, "local-m": 3, "local-p": 2}


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


def test_means_are_over_the_seeds_that_all_models_have():
    means = mean_by_seed(Made(), ["global", "bahdanau", "local-p", "never"], clauses=(4, 6))
    assert [*means] == ["global", "bahdanau"]  # local-p has two runs, and the last none
    assert [*means.index] == [10, 11, 12]
    assert means["bahdanau"].tolist() == pytest.approx([0.45, 0.46, 0.47])
    assert [*mean_by_seed(Made(), ["no-attention", "global"], "alignment_error_rate")] == ["global"]


def test_the_table_has_means_ranges_and_costs():
    models = {"no-attention": "none <", "bahdanau": "B", "global": "G", "local-m": "m", "local-p": "p"}
    card = model_table(Made(), models)
    cells = rows(card.html)
    assert [*cells] == ["none &lt;", "B", "G", "m"]
    assert cells["B"][:2] == ["<b>0.73</b> <small>0.72–0.74</small>", "<b>0.46</b> <small>0.45–0.47</small>"]
    assert cells["G"][0] == "<b>0.41</b> <small>0.40–0.42</small>"
    assert cells["G"][1:3] == ["0.26 <small>0.25–0.27</small>", "26 <small>25–27</small>"]  # overlaps with m
    assert cells["m"][1] == "0.25 <small>0.24–0.26</small>"
    assert cells["none &lt;"][3] == ""
    assert cells["G"][4:] == ["6", "3", "90"]
    assert "Means of 3 seeds. As in training: 1 to 3 clauses; longer: 4 to 6." in card.html
    bars = re.findall(r'<rect (?:x="(.*?)" )?y="\d" width="(.*?)"', card.html.split("<tr>")[3])
    assert bars[:2] == [("", "73.0"), ("72.0", "2.0")]
    assert bars[-2] == ("", "25.0")


def test_each_paper_is_a_line_that_says_who_is_better():
    ax = plot_papers(pd.DataFrame({"a": [0.1, 0.2, 0.3], "b": [0.2, 0.1, 0.5]}))
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["a is better: 1 of 3", "b is better: 2 of 3"]
    assert sorted([*map(float, line.get_ydata())] for line in ax.lines) == [[0.1, 0.2], [0.2, 0.1], [0.3, 0.5]]
    ends = [segment[:, 1].tolist() for segment in ax.collections[0].get_segments()]
    assert ends == [[0.1, 0.3], [0.1, 0.5]]


def test_each_change_is_a_row_of_dots():
    scores = pd.DataFrame({"start": [0.5, 0.6], "left": [0.1, 0.3], "right": [0.2, 0.2]})
    paths = {
        "one": {"start": "S", "left": "L", "right": "R"},
        "two": {"right": "R", "start": "S", "never": "N", "left": "L"},
    }
    plot_changes(scores, paths)
    one, two = plt.gcf().axes
    assert [[text.get_text() for text in ax.get_yticklabels()] for ax in (one, two)] == [["S", "L", "R"], ["R", "S"]]
    dots = [[*map(float, line.get_xdata())] for line in one.lines[1:]]
    assert dots == [[0.5, 0.1, 0.2], [0.6, 0.3, 0.2]]
    assert one.lines[0].get_xdata().tolist() == pytest.approx([0.55, 0.2, 0.2])
    assert one.get_ylim()[0] > one.get_ylim()[1]


def test_lengths_have_lines_in_bands():
    plot_lengths(
        Made(),
        {
            "half": {"B": "bahdanau", "p": "local-p", "G": "global"},
            "none": {"G": "no-attention"},
            "few": {"B": "local-p"},
        },
    )
    half, none = plt.gcf().axes
    (line, other, _), (again, _) = half.lines, none.lines
    assert line.get_ydata().tolist() == pytest.approx([0.82, 0.73, 0.64, 0.55, 0.46, 0.37])
    assert other.get_color() == again.get_color() != line.get_color()
    band = half.collections[0].get_paths()[0].vertices
    assert np.ptp(band[band[:, 0] == 2, 1]) == pytest.approx(0.02)
