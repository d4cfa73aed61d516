"""The models in JavaScript, in a real browser, against PyTorch: the same words, and weights equal to nine decimals."""

from base64 import b64decode
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from playwright.sync_api import Error, Page
from recipes import RECIPES

from attnlib import load_pretrained
from attnlib.data import Vocabulary, encode_batch
from attnlib.language.grammar import sample
from attnlib.plotting import packing
from attnlib.plotting.packing import pack
from attnlib.search import greedy_search
from attnlib.seq2seq import EncoderDecoder, luong
from attnlib.windows import GlobalWindow, WindowMask

SCRIPT = Path(packing.__file__).with_name("recurrent.js").read_text("utf-8")
SENTENCES = [pair.source for clauses in range(1, 9) for pair in sample(8, 38 + clauses, [clauses], part="test")]
ROOM = 4  # words that a translation may have more than its source
TRANSLATE = """([packed, sentences, room]) => {
    const model = attnlibRecurrent.open(packed), words = [], numbers = [];
    for (const sentence of sentences) {
        const steps = [...model.greedy(model.encode(sentence), sentence.length + room)];
        words.push(steps.map(step => step.word));
        for (const { alpha = [], p } of steps) numbers.push(...alpha, Math.max(...p));
    }
    const bytes = new Uint8Array(Float64Array.from(numbers).buffer);
    let text = "";
    for (let n = 0; n < bytes.length; n += 4096) text += String.fromCharCode(...bytes.subarray(n, n + 4096));
    return [words, btoa(text)];
}"""


@pytest.fixture(scope="module")
def page(browser) -> Iterator[Page]:
    """Open a page that has the script."""
    page = browser.new_page()
    page.evaluate(SCRIPT)
    yield page
    page.close()


@pytest.mark.parametrize("name", [name for name in RECIPES if RECIPES[name].steps == 700 and name != "transformer"])
def test_pretrained_models_translate_as_in_pytorch(name, page):
    """But for those that a chapter shows half-way, which are of the same parts as the whole."""
    model = load_pretrained(name)
    ids, lengths = encode_batch(SENTENCES, model.source_vocabulary)
    best = greedy_search(model, ids, lengths, lengths + ROOM)
    read = [row[:length].tolist() for row, length in zip(ids, lengths, strict=True)]
    words, packed = page.evaluate(TRANSLATE, [pack(model), read, ROOM])
    assert words == [row[:length].tolist() for row, length in zip(best.ids, best.lengths, strict=True)]
    numbers, at = np.frombuffer(b64decode(packed)), 0
    for n, (source, target) in enumerate(zip(read, words, strict=True)):
        src, tgt = len(source) * model.decoder.has_attention, len(target)
        steps = numbers[at : (at := at + tgt * (src + 1))].reshape(tgt, src + 1)
        if src:
            np.testing.assert_allclose(steps[:, :-1], best.weights[n, :tgt, :src], rtol=0, atol=1e-9)
        assert np.log(steps[:, -1]).sum() == pytest.approx(float(best.log_probabilities[n]), abs=1e-9)
    assert at == len(numbers) > 0


class AllBut(GlobalWindow):
    """A window that leaves one word out."""

    def forward(self, s, steps, lengths, mask):
        """See all words but the third."""
        return WindowMask(mask & (torch.arange(mask.shape[-1]) != 2))


def test_what_a_reader_changes_is_as_in_pytorch(page):
    """The general score times 3, and a window without one word."""
    model = load_pretrained("global")
    packed = pack(model)
    model.decoder.attention.score.W_a.data.mul_(3)
    model.decoder.attention.window = AllBut()
    sentence = ["the", "old", "man", "sees", "a", "big", "cat", "that"]
    ids, lengths = encode_batch([sentence], model.source_vocabulary)
    best = greedy_search(model, ids, lengths, 20)
    words, weights = page.evaluate(
        """([packed, sentence]) => {
        const model = attnlibRecurrent.open(packed), encoded = model.encode(sentence);
        const steps = [...model.greedy(encoded, 20, { looks: new Map(), hidden: new Set([2]), sharpness: 3 })];
        return [steps.map(step => step.word), steps.map(step => [...step.alpha])];
    }""",
        [packed, ids[0].tolist()],
    )
    assert words == best.ids[0].tolist()
    np.testing.assert_allclose(weights, best.weights[0], rtol=0, atol=1e-9)


def test_a_translation_can_go_on_from_any_step(page):
    """What a reader changes at a step leaves the steps before it as they were."""
    again, whole = page.evaluate(
        """packed => {
        const model = attnlibRecurrent.open(packed), encoded = model.encode([9, 8, 7, 2]);
        const numbers = steps => steps.map(({ word, p, alpha }) => [word, ...p, ...alpha]);
        const whole = [...model.greedy(encoded, 5)], begin = whole[2].before;
        return [numbers([...model.greedy(encoded, 5, undefined, undefined, begin)]), numbers(whole.slice(2))];
    }""",
        pack(load_pretrained("global")),
    )
    assert again == whole


def test_one_step_looks_where_it_is_told_and_another_word_is_written(page):
    weights, context, annotation, first, second, plain = page.evaluate(
        """packed => {
        const model = attnlibRecurrent.open(packed), encoded = model.encode([9, 8, 7, 2]);
        const hand = { looks: new Map([[1, Float64Array.of(0, 0, 1, 0)]]), hidden: new Set(), sharpness: 1 };
        const steps = [...model.greedy(encoded, 5, hand, new Map([[0, 50]]))];
        const plain = [...model.greedy(encoded, 5)];
        const { alpha, c } = steps[1];
        return [[...alpha], [...c], [...encoded.h[2]], steps[0].word, [...steps[0].p], [...plain[0].p]];
    }""",
        pack(load_pretrained("bahdanau")),
    )
    assert weights == [0, 0, 1, 0]
    assert context == annotation
    assert first == 50
    assert second == plain


@pytest.mark.parametrize("damage", ["cut", "altered", "infinite"])
def test_damaged_weights_are_refused(damage, page):
    packed = pack(load_pretrained("global"))
    whole = packed["weights"]["base64"]
    harmed = {"cut": whole[:-8], "altered": "A" + whole[1:], "infinite": "AHwA" + whole[4:]}[damage]
    assert harmed != whole
    packed["weights"]["base64"] = harmed
    with pytest.raises(Error, match="the weights are damaged"):
        page.evaluate("packed => attnlibRecurrent.open(packed) && 0", packed)


@pytest.fixture
def small() -> EncoderDecoder:
    words = Vocabulary(("a", "b"))
    return luong(words, words, embedding_dim=2, hidden_size=2, window="local-p", half_width=1)


def too_large(translator):
    next(translator.parameters()).data.fill_(70000)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda t: setattr(t, "encoder", torch.nn.Identity()), "the encoder is a Identity; expected"),
        (lambda t: setattr(t, "decoder", torch.nn.Identity()), "the decoder is a Identity; expected"),
        (lambda t: setattr(t, "source_vocabulary", None), "the vocabularies are not of whole words"),
        (too_large, "encoder.embedding.weight holds a number outside float16's range"),
    ],
)
def test_what_the_script_cannot_compute_is_refused(change, says, small, refused):
    change(small)
    refused(lambda: pack(small), says)
