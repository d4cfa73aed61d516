"""The recorded runs of the plans: of the plan as it stands, at the rates that were chosen, of this code, and small."""

from collections.abc import Iterator

from attnlib.experiments.jobs import chosen_rate, lost_rows
from attnlib.experiments.ledger import RECORDED, Ledger
from attnlib.experiments.plan import PLANS, read_plan
from attnlib.experiments.probe import agree, probe


def ledgers() -> Iterator[Ledger]:
    for path in sorted(PLANS.glob("*.toml")):
        yield Ledger(read_plan(path.stem))


def test_each_run_has_a_seed_of_its_row_and_the_rate_of_its_family():
    for ledger in ledgers():
        for row in [*ledger.plan.rows.values(), *lost_rows(ledger)]:
            runs = ledger.runs(row.variant.name)
            assert {int(seed) for seed in runs} <= {*row.variant.seeds}
            assert all(run["learning_rate"] == chosen_rate(ledger, row.family) for run in runs.values())


def test_all_runs_of_a_plan_are_of_one_revision_as_it_was_committed():
    for ledger in ledgers():
        names = [path.stem for path in ledger.folder.glob("*.json") if path.stem != "costs"]
        revisions = {run["environment"]["revision"] for name in names for run in ledger.runs(name).values()}
        assert len(revisions) <= 1
        assert not any(revision.endswith("+") for revision in revisions)


def test_the_recorded_runs_are_those_of_this_code():
    """A row of each family, by its probe."""
    for ledger in ledgers():
        for name in ledger.plan.families.values():
            found = ledger.read(name)
            if found:
                variant = ledger.plan.rows[name].variant
                assert agree(found["probe"], probe(variant, found["probe"]["sentences"])), name


def test_nothing_else_is_there_and_it_is_small():
    for ledger in ledgers():
        rows = [*ledger.plan.rows.values(), *lost_rows(ledger)]
        known = {row.variant.name for row in rows} | {f"rate-{family}" for family in ledger.plan.families} | {"costs"}
        files = [path for path in ledger.folder.glob("*") if not path.name.startswith(".")]
        assert {path.stem for path in files} <= known
        assert {path.suffix for path in files} <= {".json"}
    assert sum(path.stat().st_size for path in RECORDED.rglob("*.json")) < 5_000_000
