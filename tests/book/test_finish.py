"""The last hand on the pages: each repair mends a page with the fault, and leaves one without as it is."""

import pytest

from bookext.finish import scripts, structure

LOGO = '<a class="navbar-brand logo" href="#"><img></a>'


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('<script src="_static/doctools.js"></script>', '<script defer src="_static/doctools.js"></script>'),
        ('<script defer src="_static/scripts/fontawesome.js?digest=1"></script>', ""),
        ('<script>const THEBE_JS_URL = ""</script>\n<script async src="_static/sphinx-thebe.js"></script>', ""),
        ('<script src="_static/documentation_options.js"></script>',) * 2,
        ('<script defer="defer" src="a.js"></script><script>let x = 1;</script>',) * 2,
    ],
)
def test_scripts(before, after):
    assert scripts(before) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (LOGO, f'<nav aria-label="Home">{LOGO}</nav>'),
        ("<a>Pages</a><details open><summary>", '<a>Pages</a><details open><summary aria-label="Pages of Pages">'),
        ('<summary aria-label="Toggle hidden content">', "<summary>"),
        ('<div class="citation" id="a" role="doc-biblioentry">', '<div class="citation" id="a" role="listitem">'),
        (
            '<dl>\n<dd><em class="sig-param">a</em>,</dd>\n<dd><em class="sig-param">b</em>,</dd>\n</dl>',
            '<span class="sig-line"><em class="sig-param">a</em>,</span>\n'
            '<span class="sig-line"><em class="sig-param">b</em>,</span>\n',
        ),
        ("<dl><dt>a</dt><dd>b</dd></dl><p>c</p>",) * 2,
    ],
)
def test_structure(before, after):
    assert structure(before) == after
