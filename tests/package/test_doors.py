"""What functions that readers call say of a wrong argument: one line with its name, its value, and what was expected.

Here as in a reader's program, without the hook that holds every signature to its letter.
"""

import re

import numpy as np
import pytest
import torch

from attnbook import cards, load_pretrained
from attnlib import (
    SentencePair,
    Vocabulary,
    alignment,
    attention,
    batches,
    beam_search,
    collate,
    ensemble,
    greedy_search,
    luong,
    masked_softmax,
    metrics,
    scores,
    translate,
    translate_all,
    windows,
)
from attnlib.checks import BOOLEANS, INTEGERS, NUMBERS, brief, check_arrays

EYE, TRUE = np.eye(3), np.ones((2, 3), dtype=bool)
WORDS = Vocabulary(("a", "b", "c"))
MODEL = luong(WORDS, WORDS, embedding_dim=3, hidden_size=4).eval()
IDS, LENGTHS = torch.tensor([[4, 5, 2], [4, 2, 0]]), torch.tensor([3, 2])
GIVEN = MODEL, IDS, LENGTHS
PAIR = SentencePair(("a",), ("b",))
TRAINED = {"Bahdanau": load_pretrained("bahdanau")}
NO_WORDS = "expected a sequence of words, as from split()"
NO_PAIR = "expected a SentencePair, or a tuple of source and target words"
NO_LINE = "expected a string, with spaces between words"


def precompute(score, h, lengths=LENGTHS):
    return alignment.AttentionLayer(score, windows.GlobalWindow()).precompute(h, lengths)


def attend(**changed):
    return attention(**dict.fromkeys(("queries", "keys", "values"), EYE) | changed)


ATTENTION = [
    (lambda: attend(queries=EYE[0]), "queries has shape (3,); expected (..., tgt, d)"),
    (lambda: attend(queries=EYE[None]), "keys has shape (3, 3); expected (1, src, d=3)"),
    (lambda: attend(queries=EYE[None], keys=np.ones((2, 3, 3))), "keys has shape (2, 3, 3); expected (1, src, d=3)"),
    (lambda: attend(keys=EYE[:, :2]), "keys has shape (3, 2); expected (src, d=3)"),
    (lambda: attend(values=EYE[:2]), "values has shape (2, 3); expected (src=3, v)"),
    (lambda: attend(queries=[[1, 0]]), f"TypeError: queries is [[1, 0]]; expected {NUMBERS}"),
    (lambda: attend(values=None), f"TypeError: values is None; expected {NUMBERS}"),
    (lambda: attend(keys=MODEL), f"TypeError: keys is an EncoderDecoder; expected {NUMBERS}"),
    (lambda: attend(keys=EYE * 1j), f"TypeError: keys is an array of complex128; expected {NUMBERS}"),
    (lambda: attend(mask=EYE), f"TypeError: mask is an array of float64; expected {BOOLEANS}"),
    (lambda: attend(mask=[True] * 3), f"TypeError: mask is [True, True, True]; expected {BOOLEANS}"),
    (lambda: attend(mask=TRUE), "mask has shape (2, 3); expected (tgt=3 or 1, src=3)"),
    (lambda: attend(mask=TRUE[0, :1]), "mask has shape (1,); expected (src=3)"),
    (lambda: attend(mask=EYE[None] == [[[1]]] * 4), "mask has shape (4, 3, 3); expected (tgt=3 or 1, src=3)"),
    (lambda: attend(scale="a"), "TypeError: scale is 'a'; expected a number"),
    (lambda: masked_softmax([1.0, 2.0]), f"TypeError: e is [1.0, 2.0]; expected {NUMBERS}"),
    (lambda: masked_softmax(EYE, TRUE), "mask has shape (2, 3); expected (3 or 1, 3 or 1)"),
    (lambda: masked_softmax(EYE, EYE), f"TypeError: mask is an array of float64; expected {BOOLEANS}"),
    (lambda: masked_softmax(np.array(1.0)), "e has shape (); expected at least one axis"),
    (lambda: masked_softmax(EYE, axis=2), "axis is 2; expected a number from -2 to 1"),
    (lambda: masked_softmax(EYE, axis=0.5), "TypeError: axis is 0.5; expected a whole number"),
    (lambda: precompute(scores.General(4, 8), torch.ones(2, 3, 7)), "h has 7 features; expected 8, the encoder"),
    (lambda: precompute(scores.Additive(4, 8, 5), torch.ones(2, 3, 7)), "h has 7 features; expected 8, the encoder"),
    (lambda: precompute(scores.Concat(4, 8, 5), torch.ones(2, 3, 7)), "h has 7 features; expected 8, the encoder"),
    (lambda: precompute("dot", torch.ones(2, 3, 8)), "TypeError: score is 'dot'; expected a module, such as General("),
    (lambda: precompute(scores.Dot(), torch.ones(3, 8)), "h has shape (3, 8); expected (batch, src, enc)"),
    (lambda: precompute(scores.Dot(), torch.ones(3, 3, 8)), "lengths has shape (2,); expected (batch=3)"),
]
MODELS = [
    (lambda: MODEL(IDS, LENGTHS, IDS[:1]), "target has shape (1, 3); expected (batch=2, tgt)"),
    (lambda: MODEL(IDS[0], LENGTHS, IDS), "source has shape (3,); expected (batch, src)"),
    (lambda: MODEL(IDS, LENGTHS[:1], IDS), "lengths has shape (1,); expected (batch=2)"),
    (lambda: MODEL(IDS.numpy(), LENGTHS, IDS), f"TypeError: source is an array of int64; expected {INTEGERS}"),
    (lambda: MODEL.loss(IDS, LENGTHS, IDS[:1]), "target has shape (1, 3); expected (batch=2, tgt)"),
    (lambda: MODEL.loss(IDS, LENGTHS, IDS / 1), f"TypeError: target is a tensor of float32; expected {INTEGERS}"),
    (lambda: MODEL.start(IDS, [3, 2]), f"TypeError: lengths is [3, 2]; expected {INTEGERS}"),
    (lambda: MODEL.start("a b", LENGTHS), f"TypeError: source is 'a b'; expected {INTEGERS}"),
    (lambda: greedy_search(MODEL, [[4, 2]], LENGTHS, 3), f"TypeError: source is [[4, 2]]; expected {INTEGERS}"),
    (lambda: greedy_search(MODEL, IDS, LENGTHS[:1], 3), "lengths has shape (1,); expected (batch=2)"),
    (lambda: greedy_search(*GIVEN, [3, 4]), "TypeError: max_length is [3, 4]; expected a whole number"),
    (lambda: greedy_search(*GIVEN, LENGTHS[:1]), "max_length has shape (1,); expected (batch=2)"),
    (lambda: beam_search("m", IDS, LENGTHS, 3, 2), "TypeError: model is 'm'; expected an EncoderDecoder"),
    (lambda: beam_search(MODEL.decoder, IDS, LENGTHS, 3, 2), "TypeError: model is a LuongDecoder; expected an E"),
    (lambda: beam_search(*GIVEN, 3, MODEL), "TypeError: beam_size is an EncoderDecoder; expected a whole number"),
    (lambda: beam_search(*GIVEN, LENGTHS / 1, 2), "TypeError: max_length is a tensor of float32; expected a tensor of"),
    (lambda: luong("ab", WORDS), "TypeError: source_vocabulary is 'ab'; expected a Vocabulary or another Tokenizer"),
    (lambda: luong(WORDS, WORDS, score=["dot"]), "score is ['dot']; expected one of dot, general, concat, location"),
    (lambda: scores.Additive(4, 4, -1), "attention_size is -1; expected at least 1"),
    (lambda: ensemble(MODEL), "TypeError: models is an EncoderDecoder; expected a sequence of models"),
    (lambda: ensemble([MODEL, 3]), "TypeError: models[1] is 3; expected an EncoderDecoder"),
]
SENTENCES = [
    (lambda: translate(MODEL, ["a"]), f"TypeError: sentence is ['a']; {NO_LINE}"),
    (lambda: translate("m", "a"), "TypeError: model is 'm'; expected an EncoderDecoder"),
    (lambda: translate(MODEL, "a", beam_size="b"), "TypeError: beam_size is 'b'; expected a whole number"),
    (lambda: translate_all(MODEL, [("a",)], beam_size=3, n_best=5), "n_best is 5; expected a number from 1 to 3"),
    (lambda: WORDS.decode([4.7]), "TypeError: 'float' object cannot be interpreted as an integer"),
    (lambda: windows.gaussian(IDS[None], LENGTHS[None], 0), "half_width is 0; expected at least 1"),
    (lambda: translate_all(MODEL, "a b"), f"TypeError: sentences[0] is the string 'a'; {NO_WORDS}"),
    (lambda: translate_all(MODEL, [("a",), 3]), f"TypeError: sentences[1] is 3; {NO_WORDS}"),
    (lambda: metrics.hard_alignment(EYE[0], ["a"], ["b"]), "weights has shape (3,); expected (tgt, src)"),
    (lambda: metrics.hard_alignment([[1.0]], ["a"], ["b"]), f"TypeError: weights is [[1.0]]; expected {NUMBERS}"),
    (lambda: metrics.hard_alignment(EYE, "abc", ["b"]), f"TypeError: source is the string 'abc'; {NO_WORDS}"),
    (lambda: collate([("a b", "b")], WORDS, WORDS), f"TypeError: source is the string 'a b'; {NO_WORDS}"),
    (lambda: collate(["ab"], WORDS, WORDS), f"TypeError: a pair is 'ab'; {NO_PAIR}"),
    (lambda: metrics.sentence_nll(MODEL, (["a"], ["b"])), f"TypeError: a pair is ['a']; {NO_PAIR}"),
    (lambda: metrics.sentence_nll("m", [PAIR]), "TypeError: model is 'm'; expected an EncoderDecoder"),
]
CARDS = [
    (lambda: cards.attention_demo([MODEL]), "TypeError: models is a list; expected a mapping from titles to models"),
    (lambda: cards.attention_demo({"a": "b"}), "TypeError: models['a'] is 'b'; expected an EncoderDecoder"),
    (lambda: cards.attention_demo(TRAINED, ["the", "cat"]), f"TypeError: sentence is ['the', 'cat']; {NO_LINE}"),
    (lambda: cards.attention_demo(TRAINED, "the cat", step=9), "step is 9; expected a number from 0 to 2"),
    (lambda: cards.model_comparison(TRAINED, [["the"]]), f"TypeError: a pair is 'the'; {NO_PAIR}"),
    (lambda: cards.model_comparison(TRAINED, length="a"), "TypeError: length is 'a'; expected a whole number"),
    (lambda: cards.step_player(TRAINED, 3), f"TypeError: sentence is 3; {NO_LINE}"),
    (lambda: cards.step_player(TRAINED, "a", previous="le"), f"TypeError: previous is the string 'le'; {NO_WORDS}"),
    (lambda: cards.attention_explorer(EYE, ["a"], ["b"]), "TypeError: weights is an array of float64; expected a"),
    (lambda: cards.attention_explorer({"a": "x"}, ["a"], ["b"]), "TypeError: weights['a'] is 'x'; expected numbers"),
    (lambda: cards.query_plane("a", EYE, EYE, ["a"]), "TypeError: query is 'a'; expected numbers"),
]


@pytest.mark.parametrize(
    ("call", "says"),
    [*ATTENTION, *MODELS, *SENTENCES, *CARDS],
    ids=lambda given: given[:50] if isinstance(given, str) else "",
)
def test_a_door_refuses_in_one_line(call, says, refused):
    kind, found, said = says.rpartition("TypeError: ")
    refused(call, f"{kind}{found}^{re.escape(said)}[^\n]*$")


def test_plain_tuples_are_pairs():
    plain = (["a"], ["b"])
    assert torch.equal(collate([plain], WORDS, WORDS).target, collate([PAIR], WORDS, WORDS).target)
    assert batches([plain], WORDS, WORDS, max_tokens=2, seed=0)[0].source.tolist() == [[4, 2]]
    assert metrics.sentence_nll(MODEL, [plain]) == metrics.sentence_nll(MODEL, [PAIR])
    assert np.array_equal(metrics.attention_weights(MODEL, plain), metrics.attention_weights(MODEL, PAIR))
    words = ["the", "cat"], ["le", "chat"]
    shown = [cards.attention_demo(TRAINED, sentence).html for sentence in (words, SentencePair(*map(tuple, words)))]
    assert shown[0] == shown[1]


@pytest.mark.parametrize("value", [MODEL, [MODEL], {"a": MODEL}, "word " * 99, [torch.eye(3)], "a\nb\n" * 99])
def test_a_value_that_is_long_is_named_by_its_type(value):
    assert brief(value).split() == [*brief(value).split()[:1], type(value).__name__]


def test_axes_of_one_name_have_one_size():
    """As in signatures: in whatever array, with any number of leading axes, and broadcast where a `#` allows it."""
    given = {"s": (EYE[None], NUMBERS, "*batch tgt d"), "mask": (TRUE[:1], BOOLEANS, "#*batch #tgt d")}
    check_arrays(**given, ids=(IDS, INTEGERS, "b d"), left_out=None)
    with pytest.raises(ValueError, match=re.escape("t has shape (3,); expected (tgt=3 or 1, d=3)")):
        check_arrays(**given, t=(EYE[0], NUMBERS, "#tgt d"))
