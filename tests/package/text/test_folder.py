"""Model folders: complete or not, damage that is noticed, and a killed training that ends with the same weights."""

import json
import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from shutil import copytree

import pytest
import torch

import attnbook
import attnlib
from attnbook import load, sample
from attnbook.pretrained import folder as folders
from attnbook.pretrained.folder import load_history
from attnlib import Vocabulary, translate, translate_all
from attntext import saving
from attntext.settings import TrainingConfig
from attntext.trainer import train_model

PAIRS = sample(30, seed=0, clauses=(1,))
DEV = sample(4, seed=0, clauses=(1,), part="test")
TINY = {"embedding_dim": 4, "hidden_size": 4, "dropout": 0.2, "seed": 0}
CONFIG = TrainingConfig(options=TINY, vocab_size=60, steps=7, max_sentences=8, eval_every=3)
WORDS = TrainingConfig(preset="rnn_search", options=TINY, words=True, min_count=1, steps=2)

KILLED = '''
import os, signal, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
import torch
from attntext import processes
from attnbook.language.sentences import sample
from attntext import saving
from attntext.settings import TrainingConfig
from attntext.trainer import train_model

torch.set_num_threads(1)
processes.fastest_settings = lambda *_, **__: processes.ComputeSettings(bfloat16=True)  # whatever the clock says
torch.optim.Adam([torch.zeros(1, requires_grad=True)])  # imports much, once here instead of in each child
os.fsync = lambda file: None  # a killed process, unlike a power cut, loses nothing that was written
home = Path(sys.argv[2])
pairs, dev = sample(30, seed=0, clauses=(1,)), sample(2, seed=0, clauses=(1,), part="test")
options = {"embedding_dim": 4, "hidden_size": 4, "dropout": 0.2, "seed": 0}
config = TrainingConfig(options=options, vocab_size=60, steps=9, max_sentences=8, eval_every=4)

def run(folder, before=lambda: None):
    child = os.fork()
    if not child:
        before()
        with processes.bfloat16_autocast(torch.device("cpu")):
            train_model(folder, pairs, dev, config, save_seconds=0.0, progress=False)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

def kill_at(name, moment):
    """Let this process kill itself at a moment, "before" or "after" a file of this name is put in its place."""
    true = Path.replace
    def replaced(path, goal):
        if goal.name == name and moment == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        true(path, goal)
        if goal.name == name:
            os.kill(os.getpid(), signal.SIGKILL)
    Path.replace = replaced

def weights(folder):
    assert sorted(path.name for path in folder.iterdir()) == [
        "config.json", "history.jsonl", "model.safetensors", "source.pieces", "target.pieces"
    ]
    return (folder / "model.safetensors").read_bytes()

assert run(home / "never") == 0
expected = weights(home / "never")
names = ("target.pieces", "config.json", "training.pt", "history.jsonl", "model.safetensors")
for name, moment in [*((name, "before") for name in names), ("training.pt", "after"), ("model.safetensors", "after")]:
    folder = home / f"{moment}-{name}"
    assert run(folder, lambda: kill_at(name, moment)) == -signal.SIGKILL
    if name == "training.pt":
        assert run(folder, lambda: kill_at(name, moment)) == -signal.SIGKILL  # once more, further on
    assert run(folder) == 0
    assert weights(folder) == expected, (moment, name)
print("the same")
'''


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_killed_training_ends_with_the_same_weights(tmp_path):
    source = Path(attnlib.__file__).parents[1]
    run = subprocess.run([sys.executable, "-c", KILLED, source, tmp_path], capture_output=True, text=True, check=False)
    assert run.stdout == "the same\n", run.stderr


def weights(folder):
    return (folder / "model.safetensors").read_bytes()


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    home = tmp_path_factory.mktemp("runs")
    train_model(home / "subwords", PAIRS, DEV, CONFIG, progress=False)
    train_model(home / "words", PAIRS, (), WORDS, progress=False)
    return home


def test_a_history_has_a_line_for_each_score_and_says_why_the_training_ended(trained):
    *lines, last = load_history(trained / "subwords")
    assert [line["step"] for line in lines] == [3, 6, 7]
    assert all(line["loss"] > 0 and line["dev_loss"] > 0 and line["dev_bleu"] >= 0 for line in lines)
    assert last["ended"] == "steps"
    assert last["words"] > 0


@pytest.mark.parametrize("preset", ["luong", "rnn_search", "rnn_encdec"])
def test_embeddings_begin_small_and_other_weights_as_they_do(preset):
    known = [Vocabulary.from_sentences([("a", "b")])] * 2
    settings = {"preset": preset, "options": {"embedding_dim": 6, "hidden_size": 8, "seed": 0}, "embedding_scale": 0.25}
    small = folders.make({"settings": settings}, *known)
    usual = folders.PRESETS[preset](*known, embedding_dim=6, hidden_size=8)
    for (name, mine), theirs in zip(small.named_parameters(), usual.parameters(), strict=True):
        torch.testing.assert_close(mine, theirs * (0.25 if "embedding" in name else 1), rtol=0, atol=0)


@pytest.mark.parametrize(("name", "dev", "config"), [("subwords", DEV, CONFIG), ("words", (), WORDS)])
def test_loading_gives_the_model_back(trained, name, dev, config):
    messages, sentence = [], " ".join(PAIRS[0].source)
    made = train_model(trained / name, PAIRS, dev, config, log=messages.append)
    assert messages == [f"{trained / name} is complete already; --from trains it further"]
    loaded = attnbook.load(str(trained / name))
    translations = [translate(model, sentence, beam_size=1, max_length=9) for model in (loaded, made)]
    assert translations[0].words == translations[1].words
    assert translations[0].probability == translations[1].probability
    assert {p.device.type for p in load(trained / name, "meta").parameters()} == {"meta"}


@pytest.mark.parametrize("kind", ["subwords", "words"])
def test_a_torn_file_is_noticed(trained, kind, tmp_path):
    folder = copytree(trained / kind, tmp_path / "model")
    for path in folder.iterdir():
        whole = path.read_bytes()
        for part in (whole[: len(whole) // 2], b""):
            path.write_bytes(part)
            if path.name != "history.jsonl":
                with pytest.raises(ValueError, match="damaged"):
                    load(folder)
        path.write_bytes(whole)
    load(folder)


@contextmanager
def after_each_save(happens):
    """Call a function after each save of a training, with the number of its steps."""
    true = saving.write_training

    def watched(folder, state):
        true(folder, state)
        happens(state.step)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(saving, "write_training", watched)
        yield


def test_ctrl_c_leaves_a_model_that_the_same_call_goes_on_with(tmp_path, trained):
    folder, messages, asked = tmp_path / "run", [], []

    def interrupts(step):
        if step == 4 and not asked:
            asked.append(os.kill(os.getpid(), signal.SIGINT))

    with after_each_save(interrupts):
        train_model(folder, PAIRS, DEV, CONFIG, save_seconds=0.0, progress=False, log=messages.append)
    assert messages[-1] == (
        f"interrupted: {folder} has the weights with the best dev score so far; the same command again goes on after "
        "step 5"
    )
    assert load(folder).config["ended"] == "interrupted"
    assert [line["step"] for line in load_history(folder)[:-1]] == [3, 5]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    torch.manual_seed(7)  # random numbers of others, which decide nothing
    train_model(folder, PAIRS, DEV, CONFIG, progress=False, log=messages.append)
    assert "going on after step 5" in messages
    assert load(folder).config["ended"] == "steps"
    assert weights(folder) == weights(trained / "subwords")


def test_a_second_training_into_the_same_folder_is_refused_at_once(tmp_path, trained):
    folder, refused = tmp_path / "run", []

    def meets_another(_):
        with pytest.raises(ValueError, match="run is being trained by another process; expected another") as error:
            train_model(folder, PAIRS, DEV, CONFIG, progress=False)
        with pytest.raises(ValueError, match="still being trained; expected a finished training"):
            load(folder)
        refused.append(error)

    with after_each_save(meets_another):
        train_model(folder, PAIRS, DEV, CONFIG, save_seconds=0.0, progress=False)
    assert len(refused) > 1
    assert sorted(path.name for path in folder.iterdir()) == sorted(p.name for p in (trained / "subwords").iterdir())
    assert weights(folder) == weights(trained / "subwords")


def test_a_folder_of_another_configuration_or_text_is_refused(trained):
    other = replace(CONFIG, steps=8, options=TINY | {"hidden_size": 6})
    with pytest.raises(ValueError, match=r"options .*; steps 7, not 8; expected its own"):
        train_model(trained / "subwords", PAIRS, DEV, other)
    with pytest.raises(ValueError, match="another text"):
        train_model(trained / "subwords", PAIRS[1:], DEV, CONFIG)


def test_what_is_no_model_folder_cannot_be_loaded(tmp_path):
    with pytest.raises(ValueError, match="expected a model folder"):
        load(tmp_path)
    (tmp_path / "config.json").write_text("[1]")
    for call in (load, lambda path: train_model(path, PAIRS, (), WORDS)):
        with pytest.raises(ValueError, match=r"config\.json holds list; expected the configuration of a model"):
            call(tmp_path)


OURS = ["history.jsonl", "model.safetensors", "training.pt", "source.words", "target.pieces", "both.pieces"]


@pytest.mark.parametrize(("name", "content"), [*((name, "dear") for name in OURS), ("config.json", "{}")])
def test_a_training_refuses_by_name_what_it_would_overwrite(tmp_path, name, content):
    (tmp_path / name).write_text(content)
    with pytest.raises(ValueError, match=rf"holds another {name}; expected a folder without it, or another --model"):
        train_model(tmp_path, PAIRS, (), WORDS)
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [(name, content)]


def test_a_training_leaves_other_files_in_its_folder_alone(tmp_path):
    names = [".DS_Store", "train.log", "train.de", "notes.words", "more.pieces", "old.pt", "config.yml"]
    for name in names:
        (tmp_path / name).write_bytes(b"\0\xff dear")
    (tmp_path / "lost+found").mkdir()
    train_model(tmp_path, PAIRS, (), WORDS, progress=False)
    assert translate_all(load(tmp_path), [("the", "cat")])
    assert {(tmp_path / name).read_bytes() for name in names} == {b"\0\xff dear"}
    written = {"config.json", "history.jsonl", "model.safetensors", "source.words", "target.words"}
    assert {path.name for path in tmp_path.iterdir()} == {*names, "lost+found"} | written


def test_a_training_that_cannot_begin_removes_the_folders_that_it_made_and_no_others(tmp_path):
    (tmp_path / "mine").mkdir()
    for folder in (tmp_path / "mine", tmp_path / "new" / "run"):
        with pytest.raises(ValueError, match="vocab_size"):
            train_model(folder, PAIRS, (), replace(CONFIG, vocab_size=9))
    assert [*tmp_path.rglob("*")] == [tmp_path / "mine"]


def test_a_setting_that_is_newer_than_a_folder_is_at_its_default_there(trained, tmp_path):
    folder, messages = copytree(trained / "subwords", tmp_path / "model"), []
    config = json.loads((folder / "config.json").read_text())
    del config["settings"]["patience"]
    (folder / "config.json").write_text(json.dumps(config))
    train_model(folder, PAIRS, DEV, CONFIG, log=messages.append)
    assert messages == [f"{folder} is complete already; --from trains it further"]
    with pytest.raises(ValueError, match="patience None, not 3"):
        train_model(folder, PAIRS, DEV, replace(CONFIG, patience=3))
