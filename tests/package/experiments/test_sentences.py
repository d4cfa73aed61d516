"""Runs on a text: measured, and with nothing of the text in them."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch
from ibm_model_1 import count_words
from recording import list_jobs, record, run_job
from sentences import check_text, read_data
from tables import write_lines

from attnbook import load, sample
from attnbook.experiments import Recording, read_table
from attnbook.experiments.captions import load_caption_outputs, load_captions, load_word_counts
from attnlib import translate_all
from attnlib.metrics import attention_weights
from attntext.evaluation import evaluate

from .conftest import FEW

HOW = {name: FEW[name] for name in ("beam_size", "max_length")}
WANTED = ("bahdanau", "no-attention", "subwords")


def sides(pairs):
    return [pair[:2] for pair in pairs]


@pytest.mark.parametrize("language", ["german", "french"])
def test_each_part_is_read_and_marks_are_what_they_stand_for(text_folder, language):
    text = read_data(text_folder, language)
    assert [len(part) for part in text] == [60, 6, 5]
    assert sides(text.train) == sides(sample(60, seed=0, clauses=(1,)))
    assert any("l'" in pair.target for pair in text.train)


def test_a_pair_with_an_empty_side_is_left_out(tmp_path):
    for name in ("train", "val", "test_2017_flickr"):
        (tmp_path / f"{name}.en").write_text("a &quot; b &amp;\n\nc\n")
        (tmp_path / f"{name}.fr").write_text("A\nB\nC\n")
    assert sides(read_data(tmp_path, "french").dev) == [(("a", '"', "b", "&"), ("A",)), (("c",), ("C",))]


@pytest.fixture(scope="module")
def models(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("models")


@pytest.fixture(scope="module")
def folder(sentences, text_folder, models, tmp_path_factory) -> Path:
    """Record the runs of three models."""
    folder = tmp_path_factory.mktemp("runs")
    run = partial(run_job, data=text_folder, models=models, device=torch.device("cpu"))
    assert record([sentences], folder, models, run, only=WANTED, log=str, start=ThreadPoolExecutor) == []
    return folder


def recorded(plan, folder):
    return {(run["model"], run["seed"]) for run in Recording(plan, folder).details}


def details_of(plan, folder, model, seed=0):
    return next(run for run in Recording(plan, folder).details if (run["model"], run["seed"]) == (model, seed))


def test_a_run_says_how_it_was_made_and_what_came_of_it(sentences, folder, models, text_folder):
    assert recorded(sentences, folder) == {(name, n) for name in WANTED for n in sentences.configs[name].seeds}
    details = details_of(sentences, folder, "bahdanau")
    assert {details["environment"]} == {*read_table("sentences.environments", folder)["id"]}
    assert [step for step, *_ in details["dev"]] == [2, 3]
    runs = Recording(sentences, folder).runs().set_index(["model", "seed", "test_set"]).loc["bahdanau", 0, "test"]
    test, model = read_data(text_folder, "german").test, load(models / "sentences.bahdanau.0")
    evaluation, copied = evaluate(model, sides(test), **HOW), evaluate(model, sides(test), **HOW, replace_unknown=True)
    scores = {"bleu_beam": evaluation.bleu, "bleu_beam_copied": copied.bleu}
    assert runs[[*scores]].to_dict() == pytest.approx(scores, abs=1e-4)
    assert details["signatures"] == list(evaluation.signatures)
    by_words = Recording(sentences, folder).runs("words").query("model == 'bahdanau' and seed == 0")
    assert runs["sentences"] == by_words["sentences"].sum() == 5
    assert runs["perplexity"] > 1


def test_the_words_of_our_captions_are_counted_in_the_text(text_folder, tmp_path):
    train = read_data(text_folder, "german").train
    write_lines(count_words("german", train), "sentences.word_counts", tmp_path)
    english, german = load_word_counts("german", tmp_path)
    assert english["the"] == sum(word == "the" for pair in train for word in pair.source) > 0
    assert english["umbrella"] == 0 == german["regenschirm"]
    assert {*german} == {word for caption in load_captions("german") for word in caption.pair.target}


def test_our_captions_are_translated_and_looked_at(sentences, folder, models):
    runs, ours = Recording(sentences, folder).runs().query("test_set == 'captions'"), load_captions("german")
    run, model = runs.set_index("model").loc["subwords"], load(models / "sentences.subwords.0")
    evaluation = evaluate(model, [c.pair[:2] for c in ours], **HOW, gold=[c.gold for c in ours])
    assert run["alignment_error_rate"] == pytest.approx(evaluation.alignment_error_rate, abs=1e-4)
    assert run["bleu_beam"] == pytest.approx(evaluation.bleu, abs=1e-4)
    again = translate_all(model, [c.pair.source for c in ours], **HOW)
    for output, other, caption in zip(load_caption_outputs("subwords", folder), again, ours, strict=True):
        assert output.translation[:2] == other[:2]
        assert np.allclose(output.translation.weights, other.weights, atol=0.00501)
        assert output.translation.probability == pytest.approx(other.probability, rel=1e-3)
        assert np.allclose(output.forced_attention, attention_weights(model, caption.pair), atol=0.00501)


def test_without_attention_there_is_nothing_to_look_at(sentences, folder):
    runs = Recording(sentences, folder).runs().query("model == 'no-attention'")
    assert runs[["bleu_beam_copied", "alignment_error_rate"]].isna().all(axis=None)
    outputs = load_caption_outputs("no-attention", folder)
    assert {(output.translation.weights, output.forced_attention) for output in outputs} == {(None, None)}
    assert details_of(sentences, folder, "no-attention", 1)["translations"] is None, "of other seeds none are kept"


def test_no_sentence_of_the_text_is_in_a_record(folder, text_folder):
    lines = {" ".join(side) for part in read_data(text_folder, "german") for pair in part for side in pair[:2]}
    for path in folder.glob("[a-z]*"):
        assert not [line for line in lines if line in path.read_text("utf-8")]


def test_another_text_than_that_of_the_recorded_runs_is_refused(sentences, folder, text_folder, tmp_path):
    recording, left = Recording(sentences, folder), list_jobs(sentences, folder)
    assert {job.config.name for job in left}.isdisjoint(WANTED)
    check_text(recording, left, text_folder)
    for name in ("train", "val", "test_2017_flickr"):
        for ending in ("en", "de", "fr"):
            (tmp_path / f"{name}.{ending}").write_text("a\nb\n")
    with pytest.raises(ValueError, match="another text than no-attention, seed 0, is recorded with; expected the same"):
        check_text(recording, left, tmp_path)
    with pytest.raises(ValueError, match=r"which lacks train\.lc\.norm\.tok\.en, "):
        check_text(recording, left, tmp_path / "nowhere")
    check_text(recording, [], tmp_path / "nowhere")
