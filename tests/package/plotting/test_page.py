"""A model as a page, in a real browser: it reads and translates as the package does; what cannot be gets a sentence."""

import random
import re
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from attnlib import load_pretrained
from attnlib.data import Vocabulary, encode_batch
from attnlib.language.german import sample as german
from attnlib.language.grammar import sample
from attnlib.plotting import packing
from attnlib.plotting import page as page_module
from attnlib.plotting.packing import network
from attnlib.plotting.page import page_of
from attnlib.search import beam_search
from attnlib.seq2seq import luong
from attnlib.text.files import split_words
from attnlib.text.folder import PRESETS
from attnlib.text.model import TranslationModel
from attnlib.text.subwords import Subwords

FOLDER = Path(packing.__file__).parent
SCRIPTS = "".join((FOLDER / name).read_text("utf-8") for name in ("recurrent.js", "page.js"))
PAIRS = [*sample(260, 1), *german(240, 2)]
SENTENCES = [" ".join(side) for pair in PAIRS for side in pair[:2]]
WORDS = Vocabulary.from_sentences([line.split() for line in SENTENCES[:400]], min_count=2)
SUBWORDS = Subwords.train([line.split() for line in SENTENCES], 300)
FEW = Vocabulary(tuple("abcdefgh"))
ODD = [
    "Ünïcödé e\u0301té 東京 🙂🙂 ▁▁a a▁b naïve\u200bword ﬁsh \ufeffdog",
    "  the\u3000old\u00a0cat\u2028sings\x1f\tloudly\x85 \x1c now ",
    "aaaaaaa thethethe zzzz the-the 'the' THE <pad> <unknown> &amp; <b>the</b> pad",
    "\0the \u0085 \u180e x\u2060y",
    *("".join(random.Random(n).choices("thescaunrlei ▁éß東\u00a0\u200d\U0001f642<'", k=60)) for n in range(40)),
]
READ = """([own, source, target, sentences]) => sentences.map(sentence => {
    let read = null;
    const mine = attnlibOwn({ own, source, target }), refuse = message => { read = message; };
    mine.read(sentence, [], () => { read = mine.numbers; }, refuse);
    return read;
})"""
TRANSLATE = """([packed, own, sentences]) => {
    const model = attnlibRecurrent.open(packed), mine = attnlibOwn({ own, source: [], target: [] });
    return sentences.map(sentence => {
        const steps = [...mine.search(model, model.encode(sentence))].filter(step => step);
        return [steps.map(step => step.word), steps.map(step => [...step.alpha ?? []])];
    });
}"""


@pytest.fixture(scope="module")
def scripted(browser):
    """Open a page that has the scripts, and no model."""
    page = browser.new_page()
    page.evaluate(f"() => {{{SCRIPTS}}}")
    yield page
    page.close()


@pytest.fixture
def opened(new_page, tmp_path):
    """Return a function that opens a page from its file."""

    def open_page(html: str, **how) -> Page:
        file = tmp_path / "page.html"
        file.write_text(html, "utf-8")
        page = new_page(file.as_uri(), **how)
        page.goto(file.as_uri())
        return page

    return open_page


@pytest.fixture(scope="module")
def subwords() -> TranslationModel:
    return TranslationModel(load_pretrained("enfr-subwords"))


@pytest.fixture(scope="module")
def words() -> TranslationModel:
    return TranslationModel(load_pretrained("bahdanau"))


def written(model: TranslationModel, title: str = "enfr", *, beam_size: int = 5, max_length: int = 1000) -> str:
    return page_of(model.network, title, beam_size=beam_size, max_length=max_length)


def field(page: Page):
    return page.get_by_role("textbox", name="source sentence")


def status(page: Page):
    return page.locator("[role=status]")


# --- It reads and translates as the package does ---


@pytest.mark.parametrize("known", [SUBWORDS, WORDS], ids=["subwords", "words"])
def test_a_thousand_sentences_are_read_as_in_python(known, scripted):
    """Among them odd ones: letters that no text had, composed and decomposed ones, and spaces of all kinds."""
    sentences = [*SENTENCES, *ODD]
    assert len(sentences) > 1000
    own = {"pieces": known is SUBWORDS, "positions": None, "most": 9, "beam": 1}
    listed = SUBWORDS.pieces if known is SUBWORDS else known.words
    numbers = scripted.evaluate(READ, [own, listed, listed, sentences])
    assert [[*read, 2] for read in numbers] == [known.encode(split_words(line)) for line in sentences]


def test_pieces_are_put_together_as_in_python(scripted):
    own = {"pieces": True, "positions": None, "most": 9, "beam": 1}
    draw = random.Random(38)
    rows = [[draw.choice([3, 4, 5, *range(4, len(SUBWORDS))]) for _ in range(12)] for _ in range(200)]
    space = SUBWORDS.encode(["東"])[0]
    rows += [[space], [4, space], [space, space, 9], [9, 2, 9], [3, 3], [0, 1, 9]]
    script = "([own, source, target, rows]) => { const { text } = attnlibOwn({ own, source, target });"
    texts = scripted.evaluate(script + "return rows.map(text); }", [own, [], SUBWORDS.pieces, rows])
    assert texts == [" ".join(SUBWORDS.decode(row)) for row in rows]


OPTIONS = {
    "default": ("luong", {"encoder": "bidirectional", "score": "dot", "num_layers": 2}),
    "local": ("luong", {"window": "local-p", "half_width": 2, "num_layers": 3, "score": "concat"}),
    "local-m": ("luong", {"window": "local-m", "half_width": 1, "input_feeding": False, "encoder": "bidirectional"}),
    "location": ("luong", {"score": "location", "encoder": "forward"}),
    "rnn_search": ("rnn_search", {}),
    "new state": ("rnn_search", {}),
    "rnn_encdec": ("rnn_encdec", {}),
}


@pytest.mark.parametrize("name", OPTIONS)
def test_the_beam_of_every_recurrent_model_is_as_in_pytorch(name, scripted):
    """Drawn at random, large enough that the next words differ, and rounded to float16."""
    preset, options = OPTIONS[name]
    translator = PRESETS[preset](SUBWORDS, FEW, embedding_dim=6, hidden_size=8, seed=3, **options)
    translator.decoder.reads_new_state = name == "new state"
    for weight in translator.parameters():
        weight.data.mul_(5)
    translator = translator.half().double().eval()
    ids, lengths = encode_batch([line.split() for line in SENTENCES[:40:4]], SUBWORDS)
    hypotheses = beam_search(translator, ids, lengths, 25, 5)
    own = {"pieces": True, "positions": None, "most": 25, "beam": 5}
    read = [row[:length].tolist() for row, length in zip(ids, lengths, strict=True)]
    for n, (numbers, weights) in enumerate(scripted.evaluate(TRANSLATE, [network(translator), own, read])):
        tgt, src = int(hypotheses.lengths[n]), int(lengths[n])
        assert numbers == hypotheses.ids[n, :tgt].tolist()
        if hypotheses.weights is not None:
            np.testing.assert_allclose(weights, hypotheses.weights[n, :tgt, :src], rtol=0, atol=1e-9)


# --- The page ---


def test_a_sentence_is_translated_as_the_command_does(subwords, opened):
    page = opened(written(subwords))
    field(page).press_sequentially("the european cat sleeps")
    translation = subwords.translate("the european cat sleeps")
    expect(page.locator(".at-text")).to_have_text(str(translation))
    expect(status(page)).to_have_text(f"enfr: {translation}.")
    pieces = page.get_by_role("group", name="source pieces").get_by_role("slider")
    assert pieces.count() == len(subwords.network.source_vocabulary.encode(split_words("the european cat sleeps")))


def test_the_other_search_is_one_choice_away(opened):
    half_way, sentence = TranslationModel(load_pretrained("bahdanau-after-50")), "the dogs see the red schools"
    translations = {width: str(half_way.translate(sentence, beam_size=width, max_length=9)) for width in (3, 1)}
    assert translations[1] != translations[3]
    page = opened(written(half_way, beam_size=3, max_length=9))
    field(page).fill(sentence)
    for label, width in (("beam of 3", 3), ("greedy", 1), ("beam of 3", 3)):
        page.get_by_label("search").select_option(label)
        expect(page.locator(".at-text")).to_have_text(translations[width])


def test_of_greedy_search_alone_there_is_no_choice(words, opened):
    page = opened(written(words, beam_size=1))
    field(page).fill("the dog sings")
    expect(page.locator(".at-text")).to_have_text(str(words.translate("the dog sings", beam_size=1)))
    assert page.get_by_label("search").count() == 0


def test_while_a_model_translates_the_page_is_free_and_what_stands_there_stays(opened):
    """A large model: a step takes longer than a bar may wait for."""
    many = Vocabulary(tuple(f"w{n}" for n in range(20_000)))
    page = opened(
        written(
            TranslationModel(luong(many, many, embedding_dim=64, hidden_size=64, window="local-p", half_width=2)),
            max_length=20,
        )
    )
    field(page).fill("w1 w2 w3")
    target = page.get_by_role("listbox").get_by_role("option")
    expect(target).not_to_have_count(0, timeout=30_000)
    said, stood, waited, shown = page.evaluate(
        """async () => {
            const field = document.querySelector("input"), status = document.querySelector("[role=status]");
            const count = () => document.querySelectorAll("[role=slider]").length;
            field.value = "w4 w5 w6 w7";
            const began = performance.now();
            field.dispatchEvent(new Event("input"));
            const [said, stood] = [status.textContent, count()];
            await new Promise(done => setTimeout(done));
            const waited = performance.now() - began;
            while (count() === stood) await new Promise(done => setTimeout(done, 20));
            const bar = document.querySelector("[role=slider]");
            bar.dispatchEvent(new KeyboardEvent("keydown", { key: "End", bubbles: true }));
            return [said, stood, waited, bar.getAttribute("aria-valuenow")];
        }"""
    )
    assert (said, stood) == ("The model translates.", 4)
    assert waited < 500
    assert shown == "100", "the bar does not wait for the words"


def test_one_can_interfere_by_keys_and_take_it_back(words, opened):
    page = opened(written(words, "my <own> model"))
    field(page).focus()
    page.keyboard.type("the big dog sees a cat")
    target = page.get_by_role("listbox", name="target words, my <own> model").get_by_role("option")
    expect(target).to_have_count(len(words.translate("the big dog sees a cat").words) + 1)
    plain = page.locator(".at-text").inner_text()
    target.nth(0).press("End")
    target.last.press("Home")
    target.nth(0).press("ArrowRight")
    page.get_by_role("slider", name="(end)").focus()
    page.keyboard.press("End")
    expect(page.get_by_role("slider", name="(end)")).to_have_attribute("aria-valuetext", "1.00 of the weight")
    other = page.get_by_role("button", name="probability").nth(1)
    word = other.inner_text().split()[0]
    other.press("Enter")
    expect(target.nth(1)).to_have_text(word)
    page.get_by_role("button", name="Undo (2)").press("Enter")
    page.get_by_role("button", name="Undo (1)").press("Enter")
    expect(page.locator(".at-text")).to_have_text(plain)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("wide", [1280, 390])
def test_it_is_accessible_and_fits(wide, scheme, subwords, opened, accessible):
    page = opened(written(subwords), viewport={"width": wide, "height": 800}, color_scheme=scheme)
    for step in range(2):
        accessible(page)
        if not step:
            field(page).fill("the european cat sleeps, xyz")
            page.get_by_role("listbox", name="target pieces, enfr").get_by_role("option").nth(1).click()
            page.get_by_role("slider", name="european").press("Enter")
            expect(page.locator(".at-hidden")).to_have_count(1)
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == (
        "rgb(18, 18, 18)" if scheme == "dark" else "rgb(255, 255, 255)"
    )


# --- What may go wrong ---


def test_what_is_written_wrongly_gets_a_sentence(words, opened):
    page = opened(written(words))
    field(page).fill("the <b>dog</b> qwe sings")
    translation = words.translate("the <b>dog</b> qwe sings")
    expect(status(page)).to_have_text(f"enfr: {translation}. The model does not know “<b>dog</b>”, “qwe”.")
    for text, says in (
        (" ", "Write a sentence."),
        ("the " * 100, "These are 100 words; write at most 99."),
        ("x" * 1001, "These are 1001 letters; write at most 1000."),
    ):
        field(page).fill(text)
        expect(status(page)).to_have_text(says)
        assert page.get_by_text(says).count() == 2, "it is seen, and said"
    expect(page.locator(".at-text")).to_have_text(str(translation))
    field(page).fill("the <b>dog</b> qwe sings")
    expect(status(page)).to_contain_text(f"enfr: {translation}. ")


def test_a_location_score_has_only_so_many_positions(opened):
    page = opened(
        written(
            TranslationModel(luong(SUBWORDS, SUBWORDS, score="location", embedding_dim=2, hidden_size=2)), max_length=5
        )
    )
    field(page).fill("zzzz " * 25)
    expect(status(page)).to_have_text("The sentence takes 100 positions; the model's location score has 99.")


@pytest.mark.parametrize("damage", ["altered", "no base64", "no JSON"])
def test_a_damaged_model_gets_a_sentence(damage, words, opened):
    harmed = {"altered": "AAAA", "no base64": "é", "no JSON": '"'}[damage]
    page = opened(harmed.join(re.split(r'(?<="base64":")....', written(words), maxsplit=1)))
    field(page).fill("the dog sings")
    expect(status(page)).to_have_text(
        "This card cannot compute: the weights are damaged. What stands here stays as it was."
    )


def test_of_half_a_file_and_without_scripts_there_is_a_sentence(words, opened):
    html = written(words)
    for page in (opened(html[: len(html) // 2]), opened(html, java_script_enabled=False)):
        expect(page.get_by_text("scripts are switched off, or the file is damaged")).to_be_visible()


def test_words_from_outside_are_no_html(opened):
    hostile = Vocabulary(("&amp;", "</script><script>alert(1)</script>", "<!--"))
    page = opened(
        written(
            TranslationModel(luong(hostile, hostile, embedding_dim=2, hidden_size=2)),
            "<script>alert(1)</script>",
            max_length=9,
        )
    )
    assert page.get_by_role("heading").inner_text() == "<script>alert(1)</script>"
    field(page).fill(" ".join(hostile.words))
    expect(page.locator(".at-source .at-word")).to_have_text([*hostile.words, "(end)"], use_inner_text=False)


def test_a_transformer_and_what_is_too_large_are_refused(refused, monkeypatch, words):
    transformer = TranslationModel(load_pretrained("transformer"))
    refused(lambda: written(transformer), "the encoder is a TransformerEncoder; expected a recurrent one")
    size = len(written(words).encode())
    monkeypatch.setattr(page_module, "LARGEST", size - 1)
    refused(lambda: written(words), f"would take {size / 1e6:.0f} MB; expected at most .* MB: train a")
    monkeypatch.setattr(page_module, "LARGEST", size)
    assert len(written(words).encode()) == size
