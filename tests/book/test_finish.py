"""Pages are light, and right for screen readers and telephones; axe looks at the roles and names on the built pages."""

import pytest
from lxml import html
from nbformat.v4 import new_code_cell, new_markdown_cell
from PIL import Image

TEXT = """![A dot](dot.png)

| | b |
| --- | --- |
| a | 1 |

<table><tr><th scope="row">a name of many letters</th></tr><tr><th scope="row">short</th></tr></table>
"""
FOLDED = {"tags": ["hide-cell"], "mystnb": {"code_prompt_show": "Look"}}


@pytest.fixture
def page(chapter, tmp_path, root) -> html.HtmlElement:
    """Make a page of the theme with one of each thing that is changed."""
    Image.new("RGB", (7, 3)).save(tmp_path / "dot.png")
    answer = new_markdown_cell("<details>\n<summary>Answer</summary>\n\nSo.\n\n</details>\n\nAnd on.")
    cells = [new_markdown_cell(TEXT), new_code_cell("1 + 1", metadata=FOLDED), answer]
    theme = {"html_theme": "sphinx_book_theme", "templates_path": [str(root / "book" / "_templates")]}
    status, made = chapter("bookext.finish", *cells, **theme)
    assert status == 0
    return html.fromstring(made)


def test_behind_a_door_are_output_and_answer_and_the_code_behind_another(page):
    (fold,) = page.xpath("//details[@class='fold']")
    assert [part.tag for part in fold] == ["summary", "details", "div", "p"]
    assert [fold[0].text, fold[1][0].text, fold[3].text] == ["Look", "Show the code", "So."]
    assert "1 + 1" in "".join(fold[1].text_content().split("\n")).replace("\xa0", " ")
    assert page.xpath("//details") == [fold, fold[1]]
    assert fold.getparent().getnext().text == "And on."


def test_a_long_name_of_a_row_may_ask_for_room(page):
    assert [name.get("class") for name in page.xpath("//th[@scope='row']")] == ["long", None]


def test_pictures_come_late_corners_are_no_headings_and_a_page_loads_one_sheet(page):
    (picture,) = page.xpath("//img[@alt='A dot']")
    assert [picture.get(name) for name in ("loading", "width", "height")] == ["lazy", "7", "3"]
    assert [cell.tag for cell in page.xpath("//thead/tr/*")] == ["td", "th"]
    assert len(page.xpath("//link[@rel='stylesheet']")) == 1
    waiting = {script.get("src").split("?")[0]: script.get("defer") for script in page.xpath("//script[@src]")}
    assert [name for name, wait in waiting.items() if wait is None] == ["_static/documentation_options.js"]
    assert "thebe" not in " ".join(page.xpath("//script/@src | //link/@href | //script/text()")).lower()
