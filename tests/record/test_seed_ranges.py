"""Where words attend to and what interventions change: by hand, by identities, and beside the tables."""

import numpy as np
import pandas as pd
import pytest
import torch
from interventions import changed, hiding, replacements
from recipes import RECIPES
from seed_ranges import adjectives, measure, neighbors, word_classes
from tables import is_recorded, replace_lines

from attnlib import load_pretrained
from attnlib.data import collate
from attnlib.experiments.runs import read_table
from attnlib.language import phrases

PAIR = phrases.clause(
    phrases.noun_phrase("the cat"), "see", phrases.noun_phrase("the european economic area"), negated=True
)
"""The cat does not see the european economic area: le chat ne voit pas la zone économique européenne."""


def attending_to(*positions):
    return [{(i, t) for t, i in enumerate(positions)}]


def test_words_are_linked_right_or_beside():
    links = attending_to(0, 2, 3, 4, 3, 0, 7, 7, 8)
    shares = {"right": 5, "one_left": 1, "one_right": 1, "same_word": 1, "other_word": 1}
    assert neighbors([PAIR], links) == {f"linked_{kind}": n / 9 for kind, n in shares.items()}


def test_adjectives_after_their_noun_attend_to_themselves_or_to_the_noun():
    assert PAIR.target[6:] == ("zone", "économique", "européenne")
    own = adjectives([PAIR], attending_to(0, 1, 3, 4, 3, 5, 8, 7, 6))
    assert own == {"adjectives": 2, "on_adjective": 1, "on_noun_or_beyond": 0}
    half = adjectives([PAIR], attending_to(0, 1, 3, 4, 3, 5, 8, 8, 6))
    assert half == {"adjectives": 2, "on_adjective": 0.5, "on_noun_or_beyond": 0.5}


def test_words_are_counted_by_class_and_side():
    lines = word_classes([PAIR], attending_to(1, 1, 2, 4, 4, 4, 8, 8, 8))
    columns = "words", "on_gold_link", "left_of_it", "right_of_it"
    sides = {line["word_class"]: [line[name] for name in columns] for line in lines}
    assert sides == {
        "first article": [1, 0, 0, 1],
        "later article": [1, 0, 1, 0],
        "ne": [1, 0, 1, 0],
        "pas": [1, 0, 0, 1],
        "adjective after its noun": [2, 0, 0, 2],
        "other": [3, 3, 0, 0],
    }


@pytest.fixture(scope="module")
def bahdanau():
    return load_pretrained("bahdanau")


def test_no_change_changes_nothing(bahdanau):
    read = collate([PAIR], bahdanau.source_vocabulary, bahdanau.target_vocabulary)
    expected = bahdanau(*read).logits
    with changed(bahdanau, lambda alpha, mask: alpha):
        assert torch.allclose(bahdanau(*read).logits, expected)
    with changed(bahdanau, hiding(3)):
        assert not torch.allclose(bahdanau(*read).logits, expected)
    assert torch.equal(bahdanau(*read).logits, expected), "the change is taken back"


def test_replaced_weights_are_what_their_names_say():
    alpha = torch.tensor([[[0.5, 0.3, 0.2, 0.0]]], dtype=torch.float64)
    mask = torch.tensor([[[True, True, True, False]]])
    new = {name: change(alpha, mask) for name, change in replacements(np.random.default_rng(0)).items()}
    assert sorted(new["shuffled"].ravel().tolist()) == [0.0, 0.2, 0.3, 0.5]
    assert new["shuffled"][..., 3] == 0, "padding stays without weight"
    assert torch.allclose(new["even"], torch.tensor([1 / 3, 1 / 3, 1 / 3, 0], dtype=torch.float64))
    assert torch.allclose(new["without the greatest"], torch.tensor([0, 0.6, 0.4, 0], dtype=torch.float64))
    assert not new["blind"].any()
    assert torch.allclose(hiding(1)(alpha, mask), torch.tensor([5 / 7, 0, 2 / 7, 0], dtype=torch.float64))


@pytest.mark.parametrize("name", ["global", "bahdanau"])
def test_the_pretrained_models_lines_are_in_the_tables(name, request):
    """Shares are those of hundreds of words, of which another processor may move one or two."""
    lines = measure(name, load_pretrained(name))
    for table, measured in lines.items():
        recorded = read_table(f"seed_ranges.{table}".removesuffix("."))
        recorded = recorded[(recorded.model == name) & recorded.pretrained].reset_index(drop=True)
        expected = pd.DataFrame(measured)
        assert {*recorded.seed} == {RECIPES[name].seed}
        pd.testing.assert_frame_equal(recorded[[*expected]], expected, atol=0.006, rtol=0.02, check_dtype=False)


def test_a_runs_lines_replace_those_that_it_had(tmp_path):
    for value in (1.0, 2.00001):
        for name in ("global", "local-m"):
            tables = {"": [{"x": value}], "more": [{"y": value, "kind": k} for k in "ab"]}
            replace_lines(tables, "some", tmp_path, model=name, seed=10)
    main, more = read_table("some", tmp_path), read_table("some.more", tmp_path)
    assert main.to_dict("list") == {"model": ["global", "local-m"], "seed": [10, 10], "x": [2.0, 2.0]}
    assert more.kind.tolist() == [*"abab"]
    assert set(more.y) == {2.0}
    assert is_recorded("some", tmp_path, model="global", seed=10)
    assert not is_recorded("some", tmp_path, model="global", seed=11)
    assert not is_recorded("other", tmp_path, model="global")
