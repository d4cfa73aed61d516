"""Cards in pages: scripts once a page, and the weights of each model in a file of their own, read when needed.

What a cell shows carries script, style and weights, and what a notebook stores has none of them. In a page both become
the same: a card with its script, and the weights apart.
"""

import json
import re
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

from attnbook import load_pretrained, pretrained
from attnbook.cards.card import files, model_digest, read_assets
from attnbook.cards.packing import pack_models

# of a finished page: test_a_stored_and_a_computed_card_become_the_same
CARD = re.compile(
    r'(?P<html><div class="attnlib-card attnlib-(?P<kind>\w+)'
    r'.*?<script type="application/json">(?P<data>.*?)</script></div>)\n<!-- carried -->.*?<!-- /carried -->',
    re.DOTALL,
)


@cache
def packed() -> dict[str, str]:
    """Pack those models that came with the package and that the script can compute, by digest."""
    models = {}
    for name in pretrained.names():
        with suppress(ValueError):
            (model,) = pack_models({name: load_pretrained(name)})
            models[model_digest(model)] = json.dumps(model)
    return models


def place(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: object) -> None:
    """Move scripts and weights of a page's cards to where they are loaded once.

    The style is before the first card that needs it, the script behind it: loaded later, they would shift the page.
    """
    there: set[str] = set()

    def placed(card: re.Match) -> str:
        digests = [model["digest"] for model in json.loads(card["data"]).get("models", []) if "digest" in model]
        for one in digests:
            write(Path(app.outdir, "_static", "models"), one, page)
        names = [name for name in files(card["kind"], bool(digests)) if name not in there]
        there.update(names)
        style = f"<style>\n{read_assets(names, 'css')}</style>\n" if names else ""
        return f"{style}{card['html']}\n<script>\n{read_assets(names, 'js')}attnlibCards.scan()</script>\n"

    if "body" in context:
        context["body"] = CARD.sub(placed, context["body"])


def write(folder: Path, name: str, page: str) -> None:
    """Write a model where the script looks for it."""
    if name not in packed():
        raise ExtensionError(f"{page}: a card shows a model that is none of the pretrained ones")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.js").write_text(f"(window.attnlibPacked ??= {{}})['{name}'] = {packed()[name]};\n", "utf-8")


def setup(app: Sphinx) -> None:
    """Register the extension."""
    app.connect("html-page-context", place)
