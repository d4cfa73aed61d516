"""A whole number may be Python's, NumPy's or torch's, and ids and lengths may have any size; truth values are none."""

from functools import partial

import jaxtyping
import numpy as np
import pytest
import torch

from attnbook.language.sentences import sample
from attnlib.batching import batches, encode_batch, infinite_batches
from attnlib.checks import check_finite, check_whole
from attnlib.data import Vocabulary
from attnlib.presets import luong, rnn_encdec, rnn_search
from attnlib.search import beam_search, greedy_search
from attnlib.training import train
from attnlib.transformer import transformer
from attnlib.translation import translate

KINDS = [np.int32, np.uint8, np.array, torch.tensor, partial(torch.tensor, dtype=torch.int32)]
PAIRS = sample(5, seed=1, clauses=(1,))
VOCABULARIES = tuple(Vocabulary.from_sentences(pair[side] for pair in PAIRS) for side in (0, 1))
SIZES = {"embedding_dim": 5, "hidden_size": 6}
IDS, LENGTHS = encode_batch([pair.source for pair in PAIRS], VOCABULARIES[0])


@pytest.fixture(autouse=True)
def as_users_call(monkeypatch):
    """Switch the hook off that holds every signature to its letter."""
    monkeypatch.setattr(jaxtyping.config, "jaxtyping_disable", True)


@pytest.mark.parametrize("kind", KINDS)
def test_a_whole_number_of_every_kind_passes(kind):
    check_whole(size=kind(3))


@pytest.mark.parametrize("dtype", [torch.int8, torch.int16, torch.int32])
@pytest.mark.parametrize("make", [luong, partial(luong, window="local-m"), rnn_search, rnn_encdec, transformer])
def test_ids_and_lengths_of_every_size_give_the_same(dtype, make):
    model, (ids, lengths) = make(*VOCABULARIES).eval(), (x.to(dtype) for x in (IDS, LENGTHS))
    pairs = [
        (model(ids, lengths, ids[:, :3]).logits, model(IDS, LENGTHS, IDS[:, :3]).logits),
        (model.loss(ids, lengths, ids[:, :3]), model.loss(IDS, LENGTHS, IDS[:, :3])),
        (model.step(lengths, model.start(ids, lengths))[0], model.step(LENGTHS, model.start(IDS, LENGTHS))[0]),
        (greedy_search(model, ids, lengths, lengths).ids, greedy_search(model, IDS, LENGTHS, LENGTHS).ids),
        (beam_search(model, ids, lengths, 9, 2).ids, beam_search(model, IDS, LENGTHS, 9, 2).ids),
    ]
    assert all(torch.equal(*both) for both in pairs)


@pytest.mark.parametrize("number", [True, np.True_, torch.tensor(True), 2.0, np.float64(2), "2", [2], np.array([2])])
def test_what_is_no_whole_number_is_refused(number):
    with pytest.raises(TypeError, match=r"size is .*; expected a whole number"):
        check_whole(size=number)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: train(luong(*VOCABULARIES, **SIZES), [], steps=1, seed=2**64), "seed is 18446744073709551616; exp"),
        (lambda: luong(*VOCABULARIES, seed=2**63), f"seed is {2**63}; expected a number from 0 to {2**63 - 1}"),
        (lambda: luong(*VOCABULARIES, window="local-m", half_width=2**63), f"half_width is {2**63}; .* from 1 to"),
        (lambda: translate(luong(*VOCABULARIES, **SIZES), "the", max_length=2**31), "max_length is 2147483648; .*47"),
        (lambda: sample(3, seed=2**64, clauses=(1,)), "seed is 18446744073709551616; expected a number from 0"),
        (lambda: batches(PAIRS, *VOCABULARIES, max_tokens=99, seed=2**32), f"seed is {2**32}; expected a number from"),
        (lambda: infinite_batches(PAIRS, *VOCABULARIES, max_tokens=2**64, seed=0), "max_tokens is 1844674407370955161"),
    ],
)
def test_a_number_that_is_too_large_is_refused_with_its_range(call, says, refused):
    refused(call, says)


@pytest.mark.parametrize("number", [1, np.float32(0.5), np.array(2.0), torch.tensor(0.5), np.int64(1)])
def test_a_finite_number_of_every_kind_passes(number):
    check_finite(rate=number)
    for other in (True, np.float32("nan"), torch.tensor(float("inf")), "1", None):
        with pytest.raises(ValueError, match=r"rate is .*; expected a finite number"):
            check_finite(rate=other)
