"""Troubles that users of other translation toolkits reported: none of them is here."""

from pathlib import Path

import pytest

from attnbook.pretrained.folder import load, load_history
from attnlib.translation import translate

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
    options = "--epochs 40 --vocab-size 50 --dev dev.tsv --eval-every 999"  # only at the end
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
    one = translate(load("run"), "they see dogs .")
    assert one.weights.shape == (6, 4)
    assert one.units[1] == tuple("他们看见狗。")


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
    for more in ((), ("--max-length", "100"), ("--beam-size", "1", "--max-length", "100")):
        status, out, err = run(*command, *more, given=f"w1 w2\n{' '.join(words)}\n")
        assert (status, out) == (0, f"w1 w2\n{' '.join(words[: 100 if more else None])}\n")
        assert err == ("the input, lines 2: translations cut at their greatest length (--max-length)\n" if more else "")
