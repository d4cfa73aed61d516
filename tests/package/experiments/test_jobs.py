"""What there is to do: learning rates first, then rows by phase and seed, then those that were lost."""

import json

import pytest

from attnlib.experiments import jobs
from attnlib.experiments.jobs import chosen_rate, lost_rows, missing, waiting
from attnlib.experiments.ledger import Ledger
from attnlib.experiments.measure import grouped
from attnlib.experiments.runs import shortened
from attnlib.experiments.shares import Share

RATES = ("0.002", "0.01", "0.05")


@pytest.fixture
def ledger(small, tmp_path) -> Ledger:
    return Ledger(small, tmp_path)


def tried(ledger, family, losses):
    """Record losses of both seeds, by rate."""
    for rate, loss in losses.items():
        for seed in (100, 101):
            ledger.add(f"rate-{family}", f"{rate}/{seed}", {"loss": loss}, dict)


def ran(ledger, name, *exact):
    for seed, figure in enumerate(exact, start=10):
        ledger.add(name, str(seed), {"measures": {"exact": [figure]}}, lambda: {"groups": ["within"]})


def listed(ledger, share=None):
    return [(job.name, job.key) for job in missing(ledger, share)]


def test_learning_rates_come_first(ledger):
    rates = [f"{rate}/{seed}" for seed in (100, 101) for rate in RATES]
    assert listed(ledger) == [(f"rate-{family}", rate) for family in ("early", "late") for rate in rates]
    assert chosen_rate(ledger, "early") is None
    assert waiting(ledger) == pytest.approx(2 * (10 + 400) * 8 / 96 + 5 * (20 + 400) * 6 / 96)


def test_then_the_rows_whose_rate_is_chosen_by_phase_and_seed(ledger):
    tried(ledger, "early", dict(zip(RATES, (2.0, 1.0, 3.0), strict=True)))
    rows = [("no-attention", "10"), ("bahdanau", "10"), ("no-attention", "11"), ("bahdanau", "11"), ("bahdanau", "12")]
    assert listed(ledger)[6:] == rows
    assert {name for name, _ in listed(ledger)[:6]} == {"rate-late"}
    tried(ledger, "late", dict(zip(RATES, (2.0, 1.0, None), strict=True)))
    assert listed(ledger) == [("local-p", "10"), ("local-p", "11"), *rows]
    assert waiting(ledger) == 0
    ran(ledger, "bahdanau", 0.75)
    assert listed(ledger) == [("local-p", "10"), ("local-p", "11"), rows[0], *rows[2:]]


def test_shares_deal_the_rows_out(ledger):
    for family in ("early", "late"):
        tried(ledger, family, dict(zip(RATES, (2.0, 1.0, 3.0), strict=True)))
    whole = listed(ledger)
    assert [listed(ledger, Share(k, 2)) for k in (1, 2)] == [whole[::2], whole[1::2]]


def test_the_rate_with_the_least_loss_is_chosen(ledger):
    tried(ledger, "early", {"0.002": 2.0, "0.01": 1.5})
    assert chosen_rate(ledger, "early") is None, "one has no runs yet"
    ledger.add("rate-early", "0.05/100", {"loss": 1.25}, dict)
    assert chosen_rate(ledger, "early") is None, "one seed is missing"
    ledger.add("rate-early", "0.05/101", {"loss": 1.76}, dict)
    assert chosen_rate(ledger, "early") == 0.01, "1.5 is less than the mean of 1.25 and 1.76"


@pytest.mark.parametrize(
    ("losses", "next_rates", "more", "chosen"),
    [
        ((1.0, 2.0, 3.0), ["0.001"], {"0.001": 0.5, "0.0005": 0.75}, 0.001),
        ((3.0, 2.0, 1.0), ["0.1"], {"0.1": 1.5}, 0.05),
        ((3.0, 2.0, 1.0), ["0.1"], {"0.1": None}, 0.05),
    ],
)
def test_while_the_best_is_the_last_another_is_tried(ledger, losses, next_rates, more, chosen):
    tried(ledger, "early", dict(zip(RATES, losses, strict=True)))
    keys = [key for name, key in listed(ledger) if name == "rate-early"]
    assert keys == [f"{rate}/{seed}" for seed in (100, 101) for rate in next_rates]
    tried(ledger, "early", more)
    assert chosen_rate(ledger, "early") == chosen


def test_a_family_that_no_rate_trains_is_an_error(ledger):
    tried(ledger, "early", dict.fromkeys(RATES))
    with pytest.raises(ValueError, match=r"no learning rate of .* trains the family early"):
        chosen_rate(ledger, "early")


def test_a_row_that_loses_a_run_is_trained_again(ledger):
    for family in ("early", "late"):
        tried(ledger, family, dict(zip(RATES, (2.0, 1.0, 3.0), strict=True)))
    ran(ledger, "bahdanau", 0.0, 0.0, 0.0)  # not of a table whose rows may be lost
    ran(ledger, "no-attention", 0.0, 0.0)
    ran(ledger, "local-p", 0.25)
    assert lost_rows(ledger) == [], "not all of its runs are recorded"
    ran(ledger, "local-p", 0.25, 1.0)
    (row,) = lost_rows(ledger)
    assert (row.variant.name, row.budget.steps) == ("local-p-times2", 40)
    assert listed(ledger) == [("local-p-times2", "10"), ("local-p-times2", "11")]
    ran(ledger, "local-p", 0.5, 1.0)
    assert lost_rows(ledger) == []


def test_a_job_does_what_it_says(ledger, small, monkeypatch):
    """Recording who is called, and with what; what they give, their own tests say."""
    for name in ("development_loss", "measure", "probe"):
        monkeypatch.setattr(jobs, name, lambda *given, name=name, **more: {"called": (name, *given, *more.values())})
    rate = next(missing(ledger))
    row = shortened(small.rows["bahdanau"], small)
    assert rate.run() == {"loss": {"called": ("development_loss", row, 100, 0.002, (1, 2))}}
    assert rate.head()["settings"]["budget"]["steps"] == 10
    for family in ("early", "late"):
        tried(ledger, family, dict(zip(RATES, (2.0, 1.0, 3.0), strict=True)))
    job, row = next(missing(ledger)), small.rows["local-p"]
    assert job.run() == {"learning_rate": 0.01, "called": ("measure", row, 10, 0.01)}
    head = job.head()
    assert head["probe"]["called"] == ("probe", row.variant)
    assert head["settings"]["budget"]["test_seed"] == 2000
    assert head["settings"]["options"] == row.variant.options
    assert head["groups"] == [*grouped(row.variant, row.budget)]
    assert json.loads(json.dumps(head["settings"]))["budget"]["test_clauses"] == [1, 2, 4]
