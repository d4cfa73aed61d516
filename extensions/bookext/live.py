"""Live cards in pages: the weights of each model are a file of their own, read when a reader comes near.

What a cell shows carries its weights, and what a notebook stores has neither weights nor script. In a page both become
the same: a card with its script, and the weights apart.
"""

import json
import re
from contextlib import suppress
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

from attnlib import pretrained
from attnlib.pictures.live_card import digest, script, style
from attnlib.pictures.packing import pack

CARD = re.compile(
    r'(?P<html><div class="attnlib-card attnlib-live\b.*?<script type="application/json">(?P<data>.*?)</script></div>)'
    r"\n<!-- carried -->.*?<!-- /carried -->",
    re.DOTALL,
)


@cache
def packed() -> dict[str, str]:
    """Pack those models that came with the package and that the script can compute, by digest."""
    models = {}
    for name in pretrained.names():
        with suppress(ValueError):
            model = pack(pretrained.load(name).translator)
            models[digest(model)] = json.dumps(model)
    return models


def place(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: object) -> None:
    """Take out what the cards of a page carry, put their scripts in, and write the weights apart.

    The script stands beside its card, since the page would jump if it came later.
    """
    scripts = count()

    def placed(card: re.Match) -> str:
        for model in json.loads(card["data"])["models"]:
            write(Path(app.outdir, "_static", "models"), model["digest"], page)
        first = f"\n<style>\n{style()}</style>\n<script>\n{script()}</script>\n"
        return card["html"] + ("\n<script>attnlibLive()</script>\n" if next(scripts) else first)

    if "body" in context:
        context["body"] = CARD.sub(placed, context["body"])


def write(folder: Path, name: str, page: str) -> None:
    """Write a model where the script looks for it."""
    if name not in packed():
        raise ExtensionError(f"{page}: a live card shows a model that is none of the pretrained ones")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.js").write_text(f"(window.attnlibPacked ??= {{}})['{name}'] = {packed()[name]};\n", "utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    """Tell Sphinx."""
    app.connect("html-page-context", place)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
