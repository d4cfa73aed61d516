"""The figures that a reader can touch, touched in a real browser: what they show, say, weigh and ask for."""

import json
import re
from collections.abc import Callable
from inspect import unwrap

import numpy as np
import pytest
import torch
from axe_playwright_python.sync_playwright import Axe
from hatchling.builders.wheel import WheelBuilder
from lxml import html
from playwright.sync_api import Page, expect

from attnlib.attention import masked_softmax
from attnlib.pictures import figures
from attnlib.pictures.cards import LARGEST, Card, two_decimals, width
from attnlib.windows import gaussian

explore, sharpen = unwrap(figures.explore), unwrap(figures.sharpen)

SOURCE = ["the", "small", "cat", "that", "sleeps", "sees", "Mary"]
TARGET = ["le", "petit", "chat", "qui", "dort", "voit", "Marie"]
P = np.array([0.4, 0.9, 1.75, 3.0, 4.2, 4.6, 6.9])
PLACES = np.arange(7)
RNG = np.random.default_rng(0)
SCORES = RNG.normal(size=(7, 7)) - (PLACES - PLACES[:, None]) ** 2
GLOBAL = masked_softmax(SCORES)
NASTY = ["<b>&\"'</b>", "</script><script>boom()</script>", "日本語日本語", "$x$", "\\(x\\)", "a b", "é"]
WINDS, TEMPERATURES = ["east", "north", "west", "south"], [8, 2, 9, 25]
WIND_SCORES = np.array([0.75**0.5, 0.5, -(0.75**0.5), -0.5])
HOSTILE = """<style>body { background: #121212; color: #ddd } button, summary { color: #eee }
.jp-RenderedHTMLCommon tbody tr:nth-child(odd) { background: #333 } td, th { color: #ddd; text-align: left }
.bd-article table { display: block; max-width: 100%; overflow-x: auto } svg text { fill: #ddd }</style>"""


def near(D: int, favour: bool = True) -> figures.Local:
    """Make the attention of a local variant: a softmax over the window, times a Gaussian."""
    p = P if favour else PLACES.astype(float)
    weights = masked_softmax(SCORES, np.abs(PLACES - p[:, None]) <= D)
    weights = weights * gaussian(np.tile(PLACES, (7, 1)), p, D) if favour else weights
    return figures.Local(weights, p, D, gaussian=favour)


@pytest.fixture(scope="module")
def card() -> Card:
    variants = {"global": GLOBAL, "local-m": near(2, favour=False), "local-p": [near(D) for D in (1, 2, 4)]}
    return explore(variants, SOURCE, TARGET)


@pytest.fixture(scope="module")
def slide() -> Card:
    return sharpen(WIND_SCORES, TEMPERATURES, WINDS, unit="degrees")


@pytest.fixture
def opened(browser) -> Callable[..., Page]:
    """Return a function that opens cards in a page that may ask for nothing and must not complain."""
    contexts, unwanted = [], []

    def open_page(*cards: Card, head: str = "", wide: int = 1280, script: bool = True) -> Page:
        context = browser.new_context(viewport={"width": wide, "height": 800}, java_script_enabled=script)
        contexts.append(context)
        context.route("**", lambda route: (unwanted.append(route.request.url), route.abort()))
        page = context.new_page()
        page.on("pageerror", lambda error: unwanted.append(error.message))
        page.on("console", lambda said: unwanted.append(said.text))
        page.set_content(
            f"<!DOCTYPE html><html lang='en'><head><title>Made up</title><meta name='viewport' "
            f"content='width=device-width'>{head}</head><body class='jp-RenderedHTMLCommon bd-article'><main>"
            f"<h1>Made up</h1>{''.join(card._repr_html_() for card in cards)}</main></body></html>"
        )
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert unwanted == []


def said(page: Page, figure: int = 0) -> str:
    return page.locator("[role=status]").nth(figure).inner_text()


def word(page: Page, name: str):
    return page.get_by_role("option", name=name, exact=True)


def shown(page: Page) -> list[str]:
    """Read the numbers that stand beside the source words."""
    return page.locator(".attnlib-behind text:not(.attnlib-p)").all_text_contents()


def body(page: Page) -> list[list[str]]:
    rows = page.locator("tbody tr").all()
    return [row.locator("th, td").all_text_contents() for row in rows]


def printed(weights) -> list[str]:
    return [f"{w:.2f}" if w else "0" for w in weights]


# --- What is in the page ---


@pytest.mark.parametrize("name", ["card", "slide"])
def test_it_is_small_the_same_every_time_and_has_no_id(name, request):
    figure = request.getfixturevalue(name)
    assert len(figure.html.encode()) < LARGEST
    assert not re.search(r"\sid=|url\(|@import|(src|href)=", figure.html)
    assert set(re.findall(r"https?://[^\"'\s]+", figure.html)) <= {"http://www.w3.org/2000/svg"}
    assert not re.search(r"\d\.\d{5,}", figure.html)


def test_the_same_data_give_the_same_bytes_and_are_not_changed():
    weights, local = GLOBAL.copy(), near(2)
    before = local.weights.copy()
    cards = [explore({"a": weights, "b": local}, SOURCE, TARGET) for _ in range(2)]
    assert cards[0].html == cards[1].html
    np.testing.assert_array_equal(weights, GLOBAL)
    np.testing.assert_array_equal(local.weights, before)
    assert explore({"a": torch.tensor(GLOBAL), "b": local}, SOURCE, TARGET).html == cards[0].html


def test_it_says_in_plain_text_what_it_is(card, slide):
    assert repr(card) == (
        "Explorer of 7 words that look at 7: global; local-m, D = 2; local-p, D = 1; local-p, D = 2; local-p, D = 4"
    )
    assert repr(slide) == "Softmax of 4 scores, sharpness 0 to 100"


def test_the_data_are_the_weights_to_four_decimals(card):
    (data,) = html.fromstring(card.html).xpath("//script[@type='application/json']/text()")
    settings = json.loads(data)["settings"]
    np.testing.assert_allclose(np.array(settings[0]["weights"]) / 10_000, GLOBAL, rtol=0, atol=0.5001e-4)
    np.testing.assert_allclose(np.array(settings[4]["weights"]) / 10_000, near(4).weights, rtol=0, atol=0.5001e-4)
    assert settings[4]["p"] == P.tolist()
    assert [setting.get("gaussian") for setting in settings] == [None, False, True, True, True]


def test_the_lines_are_as_thick_as_the_weights(card):
    groups = html.fromstring(card.html).xpath("//g[@class='attnlib-links']/g")
    assert len(groups) == 7
    for group, row in zip(groups, GLOBAL, strict=True):
        thick = [float(path.get("stroke-width")) for path in group]
        np.testing.assert_allclose(thick, 10 * row[row >= 0.02], rtol=0, atol=1e-3)


@pytest.mark.parametrize(("number", "text"), [(0.125, "0.13"), (0.285, "0.28"), (0.994, "0.99"), (2, "2.00")])
def test_two_decimals_round_as_the_script_does(number, text, browser):
    assert two_decimals(number) == text
    page = browser.new_page()
    assert page.evaluate("n => (Math.floor(100 * n + 0.5) / 100).toFixed(2)", number) == text
    page.close()


def test_wide_letters_get_room():
    assert width(["日本語"]) == width(["ABCDEF"]) > width(["ABC", "A"])


def test_scripts_and_styles_are_in_the_wheel(root):
    packed = {file.distribution_path for file in WheelBuilder(str(root)).recurse_included_files()}
    kinds = ("explorer", "sharpening")
    wanted = {f"attnlib/{kind}.{ending}" for kind in kinds for ending in ("css", "js", "py")}
    assert wanted | {"attnlib/cards.css", "attnlib/cards.py"} <= packed


# --- The explorer, touched ---


def test_the_script_draws_what_stood_there_before_it(card, opened):
    drawn = [opened(card, script=script) for script in (False, True)]
    for where in (".attnlib-links", "table"):
        before, after = (re.sub(r"\s*\n\s*", "", page.locator(where).inner_html()) for page in drawn)
        assert before == after
    words = [page.locator(".attnlib-target text").all() for page in drawn]
    places = [[(w.text_content(), w.get_attribute("x"), w.get_attribute("y")) for w in page] for page in words]
    assert places[0] == places[1]


def test_a_local_first_variant_also_reads_the_same_without_the_script(opened):
    pages = [opened(explore({"local-p": near(2)}, SOURCE, TARGET), script=script) for script in (False, True)]
    heads = [page.locator("thead th").all_text_contents() for page in pages]
    assert heads[0] == heads[1] == ["target", *SOURCE, "p", "sum"]
    assert body(pages[0]) == body(pages[1])
    assert body(pages[0])[2][-2:] == ["1.75", two_decimals(near(2).weights[2].sum())]


def test_hovering_lights_a_word_and_leaving_puts_it_out(card, opened):
    page = opened(card)
    assert shown(page) == []
    assert "Choose a word" in said(page)
    word(page, "chat").hover()
    assert shown(page) == printed(GLOBAL[2].round(4))
    assert "on" in page.locator(".attnlib-links > g").nth(2).get_attribute("class")
    assert page.locator(".attnlib-links > g.on").count() == 1
    assert said(page).startswith("Word 3 of 7, “chat”, looks at ")
    heaviest = int(GLOBAL[2].argmax())
    assert f"looks at {SOURCE[heaviest]} {GLOBAL[2].max():.2f}" in said(page)
    page.mouse.move(2, 2)
    assert shown(page) == []
    assert page.locator(".attnlib-links > g.on").count() == 0


def test_keys_step_through_the_words(card, opened):
    page = opened(card)
    word(page, "le").focus()
    for key, expected in [
        ("ArrowDown", "petit"),
        ("ArrowRight", "chat"),
        ("ArrowUp", "petit"),
        ("ArrowLeft", "le"),
        ("ArrowUp", "le"),
        ("End", "Marie"),
        ("ArrowDown", "Marie"),
        ("Home", "le"),
    ]:
        page.keyboard.press(key)
        expect(word(page, expected)).to_be_focused()
        assert page.locator("[aria-selected=true]").get_attribute("aria-label") == expected
        assert page.locator("[role=option][tabindex='0']").count() == 1
        assert f"“{expected}”" in said(page)
    page.keyboard.press("x")
    assert "“le”" in said(page)
    page.keyboard.press("Escape")
    assert "Choose a word" in said(page)


def test_one_tab_enters_the_words_and_the_next_one_leaves_them(card, opened):
    page = opened(card)
    page.get_by_role("button", name="All words").focus()
    page.keyboard.press("Tab")
    expect(word(page, "le")).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.locator("summary")).to_be_focused()


def test_buttons_step_through_the_words(card, opened):
    page = opened(card)
    back, forth, whole = (page.get_by_role("button", name=name) for name in ("Previous", "Next", "All words"))
    for button, expected in [
        (forth, "le"),
        (forth, "petit"),
        (back, "le"),
        (back, "le"),
        (whole, None),
        (back, "Marie"),
    ]:
        button.click()
        page.mouse.move(2, 2)
        lit = page.locator("[aria-selected=true]")
        assert [one.get_attribute("aria-label") for one in lit.all()] == ([expected] if expected else [])
    forth.focus()
    back.focus()
    page.keyboard.press("Enter")
    assert "“voit”" in said(page)


def test_words_not_written_yet_are_set_apart(card, opened):
    page = opened(card)
    word(page, "chat").click()
    later = page.locator(".attnlib-target .later")
    assert later.all_text_contents() == TARGET[3:]


def test_a_chosen_word_stays_while_others_are_pointed_at(card, opened):
    page = opened(card)
    word(page, "chat").click()
    word(page, "dort").hover()
    assert "“dort”" in said(page)
    page.mouse.move(2, 2)
    assert "“chat”" in said(page)


def test_variants_switch_and_keep_the_word_and_the_half_width(card, opened):
    page = opened(card)
    word(page, "chat").click()
    page.mouse.move(2, 2)
    for name, weights in [("local-m", near(2, favour=False).weights), ("local-p", near(2).weights), ("global", GLOBAL)]:
        page.get_by_role("button", name=name).click()
        assert page.locator("[aria-pressed=true]").all_text_contents() == [name]
        assert shown(page) == printed(weights[2].round(4))
        assert [row[1:8] for row in body(page)] == [[f"{w:.2f}" for w in row] for row in weights.round(4)]
        assert page.locator("caption").text_content().startswith(name)


def test_the_window_and_the_gaussian_are_drawn_where_they_are(card, opened):
    page = opened(card)
    page.get_by_role("button", name="local-p").click()
    slider = page.get_by_label("half-width D")
    slider.focus()
    page.keyboard.press("ArrowRight")
    assert slider.get_attribute("aria-valuetext") == "2"
    assert "Word 1 of 7" in said(page), "moving D shows a window"
    word(page, "chat").click()
    rows = [float(text.get_attribute("y")) - 5 for text in page.locator(".attnlib-source text").all()]
    pitch = rows[1] - rows[0]
    window = page.locator(".attnlib-window")
    top, height = (float(window.get_attribute(name)) for name in ("y", "height"))
    p = 1.75
    assert top == pytest.approx(rows[0] + pitch * max(p - 2, -0.5))
    assert top + height == pytest.approx(rows[0] + pitch * (p + 2))
    assert float(page.locator(".attnlib-centre").get_attribute("y1")) == pytest.approx(rows[0] + pitch * p)
    curve = page.locator(".attnlib-gaussian").get_attribute("d")
    points = [tuple(map(float, point.split())) for point in re.findall(r"L([\d.]+ [\d.]+)", curve)][:-1]
    at = np.array([(y - rows[0]) / pitch for _, y in points])
    favour = np.array([(64 - x) / 48 for x, _ in points])
    np.testing.assert_allclose(favour, np.exp(-((at - p) ** 2) / 2), atol=0.01)  # sigma = D / 2 = 1
    assert shown(page) == printed(near(2).weights[2].round(4))
    assert "The centre p is 1.75, counted from 0; with D = 2 the window holds “the” to “that”." in said(page)
    assert f"The weights sum to {two_decimals(near(2).weights[2].round(4).sum())}." in said(page)


def test_the_slider_is_there_only_where_there_is_a_choice(card, opened):
    page = opened(card)
    slider = page.get_by_label("half-width D")
    for name, there in [("local-m", False), ("local-p", True), ("global", False)]:
        page.get_by_role("button", name=name).click()
        assert slider.is_visible() == there
    page.get_by_role("button", name="local-p").click()
    for D in (1, 2, 4):
        slider.fill(str((1, 2, 4).index(D)))
        assert page.locator("label b").inner_text() == str(D)
        assert shown(page) == printed(near(D).weights[0].round(4))


def test_a_monotonic_window_has_no_gaussian_and_a_far_centre_stays_in_the_picture(opened):
    far = figures.Local(np.zeros((2, 2)), np.array([0, 9.5]), 1, gaussian=False)
    page = opened(explore({"local-m": far}, ["a", "b"], ["x", "y"]))
    word(page, "x").click()
    assert page.locator(".attnlib-window").count() == 1
    assert page.locator(".attnlib-gaussian").count() == 0
    assert "the window holds “a” to “b”." in said(page)
    word(page, "y").click()
    assert "the window holds no word." in said(page)
    height = float(page.locator("svg").get_attribute("height"))
    assert 0 < float(page.locator(".attnlib-centre").get_attribute("y1")) < height


def test_each_variant_may_have_its_own_words(opened):
    own = {"short": ["le", "chat"], "long": TARGET}
    page = opened(explore({"short": GLOBAL[:2], "long": GLOBAL}, SOURCE, own, across="keys", down="queries"))
    page.get_by_role("button", name="long").click()
    word(page, "Marie").click()
    page.get_by_role("button", name="short").click()
    assert page.locator(".attnlib-target text").all_text_contents() == ["le", "chat"]
    assert "Word 2 of 2" in said(page)
    assert page.locator("svg > text").all_text_contents() == ["keys", "queries"]
    assert page.get_by_role("listbox", name="queries words").count() == 1


def test_words_are_words_whatever_is_in_them(opened):
    page = opened(explore({NASTY[1]: GLOBAL, NASTY[0]: GLOBAL}, NASTY, NASTY))
    for where in (".attnlib-source text", ".attnlib-target text"):
        assert page.locator(where).all_text_contents() == NASTY
    assert page.locator("thead th").all_text_contents()[1:] == NASTY
    assert [button.text_content() for button in page.locator("[aria-pressed]").all()] == [NASTY[1], NASTY[0]]
    static = opened(
        explore({NASTY[1]: GLOBAL}, NASTY, NASTY), sharpen([0] * 7, PLACES, NASTY, unit=NASTY[0]), script=False
    )
    assert static.locator(".attnlib-source text").all_text_contents() == NASTY
    assert static.locator(".attnlib-sharpening thead th").all_text_contents()[1:-1] == NASTY
    assert static.locator("main b").count() == 2  # the two outputs of sliders


# --- The sliding picture, touched ---


def test_sliding_moves_weights_and_answer(slide, opened):
    page = opened(slide)
    slider = page.get_by_label("sharpness")
    slider.focus()
    for key, sharpness in [("Home", 0), ("ArrowRight", 0.1), ("End", 100)]:
        page.keyboard.press(key)
        weights = masked_softmax(sharpness * WIND_SCORES).round(4)
        answer = two_decimals(masked_softmax(sharpness * WIND_SCORES) @ TEMPERATURES)
        assert page.locator(".attnlib-weight").all_text_contents() == [two_decimals(w) for w in weights]
        bars = [float(bar.get_attribute("width")) for bar in page.locator(".attnlib-bar").all()]
        np.testing.assert_allclose(bars, 80 * weights, atol=0.006)
        assert page.locator(".attnlib-answer").text_content() == answer
        assert slider.get_attribute("aria-valuetext") == f"{sharpness:g}"
        assert page.locator("tr[aria-current=true] th").text_content() == f"{sharpness:g}"
        assert f"Sharpness {sharpness:g}: east" in said(page)
        assert f"The answer is {answer} degrees." in said(page)


def test_the_answer_stands_at_its_place_on_the_axis(slide, opened):
    page = opened(slide)
    page.get_by_label("sharpness").fill("31")
    line, east = page.locator(".attnlib-context"), page.locator(".attnlib-dot").first
    assert float(line.get_attribute("x1")) == pytest.approx(float(east.get_attribute("cx")), abs=0.2)
    radii = [float(dot.get_attribute("r")) for dot in page.locator(".attnlib-dot").all()]
    assert radii == [13, 2, 2, 2]


def test_the_static_picture_is_the_one_of_the_start(slide, opened):
    pages = [opened(slide, script=script) for script in (False, True)]
    one = ".attnlib-picture svg"
    drawn = [re.sub(r"<desc>.*?</desc>", "", page.locator(one).inner_html()) for page in pages]
    assert drawn[0] == drawn[1]
    assert pages[0].locator(".attnlib-shown").is_visible()
    assert not pages[1].locator(".attnlib-shown").is_visible()


def test_the_table_holds_every_stop(slide):
    rows = [[*map(float, row.xpath("*/text()"))] for row in html.fromstring(slide.html).xpath("//tbody/tr")]
    assert [row[0] for row in rows[:4]] == [0, 0.1, 0.13, 0.16]
    assert {1, 10, 100} <= {row[0] for row in rows}
    for stop, *weights, answer in rows:
        expected = masked_softmax(stop * WIND_SCORES)
        np.testing.assert_allclose(weights, expected, atol=0.5001e-4)
        assert answer == pytest.approx(expected @ TEMPERATURES, abs=0.5001e-4)


def test_stops_and_start_may_be_chosen_and_values_may_all_be_equal(opened):
    page = opened(sharpen([1.0, 2.0], [3, 3], AB, sharpness=[0, 0.5, 2], start=0.6))
    assert page.locator("label b").inner_text() == "0.5"
    assert "The answer is 3.00." in said(page)
    assert page.locator("thead th").last.text_content() == "answer"


# --- For everyone ---


def violations(page: Page) -> list[str]:
    found = Axe().run(page).response["violations"]
    return [f"{one['id']}: {node['html'][:150]}" for one in found for node in one["nodes"]]


def pale_texts(page: Page) -> list[str]:
    """Find words in pictures whose contrast with white, or with the dark blue of a chosen word, is below 4.5 to 1."""
    return page.evaluate("""() => {
        const light = colour => colour.match(/[\\d.]+/g).slice(0, 3).map(c => c / 255)
            .map(c => c <= .04045 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4)
            .reduce((sum, c, n) => sum + c * [.2126, .7152, .0722][n], 0);
        const contrast = (a, b) => (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
        return [...document.querySelectorAll("svg text")].filter(text => {
            const box = text.closest("[aria-selected=true]")?.querySelector("rect");
            return contrast(light(getComputedStyle(text).fill), box ? light(getComputedStyle(box).fill) : 1) < 4.5;
        }).map(text => text.textContent);
    }""")


@pytest.mark.parametrize(
    "how",
    [
        {},
        {"wide": 390},
        {"head": HOSTILE},
        {"head": HOSTILE, "wide": 390},
        {"script": False},
        {"head": HOSTILE, "script": False},
    ],
    ids=str,
)
def test_it_is_accessible(card, slide, opened, how):
    page, script = opened(card, slide, **how), how.get("script", True)
    for summary in page.locator("summary").all():
        summary.click()
    assert script == page.get_by_role("button", name="Next").is_visible()
    if script:
        page.get_by_role("button", name="local-p").click()
        word(page, "chat").click()
    assert pale_texts(page) == []
    colours = "e => [getComputedStyle(e).color, getComputedStyle(e).backgroundColor].join()"
    assert {cell.evaluate(colours) for cell in page.locator(".attnlib-explorer td").all()} == {
        "rgb(26, 26, 26),rgb(255, 255, 255)"
    }
    if script:  # axe is a script itself
        assert violations(page) == []


@pytest.mark.parametrize("script", [True, False], ids=["script", "no-script"])
def test_a_picture_has_a_name_and_a_description(card, slide, opened, script):
    page = opened(card, slide, script=script)
    if not script:
        assert page.locator(".attnlib-explorer title").text_content() == "global"
        assert (
            f"chat looks most at {SOURCE[GLOBAL[2].argmax()]}" in page.locator(".attnlib-explorer desc").text_content()
        )
        assert page.locator(".attnlib-shown").all_inner_texts() == ["global", "sharpness 1"]
        assert page.locator("button:visible, input:visible").count() == 0
    else:
        assert page.locator(".attnlib-explorer svg").get_attribute("aria-label") == "global"
        assert page.locator(".attnlib-explorer svg title").count() == 0, "it would follow the pointer as a tool tip"
        assert "Sharpness 1: " in page.locator(".attnlib-sharpening desc").text_content()


@pytest.mark.parametrize("wide", [1280, 390])
def test_it_fits_and_nothing_is_cut_off(card, slide, opened, wide):
    page = opened(card, slide, wide=wide)
    for summary in page.locator("summary").all():
        summary.click()
    page.get_by_role("button", name="local-p").click()
    word(page, "chat").click()
    assert page.evaluate("document.documentElement.scrollWidth") <= wide
    outside = page.evaluate("""() => [...document.querySelectorAll("svg text")].filter(text => {
        const box = text.getBBox(), view = text.ownerSVGElement.viewBox.baseVal;
        return box.x < 0 || box.y < 0 || box.x + box.width > view.width || box.y + box.height > view.height;
    }).map(text => text.textContent)""")
    assert outside == []


def test_two_on_one_page_do_not_disturb_each_other(card, slide, opened):
    page = opened(card, card, slide, slide)
    words = page.get_by_role("option", name="chat", exact=True)
    words.nth(1).click()
    assert "Choose a word" in said(page, 0)
    assert "“chat”" in said(page, 1)
    sliders = page.get_by_label("sharpness")
    sliders.nth(0).fill("0")
    assert "Sharpness 0:" in said(page, 2)
    assert "Sharpness 1:" in said(page, 3)
    assert violations(page) == []


def test_it_starts_when_put_into_a_page_as_jupyterlab_does(card, opened):
    page = opened()
    page.evaluate(
        """html => {
        const output = document.createElement("div");
        output.innerHTML = html;   // scripts put in this way do not run, so each is replaced by a copy
        for (const script of output.querySelectorAll("script")) {
            const copy = document.createElement("script");
            for (const { name, value } of script.attributes) copy.setAttribute(name, value);
            copy.textContent = script.textContent;
            script.replaceWith(copy);
        }
        document.querySelector("main").append(output);
    }""",
        card.html,
    )
    word(page, "chat").hover()
    assert "“chat”" in said(page)
    keys = page.locator("button, input, summary, [tabindex]").all()
    assert {one.get_attribute("data-lm-suppress-shortcuts") for one in keys if one.is_visible()} == {"true"}


def test_nothing_moves_for_those_who_want_it_still(card, opened):
    page = opened(card)
    lasts = "e => getComputedStyle(e).transitionDuration"
    line = page.locator(".attnlib-links path").first
    assert line.evaluate(lasts) == "0.15s"
    page.emulate_media(reduced_motion="reduce")
    assert line.evaluate(lasts) == "0s"


# --- Bad input ---


def local(**changes) -> figures.Local:
    """Make a `Local` and change it behind the back of those who check what it is made from."""
    made = figures.Local(GLOBAL, P, 2)
    for name, value in changes.items():
        object.__setattr__(made, name, value)
    return made


ONE, FLAT, AB = {"a": GLOBAL}, np.full((60, 60), 1 / 60), ["a", "b"]


@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        (lambda: explore(GLOBAL, SOURCE, TARGET), TypeError, "weights is a ndarray; expected for each title"),
        (lambda: explore({}, SOURCE, TARGET), ValueError, "weights is empty"),
        (lambda: explore({1: GLOBAL}, SOURCE, TARGET), TypeError, "weights has the title 1"),
        (lambda: explore(ONE, "the cat", TARGET), TypeError, "source is 'the cat'; expected a sequence"),
        (lambda: explore(ONE, [], TARGET), ValueError, "source is empty"),
        (lambda: explore(ONE, [*SOURCE[:-1], 3], TARGET), TypeError, r"source\[6\] is 3"),
        (lambda: explore(ONE, SOURCE, {"b": TARGET}), ValueError, "target has no words for 'a'"),
        (lambda: explore(ONE, SOURCE, {"a": []}), ValueError, r"target\['a'\] is empty"),
        (
            lambda: explore(ONE, SOURCE, TARGET[:3]),
            ValueError,
            r"has shape \(7, 7\); expected \(3, 7\)",
        ),
        (lambda: explore({"a": -GLOBAL}, SOURCE, TARGET), ValueError, r"weights\['a'\] holds -.*from 0 to 1"),
        (lambda: explore({"a": GLOBAL * np.nan}, SOURCE, TARGET), ValueError, r"weights\['a'\] holds nan"),
        (lambda: explore({"a": []}, SOURCE, TARGET), ValueError, r"weights\['a'\] has the half-widths \[\]"),
        (lambda: explore({"a": [near(2), near(2)]}, SOURCE, TARGET), ValueError, r"half-widths \[2, 2\].*each once"),
        (
            lambda: explore({"a": local(half_width=2.0)}, SOURCE, TARGET),
            TypeError,
            r"half_width 2\.0; expected",
        ),
        (lambda: explore({"a": local(half_width=True)}, SOURCE, TARGET), TypeError, "half_width True"),
        (lambda: explore({"a": local(half_width=0)}, SOURCE, TARGET), ValueError, "half_width 0; expected at least 1"),
        (lambda: explore({"a": local(centres=P[:3])}, SOURCE, TARGET), ValueError, "expected 7 finite numbers"),
        (lambda: explore({"a": local(centres=P * np.inf)}, SOURCE, TARGET), ValueError, "expected 7 finite numbers"),
        (
            lambda: explore({"a": FLAT}, ["word"] * 60, ["mot"] * 60),
            ValueError,
            "show fewer words",
        ),
        (lambda: sharpen([1, 2], [1, 2], []), ValueError, "words is empty"),
        (lambda: sharpen([1], [1, 2], AB), ValueError, r"scores has shape \(1,\); expected \(2,\)"),
        (lambda: sharpen([1, 2], [1, np.inf], AB), ValueError, r"values has shape \(2,\)"),
        (lambda: sharpen([1, 2], [1, 2], AB, sharpness=[1]), ValueError, r"sharpness is \[1\]"),
        (lambda: sharpen([1, 2], [1, 2], AB, sharpness=[1, 1]), ValueError, "two rising numbers"),
        (lambda: sharpen([1, 2], [1, 2], AB, sharpness=[-1, 1]), ValueError, "from 0 or above"),
    ],
)
def test_bad_input_is_named(wrong, error, message):
    with pytest.raises(error, match=message):
        wrong()
