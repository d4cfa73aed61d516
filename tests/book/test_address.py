"""The book's address is one line: pages and package lead where it says, and nowhere while there is none."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
import yaml
from hatchling.metadata.core import ProjectMetadata
from hatchling.plugin.manager import PluginManager
from lxml import html
from nbformat.v4 import new_markdown_cell, new_notebook

from bookext.address import Address, read

NOWHERE = "# repository-code: https://github.com/ORGANIZATION/NAME\n"
REPOSITORY, SITE = "https://github.com/Some-Org/attention", "https://some-org.github.io/attention/"
SOMEWHERE = f"repository-code: {REPOSITORY}\n"
FOR_THE_PACKAGE = ["pyproject.toml", "README.md", "_toc.yml", "hatch_build.py", "LICENSE", "LICENSE-TEXT"]


def cite(root: Path, folder: Path, line: str) -> None:
    """Write the citation to a folder, with that line for the repository."""
    text, lines = re.subn("(?:# )?repository-code:.*\n", line, (root / "CITATION.cff").read_text("utf-8"))
    assert lines == 1
    (folder / "CITATION.cff").write_text(text, "utf-8")


def book(root: Path, folder: Path, line: str) -> Path:
    """Build a book of three pages, as this one is built, with that line for the repository."""
    cite(root, folder, line)
    whole = yaml.safe_load((root / "_config.yml").read_text("utf-8"))
    config = {key: whole[key] for key in ("title", "repository", "launch_buttons")}
    config["sphinx"] = {
        "extra_extensions": whole["sphinx"]["extra_extensions"],
        "local_extensions": {"bookext.address": str(root / "extensions")},
        "config": {name: value for name, value in whole["sphinx"]["config"].items() if name.startswith("ogp")},
    }
    config["execute"] = {"execute_notebooks": "off"}
    contents = {"format": "jb-book", "root": "book/index", "chapters": [{"file": "notebooks/1"}, {"file": "book/run"}]}
    for name, value in (("_config.yml", config), ("_toc.yml", contents)):
        (folder / name).write_text(yaml.safe_dump(value), "utf-8")
    for name in ("book", "notebooks"):
        (folder / name).mkdir()
    (folder / "book/index.md").write_text("# Book\n\n[One](../notebooks/1.ipynb)\n")
    (folder / "book/run.md").write_text("# Run\n\n```sh\ngit clone REPOSITORY attention\nmake book\n```\n")
    notebook = new_notebook(metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}})
    notebook.cells = [new_markdown_cell("# One\n\n[Run](../book/run.md)")]
    nbformat.write(notebook, folder / "notebooks/1.ipynb")
    command = [Path(sys.executable).with_name("jupyter-book"), "build", folder, "-W", "-n", "--keep-going"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    return folder / "_build" / "html"


def links(page: Path) -> set[str]:
    return {*html.fromstring(page.read_bytes()).xpath("//a/@href | //link/@href")}


def test_pages_lead_to_no_repository_while_there_is_none(root, tmp_path):
    site = book(root, tmp_path, NOWHERE)
    found = set().union(*map(links, site.rglob("*.html")))
    assert {link for link in found if re.search("github|mybinder|colab", link)} == set()
    assert html.parse(site / "book/run.html").xpath("string(//pre)").strip() == "make book"


def test_pages_lead_to_the_repository_that_is_named(root, tmp_path):
    site = book(root, tmp_path, SOMEWHERE)
    assert {
        f"https://mybinder.org/v2/gh/Some-Org/attention/v{read(root).version}?urlpath=lab/tree/notebooks/1.ipynb",
        "https://colab.research.google.com/github/Some-Org/attention/blob/gh-pages/_sources/notebooks/1.ipynb",
        f"{REPOSITORY}/edit/main/notebooks/1.ipynb",
        f"{SITE}notebooks/1.html",
        REPOSITORY,
    } <= links(site / "notebooks/1.html")
    assert f"git clone {REPOSITORY} attention\nmake book" in html.parse(site / "book/run.html").xpath("string(//pre)")
    assert f"<loc>{SITE}book/run.html</loc>" in (site / "sitemap.xml").read_text("utf-8")
    assert 'src="/attention/_static' in (site / "404.html").read_text("utf-8")


@pytest.mark.parametrize("line", [NOWHERE, SOMEWHERE])
def test_the_package_index_shows_links_that_work(root, tmp_path, line):
    cite(root, tmp_path, line)
    for name in FOR_THE_PACKAGE:
        shutil.copy(root / name, tmp_path)
    core = ProjectMetadata(str(tmp_path), PluginManager()).core
    there = re.findall(r'(?:\]\(|src="|href=")([^)"]+)', core.readme)
    assert bool(there) == bool(core.urls) == (line == SOMEWHERE)
    assert [link for link in there if not link.startswith("https://")] == []


def test_links_of_markdown_become_absolute():
    address = Address(REPOSITORY, "1.2", frozenset({"book/glossary", "notebooks/01-a"}))
    text = "[*a* [b]](../book/glossary.md#a) [c](01-a.ipynb) [d](../record/d.py) [e](https://e.org) [f](#f) `[g](g)`"
    made = (
        f"[*a* [b]]({SITE}book/glossary.html#a) [c]({SITE}notebooks/01-a.html) [d]({REPOSITORY}/blob/v1.2/record/d.py) "
        "[e](https://e.org) [f](#f) `[g](g)`"
    )
    assert address.absolute(text, "notebooks") == made
    assert address._replace(repository="").absolute(text) == "*a* [b] c d [e](https://e.org) [f](#f) `[g](g)`"


@pytest.mark.parametrize(
    ("repository", "site"),
    [("Some-Org/a.name", "https://some-org.github.io/a.name/"), ("org/Org.github.io", "https://org.github.io/")],
)
def test_the_site_of_a_repository(repository, site):
    assert Address(f"https://github.com/{repository}", "1", frozenset()).site == site


@pytest.mark.parametrize(
    "wrong", ["org/name", "https://github.com/org", "https://github.com/org/name.git", "http://a.b/c/d"]
)
def test_what_is_no_repository_is_refused(root, tmp_path, wrong):
    cite(root, tmp_path, f"repository-code: {wrong}\n")
    with pytest.raises(ValueError, match=f"repository-code is {wrong}; expected https://github.com/"):
        read(tmp_path)


def test_every_cell_that_installs_names_this_version(root, notebook_path):
    install = f"%pip install attnlib=={read(root).version}\n"
    cells = nbformat.read(notebook_path, as_version=4).cells
    first = next(cell.source for cell in cells if cell.cell_type == "code")
    assert install in first
    assert not any("pip install" in cell.source for cell in cells if cell.cell_type == "code" and cell.source != first)
