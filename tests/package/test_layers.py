"""How weights begin, and that seeding a block leaves the generator of others alone."""

import pytest
import torch

from attnlib.layers import seeded, weight


def test_a_weight_is_uniform_between_plus_and_minus_one_over_the_root_of_its_last_size():
    with seeded(0):
        drawn = weight(1000, 16).detach()
    assert drawn.shape == (1000, 16)
    assert 0.249 < drawn.abs().max() <= 0.25
    assert drawn.mean().abs() < 0.01
    assert drawn.std() == pytest.approx(0.5 / 12**0.5, rel=0.02)
    assert weight(3).requires_grad


def test_the_seed_decides_what_is_drawn_inside_and_nothing_outside():
    def inside(seed):
        with seeded(seed):
            return torch.rand(3).tolist()

    torch.manual_seed(0)
    expected = torch.rand(3)
    torch.manual_seed(0)
    assert inside(1) == inside(1) != inside(0)
    assert torch.equal(torch.rand(3), expected)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: seeded("one").__enter__(), "TypeError: seed is 'one'"),
        (lambda: seeded(-1).__enter__(), "seed is -1; expected at least 0"),
    ],
)
def test_what_does_not_fit_is_refused(call, says, refused):
    refused(call, says)
