"""The changes to Bahdanau's model: readers of unequal size, numbered words, keys with one half."""

import numpy as np
import pytest
import torch
from backward_annotations import AFTER, Experiment, HalfKeys, build, numbered, readers
from recipes import held_out_sentences

from attnlib import load_pretrained
from attnlib.data import encode_batch
from attnlib.experiments import build_vocabularies
from attnlib.scores import Additive


@pytest.mark.parametrize("units", [0, 5])
def test_an_annotation_has_the_units_of_both_readers(units):
    experiment = Experiment("forward reader", units, hidden_size=14, forward=units)
    translator = build(experiment, *build_vocabularies(), embedding_dim=6, seed=0)
    source = encode_batch([pair.source for pair in held_out_sentences(1)[:3]], translator.source_vocabulary)
    encoded = translator.encoder(*source)
    assert encoded.annotations.shape[2] == units + 14
    changed = source[0].clone()
    changed[:, 0] = (changed[:, 0] + 1) % len(translator.source_vocabulary)
    other = translator.encoder(changed, source[1])
    moved = (encoded.annotations != other.annotations).any(2)[0]
    assert moved[0]
    assert moved[1] == bool(units), "without a forward reader, a word does not know of those before it"


def test_adjectives_get_numbers_and_nothing_else_does():
    pairs = held_out_sentences(3)
    new = numbered(pairs, 7, seed=2)
    seen = set()
    for before, after in zip(pairs, new, strict=True):
        assert after.links == before.links
        for i, (x, y) in enumerate(zip(before.source, after.source, strict=True)):
            assert (x == y) == (x not in AFTER)
            if x in AFTER:
                number = y.removeprefix(x)
                seen.add(number)
                for t in (t for k, t in before.links if k == i):
                    assert after.target[t] == before.target[t] + number
    assert seen == {*map(str, range(7))}
    assert numbered(pairs, 1, seed=2) == pairs


def test_keys_with_one_half_replaced_by_its_mean():
    score, lengths = Additive(3, 4, 5).double(), (5, 2)
    h = torch.randn(2, 5, 4, dtype=torch.float64)
    h[1, 2:] = 0
    keys = HalfKeys(score, slice(0, 2)).project_keys(h)
    for n, length in enumerate(lengths):
        mean = h[n, :length, :2].mean(0)
        for i in range(length):
            expected = score.U_a @ torch.cat([mean, h[n, i, 2:]])
            assert torch.allclose(keys[n, i], expected)


def test_the_readers_share_the_keys_variance_and_the_score_is_put_back():
    translator = load_pretrained("bahdanau")
    score = translator.decoder.attention.score
    lines = [*readers(translator)]
    assert [line["keys_without"] for line in lines] == ["nothing", "forward", "backward"]
    assert np.isclose(lines[1]["share_of_variance"] + lines[2]["share_of_variance"], 1)
    assert translator.decoder.attention.score is score
    assert lines[0]["exact_match"] > max(line["exact_match"] for line in lines[1:])
