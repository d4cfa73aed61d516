"""The pages of the package: each module has one, in the list of its package, and names its user."""

import re


def test_every_module_has_a_page(root, module_pages):
    modules = [path.relative_to(root).with_suffix("") for path in (root / "src").rglob("*.py")]
    assert sorted(module_pages) == sorted(path.as_posix() for path in modules if not path.stem.startswith("_"))


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
