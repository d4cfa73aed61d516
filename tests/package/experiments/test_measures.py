"""One run of a plan: each figure against a count by hand, or against the predictions that it is taken from."""

import measures
import numpy as np
import pytest
from measures import dev_sentences, measure, measure_costs, measure_rate, missed_sides

from attnbook.experiments import compute_metrics, count_parameters, predict, train_from_config
from attnbook.experiments.predictions import Predictions
from attnbook.language.sentences import max_output_length
from attnlib import SentencePair
from attnlib.metrics import sentence_nll


def made_of(pairs, translations=None, links=None):
    nothing = [None] * len(pairs)
    return Predictions(pairs, nothing, translations or nothing, nothing, links, None)


def test_links_that_miss_by_hand():
    gold = frozenset({(0, 0), (1, 1), (3, 1), (9, 2)})
    pair = SentencePair(tuple("abcdefghijk"), tuple("wxyz"), gold)
    links = [{(0, 0), (2, 1), (2, 2), (5, 3)}, {(1, 0), (4, 1), (9, 2), (0, 3)}]
    # to the left: 2, which should be 9, and 2, between 1 and 3; to the right: 1 for 0, and 4 for 3; z has no gold link
    assert missed_sides(made_of([pair, pair], links=links)) == pytest.approx((2 / 6, 2 / 6), abs=1e-4)
    assert missed_sides(made_of([pair], links=links[:1])) == pytest.approx((2 / 3, 0), abs=1e-4)


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
    return train_from_config(config, 10)[0]


@pytest.fixture(scope="module")
def measured(config):
    return measure(config, 10)


def test_a_run_is_of_the_model_that_training_gives(config, trained, measured):
    pairs, details, lines = config.test_sentences(), measured.details, measured.tables[""]
    predictions = predict(trained, pairs, 2)
    key = {"model": "bahdanau", "seed": 10, "config": config.digest, "learning_rate": 0.01}
    assert key.items() <= details.items()
    for rows, clauses, line in zip((range(3), range(3, 6), range(6, 9)), (1, 2, 4), lines, strict=True):
        expected = {"model": "bahdanau", "clauses": clauses, "seed": 10} | compute_metrics(predictions.select(rows))
        assert expected.items() <= line.items()
    bits = np.unpackbits(np.frombuffer(bytes.fromhex(details["correct"]), np.uint8))[: len(pairs)]
    both = zip(predictions.translations, pairs, strict=True)
    assert bits.tolist() == [words == pair.target for words, pair in both]


def test_losses_by_position_add_up_to_those_of_the_sentences(config, trained, measured):
    for means, clauses in zip(measured.details["losses_by_position"], config.test_clauses, strict=True):
        pairs = config.test_sentences(clauses)
        counts = np.bincount(np.concatenate([np.arange(len(pair.target) + 1) // 5 for pair in pairs]))
        assert len(means) == len(counts)
        total = sum(sentence_nll(trained, pairs))
        assert (means * counts).sum() == pytest.approx(total, abs=1e-4 * counts.sum())


def test_without_attention_and_beam_there_is_less(small):
    lines = measure(small.configs["no-attention"].replace(learning_rate=0.01), 10).tables[""]
    assert {line[name] for line in lines for name in ("bleu_beam", "missed_left")} == {None}
    assert None not in {line["exact_match"] for line in lines}


def test_costs_are_measured(config):
    (line,) = measure_costs(config, steps=2).tables["costs"]
    assert line["parameters"] == count_parameters(config.build_model(0))
    assert min(line[name] for name in ("macs", "words_per_second", "seconds")) > 0


def test_rates_are_chosen_on_other_sentences(config, monkeypatch):
    model, _ = train_from_config(config, 100)
    pairs = [pair for clauses in (1, 2) for pair in dev_sentences(config, clauses)]
    loss = sum(sentence_nll(model, pairs)) / sum(len(pair.target) + 1 for pair in pairs)
    (line,) = measure_rate(config, 100).tables["learning_rates"]
    key = {"tuning_group": "early", "learning_rate": 0.01, "seed": 100, "config": config.digest}
    assert key.items() <= line.items()
    assert line["loss"] == pytest.approx(loss, abs=1e-5)

    def fail(*_, **__):
        raise FloatingPointError("loss is nan")

    monkeypatch.setattr(measures, "train_from_config", fail)
    assert measure_rate(config, 100).tables["learning_rates"][0]["loss"] is None
