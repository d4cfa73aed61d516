"""Model folders: whole or not there, every byte checked, and a killed training ends with the same weights."""

import json
import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from random import Random
from shutil import copytree

import pytest
import torch

import attnlib
from attnlib.data import Vocabulary
from attnlib.language.grammar import sample
from attnlib.text import checkpoint
from attnlib.text.checkpoint import TRAINING, read_training, working
from attnlib.text.learning import learn
from attnlib.text.model import load
from attnlib.text.settings import Settings

PAIRS = sample(30, seed=0, clauses=(1,))
DEV = sample(4, seed=0, clauses=(1,), part="test")
TINY = {"emb": 4, "hid": 4, "dropout": 0.2, "seed": 0}
SETTINGS = Settings(options=TINY, vocabulary=60, steps=7, sentences=8, score_every=3)
WORDS = Settings(preset="rnn_search", options=TINY, subwords=False, least=1, steps=2)

KILLED = '''
import os, random, signal, sys, time
from contextlib import nullcontext
from itertools import count
from pathlib import Path
sys.path.insert(0, sys.argv[1])
import torch
from attnlib.data import Corpus
from attnlib.devices import bfloat16_products
from attnlib.language.grammar import sample
from attnlib.text import store
from attnlib.text.learning import learn
from attnlib.text.settings import Settings

store._AT_ONCE = 11  # so that a text of 30 pairs is encoded in several parts
torch.set_num_threads(1)
torch.optim.Adam([torch.zeros(1, requires_grad=True)])  # imports much, once here instead of in each child
os.fsync = lambda file: None  # a killed process, unlike a power cut, loses nothing that was written
pairs, dev = sample(30, seed=0, clauses=(1,)), sample(4, seed=0, clauses=(1,), part="test")
options = {"emb": 4, "hid": 4, "dropout": 0.2, "seed": 0}
home, mode = Path(sys.argv[2]), sys.argv[3]
dev = dev[:1] if mode == "times" else ()
settings = Settings(options=options, vocabulary=60, steps=9, sentences=8, score_every=4)
if mode == "writes":
    settings = Settings(options=options, subwords=False, least=1, steps=2, sentences=8)

def run(folder, before=lambda: None):
    if child := os.fork():
        return child
    before()
    with bfloat16_products(torch.device("cpu")) if mode == "times" else nullcontext():
        learn(folder, pairs, dev, settings, save_seconds=0.0, progress=False)
    os._exit(0)

def weights(folder):
    assert not [path for path in folder.parent.iterdir() if path.name.startswith(folder.name + ".")]
    assert not list(folder.glob("*text*"))
    return (folder / "model.safetensors").read_bytes()

def ended(child):
    return os.waitpid(child, 0)[1] == 0

began = time.perf_counter()
assert ended(run(home / "never"))
whole, expected = time.perf_counter() - began, weights(home / "never")

def kill_at(n):
    """Let this process kill itself just before the n-th time that it changes what is on the disk."""
    left = iter(range(n - 1, -1, -1))
    paths = [(Path, name) for name in ("open", "replace", "rename", "mkdir")]
    for owner, name in [*paths, (os, "unlink"), (os, "rmdir"), (Corpus, "of")]:
        def watched(*arguments, true=getattr(owner, name), writes=name != "open", **options):
            if (writes or "w" in "".join(map(str, arguments[1:]))) and next(left, 0) == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return true(*arguments, **options)
        setattr(owner, name, watched)

if mode == "writes":
    for n in count(1):
        folder = home / f"write{n}"
        if ended(run(folder, lambda: kill_at(n))):
            break
        assert ended(run(folder))
        assert weights(folder) == expected, n
    assert n > 30, n
else:
    rng, kills = random.Random(0), 0
    for n in count():
        folder = home / f"time{n}"
        for _ in range(4):
            child = run(folder)
            time.sleep(whole * rng.uniform(0.05, 0.6))
            os.kill(child, signal.SIGKILL)
            if ended(child):
                whole *= 0.8  # was measured while the machine had more to do
            else:
                kills += 1
        assert ended(run(folder))
        assert weights(folder) == expected
        if kills >= 20:
            break
print("the same")
'''


@pytest.mark.parametrize("mode", ["writes", "times"])
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_killed_training_ends_with_the_same_weights(mode, tmp_path):
    source = Path(attnlib.__file__).parents[1]
    run = subprocess.run(
        [sys.executable, "-c", KILLED, source, tmp_path, mode], capture_output=True, text=True, check=False
    )
    assert run.stdout == "the same\n", run.stderr


def weights(folder):
    return (folder / "model.safetensors").read_bytes()


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    home = tmp_path_factory.mktemp("runs")
    learn(home / "subwords", PAIRS, DEV, SETTINGS, progress=False)
    learn(home / "words", PAIRS, (), WORDS, progress=False)
    return home


def test_a_folder_holds_all_that_a_model_is(trained):
    names = ["config.json", "history.jsonl", "model.safetensors", "source.pieces", "target.pieces"]
    assert sorted(path.name for path in (trained / "subwords").iterdir()) == names
    *lines, last = checkpoint.read_history(trained / "subwords")
    assert [line["step"] for line in lines] == [3, 6, 7]
    assert all(line["loss"] > 0 and line["dev_loss"] > 0 and line["dev_bleu"] >= 0 for line in lines)
    assert last["ended"] == "steps"
    assert last["words"] > 0


@pytest.mark.parametrize("preset", ["luong", "rnn_search", "rnn_encdec"])
def test_embeddings_begin_small_and_other_weights_as_they_do(preset):
    known = [Vocabulary.of([("a", "b")])] * 2
    settings = {"preset": preset, "options": {"emb": 6, "hid": 8, "seed": 0}, "embedding_scale": 0.25}
    small, usual = checkpoint.make({"settings": settings}, *known), checkpoint.PRESETS[preset](*known, emb=6, hid=8)
    for (name, mine), theirs in zip(small.named_parameters(), usual.parameters(), strict=True):
        torch.testing.assert_close(mine, theirs * (0.25 if "embedding" in name else 1), rtol=0, atol=0)


@pytest.mark.parametrize(("name", "dev", "settings"), [("subwords", DEV, SETTINGS), ("words", (), WORDS)])
def test_loading_gives_the_model_back(trained, name, dev, settings):
    messages, sentence = [], " ".join(PAIRS[0].source)
    made = learn(trained / name, PAIRS, dev, settings, say=messages.append)
    assert messages == [f"{trained / name} is complete already"]
    loaded, again = load(trained / name), attnlib.load(str(trained / name))
    assert all(map(torch.equal, loaded.translator.parameters(), again.translator.parameters()))
    translations = [model.translate(sentence, beam=1, max_length=9) for model in (loaded, made)]
    assert translations[0].words == translations[1].words
    assert translations[0].probability == translations[1].probability
    assert load(trained / name, "meta").translator.decoder.output.device.type == "meta"


@pytest.mark.parametrize("kind", ["subwords", "words"])
def test_a_byte_that_changed_anywhere_is_noticed_or_harmless(trained, kind, tmp_path):
    folder, sentence = copytree(trained / kind, tmp_path / "model"), " ".join(PAIRS[0].source)
    expected, rng = load(folder).translate(sentence, beam=1), Random(0)
    for path in folder.iterdir():
        whole, noticed = path.read_bytes(), 0
        for _ in range(12):
            place = rng.randrange(len(whole))
            path.write_bytes(whole[:place] + bytes([whole[place] ^ (1 << rng.randrange(8))]) + whole[place + 1 :])
            try:
                assert load(folder).translate(sentence, beam=1).probability == expected.probability
            except ValueError:
                noticed += 1
        assert noticed >= 6, path.name
        for part in (whole[: len(whole) // 2], b""):
            path.write_bytes(part)
            with pytest.raises(ValueError, match="damaged"):
                load(folder)
        path.write_bytes(whole)
    assert load(folder).translate(sentence, beam=1).probability == expected.probability


class EndedError(Exception):
    """Stands for whatever ends a process."""


@contextmanager
def after_each_save(happens):
    """Call a function after each save of a training, with the number of its steps."""
    true = checkpoint.write_training

    def watched(folder, translator, training):
        true(folder, translator, training)
        happens(training.step)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checkpoint, "write_training", watched)
        yield


@pytest.fixture
def begun(tmp_path):
    """Begin a training that something ends after four steps."""

    def breaks(step):
        if step == 4:
            raise EndedError

    with after_each_save(breaks), pytest.raises(EndedError):
        learn(tmp_path / "run", PAIRS, DEV, SETTINGS, save_seconds=0.0, progress=False)
    return tmp_path / "run"


def test_a_training_goes_on_and_its_damage_is_noticed(begun, trained):
    path = working(begun) / TRAINING
    whole, rng, model = path.read_bytes(), Random(0), load(trained / "subwords").translator
    training, random = read_training(working(begun), model)
    assert len(training.losses) == 4
    for _ in range(20):
        place = rng.randrange(len(whole))
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        try:
            again, same = read_training(working(begun), model)
        except ValueError as error:
            assert "damaged; remove it to begin the training anew" in str(error)  # noqa: PT017, or harmless
        else:
            assert again.losses == training.losses
            assert torch.equal(random, same)
    path.write_bytes(whole)
    messages = []
    learn(begun, PAIRS, DEV, SETTINGS, progress=False, say=messages.append)
    assert "going on after step 4" in messages
    assert weights(begun) == weights(trained / "subwords")


def test_a_model_that_is_not_complete_says_how_to_complete_it(begun):
    with pytest.raises(ValueError, match="still being trained; the same command as before goes on"):
        load(begun)


def test_ctrl_c_leaves_a_model_that_the_same_call_goes_on_with(tmp_path, trained):
    folder, messages, asked = tmp_path / "run", [], []

    def interrupts(step):
        if step == 4 and not asked:
            asked.append(os.kill(os.getpid(), signal.SIGINT))

    with after_each_save(interrupts):
        learn(folder, PAIRS, DEV, SETTINGS, save_seconds=0.0, progress=False, say=messages.append)
    assert "interrupted: the model is as it was then" in messages[-1]
    assert load(folder).config["ended"] == "interrupted"
    assert [line["step"] for line in checkpoint.read_history(folder)[:-1]] == [3, 4]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    learn(folder, PAIRS, DEV, SETTINGS, progress=False)
    assert load(folder).config["ended"] == "steps"
    assert weights(folder) == weights(trained / "subwords")


def test_a_second_training_into_the_same_folder_is_refused_at_once(tmp_path, trained):
    folder, refused = tmp_path / "run", []

    def meets_another(_):
        with pytest.raises(ValueError, match="run is being trained by another process; wait for its end") as error:
            learn(folder, PAIRS, DEV, SETTINGS, progress=False)
        refused.append(error)

    with after_each_save(meets_another):
        learn(folder, PAIRS, DEV, SETTINGS, save_seconds=0.0, progress=False)
    assert len(refused) > 1
    assert [path.name for path in tmp_path.iterdir()] == ["run"]
    assert weights(folder) == weights(trained / "subwords")


def test_a_folder_of_another_configuration_or_text_is_refused(trained, begun):
    other = replace(SETTINGS, steps=8, options=TINY | {"hid": 6})
    for folder in (trained / "subwords", begun):
        with pytest.raises(ValueError, match=r"another configuration: options .*; steps 7, not 8"):
            learn(folder, PAIRS, DEV, other)
        with pytest.raises(ValueError, match="another text"):
            learn(folder, PAIRS[1:], DEV, SETTINGS)


def test_what_is_no_model_folder_is_refused_and_left_alone(tmp_path):
    (tmp_path / "letters").mkdir()
    (tmp_path / "letters" / "dear.txt").write_text("dear")
    for call in (load, lambda path: learn(path, PAIRS, DEV, SETTINGS)):
        with pytest.raises(ValueError, match=r"is no model folder: it has no config\.json"):
            call(tmp_path / "letters")
    (tmp_path / "letters" / "config.json").write_text('{"who": "knows"}')
    with pytest.raises(ValueError, match="damaged, or not attnlib's"):
        load(tmp_path / "letters")
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["config.json", "dear.txt", "letters"]


def test_another_format_is_refused(trained, tmp_path):
    folder = copytree(trained / "words", tmp_path / "model")
    config = json.loads((folder / "config.json").read_text()) | {"format": 2}
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(ValueError, match="has the format 2; this attnlib reads 1"):
        load(folder)
