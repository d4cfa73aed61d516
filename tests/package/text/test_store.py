"""A text in numbers on disk gives the batches of its pairs, is whole or not there, and takes no memory."""

import errno
import tracemalloc
from itertools import chain, islice, repeat

import numpy as np
import pytest
import torch

from attnlib.data import PAD, UNKNOWN, Corpus, Vocabulary
from attnlib.language.grammar import sample
from attnlib.text import store
from attnlib.text.files import PairFiles, digest
from attnlib.text.learning import learn
from attnlib.text.settings import Settings
from attnlib.text.store import open_store, remove_stores
from attnlib.text.subwords import Subwords

PAIRS = sample(113, seed=0)
SIDES = [pair.source for pair in PAIRS], [pair.target for pair in PAIRS]
VOCABULARIES = {
    "words": tuple(Vocabulary.of(side, min_count=3) for side in SIDES),
    "subwords": tuple(Subwords.of(side, 70) for side in SIDES),
}
WORDS = VOCABULARIES["words"]


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    """Encode in several parts, the last of them not full."""
    monkeypatch.setattr(store, "_AT_ONCE", 17)


def encoded_in(folder, pairs=PAIRS, vocabularies=WORDS, longest=(100, 100)):
    return open_store(folder, pairs, digest(pairs), vocabularies, longest)


@pytest.mark.parametrize("kind", VOCABULARIES)
def test_a_store_gives_the_batches_of_the_pairs_that_fit(kind, tmp_path):
    known, most = VOCABULARIES[kind], (23, 29)
    result = encoded_in(tmp_path, vocabularies=known, longest=most)
    fit = [
        pair
        for pair in PAIRS
        if all(len(v.encode(side)) - 1 <= m for v, side, m in zip(known, pair[:2], most, strict=True))
    ]
    assert 0 < result.left_out == len(PAIRS) - len(fit)
    assert len(result.encoded) == len(fit)
    options = {"max_tokens": 307, "max_sentences": 11, "seed": 3, "skip": 1}
    count = result.encoded.in_one_epoch(max_tokens=307, max_sentences=11)
    expected = Corpus.of(fit, *known).endless(**options)
    for one, other in zip(islice(result.encoded.endless(**options), 3 * count), expected, strict=False):
        for mine, theirs in zip(one, other, strict=True):
            assert torch.equal(mine, theirs)
            assert mine.dtype == theirs.dtype
    epoch = islice(result.encoded.endless(max_tokens=307, seed=0), result.encoded.in_one_epoch(max_tokens=307))
    targets = [tuple(row[row != PAD].tolist()) for part in epoch for row in part.target]
    assert sorted(targets) == sorted(tuple(known[1].encode(pair.target)) for pair in fit)


def test_the_share_of_unknown_words_is_counted(tmp_path):
    for side, known, share in zip(SIDES, WORDS, encoded_in(tmp_path).unknown, strict=True):
        numbers = [number for words in side for number in known.encode(words)[:-1]]
        assert 0 < share == pytest.approx(numbers.count(UNKNOWN) / len(numbers))


def test_numbers_that_need_more_than_two_bytes_have_them(tmp_path):
    words = Vocabulary(tuple(sorted(f"w{n}" for n in range(70_000))))
    pair = PAIRS[0]._replace(source=(words.words[-1],), target=("w1",) * 70_000)
    result = encoded_in(tmp_path, [pair], (words, words), (100, 70_000)).encoded
    assert result.ids[0] == 70_003
    assert result.lengths.tolist() == [[2, 70_001]]
    assert [x.dtype for x in (result.ids, result.lengths)] == [np.uint32, np.uint32]
    assert encoded_in(tmp_path / "narrow").encoded.ids.dtype == np.uint16


def test_a_store_is_written_once_and_removed_with_all_that_is_left_of_others(tmp_path, monkeypatch):
    encoded_in(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["text"]
    assert sorted(path.name for path in (tmp_path / "text").iterdir()) == ["about.json", "ids", "lengths", "starts"]
    monkeypatch.setattr(store, "_encode", None)
    assert len(encoded_in(tmp_path).encoded) == len(PAIRS)
    for left in (".text.new", "text-0123456789abcdef"):
        (tmp_path / left).mkdir()
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "my.en").touch()
    remove_stores(tmp_path)
    assert [path.name for path in tmp_path.rglob("*")] == ["texts", "my.en"]


def test_a_text_that_changes_while_it_is_read_is_refused(tmp_path):
    with pytest.raises(ValueError, match="the text changed while it was read"):
        open_store(tmp_path, PAIRS[1:], digest(PAIRS), WORDS, (100, 100))
    with pytest.raises(ValueError, match="no pair is left: all are longer than 2 subwords or words"):
        encoded_in(tmp_path, longest=(2, 100))
    assert not list(tmp_path.iterdir())


def test_a_full_disk_leaves_nothing_behind_and_is_named(tmp_path, monkeypatch):
    def full(_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space left") as raised:
        encoded_in(tmp_path)
    assert raised.value.errno == errno.ENOSPC
    assert raised.value.filename.startswith(str(tmp_path / "text"))
    assert not list(tmp_path.iterdir())


def test_encoding_takes_as_much_memory_for_a_text_five_times_as_long(tmp_path):
    def peak(times):
        tracemalloc.reset_peak()
        text, again = (chain.from_iterable(repeat(PAIRS, times)) for _ in range(2))
        open_store(tmp_path / f"{times}", text, digest(again), WORDS, (100, 100))
        return tracemalloc.get_traced_memory()[1]

    tracemalloc.start()
    try:
        peak(1)  # which imports what is imported late
        assert peak(20) < 1.1 * peak(4)
    finally:
        tracemalloc.stop()


TINY = Settings(options={"emb": 4, "hid": 4, "dropout": 0.2, "seed": 0}, vocabulary=60, steps=3, sentences=8)


def test_a_model_learns_the_same_from_a_list_and_from_files(tmp_path):
    for side, name in zip(SIDES, ("s", "t"), strict=True):
        (tmp_path / name).write_text("".join(" ".join(words) + "\n" for words in side))
    files = PairFiles(tmp_path / "s", tmp_path / "t")
    weights = []
    for name, pairs in (("list", PAIRS), ("files", files)):
        learn(tmp_path / name, pairs, (), TINY, progress=False)
        weights.append((tmp_path / name / "model.safetensors").read_bytes())
    assert weights[0] == weights[1]
    with pytest.raises(TypeError, match="expected what can be gone through several times"):
        learn(tmp_path / "new", iter(PAIRS), (), TINY)
