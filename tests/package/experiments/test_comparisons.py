"""The runs and the verdicts that a picture shows can be read back from it."""

import re

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from attnlib.experiments.comparisons import plot_runs, verdict_table
from attnlib.experiments.verdicts import confidence_interval

plt.switch_backend("Agg")
INDEX = [("one", "seen")] * 3 + [("other", "seen")] + [("other", "longer")] * 2
RUNS = pd.Series([0.9, 0.94, 0.92, 0.5, 0.1, 0.3], index=pd.MultiIndex.from_tuples(INDEX))
CLAIMS = [
    ("a more than b", "exact_match", "seen", 0.3, 0.0001, "supported"),
    ("a more than b", "exact_match", "longer", -0.3, 0.001, "ruled out"),
    ("b less than c", "exact_match", "seen", 0.0, 1.0, "inconclusive"),
]
COMPARED = pd.DataFrame(CLAIMS, columns=["claim", "metric", "test_set", "difference", "p_value", "verdict"])


def names(ax):
    return [text.get_text() for text in ax.get_yticklabels()]


def drawn(ax, of):
    """List what the lines show that `of` chooses, each with the line of the picture that it is nearest to."""
    return [(round(float(np.mean(line.get_ydata()))), [*map(float, line.get_xdata())]) for line in ax.lines if of(line)]


def test_each_run_each_mean_and_each_interval_is_there():
    ax = plot_runs(RUNS, xlabel="exact match")
    assert names(ax) == ["one", "other"]
    assert drawn(ax, lambda line: line.get_marker() == ".") == [(0, [0.9, 0.94, 0.92]), (1, [0.5]), (1, [0.1, 0.3])]
    assert drawn(ax, lambda line: line.get_marker() == "o") == [(0, [pytest.approx(0.92)]), (1, [0.5])]
    assert drawn(ax, lambda line: line.get_marker() == "s") == [(1, [0.2])]
    bars = drawn(ax, lambda line: line.get_marker() == "None")
    assert bars == [(0, [*confidence_interval([0.9, 0.94, 0.92])[1:]]), (1, [*confidence_interval([0.1, 0.3])[1:]])]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["seen", "longer"]
    assert ax.get_xlabel() == "exact match"


def test_one_series_needs_no_legend_and_given_axes_are_used():
    given = plt.subplots()[1]
    assert plot_runs(RUNS.droplevel(1), given) is given
    assert given.get_legend() is None
    assert names(given) == ["one", "other"]


def test_a_table_has_a_colored_cell_for_each_verdict_of_a_claim():
    by_bleu = COMPARED.assign(metric="bleu_beam", difference=-9.0, verdict="reversed", p_value=0.002)
    by_error = COMPARED[:1].assign(metric="missed_left", claim="<b> & c")
    compared = pd.concat([COMPARED, by_bleu, by_error], ignore_index=True)
    jointly = compared.assign(verdict=compared["verdict"].where(compared.index != 3, "inconclusive"))
    html, text = (of(verdict_table(compared, jointly)) for of in (lambda card: card.html, repr))
    (head, first, _, third, last) = re.findall(r"<tr>(.*?)</tr>", html)
    names = ["claim", "sentences", "exact match", "BLEU", "alignment", "corrected together"]
    assert re.findall(r">([^<>]+)</th>", head) == names
    assert first == (
        '<th scope="row">a more than b</th><td>seen</td>'
        '<td class="at-supported" data-size="0.300000">+0.300 supported, p\N{NO-BREAK SPACE}&lt;0.001</td>'
        '<td class="at-reversed" data-size="-9.000000">-9.0 reversed, p\N{NO-BREAK SPACE}0.002</td><td></td>'
        "<td>BLEU: inconclusive</td>"
    )
    assert third.endswith("<td></td><td></td>")
    assert "+0.000 inconclusive, p\N{NO-BREAK SPACE}1.000" in third
    assert '<th scope="row">&lt;b&gt; &amp; c</th>' in last
    assert text == f"4 verdicts: {', '.join(names)}"


@pytest.mark.parametrize(("series", "heights"), [(1, [0]), (2, [-0.16, 0.16]), (3, [-0.16, 0, 0.16])])
def test_the_series_of_a_line_lie_side_by_side(series, heights):
    runs = pd.Series(0.5, index=pd.MultiIndex.from_product([["one", "other"], range(series)]))
    means = [line for line in plot_runs(runs).lines if line.get_marker() != "."]
    assert [float(line.get_ydata()[0]) for line in means] == pytest.approx([n + h for h in heights for n in (0, 1)])
