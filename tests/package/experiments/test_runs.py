"""One run of a row: each figure against a count by hand, or against the evaluation that it is taken from."""

import numpy as np
import pytest

from attnlib.data import SentencePair
from attnlib.experiments import runs
from attnlib.experiments.evaluation import Evaluation, cap, evaluate, sentence_losses, summarise
from attnlib.experiments.measure import all_held_out, grouped
from attnlib.experiments.runs import development_loss, measure, miss_counts, shortened, trained, unended
from attnlib.experiments.variants import development, held_out


def made_of(pairs, greedy=None, links=None):
    nothing = [None] * len(pairs)
    return Evaluation(pairs, nothing, greedy or nothing, nothing, links, None, None)


def test_misses_by_hand():
    gold = frozenset({(0, 0), (1, 1), (3, 1), (9, 2)})
    pair = SentencePair(tuple("abcdefghijk"), tuple("wxyz"), gold)
    found = [{(0, 0), (2, 1), (2, 2), (5, 3)}, {(1, 0), (4, 1), (9, 2), (0, 3)}]
    counts = miss_counts(made_of([pair, pair], links=found))
    # to the left: 2, which should be 9, and 2, between 1 and 3; to the right: 1 for 0, and 4 for 3; z has no gold link
    assert counts.tolist() == [1, 0, 0, 0, 1, 2, 2, 0, 0, 0, 0]


def test_what_does_not_end_is_counted():
    pairs = [SentencePair(("a",), ("x",)), SentencePair(("a", "b"), ("x",))]
    assert [cap(pair.source) for pair in pairs] == [7, 9]
    assert unended(made_of(pairs, greedy=[("x",) * 7, ("x",) * 8])) == 0.5
    assert unended(made_of(pairs, greedy=[("x",) * 6, ("x",) * 9])) == 0.5


@pytest.fixture(scope="module")
def measured(small):
    return measure(small.rows["bahdanau"], 10, 0.01)


def test_a_run_is_of_the_model_that_training_gives(small, measured):
    row, steps = small.rows["bahdanau"], []
    translator, history = trained(row, 10, 0.01, on_step=lambda training, _: steps.append(training.step))
    assert steps == [*range(1, 21)]
    pairs = all_held_out(row.budget)
    evaluation = evaluate(translator, pairs, 2, [cap(pair.source) for pair in pairs])
    groups = grouped(row.variant, row.budget)
    assert measured["losses"] == pytest.approx([history.losses[:10].mean(), history.losses[10:].mean()], abs=1e-4)
    for n, rows in enumerate(groups.values()):
        expected = summarise(evaluation.select(rows))
        assert {name: column[n] for name, column in measured["measures"].items() if name in expected} == expected
    bits = np.unpackbits(np.frombuffer(bytes.fromhex(measured["right"]), np.uint8))[: len(pairs)]
    assert bits.tolist() == [words == pair.target for words, pair in zip(evaluation.greedy, pairs, strict=True)]
    within = np.array(measured["misses"]["within"])
    at = [*groups].index("within")
    assert measured["measures"]["missed_left"][at] == pytest.approx(within[:5].sum() / within.sum(), abs=1e-4)
    assert measured["measures"]["missed_right"][at] == pytest.approx(within[6:].sum() / within.sum(), abs=1e-4)


def test_losses_by_position_add_up_to_those_of_the_sentences(small, measured):
    row = small.rows["bahdanau"]
    translator, _ = trained(row, 10, 0.01)
    for found, clauses in zip(measured["by_position"], row.budget.test_clauses, strict=True):
        pairs = held_out(clauses, row.budget)
        positions = np.concatenate([np.arange(len(pair.target) + 1) // 5 for pair in pairs])
        counts = np.bincount(positions)
        assert len(found) == len(counts)
        assert (found * counts).sum() == pytest.approx(sum(sentence_losses(translator, pairs)), abs=1e-4 * counts.sum())


def test_a_run_is_the_same_again_and_another_with_another_seed_and_rate(small, measured):
    row = small.rows["bahdanau"]
    assert measure(row, 10, 0.01) == measured
    assert measure(row, 11, 0.02) != measured


def test_without_attention_and_beam_there_is_less(small):
    found = measure(small.rows["no-attention"], 10, 0.01)
    assert found["misses"] is None
    assert set(found["measures"]["beam_bleu"]) == set(found["measures"]["missed_left"]) == {None}


def test_rates_are_chosen_on_other_sentences_with_fewer_steps(small, monkeypatch):
    row = shortened(small.rows["bahdanau"], small)
    assert (row.budget.steps, row.budget.pairs) == (10, 30)
    translator, _ = trained(row, 100, 0.01)
    pairs = [pair for clauses in (1, 2) for pair in development(clauses, row.budget)]
    words = sum(len(pair.target) + 1 for pair in pairs)
    loss = development_loss(row, 100, 0.01, (1, 2))
    assert loss == pytest.approx(sum(sentence_losses(translator, pairs)) / words, abs=1e-5)

    def fail(*_):
        raise FloatingPointError("loss is nan")

    monkeypatch.setattr(runs, "trained", fail)
    assert development_loss(row, 100, 0.01, (1, 2)) is None


@pytest.mark.parametrize("language", ["french", "german"])
def test_sentences_to_choose_by_are_neither_tested_on_nor_learnt_from(small, language):
    row = small.rows["bahdanau"]
    tested = {pair.source for clauses in (1, 2, 4) for pair in held_out(clauses, row.budget, language)}
    chosen = {pair.source for clauses in (1, 2) for pair in development(clauses, row.budget, language)}
    assert chosen
    assert chosen.isdisjoint(tested)
    learnt = {pair.source for pair in row.variant.training_pairs(10, row.budget)}
    assert learnt.isdisjoint(chosen | tested)
