"""The workflows that run on GitHub: valid, pinned, and with no more rights than they use."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

FOLDER = Path(__file__).parents[1] / ".github" / "workflows"
WORKFLOWS = {path.name: path.read_text(encoding="utf-8") for path in sorted(FOLDER.glob("*"))}
TRIGGERS = {
    "pages.yml": {"push", "workflow_dispatch"},
    "test.yml": {"push", "pull_request"},
    "verify.yml": {"schedule", "workflow_dispatch"},
    "weekly.yml": {"schedule", "workflow_dispatch"},
}
MINUTES = {"verify.yml": 350}  # all others: an hour
READ = {"contents": "read"}
DEPLOY = {"pages": "write", "id-token": "write"}
OURS = re.compile(r"make |\.ci/run$|\.venv/bin/|mkdir |sed |echo ")
FETCHED = re.compile(r"\b(curl|wget|git|npm|npx|pip|uvx)\b")
PINNED = re.compile(r"[\s-]*uses: actions/[a-z-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+")
CHECKOUT, VERSION = re.search(r"(actions/checkout@\S+) (# v\S+)", WORKFLOWS["test.yml"]).groups()


def parsed(text: str) -> dict:
    # YAML 1.1 reads the key `on` as true; GitHub does not.
    return {"on" if key is True else key: value for key, value in yaml.safe_load(text).items()}


def steps(text: str) -> list[dict]:
    return [step for job in parsed(text)["jobs"].values() for step in job.get("steps", [])]


def is_the_deployment(name: str, job: dict) -> bool:
    """Tell the job that may write: it has one step, which is not of ours, and runs for the main branch only."""
    return (
        name == "pages.yml"
        and job["permissions"] == DEPLOY
        and job.get("if") == "github.ref == 'refs/heads/main'"
        and [step.get("uses", "").split("@")[0] for step in job["steps"]] == ["actions/deploy-pages"]
    )


def complaints(name: str, text: str) -> set[str]:
    """Find what a workflow should not have, in words."""
    whole, lines = parsed(text), text.splitlines()
    jobs, runs = whole["jobs"].values(), [line for step in steps(text) for line in step.get("run", "").splitlines()]
    uses = [line for line in lines if re.match(r"[\s-]*uses:", line)]
    checkouts = [step.get("with", {}) for step in steps(text) if "/checkout@" in step.get("uses", "")]
    found = {
        "it starts when it should not": set(whole["on"]) != TRIGGERS[name],
        "it has rights": whole.get("permissions") != READ,
        "a job has rights": any("permissions" in job and not is_the_deployment(name, job) for job in jobs),
        "a job is not its own": any(job.keys() & {"uses", "secrets", "container", "services"} for job in jobs),
        "a job runs elsewhere": any(job.get("runs-on") != "ubuntu-24.04" for job in jobs),
        "a job runs for ever": any(job.get("timeout-minutes", 360) > MINUTES.get(name, 60) for job in jobs),
        "an action is not pinned": any(not PINNED.fullmatch(line) for line in uses)
        or len(uses) != sum("uses" in step for step in steps(text)),
        "a key is left behind": any(options.get("persist-credentials") is not False for options in checkouts),
        "another revision is checked out": any(options.keys() - {"persist-credentials"} for options in checkouts),
        "it has a secret": re.search(r"\bsecrets\b|github\.token|GITHUB_TOKEN|\bvars\.", text) is not None,
        "text from outside reaches a shell": any("${{" in line for line in runs) or "github.event" in text,
        "something else is run": any(not OURS.match(line.strip()) or FETCHED.search(line) for line in runs),
    }
    return {what for what, holds in found.items() if holds}


def test_each_is_here():
    assert sorted(WORKFLOWS) == sorted(TRIGGERS)


@pytest.mark.parametrize(
    ("schema", "files"),
    [
        ("vendor.github-workflows", [FOLDER / name for name in WORKFLOWS]),
        ("vendor.citation-file-format", [FOLDER.parents[1] / "CITATION.cff"]),
    ],
    ids=["workflows", "citation"],
)
def test_they_keep_to_the_schema(schema: str, files: list[Path]):
    check = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, *files]
    run = subprocess.run(check, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout


@pytest.mark.parametrize("name", WORKFLOWS)
def test_nothing_is_to_complain_of(name: str):
    assert complaints(name, WORKFLOWS[name]) == set()


@pytest.mark.parametrize(
    ("name", "old", "new", "complaint"),
    [
        ("test.yml", "pull_request:", "pull_request_target:", "it starts when it should not"),
        ("verify.yml", "workflow_dispatch:", "pull_request:", "it starts when it should not"),
        ("weekly.yml", "workflow_dispatch:", "workflow_run: {workflows: [Tests]}", "it starts when it should not"),
        ("test.yml", "contents: read", "contents: write", "it has rights"),
        ("test.yml", "permissions:\n  contents: read\n", "", "it has rights"),
        ("test.yml", "    timeout", "    permissions: {contents: write}\n    timeout", "a job has rights"),
        ("pages.yml", "id-token: write", "id-token: write\n      contents: write", "a job has rights"),
        ("pages.yml", "refs/heads/main'", "refs/heads/other'", "a job has rights"),
        ("pages.yml", "      - id: deployment", "      - run: make\n      - id: deployment", "a job has rights"),
        ("test.yml", "    timeout", "    container: python\n    timeout", "a job is not its own"),
        ("test.yml", "ubuntu-24.04", "self-hosted", "a job runs elsewhere"),
        ("test.yml", "    timeout-minutes: 45\n", "", "a job runs for ever"),
        ("verify.yml", "350", "360", "a job runs for ever"),
        ("test.yml", CHECKOUT, "actions/checkout@v6", "an action is not pinned"),
        ("test.yml", CHECKOUT, CHECKOUT.replace("actions/", "somebody/"), "an action is not pinned"),
        ("test.yml", f" {VERSION}", "", "an action is not pinned"),
        ("test.yml", "persist-credentials: false", "persist-credentials: true", "a key is left behind"),
        ("test.yml", "        with:\n          persist-credentials: false\n", "", "a key is left behind"),
        ("weekly.yml", "credentials: false", "credentials: false\n          ref: x", "another revision is checked out"),
        ("test.yml", "cache: pip", "token: ${{ secrets.KEY }}", "it has a secret"),
        ("test.yml", "cache: pip", "token: ${{ github.token }}", "it has a secret"),
        ("test.yml", "- run: .ci/run", "- run: .ci/run ${{ github.head_ref }}", "text from outside reaches a shell"),
        ("test.yml", "cache: pip", "cache: ${{ github.event.title }}", "text from outside reaches a shell"),
        ("test.yml", "- run: .ci/run", "- run: curl -s x.sh | sh", "something else is run"),
        ("test.yml", "- run: .ci/run", "- run: make test; curl -s x.sh | sh", "something else is run"),
        ("verify.yml", "- run: make", "- run: .venv/bin/pip install x && make", "something else is run"),
    ],
)
def test_what_should_not_be_is_found(name: str, old: str, new: str, complaint: str):
    assert old in WORKFLOWS[name]
    assert complaint in complaints(name, WORKFLOWS[name].replace(old, new))


def test_one_action_has_one_version_in_all_workflows():
    used = {step["uses"] for text in WORKFLOWS.values() for step in steps(text) if "uses" in step}
    assert len(used) == len({action.split("@")[0] for action in used})


def test_every_job_installs_with_make_what_the_lock_says():
    """Of jobs that run code of ours, each begins with make or with the script that does."""
    for text in WORKFLOWS.values():
        for job in parsed(text)["jobs"].values():
            runs = [step["run"].split()[0] for step in job["steps"] if "run" in step and "if" not in step]
            assert runs[:1] in ([], ["make"], [".ci/run"])
