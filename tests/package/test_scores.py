"""Every score, held against the equation written as a loop."""

from inspect import unwrap

import numpy as np
import pytest
import torch

from attnlib.scores import Additive, Concat, Dot, General, Location, additive, dot

BATCH, TGT, SRC, DEC, ENC, ATT, MAX_SRC = 2, 3, 7, 5, 11, 13, 17
SCORES = {
    "dot": Dot,
    "general": lambda: General(DEC, ENC),
    "additive": lambda: Additive(DEC, ENC, ATT),
    "concat": lambda: Concat(DEC, ENC, ATT),
    "location": lambda: Location(DEC, MAX_SRC),
}


@pytest.fixture(params=["numpy", "torch"])
def library(request):
    """Turn a NumPy array into one of each library."""
    return {"numpy": np.array, "torch": lambda x: torch.from_numpy(np.array(x))}[request.param]


@pytest.fixture(params=SCORES)
def named_score(request):
    torch.manual_seed(0)
    return request.param, SCORES[request.param]().double()


def draw(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape)


def states_and_annotations(name):
    enc = DEC if name == "dot" else ENC
    return torch.tensor(draw(BATCH, TGT, DEC)), torch.tensor(draw(BATCH, SRC, enc, seed=1))


def score_one(name, s, h, i, weights):
    """Score one state against the annotation at position i, as the paper writes it."""
    W_a, U_a, v_a = (weights.get(letter) for letter in ("W_a", "U_a", "v_a"))
    match name:
        case "dot":
            return s @ h
        case "general":
            return s @ (W_a @ h)
        case "additive":
            return v_a @ np.tanh(W_a @ s + U_a @ h)
        case "concat":
            return v_a @ np.tanh(W_a @ np.concatenate([s, h]))
        case "location":
            return (W_a @ s)[i]


def test_three_words_by_hand(library):
    s, h = library([[1.0, 2.0]]), library([[1.0, 0.0], [0.0, 1.0], [3.0, -1.0]])
    assert dot(s, h).tolist() == [[1.0, 2.0, 1.0]]
    v_a = library([1.0, 10.0])
    expected = [[np.tanh(2) + 10 * np.tanh(2), np.tanh(1) + 10 * np.tanh(3), np.tanh(4) + 10 * np.tanh(1)]]
    np.testing.assert_allclose(additive(s, h, v_a), expected, rtol=1e-14)


def test_functions_equal_loops(library):
    s, h, v_a = draw(BATCH, TGT, ATT), draw(BATCH, SRC, ATT, seed=1), draw(ATT, seed=2)
    dots = [[[sum(q * k) for k in keys] for q in queries] for queries, keys in zip(s, h, strict=True)]
    sums = [[[sum(v_a * np.tanh(q + k)) for k in keys] for q in queries] for queries, keys in zip(s, h, strict=True)]
    np.testing.assert_allclose(dot(library(s), library(h)), dots, rtol=1e-12)
    np.testing.assert_allclose(additive(library(s), library(h), library(v_a)), sums, rtol=1e-12)


def test_classes_equal_the_papers_equations(named_score):
    name, score = named_score
    s, h = states_and_annotations(name)
    weights = {letter: p.detach().numpy() for letter, p in score.named_parameters()}
    e = score(s, score.keys(h)).detach().numpy()
    for b, t, i in np.ndindex(BATCH, TGT, SRC):
        assert e[b, t, i] == pytest.approx(score_one(name, s[b, t].numpy(), h[b, i].numpy(), i, weights), rel=1e-12)


def test_parameters_have_the_papers_names_and_orientation():
    shapes = {name: {k: tuple(p.shape) for k, p in make().named_parameters()} for name, make in SCORES.items()}
    assert shapes == {
        "dot": {},
        "general": {"W_a": (DEC, ENC)},
        "additive": {"W_a": (ATT, DEC), "U_a": (ATT, ENC), "v_a": (ATT,)},
        "concat": {"W_a": (ATT, DEC + ENC), "v_a": (ATT,)},
        "location": {"W_a": (MAX_SRC, DEC)},
    }


def test_concat_is_additive_with_the_two_matrices_side_by_side():
    one, other = Additive(DEC, ENC, ATT), Concat(DEC, ENC, ATT)
    other.load_state_dict({"W_a": torch.cat([one.W_a, one.U_a], 1), "v_a": one.v_a})
    s, h = (x.float() for x in states_and_annotations("concat"))
    torch.testing.assert_close(one.keys(h), other.keys(h), rtol=0, atol=1e-6)
    torch.testing.assert_close(one(s, one.keys(h)), other(s, other.keys(h)), rtol=0, atol=1e-6)


def test_location_does_not_read_the_annotations():
    score = Location(DEC, MAX_SRC)
    s, h = (x.float() for x in states_and_annotations("location"))
    assert torch.equal(score(s, score.keys(h)), score(s, score.keys(torch.full_like(h, torch.nan))))


def test_gradients_are_those_of_finite_differences(named_score):
    name, score = named_score
    s, h = (x.requires_grad_() for x in states_and_annotations(name))
    torch.autograd.gradcheck(lambda s, h, *_: score(s, score.keys(h)), (s, h, *score.parameters()))


def test_a_sentence_gets_alone_what_it_gets_in_a_batch_and_a_step_what_it_gets_among_others(named_score):
    name, score = named_score
    s, h = states_and_annotations(name)
    e = score(s, score.keys(h))
    for b in range(BATCH):
        torch.testing.assert_close(score(s[b], score.keys(h[b])), e[b], rtol=1e-12, atol=1e-12)
        for t in range(TGT):
            one = score(s[b, t : t + 1], score.keys(h[b]))
            torch.testing.assert_close(one, e[b, t : t + 1], rtol=1e-12, atol=1e-12)


def test_nothing_is_changed(named_score):
    name, score = named_score
    given = states_and_annotations(name)
    before = [x.clone() for x in given]
    s, h = given
    keys = score.keys(h)
    keys_before = keys.clone()
    score(s, keys)
    assert all(torch.equal(x, y) for x, y in zip((s, h, keys), (*before, keys_before), strict=True))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: unwrap(dot)(draw(2, 3), draw(4, 5)), r"h has shape \(4, 5\); expected 3 features"),
        (lambda: unwrap(additive)(draw(2, 3), draw(4, 3), draw(5)), r"queries has shape \(2, 3\); expected 5"),
        (lambda: unwrap(additive)(draw(2, 5), draw(4, 3), draw(5)), r"keys has shape \(4, 3\); expected 5"),
    ],
)
def test_functions_refuse_features_that_do_not_match(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("name", ["general", "additive", "concat"])
def test_keys_refuse_annotations_of_another_size(name):
    score = SCORES[name]()
    with pytest.raises(ValueError, match=rf"h has shape \(2, 7, 3\); expected {ENC} features"):
        unwrap(type(score).keys)(score, torch.zeros(2, 7, 3))


@pytest.mark.parametrize("name", ["general", "additive", "concat", "location"])
def test_scores_refuse_states_of_another_size(name):
    score = SCORES[name]()
    with pytest.raises(ValueError, match=rf"s has shape \(2, 3, 4\); expected {DEC} features"):
        unwrap(type(score).forward)(score, torch.zeros(2, 3, 4), score.keys(torch.zeros(2, SRC, ENC)))


def test_location_refuses_a_source_longer_than_it_has_weights_for():
    score = Location(DEC, MAX_SRC)
    assert score(torch.zeros(1, DEC), score.keys(torch.zeros(MAX_SRC, ENC))).shape == (1, MAX_SRC)
    with pytest.raises(ValueError, match=r"h has 18 source positions; expected at most max_src, 17"):
        score.keys(torch.zeros(MAX_SRC + 1, ENC))


@pytest.mark.parametrize(("function", "number"), [(dot, 2), (additive, 3)])
def test_arrays_of_two_libraries_are_refused(function, number):
    for other in range(number):
        of = [np.ones if n == other else lambda shape: torch.ones(shape).double() for n in range(number)]
        arguments = [make(shape) for make, shape in zip(of, [(2, 3), (4, 3), (3,)], strict=False)]
        with pytest.raises(TypeError, match=r"[Mm]ultiple"):
            unwrap(function)(*arguments)
