"""Every window, held against its definition: 0 <= i < S and |i - p_t| <= D."""

import math
from inspect import unwrap

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from attnlib.windows import Everywhere, LocalMonotonic, LocalPredictive, gaussian, support

DEC, LENGTHS, SRC, TGT, D = 5, (7, 3, 11), 13, 17, 2
STEPS = torch.arange(TGT)


def tensor(values):
    """Make a tensor in double precision of lists too, as NumPy would."""
    return torch.from_numpy(np.array(values))


@pytest.fixture(params=["numpy", "torch"])
def library(request):
    """Turn a list into an array of each library."""
    return {"numpy": np.array, "torch": tensor}[request.param]


def sentences():
    lengths = torch.tensor(LENGTHS)
    mask = (torch.arange(SRC) < lengths[:, None])[:, None]
    states = torch.tensor(np.random.default_rng(0).normal(size=(len(LENGTHS), TGT, DEC)))
    return states, lengths, mask


def predictive(**options):
    torch.manual_seed(0)
    return LocalPredictive(DEC, D, **options).double()


def in_window(p, half_width, S):
    return [i for i in range(S) if abs(i - p) <= half_width]


@pytest.mark.parametrize(
    ("p", "expected"),
    [(3.0, [1, 2, 3, 4, 5]), (3.5, [2, 3, 4, 5]), (0.0, [0, 1, 2]), (6.0, [4, 5, 6]), (7.0, [5, 6]), (0.2, [0, 1, 2])],
)
def test_seven_words_by_hand(library, p, expected):
    positions, inside = support(library([[p]]), 2, library([7]), 9)
    assert [i for i, seen in zip(positions[0, 0].tolist(), inside[0, 0].tolist(), strict=True) if seen] == expected


@settings(deadline=None)
@given(
    share=st.floats(0, 1),
    half_width=st.integers(1, 6),
    S=st.integers(1, 19),
    padding=st.integers(0, 5),
    whole=st.booleans(),
    of=st.sampled_from([np.array, tensor]),
)
def test_support_is_the_definition(*, share, half_width, S, padding, whole, of):
    p = round(share * S) if whole else share * S
    positions, inside = support(of([[float(p)]]), half_width, of([S]), S + padding)
    seen = [int(i) for i, real in zip(positions[0, 0], inside[0, 0], strict=True) if real]
    assert seen == in_window(p, half_width, S)
    assert seen
    assert positions.shape[-1] == min(2 * half_width + 1, S + padding)
    assert 0 <= int(positions.min()) <= int(positions.max()) < S + padding


def test_a_source_of_a_million_words_costs_no_more(library):
    positions, inside = support(library([[999_999.0, 500_000.5]]), 3, library([1_000_000]), 1_000_000)
    assert positions.tolist() == [[list(range(999_993, 1_000_000)), list(range(499_998, 500_005))]]
    assert inside.tolist() == [[[False] * 3 + [True] * 4, [True] * 6 + [False]]]


def test_one_sentence_needs_no_axis_for_the_batch(library):
    of_batch = support(library([[3.0, 0.5, 6.2]]), 2, library([7]), 9)
    alone = support(library([3.0, 0.5, 6.2]), 2, library(7), 9)
    assert [x.tolist() for x in alone] == [x[0].tolist() for x in of_batch]


def test_gaussian_equals_the_papers_equation(library):
    i, p = np.arange(9).reshape(1, 1, 9), 3.3
    sigma = 4 / 2
    expected = [math.exp(-((k - p) ** 2) / (2 * sigma**2)) for k in range(9)]
    np.testing.assert_allclose(gaussian(library(i), library([[p]]), 4)[0, 0], expected, rtol=1e-14)


def test_gaussian_peaks_at_the_centre_and_falls_to_exp_minus_two_at_the_ends(library):
    favour = gaussian(library([[[1, 5, 9]]]), library([[5.0]]), 4)
    np.testing.assert_allclose(favour[0, 0], [math.exp(-2), 1, math.exp(-2)], rtol=1e-14)


def test_gaussian_keeps_the_precision_of_the_centre(library):
    p = library(np.ones((1, 1), "float32"))
    assert gaussian(library([[[1, 2]]]), p, 1).dtype == p.dtype


def test_the_monotonic_centre_is_the_step_until_the_last_word():
    states, lengths, _ = sentences()
    expected = [[float(min(t, S - 1)) for t in range(TGT)] for S in LENGTHS]
    assert LocalMonotonic(D).centre(states, STEPS, lengths).tolist() == expected


@pytest.mark.parametrize("authors", [False, True])
def test_the_predicted_centre_equals_the_papers_equation(authors):
    states, lengths, _ = sentences()
    window = predictive(authors=authors)
    W_p, v_p = window.W_p.detach().numpy(), window.v_p.detach().numpy()
    centre = window.centre(states, STEPS, lengths).detach().numpy()
    for b, S in enumerate(LENGTHS):
        for t in range(TGT):
            share = 1 / (1 + math.exp(-v_p @ np.tanh(W_p @ states[b, t].numpy())))
            assert centre[b, t] == pytest.approx((S - 1 if authors else S) * share, rel=1e-12)


def test_everywhere_sees_every_real_word():
    states, lengths, mask = sentences()
    view = Everywhere()(states, STEPS, lengths, mask)
    assert torch.equal(view.inside, mask)
    assert view.positions is None
    assert view.favour is None


@pytest.mark.parametrize("window", [LocalMonotonic(D), predictive(), predictive(authors=True)], ids=str)
def test_local_windows_see_what_the_definition_says(window):
    states, lengths, mask = sentences()
    view = window(states, STEPS, lengths, mask)
    p = window.centre(states, STEPS, lengths)
    middle = p.floor() if getattr(window, "authors", False) else p
    for b, S in enumerate(LENGTHS):
        for t in range(TGT):
            seen = view.positions[b, t][view.inside[b, t]].tolist()
            assert seen == in_window(middle[b, t].item(), D, S)
    if isinstance(window, LocalPredictive):
        torch.testing.assert_close(view.favour, gaussian(view.positions, p, D))
    else:
        assert view.favour is None


def test_a_centre_depends_on_the_sentence_alone_not_on_its_padding():
    states, lengths, mask = sentences()
    window = predictive()
    together = window(states, STEPS, lengths, mask)
    for b, S in enumerate(LENGTHS):
        one = slice(b, b + 1)
        alone = window(states[one], STEPS, lengths[one], mask[one, :, :S])
        torch.testing.assert_close(
            window.centre(states[one], STEPS, lengths[one]), window.centre(states, STEPS, lengths)[one]
        )
        for t in range(TGT):
            seen = [v.positions[k, t][v.inside[k, t]].tolist() for v, k in ((alone, 0), (together, b))]
            assert seen[0] == seen[1]


def test_gradients_of_the_gaussian_and_the_centre_are_those_of_finite_differences():
    states, lengths, _ = sentences()
    window = predictive()
    i = torch.arange(SRC).expand(len(LENGTHS), TGT, SRC)

    def favour(states, *_):
        return gaussian(i, window.centre(states, STEPS, lengths), D)

    torch.autograd.gradcheck(favour, (states.requires_grad_(), window.W_p, window.v_p))


def test_the_options_are_in_the_printed_form():
    assert repr(LocalMonotonic(3)) == "LocalMonotonic(half_width=3)"
    assert repr(LocalPredictive(DEC, 3)) == "LocalPredictive(half_width=3, authors=False)"


REFUSING = {
    "support": lambda D: support(np.zeros((1, 1)), D, np.ones(1, int), 3),
    "gaussian": lambda D: gaussian(np.zeros((1, 1, 1), int), np.zeros((1, 1)), D),
    "monotonic": LocalMonotonic,
    "predictive": lambda D: LocalPredictive(DEC, D),
}


@pytest.mark.parametrize("call", REFUSING.values(), ids=REFUSING)
def test_a_half_width_below_one_is_refused(call):
    with pytest.raises(ValueError, match="half_width is 0; expected at least 1"):
        call(0)


@pytest.mark.parametrize("wrong", [2.0, True, "3"])
def test_a_half_width_that_is_no_whole_number_is_refused(wrong):
    with pytest.raises(TypeError, match=f"half_width is {wrong!r}; expected a whole number"):
        unwrap(gaussian)(np.zeros((1, 1, 1), int), np.zeros((1, 1)), wrong)


@pytest.mark.parametrize("other", [0, 1])
def test_arrays_of_two_libraries_are_refused(other):
    of = [np.array, np.array]
    of[other] = tensor
    with pytest.raises(TypeError, match=r"[Mm]ultiple"):
        unwrap(support)(of[0]([[1.0]]), 2, of[1]([7]), 9)
    with pytest.raises(TypeError, match=r"[Mm]ultiple"):
        unwrap(gaussian)(of[0]([[[1]]]), of[1]([[1.0]]), 2)


def test_positions_are_integers_like_the_lengths(library):
    lengths = library(np.array([7], "int32"))
    assert support(library([[3.0]]), 2, lengths, 9)[0].dtype == lengths.dtype
