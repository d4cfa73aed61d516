"""What is installed is what the lock says, under licences that are known, and nothing else is installed from."""

import shlex
from pathlib import Path

import pytest

from verify.packages import (
    BESIDE_THE_LOCK,
    IN_PAGES,
    Package,
    differences,
    from_elsewhere,
    installed,
    lock,
    named,
    packages,
    table,
    unfit,
)

ROOT = Path(__file__).parents[1]
PINS = {"torch": "2.13.0", "numpy": "2.4.6"}


@pytest.fixture(scope="module")
def pins() -> dict[str, str]:
    return lock()


def test_what_is_installed_is_what_the_lock_says(pins: dict[str, str]):
    assert len(pins) > 100
    assert differences(installed(), pins) == []
    assert from_elsewhere() == []


def test_every_licence_is_known_and_those_in_the_pages_are_permissive(pins: dict[str, str]):
    found = packages(pins)
    assert unfit(found) == []
    assert sorted(package.name for package in found) == sorted(pins)
    assert sum(int(row[2]) for row in table(found)) == len(pins)


def test_nothing_is_excused_that_the_lock_has(pins: dict[str, str]):
    assert pins.keys() & BESIDE_THE_LOCK.keys() == set()
    assert pins.keys() >= IN_PAGES


@pytest.mark.parametrize(
    ("here", "found"),
    [
        (PINS, []),
        (PINS | {"attnlib": "0.1.0", "nvidia-cublas-cu12": "12.8"}, []),
        ({"torch": "2.13.0"}, ["numpy 2.4.6 is not installed"]),
        (PINS | {"numpy": "2.4.5"}, ["numpy is 2.4.5, in the lock 2.4.6"]),
        (PINS | {"left-pad": "1"}, ["left-pad is not in the lock"]),
    ],
)
def test_a_difference_is_found(here: dict[str, str], found: list[str]):
    assert differences(here, PINS) == found


@pytest.mark.parametrize(
    ("stated", "text", "licences"),
    [
        ("MIT AND PSF-2.0", "", ("MIT", "PSF-2.0")),
        ("Apache-2.0 OR BSD-2-Clause", "", ("Apache-2.0", "BSD-2-Clause")),
        ("BSD License; Public Domain", "", ("BSD License", "Public Domain")),
        ("UNKNOWN", "MIT License\n\nCopyright", ("MIT License",)),
        ("UNKNOWN", "UNKNOWN", ("UNKNOWN",)),
    ],
)
def test_licences_are_told_apart(stated: str, text: str, licences: tuple[str, ...]):
    assert named(stated, text) == licences


@pytest.mark.parametrize(
    ("name", "licences", "found"),
    [
        ("sphinx", ("MIT", "BSD License"), []),
        ("docutils", ("MIT", "GNU General Public License (GPL)"), []),
        ("sphinx", ("MIT", "MPL-2.0"), ["sphinx is in the pages, and its licence is copyleft of files"]),
        ("numpy", ("MIT", "Proprietary"), ["numpy: licence not known: Proprietary"]),
        ("numpy", ("UNKNOWN",), ["numpy: licence not known: UNKNOWN"]),
    ],
)
def test_a_licence_that_does_not_fit_is_found(name: str, licences: tuple[str, ...], found: list[str]):
    assert unfit([Package(name, licences)]) == found


def test_make_installs_from_the_lock_alone():
    recipe = (ROOT / "Makefile").read_text(encoding="utf-8").partition("\n.venv/installed:")[2].partition("\n\n")[0]
    installs = [shlex.split(line) for line in recipe.splitlines() if "/pip install" in line]
    assert len(installs) == 3
    torch, rest, own = installs
    assert torch[-1] == "$(TORCH)"
    assert "--no-deps" in torch
    assert rest[-2:] == ["-r", "requirements.lock"]
    assert own[-2:] == ["--editable", "."]
    assert {"--no-deps", "--no-build-isolation"} <= set(own)
