"""The command: what each part prints, writes and refuses, on text written from the grammar."""

import os
import re
import stat
import subprocess
import sys
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch

import attnlib
from attnlib import metrics, search
from attnlib.__main__ import main
from attnlib.data import Vocabulary
from attnlib.language.grammar import sample
from attnlib.metrics import exact_match
from attnlib.text import files
from attnlib.text import model as text_model
from attnlib.text.files import pharaoh, words_of
from attnlib.text.settings import Settings

PAIRS = sorted(sample(60, seed=0, clauses=(1,)), key=lambda pair: len(pair.source))[:12]
SMALL = ["--features", "8", "--steps", "2", "--save-seconds", "1e9"]


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """Write a text of twelve pairs, and models: one that knows them by heart, and others that know next to nothing."""
    home = tmp_path_factory.mktemp("home")
    for side, ending in (("source", "en"), ("target", "fr")):
        (home / f"a.{ending}").write_text("".join(" ".join(getattr(pair, side)) + "\n" for pair in PAIRS))
    (home / "a.tsv").write_text("the cat\tle chat\n")
    (home / "a.links").write_text("".join(f"{pharaoh(pair.links)}\n" for pair in PAIRS))
    text = ["train", "--source", str(home / "a.en"), "--target", str(home / "a.fr")]
    learnt = ["--features", "32", "--steps", "120", "--learning-rate", "1e-2", "--dropout", "0.1"]
    options = {
        "words": [*learnt, "--words", "--min-count=1", "--dev-every=60", "--dev", f"{home}/a.en", f"{home}/a.fr"],
        "subwords": [*SMALL, "--vocabulary", "100", "--shared"],
        "none": [*SMALL, "--words", "--preset", "rnn_encdec"],
        "transformer": [*SMALL, "--preset", "transformer", "--layers", "3", "--vocabulary", "100"],
        "location": [*SMALL, "--words", "--score", "location", "--encoder", "forwards"],
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


def test_translations_come_line_by_line_in_order_and_empty_lines_too(run, home):
    sources = [" ".join(pair.source) for pair in PAIRS]
    given = "\n".join([sources[5], "", *sources[::-1], "  "]).encode()
    status, out, err = run("translate", "--model", "words", "--links", "out.links", given=given)
    assert (status, err) == (0, "")
    lines = out.split("\n")
    assert len(lines) == len(given.split(b"\n")) + 1
    assert lines[1] == lines[-2] == lines[-1] == ""
    expected = [PAIRS[5].target, *(pair.target for pair in PAIRS[::-1])]
    translations = [words_of(line) for line in (lines[0], *lines[2:-2])]
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


def test_nothing_in_nothing_out(run):
    assert run("translate", "--model", "words") == (0, "", "")


@pytest.mark.parametrize("model", ["words", "subwords", "none", "location", "transformer"])
def test_unknown_words_and_letters_never_fail(run, model):
    status, out, err = run("translate", "--model", model, "--beam", "2", given="the ωmega zzz\n☃ 𝄞\n".encode())
    assert (status, err) == (0, "")
    assert out.count("\n") == 2


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


def test_unknown_words_are_replaced_by_a_dictionarys_or_by_themselves(run, home):
    model = attnlib.load(home / "words")
    translation = model.translate(" ".join(PAIRS[0].source))
    unknown = translation._replace(words=("<unknown>", *translation.words[1:]))
    asked = translation.source[int(translation.weights[0].argmax())]
    assert unknown.with_unknown_replaced().words == (asked, *translation.words[1:])
    for entry in ("une chose", ""):
        replaced = unknown.with_unknown_replaced({asked: entry})
        assert replaced.words == (*entry.split(), *translation.words[1:])
        rest = len(translation.words) - 1
        np.testing.assert_array_equal(replaced.weights[-rest:], translation.weights[1:])
        assert (replaced.weights[:-rest] == translation.weights[0]).all()
        assert len(replaced.weights) == len(replaced.words)
    assert translation.with_unknown_replaced({asked: "x"}) is translation


def test_commands_replace_unknown_words(run, home, monkeypatch):
    true = Vocabulary.grouped

    def unknown(vocabulary, ids):
        words, sizes = true(vocabulary, ids)
        return ("<unknown>",) * len(words), sizes

    monkeypatch.setattr(Vocabulary, "grouped", unknown)
    (home / "dictionary").write_text("the\tdie\ncat\tkatze\n")
    evaluations = set()
    for option, words in (
        ([], {"<unknown>"}),
        (["--replace-unknown"], {"the", "cat"}),
        (["--dictionary", "dictionary"], {"die", "katze"}),
    ):
        status, out, _ = run("translate", "--model", "words", *option, given=b"the cat\n")
        assert status == 0
        assert set() < {*out.split()} <= words
        evaluations.add(run("evaluate", "--model", "words", *option, "a.en", "a.fr")[1])
    assert len(evaluations) == 3


def test_evaluation_says_how_it_was_computed(run):
    status, out, _ = run("evaluate", "--model", "words", "a.en", "a.fr", "--gold", "a.links", "--beam", "1")
    assert status == 0
    assert out.startswith("12 sentences\nBLEU ")
    numbers = {name: float(number) for name, number in re.findall(r"^(BLEU|chrF|exact match) ([0-9.]+)", out, re.M)}
    assert all(number > 60 for number in numbers.values())
    assert "tok:none" in out
    assert "chrF" in out
    assert "sentences of 1 to 10 source words" in out
    assert 0 <= float(re.search(r"alignment error rate ([0-9.]+)", out)[1]) < 0.9
    assert "tok:13a" in run("evaluate", "--model", "subwords", "a.en", "a.fr", "--beam", "1", "--max-length", "9")[1]


def test_links_are_those_of_forced_decoding(run, home):
    for name in ("words", "subwords", "transformer"):
        status, out, _ = run("align", "--model", name, "a.en", "a.fr")
        assert status == 0
        lines = out.split("\n")[:-1]
        assert [len(line.split()) for line in lines] == [len(pair.target) for pair in PAIRS]
        assert lines[3] == pharaoh(*attnlib.load(home / name).links_of([PAIRS[3][:2]]))
    (home / "gaps.tsv").write_text("a\tb\n\tb\na\t\n")
    assert run("align", "--model", "words", "gaps.tsv")[1] == "0-0\n\n\n"


@pytest.mark.parametrize("model", ["words", "subwords", "none", "location"])
def test_a_model_becomes_one_page_and_its_size_is_said_first(run, home, model):
    status, _, err = run("page", "--model", model, "-o", "own.html")
    size = (home / "own.html").stat().st_size
    assert (status, err) == (0, f"own.html takes {size / 1e6:.1f} MB\nopen own.html\n")
    assert (home / "own.html").read_text("utf-8").count(f"<h1>{model}</h1>") == 1


TRAIN = ("train", "--source", "a.en", "--target", "a.fr", "--model", "new")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("align", "--model", "none", "a.en", "a.fr"), "align needs attention, and this model has none"),
        (("page", "--model", "transformer", "-o", "no.html"), "this model is a Transformer: train another --preset"),
        (("page", "--model", "words", "-o", "no/no.html"), "no such file or directory"),
        (("translate", "--model", "none", "--replace-unknown"), "replacing unknown words needs attention"),
        (("evaluate", "--model", "none", "a.en", "a.fr", "--gold", "a.links"), "align needs attention"),
        (("evaluate", "--model", "words", "a.en", "a.links2"), "a.links2: no such file"),
        (("translate", "--model", "words", "--beam", "0"), "beam is 0; expected at least 1"),
        ((*TRAIN, "--source", "missing"), "missing: no such file or directory"),
        ((*TRAIN, "--preset", "rnn_search", "--score", "dot"), "--score is a choice of Luong's model"),
        ((*TRAIN, "--preset", "transformer", "--features", "10"), "heads is 4; expected a divisor of emb, 10"),
        ((*TRAIN, "--dev", "a.en", "a.fr", "a.fr"), "--dev is 3 files; expected two"),
        ((*TRAIN, "--vocabulary", "9"), "--vocabulary is 9; expected at least"),
        ((*TRAIN, "--steps", "0"), "--steps is 0; expected at least 1"),
        ((*TRAIN, "--batch-sentences", "0"), "--batch-sentences is 0; expected at least 1"),
        ((*TRAIN, "--half-width", "3"), "--half-width is of a local window; expected --window"),
        ((*TRAIN, "--words", "--shared"), "--shared is True with whole words"),
        ((*TRAIN, "--min-count", "5"), "--min-count is 5 with subwords; expected it with --words only"),
        ((*TRAIN, "--preset", "transformer", "--embedding-scale", "1"), "--embedding-scale is 1.0; a transformer's"),
        ((*TRAIN, "--patience", "1"), "--patience and --dev-every are about dev scores; expected --dev"),
        ((*TRAIN, "--preset", "rnn_search", "--no-input-feeding"), "--no-input-feeding is a choice of Luong's"),
        ((*TRAIN, "--model", "/"), "folder is /; expected one that has a name"),
        (("evaluate", "--model", "words", "a.en", "a.fr", "--tokenize", "foo"), "tokenize is 'foo'; expected one of"),
        (("translate", "--model", "words", "--dictionary", "a.tsv"), "a.tsv, line 1: 2 words before the tab; expected"),
        ((*TRAIN, "--minutes", "-1"), "minutes is -1.0; expected a number above 0"),
        ((*TRAIN, "--learning-rate", "nan"), "--learning-rate is nan; expected a number above 0"),
        ((*TRAIN, "--batch-words", "3"), "no pair is left"),
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


def test_dev_pairs_that_do_not_fit_are_left_out_and_counted(run, home):
    (home / "dev.tsv").write_text("the cat\tle chat\n\tle\n" + "a " * 100 + "\tle\n")
    options = (*SMALL, "--words", "--score", "location", "--dev", "dev.tsv")
    status, _, err = run(*TRAIN[:5], "--model", "fitting", *options)
    assert status == 0
    assert "dev: 2 sentence pairs; left out: 1 with an empty side\n" in err
    assert "dev: left out: 1 pairs too long for the model\n" in err


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names on this system")
def test_a_pipe_is_refused_since_a_text_is_read_twice(run, home):
    os.mkfifo(home / "pipe")
    status, _, err = run(*TRAIN[:2], "pipe", *TRAIN[3:])
    assert (status, err) == (2, "attnlib train: pipe is a pipe; expected a file, which can be read twice\n")


def test_a_model_is_made_where_a_link_leads(run, home):
    (home / "link").symlink_to("linked", target_is_directory=True)
    assert run(*TRAIN[:5], "--model", "link", *SMALL, "--vocabulary", "60")[0] == 0
    assert (home / "link").is_symlink()
    attnlib.load(home / "linked")


def test_too_little_memory_is_said_in_one_sentence(run, monkeypatch):
    def load(*_):
        raise RuntimeError("DefaultCPUAllocator: can't allocate memory")

    monkeypatch.setattr(text_model, "load", load)
    status, out, err = run("translate", "--model", "words", given=b"a\n")
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert "not enough memory" in err


def test_no_more_is_read_than_the_location_score_has_positions(run, home):
    long = "the cat\n\n" + "a " * 100 + "\n"
    status, out, err = run("translate", "--model", "location", "--max-length", "3", given=long.encode())
    assert (status, out.count("\n")) == (0, 3)
    assert err == "the input, line 3: cut to 99 words or pieces of words, 99 of its 100 words\n"
    (home / "beyond.tsv").write_text("the\tle\n" + "a " * 100 + "\tle\n")
    status, out, err = run("align", "--model", "location", "beyond.tsv")
    assert (status, out) == (2, "")
    assert "beyond.tsv, line 2: 100 words or pieces of words; expected at most 99: leave" in err


def test_a_line_that_is_not_utf8_is_named_and_those_before_it_are_translated(run):
    given = " ".join(PAIRS[0].source).encode()
    status, out, err = run("translate", "--model", "words", given=given + b"\n\n\xe9\nthe cat\n")
    assert (status, out) == (2, run("translate", "--model", "words", given=given + b"\n\n")[1])
    assert "the input, line 3: byte 1 is not UTF-8" in err


@pytest.mark.parametrize(("model", "long"), [("words", "the cat " * 50_000), ("subwords", "a" * 500_000)])
def test_a_line_beyond_measure_is_cut_and_translated_beside_none_that_is_short(run, monkeypatch, model, long):
    command = ("translate", "--model", model, "--max-length", "9")
    lines, shapes, true = [" ".join(pair.source) for pair in PAIRS], [], search.encode
    alone = run(*command, given="\n".join(lines).encode())[1].split("\n")

    def watched(*given):
        shapes.append(true(*given)[0].shape)
        return true(*given)

    monkeypatch.setattr(search, "encode", watched)
    status, out, err = run(*command, given="\n".join([*lines[:7], long, *lines[7:]]).encode())
    assert status == 0
    assert out.split("\n")[:7] + out.split("\n")[8:] == alone
    assert max(rows * columns for rows, columns in shapes) <= 32_000 / 5
    assert err.startswith("the input, line 8: cut to 1,000 words or pieces of words, ")
    run(*command, "--longest", "3", given=long.encode())
    assert shapes[-1][1] <= 4


def test_a_pair_beyond_measure_is_refused_by_its_line_and_a_long_one_linked_beside_none_that_is_short(
    run, home, monkeypatch
):
    pairs = [*PAIRS[:5], (("the",) * 900, ("le",) * 1_001), *PAIRS[5:]]
    (home / "long.tsv").write_text("".join(f"{' '.join(pair[0])}\t{' '.join(pair[1])}\n" for pair in pairs))
    for command in ("align", "evaluate"):
        status, out, err = run(command, "--model", "words", "long.tsv")
        assert (status, out) == (2, "")
        assert "long.tsv, line 6: 1,001 words or pieces of words; expected at most 1,000: leave" in err
    parts, true = [], metrics.batch
    monkeypatch.setattr(metrics, "batch", lambda part, *known: parts.append(part) or true(part, *known))
    out = run("align", "--model", "words", "--longest", "2000", "long.tsv")[1]
    assert [len(line.split()) for line in out.split("\n")[:-1]] == [len(pair[1]) for pair in pairs]
    assert max(len(part) * max(len(pair.target) for pair in part) for part in parts) <= 6_400


def outside(words, home):
    """Run a command line of a shell in a process of its own, which has its own streams."""
    command = f"exec {sys.executable} -m attnlib {words}"
    ran = subprocess.run(["sh", "-c", command], cwd=home, capture_output=True, text=True, check=False)
    return ran.returncode, ran.stdout, ran.stderr


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device here that is always full")
def test_a_full_output_is_said_once(run, home):
    message = "attnlib translate: no space left for {}; make room, and the same command begins anew\n"
    full = outside("translate --model words --links new.links < a.en > /dev/full", home)
    assert full == (2, "", message.format("the output"))
    assert not (home / "new.links").exists()
    assert run("translate", "--model", "words", "--links", "/dev/full", given=b"the")[2] == message.format("/dev/full")
    assert stat.S_ISCHR(os.stat("/dev/full").st_mode)


@pytest.mark.skipif(os.name != "posix", reason="closes streams as a shell does")
def test_without_a_stream_for_errors_none_of_them_is_output(run, home):
    words = ["translate", "--model", "words", "--longest", "2", "--max-length", "3"]
    alone = run(*words, given=(home / "a.en").read_bytes())[1]
    assert outside(f"{' '.join(words)} < a.en 2>&-", home) == (0, alone, "")


def test_errors_name_no_file_that_stands_in_for_what_was_asked_for(run, home, monkeypatch):
    assert "translate: no/x: no such file" in run("translate", "--model", "words", "--links", "no/x")[2]

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    message = "attnlib {}: no space left for {}; make room, and the same command {}\n"
    new, page = (*TRAIN, *SMALL, "--vocabulary", "100"), ("page", "--model", "words", "-o", "new.html")
    assert run(*new)[2].endswith(message.format("train", "new", "goes on"))
    assert run(*page)[2].endswith(message.format("page", "new.html", "begins anew"))
    assert not [path for path in home.iterdir() if "new" in path.name]


def test_the_toy_text_is_the_grammars_and_replaces_nothing(run, home):
    assert run("toy", "toy", "--train", "30", "--dev", "5")[0] == 0
    for name, n, part in (("train", 30, "train"), ("dev", 5, "test")):
        pairs = sample(n, seed=1, part=part)
        read = files.read_pairs(home / "toy" / f"{name}.en", home / "toy" / f"{name}.fr").pairs
        gold = files.read_gold(home / "toy" / f"{name}.links", [pair[:2] for pair in read])
        assert [pair._replace(links=links.sure) for pair, links in zip(read, gold, strict=True)] == pairs
    status, _, err = run("toy", "toy", "--train", "30", "--dev", "5")
    assert (status, err) == (2, "attnlib toy: toy/train.en is there already; expected a folder without it\n")


def test_options_are_the_fields_of_what_is_told_by_python(monkeypatch, tmp_path):
    learnt, dev = [], tmp_path / "dev"
    dev.write_text("a\tb\n")
    monkeypatch.setattr("attnlib.text.learning.learn", lambda *given, **_: learnt.append(given[-1]))
    train = ["train", "--source", "a", "--model", "m"]
    words = "--words --min-count 3 --batch-words 70 --batch-sentences 5 --minutes 2.5 --dev-every 9 --seed 4"
    model = "--preset luong --no-input-feeding --window monotonic --half-width 3 --features 6 --embedding-dropout 0.5"
    assert main(train) == main([*train, "--dev", str(dev), *words.split(), *model.split()]) == 0
    options = {
        "encoder": "reversed",
        "input_feeding": False,
        "window": "monotonic",
        "half_width": 3,
        "emb": 6,
        "hid": 6,
        "seed": 4,
    }
    batch = {"words": 70, "sentences": 5, "least": 3, "minutes": 2.5, "score_every": 9, "seed": 4}
    expected = Settings(options=options | {"dropout": 0.3, "embedding_dropout": 0.5}, subwords=False, **batch)
    assert learnt == [Settings(), expected]
    with pytest.raises(SystemExit):
        main([*train, "--steps", "1", "--minutes", "2.5"])


@pytest.mark.parametrize("kind", [["--words"], ["--vocabulary", "100"], ["--vocabulary", "100", "--shared"]])
def test_a_text_is_read_twice_at_most(run, home, kind, monkeypatch):
    opened, true = [], Path.open

    def watched(path, *arguments, **options):
        opened.append(path.name)
        return true(path, *arguments, **options)

    monkeypatch.setattr(Path, "open", watched)
    command = ["train", "--source", "a.en", "--target", "a.fr", *SMALL, *kind, "--model", f"twice{''.join(kind)}"]
    assert run(*command)[0] == 0
    assert opened.count("a.en") == opened.count("a.fr") == 2
    known = attnlib.load(home / command[-1]).translator
    assert (known.source_vocabulary is known.target_vocabulary) == ("--shared" in kind)


def test_help_says_each_default_once_and_shows_an_example(run):
    for number in ("8000", "0.002", "1.0", "0", "cosine"):
        assert f"(default: {number})" in " ".join(run("train", "--help")[1].split())
    commands = re.findall("^    ([a-z]+)", run("--help")[1], re.M)
    assert commands == ["toy", "train", "translate", "evaluate", "align", "page"]
    for command in commands:
        status, out, _ = run(command, "--help")
        assert status == 0
        assert f"example:\n  attnlib {command} " in out
        assert run(command, "--nonsense")[0] == 2
