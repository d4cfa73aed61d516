"""The links of each head of a Transformer, by what the package says of all of them."""

import numpy as np
import pytest
from heads import head_links, head_weights

from attnlib import load_pretrained, sample
from attnlib.metrics import attention_weights, forced_alignments


@pytest.fixture(scope="module")
def transformer():
    return load_pretrained("transformer")


def test_each_head_of_each_layer_has_weights_and_the_last_layers_mean_is_the_models(transformer):
    (pair,) = sample(1, 0, [2], "test")
    weights = head_weights(transformer, pair)
    assert weights.shape == (2, 4, len(pair.target) + 1, len(pair.source) + 1)
    assert np.allclose(weights.sum(-1), 1)
    assert np.allclose(weights[-1].mean(0)[:-1, :-1], attention_weights(transformer, pair))


def test_a_head_alone_links_by_its_own_weights(transformer):
    pairs = sample(5, 0, [2], "test")
    found = head_links(transformer, pairs)
    assert [*found] == [(layer, head) for layer in (1, 2) for head in ("1", "2", "3", "4", "mean")]
    assert found[2, "mean"] == forced_alignments(transformer, pairs)
    third = head_weights(transformer, pairs[0])[1, 2]
    words = range(len(pairs[0].target))
    assert found[2, "3"][0] == {(int(third[t, :-1].argmax()), t) for t in words}
