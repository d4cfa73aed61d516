"""The package as a whole: who imports whom, and that nothing it reads from disk could run code."""

import ast
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from jaxtyping import TypeCheckError

import attnbook.cards
import attnlib
import attntext
from attnlib.presets import luong
from attnlib.scores import dot

HOME = Path(attnlib.__file__).parents[1]
PATHS = {".".join(path.relative_to(HOME).with_suffix("").parts): path for path in HOME.rglob("*.py")}
SOURCES = {name.removesuffix(".__init__"): path.read_text("utf-8") for name, path in PATHS.items()}
PACKAGES = {package.__name__: package for package in (attnlib, attnbook, attntext)}  # each imports from those before it
ORDER = [
    f"{name}.{module}"
    for name, package in PACKAGES.items()
    for module in re.findall(r"^- `(\w+)`", package.__doc__, re.MULTILINE)
]


def imported(name: str) -> set[str]:
    """List the packages' modules that a module imports, wherever in its source the import stands."""
    names = set()
    for node in ast.walk(ast.parse(SOURCES[name])):
        if isinstance(node, ast.ImportFrom):
            assert not node.level, f"{name}: a relative import"
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    return {other for other in names if other in SOURCES and other not in PACKAGES}


def home(name: str) -> str:
    """Name the module, or the folder of modules, that the reading order lists."""
    return ".".join(name.split(".")[:2])


LISTED = sorted(SOURCES.keys() - PACKAGES.keys() - {"attntext.__main__"})


@pytest.mark.parametrize("name", LISTED)
def test_a_module_imports_only_from_those_above_it_and_from_its_own_folder(name):
    place = ORDER.index(home(name))
    assert max((ORDER.index(home(other)) for other in imported(name)), default=0) <= place


def test_every_module_and_folder_is_listed():
    assert {*ORDER} == {home(name) for name in LISTED}


@pytest.fixture
def run_without(tmp_path):
    """Run a script in a process in which importing certain packages raises an error."""

    def run(script: str, *packages: str) -> None:
        for name in packages:
            (tmp_path / f"{name}.py").write_text(f"raise ImportError('{name} is not there')")
        begin = f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
        subprocess.run([sys.executable, "-c", begin + script], check=True, env=os.environ | {"MPLBACKEND": "Agg"})

    return run


@pytest.mark.parametrize(
    ("script", "missing"),
    [
        ("import attnlib; assert 'luong' in dir(attnlib)", ["torch", "numpy"]),
        ("import attnbook; attnbook.load_pretrained('bahdanau')", ["sentencepiece", "filelock", "matplotlib"]),
        ("from attntext.settings import TrainingConfig; TrainingConfig()", ["torch"]),
    ],
)
def test_a_name_loads_only_what_it_needs(run_without, script, missing):
    run_without(script, *missing)


def test_chapter_1_runs_without_torch(run_without, root):
    cells = json.loads((root / "notebooks" / "01-attention-from-scratch.ipynb").read_text("utf-8"))["cells"]
    code = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    run_without(code.replace("%pip", "pass  #"), "torch")


def test_the_front_door_leads_to_every_name_and_to_no_other():
    assert all(getattr(attnlib, name) is not None for name in attnlib.__all__)
    assert {*attnlib.__all__} <= {*dir(attnlib)}
    assert attnlib.luong is luong
    with pytest.raises(AttributeError, match="module 'attnlib' has no attribute 'loong'"):
        attnlib.loong  # noqa: B018


@pytest.mark.parametrize("package", [attnlib, attnbook, attnbook.cards])
def test_no_module_hides_a_name_of_its_package(package):
    """A module, once loaded, stands in its package under its name: `attention` would be no function any more."""
    assert not {*package.__all__} & {name.rpartition(".")[2] for name in SOURCES if name.startswith(package.__name__)}


def test_nothing_is_loaded_that_could_run_code():
    loaders = r"pickle(?! import UnpicklingError)|np\.load|numpy\.load|shelve|marshal|eval\(|exec\("
    unsafe = r"torch\.load\((?!.*weights_only=True)"
    pattern = re.compile(rf"(?<![\w.])({loaders}|{unsafe})")  # not a module's own eval()
    assert {name: uses for name, source in SOURCES.items() if (uses := pattern.findall(source))} == {}


def test_every_test_checks_the_shapes_in_the_signatures_that_it_calls():
    with pytest.raises(TypeCheckError):
        dot(np.ones((2, 3)), np.ones((2, 5)))
