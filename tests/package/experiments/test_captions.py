"""Our own captions: whole, linked by their rules, and holding what they were written for."""

import re
from collections import Counter
from pathlib import Path

import attnlib.experiments
from attnlib.experiments.captions import LANGUAGES, load_captions

BOTH = [(language, caption) for language in LANGUAGES for caption in load_captions(language)]


def test_the_english_is_the_same_for_both_and_each_caption_is_another():
    german, french = ([caption.pair.source for caption in load_captions(language)] for language in LANGUAGES)
    assert german == french
    assert len({*german}) == len(german) == 60
    assert max(map(len, german)) == 40


def test_words_are_lower_case_and_marks_stand_apart():
    for _, (pair, _, _) in BOTH:
        for word in (*pair.source, *pair.target):
            assert re.fullmatch(r"[,.]|[a-zà-ÿß]+(-[a-zà-ÿß]+)*'?|\d+", word), word
        assert pair.source[-1] == pair.target[-1] == "."


def test_every_link_is_in_range_and_every_word_but_commas_is_linked():
    for _, (pair, (sure, possible), _) in BOTH:
        assert sure <= possible
        for side, words in enumerate(pair[:2]):
            linked = {link[side] for link in possible}
            assert linked <= {*range(len(words))}, pair
            assert {words[n] for n in {*range(len(words))} - linked} <= {","}, pair


def test_no_link_is_written_twice_as_sure_and_possible():
    text = (Path(attnlib.experiments.__file__).parent / "captions.txt").read_text("utf-8")
    lines = [line for line in text.splitlines() if re.match(r"\d+[-?]\d", line)]
    for place, language in enumerate(LANGUAGES):
        for line, caption in zip(lines[place::2], load_captions(language), strict=True):
            assert len(line.split()) == len(caption.gold.possible)


def test_marks_and_numbers_have_sure_links_to_themselves_alone():
    for _, (pair, (_, possible), _) in BOTH:
        for i, t in possible:
            if pair.source[i] == "." or pair.source[i].isdigit():
                assert pair.target[t] == pair.source[i]


def test_captions_are_written_for_as_many_phenomena_as_ever():
    counts = Counter(what for caption in load_captions("german") for what in caption.phenomena)
    expected = {"adjective": 24, "negation": 8, "compound": 19, "separable": 10, "verb last": 12, "rare": 9}
    assert counts == expected | {"number": 13, "long": 1, "nothing special": 3}
