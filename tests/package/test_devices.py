"""Where training computes. There is no GPU here: a device of no storage stands for one."""

from functools import partial

import pytest
import torch

from attnbook.language.sentences import sample
from attnlib.batching import collate
from attnlib.data import Vocabulary
from attnlib.metrics import sentence_nll
from attnlib.presets import luong, rnn_encdec, rnn_search
from attnlib.search import beam_search, greedy_search
from attnlib.training import train
from attnlib.transformer import transformer
from attnlib.windows import LocalMonotonic, LocalPredictive
from attntext.loss import fused_loss
from attntext.processes import ComputeSettings, bfloat16_autocast, cast_weights_once, compute_with, resolve_device

PAIRS = sample(23, seed=0, clauses=(1,))
VOCABULARIES = tuple(Vocabulary.from_sentences(pair[side] for pair in PAIRS) for side in (0, 1))


def test_a_gpu_is_chosen_where_there_is_one_and_each_process_has_its_own(monkeypatch, refused):
    assert resolve_device("cpu") == torch.device("cpu")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    assert resolve_device() == resolve_device("cuda") == torch.device("cuda:0")
    assert resolve_device("cuda:1") == torch.device("cuda:1")
    monkeypatch.setenv("LOCAL_RANK", "1")
    assert resolve_device() == torch.device("cuda:1")
    monkeypatch.setenv("LOCAL_RANK", "3")
    refused(resolve_device, "device is 'cuda:3'; expected a device of this machine: cpu, cuda, cuda:0, cuda:1$")


@pytest.mark.parametrize("name", ["cuda", "cuda:3", "meta"])
def test_a_device_that_is_not_there_is_refused(monkeypatch, name, refused):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    refused(lambda: resolve_device(name), f"device is '{name}'; expected a device of this machine: cpu$")


@pytest.fixture
def with_bfloat16(monkeypatch):
    """Pretend that the processor has units for bfloat16; where oneDNN knows better, PyTorch does without it."""
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: {"avx512_bf16": True}, raising=False)
    try:
        with torch.autocast("cpu", torch.bfloat16):
            torch.nn.LSTM(1, 1)(torch.zeros(1, 1, 1))
    except RuntimeError:
        monkeypatch.setattr(torch.backends.mkldnn, "enabled", False)


def test_products_stay_in_float32_without_units_for_bfloat16_and_beside_a_gpu(monkeypatch):
    monkeypatch.setattr(torch.cpu, "get_capabilities", dict, raising=False)
    for device in ("cpu", "cuda"):
        with bfloat16_autocast(torch.device(device)):
            assert (torch.ones(7, 7) @ torch.ones(7, 7)).dtype == torch.float32
        monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: {"avx512_bf16": True}, raising=False)


@pytest.mark.parametrize("make", [luong, partial(luong, window="local-p"), rnn_search, rnn_encdec, transformer])
def test_with_bfloat16_losses_gradients_and_translations_are_nearly_the_same_and_float32(with_bfloat16, make):
    sizes = ("d_model", "dim_feedforward") if make is transformer else ("embedding_dim", "hidden_size")
    translator, part = make(*VOCABULARIES, **dict.fromkeys(sizes, 32), seed=0), collate(PAIRS, *VOCABULARIES)

    def learn():
        translator.zero_grad()
        with cast_weights_once():
            loss = fused_loss(translator, *part, 0.1)
        loss.backward()
        return loss.detach(), torch.cat([p.grad.flatten() for p in translator.parameters()])

    loss, gradient = learn()
    written, losses = beam_search(translator, *part[:2], 9, 3), sentence_nll(translator, PAIRS)
    with bfloat16_autocast(torch.device("cpu")):
        near, rounded = learn()
        best = beam_search(translator, *part[:2], 9, 3)
        assert sentence_nll(translator, PAIRS) == pytest.approx(losses, rel=1e-6)
    assert near == pytest.approx(float(loss), rel=1e-3)
    assert 0 < (rounded - gradient).norm() < 0.05 * gradient.norm()
    numbers = [near, rounded, best.log_probabilities, *([] if best.weights is None else [best.weights])]
    assert {x.dtype for x in numbers} == {torch.float32}
    near = torch.isclose(best.log_probabilities, written.log_probabilities, rtol=0.02)
    assert near.sum() >= len(PAIRS) - 2, "where two hypotheses are nearly as likely, the other may be written"


def test_what_is_cast_to_bfloat16_for_all_steps_is_cast_anew_after_a_training(with_bfloat16):
    translator, part = rnn_search(*VOCABULARIES, hidden_size=8, seed=0), collate(PAIRS, *VOCABULARIES)
    with bfloat16_autocast(torch.device("cpu")):
        for search in map(cast_weights_once(), (greedy_search, partial(beam_search, beam_size=3))):
            before = search(translator, *part[:2], 9)
            train(translator, [part, part], steps=2)
            assert not torch.equal(search(translator, *part[:2], 9).log_probabilities, before.log_probabilities)


def test_settings_admit_no_more_than_their_surroundings(with_bfloat16):
    settings = ComputeSettings(bfloat16=True, num_threads=2)
    with compute_with(settings):
        assert (torch.is_autocast_enabled("cpu"), torch.get_num_threads()) == (False, 1)
    assert str(settings) == "bfloat16, 2 threads"


def test_with_bfloat16_centres_are_exact_where_it_has_no_such_number():
    s, steps, lengths = torch.zeros(1, 2, 4, dtype=torch.bfloat16), torch.tensor([257, 300]), torch.tensor([400])
    assert LocalMonotonic(2).center(s, steps, lengths).tolist() == [[257, 300]]
    window = LocalPredictive(4, 2).bfloat16()
    assert window.center(s, steps, torch.tensor([515])).tolist() == [[257.5, 257.5]]
