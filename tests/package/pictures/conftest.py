"""A browser for the figures that a reader can touch, and no window for the others."""

from collections.abc import Callable, Iterator

import matplotlib.pyplot as plt
import pytest
from playwright.sync_api import Page

from attnlib.pictures.cards import Card

PAGE = """<!DOCTYPE html><html lang="en"><head><title>Made up</title><meta name="viewport" content="width=device-width">
{head}</head><body class="jp-RenderedHTMLCommon bd-article"><main><h1>Made up</h1>{cards}</main></body></html>"""


plt.switch_backend("Agg")


@pytest.fixture(autouse=True)
def _settings_stay_and_figures_are_closed() -> Iterator[None]:
    before = dict(plt.rcParams)
    yield
    plt.close("all")
    assert dict(plt.rcParams) == before


@pytest.fixture
def opened(browser) -> Iterator[Callable[..., Page]]:
    """Return a function that opens cards in a page that may ask for nothing and must not complain."""
    contexts, unwanted = [], []

    def open_page(*cards: Card, head: str = "", wide: int = 1280, script: bool = True) -> Page:
        context = browser.new_context(viewport={"width": wide, "height": 800}, java_script_enabled=script)
        contexts.append(context)
        context.route("**", lambda route: (unwanted.append(route.request.url), route.abort()))
        page = context.new_page()
        page.on("pageerror", lambda error: unwanted.append(error.message))
        page.on("console", lambda said: unwanted.append(said.text))
        page.set_content(PAGE.format(head=head, cards="".join(card._repr_html_() for card in cards)))
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert unwanted == []
