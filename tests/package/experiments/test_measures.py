"""One run of a row: each figure against a count by hand, or against the evaluation that it is taken from."""

from functools import partial

import numpy as np
import pytest
import torch
from torch import nn

from attnlib.data import SentencePair, Vocabulary
from attnlib.experiments import measures
from attnlib.experiments.evaluation import Evaluation, cap, evaluate, summarise
from attnlib.experiments.measures import (
    all_held_out,
    benchmark,
    grouped,
    measure,
    measure_rate,
    miss_counts,
    multiply_adds,
    parameters,
    products,
    trained,
    unended,
)
from attnlib.experiments.models import between
from attnlib.experiments.plan import Budget, development, held_out, read_plan
from attnlib.metrics import sentence_losses
from attnlib.transformer import transformer
from attnlib.translator import luong, rnn_encdec, rnn_search

SMALL = Budget(emb=7, hid=6, pairs=60, words=200, steps=25, test_clauses=(1, 2, 4), test_sentences=5, width=2)
PAIRS = [pair for clauses in SMALL.test_clauses for pair in held_out(clauses, SMALL)]
VOCABULARIES = Vocabulary(tuple("abcdefg")), Vocabulary(tuple("hijkl"))
E, H, V = 5, 6, len(VOCABULARIES[1])
DEEP = 2 * 3 * (H + E + 2 * H) + V * 3  # three maxout units, and annotations of both directions
LSTM, READ = 4 * H * (E + H), H * 2 * H + V * H
FED = LSTM + 4 * H * H + READ  # Luong's, but for the score and the context
BAHDANAU = 3 * H * (E + 2 * H + H) + DEEP  # Bahdanau's
HYBRID = partial(between, reader="reversed", width=1, projected=False, maxout=False, feeds_readout=True)
WITHIN = {"half_width": 2}
MODELS = {
    "no attention": (rnn_encdec, lambda src: BAHDANAU),
    "bahdanau": (partial(rnn_search, att=7), lambda src: BAHDANAU + 7 * H + src * 7 + src * 2 * H),
    "dot": (partial(luong, score="dot"), lambda src: FED + 2 * src * H),
    "general, not fed": (partial(luong, input_feeding=False), lambda src: LSTM + READ + 2 * src * H),
    "concat, three layers": (
        partial(luong, score="concat", layers=3),
        lambda src: FED + 2 * 8 * H * H + H * H + 2 * src * H,
    ),
    "location": (partial(luong, score="location"), lambda src: FED + 2 * src * H),
    "monotonic": (partial(luong, window="monotonic", **WITHIN), lambda src: FED + 2 * min(5, src) * H),
    "predictive": (partial(luong, window="predictive", **WITHIN), lambda src: FED + 2 * min(5, src) * H + H * H + H),
    "hybrid": (HYBRID, lambda src: FED + H * H + 2 * src * H),
}


def test_parameters_are_counted():
    assert parameters(nn.Linear(2, 3)) == 9
    assert parameters(nn.Linear(2, 3).requires_grad_(False)) == 0


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("src", [4, 19])
@pytest.mark.parametrize("written", [0, 3])
def test_multiply_adds_by_hand(name, src, written):
    make, by_hand = MODELS[name]
    assert multiply_adds(make(*VOCABULARIES, emb=E, hid=H), src, written) == by_hand(src)


@pytest.mark.parametrize(("src", "written"), [(4, 0), (19, 2), (2, 10)])
def test_a_transformer_looks_at_what_is_written_too(src, written):
    model = transformer(*VOCABULARIES, emb=6, heads=2, layers=2, hid=11)
    of_a_layer = (4 + 2) * 6 * 6 + 2 * 6 * 11 + 2 * 6 * src + 2 * 6 * (written + 1)
    assert multiply_adds(model, src, written) == 2 * of_a_layer + V * 6


def test_products_are_counted_whoever_takes_them():
    x = torch.ones(2, 7, 3)
    for lstm in (nn.LSTM(3, 5, batch_first=True), nn.LSTM(3, 5, batch_first=True).double()):
        assert products(lambda lstm=lstm: lstm(x.to(lstm.weight_ih_l0.dtype))) == 2 * 7 * 4 * 5 * (3 + 5)
    assert products(lambda: (x @ torch.ones(3), x + x)) == 2 * 7 * 3


@pytest.mark.parametrize(
    ("src", "written", "says"), [(0, 0, "src is 0; expected at least 1"), (1, -1, "written is -1; expected at least 0")]
)
def test_what_cannot_be_counted_is_refused(src, written, says, refused):
    refused(lambda: multiply_adds(rnn_encdec(*VOCABULARIES, emb=E, hid=H), src, written), ValueError, says)


def variant(name):
    return read_plan("comparison").rows[name].variant


def test_groups_hold_each_sentence_where_it_belongs():
    groups = grouped(variant("bahdanau"), SMALL)
    assert groups["1 clause"] == [0, 1, 2, 3, 4]
    assert groups["within"] == [*range(10)]
    assert groups["beyond"] == [*range(10, 15)] == groups["4 clauses"]
    by_length = {name: rows for name, rows in groups.items() if name.endswith("words")}
    assert sorted(n for rows in by_length.values() for n in rows) == [*range(15)]
    for name, rows in by_length.items():
        first, last = map(int, name.removesuffix(" words").split("-"))
        assert all(first <= len(PAIRS[n].source) <= last for n in rows)
    assert "beyond" not in grouped(variant("bahdanau-longer"), SMALL)


def test_a_cost_is_measured(refused):
    cost = benchmark(variant("global-dot"), SMALL, steps=3)
    untrained = variant("global-dot").translator(0, SMALL)
    assert cost["parameters"] == sum(p.numel() for p in untrained.parameters())
    assert cost["words_per_second"] > 0
    assert cost["seconds"] > 0
    assert cost["peak_memory"] >= 0
    assert benchmark(variant("global-concat"), SMALL, steps=1)["multiply_adds"] > cost["multiply_adds"]
    refused(lambda: benchmark(variant("bahdanau"), SMALL, steps=0), ValueError, "steps is 0; expected at least 1")


def made_of(pairs, greedy=None, links=None):
    nothing = [None] * len(pairs)
    return Evaluation(pairs, nothing, greedy or nothing, nothing, links, None, None)


def test_misses_by_hand():
    gold = frozenset({(0, 0), (1, 1), (3, 1), (9, 2)})
    pair = SentencePair(tuple("abcdefghijk"), tuple("wxyz"), gold)
    links = [{(0, 0), (2, 1), (2, 2), (5, 3)}, {(1, 0), (4, 1), (9, 2), (0, 3)}]
    counts = miss_counts(made_of([pair, pair], links=links))
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
    evaluation = evaluate(translator, pairs, 2)
    groups = grouped(row.variant, row.budget)
    assert measured["learning_rate"] == 0.01
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
    for means, clauses in zip(measured["by_position"], row.budget.test_clauses, strict=True):
        pairs = held_out(clauses, row.budget)
        positions = np.concatenate([np.arange(len(pair.target) + 1) // 5 for pair in pairs])
        counts = np.bincount(positions)
        assert len(means) == len(counts)
        assert (means * counts).sum() == pytest.approx(sum(sentence_losses(translator, pairs)), abs=1e-4 * counts.sum())


def test_a_run_is_the_same_again_and_another_with_another_seed_and_rate(small, measured):
    row = small.rows["bahdanau"]
    assert measure(row, 10, 0.01) == measured
    assert measure(row, 11, 0.02) != measured


def test_without_attention_and_beam_there_is_less(small):
    run = measure(small.rows["no-attention"], 10, 0.01)
    assert run["misses"] is None
    assert {*run["measures"]["beam_bleu"]} == {*run["measures"]["missed_left"]} == {None}
    assert None not in run["measures"]["bleu"]


def test_rates_are_chosen_on_other_sentences_with_fewer_steps(small, monkeypatch):
    row = small.shortened(small.rows["bahdanau"])
    assert (row.budget.steps, row.budget.pairs) == (10, 30)
    translator, _ = trained(row, 100, 0.01)
    pairs = [pair for clauses in (1, 2) for pair in development(clauses, row.budget)]
    words = sum(len(pair.target) + 1 for pair in pairs)
    loss = measure_rate(row, 100, 0.01, (1, 2))["loss"]
    assert loss == pytest.approx(sum(sentence_losses(translator, pairs)) / words, abs=1e-5)

    def fail(*_):
        raise FloatingPointError("loss is nan")

    monkeypatch.setattr(measures, "trained", fail)
    assert measure_rate(row, 100, 0.01, (1, 2)) == {"loss": None}


@pytest.mark.parametrize("language", ["french", "german"])
def test_sentences_to_choose_by_are_not_tested_on(small, language):
    row = small.rows["bahdanau"]
    tested = {pair.source for clauses in (1, 2, 4) for pair in held_out(clauses, row.budget, language)}
    chosen = {pair.source for clauses in (1, 2) for pair in development(clauses, row.budget, language)}
    assert chosen
    assert chosen.isdisjoint(tested)
