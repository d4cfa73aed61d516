"""Probes: what changes a result changes them, and what only rounds otherwise does not."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import torch

from attnlib import search, windows
from attnlib.alignment import Align
from attnlib.decoders import BahdanauDecoder
from attnlib.experiments.plan import read_plan
from attnlib.experiments.probe import agree, probe
from attnlib.experiments.records import Ledger

LEDGER = Ledger(read_plan("comparison"))


def same(name: str) -> bool:
    """Say whether the probe of this code is the recorded one."""
    recorded = LEDGER.read(name)["probe"]
    return agree(recorded, probe(LEDGER.plan.rows[name].variant, recorded["sentences"]))


def look_at_padding(patch: pytest.MonkeyPatch) -> None:
    remember = Align.remember

    def forgetful(self: Align, *arguments: Any) -> Any:
        memory = remember(self, *arguments)
        return memory._replace(mask=torch.ones_like(memory.mask))

    patch.setattr(Align, "remember", forgetful)


def turn_the_gaussian_over(patch: pytest.MonkeyPatch) -> None:
    gaussian = windows.gaussian
    patch.setattr(windows, "gaussian", lambda *arguments: 1 / gaussian(*arguments))


def read_the_new_state(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(BahdanauDecoder, "reads_new_state", property(lambda _: True, lambda *_: None), raising=False)


def prefer_short_translations(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(search, "beam", partial(search.beam, length_penalty=0.0))


@pytest.mark.parametrize(
    ("bug", "changed", "unchanged"),
    [
        (look_at_padding, ["bahdanau", "global-dot", "global-location-feeding"], ["no-attention"]),
        (turn_the_gaussian_over, ["local-p-general", "local-p-dot-feeding"], ["local-m-dot", "global-dot"]),
        (read_the_new_state, ["bahdanau", "bahdanau-longer"], ["chain-readout", "chain-asks"]),
        (prefer_short_translations, ["local-m-concat", "local-p-general"], []),
    ],
)
def test_a_bug_is_noticed_where_it_matters_and_nowhere_else(monkeypatch, bug: Callable, changed, unchanged):
    bug(monkeypatch)
    assert {name: same(name) for name in (*changed, *unchanged)} == {
        **dict.fromkeys(changed, False),
        **dict.fromkeys(unchanged, True),
    }


def test_it_chooses_sentences_that_it_can_be_asked_for_again():
    variant = LEDGER.plan.rows["local-m-dot"].variant
    chosen = probe(variant)
    assert probe(variant, chosen["sentences"]) == chosen


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        ({"losses": [4.00001, 0.00001], "words": ["un"], "n": 3, "none": None}, True),
        ({"losses": [4.001, 0.0], "words": ["un"], "n": 3, "none": None}, False),
        ({"losses": [4.0, 0.001], "words": ["un"], "n": 3, "none": None}, False),
        ({"losses": [4.0], "words": ["un"], "n": 3, "none": None}, False),
        ({"losses": [4.0, 0.0], "words": ["une"], "n": 3, "none": None}, False),
        ({"losses": [4.0, 0.0], "words": ["un"], "n": 4, "none": None}, False),
        ({"losses": [4.0, 0.0], "words": ["un"], "n": 3, "none": 0.0}, False),
        ({"losses": [4.0, 0.0], "words": ["un"], "n": 3}, False),
        ({"losses": [4.0, float("nan")], "words": ["un"], "n": 3, "none": None}, False),
    ],
)
def test_numbers_may_differ_by_rounding_and_nothing_else_may(other, expected):
    assert agree({"losses": [4.0, 0.0], "words": ["un"], "n": 3, "none": None}, other) is expected
