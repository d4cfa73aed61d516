"""Runs on a text: recorded once, gone on with, measured, and with nothing of the text in them."""

import os
import signal
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch

from attnlib.experiments.captions import captions, forced_weights, translations, word_counts
from attnlib.experiments.plan import read_plan
from attnlib.experiments.records import Ledger
from attnlib.experiments.runner import main, work
from attnlib.experiments.sentences import missing_runs, read_data, train_and_measure
from attnlib.language.grammar import sample
from attnlib.metrics import looks
from attnlib.text.evaluation import evaluate
from attnlib.text.model import load

from .conftest import FEW

HOW = {"beam": FEW["beam"], "max_length": FEW["max_length"]}
WANTED = [("bahdanau", 0), ("no-attention", 0), ("no-attention", 1), ("subwords", 0)]


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


def test_all_files_that_are_missing_are_named(tmp_path):
    (tmp_path / "train.lc.norm.tok.en").touch()
    (tmp_path / "val.de.gz").touch()
    says = (
        f"^--data is {tmp_path}, which lacks train.lc.norm.tok.de, val.lc.norm.tok.en, test_2017_flickr.lc.norm.tok.en,"
        r" test_2017_flickr.lc.norm.tok.de \(or .gz\); expected .* data/task1/tok of github.com/multi30k/dataset"
    )
    with pytest.raises(ValueError, match=says):
        read_data(tmp_path, "german")


@pytest.fixture(scope="module")
def models(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("models")


@pytest.fixture(scope="module")
def ledger(sentences, text_folder, models, tmp_path_factory) -> Ledger:
    """Record four runs."""
    ledger = Ledger(sentences, tmp_path_factory.mktemp("runs"))
    runs = [(sentences.rows[name], seed) for name, seed in WANTED]
    work(ledger, partial(missing_runs, runs=runs, data=text_folder, models=models), say=str)
    return ledger


def test_a_run_says_how_it_was_made_and_what_came_of_it(ledger, models, text_folder):
    run = ledger.runs("bahdanau")["0"]
    assert run["settings"]["options"]["emb"] == 8
    assert {"processor", "threads", "sentencepiece"} < run["environment"].keys()
    assert run["training"]["steps"] == 3
    assert [step for step, *_ in run["training"]["dev"]] == [2, 3]
    assert run["training"]["best"] in (2, 3)
    test, model = read_data(text_folder, "german").test, load(models / "bahdanau.0")
    evaluation = evaluate(model, sides(test), **HOW)
    assert run["test"]["bleu"] == pytest.approx(evaluation.bleu, abs=1e-4)
    assert run["test"]["chrf"] == pytest.approx(evaluation.chrf, abs=1e-4)
    assert run["test"]["signatures"] == list(evaluation.signatures)
    assert run["test"]["sentences"] == sum(sentences for _, _, sentences, _ in run["test"]["by_length"]) == 5
    assert run["test"]["perplexity"] > 1
    hypotheses = model.translate_all([pair.source for pair in test], **HOW)
    assert run["test"]["endless"] == sum(len(translation.words) == HOW["max_length"] for translation in hypotheses)
    ratio = sum(len(translation.words) for translation in hypotheses) / sum(len(pair.target) for pair in test)
    assert run["test"]["length"] == pytest.approx(ratio, abs=1e-4)
    copied = evaluate(model, sides(test), **HOW, replace_unknown=True)
    assert run["test"]["copied"] == pytest.approx(copied.bleu, abs=1e-4)


def test_the_words_of_our_captions_are_counted_in_the_text(ledger, text_folder):
    english, german = word_counts(ledger, "german")
    train = read_data(text_folder, "german").train
    assert english["the"] == sum(word == "the" for pair in train for word in pair.source) > 0
    assert english["umbrella"] == 0 == german["regenschirm"]
    assert {*german} == {word for caption in captions("german") for word in caption.pair.target}


def test_our_captions_are_translated_and_looked_at(ledger, models):
    run, ours = ledger.runs("subwords")["0"]["captions"], captions("german")
    model = load(models / "subwords.0")
    evaluation = evaluate(model, [c.pair[:2] for c in ours], **HOW, gold=[c.gold for c in ours])
    assert run["alignment_error"] == pytest.approx(evaluation.alignment_error, abs=1e-4)
    assert run["bleu"] == pytest.approx(evaluation.bleu, abs=1e-4)
    assert run["seen"] == 0
    again = model.translate_all([c.pair.source for c in ours], **HOW)
    for one, other in zip(translations(ledger, "subwords"), again, strict=True):
        assert one[:2] == other[:2]
        assert np.allclose(one.weights, other.weights, atol=0.00501)
        assert one.probability == pytest.approx(other.probability, rel=1e-3)
    for forced, caption in zip(forced_weights(ledger, "subwords"), ours, strict=True):
        assert np.allclose(forced, looks(model.translator, caption.pair), atol=0.00501)


def test_measures_are_read_as_those_of_any_plan(ledger):
    bleus = [ledger.runs("no-attention")[seed]["test"]["bleu"] for seed in "01"]
    assert ledger.numbers("no-attention", "bleu").tolist() == bleus
    assert ledger.column("bahdanau", "seconds", "training")[0] > 0
    assert np.isnan(ledger.numbers("no-attention", "alignment_error", "captions")).all()
    with pytest.raises(ValueError, match="'within' is not recorded of bahdanau; expected one of captions, test, train"):
        ledger.numbers("bahdanau", "bleu", "within")


def test_without_attention_there_is_nothing_to_look_at(ledger):
    run = ledger.runs("no-attention")["0"]
    assert (run["test"]["copied"], run["test"]["tells"]) == (None, None)
    assert run["captions"]["alignment_error"] is None
    assert {translation.weights for translation in translations(ledger, "no-attention")} == {None}
    assert forced_weights(ledger, "no-attention") == [None] * 60
    other = ledger.runs("no-attention")["1"]["captions"]
    assert other.keys() == {"bleu", "chrf", "alignment_error", "seen"}, "of other seeds no translations are kept"


def test_no_sentence_of_the_text_is_in_a_record(ledger, text_folder):
    lines = {" ".join(side) for part in read_data(text_folder, "german") for pair in part for side in pair[:2]}
    for name, seed in WANTED:
        record = (ledger.folder / f"{name}.{seed}.json").read_text("utf-8")
        assert not [line for line in lines if line in record]


def test_a_caption_that_the_text_has_is_counted(sentences, text_folder, tmp_path):
    data = read_data(text_folder, "german")
    with_ours = data._replace(train=[*data.train[:3], captions("german")[0].pair, *data.train[4:]])
    run = train_and_measure(sentences.rows["no-attention"], 0, with_ours, tmp_path / "model")
    assert run["captions"]["seen"] == 1


def test_what_is_recorded_is_not_run_again_and_of_another_text_refused(ledger, text_folder, tmp_path):
    runs = [(ledger.plan.rows[name], seed) for name, seed in [*WANTED, ("luong", 0)]]
    listed = missing_runs(ledger, runs, text_folder, tmp_path)
    assert [job[:2] for job in listed] == [("luong", "0")]
    for name in ("train", "val", "test_2017_flickr"):
        for ending in ("en", "de"):
            (tmp_path / f"{name}.{ending}").write_text("a\nb\n")
    with pytest.raises(ValueError, match="bahdanau, seed 0, is recorded with another text; give another --folder"):
        [*missing_runs(ledger, runs, tmp_path, tmp_path)]


def test_a_run_that_was_ended_is_gone_on_with_and_ends_the_same(ledger, text_folder, tmp_path):
    """Ctrl-C after a step: the same call then gives the same figures."""
    data, row = read_data(text_folder, "german"), ledger.plan.rows["bahdanau"]

    def interrupt(message):
        if "weights" in message:
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        train_and_measure(row, 0, data, tmp_path / "model", log=interrupt)
    run = train_and_measure(row, 0, data, tmp_path / "model")
    before = ledger.runs("bahdanau")["0"]
    assert run["test"] == before["test"]
    assert run["captions"] == before["captions"]


def test_amounts_of_text_are_the_first_pairs(sentences, text_folder, tmp_path, monkeypatch):
    learn = "attnlib.experiments.sentences.train_model"
    monkeypatch.setattr(learn, lambda folder, pairs, *_, **__: pytest.exit(str(len(pairs))))
    data = read_data(text_folder, "german")
    with pytest.raises(pytest.exit.Exception, match=r"^1000$"):
        train_and_measure(sentences.rows["bahdanau-1000"], 0, data._replace(train=data.train * 20), tmp_path)


def test_the_command_runs_what_is_asked_for(sentences_file, text_folder, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("attnlib.experiments.runner.read_plan", lambda _: read_plan(sentences_file))
    threads = torch.get_num_threads()
    where = ["--folder", str(tmp_path / "runs"), "--models", str(tmp_path / "models"), "--device", "cpu"]
    assert main(["sentences", "--data", str(text_folder), "--only", "dot", *where]) == 0
    torch.set_num_threads(threads)
    assert {path.name for path in (tmp_path / "runs").glob("[a-z]*")} == {"dot.0.json", "german.words.json"}
    assert capsys.readouterr().out.startswith("dot 0: ")
    for arguments, says in (
        ([], "learns from a text; expected --data"),
        (["--data", str(text_folder), "--only", "rnn"], "only is 'rnn'; expected one of no-attention"),
        (["--data", str(tmp_path)], f"--data is {tmp_path}, which lacks train.lc.norm.tok.en"),
    ):
        assert main(["sentences", *arguments, *where]) == 2
        assert says in capsys.readouterr().err


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text[:-9],
        lambda text: "[]",
        lambda text: text.replace('"seed": 0', '"seed": 1', 1),
        lambda text: '{"row": "bahdanau"}',
    ],
)
def test_what_is_no_record_is_refused(ledger, tmp_path, change):
    text = (ledger.folder / "bahdanau.0.json").read_text("utf-8")
    (tmp_path / "bahdanau.0.json").write_text(change(text))
    with pytest.raises(ValueError, match=r"^bahdanau\.0\.json is (damaged, or of another run|no whole JSON file)"):
        Ledger(ledger.plan, tmp_path).runs("bahdanau")
