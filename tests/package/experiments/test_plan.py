"""Plans: read as written; every row is a model, and no sentence that it is tested on is learnt from."""

from dataclasses import replace
from hashlib import sha256

import pytest
import torch

from attnlib.data import Vocabulary
from attnlib.experiments.captions import LANGUAGES, captions
from attnlib.experiments.measures import parameters
from attnlib.experiments.plan import (
    PLANS,
    Budget,
    Claim,
    TextRow,
    Variant,
    development,
    held_out,
    read_plan,
    vocabularies,
)
from attnlib.text.folder import PRESETS
from attnlib.translator import luong, rnn_encdec, rnn_search

SENTENCES = read_plan("sentences")
PLAN_NAMES = [path.stem for path in PLANS.glob("*.toml") if path.stem != "sentences"]


def test_a_plan_is_what_its_file_says(small, small_file):
    assert small.digest == sha256(small_file.read_bytes()).hexdigest()
    row, other, local = (small.rows[name] for name in ("no-attention", "bahdanau", "local-p"))
    assert [*small.rows] == ["no-attention", "bahdanau", "local-p"]
    assert row.variant.model is rnn_encdec
    assert (row.variant.seeds, row.family, row.table, row.phase) == ((10, 11), "early", "attention", 2)
    assert row.budget == Budget(
        emb=7, hid=8, pairs=30, words=200, steps=10, test_clauses=(1, 2, 4), test_sentences=3, width=2, test_seed=2000
    )
    assert (row.beam, other.beam) == (False, True)
    assert (other.variant.model, other.variant.clauses, other.variant.options) == (rnn_search, (1, 2), {})
    assert (local.variant.model, local.variant.options) == (luong, {"window": "predictive", "half_width": 2})
    first = [(row.name, seed) for row, seed in small.runs()[:3]]
    assert first == [("local-p", 10), ("local-p", 11), ("no-attention", 10)]
    assert [claim[:3] for claim in small.claims("attention")] == [("bahdanau", "no-attention", "more")]


def test_a_longer_row_has_more_steps_and_sentences_and_no_more_seeds(small):
    longer = small.rows["bahdanau"].longer(3, 2)
    assert (longer.variant.name, longer.variant.seeds) == ("bahdanau-times3", (10, 11))
    assert (longer.budget.steps, longer.budget.pairs) == (60, 180)
    assert longer.variant.options == small.rows["bahdanau"].variant.options


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (('"rnn_search"', '"rnn_seek"'), "model is 'rnn_seek'; expected one of luong"),
        (('name = "no-attention"', 'name = "bahdanau"'), "the plan other has the row 'bahdanau' twice"),
        (('late = "local-p"', 'late = "local-m"'), "the plan other speaks of 'local-m', but has no such row"),
        (('first = "bahdanau"', 'first = "nobody"'), "the plan other speaks of 'nobody', but has no such row"),
        (('family = "late"', 'family = "later"'), "family of local-p is 'later'; expected one of those with a rate"),
    ],
)
def test_what_does_not_fit_is_refused(small_file, tmp_path, refused, change, says):
    text = small_file.read_text()
    assert change[0] in text
    (tmp_path / "other.toml").write_text(text.replace(*change))
    refused(lambda: read_plan(tmp_path / "other.toml"), ValueError, says)


@pytest.mark.parametrize("name", PLAN_NAMES)
def test_every_plan_can_be_read_and_every_model_made(name):
    for row in read_plan(name).rows.values():
        assert parameters(row.variant.translator(0, Budget(emb=8, hid=6))) > 0


def test_chapter_6_gives_the_transformer_what_bahdanaus_model_gets():
    rows, before = read_plan("successors").rows, read_plan("comparison").rows["bahdanau"].budget
    assert rows["bahdanau"].budget == before
    assert rows["transformer"].budget == replace(before, emb=64, hid=256)
    bahdanau, transformer = (
        parameters(rows[n].variant.translator(0, rows[n].budget)) for n in ("bahdanau", "transformer")
    )
    assert transformer == pytest.approx(bahdanau, rel=0.1)


def test_a_claim_in_words():
    assert Claim("a", "b", "more", "exact", "within").wording == "a more than b"
    assert Claim("a", "b", "less", "alignment_error", "beyond").wording == "a less than b, alignment error"
    assert Claim("a", "b", "differs", "exact", "within").wording == "a differs from b"


FEW = Budget(emb=5, hid=6, pairs=40, test_sentences=30)


def test_a_seed_decides_weights_and_sentences():
    variant = Variant("global-dot", luong, {"score": "dot"})
    first, again, other = (variant.translator(seed, FEW).state_dict() for seed in (0, 0, 1))
    torch.testing.assert_close(first, again)
    assert not torch.equal(first["decoder.W_y"], other["decoder.W_y"])
    assert variant.training_pairs(0, FEW) == variant.training_pairs(0, FEW) != variant.training_pairs(1, FEW)


@pytest.mark.parametrize("language", ["french", "german"])
def test_no_sentence_to_test_or_to_choose_by_is_learnt_from(language):
    """The shortest are the likeliest to be drawn twice."""
    variant = Variant("bahdanau", rnn_search, clauses=(1,), language=language)
    others = {pair.source for draw in (held_out, development) for pair in draw(1, language=language)}
    learnt = {pair.source for pair in variant.training_pairs(0, Budget(pairs=3000))}
    assert len(others) > 180
    assert len(learnt) < 3000, "some are drawn twice"
    assert others.isdisjoint(learnt)


def test_the_vocabularies_know_every_word():
    source, target = vocabularies()
    for clauses in (1, 5, 8):
        for pair in held_out(clauses):
            assert source.decode(source.encode(pair.source)) == pair.source
            assert target.decode(target.encode(pair.target)) == pair.target


def test_a_window_that_stays_misses_more_of_the_german_links_than_of_the_french():
    D, shares = SENTENCES.rows["local-m"].options["half_width"], {}
    for language in LANGUAGES:
        away = [abs(i - t) for caption in captions(language) for i, t in caption.gold.sure]
        shares[language] = round(sum(d <= D for d in away) / len(away), 2)
    assert SENTENCES.rows["french-local-m"].options["half_width"] == D
    assert shares == {"german": 0.84, "french": 0.94}


@pytest.mark.parametrize("row", SENTENCES.rows.values(), ids=SENTENCES.rows)
def test_every_row_on_text_is_a_model(row: TextRow):
    few = Vocabulary(("a", "b"))
    assert PRESETS[row.preset](few, few, **row.settings(0).options)
