"""Our own captions: the same for both languages, in lower case, and linked word by word."""

import re

from attnbook.experiments.captions import LANGUAGES, load_captions

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
