"""The command: what each part prints, writes and refuses, on text written from the grammar."""

import json
import re
import sys
from contextlib import chdir
from dataclasses import asdict
from importlib.metadata import version
from io import BytesIO
from types import SimpleNamespace
from unittest.mock import Mock

import pytest
import torch

import attnbook
from attnbook import sample
from attnlib import Vocabulary, luong, translate
from attnlib.metrics import exact_match, forced_alignments
from attnlib.units import split_words
from attntext import files, stream
from attntext.command import main
from attntext.files import format_pharaoh
from attntext.settings import TrainingConfig

PAIRS = sorted(sample(60, seed=0, clauses=(1,)), key=lambda pair: len(pair.source))[:12]
SOURCES = [" ".join(pair.source) for pair in PAIRS]
TRAIN = ("train", "--source", "a.tsv", "--save-seconds", "1e9", "--model")
# What is wrong with options is said before a text is read.
FIRST = ("train", "--source", "missing.tsv", "--model", "new")
MODELS = {
    "words": "--features 32 --steps 120 --learning-rate 1e-2 --dropout 0.1 --words --min-count 1 --dev a.tsv",
    "subwords": "--features 8 --steps 2 --vocab-size 100 --share-vocabulary",
    "none": "--features 8 --steps 2 --words --share-vocabulary --preset rnn_encdec",
}


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """Write a text of twelve pairs, and models: one that knows them by heart, and others that know next to nothing."""
    home = tmp_path_factory.mktemp("home")
    (home / "a.tsv").write_text("".join(f"{' '.join(pair.source)}\t{' '.join(pair.target)}\n" for pair in PAIRS))
    (home / "a.links").write_text("".join(f"{format_pharaoh(pair.links)}\n" for pair in PAIRS))
    with chdir(home):
        for name, options in MODELS.items():
            assert main([*TRAIN, name, *options.split()]) == 0
    return home


@pytest.fixture(autouse=True)
def at_home(home, monkeypatch):
    """Be where the text and the models are."""
    monkeypatch.chdir(home)


def test_translations_come_in_order_and_empty_lines_too(run, home, monkeypatch):
    monkeypatch.setattr(stream, "_LINES", 5)
    given = [SOURCES[5], "", *SOURCES[::-1], "  "]
    status, out, err = run("translate", "--model", "words", "--links", "out.links", given="\n".join(given))
    assert (status, err) == (0, "")
    *lines, last = [split_words(line) for line in out.split("\n")]
    assert [bool(line) for line in lines] == [bool(line.strip()) for line in given]
    expected = [PAIRS[5].target, (), *(pair.target for pair in PAIRS[::-1]), ()]
    assert exact_match(lines, expected) > 0.8
    links = (home / "out.links").read_text().split("\n")
    assert [len(line.split()) for line in links] == [*map(len, lines), len(last)]


def test_a_file_is_translated_into_a_file_and_messages_name_it(run, home):
    text = "\n".join([*SOURCES, "zzz"])
    (home / "in.en").write_text(text)
    expected, missing = run("translate", "--model", "words", given=text)[1], ("no.en", "-o", "no.fr")
    status, out, err = run("translate", "in.en", "-o", "out.fr", "--model", "words", given="not read")
    assert (status, out, err[:12]) == (0, "", "in.en: 1 of ")
    assert (home / "out.fr").read_text() == expected
    says = "attnlib translate: no.en: No such file or directory\n"
    assert run("translate", *missing, "--model", "words") == (2, "", says)
    assert not (home / "no.fr").exists()


def test_the_n_best_translations_have_numbers_and_log_probabilities(run):
    given = "\n".join(SOURCES[:2])
    out = run("translate", "--model", "words", "--n-best", "3", given=given)[1]
    numbers, written, scores = zip(*(line.split(" ||| ") for line in out.splitlines()), strict=True)
    assert [*numbers] == ["0"] * 3 + ["1"] * 3
    assert [written[0], written[3]] == run("translate", "--model", "words", given=given)[1].splitlines()
    assert len({*written}) == 6
    assert float(scores[0]) == pytest.approx(translate(attnbook.load("words"), SOURCES[0]).log_probability, abs=1e-3)
    says = "attnlib translate: n_best is 9; expected at most beam_size, 5\n"
    assert run("translate", "--model", "words", "--n-best", "9", given=given) == (2, "", says)


def test_a_trained_model_is_trained_further_with_its_own_vocabularies(run, home):
    (home / "b.tsv").write_text("the newcomer sleeps\tle nouveau dort\n" * 3)
    further = ("train", "--source", "b.tsv", "--model", "further", "--learning-rate", "1e-9", "--steps", "2")
    status, _, err = run(*further, "--from", "words")
    assert status == 0
    assert (
        "from words, whose vocabularies are kept: they lack 12 words of the text. The learning rate starts again" in err
    )
    for name in ("source.words", "target.words"):
        assert (home / "further" / name).read_bytes() == (home / "words" / name).read_bytes()
    one, other = (translate(attnbook.load(name), SOURCES[0]) for name in ("words", "further"))
    assert one.log_probability == pytest.approx(other.log_probability, abs=1e-3)
    assert "further is complete already; --from trains it further" in run(*further, "--from", "words")[2]
    assert "another model to train further" in run(*further, "--words", "--features", "32", "--min-count", "1")[2]
    says = "attnlib train: from is words, a model of another architecture; expected its own options\n"
    assert run(*further[:4], "new", "--from", "words", "--score", "dot")[2].endswith(says)
    assert not (home / "new").exists()


def test_options_are_read_from_the_configuration_of_a_training_unless_others_are_given(monkeypatch):
    learnt = []
    monkeypatch.setattr("attntext.trainer.train_model", lambda *given, **_: learnt.append(given[-1]))
    for name in ("words", "none"):
        assert main([*TRAIN, "m", "--dev", "a.tsv", "--config", f"{name}/config.json"]) == 0
        assert asdict(learnt[-1]) == attnbook.load(name).config["settings"]
    assert main([*TRAIN, "m", "--config", "words", "--epochs", "3", "--seed", "4", "--score", "general"]) == 0
    words = attnbook.load("words").config["settings"]
    other = {"seed": 4, "epochs": 3, "steps": None, "options": words["options"] | {"score": "general", "seed": 4}}
    assert asdict(learnt[-1]) == words | other


def test_a_configuration_that_no_training_can_have_is_refused(run, home):
    settings = attnbook.load("words").config["settings"]
    (home / "other.json").write_text(json.dumps({"settings": settings | {"preset": "gru"}}))
    assert "preset is 'gru'; expected one of luong" in run(*TRAIN, "m", "--config", "other.json")[2]


@pytest.mark.parametrize("model", MODELS)
def test_unknown_words_and_letters_never_fail(run, model):
    command = ("translate", "--model", model, "--beam-size", "2")
    status, out, _ = run(*command, given="the ωmega zzz\n☃ 𝄞\n")
    assert (status, out.count("\n")) == (0, 2)
    assert run(*command) == (0, "", "")


def test_an_unknown_word_is_replaced_by_the_source_word_that_it_looked_at_most(run, monkeypatch):
    known = translate(attnbook.load("words"), SOURCES[0])
    unknown = known._replace(words=("<unknown>", *known.words[1:]))
    asked = known.source[int(known.weights[0].argmax())]
    assert unknown.with_unknown_replaced().words == (asked, *known.words[1:])
    assert known.with_unknown_replaced() is known
    letters = unknown._replace(words=("我<unknown>狗",), source=("ab", "c"), unspaced=(False, True))
    letters = letters._replace(weights=torch.eye(3, 2).numpy()[[0, 1, 0]])
    assert letters.with_unknown_replaced().words == ("我c狗",)
    monkeypatch.setattr(Vocabulary, "decode", lambda self, ids: ("<unknown>",) * 3)
    command = ("translate", "--model", "words", "--max-length", "3", "--replace-unknown")
    assert {*run(*command, given="the cat\n")[1].split()} <= {"the", "cat"}


def test_evaluation_says_how_it_was_computed(run):
    status, out, _ = run("evaluate", "--model", "words", "a.tsv", "--gold", "a.links", "--beam-size", "1")
    assert status == 0
    assert out.startswith("12 sentences\nBLEU ")
    numbers = {name: float(number) for name, number in re.findall(r"^(BLEU|chrF|exact match) ([0-9.]+)", out, re.M)}
    assert all(number > 60 for number in numbers.values())
    assert "tok:none" in out
    assert "sentences of 1 to 10 source words" in out
    assert 0 <= float(re.search(r"alignment error rate ([0-9.]+)", out)[1]) < 0.9
    assert "exact match 0.00 percent" in run("evaluate", "--model", "words", "a.tsv", "--max-length", "1")[1]
    assert "tok:13a" in run("evaluate", "--model", "subwords", "a.tsv", "--max-length", "1")[1]


def test_links_are_those_of_forced_decoding(run, home):
    for name in ("words", "subwords"):
        status, out, _ = run("align", "--model", name, "a.tsv")
        assert status == 0
        lines = out.split("\n")[:-1]
        assert [len(line.split()) for line in lines] == [len(pair.target) for pair in PAIRS]
        assert lines[3] == format_pharaoh(*forced_alignments(attnbook.load(name), [PAIRS[3][:2]]))
    (home / "gaps.tsv").write_text("a\tb\n\tb\na\t\n")
    assert run("align", "--model", "words", "gaps.tsv")[1] == "0-0\n\n\n"


def test_a_model_becomes_one_page_and_its_size_is_said_first(run, home):
    status, _, err = run("page", "--model", "subwords", "-o", "own.html")
    size = (home / "own.html").stat().st_size
    assert (status, err) == (0, f"own.html takes {size / 1e6:.1f} MB\nopen own.html\n")
    assert (home / "own.html").read_text("utf-8").count("<h1>subwords</h1>") == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("align", "--model", "none", "a.tsv"), "model has no attention; expected a model with attention"),
        (("translate", "--model", "words", "--links", "no/x"), "no/x: No such file or directory"),
        ((*TRAIN, "new", "--dev", "a.tsv", "a.tsv", "a.tsv"), "dev is 3 files; expected two"),
        ((*FIRST, "--features", "7"), "hidden_size is 7; expected an even number"),
        ((*FIRST, "--features", "6", "--preset", "transformer"), "num_heads is 4; expected a divisor of d_model, 6"),
        ((*FIRST, "--max-input-length", "0"), "max_input_length is 0; expected at least 1"),
        (("toy", "new", "--train", "-1"), "train is -1; expected at least 1"),
        ((*TRAIN, "new", "--vocab-size", "9"), "vocab_size is 9; expected at least"),
        ((*TRAIN, "new", "--patience", "1"), "patience and eval_every need dev scores; expected dev files"),
        ((*TRAIN, "none", "--steps", "3"), "none holds a model of another configuration"),
        ((*TRAIN, "m", "--config", "a.tsv"), "a.tsv is damaged; expected the config.json of a training"),
        ((*TRAIN, "m", "--config", "words", "--from", "words"), "config is words and from is words; expected one"),
    ],
)
def test_what_is_wrong_is_one_sentence_and_leaves_nothing_behind(run, home, words, message):
    before = sorted(home.rglob("*"))
    status, out, err = run(*words, given="the cat\n")
    assert (status, out) == (2, "")
    *_, last = err.strip().split("\n")
    assert last.startswith(f"attnlib {words[0]}: ")
    assert message in last
    assert "Traceback" not in err
    assert sorted(home.rglob("*")) == before


def test_a_line_that_is_not_utf8_is_named_and_the_parts_before_it_are_translated(run, monkeypatch):
    monkeypatch.setattr(stream, "_LINES", 2)
    given = f"{SOURCES[0]}\n\n".encode()
    status, out, err = run("translate", "--model", "words", given=given + b"the cat\n\xe9\n")
    assert (status, out) == (2, run("translate", "--model", "words", given=given)[1])
    assert "the input, line 4: byte 1 is not UTF-8" in err


@pytest.mark.parametrize(("model", "long"), [("words", "the cat " * 50_000), ("subwords", "a" * 500_000)])
def test_a_line_beyond_measure_is_cut_and_changes_no_other(run, model, long):
    command = ("translate", "--model", model, "--max-length", "9")
    alone = run(*command, given="\n".join(SOURCES))[1].split("\n")
    status, out, err = run(*command, given="\n".join([*SOURCES[:7], long, *SOURCES[7:]]))
    assert status == 0
    assert out.split("\n")[:7] + out.split("\n")[8:] == alone
    assert err.startswith("the input, line 8: cut to 1,000 words or pieces of words\n")


def test_a_source_beyond_the_positions_of_the_location_score_is_cut():
    known, lines, out = Vocabulary(("a",)), [], BytesIO()
    model = luong(known, known, score="location", embedding_dim=4, hidden_size=4)
    stream.translate_stream(model, BytesIO(b"a " * 120), out, max_length=3, log=lines.append)
    assert lines[0] == "the input, line 1: cut to 99 words or pieces of words"
    assert out.getvalue().count(b"\n") == 1


@pytest.mark.parametrize(("at_terminal", "parts"), [(True, [[b"a"], [b"b"]]), (False, [[b"a", b"b"]])])
def test_a_terminal_that_one_cannot_wait_for_is_answered_line_by_line(monkeypatch, at_terminal, parts):
    """As one of Windows, where a program waits for sockets only."""
    monkeypatch.setattr(stream, "select", Mock(side_effect=OSError))
    typed = iter([b"a\n", b"b\n", b""])
    source = SimpleNamespace(read1=lambda size: next(typed), isatty=lambda: at_terminal)
    assert [*stream._together(source, "it")] == parts


def test_the_toy_text_is_the_grammars_and_replaces_nothing(run, home):
    assert run("toy", "toy", "--train", "30", "--dev", "5")[0] == 0
    for name, n, part in (("train", 30, "train"), ("dev", 5, "test")):
        read = files.read_parallel(f"toy/{name}.en", f"toy/{name}.fr").pairs
        gold = files.read_gold(f"toy/{name}.links", [pair[:2] for pair in read])
        pairs = [pair._replace(links=links.sure) for pair, links in zip(read, gold, strict=True)]
        assert pairs == sample(n, seed=1, part=part, clauses=(1,))
    (home / "toy" / "train.en").unlink()
    before = sorted((home / "toy").iterdir())
    assert run("toy", "toy")[::2] == (2, "attnlib toy: toy/train.fr: File exists\n")
    assert sorted((home / "toy").iterdir()) == before


def test_options_are_the_fields_of_what_is_told_by_python(monkeypatch):
    learnt = []
    monkeypatch.setattr("attntext.trainer.train_model", lambda *given, **_: learnt.append(given[-1]))
    words = "--words --min-count 3 --max-tokens 70 --max-sentences 5 --minutes 2.5 --eval-every 9 --seed 4"
    assert main([*TRAIN, "m"]) == main([*TRAIN, "m", "--dev", "a.tsv", *words.split(), "--score", "general"]) == 0
    batch = {"max_tokens": 70, "max_sentences": 5, "min_count": 3, "minutes": 2.5, "eval_every": 9, "seed": 4}
    options = TrainingConfig().options | {"score": "general", "seed": 4}
    assert learnt == [TrainingConfig(), TrainingConfig(options=options, words=True, **batch)]


def test_ctrl_c_ends_a_command_with_status_130(run, monkeypatch):
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(files, "write_toy", interrupt)
    assert run("toy", "interrupted") == (130, "", "")


def test_a_log_that_is_no_terminal_has_lines_for_a_bar(run):
    files = ("--source", "a.tsv", "--dev", "a.tsv", "--model", "logged")
    err = run("train", *files, *["--words", "--features", "8", "--steps", "6", "--eval-every", "2"])[2]
    assert "\r" not in err
    assert re.findall("^step ([0-9]+): dev loss", err, re.MULTILINE) == ["2", "4", "6"]
    assert "only 6 steps, and below about 400 a model translates poorly" in err
    assert re.search("^6/6 steps, 00:[0-9]+ so far, 00:00 left, smoothed_loss=", err, re.MULTILINE)


def test_the_version_is_told(run):
    assert run("--version") == (0, f"attnlib {version('attnlib')}\n", "")


def test_help_lists_the_commands(run):
    assert re.findall("• ([a-z]+)", run("--help")[1]) == ["toy", "train", "translate", "evaluate", "align", "page"]


def test_products_are_bfloat16s_where_the_processor_can_unless_float32_is_asked_for(run, monkeypatch):
    seen = []
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: {"avx512_bf16": True}, raising=False)
    look = lambda *_, **__: seen.append(torch.is_autocast_enabled("cpu"))  # noqa: E731
    monkeypatch.setattr(stream, "translate_stream", look)
    for more in ([], ["--float32"]):
        assert run("translate", "--model", "words", *more) == (0, "", "")
    assert seen == [True, False]


@pytest.mark.parametrize(
    ("closed", "command", "status", "says"),
    [
        ("stdout", "--version", 0, ""),
        ("stdin", "translate --model words", 2, "attnlib translate: the input: closed; expected an open one\n"),
        ("stdout", "translate --model words", 2, "attnlib translate: the output: closed; expected an open one\n"),
        ("stdout", "evaluate --model words a.tsv", 2, "attnlib evaluate: the output: closed; expected an open one\n"),
        ("stdout", "align --model words a.tsv", 2, "attnlib align: the output: closed; expected an open one\n"),
        ("stderr", "align --model missing a.tsv", 2, ""),
    ],
)
def test_a_closed_stream_is_missed_only_by_what_needs_it(monkeypatch, capfd, closed, command, status, says):  # noqa: PLR0917
    monkeypatch.setattr(sys, closed, None)
    assert main(command.split()) == status
    assert capfd.readouterr().err.endswith(says)
    getattr(sys, closed).close()
