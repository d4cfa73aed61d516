"""Text from disk: what is read, what is left out and counted, and what is refused with its file and line."""

import gzip
import unicodedata

import pytest

from attnlib.data import SentencePair
from attntext.files import ParallelText, format_pharaoh, pairs_digest, read_gold, read_lines, read_parallel, split_words

PAIRS = [(("ein", "hund"), ("a", "dog")), (("zwei",), ("two", "cats"))]


@pytest.fixture
def write(tmp_path):
    def written(name, content):
        path = tmp_path / name
        raw = content if isinstance(content, bytes) else content.encode()
        path.write_bytes(gzip.compress(raw) if name.endswith(".gz") else raw)
        return path

    return written


def sides(text):
    return [(pair.source, pair.target) for pair in text.pairs]


@pytest.mark.parametrize("ending", ["", ".gz"])
def test_two_files_or_one_with_tabs_give_the_same_pairs(write, ending):
    source, target = write(f"a.de{ending}", "ein  hund\r\nzwei"), write(f"a.en{ending}", "a dog\ntwo cats\n")
    both = write(f"a.tsv{ending}", "ein hund\ta dog\nzwei\ttwo cats\n")
    assert sides(read_parallel(source, target)) == sides(read_parallel(both)) == PAIRS


def test_letters_are_composed_and_a_mark_of_a_file_is_no_word_wherever_it_stands(write):
    apart = unicodedata.normalize("NFD", "größe")
    lines = read_lines(write("a", f"\ufeff{apart} x\r\n\ufeff\n{apart} \ufeffx\n"))
    assert [split_words(line) for line in lines] == [("größe", "x"), (), ("größe", "x")]


def test_words_and_links_are_counted_as_by_fast_align_which_parts_at_space_and_tab_only(write):
    for letter in "\u00a0\u202f\u3000\u2028\u0085\x0b\x0c\x1c\x1f\r":
        number = f"10{letter}000"
        assert split_words(f" le prix\test  {number} euros \t\r\n") == ("le", "prix", "est", number, "euros")
    assert split_words("the cat\nsleeps\r\nhere") == ("the", "cat", "sleeps", "here")
    assert split_words("the\r cat\r\r\tsle\reps\r") == ("the", "cat", "sle\reps")
    pair = tuple(split_words(line) for line in ("the price is 10\u00a0000 euros", "le prix est 10\u00a0000 euros"))
    assert read_gold(write("g", "4-4\n"), [pair])[0].sure == {(4, 4)}
    assert pair[1][4] == "euros"


def test_empty_and_long_pairs_are_left_out_and_counted_each_time_that_files_are_read(write):
    files = write("s", "a\n\nb b b\nc\nd\n"), write("t", "A\nB\nC\nD D D\n \n")
    read, unread = read_parallel(*files, max_length=2), ParallelText(*files, max_length=2)
    assert list(unread) == list(unread) == read.pairs
    assert sides(read) == [(("a",), ("A",))]
    assert str(unread) == str(read) == "1 sentence pairs; left out: 2 with an empty side, 2 too long"


@pytest.mark.parametrize(
    ("source", "target", "message"),
    [
        ("a\nb\n", "A\n", "t ends after line 1; expected as many lines as in the other file"),
        ("a\n" * 3, "A\n" * 5, "s ends after line 3; expected as many lines"),
        (b"a\n\xff\n", "A\nB\n", "s, line 2: byte 1 is not UTF-8"),
        ("\n", "A\n", "0 sentence pairs; left out: 1 with an empty side; expected at least one"),
        ("a b c\n", "A\n", "1 too long; expected at least one pair of at most 2 words"),
        ("", "", "0 sentence pairs; expected at least one"),
        ("a\tb\tc\n", None, "s, line 1: 2 tabs; expected one tab"),
        ("a\tb\nc\n", None, "s, line 2: 0 tabs; expected one tab"),
    ],
)
def test_what_is_wrong_is_said_with_file_and_line(write, source, target, message):
    files = [write("s", source)] + ([] if target is None else [write("t", target)])
    with pytest.raises(ValueError, match=message):
        read_parallel(*files, max_length=2)


def test_the_digest_tells_every_word_apart():
    pairs = [SentencePair(*words) for words in PAIRS]
    assert pairs_digest(pairs) == pairs_digest(list(pairs))
    assert pairs_digest(pairs) != pairs_digest(pairs[::-1])
    assert pairs_digest([SentencePair(("a", "b"), ("c",))]) != pairs_digest([SentencePair(("a",), ("b", "c"))])


def test_gold_links_are_sure_or_possible(write):
    gold = read_gold(write("g", "0-0 1?1\n\n"), PAIRS)
    assert gold[0] == ({(0, 0)}, {(0, 0), (1, 1)})
    assert gold[1] == (set(), set())
    assert format_pharaoh({(1, 0), (0, 11), (0, 2)}) == "0-2 0-11 1-0"


@pytest.mark.parametrize(
    ("links", "message"),
    [
        ("0-0\n", "g has 1 lines; expected 2"),
        ("0-0\n0:1\n", "g, line 2: 0:1 is no link"),
        ("0-2\n\n", "g, line 1: 0-2 is no link of this pair"),
        ("2-0\n\n", "g, line 1: 2-0 is no link of this pair; .* positions from 0 in 2 and 2 words"),
    ],
)
def test_links_that_do_not_fit_are_named(write, links, message):
    with pytest.raises(ValueError, match=message):
        read_gold(write("g", links), PAIRS)
