"""Error rates and scores, by hand and beside other implementations."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from nltk.translate import Alignment
from nltk.translate import alignment_error_rate as nltk_aer

from attnlib import EncoderDecoder, SentencePair, Vocabulary, luong, metrics, rnn_encdec, rnn_search
from attnlib.metrics import (
    alignment_error_rate,
    attention_weights,
    bleu,
    chrf,
    exact_match,
    forced_alignments,
    hard_alignment,
    oracle_alignment_error_rate,
)
from attnlib.transformer import transformer

LINKS = st.sets(st.tuples(st.integers(0, 4), st.integers(0, 6)), max_size=11)


def test_links_of_all_sentences_are_counted_together_and_rates_not_averaged():
    sure = {(0, 0), (1, 1)}  # the first sentence all right, the second all wrong: 1 - 2 * 2 / (3 + 4)
    assert alignment_error_rate([sure, {(0, 0)}], [sure, {(1, 0), (1, 1)}]) == pytest.approx(3 / 7)


@given(predicted=LINKS, sure=LINKS.filter(bool), more=LINKS)
def test_error_rate_is_nltk_s(predicted, sure, more):
    A, S, P = Alignment(predicted), Alignment(sure), Alignment(sure | more)
    assert alignment_error_rate(predicted, sure, sure | more) == pytest.approx(nltk_aer(S, A, P))
    assert alignment_error_rate(predicted, sure) == pytest.approx(nltk_aer(S, A))


def test_each_target_word_is_linked_to_the_word_it_looked_at_most_and_end_does_not_count():
    weights = torch.tensor([[0.1, 0.2, 0.7], [0.6, 0.3, 0.1], [0.0, 0.0, 1.0]])  # EOS is the last row and column
    assert hard_alignment(weights, ["the", "cat"], ["le", "chat"]) == {(1, 0), (0, 1)}
    assert hard_alignment(weights.numpy(), ["the", "cat", "sleeps"], ["le"]) == {(2, 0)}
    assert hard_alignment(weights[:1, :1], ["the"], ["le"]) == {(0, 0)}
    learned = weights.bfloat16().requires_grad_()
    assert hard_alignment(learned, ["the", "cat"], ["le", "chat"]) == {(1, 0), (0, 1)}


def test_links_of_a_model_in_bfloat16_are_found_too():
    model = small().bfloat16()
    np.testing.assert_allclose(attention_weights(model, PAIR), attention_weights(small(), PAIR), atol=0.02)
    assert forced_alignments(model, [PAIR]) == [hard_alignment(attention_weights(model, PAIR), *PAIR[:2])]


def test_the_floor_by_hand():
    # "of the" and "du" make two links of one word: 1 - 2 * 2 / (2 + 3)
    pair = SentencePair(("of", "the", "cat"), ("du", "chat"), frozenset({(0, 0), (1, 0), (2, 1)}))
    assert oracle_alignment_error_rate([pair]) == pytest.approx(0.2)
    # a target word without a gold link gets a link too, which is wrong: 1 - 2 * 2 / (3 + 3)
    longer = pair._replace(target=("du", "chat", "donc"))
    assert oracle_alignment_error_rate([longer]) == pytest.approx(1 / 3)


WORDS, MOTS = Vocabulary(("a", "b", "c")), Vocabulary(("u", "v"))
PAIR = SentencePair(("a", "b"), ("u", "v"), frozenset({(0, 0), (1, 1)}))


def small(make=luong):
    return make(WORDS, MOTS, embedding_dim=5, hidden_size=7)


@pytest.mark.parametrize(
    "make",
    [
        rnn_search,
        luong,
        lambda *v, **k: luong(*v, window="local-p", half_width=1, **k),
        lambda *v, embedding_dim, hidden_size: transformer(*v, d_model=6, dim_feedforward=hidden_size, num_heads=3),
    ],
)
def test_looks_are_the_weights_of_the_words_under_the_true_words_of_each_pair_alone(make, monkeypatch):
    monkeypatch.setattr(metrics, "_PAIRS", 2)
    model, links = small(make), []
    sizes = (3, 2), (1, 4), (5, 1), (2, 5)
    pairs = [SentencePair(tuple("cabba"[:src]), tuple("vuvuu"[:tgt])) for src, tgt in sizes]
    for pair in pairs:
        source, target = torch.tensor([WORDS.encode(pair.source)]), torch.tensor([MOTS.encode(pair.target)])
        attended = model(source, torch.tensor([source.shape[1]]), target).attention
        expected = attended.to_dense(source.shape[1])[0].detach().numpy()
        np.testing.assert_allclose(attention_weights(model, pair), expected[:-1, :-1], rtol=1e-6)
        links.append(hard_alignment(expected, pair.source, pair.target))
    assert forced_alignments(model, pairs) == links


def test_bleu_by_hand_without_a_warning_of_full_stops_that_stand_apart(caplog):
    # 4 of 5 words, 3 of 4 pairs, 2 of 3 triples, 1 of 2 fours
    almost = bleu([["un", "chat", "noir", "dort", "."]] * 100, [["le", "chat", "noir", "dort", "."]] * 100)
    assert almost.score == pytest.approx(100 * (4 / 5 * 3 / 4 * 2 / 3 * 1 / 2) ** 0.25)
    assert "tok:none" in almost.signature
    assert caplog.messages == []


def test_a_perfect_text_has_a_hundred_and_no_more():
    words = tuple("abcdefg")
    assert [score([words] * 3, [words] * 3).score for score in (bleu, chrf)] == [100.0, 100.0]


def test_exact_match_counts_whole_sentences():
    assert exact_match([("a", "b"), ["c"]], [["a", "b"], ("c", "d")]) == 0.5


EYE, ABC = np.eye(3), ["a", "b", "c"]
ONE = [("u", "v")]


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: alignment_error_rate([{(0, 0)}], [{(0, 0)}] * 2), "have 1, 2, 2 sentences; expected equal"),
        (lambda: alignment_error_rate({(0, 0)}, {(0, 0)}, {(1, 1)}), "possible lacks 1 of the links"),
        (lambda: alignment_error_rate([(0, 0)], [(0, 0)]), r"TypeError: predicted holds \(0, 0\); expected a set of"),
        (lambda: alignment_error_rate({(0, 0)}, [[(0, 0)]]), r"TypeError: sure holds \[\(0, 0\)\]; expected a set of"),
        (lambda: alignment_error_rate([], []), "predicted and sure hold no link; expected at least one"),
        (lambda: oracle_alignment_error_rate([]), "pairs has 0 sentence pairs; expected"),
        (lambda: hard_alignment(EYE, ABC, ["d"] * 4), r"weights has shape \(3, 3\); expected at least \(4, 3\)"),
        (lambda: hard_alignment(EYE, [], ["d"]), "and a source word"),
        (lambda: hard_alignment(EYE * np.nan, ABC, ABC), r"weights has shape \(3, 3\) and holds NaN"),
        (lambda: forced_alignments(small(rnn_encdec), [PAIR]), "model has no attention; expected a model with"),
        (lambda: forced_alignments(EncoderDecoder(small().encoder, small().decoder), [PAIR]), "model has no voc"),
        (lambda: bleu([], []), "translations has 0 sentences, the references 0; expected equal"),
        (lambda: bleu(ONE, ["u v"]), r"TypeError: references\[0\] is the string 'u v'"),
        (lambda: bleu(ONE, ONE, "foo"), "tokenize is 'foo'; expected one of"),
        (lambda: exact_match(ONE, []), "translations has 1 sentences, the references 0"),
    ],
)
def test_what_does_not_fit_is_refused(call, says, refused):
    refused(call, says)
