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


def git(copy: Path, *command: str) -> str:
    return subprocess.run(["git", "-C", copy, *command], capture_output=True, text=True, check=False).stdout


def test_every_place_tells_the_new_address_and_the_way_back_is_the_same(copy):
    setting = tomllib.loads((copy / "pyproject.toml").read_text("utf-8"))["project"]["urls"]["Repository"]
    old = told = setting.removeprefix(HOST)
    for new in ("Some-Org/attention", "an-owner/a.name", "some-org/some-org.github.io", told):
        publish_as(copy, new)
        config = yaml.safe_load((copy / "_config.yml").read_text("utf-8"))
        citation = yaml.safe_load((copy / "CITATION.cff").read_text("utf-8"))
        assert {config["repository"]["url"], citation["repository-code"]} == {HOST + new}
        pages = config["sphinx"]["config"]
        assert {config["html"]["baseurl"], pages["ogp_site_url"], citation["url"]} == {site(new)}
        assert re.sub("https://[^/]+", "", site(new)) == pages["notfound_urls_prefix"]
        assert git(copy, "grep", "-lwF", "-e", old, "-e", site(old).rstrip("/"), "--", ":!tests") == ""
        old = new
    assert git(copy, "status", "--short") == ""


def test_the_command_runs_on_a_bare_python_and_refuses_what_is_no_address(copy):
    command = [sys.executable, "-S", copy / "tools" / "publish_as.py"]
    for wrong in ("", "org", "org/", "/name", "a/b/c", f"{HOST}a/b", "my_org/name", "-a/b", "a/..", "a/b.git", "a/b c"):
        run = subprocess.run([*command, wrong], capture_output=True, text=True, check=False)
        message = f"REPO is '{wrong}', expected a GitHub repository's org/name: make publish-as REPO=org/name\n"
        assert (run.returncode, run.stdout, run.stderr) == (1, "", message)
    assert git(copy, "status", "--short") == ""
    run = subprocess.run([*command, "org/name"], capture_output=True, text=True, check=True)
    assert "its pages are at https://org.github.io/name/" in run.stdout
