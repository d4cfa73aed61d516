"""Greedy and beam search, on a translator whose probabilities are a table, and on the models."""

from functools import cache
from itertools import product
from typing import NamedTuple

import numpy as np
import pytest
import torch

from attnbook import load_pretrained
from attnlib import search as module
from attnlib import translation
from attnlib.batching import encode_batch
from attnlib.data import BOS, EOS, PAD, UNK, Vocabulary
from attnlib.mechanism import AttentionOutput
from attnlib.presets import luong, rnn_encdec, rnn_search
from attnlib.search import beam_search, greedy_search
from attnlib.seq2seq import EncoderDecoder
from attnlib.transformer import transformer
from attnlib.translation import translate, translate_all

VOCABULARY = Vocabulary(tuple("abcdefg"))
SOURCE, LENGTHS = encode_batch([tuple(word) for word in ("abcde", "bc", "gfedcbagfed", "a", "fg")], VOCABULARY)
ONE = torch.tensor([[4, EOS]]), torch.tensor([2])
SENTENCES = [tuple("abc"), ("a",), tuple("gfedcba"), ("b",), tuple("de")]
MODELS = {
    "rnn_encdec": rnn_encdec,
    "rnn_search": rnn_search,
    "luong": luong,
    "local-p": lambda *v, **k: luong(*v, window="local-p", half_width=2, num_layers=2, **k),
    "transformer": lambda *v, embedding_dim, hidden_size, **k: transformer(
        *v, d_model=6, dim_feedforward=hidden_size, num_heads=3, **k
    ),
}
SEARCHES = {"greedy": greedy_search, "beam": lambda *given: beam_search(*given, 3)}


@pytest.fixture(params=SEARCHES)
def search(request):
    return SEARCHES[request.param]


class Seen(NamedTuple):
    """The state of `Table`: the sentence, and a hash of the words so far."""

    sentence: torch.Tensor
    words: torch.Tensor

    def select(self, rows, *, same_sources=False):  # noqa: D102
        return Seen(self.sentence[rows], self.words[rows])


class Table(EncoderDecoder):
    """The probabilities of the next word depend on the sentence and on every word so far, in no simple way."""

    def __init__(self, vocab, seed):
        super().__init__(torch.nn.Identity(), torch.nn.Identity())
        self.logits = 2 * torch.randn(101, vocab, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)

    def start(self, source, lengths):  # noqa: D102
        return Seen(source, source.sum(1) % 101)

    def step(self, words, state):  # noqa: D102
        after = (31 * state.words + words + 7) % 101
        weights = torch.softmax(state.sentence * after[:, None] / 101.0, 1)[:, None]
        return self.logits[after], AttentionOutput(weights, weights), Seen(state.sentence, after)


def log_probability(translator, source, words):
    """Score one translation, word by word."""
    state, before, total = translator.start(source[None], torch.tensor([len(source)])), BOS, 0.0
    for word in words:
        logits, _, state = translator.step(torch.tensor([before]), state)
        logits[0, [PAD, BOS]] = -torch.inf
        total += float(logits[0].log_softmax(0)[word])
        before = word
    return total


def untrained(name):
    translator = MODELS[name](VOCABULARY, VOCABULARY, embedding_dim=5, hidden_size=7, seed=3)
    with torch.no_grad():
        for p in translator.parameters():
            p.mul_(2.0)  # more decided than at the beginning
    return translator


def assert_same(one, other):
    """Whole numbers must be equal; weights are None in both, or in neither."""
    one, other = ([x for x in result if x is not None] for result in (one, other))
    torch.testing.assert_close(one, other)


@pytest.mark.parametrize("name", MODELS)
def test_a_beam_of_1_is_greedy(name):
    translator = untrained(name)
    assert_same(beam_search(translator, SOURCE, LENGTHS, 13, 1), greedy_search(translator, SOURCE, LENGTHS, 13))


@cache
def tree(seed, most, allow_unknown=True):
    """Make a translator and five sentences, and score all translations of each: those that end, and those cut."""
    oracle, source, known = Table(6, seed), SOURCE[:, :4] % 6, (UNK, 4, 5)
    if not allow_unknown:
        oracle.logits[:, UNK], known = -torch.inf, (4, 5)
    words = [words for size in range(most + 1) for words in product(known, repeat=size)]
    ended, cut = [(*w, EOS) for w in words if len(w) < most], [w for w in words if len(w) == most]
    log_probabilities = [{w: log_probability(oracle, s, w) for w in (*ended, *cut)} for s in source]
    return Table(6, seed), source, ended, log_probabilities


@pytest.mark.parametrize("allow_unknown", [True, False])
@pytest.mark.parametrize("seed", range(7))
def test_a_beam_as_wide_as_the_tree_finds_the_best_of_all(seed, allow_unknown):
    """Of those that end. Where unknown words are forbidden, the other words share their probability."""
    translator, source, ended, log_probabilities = tree(seed, most := 4, allow_unknown)
    asked = translator, source, torch.full((5,), 4), most
    assert allow_unknown or UNK not in greedy_search(*asked, allow_unknown=False).ids
    result = beam_search(*asked, 3**most, allow_unknown=allow_unknown)
    for n, log_p in enumerate(log_probabilities):
        score = {w: log_p[w] / len(w) for w in log_p}
        best = max(ended, key=score.get)
        assert tuple(result.ids[n, : result.lengths[n]].tolist()) == best
        assert result.log_probabilities[n] == pytest.approx(log_p[best])


def test_the_n_best_are_those_of_the_whole_tree_in_their_order_and_the_best_fills_up():
    translator, source, ended, log_probabilities = tree(0, most := 4)
    n_best = len(ended) + 2
    result = beam_search(translator, source, torch.full((5,), 4), most, 3 ** (most + 1), n_best=n_best)
    found = [tuple(ids[:size].tolist()) for ids, size in zip(result.ids, result.lengths, strict=True)]
    for n, log_p in enumerate(log_probabilities):
        ranked = sorted(ended, key=lambda words: -log_p[words] / len(words))
        assert found[n * n_best : (n + 1) * n_best] == [*ranked, ranked[0], ranked[0]]


def test_other_translations_are_ranked_and_have_weights():
    model = untrained("rnn_search")
    many, one = (translate_all(model, SENTENCES, max_length=5, n_best=n) for n in (3, 1))
    for first, best in zip(many, one, strict=True):
        assert (first.words, first.log_probability, best.others) == (best.words, best.log_probability, ())
        assert all(other.weights.shape == (len(other.words), len(other.source)) for other in first.others)
    assert max(len(first.others) for first in many) == 2


def test_a_translation_too_improbable_for_a_number_has_a_logarithm():
    (one,) = translate_all(untrained("rnn_encdec"), [tuple("abc")], max_length=9)
    assert one.probability == pytest.approx(np.exp(one.log_probability))
    assert one._replace(log_probability=-1e3).probability == 0.0


@pytest.mark.parametrize("limit", [None, 2])
def test_a_translation_that_ended_is_preferred_to_a_more_probable_one_that_was_cut(limit):
    model = untrained("rnn_search")
    assert all(one.finished for one in translate_all(model, SENTENCES, beam_size=3, max_length=limit))
    ids, lengths = encode_batch(SENTENCES, model.source_vocabulary)
    cut = beam_search(model, ids, lengths, 1, 1)
    assert (cut.ids != EOS).any(), "where none has ended, one that was cut is returned"


@pytest.mark.parametrize("name", MODELS)
def test_weights_and_probabilities_are_those_of_teacher_forcing_on_what_was_chosen(name, search):
    translator = untrained(name)
    result = search(translator, SOURCE, LENGTHS, 9)
    with torch.no_grad():
        logits, attended = translator(SOURCE, LENGTHS, result.ids)
    logits[..., [PAD, BOS]] = -torch.inf
    real = torch.arange(result.ids.shape[1]) < result.lengths[:, None]
    gains = logits.log_softmax(-1).gather(2, result.ids[..., None])[..., 0]
    torch.testing.assert_close(torch.where(real, gains, 0.0).sum(1), result.log_probabilities, rtol=1e-4, atol=1e-4)
    if attended is not None:
        weights = attended.to_dense(SOURCE.shape[1]) * real[..., None]
        torch.testing.assert_close(weights, result.weights, rtol=1e-4, atol=1e-5)


class Choice(Table):
    """Two words to choose from, by hand: "a" is likelier at first, but what follows "b" is certain."""

    def __init__(self):
        super().__init__(6, 0)
        self.logits = torch.full((6, 6), -torch.inf)
        self.logits[BOS, [4, 5]] = torch.tensor([0.6, 0.4]).log()
        self.logits[4, [EOS, 4, 5]] = torch.tensor([0.4, 0.3, 0.3]).log()
        self.logits[5, EOS] = 0.0
        self.steps = 0

    def step(self, words, state):  # noqa: D102
        self.steps += 1
        return self.logits[words], None, state


@pytest.mark.parametrize("vocab", [67, 448, 461])
@pytest.mark.parametrize("width", [1, 5])
def test_the_likeliest_words_are_found_whatever_chunks_they_are_looked_for_in(vocab, width, monkeypatch):
    translator, source = Table(vocab, seed=2), torch.arange(1, 102)[:, None]
    lengths = torch.ones(101, dtype=torch.long)

    def result(chunk):
        monkeypatch.setattr(module, "_CHUNK", chunk)
        return beam_search(translator, source, lengths, 3, width)

    expected = result(10**6)  # so large that torch looks through all words at once
    for chunk in (1, 3, 64):
        assert_same(result(chunk), expected)


def test_every_tensor_is_made_where_the_sentences_are(search):
    translator = untrained("luong")
    expected = search(translator, SOURCE, LENGTHS, 9)
    with torch.device("meta"):  # there lies what is made without saying where
        again = search(translator, SOURCE, LENGTHS, 9)
    assert_same(again, expected)


@pytest.mark.parametrize("width", [2, 7])
def test_an_empty_place_in_the_beam_never_ends(width, monkeypatch):
    """Also where torch fills it with the first of the impossible words, EOS among them: of equals it may take any."""

    def first(x, k):
        greatest, places = x.sort(descending=True, stable=True)
        return greatest[:, :k], places[:, :k]

    monkeypatch.setattr(torch.Tensor, "topk", first)
    translator = Choice()
    translator.logits[:] = -torch.inf
    translator.logits[BOS:, 5] = 0.0
    result = beam_search(translator, *ONE, 3, width)
    assert result.ids.tolist() == [[5, 5, 5]]
    assert result.log_probabilities.tolist() == [0.0]


def test_a_search_ends_with_its_last_hypothesis(search):
    translator = Choice()
    translator.logits[BOS, 4] = -torch.inf
    translator.logits[[PAD, EOS, UNK]] = 0.0
    result = search(translator, *ONE, 9)
    assert result.ids.tolist() == [[5, EOS]]
    assert translator.steps == 2


def test_sentences_are_brought_to_the_model():
    with pytest.raises(NotImplementedError):  # from the meta device, where they are, there is no way back
        translate_all(untrained("rnn_search").to("meta"), [("a",)], max_length=3)


def test_ids_may_be_of_any_kind_of_whole_numbers(search):
    model, ids = untrained("luong"), torch.tensor([[4, 5, EOS]])
    kinds = torch.long, torch.int8
    both = [search(model, ids.to(kind), torch.tensor([3], dtype=kind), 3).ids for kind in kinds]
    assert torch.equal(*both)


def test_one_sentence_without_a_score_is_enough_to_refuse(search):
    """As when its weights have overflowed. The sentences beside it have scores."""
    translator = Table(6, 0)
    search(translator, SOURCE, LENGTHS, 5)
    translator.logits[(31 * SOURCE[1].sum() + BOS + 7) % 101] = torch.nan
    with pytest.raises(FloatingPointError, match="log probability is not finite; expected a model of finite"):
        search(translator, SOURCE, LENGTHS, 5)


def test_a_sentence_of_ones_own():
    model = untrained("luong")
    expected, empty = translate_all(model, [("a", "b"), ()], max_length=2)
    assert translate(model, " a  b", max_length=2).words == expected.words
    assert (str(expected), str(empty)) == (" ".join(expected.words), "")
    with pytest.warns(UserWarning, match="read as unknown words: ☃$"):
        translate(load_pretrained("enfr-subwords"), "the ☃ cat", max_length=9)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: greedy_search(untrained("luong"), SOURCE, LENGTHS, 0), "max_length is 0; expected at least 1"),
        (
            lambda: beam_search(untrained("luong"), SOURCE, LENGTHS, LENGTHS - 2, 2),
            "max_length holds 0; expected numbers from 1",
        ),
        (lambda: beam_search(untrained("luong"), SOURCE, LENGTHS, 5, 0), "beam_size is 0; expected at least 1"),
        (lambda: translate_all(untrained("luong"), [], max_length=3, beam_size=0), "beam_size is 0"),
        (lambda: translate_all(Table(6, 0), [], max_length=3), "model has no vocabularies"),
        (lambda: translate_all(untrained("luong"), SENTENCES, max_length=[3, 4]), "max_length has 2 numbers; expected"),
    ],
)
def test_what_does_not_fit_is_refused(call, says, refused):
    refused(call, says)


@pytest.mark.parametrize("width", [1, 3])
def test_each_sentence_has_a_greatest_length_of_its_own(width, monkeypatch):
    """Beside others, or alone with its own: the same. Some end before it, some are cut short."""
    monkeypatch.setattr(translation, "_ROWS", 2 * width)
    model, limits = untrained("luong"), [3, 9, 1, 1, 30]
    result = translate_all(model, SENTENCES, max_length=limits, beam_size=width)
    for words, limit, one in zip(SENTENCES, limits, result, strict=True):
        (alone,) = translate_all(model, [words], max_length=limit, beam_size=width)
        assert one.words == alone.words
        assert len(one.words) <= limit
    assert any(len(one.words) == limit for one, limit in zip(result, limits, strict=True))
