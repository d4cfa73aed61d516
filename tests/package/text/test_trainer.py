"""What training offers beyond its defaults: dropout, smoothing, scores, early ends, and going on where it stopped."""

from functools import partial

import numpy as np
import pytest
import torch

from attnbook import sample
from attnlib import SentencePair, Vocabulary, infinite_batches, rnn_search, train
from attnlib.batching import Corpus
from attnlib.transformer import transformer
from attntext.saving import TextTraining
from attntext.settings import Architecture, TrainingConfig
from attntext.trainer import Watch, dev_metric, encode_text, train_model

PAIRS = sample(40, seed=0, clauses=(1,))
VOCABULARIES = tuple(Vocabulary.from_sentences(pair[side] for pair in PAIRS) for side in (0, 1))


def small(make=rnn_search, **options):
    return make(*VOCABULARIES, embedding_dim=6, hidden_size=8, seed=0, **options)


def some(words=80, **options):
    return infinite_batches(PAIRS, *VOCABULARIES, max_tokens=words, seed=0, **options)


def same(one, other):
    return all(torch.equal(a, b) for a, b in zip(one.parameters(), other.parameters(), strict=True))


@pytest.mark.parametrize("which", ["dropout", "embedding_dropout"])
def test_a_transformers_dropout_is_for_training_only(which):
    part, make = next(some()), partial(transformer, *VOCABULARIES, d_model=6, dim_feedforward=8, num_heads=3)
    dropping = make(**{which: 0.5})
    assert not torch.equal(dropping(*part).logits, dropping(*part).logits)
    assert torch.equal(dropping.eval()(*part).logits, make()(*part).logits)


def test_what_is_dropped_is_drawn_from_the_seed():
    one, other, third = (small(dropout=0.5) for _ in range(3))
    for translator, seed in ((one, 1), (other, 1), (third, 2)):
        train(translator, some(), steps=2, seed=seed)
    assert same(one, other)
    assert not same(one, third)


def test_a_look_sees_every_step_without_dropout_and_disturbs_nothing():
    seen = []

    def look(under_way):
        seen.append((under_way.step, under_way.model.training, torch.is_grad_enabled()))
        torch.rand(3)

    watched, alone = small(dropout=0.3), small(dropout=0.3)
    train(watched, some(), steps=3, on_step=look)
    train(alone, some(), steps=3)
    assert seen == [(n, False, False) for n in (1, 2, 3)]
    assert same(watched, alone)


def test_the_best_weights_are_kept_and_patience_ends_the_training(monkeypatch, tmp_path):
    scores, kept = iter([(3.0, 1.0), (2.0, 5.0), (1.0, 4.0), (2.5, 5.0), (1.0, 3.0)]), {}
    state = TextTraining.of(small())
    monkeypatch.setattr("attntext.trainer.dev_score", lambda translator, dev: next(scores))
    lines = []
    watch = Watch(tmp_path, PAIRS, TrainingConfig(patience=3), 2, 1e9, lines.append)

    def look(state):
        watch(state)
        kept[state.step] = {name: x.clone() for name, x in state.model.state_dict().items()}

    history = train(state.model, some(), steps=100, state=state, on_step=look)
    assert history.stop_reason == "early"
    assert [score["step"] for score in state.dev_scores] == [2, 4, 6, 8, 10]
    assert len(history.losses) == 10
    assert all(torch.equal(x, kept[4][name]) for name, x in state.best.items())
    assert lines[1] == "step 4: dev loss 2.000, BLEU 5.00"
    assert train(state.model, some(), steps=100, state=state).stop_reason == "early"


def test_a_text_is_encoded_pair_by_pair_and_what_is_too_long_is_left_out_and_counted():
    lines, config = [], TrainingConfig(words=True, max_input_length=9)
    corpus = encode_text(PAIRS, VOCABULARIES, config, lines.append)
    fitting = [pair for pair in PAIRS if max(map(len, pair[:2])) <= 9]
    assert 0 < len(fitting) < len(PAIRS)
    expected, batch = Corpus.from_pairs(fitting, *VOCABULARIES), np.arange(len(fitting))
    assert all(map(torch.equal, corpus.batch(batch), expected.batch(batch)))
    assert corpus.ids.itemsize == 2
    assert lines == [f"left out: {len(PAIRS) - len(fitting)} pairs too long for the model"]
    with pytest.raises(ValueError, match="expected one of at most 2 subwords or words"):
        encode_text(PAIRS, VOCABULARIES, TrainingConfig(max_tokens=3))


@pytest.mark.parametrize(("train", "dev", "longest"), [(100, 3, "training text .* 100"), (99, 130, "dev text .* 130")])
def test_sources_that_the_location_score_has_no_weights_for_are_refused_before_the_first_step(
    tmp_path, refused, train, dev, longest
):
    pairs, dev = ([SentencePair(("a",) * length, ("b",)), SentencePair(("a",), ("b",))] for length in (train, dev))
    options = {"score": "location", "embedding_dim": 4, "hidden_size": 4}
    config = TrainingConfig(options=options, words=True, min_count=1, steps=1)
    says = f"the longest source of the {longest} words or subwords; expected at most 99, or another score"
    refused(lambda: train_model(tmp_path / "model", pairs, dev, config), says)
    assert not (tmp_path / "model").exists()
    train_model(tmp_path / "model", pairs[1:], dev[1:], config)


def test_pairs_may_be_plain_tuples_that_are_read_once_and_a_folder_a_string(tmp_path):
    config = TrainingConfig(options={"embedding_dim": 4, "hidden_size": 4}, words=True, min_count=1, steps=2)
    one = train_model(tmp_path / "one", PAIRS, PAIRS[:3], config)
    other = train_model(str(tmp_path / "other"), (pair[:2] for pair in PAIRS), iter(PAIRS[:3]), config)
    assert same(one, other)
    trained = tmp_path / "one"
    further = [
        train_model(tmp_path / f"{n}", PAIRS, (), config, start=at) for n, at in enumerate((trained, f"{trained}"))
    ]
    assert same(*further)


def test_short_references_and_those_without_spaces_are_scored_by_letters():
    for words, metric in (("a dog sleeps well", "BLEU"), ("a dog sleeps", "chrF"), ("我看见一只狗。 " * 5, "chrF")):
        assert dev_metric([SentencePair(("a",), tuple(words.split()))] * 3) == metric


@pytest.mark.parametrize(("epoch", "epochs", "steps"), [(7, None, 58 * 7), (100, None, 1000), (7, 3, 21)])
def test_a_small_text_has_more_passes_unless_their_number_is_given(epoch, epochs, steps):
    assert TrainingConfig(epochs=epochs).train_arguments(epoch)["steps"] == steps


def test_minutes_end_a_training():
    history = train(small(), some(), minutes=0.002)
    assert history.stop_reason == "minutes"
    assert len(history.losses) >= 1


REFUSED = {
    "patience is 0; expected at least 1": {"patience": 0},
    "minutes is -1; expected a number above 0": {"minutes": -1},
    "min_count is 5 with subwords; expected it with whole words only": {"min_count": 5},
    "embedding_scale is 1.0; expected it with recurrent models": {"preset": "transformer", "embedding_scale": 1.0},
    "schedule is 'flat'; expected one of cosine, constant": {"schedule": "flat"},
    "preset is 'gru'; expected one of luong, rnn_search, rnn_encdec, transformer": {"preset": "gru"},
}


@pytest.mark.parametrize("says", REFUSED)
def test_a_configuration_that_does_not_fit_is_refused_by_the_name_of_its_field(says, refused):
    refused(lambda: TrainingConfig(**REFUSED[says]).check(), says)


def test_an_architecture_gives_a_preset_what_it_is_told_and_refuses_what_is_not_its_own():
    sizes = {"dropout": 0.3, "embedding_dropout": 0.2, "seed": 4}
    usual = {"encoder": "bidirectional", "score": "concat", "embedding_dim": 256, "hidden_size": 256}
    assert Architecture().options(4) == ("luong", usual | sizes)
    own = Architecture(preset="luong", input_feeding=False, window="local-m", half_width=3, features=6)
    told = {"window": "local-m", "half_width": 3, "input_feeding": False}
    assert own.options(4) == ("luong", told | {"embedding_dim": 6, "hidden_size": 6, **sizes})
    heads = {"num_layers": 3, "d_model": 8, "dim_feedforward": 32}
    assert Architecture(preset="transformer", num_layers=3, features=8).options(4)[1] == heads | sizes
    with pytest.raises(ValueError, match="input_feeding is set with the preset rnn_search; expected"):
        Architecture(preset="rnn_search", input_feeding=False).options()
    with pytest.raises(ValueError, match="half_width is set without a local window"):
        Architecture(half_width=3).options()
