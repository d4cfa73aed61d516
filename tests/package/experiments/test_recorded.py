"""The recorded runs of the plans: of the plan as it stands, at the rates that were chosen, of this code, and small."""

from dataclasses import asdict

import pytest

from attnlib.experiments.plan import PLANS, read_plan
from attnlib.experiments.probe import agree, probe
from attnlib.experiments.records import RECORDED, Ledger
from attnlib.experiments.runner import chosen_rate, lost_rows, missing
from attnlib.experiments.verdicts import judge

LEDGERS = [Ledger(read_plan(path.stem)) for path in sorted(PLANS.glob("*.toml"))]
OF_GRAMMAR = [ledger for ledger in LEDGERS if not ledger.plan.learns_from_text]
SENTENCES = Ledger(read_plan("sentences"))


def test_each_run_has_a_seed_of_its_row_and_the_rate_of_its_family():
    for ledger in OF_GRAMMAR:
        for row in [*ledger.plan.rows.values(), *lost_rows(ledger)]:
            runs = ledger.runs(row.name)
            assert {int(seed) for seed in runs} <= {*row.seeds}
            assert all(run["learning_rate"] == chosen_rate(ledger, row.family) for run in runs.values())


def test_each_run_on_sentences_has_the_settings_and_the_effort_of_its_row_and_the_same_text():
    texts = {}
    for row, seed in SENTENCES.plan.runs():
        run = SENTENCES.runs(row.name)[str(seed)]
        assert (run["settings"], run["effort"]) == (asdict(row.settings(seed)), row.effort)
        assert texts.setdefault((row.language, row.pairs), run["text"]) == run["text"]
    assert {text["test"] for (language, _), text in texts.items() if language == "german"} == {
        texts["german", None]["test"]
    }


def test_all_runs_of_a_plan_are_of_one_revision_as_it_was_committed():
    for ledger in LEDGERS:
        revisions = {run["environment"]["revision"] for name in names(ledger) for run in ledger.runs(name).values()}
        assert len(revisions) <= 1
        assert not any(revision.endswith("+") for revision in revisions)


@pytest.mark.parametrize("ledger", OF_GRAMMAR, ids=lambda ledger: ledger.plan.name)
def test_the_recorded_runs_are_those_of_this_code(ledger):
    """A row of each family, by its probe."""
    for name in ledger.plan.families.values():
        record = ledger.read(name)
        if record:
            variant = ledger.plan.rows[name].variant
            assert agree(record["probe"], probe(variant, record["probe"]["sentences"])), name


@pytest.mark.parametrize("ledger", LEDGERS, ids=lambda ledger: ledger.plan.name)
def test_every_claim_can_be_judged(ledger):
    for table in ledger.plan.contents["tables"]:
        claims = ledger.plan.claims(table)
        assert [verdict.claim for verdict in judge(ledger, table)] == claims
        assert len({*claims}) == len(claims)
        assert all(len(ledger.differences(*claim[:2], *claim[3:])) >= 3 for claim in claims)


def test_nothing_is_missing_nothing_else_is_there_and_it_is_small():
    for ledger in LEDGERS:
        files = [path for path in ledger.folder.glob("*") if not path.name.startswith(".")]
        assert {path.suffix for path in files} <= {".json"}
        if ledger.plan.learns_from_text:
            runs = {f"{row.name}.{seed}" for row, seed in ledger.plan.runs()}
            assert {path.stem for path in files} == runs | {"german.words", "french.words"}
        else:
            assert {path.stem for path in files} <= {*names(ledger), "costs"}
            assert not [*missing(ledger)]
    assert sum(path.stat().st_size for path in RECORDED.rglob("*.json")) < 5_000_000


def names(ledger: Ledger) -> list[str]:
    rows = [*ledger.plan.rows.values(), *([] if ledger.plan.learns_from_text else lost_rows(ledger))]
    return [row.name for row in rows] + [f"rate-{family}" for family in ledger.plan.families]
