"""Variants: every row that the comparison needs, under one budget, and no test sentence among those learnt from."""

from dataclasses import replace
from math import inf

import pytest
import torch

from attnlib.decoders import BahdanauDecoder, FixedContextDecoder, LuongDecoder
from attnlib.experiments.hybrids import HybridDecoder
from attnlib.experiments.mixtures import step_first
from attnlib.experiments.variants import (
    BUDGET,
    CHAIN,
    LONGER,
    SHORT,
    VARIANTS,
    Budget,
    Variant,
    half_width_row,
    held_out,
    vocabularies,
)
from attnlib.scores import Additive, Concat, Dot, General, Location
from attnlib.windows import Everywhere, LocalMonotonic, LocalPredictive

SCORES = {"dot": Dot, "general": General, "concat": Concat, "location": Location}
WINDOWS = {"global": Everywhere, "local-m": LocalMonotonic, "local-p": LocalPredictive}
SMALL = Budget(emb=5, hid=6, pairs=40, test_sentences=30)


def test_every_attention_of_luong_is_there_with_and_without_input_feeding():
    rows = [(window, score) for window in WINDOWS for score in SCORES if window == "global" or score != "location"]
    assert len(rows) == 10
    for window, score in rows:
        for feeding in (False, True):
            decoder = VARIANTS[f"{window}-{score}{'-feeding' * feeding}"].translator(0, SMALL).decoder
            assert type(decoder) is LuongDecoder
            assert type(decoder.align.score) is SCORES[score]
            assert type(decoder.align.window) is WINDOWS[window]
            assert decoder.input_feeding is feeding
            assert decoder.align.window.half_width == (inf if window == "global" else BUDGET.half_width)


def test_bahdanau_with_and_without_attention_learns_from_short_and_from_longer_sentences():
    assert (SHORT, LONGER) == ((1, 2, 3), (1, 2, 3, 4, 5))
    for name, kind in (("no-attention", FixedContextDecoder), ("bahdanau", BahdanauDecoder)):
        assert type(VARIANTS[name].translator(0, SMALL).decoder) is kind
        assert (VARIANTS[name].clauses, VARIANTS[f"{name}-longer"].clauses) == (SHORT, LONGER)


def test_the_chain_goes_from_bahdanau_to_luong():
    decoders = [VARIANTS[name].translator(0, SMALL).decoder for name in CHAIN]
    assert [type(d) for d in decoders] == [BahdanauDecoder, *[HybridDecoder] * 3, LuongDecoder]
    assert [type(d.align.score) for d in decoders] == [Additive, Additive, Additive, General, General]
    assert [type(getattr(d, "cell", None)) for d in decoders[1:4]] == [torch.nn.GRUCell, *[torch.nn.LSTMCell] * 2]
    assert decoders[-1].input_feeding


def test_half_widths_from_1_to_10():
    widths = [VARIANTS[half_width_row(D)].translator(0, SMALL).decoder.align.window.half_width for D in range(1, 11)]
    assert widths == [*range(1, 11)]
    assert half_width_row(BUDGET.half_width) == "local-p-general"
    assert {len(VARIANTS[half_width_row(D)].seeds) for D in range(1, 11)} == {3, 5}


def test_each_other_row_has_five_seeds():
    widths = {half_width_row(D) for D in range(1, 11)} - {"local-p-general"}
    assert {len(set(v.seeds)) for name, v in VARIANTS.items() if name not in widths} == {5}
    assert all(name == variant.name for name, variant in VARIANTS.items())


def test_a_seed_decides_weights_and_sentences():
    variant = VARIANTS["global-dot"]
    first, again, other = (variant.translator(seed, SMALL).state_dict() for seed in (0, 0, 1))
    torch.testing.assert_close(first, again)
    assert not torch.equal(first["decoder.W_y"], other["decoder.W_y"])
    assert variant.training_pairs(0, SMALL) == variant.training_pairs(0, SMALL) != variant.training_pairs(1, SMALL)


def test_no_test_sentence_is_learnt_from():
    """The shortest are the likeliest to be drawn twice."""
    variant = replace(VARIANTS["bahdanau"], clauses=(1,))
    test = {pair.source for pair in held_out(1)}
    learnt = {pair.source for pair in variant.training_pairs(0, Budget(pairs=3000))}
    assert len(test) > 90
    assert len(learnt) < 3000, "some are drawn twice"
    assert test.isdisjoint(learnt)


def test_the_vocabularies_know_every_word():
    source, target = vocabularies()
    for clauses in (1, 5, 8):
        for pair in held_out(clauses):
            assert source.decode(source.encode(pair.source)) == pair.source
            assert target.decode(target.encode(pair.target)) == pair.target


def test_settings_tell_rows_apart():
    settings = [str(variant.settings()) for variant in VARIANTS.values()]
    assert len(set(settings)) == len(settings)
    assert str(VARIANTS["bahdanau"].settings(SMALL)) != str(VARIANTS["bahdanau"].settings())


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: Variant("other", step_first, {"score": "cosine"}).translator(0), "score is .cosine."),
        (lambda: VARIANTS["bahdanau"].training_pairs(0, Budget(pairs=0)), "n is 0; expected at least 1"),
        (lambda: held_out(0), r"clauses is \(0,\); expected one or more numbers, each at least 1"),
    ],
)
def test_what_no_model_can_be_made_of_is_refused(refused, call, says):
    refused(call, ValueError, says)
