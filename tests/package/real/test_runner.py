"""The runs: recorded once, resumed, shared out, measured, and with nothing of the text in them."""

import json
import os
import shutil
import signal
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch

from attnlib.metrics import looks
from attnlib.real import records, runner
from attnlib.real.captions import captions
from attnlib.real.data import read_data
from attnlib.real.measures import train_and_measure
from attnlib.real.plan import ROWS, RUNS
from attnlib.real.records import read_run
from attnlib.real.runner import main, record_runs
from attnlib.text.evaluation import evaluate
from attnlib.text.model import load

from .conftest import SMALL

HOW = {"beam": SMALL.beam, "max_length": SMALL.max_length}
WANTED = [("bahdanau", 0), ("no-attention", 0), ("no-attention", 1), ("subwords", 0)]


@pytest.fixture(scope="module")
def recorded(text_folder, tmp_path_factory) -> Path:
    """Four runs: ``results`` and ``models``."""
    folder = tmp_path_factory.mktemp("real")
    data = partial(read_data, text_folder)
    record_runs(data, folder / "models", WANTED, effort=SMALL, folder=folder / "results")
    return folder


def test_a_run_says_how_it_was_made_and_what_came_of_it(recorded, text_folder):
    record = read_run("bahdanau", 0, recorded / "results")
    assert record["settings"]["options"]["emb"] == 8
    assert record["training"]["steps"] == SMALL.steps
    assert [step for step, *_ in record["training"]["dev"]] == [2, 3]
    assert record["training"]["best"] in (2, 3)
    test, model = read_data(text_folder, "german").test, load(recorded / "models" / "bahdanau.0")
    found = evaluate(model, [pair[:2] for pair in test], **HOW)
    assert record["test"]["bleu"] == pytest.approx(found.bleu, abs=1e-4)
    assert record["test"]["chrf"] == pytest.approx(found.chrf, abs=1e-4)
    assert record["test"]["signatures"] == list(found.signatures)
    assert record["test"]["sentences"] == sum(sentences for _, _, sentences, _ in record["test"]["by_length"]) == 5
    assert record["test"]["perplexity"] > 1
    said = model.translate_all([pair.source for pair in test], **HOW)
    assert record["test"]["endless"] == sum(len(translation.words) == SMALL.max_length for translation in said)
    ratio = sum(len(translation.words) for translation in said) / sum(len(pair.target) for pair in test)
    assert record["test"]["length"] == pytest.approx(ratio, abs=1e-4)
    copied = evaluate(model, [pair[:2] for pair in test], **HOW, replace={})
    assert record["test"]["copied"] == pytest.approx(copied.bleu, abs=1e-4)


def test_the_words_of_our_captions_are_counted_in_the_text(recorded, text_folder):
    english, german = records.word_counts("german", recorded / "results")
    train = read_data(text_folder, "german").train
    assert english["the"] == sum(word == "the" for pair in train for word in pair.source) > 0
    assert english["umbrella"] == 0 == german["regenschirm"]
    assert {*german} == {word for caption in captions("german") for word in caption.pair.target}


def test_our_captions_are_translated_and_looked_at(recorded):
    record = read_run("bahdanau", 0, recorded / "results")["captions"]
    model, ours = load(recorded / "models" / "bahdanau.0"), captions("german")
    found = evaluate(model, [c.pair[:2] for c in ours], **HOW, gold=[c.gold for c in ours])
    assert record["alignment_error"] == pytest.approx(found.alignment_error, abs=1e-4)
    assert record["bleu"] == pytest.approx(found.bleu, abs=1e-4)
    assert record["seen"] == 0
    for caption, said, own, forced in zip(
        ours, record["translations"], record["weights"], record["forced"], strict=True
    ):
        assert np.shape(forced) == (len(caption.pair.target), len(caption.pair.source))
        assert len(own) == len(said.split())
        assert all(0 <= cell <= 100 for row in (*own, *forced) for cell in row)
    again = model.translate(" ".join(ours[0].pair.source), **HOW)
    assert str(again) == record["translations"][0]
    assert np.log(again.probability) == pytest.approx(record["probabilities"][0], abs=1e-4)


def test_measures_and_looks_are_read_back(recorded):
    results, model = recorded / "results", load(recorded / "models" / "subwords.0")
    assert records.recorded("subwords", "bleu", folder=results) == [read_run("subwords", 0, results)["test"]["bleu"]]
    assert np.isfinite(records.recorded("subwords", "seconds", "training", results)).all()
    ours = captions("german")
    back, found = (
        records.recorded_translations("subwords", results),
        model.translate_all([c.pair.source for c in ours], **HOW),
    )
    for one, other in zip(back, found, strict=True):
        assert one[:2] == other[:2]
        assert np.allclose(one.weights, other.weights, atol=0.00501)
        assert one.probability == pytest.approx(other.probability, rel=1e-3)
    for forced, caption in zip(records.forced_weights("subwords", results), ours, strict=True):
        assert np.allclose(forced, looks(model.translator, caption.pair), atol=0.00501)


def test_without_attention_there_is_nothing_to_look_at(recorded):
    results = recorded / "results"
    record = read_run("no-attention", 0, results)
    assert (record["test"]["copied"], record["test"]["tells"]) == (None, None)
    assert record["captions"]["alignment_error"] is None
    assert not {"weights", "forced"} & record["captions"].keys()
    assert {translation.weights for translation in records.recorded_translations("no-attention", results)} == {None}
    assert records.forced_weights("no-attention", results) == [None] * 60


def test_other_seeds_keep_no_translations(recorded):
    captions_of = read_run("no-attention", 1, recorded / "results")["captions"]
    assert captions_of.keys() == {"bleu", "chrf", "alignment_error", "seen"}


def test_no_sentence_of_the_text_is_in_a_record(recorded, text_folder):
    sentences = {" ".join(side) for part in read_data(text_folder, "german") for pair in part for side in pair[:2]}
    for name, seed in WANTED:
        record = (recorded / "results" / f"{name}.{seed}.json").read_text()
        assert not [sentence for sentence in sentences if sentence in record]


def test_a_caption_that_the_text_has_is_counted(text_folder, tmp_path):
    data = read_data(text_folder, "german")
    data.train[3] = captions("german")[0].pair
    found = train_and_measure(ROWS["no-attention"], 0, data, tmp_path / "model", SMALL)
    assert found["captions"]["seen"] == 1


def test_what_is_recorded_is_not_run_again_and_another_budget_is(recorded, text_folder, tmp_path, monkeypatch):
    results = Path(shutil.copytree(recorded / "results", tmp_path / "results"))
    data, ran = partial(read_data, text_folder), []
    monkeypatch.setattr(runner, "train_and_measure", lambda row, seed, *_, **__: ran.append((row.name, seed)) or {})
    monkeypatch.setattr(runner, "write_run", lambda record, folder: None)
    record_runs(data, tmp_path, WANTED, effort=SMALL, folder=results)
    assert ran == []
    (results / "subwords.0.json").unlink()
    record_runs(data, tmp_path, WANTED, effort=SMALL, folder=results)
    assert ran == WANTED[3:]
    record_runs(data, tmp_path, WANTED, folder=results)
    assert ran == WANTED[3:] + WANTED


def test_a_run_that_was_ended_is_gone_on_with_and_ends_the_same(recorded, text_folder, tmp_path):
    """Ctrl-C after a step: nothing is recorded, and the same call then gives the same figures."""
    data, row = read_data(text_folder, "german"), ROWS["bahdanau"]

    def interrupt(said):
        if "weights" in said:
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        train_and_measure(row, 0, data, tmp_path / "model", SMALL, say=interrupt)
    found = train_and_measure(row, 0, data, tmp_path / "model", SMALL)
    before = read_run("bahdanau", 0, recorded / "results")
    assert found["test"] == before["test"]
    assert found["captions"] == before["captions"]


def test_amounts_of_text_are_the_first_pairs(text_folder, tmp_path, monkeypatch):
    monkeypatch.setattr("attnlib.real.measures.learn", lambda folder, pairs, *_, **__: pytest.exit(str(len(pairs))))
    data = read_data(text_folder, "german")
    data = data._replace(train=data.train * 20)
    with pytest.raises(pytest.exit.Exception, match=r"^1000$"):
        train_and_measure(ROWS["bahdanau-1000"], 0, data, tmp_path, SMALL)


def test_the_command_lists_and_shares_out(capsys, tmp_path):
    listed = []
    for share in ("1/2", "2/2"):
        assert main(["nowhere", "--list", "--share", share, "--results", str(tmp_path)]) == 0
        listed.append([tuple(line.split()) for line in capsys.readouterr().out.splitlines()])
    assert sorted(line for part in listed for line in part) == sorted(
        (name, str(seed), "missing") for name, seed in RUNS
    )
    with pytest.raises(SystemExit):
        main(["nowhere", "--share", "3/2"])
    assert "share is '3/2'" in capsys.readouterr().err


def test_the_command_runs_what_is_asked_for(text_folder, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(runner, "record_runs", partial(record_runs, effort=SMALL))
    threads = torch.get_num_threads()
    where = ["--models", str(tmp_path / "models"), "--results", str(tmp_path / "results")]
    assert main([str(text_folder), "--only", "dot", *where, "--device", "cpu"]) == 0
    torch.set_num_threads(threads)
    assert {path.name for path in (tmp_path / "results").iterdir()} == {"dot.0.json", "german.words.json"}
    assert "run 1 of 1: dot, seed 0" in capsys.readouterr().err


def test_a_folder_without_the_text_is_refused(tmp_path, capsys):
    assert main([str(tmp_path)]) == 2
    assert f"attnlib.real: DATA is {tmp_path}, which lacks train.lc.norm.tok.en" in capsys.readouterr().err


def test_what_is_no_row_is_refused(tmp_path, refused):
    refused(lambda: record_runs(None, tmp_path, [("rnn", 0)]), ValueError, "^runs holds 'rnn'; expected rows: no-att")


def test_what_is_no_record_is_refused(recorded, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"there is no bahdanau.0.json; `make real` records it"):
        read_run("bahdanau", 0, tmp_path)
    text = (recorded / "results" / "bahdanau.0.json").read_text()
    for wrong in (text[:-9], "[]", text.replace('"seed": 0', '"seed": 1', 1), json.dumps({"row": "bahdanau"})):
        (tmp_path / "bahdanau.0.json").write_text(wrong)
        with pytest.raises(ValueError, match=r"^bahdanau.0.json is damaged, or of another run"):
            read_run("bahdanau", 0, tmp_path)
