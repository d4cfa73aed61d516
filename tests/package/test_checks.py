"""What the public entrances refuse, each kind of wrong argument once, and what just fits."""

import numpy as np
import pytest
import torch

from attnlib.checks import (
    as_floating,
    check_finite,
    check_ids,
    check_integers,
    check_lengths,
    check_mask,
    check_sentences,
    check_shape,
    check_vocabularies,
    check_whole,
    check_words,
)
from attnlib.data import Vocabulary
from attnlib.translator import Translator

EYE, IDS, LENGTHS = np.eye(3), torch.tensor([0, 4]), torch.tensor([3, 1])
AB = Vocabulary(("a", "b"))


def translator(*vocabularies):
    return Translator(torch.nn.Identity(), torch.nn.Identity(), *vocabularies)


def test_what_just_fits_is_let_through():
    check_whole(n=np.int64(1))
    check_whole(0, n=0)
    check_finite(x=-1e308, n=3)
    check_integers(x=IDS, y=np.arange(2))
    check_shape("x", EYE, "tgt", 3)
    check_mask(EYE[:1] > 0, (3, 3), EYE)
    check_mask(torch.ones(()) > 0, (3, 3), torch.ones(()))
    check_ids("x", IDS, 5)
    check_lengths(LENGTHS, (2, 3))
    check_sentences("x", [["le", "chat"], ()])
    check_vocabularies(translator(AB, AB))


def test_arrays_are_brought_to_one_precision(library):
    for kinds, expected in (("444", "float32"), ("484", "float64"), ("888", "float64")):
        given = [library(EYE.astype(f"f{kind}")) for kind in kinds]
        _, *arrays = as_floating(**dict(zip("xyz", given, strict=True)))
        assert all(str(x.dtype).endswith(expected) for x in arrays)
        assert all(one is other for one, other in zip(arrays, given, strict=True) if one.dtype == other.dtype)
    xp, *mixed = as_floating(x=np.arange(3), y=EYE.astype("float32"))
    assert xp.matrix_transpose(EYE).shape == (3, 3)
    (alone,) = as_floating(x=np.arange(3))[1:]
    assert {x.dtype for x in (*mixed, alone)} == {np.dtype("float64")}


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda: check_whole(n=2.5), TypeError, "n is 2.5; expected a whole number"),
        (lambda: check_whole(n=True), TypeError, "n is True"),
        (lambda: check_whole(n=0), ValueError, "n is 0; expected at least 1"),
        (lambda: check_whole(2, m=2, n=1), ValueError, "n is 1; expected at least 2"),
        (lambda: check_finite(x=-np.inf), ValueError, "x is -inf; expected a finite number"),
        (lambda: check_finite(x=np.nan), ValueError, "x is nan"),
        (lambda: check_finite(x=True), ValueError, "x is True"),
        (lambda: check_finite(x="1"), ValueError, "x is '1'"),
        (lambda: as_floating(y=EYE, x=[1.0]), TypeError, "x is a list; expected a NumPy array or a torch tensor"),
        (lambda: as_floating(x=EYE > 0), TypeError, r"x has shape \(3, 3\) and holds bool; expected floating-point"),
        (lambda: as_floating(x=EYE, y=EYE * 1j), TypeError, "y has .* holds complex128"),
        (lambda: as_floating(x=IDS), TypeError, "x has .* holds torch.int64"),
        (lambda: as_floating(x=EYE, y=IDS), TypeError, "x is a numpy.ndarray, y is a torch.Tensor; .* of one library"),
        (lambda: check_mask([True], (3, 3), EYE), TypeError, "mask is a list; expected a ndarray, as the scores are"),
        (lambda: check_mask(IDS > 0, (3, 3), EYE), TypeError, "mask is a Tensor; expected a ndarray"),
        (lambda: check_mask(EYE, (3, 3), EYE), TypeError, r"mask has shape \(3, 3\) and holds float64; expected bool"),
        (lambda: check_mask(EYE[:2] > 0, (3, 3), EYE), ValueError, r"mask has shape \(2, 3\); expected .* to \(3, 3\)"),
        (lambda: check_mask(EYE[None] > 0, (3, 3), EYE), ValueError, r"mask has shape \(1, 3, 3\)"),
        (lambda: check_integers(x=[1]), TypeError, "x is a list; expected a NumPy array or a torch tensor"),
        (lambda: check_integers(x=EYE), TypeError, r"x has shape \(3, 3\) and holds float64; expected whole"),
        (lambda: check_integers(x=IDS > 0), TypeError, "holds torch.bool"),
        (lambda: check_shape("x", EYE, 3), ValueError, r"x has shape \(3, 3\); expected \(3,\)$"),
        (lambda: check_shape("x", EYE, "tgt", 4), ValueError, r"x has shape \(3, 3\); expected \(tgt, 4\)$"),
        (lambda: check_ids("x", IDS, 4), ValueError, "x holds 4; expected word numbers from 0 to 3"),
        (lambda: check_ids("x", -IDS, 5), ValueError, "x holds -4"),
        (lambda: check_ids("x", IDS * 1.0, 5), TypeError, "x has .* expected whole"),
        (lambda: check_lengths(LENGTHS, (3, 9)), ValueError, r"lengths has shape \(2,\); expected \(3,\), one"),
        (lambda: check_lengths(LENGTHS, (2, 2)), ValueError, "lengths holds 3; expected 1 to 2, the padded length"),
        (lambda: check_lengths(LENGTHS - 1, (2, 3)), ValueError, "lengths holds 0"),
        (lambda: check_lengths(LENGTHS * 1.5, (2, 9)), TypeError, "lengths has .* expected whole"),
        (lambda: check_lengths(LENGTHS, (2,)), ValueError, r"source has shape \(2,\); expected \(batch, src\)"),
        (lambda: check_lengths(LENGTHS, (2, 9, 1)), ValueError, r"source has shape \(2, 9, 1\)"),
        (lambda: check_lengths(LENGTHS[:0], (0, 9)), ValueError, r"source has shape \(0, 9\).*at least one sentence"),
        (lambda: check_words("x", "le chat"), TypeError, "x is the string 'le chat'; expected a sequence of words"),
        (lambda: check_words("x", ["le", 4]), TypeError, "x holds 4; expected words"),
        (lambda: check_sentences("x", "le"), TypeError, "x is the string 'le'; expected a sequence of sentences"),
        (lambda: check_sentences("x", [["le"], "le"]), TypeError, r"x\[1\] is the string 'le'"),
        (lambda: check_vocabularies(translator(AB)), ValueError, "translator has no vocabularies; expected one made"),
        (lambda: check_vocabularies(translator(None, AB)), ValueError, "translator has no vocabularies"),
    ],
)
def test_what_does_not_fit_is_refused(call, error, says, refused):
    refused(call, error, says)
