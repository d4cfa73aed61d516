"""The text made from templates, and what the recorded runs say on the page "Your own text"."""

from pathlib import Path

from own_text import LOOKS, SCALED, TEXTS, settings_of, templates

from attnbook.experiments.runs import read_table
from attntext.settings import Architecture
from attntext.trainer import build_vocabularies

DOT, CONCAT, BAHDANAU = "--score dot", "--score concat", "--preset rnn_search"
TESTED = DOT + SCALED


def test_each_word_has_its_translation_and_the_parts_are_apart():
    text, words = templates(400, Path()), dict[str, set[str]]()
    assert [len(part) for part in (text.train, text.dev, text.test)] == [400, 60, 200]
    assert len({pair.source for pair in text.train + text.dev + text.test}) == 660
    for pair in text.train + text.test:
        assert sorted(t for _, t in pair.links) == [*range(len(pair.target))]
        for i, t in pair.links:
            words.setdefault(pair.source[i], set()).add(pair.target[t])
    assert words["the"] == {"el", "la"}
    assert words["black"] == {"negro", "negra"}
    assert words["teacher"] == {"maestra"}
    sizes = [
        len(build_vocabularies(text.train, settings_of("templates-400", options, 0))[1]) - 4
        for options in (DOT, "--score dot --words")
    ]
    assert sizes == [392, 51], "pieces and words"


def test_the_tables_are_as_the_page_says():
    assert Architecture().options()[1]["score"] == "concat"
    runs = read_table("own-text")
    assert not runs.duplicated(["text", "options", "seed"]).any()
    recorded = runs.groupby(["text", "options"]).size()
    for text, kind in TEXTS.items():
        assert (recorded[text][[*kind.options]] == kind.seeds).all(), "as many as the captions of the tables say"
    mean = runs.groupby(["text", "options"])[["bleu_beam", "alignment_error_rate"]].mean()
    bleu, error = mean["bleu_beam"], mean["alignment_error_rate"]
    assert bleu["templates-400"][[DOT, CONCAT]].min() > 95
    assert 0.4 < error["templates-400", DOT] < 0.6, "half"
    assert 0.14 < error["templates-400", CONCAT] < 0.2, "a sixth"
    assert bleu["templates-400-short", CONCAT] < 10
    assert error["templates-400", "--score dot --words"] < error["templates-400", DOT] / 3, "most"
    assert abs(error["templates-400", "--score concat --words"] - error["templates-400", CONCAT]) < 0.02, "none"
    for text in ("templates-400", "templates-4000"):
        assert error[text, "--score dot --words"] < error[text, CONCAT]
    for text in ("templates-400", "templates-4000", "toy"):
        of_subwords = error[text][~error[text].index.str.endswith("words")]
        assert of_subwords.idxmin() == CONCAT
    captions, links = bleu["captions"], error["captions"]
    close = captions.index[captions > captions.max() - 0.3]
    assert {*close} == {BAHDANAU, CONCAT}
    assert captions.idxmax() == BAHDANAU, "its lead"
    assert captions.max() - captions[DOT] < 0.35, "just outside"
    assert links[DOT] < links[CONCAT] < links[BAHDANAU]


def test_where_the_weights_lie_is_as_the_page_says():
    early = read_table("own-text.early")
    assert {*early["step"]} == {*LOOKS["own-text.early"].steps}
    assert (early.groupby(["options", "step"]).size() == 5).all()
    every = early.groupby(["options", "step"])[["the", "right"]]
    low, high, mean = every.min(), every.max(), every.mean()
    assert high.query("step == 1")["right"].max() < 0.12
    assert high.query("step == 1")["the"].max() < 0.3
    for options in (DOT, "--score general"):
        assert low.loc[(options, 20), "the"] > 0.99
        assert high.loc[(options, 20), "right"] < 0.13
        assert mean.loc[(options, 20), "right"] < 0.12, "hardly more than even weights"
        assert 0.4 < mean.loc[(options, 400), "right"] < 0.6
    assert 0.5 < mean.loc[(CONCAT, 20), "the"] < 0.7
    assert mean.loc[(CONCAT, 100), "the"] < 0.25, "as with even weights"
    assert low.loc[(CONCAT, 400), "right"] > 0.6
    assert mean.loc["--score dot --words"]["the"].between(0.2, 0.3).all()
    assert low.loc[("--score dot --words", 100), "right"] > 0.6


def test_states_grow_and_scores_move_apart_as_the_page_says():
    growth = read_table("own-text.growth")
    assert (growth.groupby(["options", "step"]).size() == 5).all()
    low, high = (
        growth[growth["step"] == 20].groupby("options")[["state", "scores"]].agg(kind) for kind in ("min", "max")
    )
    assert low.loc[CONCAT, "state"] > 0.95 * low.loc[DOT, "state"], "as much"
    assert high.loc["--score dot --words", "state"] < low.loc[DOT, "state"] / 2, "less"
    assert low.loc[[DOT, "--score general"], "scores"].min() > 4 * high.loc[CONCAT, "scores"], "far apart"


def test_scaling_helps_the_dot_score_as_the_page_says():
    early = read_table("own-text.early").set_index(["options", "step"]).sort_index()
    scaled, dot = early.loc[(TESTED, 400)], early.loc[(DOT, 400)]
    assert early.loc[(TESTED, 20), "the"].max() < 0.5, "the first expectation"
    assert scaled["right"].mean() < dot["right"].mean(), "not the second"
    assert f"{scaled['largest'].mean():.2f} {dot['largest'].mean():.2f}" == "0.56 0.92"
    assert scaled["the"].max() < 0.1, "almost none"
    growth = read_table("own-text.growth").query("step == 20").groupby("options")["scores"]
    assert growth.max()[TESTED] < growth.min()[CONCAT], "closer together"
    new, old = read_table("own-text.scaled"), read_table("own-text")
    assert (new.groupby("options").size() == 5).all()
    assert not {*new["seed"]} & {*old["seed"]}
    error = new.pivot_table("alignment_error_rate", "seed", "options")
    gain = error[DOT] - error[TESTED]
    assert f"{gain.mean():.2f} {(gain > 0).sum()}" == "0.19 4"
    assert error[CONCAT].mean() < error[TESTED].mean()
