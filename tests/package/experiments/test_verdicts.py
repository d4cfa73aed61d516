"""Verdicts: each of the three by hand, corrected for all claims of the table."""

from dataclasses import replace

import numpy as np
import pytest

from attnlib.experiments.measures import grouped
from attnlib.experiments.records import Ledger
from attnlib.experiments.statistics import holm, paired_p
from attnlib.experiments.verdicts import judge, misses_of, right


@pytest.fixture
def ledger(small, tmp_path) -> Ledger:
    """Four rows of seven seeds; of `bahdanau`, which test sentences are right and how far links miss, too."""
    wave = np.array([0.0, 0.01, -0.01, 0.02, -0.02, 0.005, 0.03])
    figures = {
        "bahdanau": 0.8 + wave,
        "no-attention": 0.4 - wave,
        "local-p": 0.801 + wave[::-1] / 20,
        "wild": 20 * wave,
    }
    ledger = Ledger(small, tmp_path)
    for name, row in figures.items():
        for seed, exact in enumerate(row, start=10):
            measures = {"exact": [exact], "aligned": [-exact], "beam_bleu": [-100 * exact]}
            measures["perplexity"] = [float(np.exp(-exact))]
            run = {"measures": measures, "right": f"{seed:02x}40", "misses": None}
            if name == "bahdanau":
                run["misses"] = {"within": [seed, *[0] * 4, 3, *[0] * 4, 1]}
            ledger.add(name, str(seed), run, lambda: {"groups": ["within"]})
    return ledger


def judged(ledger, *claims, level=0.05, margin=0.05, by=None):
    """Judge claims of one table, each in four words: first, second, more or less, measure."""
    entries = [
        {"first": first, "second": second, "says": says, "measure": measure, "group": "within"}
        for first, second, says, measure in claims
    ]
    contents = {"tables": {"made up": {"claims": entries}}, "verdicts": {"level": level, "margin": margin}}
    made = Ledger(replace(ledger.plan, contents=contents), ledger.folder)
    return judge(made, "made up", by)


@pytest.mark.parametrize(
    ("claim", "says"),
    [
        (("bahdanau", "no-attention", "more", "exact"), "holds"),
        (("bahdanau", "no-attention", "differs", "exact"), "holds"),
        (("bahdanau", "no-attention", "less", "exact"), "does not hold"),
        (("no-attention", "bahdanau", "less", "exact"), "holds"),
        (("no-attention", "bahdanau", "more", "exact"), "does not hold"),
        (("bahdanau", "no-attention", "less", "aligned"), "holds"),
        (("local-p", "bahdanau", "more", "exact"), "does not hold"),
        (("local-p", "bahdanau", "differs", "exact"), "does not hold"),
        (("wild", "no-attention", "less", "exact"), "cannot be told"),
        (("wild", "wild", "differs", "exact"), "does not hold"),
    ],
)
def test_a_claim_alone(ledger, claim, says):
    (verdict,) = judged(ledger, claim)
    assert verdict.says == says


def test_a_claim_that_holds_by_less_than_the_margin_holds(ledger):
    (verdict,) = judged(ledger, ("bahdanau", "no-attention", "more", "exact"), margin=0.9)
    assert (verdict.says, verdict.ruled_out < 0.05) == ("holds", True)


def test_the_claims_of_a_table_are_corrected_together(ledger):
    claims = [("bahdanau", "no-attention", "more", "exact"), ("local-p", "bahdanau", "more", "exact")]
    claims += [("wild", "bahdanau", "differs", "exact")] * 3
    verdicts = judged(ledger, *claims)
    alone = [judged(ledger, claim)[0] for claim in claims]
    assert [verdict.p for verdict in verdicts] == pytest.approx(holm([verdict.p for verdict in alone]))
    assert [verdict.ruled_out for verdict in verdicts] == pytest.approx(holm([verdict.ruled_out for verdict in alone]))
    assert [verdict.difference for verdict in verdicts] == [verdict.difference for verdict in alone]
    first, second = ledger.pairs("bahdanau", "no-attention", "exact")
    assert alone[0].p == pytest.approx(paired_p(first - second))


def test_claims_on_exact_match_may_be_judged_by_another_measure(ledger):
    """Here perplexity is exp(-exact), so that both say the same, and BLEU is made to say the opposite."""
    claims = [("bahdanau", "no-attention", "more", "exact"), ("local-p", "bahdanau", "more", "exact")]
    aligned = ("bahdanau", "no-attention", "less", "aligned")
    exact, perplexity, bleu = (
        judged(ledger, aligned, *claims, by=measure) for measure in ("exact", "perplexity", "beam_bleu")
    )
    assert exact == judged(ledger, *claims)
    assert [(v.claim, v.says) for v in perplexity] == [(v.claim, v.says) for v in exact]
    for one, same, opposite in zip(exact, perplexity, bleu, strict=True):
        assert (*same.difference, same.p, same.ruled_out) == pytest.approx((*one.difference, one.p, one.ruled_out))
        assert opposite.difference == pytest.approx([-100 * x for x in (one.difference[n] for n in (0, 2, 1))])
        assert opposite.p == pytest.approx(one.p)
    assert [verdict.says for verdict in exact] == ["holds", "does not hold"]
    assert [verdict.says for verdict in bleu] == ["does not hold", "does not hold"]  # the last by less than 5 points
    assert bleu[1].difference.mean > 0.05


def test_which_sentences_are_right(ledger, small):
    """Seed 11 has the bits 0b00001011 01000000: the sentences 4, 6, 7 and 9; of these within, of bahdanau, 4."""
    row = small.rows["bahdanau"]
    groups = grouped(row.variant, row.budget)
    assert groups["within"] == [0, 1, 2, 3, 4, 5]
    assert groups["beyond"] == [6, 7, 8]
    assert right(ledger, "bahdanau", "within")[1].nonzero()[0].tolist() == [4]
    assert right(ledger, "bahdanau", "beyond")[1].tolist() == [True, True, False]
    assert right(ledger, "bahdanau").shape == (7, 6)


def test_misses_are_shares_of_all_links(ledger):
    shares = misses_of(ledger, "bahdanau")
    total = sum(range(10, 17)) + 7 * 4
    assert shares.tolist() == pytest.approx([sum(range(10, 17)) / total, 0, 0, 0, 0, 21 / total, 0, 0, 0, 0, 7 / total])


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda ledger: misses_of(ledger, "no-attention"), "no links are recorded of 'no-attention'"),
        (lambda ledger: misses_of(ledger, "nobody"), "no links are recorded of 'nobody'"),
        (lambda ledger: judged(ledger, ("bahdanau", "nobody", "more", "exact")), "nothing is recorded of 'nobody'"),
        (lambda ledger: judged(ledger, by="bleu"), "by is 'bleu'"),
    ],
)
def test_what_is_not_recorded_is_refused(ledger, refused, call, says):
    refused(lambda: call(ledger), ValueError, says)
