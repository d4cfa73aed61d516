"""The repository's address: one setting, one command that writes it everywhere, and no two places that disagree."""

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
ADDRESSES = ["some-org/attention", "a/b", "Mixed-Case/Books", "some-org/some-org.github.io"]


def setting(root: Path) -> str:
    return tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"]["Repository"]


def site(repository: str) -> str:
    owner, name = repository.split("/")[-2:]
    host = f"{owner.lower()}.github.io"
    return f"https://{host}/" if name == host else f"https://{host}/{name}/"


def contents(root: Path) -> dict[str, bytes]:
    git = ["git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(git, capture_output=True, text=True, check=True).stdout.split("\0")
    return {name: (root / name).read_bytes() for name in names if (root / name).is_file()}


def installations(root: Path) -> dict[str, list[str]]:
    """Tell where each notebook's first code cell installs attnlib from."""
    found = {}
    for path in (root / "notebooks").glob("*.ipynb"):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        first = next("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
        found[path.name] = re.findall(r"git\+(https://[^\s\"']+)", first)
    return found


def disagreements(root: Path) -> list[str]:
    """Compare every place that tells the address with the one setting."""
    repository = setting(root)
    owner, name = repository.split("/")[-2:]
    book = yaml.safe_load((root / "_config.yml").read_text(encoding="utf-8"))
    sphinx = book["sphinx"]["config"]
    citation = yaml.safe_load((root / "CITATION.cff").read_text(encoding="utf-8"))
    prefix = re.sub("https://[^/]+", "", site(repository))
    places = {
        "_config.yml, repository": (book["repository"]["url"], repository),
        "_config.yml, baseurl": (book["html"]["baseurl"], site(repository)),
        "_config.yml, ogp_site_url": (sphinx["ogp_site_url"], site(repository)),
        "_config.yml, notfound_urls_prefix": (sphinx["notfound_urls_prefix"], prefix),
        "CITATION.cff, repository-code": (citation["repository-code"], repository),
        "CITATION.cff, url": (citation["url"], site(repository)),
    }
    places |= {notebook: (urls, [repository]) for notebook, urls in installations(root).items()}
    wrong = [f"{place}: {has}, not {expected}" for place, (has, expected) in places.items() if has != expected]
    for file, content in contents(root).items():
        text = content.decode("utf-8", errors="ignore")
        for where in re.findall(r"(?:github\.com|/github|/gh)/([\w-]+/[\w.-]*\w)", text):
            its_owner, its_name = where.removesuffix(".git").split("/")
            # An underscore is in no owner's name on GitHub but the placeholder's.
            about_us = its_name == name or "_" in its_owner
            if about_us and (its_owner, its_name) != (owner, name):
                wrong.append(f"{file}: {where}, not {owner}/{name}")
        for where in re.findall(r"https://\w*_\w*\.github\.io/[\w-]*/?", text):
            if where != site(repository):
                wrong.append(f"{file}: {where}, not {site(repository)}")
    return wrong


def modes(root: Path) -> dict[str, int]:
    return {name: (root / name).stat().st_mode for name in contents(root)}


def publish_as(root: Path, *address: str) -> subprocess.CompletedProcess:
    """Run the command as a Python does that has nothing installed."""
    command = [sys.executable, "-S", root / "tools" / "publish_as.py", *address]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_all_places_tell_the_same_address():
    assert disagreements(ROOT) == []


def test_the_readme_links_to_the_pages_the_notebooks_and_the_clone():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    slug = setting(ROOT).removeprefix("https://github.com/")
    expected = [site(slug), f"git clone https://github.com/{slug}", f"mybinder.org/v2/gh/{slug}/main"]
    expected += [f"colab.research.google.com/github/{slug}/blob/main/notebooks/{name}" for name in installations(ROOT)]
    assert [link for link in expected if link not in readme] == []


@pytest.mark.parametrize(
    "file", ["_config.yml", "CITATION.cff", "README.md", "notebooks/01-attention-from-scratch.ipynb"]
)
def test_one_place_that_disagrees_is_found(clone: Callable[[Path], Path], tmp_path: Path, file: str):
    root = clone(tmp_path)
    owner = setting(root).split("/")[-2]
    text = (root / file).read_text(encoding="utf-8")
    (root / file).write_text(text.replace(f"/{owner}/", "/somebody-else/", 1), encoding="utf-8")
    assert any(place.startswith((file, Path(file).name)) for place in disagreements(root))


def test_the_command_writes_it_everywhere_and_changes_nothing_else(clone: Callable[[Path], Path], tmp_path: Path):
    root = clone(tmp_path)
    before, executable = contents(root), modes(root)
    old = setting(root).removeprefix("https://github.com/")
    for new in [*ADDRESSES, old]:
        previous = setting(root).removeprefix("https://github.com/")
        run = (publish_as if new != old else without_validation)(root, new)
        assert (run.returncode, run.stderr) == (0, "")
        assert setting(root) == f"https://github.com/{new}"
        assert disagreements(root) == []
        after = contents(root)
        assert set(after) == set(before)
        trace = rf"/{re.escape(previous)}(?![\w-])|{re.escape(site(previous))}".encode()
        assert [name for name, content in after.items() if re.search(trace, content)] == []
        publish_as(root, new)
        assert contents(root) == after
    assert after == before
    assert modes(root) == executable


def without_validation(root: Path, address: str) -> subprocess.CompletedProcess:
    """Return to the placeholder, which the command refuses, because nobody can own it."""
    line = "import sys, publish_as as p; p.publish_as(p.ROOT, p.Address(*sys.argv[1:]))"
    command = [sys.executable, "-B", "-c", line, *address.split("/")]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=root / "tools")


def test_a_run_that_was_interrupted_is_finished_by_the_next(clone: Callable[[Path], Path], tmp_path: Path):
    whole, half = clone(tmp_path / "whole"), clone(tmp_path / "half")
    publish_as(whole, ADDRESSES[0])
    (half / "_config.yml").write_bytes((whole / "_config.yml").read_bytes())
    publish_as(half, ADDRESSES[0])
    assert contents(half) == contents(whole)


@pytest.mark.parametrize(
    "address",
    ["", "org", "org/", "/name", "org/name/more", "https://github.com/org/name", "my_org/name", "-org/name", "org/..",
     "org/name.git", "org/na me", "org/name\n", "o" * 40 + "/name", "örg/name"],
)  # fmt: skip
def test_an_address_that_cannot_be_is_refused_in_one_line(clone: Callable[[Path], Path], tmp_path: Path, address: str):
    root = clone(tmp_path)
    before = contents(root)
    run = publish_as(root, address)
    assert run.returncode == 1
    assert run.stdout == ""
    assert run.stderr.startswith(f"REPO is '{address}', expected")
    assert run.stderr.count("\n") == 1 + address.count("\n")
    assert contents(root) == before


def test_make_passes_the_address_on(clone: Callable[[Path], Path], tmp_path: Path):
    root = clone(tmp_path)
    make = ["make", "publish-as", f"PYTHON={sys.executable}"]
    refused = subprocess.run(make, cwd=root, capture_output=True, text=True, check=False)
    assert refused.returncode != 0
    assert "make publish-as REPO=org/name" in refused.stderr
    subprocess.run([*make, f"REPO={ADDRESSES[0]}"], cwd=root, capture_output=True, check=True)
    assert setting(root).endswith(f"/{ADDRESSES[0]}")
    assert disagreements(root) == []
