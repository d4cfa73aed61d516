"""What CONTRIBUTING says to write when the book is published makes pages and package lead to its address."""

import re
import subprocess
import sys
from pathlib import Path

import nbformat
import yaml
from lxml import html
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from bookext.address import absolute

REPOSITORY, SITE = "https://github.com/Some-Org/attention", "https://Some-Org.github.io/attention/"
CLONE = 'clone the book, and %pip install "FOLDER[book]"'


def written(root: Path) -> dict:
    """Read the settings that CONTRIBUTING says to write, for a repository."""
    text = (root / "CONTRIBUTING.md").read_text("utf-8").partition("## To publish")[2]
    (block,) = re.findall(r"^   ```yaml\n(.*?)^   ```", text, re.MULTILINE | re.DOTALL)
    return yaml.safe_load(block.replace("ORGANIZATION", "Some-Org").replace("NAME", "attention"))


def merged(config: dict, more: dict) -> dict:
    both = {key: merged(config[key], more[key]) for key in more if isinstance(config.get(key), dict)}
    return config | more | both


def book(root: Path, folder: Path, more: dict) -> Path:
    """Build a book of two pages with this book's settings, and more."""
    whole = yaml.safe_load((root / "_config.yml").read_text("utf-8"))
    config = {key: whole[key] for key in ("title", "repository", "launch_buttons")} | {"html": {}}
    wanted = ("ogp", "notfound_urls")
    config["sphinx"] = {
        "extra_extensions": whole["sphinx"]["extra_extensions"],
        "local_extensions": {"bookext.address": str(root / "extensions")},
        "config": {name: value for name, value in whole["sphinx"]["config"].items() if name.startswith(wanted)},
    }
    config["execute"] = {"execute_notebooks": "off"}
    contents = {"format": "jb-book", "root": "book/index", "chapters": [{"file": "notebooks/1"}]}
    for name, value in (("_config.yml", merged(config, more)), ("_toc.yml", contents)):
        (folder / name).write_text(yaml.safe_dump(value, sort_keys=False), "utf-8")
    for name in ("book", "notebooks"):
        (folder / name).mkdir()
    (folder / "book/index.md").write_text("# Book\n\n[One](../notebooks/1.ipynb)\n")
    cells = [new_markdown_cell("# One\n\n[Book](../book/index.md) $x_1$"), new_code_cell("f[1](2)")]
    metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3"}, "language_info": {"name": "python"}}
    nbformat.write(new_notebook(cells=cells, metadata=metadata), folder / "notebooks/1.ipynb")
    command = [Path(sys.executable).with_name("jupyter-book"), "build", folder, "-W", "-n", "--keep-going"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    return folder / "_build" / "html"


def links(page: Path) -> set[str]:
    return {*html.fromstring(page.read_bytes()).xpath("//a/@href | //link/@href")}


def test_pages_lead_to_no_repository_while_there_is_none(root, tmp_path):
    made = book(root, tmp_path, {})
    found = set().union(*map(links, made.rglob("*.html")))
    assert {link for link in found if re.search("github|mybinder|colab", link)} == set()


def test_pages_and_downloads_lead_to_the_repository_that_is_named(root, tmp_path):
    made = book(root, tmp_path, written(root))
    assert {
        "https://mybinder.org/v2/gh/Some-Org/attention/main?urlpath=lab/tree/notebooks/1.ipynb",
        "https://colab.research.google.com/github/Some-Org/attention/blob/gh-pages/_sources/notebooks/1.ipynb",
        f"{REPOSITORY}/edit/main/notebooks/1.ipynb",
        f"{SITE}notebooks/1.html",
        REPOSITORY,
    } <= links(made / "notebooks/1.html")
    assert 'src="/attention/_static' in (made / "404.html").read_text("utf-8")
    cells = nbformat.read(made / "_sources/notebooks/1.ipynb", as_version=4).cells
    assert [cell.source for cell in cells] == [f"# One\n\n[Book]({SITE}book/index.html) $x_1$", "f[1](2)"]


def test_links_of_markdown_become_absolute():
    text = "[*a* [b]](../book/glossary.md#a--a) [c](01-a.ipynb) [d](../d.toml) [e](https://e.org) [f](#f) `[g](g)`"
    made = (
        f"[*a* [b]]({SITE}book/glossary.html#a-a) [c]({SITE}notebooks/01-a.html) [d]({REPOSITORY}/blob/main/d.toml) "
        "[e](https://e.org) [f](#f) `[g](g)`"
    )
    assert absolute(text, "notebooks", SITE, REPOSITORY) == made


def test_the_first_page_says_how_to_cite_this_version(root):
    cited = yaml.safe_load((root / "CITATION.cff").read_text("utf-8"))
    (entry,) = re.findall(r"^@misc\{(.*?)^\}", (root / "book/index.md").read_text("utf-8"), re.MULTILINE | re.DOTALL)
    assert dict(re.findall(r"(\w+) = \{(.*)\},\n", entry)) == {
        "title": cited["title"],
        "author": f"{{{cited['authors'][0]['name']}}}",
        "year": str(cited["date-released"].year),
        "note": f"Version {cited['version']}",
    }


def test_every_cell_that_installs_names_this_version(root, notebook_path):
    version = yaml.safe_load((root / "CITATION.cff").read_text("utf-8"))["version"]
    extra = "[book,text]" if notebook_path.stem.startswith("05") else "[book]"
    install = f'%pip install "attnlib{extra}=={version}"\n'
    install += f"    # If that fails, {CLONE.replace('[book]', extra)}\n"
    cells = nbformat.read(notebook_path, as_version=4).cells
    first = next(cell.source for cell in cells if cell.cell_type == "code")
    assert install in first
    assert not any("pip install" in cell.source for cell in cells if cell.cell_type == "code" and cell.source != first)
