"""The book's address is one line: pages and package lead where it says, and nowhere while there is none."""

import os
import re
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import nbformat
import pytest
import yaml
from hatchling.builders.wheel import WheelBuilder
from lxml import html
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from bookext.address import read

CLONE = 'clone the book, and %pip install "FOLDER[book]"'

NOWHERE = "# repository-code: https://github.com/ORGANIZATION/NAME\n"
REPOSITORY, SITE = "https://github.com/Some-Org/attention", "https://some-org.github.io/attention/"
SOMEWHERE = f"repository-code: {REPOSITORY}\n"
EXTENSIONS = ["bookext.address", "bookext.citation", "bookext.copies"]


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
        "local_extensions": dict.fromkeys(EXTENSIONS, str(root / "extensions")),
        "config": {name: value for name, value in whole["sphinx"]["config"].items() if name.startswith("ogp")},
    }
    config["execute"] = {"execute_notebooks": "off"}
    contents = {"format": "jb-book", "root": "book/index", "chapters": [{"file": "notebooks/1"}, {"file": "book/run"}]}
    for name, value in (("_config.yml", config), ("_toc.yml", contents)):
        (folder / name).write_text(yaml.safe_dump(value, sort_keys=False), "utf-8")
    for name in ("book", "notebooks"):
        (folder / name).mkdir()
    (folder / "book/index.md").write_text("# Book\n\n[One](../notebooks/1.ipynb)\n\n```bibtex\nBIBTEX\n```\n")
    (folder / "book/run.md").write_text("# Run\n\n```sh\ngit clone REPOSITORY attention\nmake book\n```\n")
    text = new_markdown_cell("# One\n\n[Run](../book/run.md) $x_1$")
    picture = new_output("display_data", {"image/png": "iVBORw0KGgo=", "text/plain": "<Figure>"})
    drawn = new_code_cell(f"draw()  # {CLONE}", outputs=[picture, new_output("stream", text="[a](b)\n")])
    drawn.metadata.mystnb = {"image": {"alt": "A line."}}
    metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3"}, "language_info": {"name": "python"}}
    nbformat.write(new_notebook(cells=[text, drawn], metadata=metadata), folder / "notebooks/1.ipynb")
    command = [Path(sys.executable).with_name("jupyter-book"), "build", folder, "-W", "-n", "--keep-going"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    return folder / "_build" / "html"


def links(page: Path) -> set[str]:
    return {*html.fromstring(page.read_bytes()).xpath("//a/@href | //link/@href")}


@pytest.fixture(scope="module")
def nowhere(root, tmp_path_factory) -> Path:
    return book(root, tmp_path_factory.mktemp("nowhere"), NOWHERE)


@pytest.fixture(scope="module")
def somewhere(root, tmp_path_factory) -> Path:
    return book(root, tmp_path_factory.mktemp("somewhere"), SOMEWHERE)


def test_pages_lead_to_no_repository_while_there_is_none(nowhere):
    found = set().union(*map(links, nowhere.rglob("*.html")))
    assert {link for link in found if re.search("github|mybinder|colab", link)} == set()
    assert html.parse(nowhere / "book/run.html").xpath("string(//pre)").strip() == "make book"


def test_pages_lead_to_the_repository_that_is_named(root, somewhere):
    assert {
        f"https://mybinder.org/v2/gh/Some-Org/attention/v{read(root).version}?urlpath=lab/tree/notebooks/1.ipynb",
        "https://colab.research.google.com/github/Some-Org/attention/blob/gh-pages/_sources/notebooks/1.ipynb",
        f"{REPOSITORY}/edit/main/notebooks/1.ipynb",
        f"{SITE}notebooks/1.html",
        REPOSITORY,
    } <= links(somewhere / "notebooks/1.html")
    shown = html.parse(somewhere / "book/run.html").xpath("string(//pre)")
    assert shown == f"git clone {REPOSITORY} attention\nmake book\n"
    assert f"<loc>{SITE}book/run.html</loc>" in (somewhere / "sitemap.xml").read_text("utf-8")
    assert 'src="/attention/_static' in (somewhere / "404.html").read_text("utf-8")


def test_what_is_downloaded_leads_back_to_the_book(root, nowhere, somewhere):
    tag = f'%pip install "attnlib[book] @ git+{REPOSITORY}@v{read(root).version}"'
    for site, link, install in ((nowhere, "Run", CLONE), (somewhere, f"[Run]({SITE}book/run.html)", tag)):
        first, _ = nbformat.read(site / "_sources/notebooks/1.ipynb", as_version=4).cells
        assert first.source == f"# One\n\n{link} $x_1$"
        copy = (site / "_sources/notebooks/1.md").read_text("utf-8")
        assert copy.split() == f"# One {link} $x_1$ ```python draw() # {install} ``` *Figure: A line.* [a](b)".split()
        assert "REPOSITORY" not in (site / "_sources/book/run.md").read_text("utf-8")


def test_the_first_page_says_how_to_cite(nowhere, somewhere):
    for site, url in ((nowhere, ""), (somewhere, f"  url = {{{SITE}}},\n")):
        page = html.parse(site / "book/index.html")
        entry = page.xpath("string(//pre)")
        assert re.search(r"  author = \{\{The authors of .*\}\},\n  year = \{\d{4}\},\n", entry)
        assert entry.endswith(f"{url}}}\n")


def test_every_cell_that_installs_names_this_version(root, notebook_path):
    extra = "[book,text]" if notebook_path.stem.startswith("05") else "[book]"
    install = f'%pip install "attnlib{extra}=={read(root).version}"\n'
    install += f"    # If that fails, {CLONE.replace('[book]', extra)}\n"
    cells = nbformat.read(notebook_path, as_version=4).cells
    first = next(cell.source for cell in cells if cell.cell_type == "code")
    assert install in first
    assert not any("pip install" in cell.source for cell in cells if cell.cell_type == "code" and cell.source != first)


def test_first_cells_install_the_package_from_a_folder_without_an_index(root, notebook_paths, tmp_path):
    """Into an environment with all that this one has but `attnlib`."""
    (wheel,) = WheelBuilder(str(root)).build(directory=str(tmp_path), versions=["standard"])
    environment = tmp_path / "environment"
    venv.create(environment, symlinks=os.name != "nt")
    (there,) = environment.glob("lib/python*/site-packages")
    for part in Path(sysconfig.get_path("purelib")).iterdir():
        if "attnlib" not in part.name and part.suffix != ".pth":
            (there / part.name).symlink_to(part)
    settings = {"PATH": os.environ["PATH"], "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(Path(wheel).parent)}
    command = [environment / "bin/python", root / "tools/first_cells.py"]
    run = subprocess.run(command, env=settings, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    assert run.stdout.count(" begins\n") == len(notebook_paths)
    assert [*there.glob(f"attnlib-{read(root).version}.dist-info")]
