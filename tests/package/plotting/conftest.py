"""A browser for the figures that a reader can touch, and no window for the others."""

from collections.abc import Callable, Iterator

import matplotlib.pyplot as plt
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from attnbook.language.sentences import vocabularies
from attnlib.presets import luong, rnn_encdec
from attnlib.seq2seq import EncoderDecoder
from attnlib.transformer import transformer

PAGE = """<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Made up</title>
<meta name="viewport" content="width=device-width">{head}</head>
<body class="jp-RenderedHTMLCommon bd-article"><main><h1>Made up</h1>{cards}</main></body></html>"""
HOSTILE = """<style>body { background: #121212; color: #ddd }
button, summary, input, select, label, p, b { color: #eee } svg text, svg rect { fill: #ddd }
.jp-RenderedHTMLCommon tbody tr:nth-child(odd) { background: #333 } td, th { color: #ddd; text-align: left }
.bd-article table { display: block; max-width: 100%; overflow-x: auto }</style>"""
PUT_IN = """html => {
    const output = document.createElement("div");
    output.innerHTML = html;   // scripts put in this way do not run, so each is replaced by a copy
    document.querySelector("main").append(output);
    for (const script of output.querySelectorAll("script")) {
        const copy = document.createElement("script");
        for (const { name, value } of script.attributes) copy.setAttribute(name, value);
        copy.textContent = script.textContent;
        script.replaceWith(copy);
    }
}"""

plt.switch_backend("Agg")


def three_models() -> dict[str, EncoderDecoder]:
    """Build small models of the grammar to compare."""
    known, sizes = vocabularies(), {"embedding_dim": 6, "hidden_size": 8}
    heads = transformer(*known, d_model=8, dim_feedforward=8, num_heads=2)
    models = {"none": rnn_encdec(*known, **sizes), "global": luong(*known, **sizes), "heads": heads}
    return {title: model.double() for title, model in models.items()}


@pytest.fixture(autouse=True)
def _settings_stay_and_figures_are_closed() -> Iterator[None]:
    before = dict(plt.rcParams)
    yield
    plt.close("all")
    assert dict(plt.rcParams) == before


@pytest.fixture
def opened(browser, older, tmp_path) -> Iterator[Callable[..., Page]]:
    """Return a function that opens cards in a page, or a whole page, which may ask for nothing and must not complain.

    The page may have the style of a hostile theme, and the browser may be as old as the oldest supported. What comes
    later is put in as JupyterLab puts outputs in.
    """
    contexts, unwanted, file = [], [], tmp_path / "page.html"

    def open_page(*cards, hostile=False, old=False, wide=1280, script=True, later=False, **reader) -> Page:
        settings = {"viewport": {"width": wide, "height": 800}, "color_scheme": "light"} | reader
        contexts.append(browser.new_context(java_script_enabled=script, **settings))
        page = contexts[-1].new_page()
        page.on("request", lambda request: request.url == file.as_uri() or unwanted.append(request.url))
        page.on("pageerror", lambda error: unwanted.append(error.message))
        page.on("console", lambda message: unwanted.append(message.text))
        html = "".join(card if isinstance(card, str) else card.html for card in cards)
        if old:
            page.add_init_script(older[0])
            html = older[1](html)
        document = PAGE.format(head=HOSTILE * hostile, cards="" if later else html)
        file.write_text(html if html.startswith("<!doctype") else document, "utf-8")
        page.goto(file.as_uri())
        if later:
            page.evaluate(PUT_IN, html)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert unwanted == []


@pytest.fixture
def page(card, opened) -> Page:
    """Open the card of the module in a page."""
    return opened(card)


@pytest.fixture(scope="session")
def accessible() -> Callable[[Page], None]:
    """Check that axe finds nothing in a page, and that it is not wider than its screen."""

    def check(page: Page) -> None:
        violations = Axe().run(page).response["violations"]
        assert [f"{one['id']}: {node['html'][:150]}" for one in violations for node in one["nodes"]] == []
        assert page.evaluate("document.documentElement.scrollWidth") <= page.viewport_size["width"]

    return check
