"""The loop learns, counts real words only, and the seed decides everything."""

import signal

import pytest
import torch
from torch.nn.functional import cross_entropy

from attnbook import sample
from attnlib import PAD, EncoderDecoder, Vocabulary, collate, infinite_batches, rnn_search, train, translate_all
from attnlib.metrics import exact_match
from attnlib.training import init_training, interruptible, warmup_cosine

PAIRS = sample(60, seed=0, clauses=(1,))
SOURCES, TARGETS = [pair.source for pair in PAIRS], [pair.target for pair in PAIRS]
VOCABULARIES = Vocabulary.from_sentences(SOURCES), Vocabulary.from_sentences(TARGETS)


def small(make=rnn_search, seed=0):
    return make(*VOCABULARIES, embedding_dim=13, hidden_size=17, seed=seed)


def learn(translator, pairs, *, seed, words=600, **options):
    return train(translator, infinite_batches(pairs, *VOCABULARIES, max_tokens=words, seed=seed), **options)


def weights(translator):
    return torch.cat([p.detach().flatten() for p in translator.parameters()])


def test_it_learns_a_few_sentences_by_heart():
    translator = rnn_search(*VOCABULARIES, embedding_dim=16, hidden_size=32, seed=0)
    few = sorted(PAIRS, key=lambda pair: len(pair.target))[:5]
    history = learn(translator, few, steps=60, seed=0, learning_rate=2e-2)
    assert history.losses[-1] < 0.05
    result = translate_all(translator, [pair.source for pair in few], max_length=30)
    assert exact_match([one.words for one in result], [pair.target for pair in few]) == 1


def test_the_random_numbers_of_others_stay_as_they_were():
    before = torch.get_rng_state()
    learn(small(), PAIRS, steps=2, seed=0, words=100)
    assert torch.equal(torch.get_rng_state(), before)


def test_the_rate_rises_then_falls_to_nothing():
    assert [warmup_cosine(done) for done in (0.0, 0.05, 0.5, 1.0)] == pytest.approx([0, 0.994, 0.5, 0], abs=1e-3)
    assert warmup_cosine(0.01) == pytest.approx(0.2, rel=1e-3)


def test_the_schedule_is_asked_inside_the_training_and_a_rate_of_zero_changes_nothing():
    translator, asked = small(), []
    before = weights(translator)
    learn(translator, PAIRS, steps=4, seed=0, words=100, schedule=lambda done: asked.append(done) or 0.0)
    assert asked == pytest.approx([0.2, 0.4, 0.6, 0.8])
    assert torch.equal(weights(translator), before)


def test_gradients_are_clipped_to_the_norm_asked_for(monkeypatch):
    norms = []
    step = torch.optim.Adam.step

    def watched(optimizer, *arguments):
        norms.append(float(torch.cat([p.grad.flatten() for p in optimizer.param_groups[0]["params"]]).norm()))
        return step(optimizer, *arguments)

    monkeypatch.setattr(torch.optim.Adam, "step", watched)
    learn(small(), PAIRS, steps=3, seed=0, words=100, max_grad_norm=0.01)
    assert norms == pytest.approx([0.01] * 3, rel=1e-3)


def test_the_first_loss_is_that_of_the_first_batch():
    translator = small()
    whole = collate(PAIRS[:3], *VOCABULARIES)
    with torch.no_grad():
        expected = float(cross_entropy(translator(*whole).logits.mT, whole.target, ignore_index=PAD))
    assert learn(translator, PAIRS[:3], steps=1, seed=0).losses == pytest.approx([expected], rel=1e-5)


def trained(**options):
    return learn(small(), PAIRS, **{"steps": 1, "seed": 0} | options)


def test_a_loss_that_is_no_number_ends_the_training(monkeypatch):
    monkeypatch.setattr(EncoderDecoder, "loss", lambda *_: torch.tensor(float("nan"), requires_grad=True))
    translator = small()
    before = [weight.clone() for weight in translator.parameters()]
    with pytest.raises(FloatingPointError, match="loss is nan at step 1;"):
        learn(translator, PAIRS, steps=7, seed=0)
    assert all(map(torch.equal, translator.parameters(), before))


def test_a_training_that_fails_leaves_a_translator_that_drops_nothing():
    translator = small()
    with pytest.raises(ValueError, match="batches ended after 0 steps"):
        train(translator, [], steps=1)
    assert not translator.training


def test_the_first_ctrl_c_is_noted_and_the_second_raised_at_once():
    with interruptible() as interrupted:
        assert not interrupted()
        signal.raise_signal(signal.SIGINT)
        assert interrupted()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    with interruptible():
        pass
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: train(small().requires_grad_(False), [], steps=1), "model has only frozen weights; .*requires_grad_"),
        (lambda: trained(steps=None), "steps and minutes are None; expected a number for one of them"),
        (lambda: trained(steps=0), "steps is 0; expected at least 1"),
        (lambda: trained(seed=-1), "seed is -1; expected at least 0"),
        (lambda: trained(max_grad_norm=float("nan")), "max_grad_norm is nan; expected a number above 0"),
        (lambda: trained(steps=None, minutes=0), "minutes is 0; expected a number above 0"),
        (lambda: trained(minutes="x"), "minutes is 'x'; expected a number above 0"),
        (lambda: trained(state=init_training(small())), "state is a training of another model; expected one of the mo"),
        (lambda: train(small(), [tuple(PAIRS[0])], steps=1), "TypeError: batches yields .*; expected a Batch, as from"),
        (lambda: trained(learning_rate=-1), "learning_rate is -1; expected a number above 0"),
        (torch.no_grad()(trained), "train is called without gradients; expected no torch.no_grad or inference_mode"),
        (torch.inference_mode()(trained), "train is called without gradients; expected no torch.no_grad or inf"),
        (lambda: train(torch.inference_mode()(small)(), [], steps=1), "model was made under torch.inference_mode; exp"),
    ],
)
def test_what_does_not_fit_is_refused(call, says, refused):
    refused(call, says)
