"""The evidence that a build leaves: what it executed, on what, for how long, and which checks held."""

import ast
import platform
import subprocess
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from threading import Event, Thread
from typing import Any, NamedTuple

import psutil
from docutils import nodes
from IPython.core.inputtransformer2 import TransformerManager
from myst_nb.sphinx_ import NbMetadataCollector
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.docutils import SphinxDirective

from attnlib.experiments.record import processor

PACKAGES = (
    *("array-api-compat", "jaxtyping", "matplotlib", "numpy", "sacrebleu", "scipy", "torch", "tqdm"),
    *("ipykernel", "jupyter-book", "myst-nb", "sphinx", "sphinx-book-theme"),
)
MEBIBYTE = 2**20


class Execution(NamedTuple):
    """What is known of the code on a page: how many cells and asserts it has, and how much memory it took, in bytes."""

    cells: int
    checks: int
    peak: int


class Watch(Thread):
    """Look several times a second at the processes that this one has begun, and remember the most memory any had."""

    def __init__(self):
        super().__init__(daemon=True)
        self.peak, self.over = 0, Event()

    def run(self) -> None:
        """Look until it is over."""
        while not self.over.wait(0.1):
            for process in psutil.Process().children(recursive=True):
                self.peak = max(self.peak, peak_memory(process))

    def stop(self) -> int:
        """Give the peak, in bytes."""
        self.over.set()
        self.join()
        return self.peak


def peak_memory(process: psutil.Process) -> int:
    """Read the most memory that a process has had, in bytes; where the system does not keep it, what it has now."""
    try:
        status = Path(f"/proc/{process.pid}/status")
        if status.is_file():
            kibibytes = [line.split()[1] for line in status.read_text().splitlines() if line.startswith("VmHWM")]
            return 1024 * int(kibibytes[0]) if kibibytes else 0
        memory = process.memory_info()
        return getattr(memory, "peak_wset", memory.rss)
    except (OSError, psutil.Error):  # it has ended meanwhile
        return 0


def begin(app: Sphinx, name: str, source: list[str]) -> None:
    """Watch while a page is read, since reading it executes its code."""
    app.env.temp_data["watch"] = Watch()
    app.env.temp_data["watch"].start()


def end(app: Sphinx, document: nodes.document) -> None:
    """Note what was executed on the page that has been read."""
    peak = app.env.temp_data["watch"].stop()
    containers = document.findall(nodes.container)
    sources = [box.astext() for box in containers if box.get("nb_element") == "cell_code_source"]
    if sources:
        evidence(app.env)[app.env.docname] = Execution(len(sources), sum(map(checks, sources)), peak)


def evidence(env: BuildEnvironment) -> dict[str, Execution]:
    """Find what earlier pages, and earlier builds, have left."""
    if not hasattr(env, "evidence"):
        env.evidence = {}
    return env.evidence


def checks(cell: str) -> int:
    """Count the asserts of a cell."""
    tree = ast.parse(TransformerManager().transform_cell(cell))
    return sum(isinstance(node, ast.Assert) for node in ast.walk(tree))


def executions(env: BuildEnvironment) -> list[list[str]]:
    """Say of each page with code when and how long it was executed, or that it was not."""
    head = ["page", "executed", "seconds", "peak memory", "cells", "checks that held"]
    rows, took, most, held = [], 0.0, 0, 0
    order = [str(name) for name in env.config.external_site_map]
    for name in sorted(evidence(env), key=order.index):
        cells, asserts, peak = evidence(env)[name]
        data = NbMetadataCollector.get_doc_data(env)[name].get("exec_data")
        if data is None:
            rows.append([f"/{name}", "not in this build: stored outputs", "", "", str(cells), f"none of {asserts}"])
            continue
        when = datetime.fromtimestamp(data["mtime"], UTC)
        took, most, held = took + data["runtime"], max(most, peak), held + asserts
        memory = f"{peak / MEBIBYTE:.0f} MiB" if peak else "not known"
        rows.append(
            [f"/{name}", f"{when:%Y-%m-%d %H:%M} UTC", f"{data['runtime']:.1f}", memory, str(cells), str(asserts)]
        )
    total = ["in this build", "", f"{took:.1f}", f"{most / MEBIBYTE:.0f} MiB", "", str(held)]
    return [head, *rows, total]


def machine(env: BuildEnvironment) -> list[list[str]]:
    """Say on what the build ran."""
    return [
        ["what", "which"],
        ["revision of the book", revision(Path(env.srcdir))],
        ["processor", processor()],
        ["memory", f"{psutil.virtual_memory().total / (1024 * MEBIBYTE):.0f} GiB"],
        ["system", f"{platform.system()} {platform.machine()}"],
        ["Python", platform.python_version()],
        *([name, metadata.version(name)] for name in PACKAGES),
    ]


def revision(folder: Path) -> str:
    """Name the commit that git has checked out in a folder."""

    def git(*arguments: str) -> str:
        return subprocess.run(["git", "-C", folder, *arguments], capture_output=True, text=True, check=True).stdout

    try:
        return git("rev-parse", "--short=12", "HEAD").strip() + (
            " and changes to it" * bool(git("status", "--porcelain"))
        )
    except (OSError, subprocess.CalledProcessError):
        return "not known"


TABLES = {"executions": executions, "machine": machine}


class Table(nodes.General, nodes.Element):
    """Where a table of evidence will be, once all pages have been read."""


class EvidenceTable(SphinxDirective):
    """Put a table of evidence here."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Keep the place."""
        self.env.metadata[self.env.docname]["evidence"] = True
        return [Table(rows=self.arguments[0])]


def written_anew(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Name the pages with tables: they change with every build."""
    return [name for name, known in env.metadata.items() if known.get("evidence")]


def fill(app: Sphinx, document: nodes.document, name: str) -> None:
    """Put the tables in their places."""
    for place in list(document.findall(Table)):
        rows = TABLES[place["rows"]](app.env)
        place.replace_self(table([[entry(app, name, cell) for cell in row] for row in rows]))


def table(rows: list[list[nodes.entry]]) -> nodes.table:
    """Lay cells out as a table whose first row is its head."""
    group = nodes.tgroup("", *(nodes.colspec(colwidth=1) for _ in rows[0]), cols=len(rows[0]))
    for part, content in ((nodes.thead(), rows[:1]), (nodes.tbody(), rows[1:])):
        group += part
        part.extend(nodes.row("", *row) for row in content)
    return nodes.table("", group)


def entry(app: Sphinx, here: str, text: str) -> nodes.entry:
    """Make a cell of a table. One that begins with a slash is a page's name, and becomes its title and a link."""
    if not text.startswith("/"):
        return nodes.entry("", nodes.paragraph("", text))
    title, uri = app.env.titles[text[1:]].astext(), app.builder.get_relative_uri(here, text[1:])
    return nodes.entry("", nodes.paragraph("", "", nodes.reference("", title, internal=True, refuri=uri)))


def setup(app: Sphinx) -> dict[str, Any]:
    """Tell Sphinx."""
    app.add_node(Table)
    app.add_directive("evidence", EvidenceTable)
    app.connect("source-read", begin)
    app.connect("doctree-read", end)
    app.connect("env-purge-doc", lambda app, env, name: evidence(env).pop(name, None))
    app.connect("env-updated", written_anew)
    app.connect("doctree-resolved", fill)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
