"""Evaluations: each measure against a count by hand or another way to the same number."""

from math import exp, log

import numpy as np
import pytest
from torch.nn.functional import cross_entropy

from attnbook.experiments import compute_metrics, predict, read_plan, window_centers
from attnbook.experiments.predictions import Predictions
from attnbook.language.sentences import max_output_length
from attnlib import PAD, SentencePair, collate, metrics
from attnlib.metrics import sentence_nll

SMALL = {"embedding_dim": 7, "hidden_size": 6, "num_test_sentences": 5, "test_seed": 0}
CONFIGS = {name: config.replace(**SMALL) for name, config in read_plan("world").configs.items()}
PAIRS = CONFIGS["bahdanau"].test_sentences((1, 2, 4))


def untrained(name):
    return CONFIGS[name].build_model(3)


def test_the_losses_of_sentences_add_up_to_that_of_training(monkeypatch):
    monkeypatch.setattr(metrics, "_PAIRS", 4)
    translator = untrained("global")
    losses = sentence_nll(translator, PAIRS)
    together = collate(PAIRS, translator.source_vocabulary, translator.target_vocabulary)
    mean = cross_entropy(translator(*together).logits.mT, together.target, ignore_index=PAD)
    assert sum(losses) / sum(len(pair.target) + 1 for pair in PAIRS) == pytest.approx(float(mean.detach()), rel=1e-5)
    assert losses[3] == pytest.approx(sentence_nll(translator, PAIRS[3:4])[0], rel=1e-5)


def test_measures_by_hand():
    """Two sentences: the first right but for a word, its links half right; the second right altogether."""
    long = ("y", "x", "x", "y", "x")
    pairs = [
        SentencePair(("a", "b"), ("x", "y"), frozenset({(0, 0), (1, 1)})),
        SentencePair(("b", "a", "a"), long, frozenset({(0, 0), (1, 1), (2, 2)})),
    ]
    predictions = Predictions(
        pairs,
        losses=[np.full(3, log(2)), np.full(6, log(4))],
        translations=[("x", "x"), long],
        beam_translations=[("x", "y"), long],
        links=[{(0, 0), (0, 1)}, {(0, 0), (1, 1), (2, 2)}],
        inside=[[True, False], [True, True, True]],
    )
    measures = compute_metrics(predictions)
    assert measures["sentences"] == 2
    assert measures["perplexity"] == pytest.approx(exp((3 * log(2) + 6 * log(4)) / 9), abs=1e-4)
    assert measures["exact_match"] == 0.5
    assert measures["bleu_beam"] == 100
    assert measures["alignment_error_rate"] == pytest.approx(1 - (4 + 4) / (5 + 5))
    assert measures["links_in_window"] == pytest.approx(4 / 5)
    alone = compute_metrics(predictions.select([1]))
    assert (alone["sentences"], alone["exact_match"], alone["alignment_error_rate"]) == (1, 1.0, 0.0)
    unlinked = [pair._replace(links=frozenset()) for pair in pairs]
    none = compute_metrics(predictions._replace(pairs=unlinked, inside=[[], []]))
    assert {none[name] for name in ("alignment_error_rate", "links_in_window")} == {None}


def test_predictions_hold_what_a_model_has():
    assert predict(untrained("bahdanau"), PAIRS[:1], 1).beam_translations is None
    assert predict(untrained("no-attention"), PAIRS, 2).links is None
    everywhere = predict(untrained("bahdanau"), PAIRS, 2)
    assert everywhere.links is not None
    assert everywhere.inside is None
    local = predict(untrained("local-m"), PAIRS[:3], 2)
    for pair, inside in zip(PAIRS, local.inside, strict=False):
        assert inside == [abs(i - t) <= 4 for i, t in sorted(pair.links)]


def test_the_center_of_local_m_is_the_step_until_the_source_ends():
    for pair, p in zip(PAIRS, window_centers(untrained("local-m"), PAIRS), strict=True):
        assert p.tolist() == [min(t, len(pair.source)) for t in range(len(pair.target))]  # EOS is a position, too


def test_each_translation_has_a_cap_of_its_own():
    translations = predict(untrained("bahdanau"), PAIRS, 1).translations
    room = [max_output_length(pair.source) - len(words) for words, pair in zip(translations, PAIRS, strict=True)]
    assert min(room) == 0, "untrained, some never end"
