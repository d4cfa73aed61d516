"""What training offers beyond its defaults: dropout, smoothing, scores, early ends, and going on where it stopped."""

from itertools import islice

import pytest
import torch

from attnlib.data import Vocabulary, endless
from attnlib.language.grammar import sample
from attnlib.text.learning import Scoring
from attnlib.training import begin, train, warm
from attnlib.transformer import transformer
from attnlib.translator import luong, rnn_encdec, rnn_search

PAIRS = sample(40, seed=0, clauses=(1,))
VOCABULARIES = Vocabulary.of(pair.source for pair in PAIRS), Vocabulary.of(pair.target for pair in PAIRS)
MODELS = {
    "rnn_encdec": rnn_encdec,
    "rnn_search": rnn_search,
    "luong": lambda *v, **o: luong(*v, **o, layers=2),
    "luong all at once": lambda *v, **o: luong(*v, **o, layers=2, input_feeding=False),
    "luong both": lambda *v, **o: luong(*v, **o, layers=2, encoder="both"),
    "transformer": lambda *v, **o: transformer(*v, **o, heads=3),
}


def small(make=rnn_search, **options):
    return make(*VOCABULARIES, emb=6, hid=8, seed=0, **options)


def some(words=80, **options):
    return endless(PAIRS, *VOCABULARIES, max_tokens=words, seed=0, **options)


def same(one, other):
    return all(torch.equal(a, b) for a, b in zip(one.parameters(), other.parameters(), strict=True))


def test_an_iterator_that_ends_is_named():
    with pytest.raises(ValueError, match="batches ended after 2 steps"):
        train(small(), islice(some(), 2), steps=3)


@pytest.mark.parametrize("make", MODELS.values(), ids=MODELS)
@pytest.mark.parametrize("which", ["dropout", "embedding_dropout"])
def test_dropout_is_for_training_only(make, which):
    part, dropping = next(some()), small(make, **{which: 0.5})
    assert not torch.equal(dropping(*part).logits, dropping(*part).logits)
    assert torch.equal(dropping.eval()(*part).logits, small(make)(*part).logits)


def test_what_is_dropped_is_drawn_from_the_seed():
    one, other, third = (small(dropout=0.5) for _ in range(3))
    for translator, seed in ((one, 1), (other, 1), (third, 2)):
        train(translator, some(), steps=2, seed=seed)
    assert same(one, other)
    assert not same(one, third)


def test_a_warm_rate_stays():
    assert [warm(done) for done in (0.0, 0.025, 0.05, 0.5, 1.0)] == pytest.approx([0, 0.5, 1, 1, 1])


def test_a_look_sees_every_step_without_dropout_and_disturbs_nothing():
    seen = []

    def look(under_way, last):
        seen.append((under_way.step, last, under_way.translator.training, torch.is_grad_enabled()))
        torch.rand(3)

    watched, alone = small(dropout=0.3), small(dropout=0.3)
    train(watched, some(), steps=3, on_step=look)
    train(alone, some(), steps=3)
    assert seen == [(n, n == 3, False, False) for n in (1, 2, 3)]
    assert same(watched, alone)


def test_the_best_weights_are_kept_and_patience_ends_the_training():
    scores, kept, under_way = iter([(3.0, 1.0), (2.0, 5.0), (1.0, 4.0), (2.5, 5.0), (1.0, 3.0)]), {}, begin(small())
    scoring = Scoring(lambda translator: next(scores), 2, patience=3)

    def look(training, last):
        scoring(training, last)
        kept[training.step] = {name: x.clone() for name, x in training.translator.state_dict().items()}

    history = train(under_way.translator, some(), steps=100, training=under_way, on_step=look)
    assert history.ended == "early"
    assert [score.step for score in history.scores] == [2, 4, 6, 8, 10]
    assert len(history.losses) == 10
    assert all(torch.equal(x, kept[4][name]) for name, x in under_way.best.items())
    assert scoring.is_over(under_way)
    assert train(under_way.translator, some(), steps=100, training=under_way).ended == "early"


def test_minutes_end_a_training():
    history = train(small(), some(), minutes=0.002)
    assert history.ended == "minutes"
    assert len(history.losses) >= 1


def test_progress_may_be_lines(capsys):
    train(small(), some(), steps=3, progress="lines", on_step=Scoring(lambda translator: (1.25, 7.5), 2))
    first, last = capsys.readouterr().err.splitlines()
    assert first.startswith("step 2 of 3: loss")
    assert last.startswith("step 3 of 3: loss")
    assert "dev loss 1.250, BLEU 7.50" in first


def test_bad_options_are_named():
    with pytest.raises(ValueError, match="steps and minutes are None"):
        train(small(), some())
    with pytest.raises(ValueError, match="smoothing is 1"):
        train(small(), some(), steps=1, smoothing=1.0)
    with pytest.raises(ValueError, match="encoder is 'sideways'; expected one of reversed, forwards, both"):
        small(luong, encoder="sideways")
