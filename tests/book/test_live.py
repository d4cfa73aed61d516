"""Cards in pages: the same from a stored output and from one that was just computed, with the weights apart."""

from types import SimpleNamespace

import numpy as np
import pytest
from sphinx.errors import ExtensionError

from attnbook import load_pretrained
from attnbook.cards import attention_demo, attention_explorer, query_plane, step_player
from attnbook.cards.card import read_assets, without_assets
from attnlib.presets import rnn_search
from bookext import live


@pytest.fixture(scope="module")
def translator():
    return load_pretrained("global")


@pytest.fixture(scope="module")
def card(translator) -> str:
    return attention_demo({"global": translator}).html


def placed(folder, body: str) -> str:
    context = {"body": body}
    live.place(SimpleNamespace(outdir=folder), "page", "page.html", context, None)
    return context["body"]


def script(name: str) -> str:
    return read_assets([name], "js")


def test_a_stored_and_a_computed_card_become_the_same(card, tmp_path):
    page = placed(tmp_path, f"<p>Before</p>{card}<p>After</p>")
    assert page == placed(tmp_path, f"<p>Before</p>{without_assets(card)}<p>After</p>")
    assert 'json" data-model=' not in page
    assert (page[:13], page[-12:]) == ("<p>Before</p>", "<p>After</p>")


def test_a_page_has_each_script_and_style_once_beside_the_first_card_that_needs_it(card, translator, tmp_path):
    explorer = attention_explorer({"a": np.eye(2)}, ["a", "b"], ["c", "d"]).html
    player = step_player({"L": translator}, "a cat sings").html
    plane = query_plane(np.ones(2), np.eye(2), np.eye(2), ["a", "b"]).html
    page = placed(tmp_path, "<p>1</p>".join([explorer, card, player, plane, card]))
    first, second, third, fourth, last = page.split("<p>1</p>")
    where = {"cards": first, "demo": first, "models": second, "player": third, "plane": fourth}
    for name, text in where.items():
        assert script(name) in text
        assert page.count(script(name)) == 1, name
        assert page.count(read_assets([name], "css")) == 1 or name == "models"
    assert last.endswith("</div>\n<script>\nattnlibCards.scan()</script>\n")
    assert len([*(tmp_path / "_static" / "models").iterdir()]) == 1


def test_a_model_of_which_there_are_no_weights_is_an_error(translator, tmp_path):
    other = rnn_search(translator.source_vocabulary, translator.target_vocabulary, embedding_dim=4, hidden_size=4)
    stored = without_assets(attention_demo({"other": other}).html)
    with pytest.raises(ExtensionError, match="page: a card shows a model that is none of the pretrained ones"):
        placed(tmp_path, stored)
