"""The workflows that run on GitHub: valid, pinned, and with no more rights than they use."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

FOLDER = Path(__file__).parents[1] / ".github" / "workflows"
WORKFLOWS = sorted(FOLDER.glob("*"))
READ = {"contents": "read"}
DEPLOY = {"pages": "write", "id-token": "write"}


def parsed(path: Path) -> dict:
    # YAML 1.1 reads the key `on` as true; GitHub does not.
    return {"on" if key is True else key: value for key, value in yaml.safe_load(path.read_text("utf-8")).items()}


def steps(path: Path) -> list[dict]:
    return [step for job in parsed(path)["jobs"].values() for step in job["steps"]]


@pytest.fixture(params=WORKFLOWS, ids=lambda path: path.name)
def workflow(request: pytest.FixtureRequest) -> Path:
    return request.param


def test_there_are_three():
    assert [path.name for path in WORKFLOWS] == ["pages.yml", "test.yml", "weekly.yml"]


@pytest.mark.parametrize(
    ("schema", "files"),
    [("vendor.github-workflows", WORKFLOWS), ("vendor.citation-file-format", [FOLDER.parents[1] / "CITATION.cff"])],
    ids=["workflows", "citation"],
)
def test_they_keep_to_the_schema(schema: str, files: list[Path]):
    check = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, *files]
    run = subprocess.run(check, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout


def test_no_job_runs_for_ever(workflow: Path):
    assert all(job["timeout-minutes"] <= 60 for job in parsed(workflow)["jobs"].values())


def test_every_action_is_pinned_to_a_commit_and_says_which_version_that_is(workflow: Path):
    lines = [line for line in workflow.read_text(encoding="utf-8").splitlines() if re.match(r"[\s-]*uses:", line)]
    assert len(lines) == sum("uses" in step for step in steps(workflow))
    pinned = re.compile(r"[\s-]*uses: actions/[a-z-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+")
    assert [line for line in lines if not pinned.fullmatch(line)] == []


def test_one_action_has_one_version_in_all_workflows():
    used = {step["uses"] for path in WORKFLOWS for step in steps(path) if "uses" in step}
    assert len(used) == len({action.split("@")[0] for action in used})


def test_only_the_job_that_deploys_may_write_and_it_runs_no_code_of_ours(workflow: Path):
    whole = parsed(workflow)
    assert whole["permissions"] == READ
    for name, job in whole["jobs"].items():
        if "permissions" in job:
            assert (workflow.name, name) == ("pages.yml", "deploy")
            assert job["permissions"] == DEPLOY
            assert [step["uses"].split("@")[0] for step in job["steps"]] == ["actions/deploy-pages"]
            assert job["if"] == "github.ref == 'refs/heads/main'"


def test_a_pull_request_reaches_nothing_but_the_tests(workflow: Path):
    triggers = set(parsed(workflow)["on"])
    assert triggers <= {"push", "pull_request", "schedule", "workflow_dispatch"}
    assert ("pull_request" in triggers) == (workflow.name == "test.yml")


def test_no_key_is_left_behind_and_no_text_from_outside_reaches_a_shell(workflow: Path):
    checkouts = [step for step in steps(workflow) if "actions/checkout@" in step.get("uses", "")]
    assert all(step["with"]["persist-credentials"] is False for step in checkouts)
    assert [step for step in steps(workflow) if "${{" in step.get("run", "")] == []
    assert "secrets." not in workflow.read_text(encoding="utf-8")
