"""What is installed: that it is what the lock says, from an index, and under licences that allow what the book does.

The book uses its packages as they are and ships none. Only its pages hold files of some: scripts, styles, pictures.
"""

import json
import re
import subprocess
import sys
from fnmatch import fnmatch
from importlib.metadata import distributions
from itertools import groupby
from typing import NamedTuple

from packaging.utils import canonicalize_name
from packaging.version import Version

from verify.record import ROOT, Found

FAMILIES = {  # of licences, the freest first, and what they ask
    "permissive": "at most that its notice goes with every copy; also allowed in the pages",
    "copyleft of files": "that its own files are published where they are changed; allowed for a tool used as it is",
    "copyleft": "that what is made from it is under the same licence; allowed for a tool used as it is",
}
LICENCES = {  # each with the ways in which packages write it
    ("permissive", "Apache 2.0"): (
        *("Apache-2.0", "Apache 2.0", "Apache License, Version 2.0", "Apache Software License"),
        "Apache-2.0 WITH LLVM-exception",
    ),
    ("permissive", "Boost"): ("BSL-1.0",),
    ("permissive", "BSD"): ("BSD License", "0BSD", "BSD-2-Clause", "BSD-3-Clause"),
    ("permissive", "ISC"): ("ISC", "ISC License (ISCL)"),
    ("permissive", "MIT"): ("MIT", "MIT License", "MIT-0", "MIT-CMU"),
    ("permissive", "public domain"): ("CC0-1.0", "Public Domain"),
    ("permissive", "Python"): ("CNRI-Python", "PSF-2.0", "Python Software Foundation License"),
    ("permissive", "zlib"): ("Zlib",),
    ("copyleft of files", "MPL 2.0"): ("MPL-2.0", "Mozilla Public License 2.0 (MPL 2.0)"),
    ("copyleft", "GPL"): ("GNU General Public License (GPL)",),
}
SPELLINGS = {spelling: licence for licence, spellings in LICENCES.items() for spelling in spellings}
IN_PAGES = {
    *("myst-nb", "pydata-sphinx-theme", "pygments", "sphinx", "sphinx-book-theme", "sphinx-copybutton"),
    *("sphinx-design", "sphinx-mathjax-offline", "sphinx-thebe", "sphinx-togglebutton"),
}
BESIDE_THE_LOCK = {  # what may be installed without it, and why
    "attnlib": "the book's own",
    "pip": "comes with a virtual environment",
    "setuptools": "comes with a virtual environment, or with torch",
    "wheel": "comes with a virtual environment",
    "appnope": "of ipykernel, on macOS only",
    "pywin32": "of jupyter_core, on Windows only",
    "pywinpty": "of terminado, on Windows only",
    "cuda-*": "of a torch for graphics cards",
    "nvidia-*": "of a torch for graphics cards",
    "triton": "of a torch for graphics cards",
}


class Package(NamedTuple):
    """A package that the lock installs, and the licences that it names."""

    name: str
    licences: tuple[str, ...]


def verify() -> Found:
    """Compare what is installed with the lock, and sort it by licence."""
    pins, here = lock(), installed()
    found = packages(pins)
    pip = subprocess.run([sys.executable, "-m", "pip", "check"], capture_output=True, text=True, check=False)
    beside = [f"{name} ({excuse(name)})" for name in sorted(here.keys() - pins.keys()) if excuse(name)]
    return Found(
        head=["family", "licences", "packages", "which"],
        rows=table(found),
        said=[
            f"The lock pins {len(pins)} packages. Installed: {len(here)}, beside the lock {', '.join(beside)}.",
            *(f"A licence that is {family} asks {what}." for family, what in FAMILIES.items()),
            f"Files of {len(IN_PAGES)} packages are in the pages: {', '.join(sorted(IN_PAGES))}.",
        ],
        failures=[
            *differences(here, pins),
            *(f"{name} was not installed from an index" for name in from_elsewhere()),
            *unfit(found),
            *(pip.stdout.splitlines() if pip.returncode else []),
        ],
    )


# --- The lock ---


def lock() -> dict[str, str]:
    """Read the pinned versions."""
    lines = (ROOT / "requirements.lock").read_text(encoding="utf-8").splitlines()
    return {
        canonicalize_name(name): version for name, _, version in (line.partition("==") for line in lines) if version
    }


def installed() -> dict[str, str]:
    """Read the versions that are installed, without what tells builds of one version apart."""
    first_last = reversed([*distributions()])  # Python imports the first that it finds
    return {canonicalize_name(found.name): Version(found.version).public for found in first_last}


def differences(installed: dict[str, str], pins: dict[str, str]) -> list[str]:
    """Say what is missing, what is of another version, and what nothing asks for."""
    return [
        *(f"{name} {pins[name]} is not installed" for name in sorted(pins.keys() - installed.keys())),
        *(
            f"{name} is {installed[name]}, in the lock {pins[name]}"
            for name in sorted(pins.keys() & installed.keys())
            if installed[name] != pins[name]
        ),
        *(f"{name} is not in the lock" for name in sorted(installed.keys() - pins.keys()) if not excuse(name)),
    ]


def excuse(name: str) -> str:
    """Say why a package may be installed that the lock does not have; nothing, if it may not."""
    return next((why for pattern, why in BESIDE_THE_LOCK.items() if fnmatch(name, pattern)), "")


def from_elsewhere() -> list[str]:
    """Name the packages that were installed from an address or a folder, the book's own apart."""
    direct = {canonicalize_name(found.name) for found in distributions() if found.read_text("direct_url.json")}
    return sorted(direct - {"attnlib"})


# --- The licences ---


def packages(pins: dict[str, str]) -> list[Package]:
    """Ask pip-licenses what the packages of the lock say of their licences."""
    options = ["--from=mixed", "--with-system", "--with-license-file", "--no-license-path", "--format=json"]
    run = subprocess.run([sys.executable, "-m", "piplicenses", *options], capture_output=True, text=True, check=True)
    said = {canonicalize_name(entry["Name"]): entry for entry in json.loads(run.stdout)}
    return [Package(name, named(said[name]["License"], said[name]["LicenseText"])) for name in pins if name in said]


def named(stated: str, text: str) -> tuple[str, ...]:
    """Take the licences out of what a package states; if it states none, the title of its licence's text."""
    return tuple(re.split(" AND | OR |; ", text.partition("\n")[0].strip() if stated == "UNKNOWN" else stated))


def family(package: Package) -> str:
    """Find the family of a package: that of the least free of its licences."""
    families = [SPELLINGS[licence][0] for licence in package.licences]
    return max(families, key=list(FAMILIES).index)


def unfit(packages: list[Package]) -> list[str]:
    """Name the packages whose licence is not known, and those in the pages whose licence is not permissive."""
    unknown = {package: [said for said in package.licences if said not in SPELLINGS] for package in packages}
    return [
        *(f"{package.name}: licence not known: {', '.join(said)}" for package, said in unknown.items() if said),
        *(
            f"{package.name} is in the pages, and its licence is {family(package)}"
            for package, said in unknown.items()
            if package.name in IN_PAGES and not said and family(package) != "permissive"
        ),
    ]


def table(packages: list[Package]) -> list[list[str]]:
    """Group the packages by the licences that they name, the freest first, and within a family the most common."""

    def licences(package: Package) -> tuple[int, list[str]]:
        return list(FAMILIES).index(family(package)), sorted({SPELLINGS[said][1] for said in package.licences})

    known = sorted((package for package in packages if set(package.licences) <= SPELLINGS.keys()), key=licences)
    groups = [(*key, [package.name for package in group]) for key, group in groupby(known, licences)]
    return [
        [list(FAMILIES)[rank], ", ".join(names), str(len(group)), ", ".join(group)]
        for rank, names, group in sorted(groups, key=lambda group: (group[0], -len(group[2])))
    ]
