"""The last hand on the pages: each repair mends a page with the fault, and leaves one without as it is."""

import pytest
from PIL import Image

from bookext.finish import SEARCH, one_sheet, pictures, repaired, write_sheets

FOLDED = (  # as myst-nb writes it
    '<details class="admonition hide above-input">\n<summary aria-label="Toggle hidden content">\n'
    '<p class="collapsed admonition-title">A</p>\n<p class="expanded admonition-title">Hide</p>\n</summary>{}</details>'
)
FOLD = '<details class="fold"><summary>A</summary>{}</details>'
CODE, OUTPUT = '<div class="cell_input">a</div>', '<div class="cell_output">b</div>'


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('<script src="_static/doctools.js"></script>', '<script defer src="_static/doctools.js"></script>'),
        ('<script defer src="_static/scripts/fontawesome.js?digest=1"></script>', ""),
        ('<script>const THEBE_JS_URL = ""</script>\n<script async src="_static/sphinx-thebe.js"></script>', ""),
        ('<link rel="preload" as="script" href="a.js" />\n<link href="a.css" />', '<link href="a.css" />'),
        ('<script src="_static/documentation_options.js"></script>',) * 2,
        ('<script defer="defer" src="a.js"></script><script>let x = 1;</script>',) * 2,
        (FOLDED.format(CODE) + OUTPUT, FOLD.format(CODE) + OUTPUT),
        (
            FOLDED.format(f"{CODE}\n{OUTPUT}"),
            FOLD.format(f'<details class="code"><summary>Show the code</summary>{CODE}</details>{OUTPUT}'),
        ),
        (
            f"<div>{FOLDED.format(OUTPUT)}\n</div>\n<details>\n<summary>Answer</summary><p>So.</p></details>",
            f"<div>{FOLD.format(OUTPUT + '<p>So.</p>')}</div>",
        ),
        (
            '<span class="math"><math><mi>t</mi></math></span>), so',
            '<span class="together"><span class="math"><math><mi>t</mi></math></span>),</span> so',
        ),
        ('<span class="math">t</span> <span>a</span>, so',) * 2,
        ('<span class="n">a</span><span class="o">=</span>', 'a<span class="o">=</span>'),
        ('<span class="n" data-letter="c">c</span><span class="n"><span>a</span></span>',) * 2,
        ("<dl><dt>a</dt><dd>b</dd></dl><p>c</p>",) * 2,
    ],
)
def test_repairs(before, after):
    """What axe would find on the built pages is left to it: landmarks, names, roles and lists."""
    assert repaired(before) == after


def test_a_page_without_search_loads_no_index():
    page = '<script defer src="../_static/searchtools.js"></script>\n<script src="../searchindex.js?v=1"></script><p>'
    assert SEARCH.sub("", page) == "<p>"


def test_a_picture_comes_late_into_its_room(tmp_path):
    Image.new("RGB", (7, 3)).save(tmp_path / "b.png")
    page = '<img alt="a" src="../_images/a.png" /><img src="../_static/logo.png" />'
    sized = '<img loading="lazy" width="7" height="3" alt="a" src="../_images/a.png" />'
    assert pictures(page, {"a.png": tmp_path / "b.png"}) == sized + '<img src="../_static/logo.png" />'


def test_one_sheet_holds_all_in_their_order_and_finds_what_they_find(tmp_path):
    sheets = {
        "basic.css": "p { color: red }",
        "styles/theme.css": '@import "../basic.css";\na { background: url(../icons/a.svg), url("data:b"), url("c") }',
        "icons.css": ".list { content: '\\f03a' }",
    }
    static = tmp_path / "_static"
    for name, text in sheets.items():
        (static / name).parent.mkdir(exist_ok=True, parents=True)
        (static / name).write_text(text)
    page = (
        '<link href="../_static/styles/theme.css?v=1" rel="stylesheet" /><script></script>'
        '<link rel="stylesheet" type="text/css" href="../_static/icons.css" /><link rel="icon" href="../_static/a"/>'
    )
    sheets = {}
    page = one_sheet(page, sheets)
    ((name, parts),) = sheets.items()
    assert page == (
        f'<link rel="stylesheet" href="../_static/{name}" />\n<script></script><link rel="icon" href="../_static/a"/>'
    )
    assert parts == ("styles/theme.css", "icons.css")
    write_sheets(static, sheets)
    assert (static / name).read_text().split("\n") == [
        "p { color: red }",
        "",
        'a { background: url(styles/../icons/a.svg), url("data:b"), url("styles/c") }',
        ".list { content: '\\f03a' }",
        "",
    ]
