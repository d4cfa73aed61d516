"""What a reader finds in the built pages, looked at in a real browser, Debian's Chromium.

Each check is a function from a visit to its complaints.
The chapters' stored outputs are used as they are, since nbval shows that running them gives these; the other pages run.
"""

import gzip
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urljoin, urlsplit

import nbformat
import pytest
import yaml
from axe_playwright_python.sync_playwright import Axe
from lxml import html
from playwright.sync_api import BrowserContext, Locator, Page, expect

from attnbook.cards.card import read_assets

WIDE, NARROW = {"width": 1280, "height": 900}, {"width": 390, "height": 844}


# --- The book, a server and a browser ---


@pytest.fixture(scope="session")
def built(root, tmp_path_factory) -> Path:
    """Build the book once, as `make book` does, but with the chapters' stored outputs."""
    folder, config = tmp_path_factory.mktemp("book"), yaml.safe_load((root / "_config.yml").read_text())
    settings = folder / "_config.yml"
    stored = {"execute": config["execute"] | {"exclude_patterns": ["*.ipynb"]}}
    folders = {name: str(root / path) for name, path in config["sphinx"]["local_extensions"].items()}
    settings.write_text(yaml.safe_dump(config | stored | {"sphinx": config["sphinx"] | {"local_extensions": folders}}))
    tool = Path(sys.executable).with_name("jupyter-book")
    command = [tool, "build", root, "--path-output", folder, "--config", settings, "-W", "-n", "--keep-going"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    return folder / "_build" / "html"


class Quiet(SimpleHTTPRequestHandler):
    """Serve files, and keep no log."""

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def prefix(root: Path) -> str:
    return yaml.safe_load((root / "_config.yml").read_text())["sphinx"]["config"]["notfound_urls_prefix"]


@pytest.fixture(scope="session")
def site(tmp_path_factory, built, root) -> Path:
    """Put the book under the prefix that it has when published, which the page for missing pages counts on."""
    site = tmp_path_factory.mktemp("site")
    folder = site / prefix(root).strip("/")
    folder.mkdir(exist_ok=True)
    for part in built.iterdir():
        (folder / part.name).symlink_to(part)
    return site


@pytest.fixture(scope="session")
def address(site, root) -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=site)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}{prefix(root)}"
        server.shutdown()


@pytest.fixture(scope="session")
def contexts(browser) -> dict[str, BrowserContext]:
    """Two readers: one new, with a light system, and one who once chose the dark theme."""
    light, dark = (browser.new_context(viewport=WIDE, color_scheme="light") for _ in range(2))
    dark.add_init_script("localStorage.setItem('mode', 'dark'); localStorage.setItem('theme', 'dark')")
    return {"light": light, "dark": dark}


class Visit(NamedTuple):
    """A page that has been opened, what it asked for, and what it complained of while it loaded."""

    page: Page
    requests: list[str]
    errors: list[str]


@pytest.fixture
def visit(contexts) -> Iterator[Callable[..., Visit]]:
    """Return a function that opens a page for a reader, and close the pages."""
    pages = []

    def open_page(url: str, reader: str = "light") -> Visit:
        pages.append(page := contexts[reader].new_page())
        requests, errors = [], []
        page.on("request", lambda request: requests.append(request.url))
        page.on("console", lambda entry: errors.append(entry.text) if entry.type in {"error", "warning"} else None)
        page.on("pageerror", lambda error: errors.append(error.message))
        page.goto(url, wait_until="load")
        return Visit(page, requests, errors)

    yield open_page
    for page in pages:
        page.close()


# --- The checks in the browser ---

Check = Callable[[Visit], list[str]]


def asks_no_other_host(visit: Visit) -> list[str]:
    here = "{0.scheme}://{0.netloc}/".format(urlsplit(visit.page.url))
    return [f"asks for {url}" for url in visit.requests if not url.startswith((here, "data:", "blob:"))]


def logs_no_errors(visit: Visit) -> list[str]:
    return [f"logs {error}" for error in visit.errors]


def typesets_mathematics(visit: Visit) -> list[str]:
    return visit.page.evaluate(r"""() => {
        const complaints = [...document.querySelectorAll(".math")]
            .filter(math => !math.querySelector("math annotation"))
            .map(math => "left as it was written: " + math.textContent);
        const prose = document.querySelector("article, main").cloneNode(true);
        prose.querySelectorAll("pre, code, script, style, .math, math").forEach(node => node.remove());
        for (const mark of prose.textContent.match(/.{0,20}(\$|\\[([]|\\[a-zA-Z]{2,}).{0,20}/g) || [])
            complaints.push("mathematics in the text: " + mark);
        return complaints;
    }""")


def is_accessible(visit: Visit, within: str | None = None, **options: object) -> list[str]:
    """Ask axe about a page, or what a selector finds in it.

    Of colored words of code it is shown each kind once, of a table three rows: a third of the time.
    """
    visit.page.evaluate("""() => {
        document.querySelectorAll("article tbody tr:nth-child(n + 4)").forEach(row => row.remove());
        const seen = new Set();
        for (const token of document.querySelectorAll(".highlight span[class]")) {
            const kind = token.className + token.closest("[class*=cell_]")?.className;
            seen.has(kind) ? token.replaceWith(token.textContent) : seen.add(kind);
        }
    }""")
    wanted = {"resultTypes": ["violations"], "preload": False, **options}
    violations = Axe().run(visit.page, within, wanted).response["violations"]
    return [f"{violation['id']}: {node['html'][:200]}" for violation in violations for node in violation["nodes"]]


def has_contrast_in_the_dark(visit: Visit) -> list[str]:
    visit.page.add_style_tag(content="* { transition: none !important }")
    visit.page.evaluate("() => document.documentElement.dataset.theme = 'dark'")
    return is_accessible(visit, runOnly=["color-contrast"])


def fits_a_telephone(visit: Visit) -> list[str]:
    """Find what scrolls the page sideways, or is cut off instead of scrolling, or is shrunk until it is lost."""
    visit.page.set_viewport_size(NARROW)
    complaints = visit.page.evaluate(r"""async () => {
        const pictures = [...document.querySelectorAll("article img")];
        await Promise.allSettled(pictures.map(image => (image.loading = "eager", image.decode())));
        for (let frame = 0; frame < 2; frame++) await new Promise(requestAnimationFrame);
        const page = document.documentElement, edge = page.clientWidth;
        const scrolls = element => element && element !== page && element !== document.body
            && (/auto|scroll/.test(getComputedStyle(element).overflowX) || scrolls(element.parentElement));
        const beyond = element => element.getBoundingClientRect().right > edge + 1
            && element.checkVisibility() && !scrolls(element);
        const name = what => element => `${what}: ${element.outerHTML.slice(0, 100)}`;
        const small = image => image.getBoundingClientRect().width < 0.48 * image.naturalWidth;
        const cut = [...document.querySelectorAll(".at-equation")].filter(x => x.scrollWidth > x.clientWidth);
        return [
            ...[...document.querySelectorAll("article *")].filter(beyond).map(name("beyond the edge")),
            ...pictures.filter(small).map(name("letters are lost")),
            ...cut.map(name("an equation of a card is cut off")),
            ...(page.scrollWidth > edge ? [`the page is ${page.scrollWidth} wide, the screen ${edge}`] : []),
        ];
    }""")
    visit.page.set_viewport_size(WIDE)
    return complaints


def shows_equations_whole(visit: Visit) -> list[str]:
    """Find equations, those of cards among them, that a reader has to scroll even on a wide screen."""
    return visit.page.evaluate(r"""() => [...document.querySelectorAll("div.math > span, .at-equation")]
        .filter(math => math.scrollWidth > math.clientWidth)
        .map(math => `${math.scrollWidth - math.clientWidth} pixels too wide: ` + math.textContent.trim().slice(0, 80))
    """)


def shows_equation_numbers(visit: Visit) -> list[str]:
    """Find numbers of equations that are outside of the column."""
    return visit.page.evaluate("""() => [...document.querySelectorAll(".eqno")].filter(number => {
        const {left, right, width} = number.getBoundingClientRect(), column = document.querySelector("article");
        return left < 0 || right > column.getBoundingClientRect().right + 1 || width === 0;
    }).map(number => number.textContent)""")


def draws_its_icons(visit: Visit) -> list[str]:
    """Find icons that the style sheet has no letter for, now that the theme's script for them is gone."""
    return visit.page.evaluate("""() => [...document.querySelectorAll("[class*='fa-']")]
        .filter(icon => getComputedStyle(icon, "::before").content === "none")
        .map(icon => "nothing draws the icon " + icon.className)
    """)


CHECKS = [
    asks_no_other_host,
    logs_no_errors,
    typesets_mathematics,
    shows_equations_whole,
    shows_equation_numbers,
    draws_its_icons,
    fits_a_telephone,
]
SLOW = [is_accessible, has_contrast_in_the_dark]  # the last, since it leaves the page dark


# --- The checks of what is written, without a browser ---


@cache
def parsed(path: Path) -> html.HtmlElement:
    return html.fromstring(path.read_bytes())


@cache
def names(path: Path) -> set[str]:
    return {*parsed(path).xpath("//@id"), *parsed(path).xpath("//@name")}


def dead_links(path: Path, base: str, site: Path) -> list[str]:
    """Find what a page that is read at the address `base` refers to and what is not on the site."""
    complaints = []
    for link in parsed(path).xpath("//@href | //@src"):
        url = urlsplit(urljoin(f"http://here{base}", link))
        if url.scheme not in {"http", "https"} or url.netloc != "here" or link in {"", "#"}:
            continue
        target = path if link.startswith("#") else site / unquote(url.path).lstrip("/")
        target = target / "index.html" if target.is_dir() else target
        if not target.is_file():
            complaints.append(f"{link}: no such file")
        elif url.fragment and target.suffix == ".html" and unquote(url.fragment) not in names(target):
            complaints.append(f"{link}: no such place in it")
    return complaints


# --- Every page passes every check ---


def complaints(seen: Visit, checks: Sequence[Check]) -> dict[str, list[str]]:
    """Gather what the checks complain of, by check."""
    by_check = {check.__name__: check(seen) for check in checks}
    return {name: lines for name, lines in by_check.items() if lines}


OF_EVERY_KIND = {"src/attnlib/windows", "src/attnbook/cards/plane"}  # they have the parts that all modules have


def test_page(page_name, visit, address):
    quick = page_name.startswith("src/") and page_name not in OF_EVERY_KIND
    assert complaints(visit(f"{address}{page_name}.html"), CHECKS if quick else [*CHECKS, *SLOW]) == {}


@pytest.mark.parametrize("name", ["404", "search", "_modules/index", "_modules/attnlib/windows"])
def test_page_beside_those_of_the_contents(name, visit, address):
    assert complaints(visit(f"{address}{name}.html"), [*CHECKS, *SLOW]) == {}


def test_links_lead_somewhere(built, address, site):
    prefix = urlsplit(address).path
    dead = {
        str(path.relative_to(built)): dead_links(path, f"{prefix}{path.relative_to(built).as_posix()}", site)
        for path in built.rglob("*.html")
        if "_static" not in path.parts
    }
    # it is shown wherever a page is missing
    dead["404.html"] = dead_links(built / "404.html", f"{prefix}no/such/page.html", site)
    assert len(dead) > 5
    assert {name: complaints for name, complaints in dead.items() if complaints} == {}


def test_a_chapter_waits_for_pictures_and_scripts_and_speaks_to_screen_readers(built):
    page = parsed(built / "notebooks/04-comparison.html")
    pictures = page.xpath("//article//img")
    assert {(picture.get("loading"), picture.get("width") is None) for picture in pictures} == {("lazy", False)}
    assert page.xpath("//thead/tr/th[not(normalize-space())]") == [], "a corner is no heading"
    assert page.xpath("//th[@scope='row'][@class='long']"), "a long name may ask for room"
    assert {door.text for door in page.xpath("//details[summary='Answer']/details/summary")} == {"Show the code"}
    assert len(page.xpath("//link[@rel='stylesheet']")) == 1
    (first,) = page.xpath("//script[@src][not(@defer)]/@src")
    assert "documentation_options.js" in first
    assert "thebe" not in " ".join(page.xpath("//script/@src | //link/@href | //script/text()")).lower()


def test_a_page_has_each_script_of_its_cards_once_and_weights_apart(built):
    page = (built / "book/attention-in-fifteen-minutes.html").read_text("utf-8")
    assert [page.count(read_assets([name], "js")) for name in ("cards", "demo", "models", "plane")] == [1] * 4
    assert 'json" data-model=' not in page


def test_names_on_a_page_of_the_package_lead_to_what_they_name(built):
    page, links = parsed(built / "src/attnlib/alignment.html"), {}
    for code in page.xpath("//section//code[not(ancestor::dt)]"):
        links[code.text_content()] = code.getparent().get("href")
    assert links["attnlib.scores.Location"] == "scores.html#attnlib.scores.Location"
    assert links["window"] is None, "a parameter is no link"
    (forward,) = page.xpath("//dt[@id='attnlib.alignment.AttentionLayer.forward']")
    assert "memory: Memory, steps: Int[Tensor, 'tgt']) → AttentionOutput" in forward.text_content()
    assert "mechanism.html#attnlib.mechanism.AttentionOutput" in forward.xpath(".//a/@href")


def test_head(page_name, built):
    wanted = {
        "favicon": "//link[@rel='icon']",
        "logo": "//img[contains(@class, 'logo__image')]",
        "preview": "//meta[@property='og:image'][@content!='']",
        "its description": "//meta[@property='og:image:alt'][string-length(@content) > 20]",
        "summary": "//meta[@property='og:description'][@content!='']",
    }
    page = parsed(built / f"{page_name}.html")
    assert [what for what, where in wanted.items() if not page.xpath(where)] == []


@pytest.mark.parametrize(("asked", "chapter"), [("local-p", "03"), ("input feeding", "03"), ("maxout", "02")])
def test_search_finds(asked, chapter, visit, address):
    seen = visit(f"{address}search.html?q={asked}")
    expect(seen.page.locator(".search-summary")).to_have_text(re.compile("found|did not match"), timeout=30_000)
    links = seen.page.locator("ul.search li a").evaluate_all("links => links.map(link => link.href)")
    assert any(f"/notebooks/{chapter}-" in link for link in links[:5]), links


def test_print(visit, address):
    """Paper shows the text alone, in dark letters, with its code whole."""
    seen = visit(f"{address}notebooks/01-attention-from-scratch.html", "dark")
    seen.page.emulate_media(media="print")
    theme = "() => document.documentElement.dataset.theme"
    seen.page.evaluate("() => dispatchEvent(new Event('beforeprint'))")
    assert seen.page.evaluate(theme) == "light"
    for beside in [".bd-sidebar-primary", ".bd-sidebar-secondary", ".bd-header-article", ".prev-next-footer"]:
        assert not any(part.is_visible() for part in seen.page.locator(beside).all()), beside
    cut = "() => [...document.querySelectorAll('article pre')].filter(x => x.scrollWidth > x.clientWidth).length"
    assert seen.page.evaluate(cut) == 0
    seen.page.evaluate("() => dispatchEvent(new Event('afterprint'))")
    assert seen.page.evaluate(theme) == "dark"


def test_a_chapter_is_light(visit, address, built):
    """The parts that are text travel compressed, and weigh little beside what the theme brings by itself: 0.9 MB."""
    seen = visit(f"{address}notebooks/01-attention-from-scratch.html")
    asked = {urlsplit(url).path.removeprefix(urlsplit(address).path) for url in seen.requests}
    texts = [built / name for name in asked if name.endswith((".html", ".js", ".css"))]
    weights = {path.name: len(gzip.compress(path.read_bytes())) for path in texts}
    assert sum(weights.values()) < 400_000, weights


CARD = ".letter-card"


def test_a_letter_that_is_pointed_at_explains_itself(visit, address):
    """It is lit in equations and code, one at a time; what was clicked stays until Escape."""
    page = visit(f"{address}notebooks/01-attention-from-scratch.html").page
    card, lit = page.locator(CARD), "() => [...document.querySelectorAll('.lit')].map(part => part.textContent)"
    page.locator("div.math [data-letter=context]").first.hover()
    expect(card).to_contain_text("weighted average")
    expect(card).to_contain_text("Bahdanau")
    assert {"ct", "contexts"} <= {*page.evaluate(lit)} <= {"ct", "c", "c1", "context", "contexts"}
    page.mouse.move(0, 0)
    expect(card).to_be_empty()
    page.locator("div.math [data-letter=weight]").first.click()
    page.mouse.move(0, 0)
    expect(card).to_contain_text("weight")
    assert {*page.evaluate(lit)} <= {"αt,i", "αi", "αj", "weights", "alpha"}
    assert is_accessible(Visit(page, [], []), f"{CARD}, .lit") == []
    page.keyboard.press("Escape")
    expect(card).to_be_empty()
    assert page.evaluate(lit) == []


def test_a_name_in_code_and_the_number_of_an_equation_explain_themselves(visit, address):
    page = visit(f"{address}notebooks/01-attention-from-scratch.html").page
    page.locator("pre [data-letter=weight]:visible").first.click()
    expect(page.locator(CARD)).to_contain_text("share of source word")
    page.locator("a.eqno", has_text="(1.3)").click()
    expect(page.locator(CARD).get_by_role("link", name="mechanism.attend")).to_be_visible()
    assert page.url.endswith("scratch.html")
    expect(page.locator("p a[href='#equation-1.3']").first).to_have_text("(1.3)")


@pytest.mark.parametrize("scripts", [True, False])
def test_letters_are_reached_by_key_and_without_scripts(scripts, browser, address):
    context = browser.new_context(viewport=NARROW, java_script_enabled=scripts)
    page = context.new_page()
    page.goto(f"{address}notebooks/02-bahdanau-encoder-decoder.html")
    page.get_by_role("button", name="Letters").press("Enter")
    letter = page.locator("#letters summary", has_text="decoder state")
    letter.press("Enter")
    expect(page.locator("#letters").get_by_text("what the decoder knows")).to_be_visible()
    if scripts:
        assert page.locator("math .lit").count() > 10
        assert is_accessible(Visit(page, [], []), "#letters, .lit") == []
    page.keyboard.press("Escape")
    expect(letter).not_to_be_visible()
    assert page.locator(".lit").count() == 0
    context.close()


def test_the_first_page_is_watched_at_once(visit, address):
    """On a telephone picture and caption are in sight; the card waits with its weights for a touch, and then writes."""
    seen = visit(f"{address}book/index.html")
    seen.page.set_viewport_size(NARROW)
    words = seen.page.get_by_role("option")
    expect(words.nth(9)).to_be_visible(timeout=30_000)
    for inside in (".at-scene", ".at-said"):
        box = seen.page.locator(inside).bounding_box()
        assert 0 < box["y"] < box["y"] + box["height"] < NARROW["height"]
    assert not [url for url in seen.requests if "_static/models/" in url]
    words.nth(6).press("Enter")
    for _ in range(4):  # from in to black
        words.nth(6).press("ArrowRight")
    expect(words.locator("b")).to_have_text(
        ["le", "chat", "noir", "voit", "le", "chien", "noir", "dans", "le", "jardin …"]
    )
    assert len([url for url in seen.requests if "_static/models/" in url]) == 1


def draw_three(card: Locator) -> None:
    status = card.locator("[role=status].at-aloud")
    for _ in range(3):
        before = status.inner_text()
        card.get_by_role("button", name="New sentence").click()
        expect(status).not_to_have_text(before)
        expect(status).to_contain_text("without attention: ")


def look_at_old(card: Locator) -> None:
    card.get_by_role("slider", name="old").press("End")
    expect(card.get_by_role("listbox", name="French words")).to_contain_text("petitevieillevoiturerouge")


def pull_the_query(card: Locator) -> None:
    for _ in range(26):
        card.get_by_role("slider", name="query").press("+")


def choose_each_head(card: Locator) -> None:
    for n in range(4, 0, -1):
        card.get_by_role("radio", name=f"head {n}").check(force=True)


def test_each_picture_of_the_fifteen_minutes_can_be_answered(visit, address):
    """All wait with their weights for a touch, and those of one model are read once."""
    seen = visit(f"{address}book/attention-in-fifteen-minutes.html")
    cards = seen.page.locator(".attnlib-card")
    acts = [draw_three, look_at_old, pull_the_query, choose_each_head]
    expect(cards).to_have_count(len(acts))
    assert not [url for url in seen.requests if "_static/models/" in url]
    for card, act in zip(cards.all(), acts, strict=True):
        expect(card.locator("details")).not_to_have_attribute("open", "")
        card.locator(".at-ask label").first.click()
        act(card)
        expect(card.locator(".at-came")).to_have_count(1)
        expect(card.locator("details")).to_have_attribute("open", "")
    assert len([url for url in seen.requests if "_static/models/" in url]) == 2
    assert is_accessible(seen, ".attnlib-card") == []


def test_the_first_page_gives_the_times_of_the_chapters(notebook_path, root):
    """Those that each chapter gives at its top, in the same words, and the sum of its exercises."""
    cells = nbformat.read(notebook_path, as_version=4).cells
    top = " ".join(cells[0].source.split())
    times = r"Reading takes (?:about )?(\w+ \w+).*?[Rr]unning all cells (?:takes )?(?:about |less than )?(\w+ \w+)"
    minutes = [
        int(n) for cell in cells for n in re.findall(r"^### Exercise .+\((\d+) minutes\)", cell.source, re.MULTILINE)
    ]
    lines = (root / "book" / "index.md").read_text("utf-8").splitlines()
    (row,) = (line for line in lines if line.startswith("|") and notebook_path.name in line)
    expected = [*re.search(times, top).groups(), *([f"{sum(minutes)} minutes"] if minutes else [])]
    assert [cell.strip() for cell in row.split("|")[2:-1]] == expected


def test_the_evidence_lists_what_was_executed(built):
    """Here that is the pages in Markdown that have code; the notebooks show what they store."""
    rows = parsed(built / "book" / "evidence.html").xpath("//table//tbody/tr")
    pages = ["attention-in-fifteen-minutes.html", "index.html", "your-own-text.html"]
    assert sorted(link for row in rows for link in row.xpath(".//a/@href")) == pages
    assert all(float(row.xpath("./td[4]")[0].text_content()) > 0 for row in rows)
