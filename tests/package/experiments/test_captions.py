"""Our own captions: whole, linked by their rules, and holding what they were written for."""

import re
from pathlib import Path

import pytest

import attnlib.experiments
from attnlib.experiments.captions import LANGUAGES, load_captions

BOTH = [(language, caption) for language in LANGUAGES for caption in load_captions(language)]
NUMBERS = {"two", "three", "four", "seven", "nine", "eleven"}


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


def adjective(caption):
    """Find an English word, and the one before it translated behind it, with two words between at most."""
    sure = caption.gold.sure
    return any((i - 1, t + gap) in sure for i, t in sure for gap in (1, 2, 3))


def compound(caption):
    """Find one long German word for two English ones side by side."""
    target = caption.pair.target
    return any((i + 1, t) in caption.gold.sure and len(target[t]) > 6 for i, t in caption.gold.sure)


def separable(caption):
    """Find an English verb with two German words apart, the second of them a particle at the end of its clause."""
    words, possible = (*caption.pair.target, "."), caption.gold.possible
    return any(
        words[t] in PARTICLES and words[t + 1] in {",", ".", "und"} and any((i, s) in possible for s in range(t - 1))
        for i, t in possible
    )


def verb_last(caption):
    """Find a German clause whose last word translates an English word further to the front than the word before it."""
    words, sure = caption.pair.target, caption.gold.sure
    ends = [t for t in range(1, len(words) - 1) if words[t + 1] in {",", "."}]
    return any(i < min((j for j, s in sure if s == t - 1), default=-1) for t in ends for i, s in sure if s == t)


def negation(caption):
    """Find "ne" and another French word, apart from it, for one English word."""
    words, sure = caption.pair.target, caption.gold.sure
    return any(words[t] in {"ne", "n'"} and any(j == i and s != t for j, s in sure) for i, t in sure)


PARTICLES = {"ab", "an", "auf", "aus", "hinauf", "los", "um", "weg", "zu"}


@pytest.mark.parametrize(
    ("language", "what", "count", "is_shown"),
    [
        ("french", "adjective", 24, adjective),
        ("german", "compound", 19, compound),
        ("german", "separable", 10, separable),
        ("german", "verb last", 12, verb_last),
        ("french", "negation", 8, negation),
        ("german", "rare", 9, lambda caption: len(caption.pair.source) > 7),
        (
            "german",
            "number",
            13,
            lambda caption: any(word in NUMBERS or word.isdigit() for word in caption.pair.source),
        ),
        ("german", "long", 1, lambda caption: len(caption.pair.source) == 40),
    ],
)
def test_each_phenomenon_is_there_and_its_links_show_it(language, what, count, is_shown):
    there = [caption for caption in load_captions(language) if what in caption.phenomena]
    assert len(there) == count
    for caption in there:
        assert is_shown(caption), caption.pair


def test_another_language_is_refused(refused):
    refused(lambda: load_captions("english"), "^language is 'english'; expected one of german, french")
