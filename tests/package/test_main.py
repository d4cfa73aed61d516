"""The command: what each part prints, writes and refuses, on text written from the grammar."""

import os
import re
import stat
import subprocess
import sys
from io import BytesIO
from types import SimpleNamespace

import pytest
import torch

import attnlib
from attnlib import search
from attnlib.__main__ import main
from attnlib.data import Vocabulary
from attnlib.language.grammar import sample
from attnlib.metrics import exact_match
from attnlib.text import files
from attnlib.text import model as text_model
from attnlib.text.config import TrainingConfig
from attnlib.text.files import format_pharaoh, split_words

PAIRS = sorted(sample(60, seed=0, clauses=(1,)), key=lambda pair: len(pair.source))[:12]
SMALL = ["--features", "8", "--steps", "2", "--save-seconds", "1e9"]


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """Write a text of twelve pairs, and models: one that knows them by heart, and others that know next to nothing."""
    home = tmp_path_factory.mktemp("home")
    for side, ending in (("source", "en"), ("target", "fr")):
        (home / f"a.{ending}").write_text("".join(" ".join(getattr(pair, side)) + "\n" for pair in PAIRS))
    (home / "a.links").write_text("".join(f"{format_pharaoh(pair.links)}\n" for pair in PAIRS))
    text = ["train", "--source", str(home / "a.en"), "--target", str(home / "a.fr")]
    learnt = ["--features", "32", "--steps", "120", "--learning-rate", "1e-2", "--dropout", "0.1"]
    options = {
        "words": [*learnt, "--words", "--min-count=1", "--eval-every=60", "--dev", f"{home}/a.en", f"{home}/a.fr"],
        "subwords": [*SMALL, "--vocab-size", "100", "--share-vocabulary"],
        "none": [*SMALL, "--words", "--preset", "rnn_encdec"],
    }
    for name, more in options.items():
        assert main([*text, "--model", str(home / name), *more]) == 0
    return home


@pytest.fixture
def run(home, monkeypatch, capfdbinary):
    """Run a command at home, `given` on its standard input, and give its status, output and errors."""
    monkeypatch.chdir(home)

    def ran(*words, given=b""):
        capfdbinary.readouterr()
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=BytesIO(given)))
        try:
            status = main(words)
        except SystemExit as ended:
            status = ended.code
        sys.stdout.flush()
        out, err = capfdbinary.readouterr()
        return status, out.decode(), err.decode()

    return ran


def test_translations_come_in_order_and_empty_lines_too(run, home, monkeypatch):
    monkeypatch.setattr(text_model, "_TOGETHER", 5)
    sources = [" ".join(pair.source) for pair in PAIRS]
    given = "\n".join([sources[5], "", *sources[::-1], "  "]).encode()
    status, out, err = run("translate", "--model", "words", "--links", "out.links", given=given)
    assert (status, err) == (0, "")
    lines = out.split("\n")
    assert len(lines) == len(given.split(b"\n")) + 1
    assert lines[1] == lines[-2] == lines[-1] == ""
    expected = [PAIRS[5].target, *(pair.target for pair in PAIRS[::-1])]
    translations = [split_words(line) for line in (lines[0], *lines[2:-2])]
    assert exact_match(translations, expected) > 0.8
    links = (home / "out.links").read_text().split("\n")
    assert [len(line.split()) for line in links] == [len(line.split()) for line in lines]


def test_products_are_bfloat16s_where_the_processor_can_unless_float32_is_asked_for(run, monkeypatch):
    seen = []

    def look(*_, **__):
        seen.append(torch.is_autocast_enabled("cpu"))

    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: {"avx512_bf16": True}, raising=False)
    monkeypatch.setattr(text_model, "translate_stream", look)
    for more in ([], ["--float32"]):
        assert run("translate", "--model", "words", *more) == (0, "", "")
    assert seen == [True, False]


@pytest.mark.parametrize("model", ["words", "subwords", "none"])
def test_unknown_words_and_letters_never_fail(run, model):
    command = ("translate", "--model", model, "--beam-size", "2")
    status, out, _ = run(*command, given="the ωmega zzz\n☃ 𝄞\n".encode())
    assert (status, out.count("\n")) == (0, 2)
    assert run(*command) == (0, "", "")


def test_the_python_door_gives_words_weights_and_probability(home):
    model, pair = attnlib.load(home / "words"), PAIRS[0]
    translation = model.translate(" ".join(pair.source))
    assert translation.words == pair.target
    assert translation.source == pair.source
    assert translation.weights.shape == (len(pair.target), len(pair.source))
    assert 0.3 < translation.probability <= 1
    whole = attnlib.load(home / "subwords").translate("the cat")
    assert whole.weights.shape == (len(whole.words), 2)
    assert attnlib.load(home / "none").translate("the cat").weights is None


def test_an_unknown_word_is_replaced_by_the_source_word_that_it_looked_at_most(run, home, monkeypatch):
    translation = attnlib.load(home / "words").translate(" ".join(PAIRS[0].source))
    unknown = translation._replace(words=("<unknown>", *translation.words[1:]))
    asked = translation.source[int(translation.weights[0].argmax())]
    assert unknown.with_unknown_replaced().words == (asked, *translation.words[1:])
    assert translation.with_unknown_replaced() is translation
    letters = unknown._replace(words=("我<unknown>狗",), source=("ab", "c"), unspaced=(False, True))
    letters = letters._replace(weights=torch.eye(3, 2).numpy()[[0, 1, 0]])
    assert letters.with_unknown_replaced().words == ("我c狗",)
    monkeypatch.setattr(Vocabulary, "decode", lambda self, ids: ("<unknown>",) * 3)
    options = ("--model", "words", "--max-length", "3")
    assert run("translate", *options, "--replace-unknown", given=b"the cat\n")[1].split()[0] in ("the", "cat")
    both = [run("evaluate", *options, *more, "a.en", "a.fr")[1] for more in ((), ("--replace-unknown",))]
    assert both[0] != both[1]


def test_evaluation_says_how_it_was_computed(run):
    status, out, _ = run("evaluate", "--model", "words", "a.en", "a.fr", "--gold", "a.links", "--beam-size", "1")
    assert status == 0
    assert out.startswith("12 sentences\nBLEU ")
    numbers = {name: float(number) for name, number in re.findall(r"^(BLEU|chrF|exact match) ([0-9.]+)", out, re.M)}
    assert all(number > 60 for number in numbers.values())
    assert "tok:none" in out
    assert "sentences of 1 to 10 source words" in out
    assert 0 <= float(re.search(r"alignment error rate ([0-9.]+)", out)[1]) < 0.9
    assert (
        "tok:13a" in run("evaluate", "--model", "subwords", "a.en", "a.fr", "--beam-size", "1", "--max-length", "9")[1]
    )


def test_links_are_those_of_forced_decoding(run, home):
    for name in ("words", "subwords"):
        status, out, _ = run("align", "--model", name, "a.en", "a.fr")
        assert status == 0
        lines = out.split("\n")[:-1]
        assert [len(line.split()) for line in lines] == [len(pair.target) for pair in PAIRS]
        assert lines[3] == format_pharaoh(*attnlib.load(home / name).links_of([PAIRS[3][:2]]))
    (home / "gaps.tsv").write_text("a\tb\n\tb\na\t\n")
    assert run("align", "--model", "words", "gaps.tsv")[1] == "0-0\n\n\n"


def test_a_model_becomes_one_page_and_its_size_is_said_first(run, home):
    status, _, err = run("page", "--model", "subwords", "-o", "own.html")
    size = (home / "own.html").stat().st_size
    assert (status, err) == (0, f"own.html takes {size / 1e6:.1f} MB\nopen own.html\n")
    assert (home / "own.html").read_text("utf-8").count("<h1>subwords</h1>") == 1


TRAIN = ("train", "--source", "a.en", "--target", "a.fr", "--model", "new")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("align", "--model", "none", "a.en", "a.fr"), "model has no attention; expected a model with attention"),
        (("translate", "--model", "words", "--beam-size", "0"), "--beam-size is 0; expected at least 1"),
        (("translate", "--model", "words", "--links", "no/x"), "no/x: no such file or directory"),
        (("evaluate", "--model", "words", "a.en", "a.links2"), "a.links2: no such file"),
        (("evaluate", "--model", "words", "a.en", "a.fr", "--tokenize", "foo"), "tokenize is 'foo'; expected one of"),
        ((*TRAIN, "--preset", "rnn_search", "--score", "dot"), "--score is set with the preset rnn_search; expected"),
        ((*TRAIN, "--preset", "transformer", "--features", "10"), "num_heads is 4; expected a divisor of d_model, 10"),
        ((*TRAIN, "--dev", "a.en", "a.fr", "a.fr"), "--dev is 3 files; expected two"),
        ((*TRAIN, "--vocab-size", "9"), "--vocab-size is 9; expected at least"),
        ((*TRAIN, "--patience", "1"), "--patience and --eval-every need dev scores; expected dev files"),
        ((*TRAIN, "--model", "/"), "/ is a folder without config.json; expected a model folder"),
        ((*TRAIN, "--max-tokens", "3"), "pairs is a text of long pairs; expected one of at most 2"),
    ],
)
def test_what_is_wrong_is_one_sentence_and_leaves_nothing_behind(run, home, words, message):
    before = sorted(home.rglob("*"))
    status, out, err = run(*words, given=b"the cat\n")
    assert (status, out) == (2, "")
    *_, last = err.strip().split("\n")
    assert last.startswith(f"attnlib {words[0]}: ")
    assert message in last
    assert "Traceback" not in err
    assert sorted(home.rglob("*")) == before


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names on this system")
def test_a_pipe_is_refused_since_a_text_is_read_twice(run, home):
    os.mkfifo(home / "pipe")
    status, _, err = run(*TRAIN[:2], "pipe", *TRAIN[3:])
    assert (status, err) == (2, "attnlib train: pipe is a pipe; expected a file, which can be read twice\n")


def test_a_line_that_is_not_utf8_is_named_and_the_parts_before_it_are_translated(run, monkeypatch):
    monkeypatch.setattr(text_model, "_TOGETHER", 2)
    given = " ".join(PAIRS[0].source).encode() + b"\n\n"
    status, out, err = run("translate", "--model", "words", given=given + b"the cat\n\xe9\n")
    assert (status, out) == (2, run("translate", "--model", "words", given=given)[1])
    assert "the input, line 4: byte 1 is not UTF-8" in err
    err = run("translate", "--model", "words", "--max-input-length", "1", given=b"the\n\nthe cat\n")[2]
    assert err.startswith("the input, line 3: cut to 1 words")


@pytest.mark.parametrize(("model", "long"), [("words", "the cat " * 50_000), ("subwords", "a" * 500_000)])
def test_a_line_beyond_measure_is_cut_and_translated_beside_none_that_is_short(run, monkeypatch, model, long):
    command = ("translate", "--model", model, "--max-length", "9")
    lines, shapes, true = [" ".join(pair.source) for pair in PAIRS], [], search.encode_batch
    alone = run(*command, given="\n".join(lines).encode())[1].split("\n")

    def watched(*given):
        shapes.append(true(*given)[0].shape)
        return true(*given)

    monkeypatch.setattr(search, "encode_batch", watched)
    status, out, err = run(*command, given="\n".join([*lines[:7], long, *lines[7:]]).encode())
    assert status == 0
    assert out.split("\n")[:7] + out.split("\n")[8:] == alone
    assert max(rows * columns for rows, columns in shapes) <= 32_000 / 5
    assert err.startswith("the input, line 8: cut to 1,000 words or pieces of words\n")
    run(*command, "--max-input-length", "3", given=long.encode())
    assert shapes[-1][1] <= 4


def outside(words, home):
    """Run a command line of a shell in a process of its own, which has its own streams."""
    command = f"exec {sys.executable} -m attnlib {words}"
    ran = subprocess.run(["sh", "-c", command], cwd=home, capture_output=True, text=True, check=False)
    return ran.returncode, ran.stdout, ran.stderr


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device here that is always full")
def test_a_full_output_is_said_once(run, home):
    message = "attnlib translate: no space left for {}; make room, and give the same command again\n"
    full = outside("translate --model words --links new.links < a.en > /dev/full", home)
    assert full == (2, "", message.format("the output"))
    assert not (home / "new.links").exists()
    assert run("translate", "--model", "words", "--links", "/dev/full", given=b"the")[2] == message.format("/dev/full")
    assert stat.S_ISCHR(os.stat("/dev/full").st_mode)


def test_the_toy_text_is_the_grammars_and_replaces_nothing(run, home):
    assert run("toy", "toy", "--train", "30", "--dev", "5")[0] == 0
    for name, n, part in (("train", 30, "train"), ("dev", 5, "test")):
        pairs = sample(n, seed=1, part=part)
        read = files.read_parallel(home / "toy" / f"{name}.en", home / "toy" / f"{name}.fr").pairs
        gold = files.read_gold(home / "toy" / f"{name}.links", [pair[:2] for pair in read])
        assert [pair._replace(links=links.sure) for pair, links in zip(read, gold, strict=True)] == pairs
    status, _, err = run("toy", "toy", "--train", "30", "--dev", "5")
    assert (status, err) == (2, "attnlib toy: toy/train.en: file exists\n")


def test_options_are_the_fields_of_what_is_told_by_python(monkeypatch, tmp_path):
    learnt, dev = [], tmp_path / "dev"
    dev.write_text("a\tb\n")
    monkeypatch.setattr("attnlib.text.training.train_model", lambda *given, **_: learnt.append(given[-1]))
    train = ["train", "--source", "a", "--model", "m"]
    words = "--words --min-count 3 --max-tokens 70 --max-sentences 5 --minutes 2.5 --eval-every 9 --seed 4"
    assert main(train) == main([*train, "--dev", str(dev), *words.split(), "--score", "general"]) == 0
    batch = {"max_tokens": 70, "max_sentences": 5, "min_count": 3, "minutes": 2.5, "eval_every": 9, "seed": 4}
    options = TrainingConfig().options | {"score": "general", "seed": 4}
    assert learnt == [TrainingConfig(), TrainingConfig(options=options, words=True, **batch)]


def test_help_says_defaults_and_shows_an_example_and_what_is_no_option_is_refused(run):
    for number in ("8000", "0.002", "1.0", "cosine"):
        assert f"(default: {number})" in " ".join(re.sub("│", "", run("train", "--help")[1]).split())
    commands = re.findall("• ([a-z]+)", run("--help")[1])
    assert commands == ["toy", "train", "translate", "evaluate", "align", "page"]
    for command in commands:
        status, out, _ = run(command, "--help")
        assert status == 0
        assert f"attnlib {command} " in out
    status, _, err = run(*TRAIN, "--step", "3")
    assert status == 2
    assert "--steps" in err
