"""Measurements: each against a count by hand or another way to the same number."""

from math import exp, log

import numpy as np
import pytest
import torch
from torch.testing import assert_close

from attnlib.batches import batch
from attnlib.measurements import Judged, centres, cost, fit, grouped, judge, measures, run, sentence_losses
from attnlib.training import word_loss
from attnlib.variants import VARIANTS, Budget, held_out
from attnlib.vocabulary import SentencePair

SMALL = Budget(emb=7, hid=6, pairs=60, words=200, steps=25, test_clauses=(1, 2, 4), test_sentences=5, width=2)
PAIRS = [pair for clauses in SMALL.test_clauses for pair in held_out(clauses, SMALL)]


def untrained(name):
    return VARIANTS[name].translator(3, SMALL)


def test_the_losses_of_sentences_add_up_to_that_of_training():
    translator = untrained("global-general")
    losses = sentence_losses(translator, PAIRS, at_once=4)
    together = batch(PAIRS, translator.source_vocabulary, translator.target_vocabulary)
    mean = word_loss(translator(*together).logits, together.target)
    assert sum(losses) / sum(len(pair.target) + 1 for pair in PAIRS) == pytest.approx(float(mean.detach()), rel=1e-5)
    assert losses[3] == pytest.approx(sentence_losses(translator, PAIRS[3:4])[0], rel=1e-5)


def test_measures_by_hand():
    """Two sentences: the first right but for a word, its links half right; the second right altogether."""
    long = ("y", "x", "x", "y", "x")
    pairs = [
        SentencePair(("a", "b"), ("x", "y"), frozenset({(0, 0), (1, 1)})),
        SentencePair(("b", "a", "a"), long, frozenset({(0, 0), (1, 1), (2, 2)})),
    ]
    judged = Judged(
        pairs,
        losses=[3 * log(2), 6 * log(4)],
        greedy=[("x", "x"), long],
        beam=[("x", "y"), long],
        links=[{(0, 0), (0, 1)}, {(0, 0), (1, 1), (2, 2)}],
        distances=[[0.0, 1.0], [0.5, 0.5, 0.5]],
        inside=[[True, False], [True, True, True]],
    )
    found = measures(judged)
    assert found["sentences"] == 2
    assert found["perplexity"] == pytest.approx(exp((3 * log(2) + 6 * log(4)) / 9), abs=1e-4)
    assert (found["exact"], found["beam_exact"]) == (0.5, 1.0)
    assert 0 < found["bleu"] < found["beam_bleu"] == 100
    assert found["alignment_error"] == pytest.approx(1 - (4 + 4) / (5 + 5))
    assert found["centre_distance"] == pytest.approx(2.5 / 5)
    assert found["centre_inside"] == pytest.approx(4 / 5)


def test_the_centre_of_local_m_is_the_step_until_the_source_ends():
    for pair, p in zip(PAIRS, centres(untrained("local-m-dot-feeding"), PAIRS), strict=True):
        expected = [min(t, len(pair.source)) for t in range(len(pair.target))]  # END is a source position, too
        assert p.tolist() == expected


@pytest.mark.parametrize("name", ["local-p-general", "local-p-general-feeding"])
def test_the_centre_of_local_p_is_where_the_gaussian_is(name):
    """All the weight that the Gaussian takes away is explained by the centre that was read off."""
    translator = untrained(name)
    pair = PAIRS[-1]
    p = torch.from_numpy(centres(translator, [pair])[0])
    attended = translator(*batch([pair], translator.source_vocabulary, translator.target_vocabulary)).attended
    weights, positions = attended.weights[0, : len(p)], attended.positions[0, : len(p)]
    favour = torch.exp(-((positions - p[:, None]) ** 2) / (2 * (4 / 2) ** 2))
    assert_close((weights / favour).sum(1), torch.ones(len(p)))


def test_reading_centres_leaves_the_translator_as_it_was():
    translator = untrained("local-p-dot")
    centres(translator, PAIRS[:1])
    assert not translator.decoder.align._forward_pre_hooks


def test_judging_knows_what_a_model_has():
    assert judge(untrained("no-attention"), PAIRS, 2).links is None
    everywhere = judge(untrained("bahdanau"), PAIRS, 2)
    assert everywhere.links is not None
    assert everywhere.distances is None
    local = judge(untrained("local-m-general"), PAIRS[:3], 2)
    for pair, distances, inside in zip(PAIRS, local.distances, local.inside, strict=False):
        middle = {t: np.mean([i for i, other in pair.links if other == t]) for _, t in pair.links}
        assert distances == pytest.approx([abs(t - middle[t]) for t in sorted(middle)])
        assert inside == [abs(i - t) <= 4 for i, t in sorted(pair.links)]


def test_groups_hold_each_sentence_where_it_belongs():
    groups = grouped(PAIRS, VARIANTS["bahdanau"], SMALL)
    assert groups["1 clause"] == [0, 1, 2, 3, 4]
    assert groups["within"] == [*range(10)]
    assert groups["beyond"] == [*range(10, 15)] == groups["4 clauses"]
    by_length = {name: rows for name, rows in groups.items() if name.endswith("words")}
    assert sorted(n for rows in by_length.values() for n in rows) == [*range(15)]
    for name, rows in by_length.items():
        first, last = map(int, name.removesuffix(" words").split("-"))
        assert all(first <= len(PAIRS[n].source) <= last for n in rows)
    assert "beyond" not in grouped(PAIRS, VARIANTS["bahdanau-longer"], SMALL)


def test_a_run_is_the_same_again_and_another_with_another_seed():
    variant = VARIANTS["local-p-dot"]
    first, again, other = run(variant, 0, SMALL), run(variant, 0, SMALL), run(variant, 1, SMALL)
    assert first == again != other
    assert len(first["losses"]) == 3
    assert first["groups"].keys() == grouped(PAIRS, variant, SMALL).keys()


def test_a_run_is_of_the_model_that_fit_gives():
    variant = VARIANTS["bahdanau"]
    translator, history = fit(variant, 2, SMALL, progress=False)
    row = run(variant, 2, SMALL)
    assert row["losses"][0] == pytest.approx(history.losses[:10].mean(), abs=1e-4)
    judged = judge(translator, PAIRS, SMALL.width)
    within = Judged(*(None if entries is None else entries[:10] for entries in judged))
    assert row["groups"]["within"] == measures(within)


def test_a_cost_is_measured():
    found = cost(VARIANTS["global-dot"], SMALL, steps=3)
    assert found["parameters"] == sum(p.numel() for p in untrained("global-dot").parameters())
    assert found["words_per_second"] > 0
    assert found["seconds"] > 0
    assert found["peak_memory"] >= 0
    wide = cost(VARIANTS["global-concat"], SMALL, steps=1)
    assert wide["multiply_adds"] > found["multiply_adds"]
