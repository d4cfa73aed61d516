"""Plans: read as they are written, and the comparison's has every row, with one change from neighbour to neighbour."""

from dataclasses import replace
from hashlib import sha256
from itertools import pairwise
from math import inf

import pytest

from attnlib.experiments.costs import parameters
from attnlib.experiments.measure import grouped
from attnlib.experiments.plan import PLANS, Claim, read_plan
from attnlib.experiments.variants import Budget
from attnlib.scores import Concat, Dot, General, Location
from attnlib.translator import luong, rnn_encdec, rnn_search

MEASURES = {"exact", "beam_bleu", "perplexity", "alignment_error", "missed_left", "missed_right"}
PLAN_NAMES = [path.stem for path in PLANS.glob("*.toml")]
SCORES = {"dot": Dot, "general": General, "concat": Concat, "location": Location}


@pytest.fixture(scope="module")
def comparison():
    return read_plan("comparison")


def test_a_plan_is_what_its_file_says(small, small_file):
    assert small.digest == sha256(small_file.read_bytes()).hexdigest()
    row, other, local = (small.rows[name] for name in ("no-attention", "bahdanau", "local-p"))
    assert [*small.rows] == ["no-attention", "bahdanau", "local-p"]
    assert row.variant.model is rnn_encdec
    assert (row.variant.seeds, row.family, row.table, row.phase) == ((10, 11), "early", "attention", 2)
    assert row.budget == Budget(
        emb=7, hid=8, pairs=30, words=200, steps=10, test_clauses=(1, 2, 4), test_sentences=3, width=2, test_seed=2000
    )
    assert (row.beam, other.beam) == (False, True)
    assert (other.variant.model, other.variant.clauses, other.variant.options) == (rnn_search, (1, 2), {})
    assert (local.variant.model, local.variant.options) == (luong, {"window": "predictive", "half_width": 2})
    assert [row.variant.name for row in small.may_be_lost()] == ["local-p"]
    assert [claim[:3] for claim in small.claims("attention")] == [("bahdanau", "no-attention", "more")]


def test_a_longer_row_has_more_steps_and_sentences_and_no_more_seeds(small):
    longer = small.rows["bahdanau"].longer(3, 2)
    assert (longer.variant.name, longer.variant.seeds) == ("bahdanau-times3", (10, 11))
    assert (longer.budget.steps, longer.budget.pairs) == (60, 180)
    assert longer.variant.options == small.rows["bahdanau"].variant.options


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (('"rnn_search"', '"rnn_seek"'), "model is 'rnn_seek'; expected one of rnn_encdec"),
        (('name = "no-attention"', 'name = "bahdanau"'), "the plan other has the row 'bahdanau' twice"),
        (('late = "local-p"', 'late = "local-m"'), "the plan other speaks of 'local-m', but has no such row"),
        (('first = "bahdanau"', 'first = "nobody"'), "the plan other speaks of 'nobody', but has no such row"),
        (('family = "late"', 'family = "later"'), "family of local-p is 'later'; expected one of those with a rate"),
    ],
)
def test_what_does_not_fit_is_refused(small_file, tmp_path, refused, change, says):
    text = small_file.read_text()
    assert change[0] in text
    (tmp_path / "other.toml").write_text(text.replace(*change))
    refused(lambda: read_plan(tmp_path / "other.toml"), ValueError, says)


@pytest.mark.parametrize("name", PLAN_NAMES)
def test_every_plan_can_be_read_and_every_model_made(name):
    for row in read_plan(name).rows.values():
        assert parameters(row.variant.translator(0, Budget(emb=8, hid=6))) > 0


def decoder(plan, name):
    return plan.rows[name].variant.translator(0, Budget(emb=5, hid=6)).decoder


def test_luongs_table_is_whole(comparison):
    windows = {"global": inf, "local-m": 10, "local-p": 10}
    for window, half_width in windows.items():
        for score in [*SCORES][: 4 if window == "global" else 3]:
            for feeding in (False, True):
                found = decoder(comparison, f"{window}-{score}" + "-feeding" * feeding)
                assert type(found.align.score) is SCORES[score]
                assert found.align.window.half_width == half_width
                assert found.input_feeding is feeding
    for D in (1, 2, 4, 7):
        for feeding in ("", "-feeding"):
            assert decoder(comparison, f"local-p-general-D{D}{feeding}").align.window.half_width == D


def differences(plan, first, second):
    """Name the parts in which two decoders, or their encoders, differ."""
    found = []
    for name in (first, second):
        translator = plan.rows[name].variant.translator(0, Budget(emb=5, hid=6))
        made, reader = translator.decoder, translator.encoder
        found.append(
            {
                "asks before": getattr(made, "asks_before", name == "bahdanau"),
                "reads new": getattr(made, "reads_new_state", True),
                "cell": type(getattr(made, "cell", None)).__name__.removeprefix("NoneType") or "LSTMCell",
                "reader": type(reader).__name__.replace("GRU", "").replace("LSTM", ""),
                "enc": made.readout.enc if hasattr(made, "readout") and hasattr(made.readout, "enc") else made.enc,
                "begins": getattr(getattr(made, "begin", None), "W_s", None) is not None or hasattr(reader, "W_s"),
                "score": type(made.align.score).__name__,
                "maxout": hasattr(getattr(made, "readout", None), "U_o"),
                "fed": getattr(made, "feeds_readout", getattr(made, "input_feeding", False)),
            }
        )
    return {part for part in found[0] if found[0][part] != found[1][part]}


@pytest.mark.parametrize(
    ("names", "changes"),
    [
        (
            "bahdanau chain-readout chain-asks chain-lstm chain-reversed chain-narrow chain-start chain-general "
            "chain-attentional global-general-feeding",
            [{"reads new"}, {"asks before"}, {"cell"}, {"reader"}, {"enc"}, {"begins"}, {"score"}, {"maxout"}, {"fed"}],
        ),
        (
            "chain-asks order-general order-fed order-lstm order-reversed order-narrow global-general-feeding",
            [{"score"}, {"maxout", "fed"}, {"cell"}, {"reader"}, {"enc"}, {"begins"}],
        ),
        ("chain-lstm chain-reversed-equal", [{"reader", "enc"}]),
    ],
)
def test_the_chain_changes_one_thing_at_a_time(comparison, names, changes):
    rows = names.split()
    found = [differences(comparison, first, second) for first, second in pairwise(rows)]
    assert found == changes


def test_the_encoder_of_equal_parameters_has_them(comparison):
    counts = [
        parameters(row.variant.translator(0, row.budget))
        for row in (comparison.rows[name] for name in ("chain-lstm", "chain-reversed-equal"))
    ]
    assert counts[1] == pytest.approx(counts[0], rel=0.005)


def test_chapter_6_gives_the_transformer_what_bahdanaus_model_gets_and_about_as_many_weights(comparison):
    rows = read_plan("successors").rows
    assert rows["bahdanau"].budget == comparison.rows["bahdanau"].budget
    assert rows["transformer"].budget == replace(rows["bahdanau"].budget, emb=64, hid=256)
    counts = [parameters(rows[name].variant.translator(0, rows[name].budget)) for name in ("bahdanau", "transformer")]
    assert counts[1] == pytest.approx(counts[0], rel=0.1)


@pytest.mark.parametrize("name", PLAN_NAMES)
def test_no_seed_learns_for_two_purposes(name):
    plan = read_plan(name)
    rule = plan.contents["learning_rates"]
    seeds = {seed for row in plan.rows.values() for seed in row.variant.seeds}
    assert seeds.isdisjoint(rule["seeds"])
    assert min(seeds) >= 10, "seeds 0 to 4 are those of the first record"


@pytest.mark.parametrize("name", PLAN_NAMES)
def test_every_claim_can_be_judged(name):
    plan = read_plan(name)
    claims = [claim for table in plan.contents["tables"] for claim in plan.claims(table)]
    assert claims
    assert len(claims) == len(set(claims))
    assert {claim.says for claim in claims} <= {"more", "less", "differs"}
    assert {claim.measure for claim in claims} <= MEASURES
    for first, second, _, _, group in claims:
        rows = [plan.rows[row] for row in (first, second)]
        assert len(set.intersection(*({*row.variant.seeds} for row in rows))) >= 3
        assert all(group in grouped(row.variant, row.budget) for row in rows)


def test_the_comparison_claims_of_every_kind(comparison):
    claims = [claim for table in comparison.contents["tables"] for claim in comparison.claims(table)]
    assert len(claims) > 80
    assert {claim.says for claim in claims} == {"more", "less", "differs"}
    assert {claim.group for claim in claims} == {"within", "beyond"}
    assert {claim.measure for claim in claims} == MEASURES - {"beam_bleu"}


def test_a_claim_in_words():
    assert Claim("a", "b", "more", "exact", "within").wording == "a more than b"
    assert Claim("a", "b", "less", "alignment_error", "beyond").wording == "a less than b, alignment error"
    assert Claim("a", "b", "differs", "exact", "within").wording == "a differs from b"
