"""Troubles that users of other translation toolkits reported: none of them is here."""

import sys
from pathlib import Path

import pytest

from attnlib.__main__ import main
from attnlib.text.folder import load_history
from attnlib.text.model import load

TRAIN = ("train", "--source", "train.tsv", "--model", "run", "--features", "64", "--dropout", "0")
FEW = ["yes/oui", "no/non", "dog/chien", "cat/chat", "tea/thé", "book/livre"]
CHINESE = [
    f"{who} {does} {what} .\t{subject}{verb}{thing}。"
    for who, subject in (("I", "我"), ("you", "你"), ("they", "他们"))
    for does, verb in (("see", "看见"), ("like", "喜欢"))
    for what, thing in (("dogs", "狗"), ("cats", "猫"), ("tea", "茶"))
]


@pytest.fixture
def run(tmp_path, monkeypatch, capfd):
    """Run a command in a folder of its own, and give its status, output and errors."""
    monkeypatch.chdir(tmp_path)

    def ran(*words, given=""):
        Path("given").write_text(given, "utf-8")
        capfd.readouterr()
        with Path("given").open("rb") as stream, monkeypatch.context() as patch:
            patch.setattr(sys, "stdin", type("", (), {"buffer": stream}))
            status = main(words)
        sys.stdout.flush()
        return status, *capfd.readouterr()

    return ran


def write(name, lines):
    Path(name).write_text("".join(f"{line}\n" for line in lines), "utf-8")


def test_of_short_references_the_best_weights_are_kept_and_no_babble(run):
    write("train.tsv", [pair.replace("/", "\t") for pair in FEW] * 30)
    write("dev.tsv", [pair.replace("/", "\t") for pair in FEW])
    options = ("--embedding-dropout", "0", "--words", "--epochs", "40", "--dev", "dev.tsv")
    status, _, err = run(*TRAIN, *options)
    assert status == 0
    assert "too few words for BLEU" in err
    scores = [line for line in load_history("run") if "dev_loss" in line]
    assert scores[-1]["dev_chrf"] == max(line["dev_chrf"] for line in scores) == 100
    sources = "".join(f"{pair.split('/')[0]}\n" for pair in FEW)
    assert run("translate", "--model", "run", given=sources)[1].split() == [pair.split("/")[1] for pair in FEW]


def test_a_target_without_spaces_is_scored_and_linked_by_its_letters(run):
    write("train.tsv", CHINESE * 20)
    write("dev.tsv", CHINESE)
    assert run(*TRAIN, "--epochs", "40", "--vocab-size", "50", "--dev", "dev.tsv")[0] == 0
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
    one = load("run").translate("they see dogs .")
    assert one.weights.shape == (6, 4)
    assert one.units[1] == tuple("他们看见狗。")


@pytest.mark.parametrize("options", [(), ("--max-length", "100"), ("--beam-size", "1", "--max-length", "100")])
def test_a_long_line_keeps_its_translation_or_its_beginning_and_the_line_is_named(run, copying, options):
    words = [f"w{n * n % 7}" for n in range(120)]
    status, out, err = run("translate", "--model", str(copying), *options, given=f"w1 w2\n{' '.join(words)}\n")
    assert (status, out) == (0, f"w1 w2\n{' '.join(words[: 100 if options else None])}\n")
    cut = "the input, line 2: the translation reached the greatest length and is cut there; --max-length sets another\n"
    assert err == (cut if options else "")
    write("pairs.tsv", [f"w1\tw1\n{' '.join(words)}\t{' '.join(words)}"])
    err = run("evaluate", "--model", str(copying), *options, "pairs.tsv")[2]
    assert ("the source, line 2: the translation reached" in err) == (options != ())


@pytest.fixture(scope="module")
def copying(tmp_path_factory):
    """Train a model that copies sentences of up to 22 words."""
    home = tmp_path_factory.mktemp("copying")
    lines = []
    for n in range(400):
        words = " ".join(f"w{(n + k * (n % 5 + k)) % 7}" for k in range(3 + n % 20))
        lines.append(f"{words}\t{words}")
    (home / "train.tsv").write_text("".join(f"{line}\n" for line in lines))
    options = (
        "--words --preset luong --window local-m --half-width 2 --encoder forward --features 48 --dropout 0 "
        "--embedding-dropout 0 --learning-rate 0.01 --steps 120 --max-sentences 32"
    )
    command = ["train", "--source", str(home / "train.tsv"), "--model", str(home / "run"), *options.split()]
    assert main(command) == 0
    return home / "run"
