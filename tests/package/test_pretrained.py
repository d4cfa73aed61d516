"""The models that came with the book: each is of its recipe's present configuration, and as good as it was."""

import json
from dataclasses import replace

import pytest

from attnlib import pretrained
from attnlib.pretrained.recipes import TEXTS, make
from attnlib.text.evaluation import evaluate


@pytest.mark.parametrize("name", TEXTS)
def test_a_text_is_learned_from_by_todays_recipe(name):
    config, wanted = pretrained.load(name).config, TEXTS[name].config()
    assert all(wanted[part].items() <= config[part].items() for part in ("settings", "text", "made"))


@pytest.mark.parametrize("name", TEXTS)
def test_half_the_bytes_keep_what_a_text_has_taught(name):
    model, (_, dev) = pretrained.load(name), TEXTS[name].text()
    scores = evaluate(model, [pair[:2] for pair in dev], beam=1, tokenize="none")
    history = (pretrained.FOLDER / name / "history.jsonl").read_text("utf-8").splitlines()
    best = max(json.loads(line).get("dev_bleu", 0) for line in history)
    assert scores.bleu == pytest.approx(best, abs=1)
    assert model.config["made"]["revision"]


def test_a_text_is_learned_from_once(tmp_path, monkeypatch):
    (name, recipe), said = next(iter(TEXTS.items())), []
    settings = replace(recipe.settings, epochs=1, vocabulary=60)
    monkeypatch.setattr("attnlib.pretrained.recipes.RECIPES", {})
    monkeypatch.setattr("attnlib.pretrained.recipes.TEXTS", {name: recipe._replace(pairs=20, dev=2, settings=settings)})
    make(tmp_path, said.append)
    weights = (tmp_path / name / "model.safetensors").read_bytes()
    make(tmp_path, said.append)
    assert said == [f"training {name}"]
    assert (tmp_path / name / "model.safetensors").read_bytes() == weights
    monkeypatch.setattr("attnlib.pretrained.recipes.TEXTS", {name: recipe})
    with pytest.raises(ValueError, match="another recipe; remove it"):
        make(tmp_path, said.append)
