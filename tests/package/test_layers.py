"""How weights begin."""

import pytest

from attnlib.layers import seeded, weight


def test_a_weight_is_uniform_between_plus_and_minus_one_over_the_root_of_its_last_size():
    with seeded(0):
        drawn = weight(1000, 16).detach()
    assert drawn.shape == (1000, 16)
    assert 0.249 < drawn.abs().max() <= 0.25
    assert drawn.mean().abs() < 0.01
    assert drawn.std() == pytest.approx(0.5 / 12**0.5, rel=0.02)
    assert weight(3).requires_grad
