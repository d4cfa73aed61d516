"""Kill what writes files, at random moments: nothing is read half written, and the next run does all that it should.

A run is killed in two ways by turns: with all that it has begun, as when a machine is switched off, or alone, as by
``kill -9``. What it had begun then has to end by itself, while the next run is already under way.
"""

import random
import shutil
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import nbformat
import psutil
import yaml

from attnlib.experiments.record import read
from verify.record import ROOT, Found

KILLS, MISSES, PATIENCE = 20, 10, 60
HEAD = ["what", "killed while it ran", "ended before", "half-written files", "next run succeeded", "same results"]
HEAD += ["processes left end within"]
ASIDE = (".new", ".tmp")

Made = dict[str, object]


class Task(NamedTuple):
    """A run that writes files into a folder.

    Attributes
    ----------
    name : str
    begin : function
        Lays out what is in the folder before the run.
    command : list of str
        Runs in the folder.
    made : function
        Reads what is in the folder, by its name; ValueError if something cannot be read.
    anew : bool
        Whether a run uses nothing that the last one has left, so that it may be in any state.
    """

    name: str
    begin: Callable[[Path], None]
    command: list[str | Path]
    made: Callable[[Path], Made]
    anew: bool = False


class Outcome(NamedTuple):
    """What came of one kill."""

    half: list[str]
    succeeded: bool
    same: bool
    lingered: float
    survivors: list[str]
    said: str


# --- Killing ---


@contextmanager
def begun(command: list[str | Path], folder: Path) -> Iterator[subprocess.Popen]:
    """Begin a command in a folder, and keep what it says beside the folder."""
    with said_in(folder).open("wb") as said:
        yield subprocess.Popen(command, cwd=folder, stdout=said, stderr=subprocess.STDOUT)


def said_in(folder: Path) -> Path:
    """Name the file of what the last command in a folder said."""
    return folder.with_name(f"{folder.name}.txt")


def finish(task: Task, folder: Path) -> float:
    """Run undisturbed, and give the seconds that it took."""
    began = time.perf_counter()
    with begun(task.command, folder) as process:
        status = process.wait()
    if status:
        raise RuntimeError(f"{task.name} fails undisturbed: {said_in(folder).read_text('utf-8')[-3000:]}")
    return time.perf_counter() - began


def kill(process: subprocess.Popen, alone: bool) -> list[psutil.Process]:
    """Kill a run with all that it has begun, or alone; of make, its command. Give all that it had begun."""
    first = psutil.Process(process.pid)
    first.suspend()
    others = first.children(recursive=True)
    victims = [first, *others]
    if alone:
        victims = others[:1] if first.name() == "make" and others else [first]
    for victim in victims:
        with suppress(psutil.NoSuchProcess):
            victim.kill()
    with suppress(psutil.NoSuchProcess):
        first.resume()
    process.wait()
    return others


def killed(task: Task, folder: Path, after: float, alone: bool) -> list[psutil.Process] | None:
    """Begin a run and kill it after so many seconds. Give what it had begun, or None if it has ended before."""
    with begun(task.command, folder) as process:
        try:
            process.wait(after)
        except subprocess.TimeoutExpired:
            return kill(process, alone)
    return None


def end(processes: list[psutil.Process]) -> tuple[float, list[str]]:
    """Wait until all have ended. Give the seconds that it took, and the commands of those that had to be killed."""
    began = time.perf_counter()
    while (alive := [process for process in processes if runs(process)]) and time.perf_counter() - began < PATIENCE:
        time.sleep(0.05)
    commands = [command(process) for process in alive]
    for process in alive:
        with suppress(psutil.NoSuchProcess):
            process.kill()
    return time.perf_counter() - began, commands


def runs(process: psutil.Process) -> bool:
    """Tell whether a process has not ended; one that has, and that nobody has asked how, runs no more."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def command(process: psutil.Process) -> str:
    """Read the command of a process, for as long as there is one."""
    try:
        return " ".join(process.cmdline())
    except psutil.NoSuchProcess:
        return "ended at last"


# --- Looking ---


def half_written(task: Task, folder: Path, before: Made, expected: Made) -> list[str]:
    """Name what is neither as it was nor as it is to be."""
    if task.anew:
        return []
    try:
        now = task.made(folder)
    except ValueError as error:
        return [str(error)]
    told = {name: value for name, value in now.items() if not name.endswith(ASIDE)}
    return [name for name, value in told.items() if value not in (before.get(name), expected.get(name))]


def run_again(task: Task, folder: Path, others: list[psutil.Process], before: Made, expected: Made) -> Outcome:
    """Look at what a killed run has left, and run again while what it had begun may still be there."""
    half = half_written(task, folder, before, expected)
    with begun(task.command, folder) as process:
        lingered, survivors = end(others)
        succeeded = process.wait() == 0
    same = succeeded and task.made(folder) == expected
    return Outcome(half, succeeded, same, lingered, survivors, said_in(folder).read_text("utf-8", "replace"))


def complaints(where: str, found: Outcome) -> list[str]:
    """Say what is wrong after a kill."""
    wrong = {
        f"half written: {', '.join(found.half)}": found.half,
        f"the next run fails: {found.said[-1500:]}": not found.succeeded,
        "the next run makes something else": found.succeeded and not found.same,
        f"not ended after {PATIENCE} s: {', '.join(found.survivors)}": found.survivors,
    }
    return [f"{where}: {what}" for what, is_so in wrong.items() if is_so]


def row(task: Task, found: list[Outcome], missed: int) -> list[str]:
    """Sum up the kills of one run."""
    half = "none is read again" if task.anew else str(sum(bool(one.half) for one in found))
    succeeded, same = sum(one.succeeded for one in found), sum(one.same for one in found)
    lingered = max((one.lingered for one in found), default=0)
    return [task.name, str(len(found)), str(missed), half, str(succeeded), str(same), f"{lingered:.1f} s"]


def kills(task: Task, wanted: int = KILLS, seed: int = 0) -> tuple[list[str], list[str]]:
    """Kill a run so many times, at moments spread over its length. Give a row of the table, and what is wrong."""
    rng, found, missed, wrong = random.Random(seed), [], 0, []
    with TemporaryDirectory() as scratch:
        start, folder = Path(scratch, "start"), Path(scratch, "folder")
        start.mkdir()
        task.begin(start)
        before = task.made(start)
        shutil.copytree(start, folder)
        seconds = finish(task, folder)
        expected = task.made(folder)
        while len(found) < wanted and missed < MISSES:
            moment, alone = (len(found) + rng.random()) / wanted, len(found) % 2 == 1
            shutil.rmtree(folder)
            shutil.copytree(start, folder)
            began = time.perf_counter()
            others = killed(task, folder, moment * seconds, alone)
            if others is None:
                missed, seconds = missed + 1, time.perf_counter() - began
                continue
            found.append(run_again(task, folder, others, before, expected))
            where = f"{task.name}, killed {'alone' if alone else 'with all'} at {moment:.0%} of {seconds:.1f} s"
            print(f"  {len(found)} of {wanted}: {where}", flush=True)
            wrong += complaints(where, found[-1])
    if len(found) < wanted:
        wrong.append(f"{task.name}: {missed} runs ended before their kill, and only {len(found)} were killed")
    return row(task, found, missed), wrong


# --- What is killed ---


def files(folder: Path) -> Made:
    """Read all files of a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def refresh(notebook: Path) -> Task:
    """Refresh a notebook, without its outputs to begin with."""

    def begin(folder: Path) -> None:
        stripped = nbformat.read(notebook, as_version=4)
        for cell in stripped.cells:
            if cell.cell_type == "code":
                cell.outputs, cell.execution_count = [], None
        nbformat.write(stripped, folder / notebook.name)

    command = [sys.executable, ROOT / "tools" / "refresh.py", notebook.name]
    return Task("the refresh of a chapter", begin, command, files)


EXPERIMENT = """
    from dataclasses import replace
    from pathlib import Path

    from attnlib import experiments, variants
    from attnlib.language import grammar
    from attnlib.corpus import Vocabulary
    from attnlib.experiments import Budget, runner, variants

    PAIRS = grammar.sample(300, seed=0)
    WORDS = Vocabulary.of(pair.source for pair in PAIRS), Vocabulary.of(pair.target for pair in PAIRS)
    variants.vocabularies = lambda: WORDS
    VARIANT = replace(runner.VARIANTS["global-dot"], seeds=(0, 1))
    SMALL = Budget(emb=5, hid=4, pairs=40, words=150, steps=3, test_clauses=(1, 4), test_sentences=2, width=2)
    runner.VARIANTS = {VARIANT.name: VARIANT}

    if __name__ == "__main__":
        runner.record_all([VARIANT.name], budget=SMALL, folder=Path("results"), workers=1, progress=False)
"""


def experiment() -> Task:
    """Record a variant of two seeds, under a budget of a few steps; all but the measured costs is compared."""

    def begin(folder: Path) -> None:
        (folder / "two_rows.py").write_text(textwrap.dedent(EXPERIMENT), "utf-8")

    def made(folder: Path) -> Made:
        results = folder / "results"
        found: Made = {path.name: "" for path in results.glob("*") if path.suffix != ".json"}
        for path in results.glob("*.json"):
            record = read(path.stem, results)
            rows = {f"row {seed}": values for seed, values in record["rows"].items()}
            costs = {key: record["cost"][key] for key in ("parameters", "multiply_adds")} if record["cost"] else None
            found |= rows | {"costs": costs, "settings": record["settings"], "probe": record["probe"]}
        return found

    return Task("an experiment of two rows", begin, [sys.executable, "two_rows.py"], made)


PAGE = """
    ---
    file_format: mystnb
    kernelspec: {name: python3, display_name: Python 3}
    ---

    # Page

    $$
    a = b
    $$

    ```{code-cell}
    :mystnb: {image: {alt: A line that rises}}

    import matplotlib.pyplot as plt

    plt.plot([1, 2, 3])
    plt.show()
    ```
"""


def book() -> Task:
    """Build a book of one page besides its cover, with our configuration and by our Makefile, over an older build."""
    command = ["make", "book", "-o", ".venv/installed", f"BIN={Path(sys.executable).parent}"]

    def begin(folder: Path) -> None:
        config = yaml.safe_load((ROOT / "_config.yml").read_text("utf-8"))
        extensions = config["sphinx"]["local_extensions"]
        extensions |= {name: str(ROOT / path) for name, path in extensions.items()}
        shutil.copytree(ROOT / "book" / "_static", folder / "book" / "_static")
        shutil.copy(ROOT / "book" / "references.bib", folder / "book")
        shutil.copy(ROOT / "Makefile", folder)
        (folder / "_config.yml").write_text(yaml.safe_dump(config), "utf-8")
        (folder / "_toc.yml").write_text("format: jb-book\nroot: book/index\nchapters:\n  - file: page\n", "utf-8")
        (folder / "book" / "index.md").write_text("# Cover\n\nOf one page.\n", "utf-8")
        page = folder / "page.md"
        page.write_text(textwrap.dedent(PAGE).lstrip(), "utf-8")
        finish(older, folder)
        page.write_text(page.read_text("utf-8").replace("# Page", "# Another page").replace("2, 3", "3, 2"), "utf-8")

    def made(folder: Path) -> Made:
        """Read the pages and all that they show. The copies of sources hold ids that are drawn anew each time."""
        built = files(folder / "_build" / "html")
        return {name: content for name, content in built.items() if not name.startswith("_sources/")}

    older = Task("a build of a book of one page", begin, command, made, anew=True)
    return older


# --- Other faults ---


def cut(task: Task) -> tuple[int, list[str]]:
    """Cut every file of a finished build in half, build again, and name what is not as it was. Count the files, too."""
    with TemporaryDirectory() as scratch:
        folder = Path(scratch, "folder")
        folder.mkdir()
        task.begin(folder)
        finish(task, folder)
        expected = task.made(folder)
        remains = [path for path in (folder / "_build").rglob("*") if path.is_file()]
        for path in remains:
            path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
        found = run_again(task, folder, [], {}, expected)
        now = task.made(folder)
        different = sorted(name for name in now.keys() | expected.keys() if now.get(name) != expected.get(name))
    wrong = complaints("a build over files cut in half", found)
    return len(remains), [*wrong, *(f"a build over files cut in half: {name} is another" for name in different)]


REWRITE = """
    import sys
    from itertools import cycle
    from pathlib import Path

    from whole import write

    for letter in cycle([b"a", b"b"]):
        write(Path(sys.argv[1]), letter * int(sys.argv[2]))
"""


def rewritten(wanted: int = KILLS, seed: int = 0, size: int = 4_000_000) -> tuple[int, list[str]]:
    """Kill what writes a file over and over. Count the kills in the middle of a write, and say what is wrong."""
    rng, unfinished, wrong = random.Random(seed), 0, []
    for _ in range(wanted):
        with TemporaryDirectory() as scratch:
            path = Path(scratch, "letters")
            command = [sys.executable, "-c", textwrap.dedent(REWRITE), path, str(size)]
            with subprocess.Popen(command, cwd=ROOT / "tools") as process:
                while process.poll() is None and not path.exists():
                    time.sleep(0.001)
                time.sleep(0.3 * rng.random())
                process.kill()
            unfinished += path.with_name(f".{path.name}.new").exists()
            if path.read_bytes() not in (b"a" * size, b"b" * size):
                wrong.append("a file written over and over: it is found half written")
    return unfinished, wrong


def verify() -> Found:
    """Kill a build, a refresh and an experiment; cut a build's files in half; kill a write."""
    chapter = min((ROOT / "notebooks").glob("*.ipynb"))
    rows, failures = zip(*map(kills, (book(), refresh(chapter), experiment())), strict=True)
    remains, spoilt = cut(book())
    unfinished, half = rewritten()
    said = [
        f"A file that is written over and over was killed {KILLS} times, {unfinished} of them in the middle of a write."
        f" It was found half written {len(half)} times.",
        f"All {remains} files of a finished build were cut in half. {len(spoilt)} files of the next build were other"
        " than those of an undisturbed one.",
    ]
    return Found(HEAD, list(rows), said, [*chain(*failures), *spoilt, *half])
