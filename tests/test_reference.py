"""The pages of the package: each module has one, names lead to what they name, signatures are those of the source."""

import ast
from io import StringIO
from pathlib import Path

import pytest
import yaml
from lxml import html
from sphinx.application import Sphinx
from sphinx.util.docutils import docutils_namespace, patch_docutils

from bookext.reference import constants, definitions, signature

ROOT = Path(__file__).parents[1]
PARTS = yaml.safe_load((ROOT / "_toc.yml").read_text("utf-8"))["parts"]
PAGES = [entry["file"] for part in PARTS for page in part["chapters"] for entry in page.get("sections", [])]
SOURCES = [ROOT / f"{page}.py" for page in PAGES]

MADE_UP = '''
class Pair(NamedTuple):
    """Two."""
    left: Float[Array, "*batch src"]
    right: tuple["Pair", ...] | None = None

    def both(self, n: int = 1, *, of: "Pair") -> "Pair":
        """Both."""

    @staticmethod
    def none(self: int) -> None:
        """None."""

class Model(nn.Module):
    """A model."""
    def __init__(self, dec: int, **options: Any):
        super().__init__()
'''


def test_every_module_has_a_page():
    modules = [path for path in (ROOT / "src" / "attnlib").rglob("*.py") if not path.stem.startswith("_")]
    assert sorted(SOURCES) == sorted(modules)


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
def test_pages_are_in_reading_order(source):
    modules = [".".join(path.relative_to(ROOT / "src").with_suffix("").parts) for path in SOURCES]
    imports = {node.module for node in ast.parse(source.read_text("utf-8")).body if isinstance(node, ast.ImportFrom)}
    assert imports & {*modules} <= {*modules[: SOURCES.index(source)]}


def written(name: str) -> tuple[str, str]:
    *within, name = name.split(".")
    node = ast.parse(MADE_UP)
    for step in [*within, name]:
        node = next(child for child in node.body if getattr(child, "name", None) == step)
    return signature(node, method=bool(within))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Pair", ("(left: Float[Array, '*batch src'], right: tuple[Pair, ...] | None = None)", "")),
        ("Pair.both", ("(n: int=1, *, of: Pair)", "Pair")),
        ("Pair.none", ("(self: int)", "None")),
        ("Model", ("(dec: int, **options: Any)", "")),
    ],
)
def test_signature_is_that_of_the_source(name, expected):
    assert written(name) == expected


def test_definitions_and_constants_are_found():
    assert {"attnlib.windows.support", "attnlib.windows.View", "attnlib.windows.LocalMonotonic.centre"} <= {
        *definitions("attnlib.windows")
    }
    assert constants("attnlib.experiments.measure")["SOURCE"] == "20"


@pytest.fixture(scope="module")
def small(tmp_path_factory) -> tuple[html.HtmlElement, str]:
    """Build a page with one module and some names, and give it with what Sphinx warned of."""
    home = tmp_path_factory.mktemp("small")
    (home / "index.rst").write_text(
        "Small\n=====\n\n.. default-role:: name\n\n"
        "`Attended`, `attnlib.attention.attention`, `Attended.dense`, `D`, `attnlib.attention.nothing`\n\n"
        ".. automodule:: attnlib.attention\n   :members:\n",
        "utf-8",
    )
    said = StringIO()
    settings = {"extensions": ["bookext.reference"], "nitpicky": True, "root_doc": "index"}
    out = home / "out"
    with patch_docutils(), docutils_namespace():
        Sphinx(home, None, out, home / "trees", "html", settings, status=None, warning=said).build()
    return html.fromstring((out / "index.html").read_bytes()), said.getvalue()


def test_names_lead_to_what_they_name(small):
    page, said = small
    names = page.xpath("//p[contains(., 'nothing')][1]")[0]
    assert [link.get("href") for link in names.xpath(".//a")] == [
        "#attnlib.attention.Attended",
        "#attnlib.attention.attention",
        "#attnlib.attention.Attended.dense",
    ]
    assert [code.text_content() for code in names.xpath("./code")] == ["D", "attnlib.attention.nothing"]
    assert said.count("WARNING") == 1
    assert "reference target not found: attnlib.attention.nothing" in said


def test_a_parameter_is_no_link_and_a_result_is(small):
    described = small[0].xpath("//dl[dt/@id='attnlib.attention.Attended']")[0]
    assert "src" in [code.text_content() for code in described.xpath(".//code")]
    assert described.xpath(".//a[contains(., 'src')]") == []
    assert small[0].xpath("//dt[@id='attnlib.attention.attention']//a[@href='#attnlib.attention.Attended']")
