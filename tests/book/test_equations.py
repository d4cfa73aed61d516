"""Every letter of the chapters' equations explains itself, and the font has what they need."""

import io
import json
import re
import tokenize

import nbformat
import pytest
from fontTools.ttLib import TTFont

from bookext.equations import FONT, fit
from bookext.letters import mathml, meanings, rows, table
from mathml import FILES, converted

NAMES = {name for row in rows().values() for use in ("code", "by_hand") for name in row.get(use, [])}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.parent.name)
def test_equations_of_cards_are_as_the_tool_writes_them(path):
    assert path.read_text("utf-8") == converted(path.read_text("utf-8"))
    assert all('data-letter="' in made for made in json.loads(path.read_text("utf-8")).values())


@pytest.mark.parametrize(
    ("tex", "page", "named"),
    [
        ("s_{t-1}", "", ["state"]),
        (r"s_t^\top", "", ["state", "transpose"]),
        (r"W_a^{(s)}", "", ["score-state-weight", "state"]),
        (r"\tilde{s}_1", "", ["attentional-state"]),
        (r"\overleftarrow{h}_1", "", ["backward-state"]),
        (r"\sum_{k=1}^S k_i", "", ["running-index", "source-length", "key"]),
        (r"\exp(e_{t,\cdot})_i", "", ["score", "source-position"]),
        ("S", "05-real-sentences", ["sure-links"]),
        ("S", "04-comparison", ["source-length"]),
        ("q", "01-attention", ["query"]),
    ],
)
def test_letters_are_named(tex, page, named):
    made = mathml(tex, display=False, page=page)
    assert re.findall('data-letter="(.+?)"', made) == named


@pytest.mark.parametrize("tex", ["Z", "Z_t", r"\tilde{Z}", r"x^{\Xi}", "G"])
def test_a_letter_that_the_table_lacks_is_an_error(tex):
    """G is in the table, but not for every place."""
    with pytest.raises(LookupError, match=r"the letter [ZΞG]"):
        mathml(tex, display=False, page="")


def test_no_letter_has_two_meanings_in_one_place():
    for letter, names in meanings().items():
        where = [place for name in names for place in rows()[name].get("where", ["global"])]
        assert len(where) == len({*where}), letter


def test_the_table_speaks_of_what_there_is(root, notebook_paths):
    given = {row["number"] for row in table()["equations"] if "number" in row}
    cited = {row["defined"] for row in rows().values() if "defined" in row}
    where = {place for row in rows().values() for place in row.get("where", [])}
    assert cited <= given
    pages = [path.relative_to(root / "notebooks").as_posix() for path in notebook_paths]
    assert [place for place in where if not any(page.startswith(place) for page in pages)] == []
    assert len(rows()) == sum(len(group) for group in table().values() if isinstance(group, dict))


def test_the_names_in_code_are_names_of_the_chapters_or_the_package(root, notebook_paths):
    cells = [cell for path in notebook_paths for cell in nbformat.read(path, as_version=4).cells]
    code = [cell.source for cell in cells if cell.cell_type == "code" and not cell.source.startswith("%")]
    code += [path.read_text("utf-8") for path in root.glob("src/attnlib/*.py")]
    words = {token.string for text in code for token in tokenize.generate_tokens(io.StringIO(text).readline)}
    assert NAMES - words == set()


def test_the_font_keeps_what_mathematics_needs(tmp_path):
    """Letters, upright and slanted, their large forms, and the licence: a tenth of the whole."""
    fit([mathml(r"\sqrt{d} \sum \alpha", display=True)], tmp_path / "cut.woff")
    font = TTFont(tmp_path / "cut.woff")
    assert {*map(ord, "√d∑α𝑑𝛼")} <= {*font.getBestCmap()}
    assert 0x1D6FD not in font.getBestCmap()  # there is no beta
    assert "OFL" in font["name"].getDebugName(14)
    assert len(font["MATH"].table.MathVariants.VertGlyphConstruction[0].MathGlyphVariantRecord) > 1
    assert (tmp_path / "cut.woff").stat().st_size < FONT.stat().st_size / 10
