"""Take the pictures of the README and of the social card: a model that learns where to look, from station to station.

Run as ``python tools/pictures.py``, with Chromium installed.
"""

import shutil
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from attnbook import load_pretrained
from attnbook.cards import learning_film
from attnbook.experiments import read_learning

STATIC = Path(__file__).parents[1] / "book" / "_static"
ACROSS, GAP = 3, 16  # pictures side by side, and the pixels between them
PAGE = """<!doctype html><meta charset="utf-8"><style>body {{ margin: 0; width: 700px; background: #0a101c }}
h1 {{ margin: 22px 0 12px 20px; font: 400 32px/40px system-ui; color: #f2eee2 }}
div.attnlib-card.attnlib-card {{ border: 0; background: none }}</style>
<h1>Attention Before Transformers</h1>{card}"""


def stations(page: Page, number: int) -> list[Image.Image]:
    """Return a picture of each station of the training, from the first."""
    back, on = (page.get_by_role("button", name=f"one station {way}") for way in ("back", "on"))
    for _ in range(number):
        back.click()
    taken = []
    for _ in range(number):
        taken.append(page.locator(".at-night").screenshot())
        on.click()
    return [Image.open(BytesIO(png)).reduce(2) for png in taken]


def film(pictures: list[Image.Image]) -> Image.Image:
    """Put pictures of one size in rows."""
    wide, high = (size + GAP for size in pictures[0].size)
    whole = Image.new("RGB", (ACROSS * wide - GAP, -(-len(pictures) // ACROSS) * high - GAP), "white")
    for n, picture in enumerate(pictures):
        whole.paste(picture, (n % ACROSS * wide, n // ACROSS * high))
    return whole


if __name__ == "__main__":
    learned = read_learning("bahdanau")
    card = learning_film(load_pretrained("bahdanau"), learned)
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(
            viewport={"width": 700, "height": 367}, device_scale_factor=1200 / 700, reduced_motion="reduce"
        )
        page.set_content(PAGE.format(card=card.html))
        page.get_by_role("option").last.wait_for()
        Image.open(BytesIO(page.screenshot())).convert("RGB").save(STATIC / "social.jpg", quality=85)
        film(stations(page, len(learned["stations"]))).save(STATIC / "searchlights.jpg", quality=82)
        browser.close()
