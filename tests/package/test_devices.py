"""Where training computes. There is no GPU here: a device of no storage stands for one."""

from itertools import islice

import pytest
import torch

from attnlib import training
from attnlib.data import PAD, Vocabulary, endless
from attnlib.devices import device_named, moved, onednn_products
from attnlib.language.grammar import sample
from attnlib.progress import Training
from attnlib.training import train
from attnlib.translator import luong

PAIRS = sample(23, seed=0, clauses=(1,))
VOCABULARIES = Vocabulary.of(pair.source for pair in PAIRS), Vocabulary.of(pair.target for pair in PAIRS)


def some(**options):
    return endless(PAIRS, *VOCABULARIES, max_tokens=80, seed=0, **options)


def test_a_gpu_is_chosen_where_there_is_one_and_each_process_has_its_own(monkeypatch):
    assert device_named("cpu") == torch.device("cpu")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    assert device_named() == device_named("cuda") == torch.device("cuda:0")
    assert device_named("cuda:1") == torch.device("cuda:1")
    monkeypatch.setenv("LOCAL_RANK", "1")
    assert device_named() == torch.device("cuda:1")


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("cuda", "device is 'cuda', which needs cuda:0; expected one that is here: cpu$"),
        ("cuda:3", "device is 'cuda:3', which needs cuda:3"),
        ("tpu", "device is 'tpu'; expected cpu, cuda, or cuda:1 and so on"),
        ("meta", "device is 'meta'; expected cpu"),
    ],
)
def test_a_device_that_is_not_there_is_refused(monkeypatch, name, says):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(ValueError, match=says):
        device_named(name)


def test_batches_come_with_their_words_and_as_they_were():
    kept = [*islice(some(), 3)]
    for (batch, words), expected in zip(moved(kept, torch.device("cpu")), kept, strict=True):
        assert all(map(torch.equal, batch, expected))
        assert words == sum(int(number) != PAD for row in expected.target for number in row)


def test_losses_that_are_read_late_are_the_same_and_name_their_step(monkeypatch):
    """What a GPU is spared, on a processor: one look at all losses, at a score and at the end."""
    reads, read = [], Training.read

    def once_a_score(under_way):
        if len(under_way.unread) % 3 == 0 or under_way.step == 7:
            reads.append(len(under_way.unread))
            read(under_way)

    def trained():
        return train(luong(*VOCABULARIES, emb=4, hid=6, seed=0), some(), steps=7)

    expected = trained().losses.tolist()
    monkeypatch.setattr(Training, "read", once_a_score)
    assert trained().losses.tolist() == expected
    assert reads == [3, 3, 1, 0]
    monkeypatch.setattr(training, "output_loss", lambda *_: torch.tensor(float("nan"), requires_grad=True))
    with pytest.raises(FloatingPointError, match="loss is nan at step 1;"):
        trained()


def test_products_by_onednn_are_as_exact_as_float32_and_end_with_the_block():
    a, b = torch.randn(64, 500), torch.randn(500, 300)
    with onednn_products(torch.device("cpu")):
        assert (a @ b).double().allclose(a.double() @ b.double(), rtol=0, atol=1e-3)
    assert torch.get_float32_matmul_precision() == "highest"


def test_products_stay_with_pytorch_where_onednn_would_round_to_bfloat16_and_on_a_gpu(monkeypatch):
    product = torch.matmul

    def with_units_for_bfloat16(a, b):
        lower = a.dtype == torch.float32 and torch.get_float32_matmul_precision() == "medium"
        return product(a.bfloat16(), b.bfloat16()).float() if lower else product(a, b)

    with onednn_products(torch.device("cuda")):
        assert torch.get_float32_matmul_precision() == "highest"
    monkeypatch.setattr(torch, "matmul", with_units_for_bfloat16)
    with onednn_products(torch.device("cpu")):
        assert torch.get_float32_matmul_precision() == "highest"
