"""Models and claims in words: no two models share a name, and a claim names what its models differ in."""

import pytest

from attnlib.experiments.labels import label_claims, label_model, split_lengths
from attnlib.experiments.plan import read_plan

PLAN = read_plan("comparison")


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("bahdanau-longer", "Bahdanau's model, 1 to 5 clauses"),
        ("local-m-general-D4-feeding", "Luong local-m, general, D = 4, input feeding"),
        ("global-general-forwards", "Luong global, general, forward encoder"),
        ("chain-lstm", "first path: LSTMs for GRUs"),
        ("german-no-attention", "no attention, in German"),
        ("bottleneck-192-4", "no attention, 192 features, 2,800 steps"),
    ],
)
def test_a_model_is_named_by_its_settings(name, label):
    assert label_model(PLAN.configs[name]) == label


def test_no_two_models_share_a_name():
    labels = [label_model(config) for config in PLAN.configs.values()]
    assert len(set(labels)) == len(labels)


@pytest.mark.parametrize(
    ("table", "n", "label"),
    [
        ("attention", 0, "Bahdanau's model beats no attention"),
        ("luong", 0, "Luong global, general: input feeding beats no input feeding"),
        ("luong", 20, "Luong global: location is worse than general"),
        ("luong", 24, "general: Luong local-m aligns better than Luong global"),
        ("luong", 26, "Luong local-m, general beats Bahdanau's model"),
        ("order", 10, "second path: decoder starts without a matrix"),
        ("half-widths", 0, "Luong local-m, general: D = 4 differs from D = 10"),
        ("baselines", 4, "Luong global, general: forward encoder misses to the right more often than backward encoder"),
        ("bottleneck", 0, "no attention: 192 features, 700 steps beats 48 features, 700 steps"),
    ],
)
def test_a_claim_names_what_its_models_differ_in(table, n, label):
    assert label_claims(PLAN.claims(table), PLAN)[n] == label


def test_a_claim_has_one_name_by_whatever_metric_it_is_judged():
    claims = PLAN.claims("luong")
    assert [*label_claims(claims.assign(metric="perplexity"), PLAN)] == [*label_claims(claims, PLAN)]


def test_different_claims_have_different_names():
    for table in PLAN.contents["tables"]:
        claims = PLAN.claims(table)
        named = claims.assign(label=label_claims(claims, PLAN))
        assert (named.groupby(["label", "test_set"]).size() == 1).all()


def test_claims_about_longer_sentences_are_asked_at_each_length():
    claims = PLAN.claims("attention")
    split = split_lengths(claims, (4, 8))
    assert [*split["test_set"]] == ["4 clauses"] * 4 + ["8 clauses"] * 4
    longer = claims.query("test_set == 'longer'").drop(columns="test_set").reset_index(drop=True)
    assert split[4:].drop(columns="test_set").reset_index(drop=True).equals(longer)
