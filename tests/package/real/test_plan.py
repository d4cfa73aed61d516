"""The plan: what its rows differ in, and that all get the same."""

from dataclasses import asdict

import pytest

from attnlib.data import Vocabulary
from attnlib.real.captions import LANGUAGES, captions
from attnlib.real.plan import EFFORT, ROWS, RUNS, TextRow
from attnlib.text.checkpoint import PRESETS
from attnlib.text.settings import Settings

LUONG = ("dot", "concat", "location", "no-feeding", "local-m", "local-p", "local-p-D2", "luong-both", "french-luong")


def told(name: str) -> dict:
    row = ROWS[name]
    with_defaults = {"window": "everywhere", "input_feeding": True, "half_width": 10} | row.options
    return {
        "preset": row.preset,
        "language": row.language,
        "pairs": row.pairs,
        "subwords": row.subwords,
    } | with_defaults


def differences(one: str, other: str) -> set[str]:
    return {key for key in told(one) | told(other) if told(one).get(key) != told(other).get(key)}


@pytest.mark.parametrize("name", LUONG)
def test_a_row_differs_from_luong_in_one_thing(name):
    assert len(differences("luong", name) - {"half_width"}) == 1


def test_a_window_that_stays_misses_more_of_the_german_links_than_of_the_french():
    D, shares = ROWS["local-m"].options["half_width"], {}
    for language in LANGUAGES:
        away = [abs(i - t) for caption in captions(language) for i, t in caption.gold.sure]
        shares[language] = round(sum(d <= D for d in away) / len(away), 2)
    assert ROWS["french-local-m"].options["half_width"] == D
    assert shares == {"german": 0.84, "french": 0.94}


def test_the_other_rows_differ_in_one_thing_too():
    pairs = [("local-p", "local-p-D2"), ("luong-both", "subwords"), ("bahdanau", "french-bahdanau")]
    pairs += [(f"french-{name}", name) for name in ("local-m", "local-p")]
    pairs += [(name, f"{name}-{n}") for name in ("no-attention", "bahdanau") for n in (1000, 3000, 10000)]
    assert {len(differences(*pair)) for pair in pairs} == {1}


def test_every_run_has_one_place_and_all_have_one_budget():
    assert len(RUNS) == len({*RUNS}) == sum(len(row.seeds) for row in ROWS.values()) == 45
    own = {"preset", "options", "subwords", "seed", "learning_rate"}
    shared = [{k: v for k, v in asdict(ROWS[name].settings(seed)).items() if k not in own} for name, seed in RUNS]
    assert all(settings == shared[0] for settings in shared)
    assert (shared[0]["steps"], shared[0]["score_every"]) == (EFFORT.steps, EFFORT.score_every)
    usual = {name for name, row in ROWS.items() if row.settings(0).learning_rate == Settings.learning_rate}
    assert ROWS.keys() - usual == {"transformer"}
    assert {ROWS[name].settings(seed).options["seed"] for name, seed in RUNS} == {0, 1, 2}


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_every_row_is_a_model(row: TextRow):
    few = Vocabulary(("a", "b"))
    assert PRESETS[row.preset](few, few, **row.settings(0).options)
