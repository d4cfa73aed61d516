"""One run of a plan: each figure against a count by hand, or against the predictions that it is taken from."""

from dataclasses import replace

import measures
import numpy as np
import pytest
from measures import count_offsets, dev_sentences, group_sentences, measure, measure_costs, measure_rate

from attnlib.costs import count_parameters
from attnlib.data import SentencePair
from attnlib.experiments.fitting import train_from_config
from attnlib.experiments.plan import read_plan
from attnlib.experiments.predictions import Predictions, compute_metrics, max_output_length, predict
from attnlib.metrics import sentence_nll

CONFIG = read_plan("world").configs["bahdanau"]
FEW = {"num_test_sentences": 5, "test_clauses": (1, 2, 4), "num_pairs": 60, "max_tokens": 200}


def test_groups_hold_each_sentence_where_it_belongs():
    config = CONFIG.replace(**FEW)
    groups = group_sentences(config)
    assert groups["clauses"] == {1: [*range(5)], 2: [*range(5, 10)], 4: [*range(10, 15)]}
    assert groups["test_set"] == {"seen lengths": [*range(10)], "longer": [*range(10, 15)]}
    longer = CONFIG.replace(**FEW, clauses=(1, 2, 3, 4))
    assert [*group_sentences(longer)["test_set"]] == ["seen lengths"]


def made_of(pairs, translations=None, links=None):
    nothing = [None] * len(pairs)
    return Predictions(pairs, nothing, translations or nothing, nothing, links, None, None)


def test_offsets_by_hand():
    gold = frozenset({(0, 0), (1, 1), (3, 1), (9, 2)})
    pair = SentencePair(tuple("abcdefghijk"), tuple("wxyz"), gold)
    links = [{(0, 0), (2, 1), (2, 2), (5, 3)}, {(1, 0), (4, 1), (9, 2), (0, 3)}]
    counts = count_offsets(made_of([pair, pair], links=links))
    # to the left: 2, which should be 9, and 2, between 1 and 3; to the right: 1 for 0, and 4 for 3; z has no gold link
    assert counts.tolist() == [1, 0, 0, 0, 1, 2, 2, 0, 0, 0, 0]


def test_what_does_not_end_is_counted():
    pairs = [SentencePair(("a",), ("x",)), SentencePair(("a", "b"), ("x",))]
    assert [max_output_length(pair.source) for pair in pairs] == [7, 9]
    for lengths in ((7, 8), (6, 9)):
        translations = [("x",) * length for length in lengths]
        assert measures._more(made_of(pairs, translations))["unfinished"] == 0.5


@pytest.fixture(scope="module")
def config(small):
    return small.configs["bahdanau"].replace(learning_rate=0.01)


@pytest.fixture(scope="module")
def trained(config):
    return train_from_config(config, 10)


@pytest.fixture(scope="module")
def measured(small, config):
    return measure(small, config, 10)


def test_a_run_is_of_the_model_that_training_gives(small, config, trained, measured):
    model, history = trained
    pairs = config.test_sentences()
    predictions, details = predict(model, pairs, 2), measured.details
    key = {"model": "bahdanau", "seed": 10, "config": config.digest, "learning_rate": 0.01}
    assert key.items() <= details.items()
    assert details["losses"] == pytest.approx([history.losses[:10].mean(), history.losses[10:].mean()], abs=1e-4)
    for by, groups in group_sentences(config).items():
        lines = measured.tables["" if by == "test_set" else by]
        for (value, rows), line in zip(groups.items(), lines, strict=True):
            expected = {"model": "bahdanau", by: value, "seed": 10} | compute_metrics(predictions.select(rows))
            assert expected.items() <= line.items()
    bits = np.unpackbits(np.frombuffer(bytes.fromhex(details["correct"]), np.uint8))[: len(pairs)]
    both = zip(predictions.translations, pairs, strict=True)
    assert bits.tolist() == [words == pair.target for words, pair in both]
    offsets, line = np.array(details["alignment_offsets"]["seen lengths"]), measured.tables[""][0]
    assert line["missed_left"] == pytest.approx(offsets[:5].sum() / offsets.sum(), abs=1e-4)
    assert line["missed_right"] == pytest.approx(offsets[6:].sum() / offsets.sum(), abs=1e-4)


def test_losses_by_position_add_up_to_those_of_the_sentences(config, trained, measured):
    for means, clauses in zip(measured.details["losses_by_position"], config.test_clauses, strict=True):
        pairs = config.test_sentences(clauses)
        counts = np.bincount(np.concatenate([np.arange(len(pair.target) + 1) // 5 for pair in pairs]))
        assert len(means) == len(counts)
        total = sum(sentence_nll(trained[0], pairs))
        assert (means * counts).sum() == pytest.approx(total, abs=1e-4 * counts.sum())


def test_without_attention_and_beam_there_is_less(small):
    run = measure(small, small.configs["no-attention"].replace(learning_rate=0.01), 10)
    assert run.details["alignment_offsets"] is None
    assert {line[name] for line in run.tables[""] for name in ("bleu_beam", "missed_left")} == {None}
    assert None not in {line["bleu_greedy"] for line in run.tables[""]}


def test_a_plan_chooses_its_tables(small, config):
    by_length = replace(small, contents=small.contents | {"metrics": {"groupings": ["clauses"]}})
    run = measure(by_length, config, 10)
    assert {*run.tables} == {"", "environments"}
    assert [line["clauses"] for line in run.tables[""]] == [1, 2, 4]
    assert [*run.details["alignment_offsets"]] == ["1 clause", "2 clauses", "4 clauses"]


def test_costs_are_measured(small, config):
    (line,) = measure_costs(config, steps=2).tables["costs"]
    assert line["parameters"] == count_parameters(config.build_model(0))
    assert min(line[name] for name in ("macs", "words_per_second", "seconds")) > 0


def test_rates_are_chosen_on_other_sentences(small, config, monkeypatch):
    config = config.longer(0.5)
    assert (config.max_steps, config.num_pairs) == (10, 30)
    model, _ = train_from_config(config, 100)
    pairs = [pair for clauses in (1, 2) for pair in dev_sentences(config, clauses)]
    loss = sum(sentence_nll(model, pairs)) / sum(len(pair.target) + 1 for pair in pairs)
    (line,) = measure_rate(small, config, 100).tables["learning_rates"]
    key = {"tuning_group": "early", "learning_rate": 0.01, "seed": 100, "config": config.digest}
    assert key.items() <= line.items()
    assert line["loss"] == pytest.approx(loss, abs=1e-5)

    def fail(*_):
        raise FloatingPointError("loss is nan")

    monkeypatch.setattr(measures, "train_from_config", fail)
    assert measure_rate(small, config, 100).tables["learning_rates"][0]["loss"] is None
