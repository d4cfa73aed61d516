"""Transformers with one part exchanged: what they compute at once is what they compute step by step."""

import pytest
import torch

from attnbook.experiments.transformers import _DistanceAttention, transformer_alibi, transformer_norm_first
from attnbook.language.sentences import vocabularies
from attnlib.transformer import transformer

SIZES = {"d_model": 12, "dim_feedforward": 7, "num_heads": 3, "seed": 1}


@pytest.mark.parametrize("build", [transformer_alibi, transformer_norm_first])
def test_scores_at_once_are_those_of_the_steps_and_not_the_transformer_s(build):
    torch.manual_seed(0)
    source, lengths = torch.randint(4, 90, (2, 11)), torch.tensor([11, 5])
    source[1, 5:] = 0
    ids = torch.randint(4, 90, (2, 7))
    scores = []
    for make in (build, transformer):
        model = make(*vocabularies(), **SIZES).double().eval()
        scores.append(model.decoder(ids, model.encoder(source, lengths))[0])
    assert not torch.allclose(*scores)
    model = build(*vocabularies(), **SIZES).double().eval()
    state = model.decoder.start(model.encoder(source, lengths))
    for n in range(7):
        logits, _, state = model.decoder.step(ids[:, n], state)
        torch.testing.assert_close(logits, scores[0][:, n])


def test_scores_decrease_with_the_distance_by_each_head_s_slope():
    attention = _DistanceAttention(10, 2)
    torch.nn.init.zeros_(attention.W_Q)
    x = torch.randn(1, 5, 10)
    weights = attention(x, attention.project_keys_values(x), torch.ones(1, 1, 1, 5, dtype=torch.bool)).weights
    for head, slope in enumerate((2**-4, 2**-8)):
        for t in range(5):
            expected = torch.softmax(torch.tensor([-slope * abs(i - t) for i in range(5)]), 0)
            torch.testing.assert_close(weights[0, head, t], expected)
