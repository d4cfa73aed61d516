"""Weights are changed, words hidden, annotations transplanted: loops over the steps are the oracle."""

from itertools import pairwise

import pytest
import torch

from attnbook.experiments.interventions import change_weights, next_word, score_slopes
from attnlib import BOS, SentencePair, Vocabulary, encode_batch, luong, rnn_search

WORDS = "abcde", "vwxyz"
PAIR, OTHER = (SentencePair(tuple(source), tuple("vwx")) for source in ("abcd", "bbad"))
MODELS = {"previous state": rnn_search, "new state": luong}


@pytest.fixture(params=MODELS)
def model(request):
    words = [Vocabulary.from_sentences([tuple(letters)]) for letters in WORDS]
    model = MODELS[request.param](*words, embedding_dim=5, hidden_size=7, seed=3).double()
    for weight in model.parameters():
        weight.data *= 4  # untrained models would hardly look
    return model


@torch.no_grad()
def by_steps(model, t, hidden=(), annotations=None):
    encoded = model.encoder(*encode_batch([PAIR.source], model.source_vocabulary))
    if annotations is not None:
        encoded = encoded._replace(annotations=annotations)
    state = model.decoder.start(encoded)
    mask = state.memory.mask.clone()
    mask[..., [*hidden]] = False
    state = state._replace(memory=state.memory._replace(mask=mask))
    for word in [BOS, *model.target_vocabulary.encode(PAIR.target)][: t + 1]:
        logits, _, state = model.decoder.step(torch.tensor([word]), state)
    return "".join(model.target_vocabulary.decode([int(logits[0].argmax())]))


def annotations(model, pair):
    return model.encoder(*encode_batch([pair.source], model.source_vocabulary)).annotations


def test_nothing_changed_and_words_hidden(model):
    assert [next_word(model, PAIR, t) for t in range(3)] == [by_steps(model, t) for t in range(3)]
    for hidden in ([0], [1, 3], [0, 1, 2, 4]):
        assert [next_word(model, PAIR, t, hidden=hidden) for t in range(3)] == [
            by_steps(model, t, hidden) for t in range(3)
        ]
    assert next_word(model, PAIR, 2) == by_steps(model, 2)  # the model is as it was


def test_annotations_transplanted(model):
    mixed = annotations(model, PAIR).clone()
    mixed[:, [0, 2]] = annotations(model, OTHER)[:, [0, 2]]
    told = [next_word(model, PAIR, t, other=OTHER, places=[0, 2]) for t in range(3)]
    assert told == [by_steps(model, t, annotations=mixed) for t in range(3)]


def test_weights_of_a_local_window_do_not_sum_to_one_and_stay_so_where_nothing_is_hidden():
    words = [Vocabulary.from_sentences([tuple(letters)]) for letters in WORDS]
    models = [luong(*words, window="local-p", half_width=2, hidden_size=7, seed=seed).double() for seed in range(20)]
    for model in models:
        for weight in model.parameters():
            weight.data *= 4
        assert [next_word(model, PAIR, t) for t in range(3)] == [by_steps(model, t) for t in range(3)]


def test_changed_weights(model):
    encoded = model.encoder(*encode_batch([PAIR.source], model.source_vocabulary))
    words = torch.tensor([[BOS, *model.target_vocabulary.encode(PAIR.target)][:-1]])
    before = model.decoder(words, encoded)
    mean = encoded._replace(annotations=encoded.annotations.mean(1, keepdim=True).expand_as(encoded.annotations))
    with change_weights(model, lambda weights: torch.full_like(weights, 1 / 5)):
        even = model.decoder(words, encoded)
    assert torch.allclose(even[0], model.decoder(words, mean)[0]), "the context is the mean of the annotations"
    assert not torch.allclose(even[0], before[0])
    assert torch.equal(model.decoder(words, encoded)[0], before[0]), "the model is as it was"


def test_slopes_are_what_a_small_rise_of_each_score_does_to_the_loss_of_its_word():
    words = [Vocabulary.from_sentences([tuple(letters)]) for letters in WORDS]
    model = rnn_search(*words, embedding_dim=5, hidden_size=7, seed=3).double().requires_grad_(False)
    h = annotations(model, PAIR)
    state = model.decoder.start(model.encoder(*encode_batch([PAIR.source], words[0])))
    ids, slopes = [BOS, *words[1].encode(PAIR.target)], score_slopes(model, PAIR)
    assert slopes.shape == (len(ids) - 1, h.shape[1])
    for t, (before, word) in enumerate(pairwise(ids)):
        (s,), y = state.cache, model.decoder.embedding(torch.tensor([before]))

        def loss(e, s=s, y=y, word=word):
            return -model.decoder.readout(s, y, e.softmax(0) @ h).log_softmax(1)[0, word]

        for i, rise in enumerate(1e-6 * torch.eye(h.shape[1], dtype=torch.float64)):
            assert abs((loss(rise) - loss(-rise)) / 2e-6 - slopes[t, i]) < 1e-8
        state = model.decoder.step(torch.tensor([before]), state)[2]
