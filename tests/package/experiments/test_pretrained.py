"""The pretrained models: what their recipes make, exact in float64, where the record's runs lie, and small."""

import pytest
import torch
from recipes import RECIPES, TEXTS
from safetensors.torch import load_file
from scipy import stats

from attnbook import load_pretrained, pretrained
from attnbook.experiments import Recording, compute_metrics, predict, read_plan
from attnbook.pretrained.folder import load_history
from attntext import evaluation

RUNS = Recording("world").runs().query("clauses == 3").groupby("model")
MEASURED = [name for name, recipe in RECIPES.items() if recipe.steps == 3000 and RUNS.size().get(recipe.row, 0) > 2]


@pytest.mark.parametrize("name", [*RECIPES, *TEXTS])
def test_each_model_is_of_the_present_recipe_and_computes_exactly_with_what_is_stored(name):
    model, recipe = load_pretrained(name), (RECIPES | TEXTS)[name]
    for part, wanted in recipe.config().items():
        assert {key: model.config[part][key] for key in wanted} == wanted
    stored = load_file(pretrained.FOLDER / name / "model.safetensors")
    weights = model.state_dict()
    assert {x.dtype for x in stored.values()} == {torch.float16}
    assert {x.dtype for x in weights.values()} == {torch.float64}
    assert all(torch.equal(weights[key], x.double()) for key, x in stored.items())
    assert not any(w.requires_grad for w in model.parameters())


@pytest.mark.parametrize("name", MEASURED)
def test_its_measures_lie_where_another_run_of_its_row_would(name):
    recipe = RECIPES[name]
    config, runs = read_plan(recipe.plan).configs[recipe.row], RUNS.get_group(recipe.row)
    assert recipe.seed not in config.seeds
    predictions = predict(load_pretrained(name), config.test_sentences(3), beam_size=1)
    for metric in ("exact_match", "perplexity"):
        away = abs(compute_metrics(predictions)[metric] - runs[metric].mean())
        assert away <= stats.t.ppf(0.995, len(runs) - 1) * runs[metric].std() * (1 + 1 / len(runs)) ** 0.5, metric


@pytest.mark.parametrize("name", TEXTS)
def test_of_a_text_half_the_bytes_translate_as_well(name):
    dev = [pair[:2] for pair in TEXTS[name].text()[1]]
    score = evaluation.evaluate(load_pretrained(name), dev, beam_size=1, tokenize="none").bleu
    history = load_history(pretrained.FOLDER / name)
    assert score == pytest.approx(max(line.get("dev_bleu", 0) for line in history), abs=1)


def test_nothing_else_is_there_and_all_are_small():
    assert {*pretrained.names()} == {*RECIPES, *TEXTS}
    assert sum(path.stat().st_size for path in pretrained.FOLDER.rglob("*") if path.is_file()) < 8_000_000


def test_a_name_that_is_not_there_is_refused(refused):
    refused(lambda: load_pretrained("bahdanov"), "^name is 'bahdanov'; expected one of bahdanau,")
