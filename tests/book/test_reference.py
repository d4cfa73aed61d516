"""The pages of the package: each module has one, names lead to what they name, signatures are those of the source."""

import ast
import re
import subprocess
import sys

import pytest
from lxml import html

SETTINGS = """
import sys, yaml
import attnlib
attnlib.__path__.append({package!r})
sys.path.append({extensions!r})
book, wanted = yaml.safe_load(open({config!r}))["sphinx"]["config"], ("add_", "autodoc", "napoleon", "nitpick_")
globals().update((name, value) for name, value in book.items() if name.startswith(wanted))
extensions = ["sphinx_external_toc", "bookext.reference"]
exclude_patterns = ["conf.py", "out"]
nitpicky = True
"""
INDEX = """
Made up
=======
.. modules-in-reading-order::
.. automodule:: attnlib.shapes
   :members:
"""
SIZES = '''"""Numbers that
a model has."""
from pathlib import Path
LEAST = 2
"""The least."""
HERE = Path(__file__)
"""Where this is."""
'''
MODELS = '''"""What is built of `attnlib.made_up.sizes.LEAST` numbers."""
from dataclasses import dataclass, field
from typing import Annotated, NamedTuple
from jaxtyping import Float
from attnlib.made_up.sizes import LEAST
from attnlib.shapes import Array

class Pair(NamedTuple):
    """Two, as `Model.both` makes them, and `LEAST`. Nobody knows `D`.

    Attributes
    ----------
    left
        The first.
    """
    left: Float[Array, "*batch src"]

@dataclass
class Model:
    """A model."""
    names: list[str] = field(default_factory=list)

    def __call__(self, least: int = LEAST) -> "Pair":
        """Call it."""

    def few(self, pair: Annotated[Pair, 3]) -> None:
        """Take a type that says more."""

    def both(self, left: "Pair") -> None:
        """Take `left`, a `Pair`, and call `attnlib.made_up.nothing`."""
'''
CONTENTS = """
root: index
subtrees:
- entries: [{file: src/attnlib/made_up/sizes}, {file: src/attnlib/made_up/models}]
"""


def test_every_module_has_a_page(root, module_pages):
    modules = [path.relative_to(root).with_suffix("") for path in (root / "src").rglob("*.py")]
    assert sorted(module_pages) == sorted(path.as_posix() for path in modules if not path.stem.startswith("_"))


def test_pages_are_in_reading_order(root, module_pages):
    names = [page.removeprefix("src/").replace("/", ".") for page in module_pages]
    for page, name in zip(module_pages, names, strict=True):
        tree = ast.parse((root / f"{page}.py").read_text("utf-8"))
        imports = {node.module for node in tree.body if isinstance(node, ast.ImportFrom)}
        assert imports & {*names} <= {*names[: names.index(name)]}, name


def test_every_module_names_its_chapter_or_its_user(root, module_pages):
    """A user is another module, a page, or the command."""
    named = re.compile(r"chapters? \d|the chapters|laboratory|all (chapters|modules)|the command|`attn|page \"")
    lines = {page: (root / f"{page}.py").read_text("utf-8").partition("\n")[0] for page in module_pages}
    assert [page for page, line in lines.items() if not named.search(line)] == []


def test_every_package_has_a_list_of_its_own(root):
    contents = (root / "_toc.yml").read_text("utf-8")
    lists = re.findall(r"file: book/(attn\w+)\n +sections:\n((?: +- file: src/.*\n)+)", contents)
    assert [name for name, _ in lists] == ["attnlib", "attnbook", "attntext"]
    assert [
        line for name, modules in lists for line in modules.split("- file: ")[1:] if f"src/{name}/" not in line
    ] == []


@pytest.fixture(scope="module")
def made_up(root, tmp_path_factory) -> tuple[html.HtmlElement, html.HtmlElement, html.HtmlElement, str]:
    """Build pages of two modules in a folder of the package: the list, the pages, and what Sphinx warned of."""
    home = tmp_path_factory.mktemp("made-up")
    folder = home / "src" / "attnlib" / "made_up"
    folder.mkdir(parents=True)
    where = {"package": folder.parent, "extensions": root / "extensions", "config": root / "_config.yml"}
    (home / "conf.py").write_text(SETTINGS.format(**{name: str(path) for name, path in where.items()}))
    (home / "index.rst").write_text(INDEX)
    for path, text in [(folder / "sizes.py", SIZES), (folder / "models.py", MODELS), (home / "_toc.yml", CONTENTS)]:
        path.write_text(text, "utf-8")
    command = [sys.executable, "-m", "sphinx", "-q", "--no-color", home, home / "out"]
    warnings = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    pages = ("index", "src/attnlib/made_up/sizes", "src/attnlib/made_up/models")
    return *(html.fromstring((home / "out" / f"{page}.html").read_bytes()) for page in pages), warnings


def shown(element: html.HtmlElement) -> str:
    text = element.text_content().replace("¶", "").replace("[source]", "")
    return " ".join(text.split())


def test_modules_are_listed_with_their_first_sentence(made_up):
    assert [shown(item) for item in made_up[0].xpath("//div[@role='main']//section//li")] == [
        "attnlib.made_up.sizes: Numbers that a model has.",
        "attnlib.made_up.models: What is built of attnlib.made_up.sizes.LEAST numbers.",
    ]


def test_signatures_are_those_of_the_source_and_a_path_has_no_value(made_up):
    assert [shown(term) for term in made_up[1].xpath("//dt[@id]")] == ["LEAST = 2", "HERE"]
    assert [shown(term) for term in made_up[2].xpath("//dt[@id]")] == [
        "class Pair(left: Float[Array, '*batch src'])",
        "class Model(names: list[str] = ...)",
        "__call__(least: int = LEAST) → Pair",
        "few(pair: Annotated[Pair, 3]) → None",
        "both(left: Pair) → None",
    ]


def test_names_lead_to_what_they_name(made_up):
    """Those of other modules do so in full, and a full name that leads nowhere is an error."""
    page, warnings = made_up[2:]
    links = [(shown(code), code.getparent().get("href")) for code in page.xpath("//section//code[not(ancestor::dt)]")]
    home = "#attnlib.made_up.models."
    assert links == [
        ("attnlib.made_up.sizes.LEAST", "sizes.html#attnlib.made_up.sizes.LEAST"),
        ("Model.both", f"{home}Model.both"),
        ("LEAST", None),
        ("D", None),
        ("left", None),
        ("Pair", f"{home}Pair"),
        ("attnlib.made_up.nothing", None),
    ]
    assert page.xpath(f"//dt[@id='attnlib.made_up.models.Model.__call__']//a[@href='{home}Pair']")
    assert page.xpath("//dt//a[@href='../../../index.html#attnlib.shapes.Array']")
    assert warnings.count("WARNING") == 1
    assert "reference target not found: attnlib.made_up.nothing" in warnings
