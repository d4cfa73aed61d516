"""A dry run of the move to Jupyter Book 2, whose engine is MyST: on a copy, up to where it asks for its template.

MyST upgrades the copy's configuration, then reads all pages, resolves what refers to what, and writes their content.
Two things are Sphinx's work and are laid beside the copy: pages for the modules of the package, which the book makes of
Python files, and a plugin for the book's own directives. No other host is asked but npm's registry.
"""

import json
import os
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import yaml

from verify.record import ROOT, Found
from verify.stand_ins import module_page, modules, pages, stand_ins

ENGINE = "mystmd"
VERSION = "1.8.3"
INTEGRITY = "sha512-sAdTEgy3EX9lc/qddzgJU62oCZTMhGgu0GZsCuMCmOuXXsyDMqHGW4lEE+eMmk8bx+2DsmkTnlQnaKgVq03gfw=="
NOBODY = "http://localhost:9"
PLUGIN = Path(__file__).with_suffix(".mjs")
MODULES = "src/attnlib"
MESSAGE = re.compile(r"^[⛔⚠]\ufe0f?\s+(?P<page>[^\s:]+)(?::\d+)*\s+(?P<text>.*)$", re.MULTILINE)
KINDS = {  # of messages, by what they say
    "unknown directives and roles": re.compile("unknown directive|unknown role"),
    "broken links and citations": re.compile(
        'Cross reference target was not found|No target for internal reference|Link for "(?!https?:)'
        '|Could not link citation|Cannot find image|Could not find "'
    ),
    "other hosts": re.compile('Link for "https?:|Could not find DOI'),
    "remarks": re.compile("unexpected option|implicit heading reference"),
    "other faults": re.compile(""),
}
FAULTS = ("unknown directives and roles", "broken links and citations", "other faults")
PLANTED = {
    "a directive that nobody defines": "```{nothing}\n```",
    "one in reStructuredText": "```{eval-rst}\n.. nothing::\n```",
    "a role that nobody defines": "{nothing}`x`",
    "a link to a page that is not there": "[x](nothing.md)",
    "a link to a notebook that is not there": "[x](../notebooks/nothing.ipynb)",
    "a link to a heading that is not there": "[x](glossary.md#nothing)",
    "a link to a function that is not there": f"[x](../{MODULES}/scores.md#attnlib.scores.nothing)",
    "a link within the page that leads nowhere": "[x](#nothing)",
    "a citation of a paper that is not in the list": "{cite:p}`nobody2000`",
    "a term that is not in the glossary": "{term}`nothing`",
    "a picture that is not there": "![A picture](nothing.png)",
    "an equation that cannot be read": r"$\nothing$",
}


class Message(NamedTuple):
    """What MyST says about a page, and of which kind that is."""

    page: str
    kind: str
    text: str


def verify() -> Found:
    """Move a copy of the book, then plant faults in it and see whether they are reported."""
    if not shutil.which("npm"):
        return Found(["page"], [], [], ["npm is not installed, so there was no dry run"])
    with TemporaryDirectory() as scratch:
        engine, book = Path(scratch, "engine"), Path(scratch, "book")
        installed = install(engine)
        if installed.returncode:
            reason = next((line for line in installed.stderr.splitlines() if line.startswith("npm error")), "")
            return Found(["page"], [], [], [f"npm cannot install {ENGINE} {VERSION}: {reason}"])
        myst = engine / "node_modules" / ".bin" / "myst"
        moved = copy(book)
        said = upgrade(myst, book) + build(myst, book)
        trees = contents(book)
        missed = unnoticed(myst, book)
    return found(pages(), said, trees, moved, missed)


# --- The engine and the copy ---


def install(folder: Path) -> subprocess.CompletedProcess:
    """Install MyST: that version, with that digest, and without running any script of it."""
    lock = {f"node_modules/{ENGINE}": {"version": VERSION, "integrity": INTEGRITY, "bin": {"myst": "./dist/myst.cjs"}}}
    named = {"dependencies": {ENGINE: VERSION}}
    put(folder / "package.json", json.dumps(named))
    put(folder / "package-lock.json", json.dumps({"lockfileVersion": 3, "packages": {"": named, **lock}}))
    command = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=300)


def copy(folder: Path) -> int:
    """Copy what git tracks, write the modules' pages, and count the links that lead to one of them."""
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "-z"], capture_output=True, text=True, check=True).stdout
    for name in filter(lambda name: (ROOT / name).is_file(), listed.split("\0")):
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, target)
    for name in modules():
        put(folder / f"{name}.md", module_page(ROOT / f"{name}.py"))
    return sum(led_to_markdown(page) for page in sources(folder))


def put(path: Path, text: str) -> None:
    """Write a file, and the folder that it is in."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def sources(folder: Path) -> list[Path]:
    """Find the files of all pages that people write."""
    names = (folder / f"{name}{ending}" for name in pages() for ending in (".md", ".ipynb"))
    return [path for path in names if path.is_file()]


def led_to_markdown(page: Path) -> int:
    """Have the links to a module's source lead to its page, and count them."""
    text, count = re.subn(rf"({MODULES}/\w+)\.py(?=[)#])", r"\1.md", page.read_text(encoding="utf-8"))
    put(page, text)
    return count


# --- The move ---


def run(myst: Path, book: Path, *arguments: str) -> list[Message]:
    """Run MyST in the copy, let it upgrade what it asks to, and read what it says."""
    quiet = os.environ | {"HTTPS_PROXY": NOBODY, "NO_COLOR": "1"}
    command = [myst, *arguments]
    done = subprocess.run(
        command, cwd=book, env=quiet, input="y\n", capture_output=True, text=True, check=False, timeout=300
    )
    return [message(line["page"], line["text"]) for line in MESSAGE.finditer(done.stdout + done.stderr)]


def message(page: str, text: str) -> Message:
    """Tell of which kind a message is."""
    return Message(page, next(kind for kind, pattern in KINDS.items() if pattern.search(text)), text)


def upgrade(myst: Path, book: Path) -> list[Message]:
    """Have MyST make its configuration of the book's, then add the plugin, and keep the numbers of equations."""
    said = run(myst, book, "init", "--project", "--site", "--write-toc")
    shutil.copyfile(PLUGIN, book / PLUGIN.name)
    put(book / "ours.json", json.dumps(stand_ins()))
    configuration = yaml.safe_load((book / "myst.yml").read_text(encoding="utf-8"))
    configuration["project"] |= {"plugins": [PLUGIN.name], "numbering": {"equation": False}}
    put(book / "myst.yml", yaml.safe_dump(configuration))
    return said


def build(myst: Path, book: Path) -> list[Message]:
    """Have MyST read all pages, resolve all references and check all links."""
    return run(myst, book, "build", "--site", "--strict", "--ci")


def contents(book: Path) -> dict[str, dict[str, Any]]:
    """Read what MyST has written, by the source of the page."""
    written = [json.loads(path.read_text("utf-8")) for path in (book / "_build" / "site" / "content").glob("*.json")]
    return {page["location"].removeprefix("/"): page["mdast"] for page in written}


def unnoticed(myst: Path, book: Path) -> list[str]:
    """Plant faults, one on a page, and name those of which MyST says nothing."""
    names = {fault: f"book/fault-{number}.md" for number, fault in enumerate(PLANTED)}
    for fault, text in PLANTED.items():
        put(book / names[fault], f"# A fault\n\n{text}\n")
    configuration = yaml.safe_load((book / "myst.yml").read_text(encoding="utf-8"))
    configuration["project"]["toc"] += [{"file": name} for name in names.values()]
    put(book / "myst.yml", yaml.safe_dump(configuration))
    noticed = {said.page for said in build(myst, book) if said.kind in FAULTS}
    return [fault for fault, name in names.items() if name not in noticed]


# --- What was found ---


def within(tree: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Walk through all nodes of a page."""
    yield tree
    for child in tree.get("children", []):
        yield from within(child)


def resolved(tree: dict[str, Any]) -> Counter[str]:
    """Count on a page the links that lead to a place in the book, the citations and the displayed equations."""

    def what(node: dict[str, Any]) -> str:
        match node:
            case {"type": "link", "internal": True} | {"type": "crossReference", "resolved": True}:
                return "links"
            case {"type": "link", "url": str(url)} if url.startswith("http"):
                return "elsewhere"
            case {"type": "cite", "label": str(label)} if "error" not in node:
                return "elsewhere" if label.startswith("http") else "citations"
            case {"type": "math"}:
                return "numbered twice" if "enumerator" in node and r"\tag" in node["value"] else "equations"
            case {"type": "output", "jupyter_data": {"data": {"image/png": _}}} if "alt" not in node:
                return "untold pictures"
        return "other"

    return Counter(map(what, within(tree)))


def found(
    names: list[str], said: list[Message], trees: dict[str, dict[str, Any]], moved: int, missed: list[str]
) -> Found:
    """Lay out a row for each page, and one for all modules."""
    counts = {name: resolved(tree) for name, tree in trees.items()}
    files = [next((file for file in trees if Path(file).with_suffix("") == Path(name)), "") for name in names]
    made = [file for file in trees if file.startswith(MODULES)]
    kinds = ["unknown directives and roles", "broken links and citations", "other faults", "remarks"]

    def row(title: str, group: list[str]) -> list[str]:
        total = sum((counts[file] for file in group), Counter())
        heard = Counter(message.kind for message in said if message.page in group)
        return [title, *(str(total[k]) for k in ("links", "citations", "equations")), *(str(heard[k]) for k in kinds)]

    own = stand_ins()["directives"]
    remarks = sorted({message.text.rstrip(".") for message in said if message.kind == "remarks"})
    whole = sum(counts.values(), Counter())
    return Found(
        head=["page", "links in the book", "citations", "equations", *kinds],
        rows=[
            *(row(name, [file]) for name, file in zip(names, files, strict=True) if file),
            row(f"{len(made)} modules of attnlib", made),
        ],
        said=[
            f"{ENGINE} {VERSION} upgraded the configuration, read {len(trees)} pages and wrote their content. "
            "The template that makes pages of it comes from another host and was not asked for.",
            f"Of {len(PLANTED)} faults that were then planted in the copy, one a page, it reported "
            f"{len(PLANTED) - len(missed)}.",
            f"A plugin stands for the book's own directives ({', '.join(own)}): it lists the modules, and says of each "
            "table that Sphinx makes it. It also reads the reStructuredText around one. A real move ports them.",
            "The modules' pages, which Sphinx makes of Python files, stand in the copy as Markdown with the first "
            f"paragraph of each docstring. Links that lead there instead of to Python files: {moved}. A real move "
            "generates these pages, and tells Dot from dot by more than a capital: MyST's labels have none.",
            "Notebooks keep the outputs that they store; no code was run. "
            f"{whole['elsewhere']} links to other hosts were not looked up.",
            "Equations keep the numbers that they have, since the copy turns MyST's own numbers off.",
            f"{whole['untold pictures']} pictures that cells show have no alternative text in what MyST writes: "
            "it does not take it from the cells' metadata. A real move writes these texts elsewhere.",
            f"Remarks: {'; '.join(remarks)}.",
        ],
        failures=[
            *(f"{message.page}: {message.text}" for message in said if message.kind in FAULTS),
            *(f"{name} was not written" for name in {*names, *modules()} - {file.rsplit(".", 1)[0] for file in trees}),
            *(f"{file} numbers equations twice" for file, count in counts.items() if count["numbered twice"]),
            *(f"MyST does not report {fault}" for fault in missed),
        ],
    )
