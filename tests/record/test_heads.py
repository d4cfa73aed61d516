"""The links of each head of a Transformer, by what the package says of all of them."""

import numpy as np
import pytest
from caption_alignments import diagonal, score
from heads import head_links, head_weights
from recipes import held_out_sentences

from attnlib import load_pretrained
from attnlib.experiments.captions import load_captions
from attnlib.metrics import alignment_error_rate, attention_weights, forced_alignments


@pytest.fixture(scope="module")
def transformer():
    return load_pretrained("transformer")


def test_each_head_of_each_layer_has_weights_and_the_last_layers_mean_is_the_models(transformer):
    (pair,) = held_out_sentences(2)[:1]
    weights = head_weights(transformer, pair)
    assert weights.shape == (2, 4, len(pair.target) + 1, len(pair.source) + 1)
    assert np.allclose(weights.sum(-1), 1)
    assert np.allclose(weights[-1].mean(0)[:-1, :-1], attention_weights(transformer, pair))


def test_a_head_alone_links_by_its_own_weights(transformer):
    pairs = held_out_sentences(2)[:5]
    found = head_links(transformer, pairs)
    assert [*found] == [(layer, head) for layer in (1, 2) for head in ("1", "2", "3", "4", "mean")]
    assert found[2, "mean"] == forced_alignments(transformer, pairs)
    third = head_weights(transformer, pairs[0])[1, 2]
    words = range(len(pairs[0].target))
    assert found[2, "3"][0] == {(int(third[t, :-1].argmax()), t) for t in words}


def test_captions_are_scored_with_intervals_around_the_rate():
    captions = load_captions("german")
    straight = [diagonal(*caption.pair[:2]) for caption in captions]
    scored = score(straight, "german")
    sure, possible = zip(*(caption.gold for caption in captions), strict=True)
    assert scored["alignment_error_rate"] == alignment_error_rate(straight, sure, possible)
    assert scored["low"] < scored["alignment_error_rate"] < scored["high"]
    assert scored["less_diagonal_low"] == scored["less_diagonal_high"] == 0, "less itself"
    assert scored["found_moved"] == 0 < scored["moved"]
    perfect = score([*possible], "german")
    assert perfect["alignment_error_rate"] == 0
    assert (perfect["found_moved"], perfect["found_stayed"]) == (perfect["moved"], perfect["stayed"])


def test_the_diagonal_links_the_ends():
    assert diagonal(["a", "b", "c", "d", "e"], ["x", "y", "z"]) == {(0, 0), (2, 1), (4, 2)}
