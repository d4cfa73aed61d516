"""Tables as a cell shows them, what all cards have in common, and what they refuse."""

from functools import cache

import numpy as np
import pytest
import torch
from hatchling.builders.wheel import WheelBuilder
from lxml import html

from attnbook import load_pretrained
from attnbook.cards import Question, attention_demo, attention_explorer, query_plane, score_matrix, step_player, table
from attnbook.cards.card import Card, two_decimals
from attnbook.figures import plot_alignment
from attnlib import Vocabulary, luong

HEAD = ["model", "exact", "runs"]
ROWS = [("<a> & b", 0.125, 5), ("longer", 1.0, 10)]


def test_html_holds_each_cell_under_its_heading():
    shown = html.fromstring(table(HEAD, ROWS)._repr_html_())
    assert [cell.text for cell in shown.xpath("//th[@scope='col']")] == HEAD
    assert [cell.text for cell in shown.xpath("//th[@scope='row']")] == ["<a> & b", "longer"]
    cells = [[cell.text for cell in row.xpath("td")] for row in shown.xpath("//tbody/tr")]
    assert cells == [["0.12", "5"], ["1.00", "10"]]


def test_numbers_of_every_library_have_two_decimals_and_no_zero_is_negative():
    halves = torch.tensor(1 / 3), torch.tensor(0.5).bfloat16()
    row = [np.float32(1 / 3), *halves, -0.001, -0.0, np.int64(3), torch.tensor(3)]
    shown = repr(table([*"abcdefgh"], [("x", *row)])).split()[8:]
    assert shown == ["x", "0.33", "0.33", "0.50", "0.00", "0.00", "3", "3"]


def test_text_has_straight_columns():
    assert repr(table(HEAD, ROWS)).splitlines() == [
        "model    exact  runs",
        "<a> & b   0.12     5",
        "longer    1.00    10",
    ]


@pytest.mark.parametrize(("number", "text"), [(0.125, "0.13"), (0.285, "0.28"), (0.994, "0.99"), (2, "2.00")])
def test_two_decimals_round_a_half_up(number, text):
    assert two_decimals(number) == text


def test_scripts_and_styles_are_in_the_wheel(root):
    packed = {file.distribution_path for file in WheelBuilder(str(root)).recurse_included_files()}
    kinds = ("cards", "demo", "light", "plane", "player")
    assert {f"attnbook/cards/{kind}.{ending}" for kind in kinds for ending in ("css", "js")} <= packed
    assert {"attnbook/cards/equations.json", "attnbook/cards/models.js", "attntext/page.js"} <= packed


EYE, ABC = np.eye(3), ["a", "b", "c"]
POINTS = {"query": np.ones(2), "keys": np.eye(2), "values": np.eye(2), "words": ["a", "b"]}
model = cache(load_pretrained)


def demo(sentence="a cat sings", tried=None, **more) -> Card:
    question = None if tried is None else Question("?", ABC, 0, "", tried)
    return attention_demo({"a": model("bahdanau")}, sentence, question=question, **more)


def player(sentence="a cat sings", name="bahdanau", **more) -> Card:
    return step_player({"a": model(name)}, sentence, **more)


def test_without_scripts_a_translation_has_a_table_of_its_weights():
    weights = np.array([[0.75, 0.25, 0], [0, 0, 1]])
    shown = html.fromstring(attention_explorer({"t": weights}, ABC, ["<x>", "y"]).html)
    assert [cell.text for cell in shown.xpath("//th")] == [*ABC, "<x>", "y"]
    assert [cell.text for cell in shown.xpath("//td[@style]")] == ["0.75", "0.25", "0.00", "0.00", "0.00", "1.00"]


def plane(**change) -> Card:
    return query_plane(**(POINTS | change))


def two_vocabularies() -> Card:
    other = Vocabulary(("a", "b"))
    return attention_demo({"a": model("bahdanau"), "b": luong(other, other)})


def asked() -> Card:
    tried = {"query": "x", "key": "a", "weight": 1}
    return score_matrix(EYE, EYE, ABC, ABC, question=Question("?", ABC, 0, "", tried))


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: table(HEAD, [("a", 1, 2), ("a", 1)]), r"rows\[1\] has 2 cells; expected 3, as many as"),
        (lambda: table([], [()]), r"rows\[0\] has 0 cells; expected 0, as many as head, at least one"),
        (lambda: Question("?", ["a"], 1, "", {}), "right is 1; expected the position of one of 1 choices"),
        (lambda: attention_demo({}), "models holds 0 models; expected one model, or up to 2"),
        (two_vocabularies, "models have different vocabularies; expected the same words"),
        (lambda: demo("the pink cat"), "sentence holds 'pink'; expected words that the models know"),
        (lambda: demo(step=4), "step is 4; expected a number from 0 to 3"),
        (lambda: demo(tried={"hidden": ["x"]}), "question.tried names 'x'; expected a word of"),
        (lambda: demo(tried={}), "question.tried is {}; expected target and source"),
        (lambda: attention_explorer({}, ABC, ABC), "weights is empty; expected weights for at least one title"),
        (lambda: attention_explorer({"a": EYE}, ABC, {"b": ABC}), "target has no words for 'a'"),
        (lambda: attention_explorer({"a": -EYE}, ABC, ABC), r"weights\['a'\] holds -1; expected weights from 0 to 1"),
        (lambda: plot_alignment(EYE, ["a"], ABC), r"weights has shape \(3, 3\); expected \(3, 1\), \(target words"),
        (lambda: plot_alignment(np.ones((0, 3)), ABC, []), r"weights has shape \(0, 3\); .* none of them 0"),
        (lambda: plot_alignment(EYE * np.nan, ABC, ABC), "weights holds nan; expected finite numbers"),
        (lambda: plot_alignment(EYE, ABC, "abc"), "TypeError: target is the string 'abc'; expected"),
        (lambda: plane(query=np.array([3.0, 1])), "the length of query holds 3.16228; expected at most 3"),
        (lambda: plane(keys=3 * np.eye(2)), "the length of keys holds 3; expected at most 2.8"),
        (lambda: plane(keys=EYE), r"keys has shape \(3, 3\); expected \(2, 2\), two features for each word"),
        (lambda: plane(question=Question("?", ABC, 0, "", {})), "question.tried is {}; expected length"),
        (lambda: score_matrix(5 * EYE, EYE, ABC, ABC), "matrix holds 5; expected numbers from -4 to 4"),
        (lambda: score_matrix(EYE, EYE, ABC, ["a"]), r"matrix has shape \(3, 3\); expected \(1, 1\), a row and a"),
        (asked, "query is 'x'; expected one of a, b, c"),
        (lambda: plane(words=["a"] * 8), "words has 8 words; expected at most 7"),
        (lambda: player("the black cat that sleeps sees the big black dog"), "sentence has 10 words; expected 1 to 9"),
        (lambda: player(previous=["le", "xyz"]), "previous holds 'xyz'; expected target words"),
        (lambda: player(step=3), "step is 3; expected a number from 0 to"),
        (lambda: player(name="local-p"), r"models\['a'\] has a LuongDecoder with other equations; expected"),
    ],
)
def test_what_does_not_fit_is_refused(call, says, refused):
    refused(call, says)
