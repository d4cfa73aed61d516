"""What the scripts compute, in a real browser, against Python: words read, and models that translate.

The models are drawn at random, large enough that the next words differ, and rounded to float16.
"""

import random
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from playwright.sync_api import Page

import attntext
from attnbook import sample
from attnbook.cards.card import read_assets
from attnbook.cards.packing import pack, pack_models
from attnbook.experiments.transformers import transformer_norm_first
from attnbook.pretrained.folder import PRESETS
from attnbook.pretrained.subwords import Subwords
from attnlib import EOS, EncoderDecoder, GlobalWindow, Vocabulary, beam_search, encode_batch, luong
from attnlib.windows import WindowMask
from attntext.files import split_words

PAIRS = sample(500, 1)
SENTENCES = [" ".join(side) for pair in PAIRS for side in pair[:2]]
WORDS = Vocabulary.from_sentences([line.split() for line in SENTENCES[:400]], min_count=2)
SUBWORDS = Subwords.train([line.split() for line in SENTENCES], 300)
FEW = Vocabulary(tuple("abcdefgh"))
ODD = [
    "Ünïcödé e\u0301té 東京 🙂🙂 ▁▁a a▁b naïve\u200bword ﬁsh \ufeffdog",
    "  the\u3000old\u00a0cat\u2028sings\x1f\tloudly\x85 \x1c now ",
    "aaaaaaa thethethe zzzz the-the 'the' THE <pad> <unknown> &amp; <b>the</b> pad",
    "\0the \u0085 \u180e x\u2060y",
    "the\r cat\r\r\tsle\reps\r\nnow\r",
    *("".join(random.Random(n).choices("thescaunrlei ▁éß東\u00a0\u200d\U0001f642<'", k=60)) for n in range(40)),
]
OWN = {"pieces": True, "positions": None, "most": 25, "beam": 1}
READ = """([own, source, target, sentences]) => sentences.map(sentence => {
    let read = null;
    const mine = attnlibOwn({ own, source, target }), refuse = message => { read = message; };
    mine.read(sentence, [], () => { read = mine.numbers; }, refuse);
    return read;
})"""
TRANSLATE = """([own, packed, sentences, { hidden, sharpness }, words]) => {
    const { search } = attnlibOwn({ own, source: [], target: [] });
    const model = attnlibModels.open(packed), hand = { hidden: new Set(hidden), sharpness, looks: new Map() };
    return sentences.map(sentence => {
        const steps = [...search(model, model.encode(sentence), hand, new Map(words))].filter(step => step);
        const numbers = name => steps.map(step => [...step[name] ?? []]);
        return [steps.map(({ word }) => word), numbers("alpha"), numbers("p")];
    });
}"""


@pytest.fixture(scope="module")
def page(browser) -> Iterator[Page]:
    """Open a page that has the scripts, and no model."""
    page = browser.new_page()
    scripts = read_assets(("models", "cards"), "js") + read_assets(["page"], "js", Path(attntext.__file__).parent)
    page.evaluate(f"() => {{{scripts}}}")
    yield page
    page.close()


@pytest.fixture
def exact() -> Iterator[None]:
    """Let PyTorch compute positions in float64 too."""
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


def drawn(preset: str = "luong", **options: object) -> EncoderDecoder:
    sizes = {} if preset == "transformer" else {"embedding_dim": 6, "hidden_size": 8}
    model = PRESETS[preset](SUBWORDS, FEW, **sizes, seed=3, **options)
    for weight in model.parameters():
        weight.data.mul_(5).view(-1)[::7].mul_(2**-16)  # some are subnormal in float16
    return model.half().double().eval()


@pytest.mark.parametrize("known", [SUBWORDS, WORDS], ids=["subwords", "words"])
def test_a_thousand_sentences_are_read_as_in_python(known, page):
    """Among them odd ones: letters that no text had, composed and decomposed ones, and spaces of all kinds."""
    sentences = [*SENTENCES, *ODD]
    assert len(sentences) > 1000
    listed = SUBWORDS.pieces if known is SUBWORDS else known.words
    numbers = page.evaluate(READ, [OWN | {"pieces": known is SUBWORDS}, listed, listed, sentences])
    assert [[*read, EOS] for read in numbers] == [known.encode(split_words(line)) for line in sentences]


def test_pieces_are_put_together_as_in_python(page):
    draw = random.Random(38)
    rows = [[draw.choice([3, 4, 5, *range(4, len(SUBWORDS))]) for _ in range(12)] for _ in range(200)]
    space = SUBWORDS.encode(["東"])[0]
    rows += [[space], [4, space], [space, space, 9], [9, 2, 9], [3, 3], [0, 1, 9]]
    script = "([own, source, target, rows]) => { const { text } = attnlibOwn({ own, source, target });"
    texts = page.evaluate(script + "return rows.map(text); }", [OWN, [], SUBWORDS.pieces, rows])
    assert texts == [" ".join(SUBWORDS.decode(row)) for row in rows]


OPTIONS = {
    "bidirectional": ("luong", {"encoder": "bidirectional", "score": "dot", "num_layers": 2}),
    "local-p": ("luong", {"window": "local-p", "half_width": 2, "num_layers": 3, "score": "concat"}),
    "local-m": ("luong", {"window": "local-m", "half_width": 1, "input_feeding": False, "encoder": "bidirectional"}),
    "location": ("luong", {"score": "location", "encoder": "forward"}),
    "rnn_search": ("rnn_search", {}),
    "new state": ("rnn_search", {}),
    "rnn_encdec": ("rnn_encdec", {}),
    "transformer": ("transformer", {"d_model": 12, "dim_feedforward": 10, "num_heads": 3, "num_layers": 3}),
}


@pytest.mark.parametrize("beam", [1, 5])
@pytest.mark.parametrize("name", OPTIONS)
def test_every_model_translates_as_in_pytorch(name, beam, page, exact):
    preset, options = OPTIONS[name]
    model = drawn(preset, **options)
    model.decoder.reads_new_state = name == "new state"
    ids, lengths = encode_batch([line.split() for line in SENTENCES[:40:4]], SUBWORDS)
    best = beam_search(model, ids, lengths, 25, beam)
    sentences = [row[:length].tolist() for row, length in zip(ids, lengths, strict=True)]
    untouched = {"hidden": [], "sharpness": 1}
    outputs = page.evaluate(TRANSLATE, [OWN | {"beam": beam}, pack(model), sentences, untouched, []])
    for n, (words, weights, p) in enumerate(outputs):
        tgt, src = int(best.lengths[n]), int(lengths[n])
        assert words == best.ids[n, :tgt].tolist()
        chosen = [row[word] for row, word in zip(p, words, strict=True)]
        assert np.log(chosen).sum() == pytest.approx(float(best.log_probabilities[n]), abs=1e-9)
        if best.weights is not None:
            np.testing.assert_allclose(weights, best.weights[n, :tgt, :src], rtol=0, atol=1e-9)


class AllBut(GlobalWindow):
    """A window that leaves one word out."""

    def forward(self, s, steps, lengths, mask):
        """See all words but the third."""
        return WindowMask(mask & (torch.arange(mask.shape[-1]) != 2))


@pytest.mark.parametrize("beam", [1, 5])
def test_what_a_reader_changes_is_as_in_pytorch(beam, page):
    """The general score times 3, a window without one word, and other words than the likeliest."""
    model, written = drawn(), [5, 11, 7, EOS]
    packed = pack(model)
    model.decoder.attention.score.W_a.data.mul_(3)
    model.decoder.attention.window = AllBut()
    ids, lengths = encode_batch([["the", "old", "man", "sees"]], SUBWORDS)
    logits, attended = model(ids, lengths, torch.tensor([written]))
    logits[..., :EOS] = -torch.inf
    changed, chosen = {"hidden": [2], "sharpness": 3}, list(enumerate(written))
    ((words, weights, p),) = page.evaluate(TRANSLATE, [OWN | {"beam": beam}, packed, ids.tolist(), changed, chosen])
    assert words == written
    np.testing.assert_allclose(weights, attended.to_dense(ids.shape[1])[0].detach(), rtol=0, atol=1e-9)
    np.testing.assert_allclose(p, logits[0].softmax(1).detach(), rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda t: setattr(t, "encoder", torch.nn.Identity()), "the encoder is a Identity; expected"),
        (lambda t: setattr(t, "encoder", transformer_norm_first(FEW, FEW).encoder), "encoder is a _NormFirstEncoder"),
        (lambda t: setattr(t, "decoder", torch.nn.Identity()), "the decoder is a Identity; expected"),
        (lambda t: setattr(t, "source_vocabulary", None), "the vocabularies are not of whole words"),
        (lambda t: next(t.parameters()).data.fill_(7e4), "encoder.embedding.weight holds a number outside float16"),
    ],
)
def test_what_the_scripts_cannot_compute_is_refused(change, says, refused):
    model = luong(FEW, FEW, embedding_dim=2, hidden_size=2)
    change(model)
    refused(lambda: pack_models({"": model}), says)
