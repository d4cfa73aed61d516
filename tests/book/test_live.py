"""Live cards in pages: the same from a stored output and from one that was just computed, with the weights apart."""

import json
from types import SimpleNamespace

import pytest
from sphinx.errors import ExtensionError

from attnlib import pictures, pretrained
from attnlib.pictures.live_card import script, without_carried
from attnlib.translator import rnn_search
from bookext import live


@pytest.fixture(scope="module")
def translator():
    return pretrained.load("global").translator


@pytest.fixture(scope="module")
def card(translator) -> str:
    return pictures.live({"global": translator}).html


def placed(folder, body: str) -> str:
    context = {"body": body}
    live.place(SimpleNamespace(outdir=folder), "page", "page.html", context, None)
    return context["body"]


def test_a_page_has_the_script_and_the_weights_lie_beside_it(card, tmp_path):
    page = placed(tmp_path, f"<p>Before</p>{card}<p>After</p>")
    assert page == placed(tmp_path, f"<p>Before</p>{without_carried(card)}<p>After</p>")
    assert 'json" data-model=' not in page
    assert script() in page
    assert (page[:13], page[-12:]) == ("<p>Before</p>", "<p>After</p>")
    (path,) = (tmp_path / "_static" / "models").iterdir()
    assert f'"digest":"{path.stem}"' in page
    name, _, held = path.read_text("utf-8").removesuffix(";\n").partition(" = ")
    assert name == f"(window.attnlibPacked ??= {{}})['{path.stem}']"
    assert f"{held}</script>" in card
    assert json.loads(held)["parts"]["decoder"] == "LuongDecoder"


def test_a_page_has_the_script_once(card, tmp_path):
    page = placed(tmp_path, card + "<p>Between</p>" + card)
    assert page.count(script()) == 1
    assert page.endswith("<script>attnlibLive()</script>\n")


def test_a_model_of_which_there_are_no_weights_is_an_error(translator, tmp_path):
    other = rnn_search(translator.source_vocabulary, translator.target_vocabulary, emb=4, hid=4)
    stored = without_carried(pictures.live({"other": other}).html)
    with pytest.raises(ExtensionError, match="page: a live card shows a model that is none of the pretrained ones"):
        placed(tmp_path, stored)


def test_other_pages_stay_as_they_are(tmp_path):
    assert placed(tmp_path, "<p>Text</p>") == "<p>Text</p>"
