"""The last hand on the pages: each repair does what it says to a page with the fault, and nothing to one without."""

import re
import struct
from pathlib import Path

import pydata_sphinx_theme
import pytest

from bookext.finish import description, drawings, icons, inches, once, pictures, scripts, sheet, size, structure, styles

STATIC = Path(pydata_sphinx_theme.__file__).parent / "theme" / "pydata_sphinx_theme" / "static"
HARMLESS = """<html><head><meta name="viewport" content="x"><title>T</title><meta name="description" content="d"></head>
<body><dl><dt>a</dt><dd>b</dd></dl><p>c</p></body></html>"""


def test_what_has_no_fault_stays():
    assert scripts(HARMLESS, "a") == HARMLESS
    assert styles(HARMLESS, {}) == HARMLESS
    assert structure(HARMLESS) == HARMLESS
    assert once(HARMLESS) == HARMLESS
    assert description(HARMLESS, "a") == HARMLESS
    assert pictures(HARMLESS, lambda _: None) == HARMLESS


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('<script defer src="_static/scripts/fontawesome.js?digest=1"></script>\n', ""),
        ('<script>const THEBE_JS_URL = "x"; const y = 1</script>', ""),
        ('<script async="async" src="_static/sphinx-thebe.js"></script>', ""),
        ('<script src="searchindex.js"></script>', ""),
        ('<script src="_static/doctools.js"></script>', '<script defer src="_static/doctools.js"></script>'),
        ('<script defer src="a.js"></script>', '<script defer src="a.js"></script>'),
        ('<script src="_static/documentation_options.js"></script>',) * 2,
        ("<script>let x = 1;</script>",) * 2,
    ],
)
def test_scripts(before, after):
    assert scripts(before, "book/index") == after


def test_the_search_page_keeps_its_scripts():
    page = '<script src="_static/searchtools.js"></script><script src="searchindex.js"></script><script>go()</script>'
    assert scripts(page, "search") == page


def test_styles_become_one(tmp_path):
    page = """<head>
    <link href="../_static/styles/theme.css?digest=1" rel="stylesheet" />
    <link rel="stylesheet" type="text/css" href="../_static/book.css?v=2" />
    <link rel="stylesheet" type="text/css" href="../_static/sphinx-design.min.css?v=3" />
    <link rel="icon" href="../_static/favicon.svg"/></head>"""
    wanted = {}
    mended = styles(page, wanted)
    [(name, parts)] = wanted.items()
    assert parts == ["styles/theme.css", "book.css"]
    assert re.findall("<link.*?>", mended) == [
        f'<link rel="stylesheet" href="../_static/{name}" />',
        '<link rel="icon" href="../_static/favicon.svg"/>',
    ]
    assert styles(page.replace("v=2", "v=4"), {}) != mended
    (tmp_path / "styles").mkdir()
    (tmp_path / "styles" / "theme.css").write_text(
        '@import "../basic.css";\n.a{color:red}.fa-b:before,.fa-c:before{content:"\\f1"}'
    )
    (tmp_path / "basic.css").write_text(".d{background:url(file.png)}")
    (tmp_path / "book.css").write_text('.e{background:url("data:image/png;x")}')
    whole = sheet(parts, tmp_path)
    assert whole.split() == [
        ".d{background:url(../file.png)}",
        ".a{color:red}",
        '.e{background:url("data:image/png;x")}',
    ]


def test_icons_are_drawn_in_the_page():
    moon, cat = (
        '<i class="theme-switch fa-solid fa-moon  fa-lg" data-mode="dark"></i>',
        '<span class="fab fa-github"></span>',
    )
    drawn = icons(f"</head>{moon}{cat}<i>b</i>", STATIC)
    assert drawn.count("<svg") == drawn.count("<path") == 2
    assert '<svg class="svg-inline--fa theme-switch fa-moon fa-lg" data-mode="dark" aria-hidden="true"' in drawn
    assert "CC BY 4.0" in drawn
    assert drawn.endswith("<i>b</i>")


def test_every_icon_is_known_by_all_its_names():
    known = drawings(STATIC / "scripts" / "fontawesome.js")
    assert len(known) > 2000
    assert known["fas", "pencil-alt"] == known["fas", "pencil"]
    assert known["fas", "file"] != known["far", "file"]


def test_structure():
    logo = '<a class="navbar-brand logo" href="#"><img></a>'
    assert structure(logo) == f'<nav aria-label="Home">{logo}</nav>'
    fold = '<a href="x">The package</a><details open="open"><summary><span></span></summary></details>'
    assert 'aria-label="Pages of The package"' in structure(fold)
    shown = '<summary aria-label="Toggle hidden content"><p class="collapsed">Show code cell content</p></summary>'
    assert structure(shown) == '<summary><p class="collapsed">Show the solution</p></summary>'
    assert "<p>Show the source</p>" in structure(
        shown.replace(' class="collapsed"', "").replace("content</p>", "source</p>")
    )
    assert (
        structure('<div class="citation" id="a" role="doc-biblioentry">')
        == '<div class="citation" id="a" role="listitem">'
    )
    lines = '<dt><dl>\n<dd><em class="sig-param">a</em>,</dd>\n<dd><em class="sig-param">b</em>,</dd>\n</dl></dt>'
    assert "<dl>" not in structure(lines)
    assert structure(lines).count('<span class="sig-line">') == structure(lines).count("</span>") == 2


def test_a_setting_is_kept_once():
    tag = '<meta name="viewport" content="width=device-width" />\n'
    assert once(f"<head>{tag}<title/>{tag}  {tag}</head>").count("viewport") == 1


def test_a_page_without_a_description_gets_its_title():
    page = "<title>Search &#8212; The Book</title>"
    assert description(page, "search") == f'{page}\n    <meta name="description" content="Search in The Book" />'


def test_pictures_have_sizes(tmp_path):
    picture, drawing = tmp_path / "a.png", tmp_path / "b.svg"
    picture.write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + struct.pack(">II", 30, 20))
    drawing.write_text('<svg xmlns="x" viewBox="0 0 12.4 8"/>')
    assert size(picture) == (30, 20)
    assert size(drawing) == (12, 8)
    assert size(Path(__file__)) is None
    page = '<img src="_static/logo.svg">' + 2 * '<img src="../_images/a.png">' + '<img width="5" src="a.png">'
    logo, first, second, sized = pictures(page, lambda source: drawing if "logo" in source else picture).split("><")
    assert logo == '<img width="12" height="8" src="_static/logo.svg"'
    assert first == 'img width="30" height="20" src="../_images/a.png"'
    assert second == 'img width="30" height="20" loading="lazy" decoding="async" src="../_images/a.png"'
    assert sized == 'img loading="lazy" decoding="async" width="5" src="a.png">'


@pytest.mark.parametrize(("pixels", "framed"), [(600, False), (700, True)])
def test_a_picture_too_wide_for_a_telephone_is_framed(tmp_path, pixels, framed):
    path = tmp_path / "a.png"
    path.write_bytes(drawn(pixels, dots_a_metre=3937))
    assert inches(path) == pytest.approx(pixels / 100, rel=1e-4)
    tag = '<img src="../_images/a.png">'
    page = pictures(tag, lambda _: path)
    assert page.startswith('<span class="picture" style="--inches: 7.00"><img') == framed
    assert "picture" not in pictures('<img src="../_static/a.png">', lambda _: path)
    path = tmp_path / "without.png"
    path.write_bytes(drawn(pixels))
    assert inches(path) == 0
    assert "picture" not in pictures(tag, lambda _: path)


def drawn(width: int, dots_a_metre: int = 0) -> bytes:
    """Write the beginning of a PNG, which says how large it is and, perhaps, how large it was drawn."""
    start = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + struct.pack(">II", width, 20) + 5 * b"\0"
    return start + (b"\0\0\0\tpHYs" + struct.pack(">IIB", dots_a_metre, dots_a_metre, 1) if dots_a_metre else b"")
