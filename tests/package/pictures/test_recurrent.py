"""The models in JavaScript, in a real browser, against PyTorch: the same words, and weights equal to nine decimals."""

from base64 import b64decode
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from playwright.sync_api import Error

from attnlib import pretrained
from attnlib.batches import encode
from attnlib.encoders import BidirectionalLSTM
from attnlib.language.grammar import sample
from attnlib.pictures import packing
from attnlib.pictures.packing import pack
from attnlib.pretrained.recipes import RECIPES
from attnlib.search import greedy
from attnlib.translator import Translator, luong, rnn_search
from attnlib.vocabulary import Vocabulary

SCRIPT = Path(packing.__file__).with_name("recurrent.js").read_text("utf-8")
SENTENCES = [pair.source for clauses in range(1, 9) for pair in sample(25, 38 + clauses, [clauses], part="test")]
MOST = 64
TRANSLATE = """([packed, sentences, most]) => {
    const model = attnlibRecurrent.open(packed), words = [], numbers = [];
    for (const sentence of sentences) {
        const steps = [...model.greedy(model.encode(sentence), most)];
        words.push(steps.map(step => step.word));
        for (const { alpha = [], p } of steps) numbers.push(...alpha, Math.max(...p));
    }
    const bytes = new Uint8Array(Float64Array.from(numbers).buffer);
    let text = "";
    for (let n = 0; n < bytes.length; n += 4096) text += String.fromCharCode(...bytes.subarray(n, n + 4096));
    return [words, btoa(text)];
}"""


@pytest.fixture(scope="module")
def compared(browser) -> Iterator[Callable]:
    """Return a function that compares what the script and PyTorch make of the same sentences."""
    page = browser.new_page()
    page.evaluate(SCRIPT)

    def compare(translator, sentences):
        ids, lengths = encode(sentences, translator.source_vocabulary)
        found = greedy(translator, ids, lengths, MOST)
        read = [row[:length].tolist() for row, length in zip(ids, lengths, strict=True)]
        words, packed = page.evaluate(TRANSLATE, [pack(translator), read, MOST])
        assert words == [row[:length].tolist() for row, length in zip(found.words, found.lengths, strict=True)]
        numbers, at = np.frombuffer(b64decode(packed)), 0
        for n, (source, target) in enumerate(zip(read, words, strict=True)):
            src, tgt = len(source) * translator.decoder.attends, len(target)
            said = numbers[at : (at := at + tgt * (src + 1))].reshape(tgt, src + 1)
            if src:
                np.testing.assert_allclose(said[:, :-1], found.weights[n, :tgt, :src], rtol=0, atol=1e-9)
            assert np.log(said[:, -1]).sum() == pytest.approx(float(found.log_probabilities[n]), abs=1e-9)
        assert at == len(numbers) > 0

    yield compare
    page.close()


@pytest.mark.parametrize("name", [name for name in RECIPES if name != "transformer"])
def test_pretrained_models_translate_as_in_pytorch(name, compared):
    compared(pretrained.load(name).translator, SENTENCES)


@pytest.mark.parametrize(
    "options",
    [
        {"score": "dot", "layers": 2},
        {"score": "concat", "window": "predictive", "half_width": 2},
        {"score": "general", "window": "monotonic", "half_width": 1, "input_feeding": False},
        {"score": "location", "encoder": "forwards"},
        None,
    ],
    ids=str,
)
def test_other_choices_translate_as_in_pytorch(options, compared):
    """Parts that no pretrained model has: drawn at random, large enough that the next words differ, in float16."""
    words = Vocabulary.of(SENTENCES)
    sizes = {"emb": 7, "hid": 6, "seed": 38}
    translator = rnn_search(words, words, **sizes) if options is None else luong(words, words, **sizes, **options)
    if options is None:
        translator.decoder.reads_new_state = True
    for weight in translator.parameters():
        weight.data.mul_(8)
    compared(translator.half().double(), SENTENCES[::10])


@pytest.mark.parametrize("damage", ["cut", "altered", "infinite"])
def test_damaged_weights_are_refused(damage, browser):
    packed = pack(pretrained.load("global").translator)
    whole = packed["weights"]["base64"]
    harmed = {"cut": whole[:-8], "altered": "A" + whole[1:], "infinite": "AHwA" + whole[4:]}[damage]
    assert harmed != whole
    packed["weights"]["base64"] = harmed
    page = browser.new_page()
    page.evaluate(SCRIPT)
    with pytest.raises(Error, match="the weights are damaged"):
        page.evaluate("packed => attnlibRecurrent.open(packed) && 0", packed)
    page.close()


@pytest.fixture
def small() -> Translator:
    words = Vocabulary(("a", "b"))
    return luong(words, words, emb=2, hid=2, window="predictive", half_width=1)


def too_large(translator):
    next(translator.parameters()).data.fill_(70000)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda t: setattr(t, "encoder", BidirectionalLSTM(6, 2, 2)), "the encoder is a BidirectionalLSTM; expected"),
        (lambda t: setattr(t, "decoder", torch.nn.Identity()), "the decoder is a Identity; expected"),
        (lambda t: setattr(t, "source_vocabulary", None), "the vocabularies are not of whole words"),
        (lambda t: setattr(t.decoder.align.window, "authors", True), "the window is the authors' variant of local-p"),
        (too_large, "encoder.embedding.weight holds a number that float16 has not"),
    ],
)
def test_what_the_script_cannot_compute_is_refused(change, says, small, refused):
    change(small)
    refused(lambda: pack(small), ValueError, says)
