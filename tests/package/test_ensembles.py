"""Ensembles: the means of what their models say, step by step and of given words."""

import numpy as np
import pytest
import torch

from attnlib import EOS, SentencePair, Vocabulary, beam_search, ensemble, luong, rnn_encdec, rnn_search, translate_all
from attnlib.metrics import attention_weights, sentence_nll
from attnlib.transformer import transformer

WORDS, MOTS = Vocabulary(tuple("abc")), Vocabulary(tuple("uvwx"))
PAIRS = [SentencePair(tuple("cabba"), tuple("vuw")), SentencePair(("a",), tuple("uvwxv"))]
SENTENCES = [pair.source for pair in PAIRS]


def small(make=luong, **options):
    model = make(WORDS, MOTS, embedding_dim=5, hidden_size=6, **options)
    with torch.no_grad():
        for p in model.parameters():
            p.mul_(3.0)  # more decided than at the beginning
    return model.eval().double()


def several():
    narrow = small(window="local-p", half_width=1, seed=2)
    plain = transformer(WORDS, MOTS, d_model=6, dim_feedforward=5, num_heads=3).eval().double()
    return [small(rnn_search, seed=1), narrow, small(seed=3), plain]


def means(models, pair):
    """Average the probabilities of all words at each position of a reference, and the weights."""
    source, target = torch.tensor([WORDS.encode(pair.source)]), torch.tensor([MOTS.encode(pair.target)])
    outputs = [model(source, torch.tensor([source.shape[1]]), target) for model in models]
    probabilities = [output.logits[0].softmax(1).detach() for output in outputs]
    weights = [output.attention.to_dense(source.shape[1])[0].detach() for output in outputs]
    return sum(probabilities) / len(models), sum(weights) / len(models), target[0]


@pytest.mark.parametrize("pair", PAIRS)
def test_probabilities_and_weights_are_means(pair):
    together = ensemble(models := several())
    probabilities, weights, target = means(models, pair)
    likely = probabilities[range(len(target)), target]
    assert sentence_nll(together, [pair])[0] == pytest.approx(-float(likely.log().sum()))
    np.testing.assert_allclose(attention_weights(together, pair), weights[:-1, :-1], rtol=1e-10)


def test_a_search_takes_the_steps_of_all_models():
    """Its translations are as probable, and look where they do, as when the same words are given."""
    models = several()
    for one in translate_all(models, SENTENCES, beam_size=3, max_length=7):
        probabilities, weights, target = means(models, SentencePair(one.source, one.words))
        written = range(len(one.words) + one.finished)
        likely = probabilities[written, target[written]] / probabilities[written, EOS:].sum(1)  # no <pad>, no <start>
        assert one.log_probability == pytest.approx(float(likely.log().sum()))
        np.testing.assert_allclose(one.weights, weights[: len(one.words), :-1], rtol=1e-5)


def test_one_model_by_itself_and_twice_is_that_model():
    model = small(seed=5)
    expected = translate_all(model, SENTENCES, max_length=9)
    for models in ([model], [model, model]):
        for one, other in zip(translate_all(models, SENTENCES, max_length=9), expected, strict=True):
            assert one.words == other.words
            assert one.log_probability == pytest.approx(other.log_probability)


def test_where_one_does_not_attend_the_ensemble_does_not():
    together = ensemble([small(), small(rnn_encdec)])
    assert not together.decoder.has_attention
    source, lengths = torch.tensor([[4, EOS]]), torch.tensor([2])
    assert beam_search(together, source, lengths, 5, 2).weights is None


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: translate_all([], SENTENCES), "models is empty; expected at least one model"),
        (
            lambda: ensemble([small(), luong(WORDS, WORDS)]),
            r"models\[1\] has other vocabularies than models\[0\]; expect",
        ),
    ],
)
def test_what_cannot_translate_together_is_refused(call, says, refused):
    refused(call, says)
