"""The runs and the verdicts that a picture shows can be read back from it."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from attnlib.experiments.comparisons import claims_by_measure, spread, verdict_table
from attnlib.experiments.plan import Claim
from attnlib.experiments.statistics import Interval, mean_interval
from attnlib.experiments.verdicts import Verdict

plt.switch_backend("Agg")
RUNS = {"within": {"one": [0.9, 0.94, 0.92], "other": [0.5]}, "beyond": {"other": [0.1, 0.3]}}
VERDICTS = [
    Verdict(Claim("a", "b", "more", "exact", "within"), Interval(0.3, 0.2, 0.4), 0.001, 1.0, "holds"),
    Verdict(Claim("a", "b", "more", "exact", "beyond"), Interval(-0.3, -0.4, -0.2), 0.001, 0.001, "does not hold"),
    Verdict(Claim("b", "c", "less", "alignment_error", "within"), Interval(0.0, -0.2, 0.2), 1.0, 1.0, "cannot be told"),
]


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def names(ax):
    return [text.get_text() for text in ax.get_yticklabels()]


def drawn(ax, of):
    """List what the lines show that `of` chooses, each with the line of the picture that it is nearest to."""
    return [(round(float(np.mean(line.get_ydata()))), [*map(float, line.get_xdata())]) for line in ax.lines if of(line)]


def test_each_run_each_mean_and_each_interval_is_there():
    ax = spread(RUNS, across="exact")
    assert names(ax) == ["one", "other"]
    assert drawn(ax, lambda line: line.get_marker() == ".") == [(0, [0.9, 0.94, 0.92]), (1, [0.5]), (1, [0.1, 0.3])]
    assert drawn(ax, lambda line: line.get_marker() == "o") == [(0, [pytest.approx(0.92)]), (1, [0.5])]
    assert drawn(ax, lambda line: line.get_marker() == "s") == [(1, [0.2])]
    bars = drawn(ax, lambda line: line.get_marker() == "None")
    assert bars == [(0, [*mean_interval([0.9, 0.94, 0.92])[1:]]), (1, [*mean_interval([0.1, 0.3])[1:]])]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["within", "beyond"]
    assert ax.get_xlabel() == "exact"


def test_one_series_needs_no_legend_and_given_axes_are_used():
    given = plt.subplots()[1]
    assert spread({"within": RUNS["within"]}, given) is given
    assert given.get_legend() is None


def test_the_same_claims_by_several_measures_stand_side_by_side():
    by_bleu = [verdict._replace(difference=Interval(9.0, 4.0, 14.0), says="holds") for verdict in VERDICTS]
    exact, bleu = claims_by_measure({"exact": VERDICTS, "beam_bleu": by_bleu})
    assert names(exact) == ["a more than\nb", "b less than\nc, alignment error"]
    for ax, margin, intervals in (
        (exact, 0.05, [(0, [0.2, 0.4]), (0, [-0.4, -0.2]), (1, [-0.2, 0.2])]),
        (bleu, 5, [(0, [4, 14]), (0, [4, 14]), (1, [4, 14])]),
    ):
        bars = drawn(ax, lambda line: line.get_marker() == "None" and len(set(line.get_ydata())) == 1)
        assert bars == intervals
        assert [x for _, (x, _) in drawn(ax, lambda line: line.get_linewidth() == 0.9)] == [-margin, 0, margin]
    assert bleu.get_xlabel() == "beam bleu,\npoints of BLEU"
    (legend,) = exact.figure.legends
    means = [line for line in exact.lines if line.get_marker() != "None" and line.get_linewidth() != 0.9]
    assert [(line.get_xdata()[0], line.get_marker(), line.get_fillstyle()) for line in means] == [
        (0.3, "o", "full"),
        (-0.3, "s", "none"),
        (0.0, "o", "left"),
    ]
    assert [text.get_text() for text in legend.get_texts()] == [
        "within",
        "beyond",
        "holds",
        "does not hold",
        "cannot be told",
    ]


@pytest.mark.parametrize(
    ("draw", "given", "says"),
    [
        (claims_by_measure, {}, "by_measure is empty; expected at least one measure"),
        (claims_by_measure, {"exact": []}, "by_measure is empty; expected at least one row"),
        (claims_by_measure, {"exact": VERDICTS, "perplexity": VERDICTS[:2]}, "the measures judge other claims"),
        (spread, {}, "runs has 0 series; expected 1 to 4"),
        (spread, {"within": {}}, "runs is empty; expected at least one row"),
        (spread, {"within": {"one": []}}, r"runs\['within'\]\['one'\] has shape \(0,\)"),
    ],
)
def test_what_cannot_be_drawn_is_refused(refused, draw, given, says):
    refused(lambda: draw(given), ValueError, says)


def test_a_table_tells_of_each_claim_what_a_verdict_holds():
    table = verdict_table(VERDICTS)
    assert table.rows[0] == ["a more than b", "within", "holds", "+0.300", "[+0.200, +0.400]", "0.001", "1.000"]
    last = ["b less than c, alignment error", "within", "cannot be told", "+0.000", "[-0.200, +0.200]", *2 * ["1.000"]]
    assert table.rows[2] == last
    assert len(table.head) == len(last)
