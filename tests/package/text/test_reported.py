"""Troubles that users of other translation toolkits reported: none of them is here."""

import bz2
import errno
import gzip
import lzma
import os
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from io import BytesIO
from pathlib import Path
from queue import Queue
from types import SimpleNamespace

import pytest

from attnbook.pretrained.folder import load, load_history
from attnbook.pretrained.models import FOLDER
from attnlib.data import SentencePair
from attntext import saving
from attntext.atomic_files import add_path_to_errors
from attntext.files import read_lines
from attntext.settings import TrainingConfig
from attntext.stream import translate_stream
from attntext.trainer import train_model

TRAIN = ("train", "--source", "train.tsv", "--model", "run", "--features", "64", "--dropout", "0")
CHINESE = [
    f"{who} {does} {what} .\t{subject}{verb}{thing}。"
    for who, subject in (("I", "我"), ("you", "你"), ("they", "他们"))
    for does, verb in (("see", "看见"), ("like", "喜欢"))
    for what, thing in (("dogs", "狗"), ("cats", "猫"), ("tea", "茶"))
]


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path, monkeypatch):
    """Be in an empty folder."""
    monkeypatch.chdir(tmp_path)


def write(name, lines):
    Path(name).write_text("".join(f"{line}\n" for line in lines), "utf-8")


def test_a_target_without_spaces_is_scored_and_linked_by_its_letters(run):
    write("train.tsv", CHINESE * 20)
    write("dev.tsv", CHINESE)
    options = "--score dot --epochs 40 --vocab-size 50 --dev dev.tsv --eval-every 999"  # only at the end
    assert run(*TRAIN, *options.split())[0] == 0
    assert [line["dev_chrf"] for line in load_history("run") if "dev_chrf" in line][-1] > 90
    out = run("evaluate", "--model", "run", "dev.tsv")[1]
    assert "tok:zh" in out
    assert "BLEU 100.00" in out
    status, out, _ = run("translate", "--model", "run", "--links", "links", given="they see dogs .\n")
    assert (status, out) == (0, "他们看见狗。\n")
    links = [link.split("-") for link in Path("links").read_text().split()]
    assert {t for _, t in links} == {*"012345"}
    assert len({i for i, _ in links}) > 1
    write("two.tsv", CHINESE[:2])
    lines = run("align", "--model", "run", "two.tsv")[1].splitlines()
    assert [len(line.split()) for line in lines] == [5, 5]
    assert all(len({link.split("-")[0] for link in line.split()}) > 1 for line in lines)


def test_a_long_line_keeps_its_translation_or_its_beginning_and_the_line_is_named(run):
    """A model that copies sentences of up to 22 words is given one of 120 words."""
    short = (" ".join(f"w{(n + k * (n % 5 + k)) % 7}" for k in range(3 + n % 20)) for n in range(400))
    write("train.tsv", [f"{words}\t{words}" for words in short])
    options = (
        "--words --preset luong --window local-m --half-width 2 --encoder forward --embedding-dropout 0 "
        "--learning-rate 0.01 --steps 120 --max-sentences 32"
    )
    assert run(*TRAIN, *options.split())[0] == 0
    words = [f"w{n * n % 7}" for n in range(120)]
    command = ("translate", "--model", "run")
    for more in ((), ("--max-length", "100")):
        status, out, err = run(*command, *more, given=f"w1 w2\n{' '.join(words)}\n")
        assert (status, out) == (0, f"w1 w2\n{' '.join(words[: 100 if more else None])}\n")
        assert err == ("the input, lines 2: translations cut at their greatest length (--max-length)\n" if more else "")


# Faults of this command, each with the smallest input that showed it.

MODEL = str(FOLDER / "bahdanau")
SMALL = ("train", "--source", "train.tsv", "--model", "run", "--features", "4", "--steps", "3", "--words")
LINES = ["the cat sleeps\tle chat dort", "the dog sleeps\tle chien dort"]
no_space = partial(OSError, errno.ENOSPC, "No space left on device")


def test_a_vocabulary_that_would_know_no_word_is_refused_and_one_says_what_it_covers(run):
    write("train.tsv", [*LINES, "one word\ttrois mots ici"])
    status, _, err = run(*SMALL, "--min-count", "3")
    assert status == 2
    assert "min_count is 3, and no word is as frequent" in err
    assert not Path("run").exists()
    assert "which cover 50.0, 44.4 percent of the text" in run(*SMALL)[2]


@pytest.mark.parametrize("words", [("a\r",), ("a\n",), ("New York",), ("a\tb",), ("",), ("a\ud800",), ()])
@pytest.mark.parametrize("side", [0, 1])
def test_pairs_whose_words_are_none_of_a_line_are_refused_before_the_training(words, side, refused):
    pair = [("a",), ("b",)]
    pair[side] = words
    config = TrainingConfig(options={"embedding_dim": 4, "hidden_size": 4}, words=True, min_count=1, steps=1)
    good = SentencePair(("a",), ("b",))
    refused(lambda: train_model("run", [good, SentencePair(*pair)], config=config), r"^pairs\[1\] holds \(")
    refused(lambda: train_model("run", [good], [SentencePair(*pair)], config), r"^dev\[0\] holds \(")
    assert not Path("run").exists()


def test_other_letters_than_spaces_come_back_in_a_vocabulary():
    words = ("a\rb", "x\u2028y", "10\u00a0000", "a\x85b", "\x0b", "猫")
    config = TrainingConfig(options={"embedding_dim": 4, "hidden_size": 4}, words=True, min_count=1, steps=1)
    train_model("run", [SentencePair(words, words)], config=config)
    assert {*load("run").source_vocabulary.words} == {*words}


def test_a_damaged_save_or_configuration_is_named(run, monkeypatch):
    write("train.tsv", LINES)
    command, true = (*SMALL, "--min-count", "1"), saving.complete_folder
    monkeypatch.setattr(saving, "complete_folder", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    assert run(*command)[0] == 130
    monkeypatch.setattr(saving, "complete_folder", true)
    whole = Path("run/training.pt").read_bytes()
    for torn in (b"", os.urandom(5000), whole[: len(whole) // 2]):
        Path("run/training.pt").write_bytes(torn)
        status, _, err = run(*command)
        assert (status, err.count("attnlib train: run/training.pt is damaged; expected")) == (2, 1)
        assert "torch" not in err.lower()
    Path("run/training.pt").write_bytes(whole)
    assert run(*command)[0] == 0
    text = Path("run/config.json").read_text()
    Path("run/config.json").write_text(text.replace('"preset"', '"other"'))
    says = "attnlib translate: run/config.json is damaged; expected a whole file: it has no 'preset'\n"
    assert run("translate", "--model", "run", given="the cat\n") == (2, "", says)


def test_a_save_that_fails_is_said_and_the_last_one_ends_the_training(run, monkeypatch):
    write("train.tsv", LINES)
    command = (*SMALL, "--min-count", "1", "--save-seconds", "0")

    @contextmanager
    def fails(path):
        with add_path_to_errors(path):
            yield SimpleNamespace(write=lambda _: (_ for _ in ()).throw(no_space()), flush=lambda: None)

    monkeypatch.setattr(saving, "atomic_open", fails)
    status, _, err = run(*command)
    assert status == 2
    assert "step 2: not saved: run/training.pt: No space left on device" in err
    assert err.endswith("attnlib train: run/training.pt: No space left on device\n")


def test_what_is_no_folder_is_refused_by_every_command(run):
    write("train.tsv", LINES)
    says = "train.tsv is a file; expected"
    assert says in run("translate", "--model", "train.tsv", given="the\n")[2]
    assert says in run("train", "--source", "train.tsv", "--model", "train.tsv")[2]


def test_words_that_a_model_does_not_know_are_counted_once(run):
    given = "THE CAT SLEEPS\nthe cat sleeps\n"
    assert run("translate", "--model", MODEL, given=given)[2] == "the input: 3 of 6 words unknown to the model\n"
    write("test.tsv", ["THE cat\tle chat", "the CAT\tLE CHAT dort"])
    says = "test.tsv: 2 of 4 words unknown to the model\n"
    assert run("evaluate", "--model", MODEL, "test.tsv")[2] == says
    assert run("align", "--model", MODEL, "test.tsv")[2] == says + "test.tsv: 2 of 5 words unknown to the model\n"


def test_a_line_that_arrives_alone_is_answered_before_the_next_one():
    (end, begin), answers = os.pipe(), Queue()

    class Answers(BytesIO):
        def writelines(self, lines):
            for line in lines:
                answers.put(line)

    with os.fdopen(end, "rb") as source, ThreadPoolExecutor(1) as other:
        done = other.submit(translate_stream, load(MODEL), source, Answers(), beam_size=1)
        try:
            for _ in range(2):
                os.write(begin, b"the cat sleeps\nthe dog")  # the second line has not ended
                assert answers.get(timeout=20) == b"le chat dort\n"
                os.write(begin, b" sleeps\n")
                assert answers.get(timeout=20) == b"le chien dort\n"
        finally:
            os.close(begin)
        done.result(timeout=20)


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_a_packed_text_is_known_by_its_first_bytes(run, pack):
    packed = pack(b"the cat sleeps\n")
    assert run("translate", "--model", MODEL, given=packed)[1] == "le chat dort\n"
    Path("text.GZ").write_bytes(packed)
    assert [*read_lines("text.GZ")] == ["the cat sleeps"]
    Path("text").write_bytes(pack(b"".join(b"%d\n" % n for n in range(9999)))[:-20])
    with pytest.raises(ValueError, match=r"^text is a torn file"):
        list(read_lines("text"))


@contextmanager
def leading_to(number, opened):
    """Let a descriptor lead to another that is open, inside the block."""
    kept = os.dup(number)
    os.dup2(opened, number)
    try:
        yield
    finally:
        os.dup2(kept, number)
        os.close(kept)


@pytest.fixture
def unread():
    """Give a pipe whose reader has gone away."""
    end, begin = os.pipe()
    os.close(end)
    yield begin
    os.close(begin)


@pytest.fixture
def full():
    """Give a device that is always full."""
    if not os.path.exists("/dev/full"):
        pytest.skip("no device here that is always full")
    number = os.open("/dev/full", os.O_WRONLY)
    yield number
    os.close(number)


@pytest.mark.parametrize("log", ["unread", "full"])
def test_a_log_that_nobody_reads_ends_no_work(run, log, request):
    write("train.tsv", LINES)
    with leading_to(2, request.getfixturevalue(log)):
        assert run(*SMALL, "--min-count", "1", "--dev", "train.tsv", "--eval-every", "1")[0] == 0
        status, out, _ = run("translate", "--model", MODEL, "--links", "links", given="the cat zzz\n")
        assert (status, out.count("\n")) == (0, 1)
    assert load_history("run")[-1]["ended"] == "steps"
    assert Path("links").read_text().count("\n") == 1


def test_only_the_reader_of_the_output_can_have_read_enough(run, unread):
    with leading_to(1, unread):
        assert run("translate", "--model", MODEL, given="the cat\n")[::2] == (0, "")
        assert run("translate", "--model", MODEL, "--links", "/dev/stdout", given="the cat\n")[::2] == (0, "")
    links = f"/dev/fd/{unread}"
    status, _, err = run("translate", "--model", MODEL, "--links", links, given="the cat\n")
    assert (status, err) == (2, f"attnlib translate: {links}: Broken pipe\n")


def test_an_interrupted_training_whose_save_is_gone_is_not_complete(run):
    write("train.tsv", LINES)
    command = (*SMALL, "--min-count", "1")
    assert run(*command)[0] == 0
    config = Path("run/config.json")
    config.write_text(config.read_text().replace('"ended": "steps"', '"ended": "interrupted"'))
    status, _, err = run(*command)
    assert status == 2
    assert "run has no training.pt; expected that of its interrupted training" in err
