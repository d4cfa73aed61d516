"""What installs the book: the lock, what readers install, Binder's copy of it, and what runs on GitHub."""

import re
import tomllib

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name


@pytest.fixture(scope="module")
def lock(root) -> dict[str, str]:
    lines = [line for line in (root / "requirements.txt").read_text("utf-8").splitlines() if line[:1] != "#"]
    return {canonicalize_name(name): version for name, version in (line.split("==") for line in lines)}


@pytest.fixture(scope="module")
def project(root) -> dict:
    return tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]


def test_the_lock_pins_all_that_pyproject_names_within_its_bounds(lock, project):
    named = [Requirement(line) for line in sum(project["optional-dependencies"].values(), project["dependencies"])]
    assert [str(r) for r in named if not r.specifier.contains(lock.get(canonicalize_name(r.name), "0"))] == []


def test_what_readers_install_is_pinned_as_in_the_lock_without_builder_tests_and_linters(root, lock, project):
    lines = (root / "requirements-read.txt").read_text("utf-8").splitlines()[1:]
    pins = {canonicalize_name(name): version for name, version in (line.split("==") for line in lines)}
    assert pins.items() <= lock.items()
    parts = project["optional-dependencies"]
    needed, others = (
        {canonicalize_name(Requirement(line).name) for line in named} - {"attnlib"}
        for named in (project["dependencies"] + parts["book"] + parts["text"], parts["build"] + parts["test"])
    )
    assert needed | {"jupyterlab"} <= {*pins}
    assert others & {*pins} - needed <= {
        "fonttools",
        "jupyterlab",
        "psutil",
    }  # matplotlib and the kernel need two of them
    packages = (root / "book" / "how-to-run.md").read_text("utf-8")
    assert f"`requirements-read.txt` has {len(pins)} packages" in packages
    assert f"`requirements.txt` has all {len(lock)}" in packages


def test_binder_gets_the_versions_of_the_lock(root, lock, project):
    environment = yaml.safe_load((root / "environment.yml").read_text("utf-8"))
    (pip,) = [part["pip"] for part in environment["dependencies"] if isinstance(part, dict)]
    pins = {canonicalize_name(pin.split("==")[0]): pin.split("==")[1] for pin in pip if not pin.startswith("--")}
    assert pins == {name: lock[name] for name in pins}
    assert {canonicalize_name(Requirement(line).name) for line in project["dependencies"]} <= set(pins)


@pytest.mark.parametrize("page", ["book/how-to-run.md", "book/your-own-text.md"])
def test_the_commands_without_make_name_the_torch_of_the_lock(root, lock, page):
    assert re.findall(r"torch==([\w.]+)", (root / page).read_text("utf-8")) == [lock["torch"]]


def test_the_files_that_no_builder_reads_link_to_what_is_there(root):
    text = "".join((root / page).read_text("utf-8") for page in ("README.md", "CONTRIBUTING.md"))
    links = re.findall(r"\]\(([^)#]+)", text)
    assert [link for link in links if ":" not in link and not (root / link).exists()] == []


def test_workflows_may_read_and_run_actions_of_one_revision(root):
    """But for the two jobs that publish, which run nothing of ours."""
    for path in root.glob(".github/workflows/*.yml"):
        workflow = yaml.safe_load(path.read_text("utf-8"))
        assert workflow["permissions"] == {"contents": "read"}
        rights = {name for name, job in workflow["jobs"].items() if "permissions" in job}
        assert rights == ({"index", "pages"} if path.name == "release.yml" else set())
        steps = [step for job in workflow["jobs"].values() for step in job["steps"]]
        used = [step["uses"] for step in steps if "uses" in step]
        assert [action for action in used if not re.fullmatch("(actions|pypa)/[a-z-]+@[0-9a-f]{40}", action)] == []


def test_the_readme_s_four_lines_print_weights(root, capsys):
    (lines,) = re.findall(r"```python\n(.*?)```", (root / "README.md").read_text("utf-8"), re.DOTALL)
    exec(lines, {})
    rows = [[float(number) for number in row.strip(" []").split()] for row in capsys.readouterr().out.splitlines()]
    assert [len(row) for row in rows] == [4, 4, 4, 4]
    assert [sum(row) for row in rows] == pytest.approx([1.0] * 4, abs=0.02)
