"""`make publish-as`: the repository's address is told everywhere alike, and one command changes it everywhere."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

from publish_as import HOST, publish_as, site


@pytest.fixture(scope="module")
def copy(root, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("copy")
    subprocess.run(["git", "clone", "--quiet", root, folder], check=True)
    return folder


def setting(root: Path) -> str:
    return tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"]["Repository"]


def contents(root: Path) -> dict[str, bytes]:
    names = subprocess.run(["git", "-C", root, "ls-files", "-z"], capture_output=True, text=True, check=True).stdout
    return {name: (root / name).read_bytes() for name in names.split("\0")[:-1]}


def test_every_place_tells_the_new_address_and_the_way_back_is_the_same(copy):
    before, told = contents(copy), setting(copy).removeprefix(HOST)
    old = told
    for new in ("Some-Org/attention", "a/b", "some-org/some-org.github.io", told):
        publish_as(copy, new)
        config = yaml.safe_load((copy / "_config.yml").read_text(encoding="utf-8"))
        citation = yaml.safe_load((copy / "CITATION.cff").read_text(encoding="utf-8"))
        repositories = {config["repository"]["url"], citation["repository-code"], setting(copy)}
        assert repositories == {HOST + new}
        pages = config["sphinx"]["config"]
        assert {config["html"]["baseurl"], pages["ogp_site_url"], citation["url"]} == {site(new)}
        assert re.sub("https://[^/]+", "", site(new)) == pages["notfound_urls_prefix"]
        trace = rf"/{re.escape(old)}(?![\w-])|{re.escape(site(old))}".encode()
        assert [name for name, content in contents(copy).items() if re.search(trace, content)] == []
        old = new
    assert contents(copy) == before


def test_the_command_runs_on_a_bare_python_and_refuses_what_is_no_address(root, copy):
    before = contents(copy)
    (copy / "tools" / "publish_as.py").write_bytes((root / "tools" / "publish_as.py").read_bytes())
    command = [sys.executable, "-S", copy / "tools" / "publish_as.py"]
    for wrong in ("", "org", "org/", "/name", "a/b/c", f"{HOST}a/b", "my_org/name", "-a/b", "a/..", "a/b.git", "a/b c"):
        run = subprocess.run([*command, wrong], capture_output=True, text=True, check=False)
        message = f"REPO is '{wrong}', expected a GitHub repository's org/name: make publish-as REPO=org/name\n"
        assert (run.returncode, run.stdout, run.stderr) == (1, "", message)
    assert contents(copy) | {"tools/publish_as.py": b""} == before | {"tools/publish_as.py": b""}
    run = subprocess.run([*command, "org/name"], capture_output=True, text=True, check=True)
    assert "its pages are at https://org.github.io/name/" in run.stdout
