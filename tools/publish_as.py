"""Write the repository's address, ``org/name``, everywhere it is told.

The address is one setting, ``[project.urls] Repository`` in ``pyproject.toml``. Links, badges, the published
site and the installation from a notebook follow from it. It is written last: a run that was interrupted is
finished by running it again. Every file is replaced as a whole or not at all.

Run as ``python tools/publish_as.py org/name``.
"""

import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import NamedTuple

from whole import write

ROOT = Path(__file__).resolve().parents[1]
HOST = "https://github.com/"
OWNER = r"(?=.{1,39}/)[A-Za-z0-9](?:-?[A-Za-z0-9]){0,38}"
NAME = r"(?!\.{1,2}$)(?!.*\.git$)[\w.-]{1,100}"


class Address(NamedTuple):
    """Where a repository lives on GitHub."""

    owner: str
    name: str

    @property
    def site(self) -> str:
        """The host of its pages and their path there, which is the root for the repository named like the host."""
        host = f"{self.owner.lower()}.github.io"
        return f"{host}/" if self.name.lower() == host else f"{host}/{self.name}/"

    @property
    def path(self) -> str:
        """Where the pages are on their host."""
        return self.site[self.site.index("/") :]


def told(root: Path) -> Address:
    """Read the one setting."""
    settings = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    return Address(*settings["project"]["urls"]["Repository"].removeprefix(HOST).split("/"))


def parsed(text: str) -> Address:
    """Understand ``org/name``, or end with a line that says what is wrong with it."""
    if not re.fullmatch(f"{OWNER}/{NAME}", text, re.ASCII):
        sys.exit(f"REPO is '{text}', expected a GitHub repository's org/name: make publish-as REPO=org/name")
    return Address(*text.split("/"))


def rewritten(text: bytes, old: Address, new: Address) -> bytes:
    """Put the new address in the place of the old one: repositories, sites, and the path of the 404 page's files."""
    repository = rf"(?P<host>github\.com/|/github/|/gh/){re.escape('/'.join(old))}(?!\.(?!git\b)\w|[\w-])"
    site = rf"(?P<scheme>https://){re.escape(old.site)}"
    path = r"(?P<key>(?<=\n) *notfound_urls_prefix: )/[^\r\n]*"

    def replace(match: re.Match) -> bytes:
        address = {"host": "/".join(new), "scheme": new.site, "key": new.path}[match.lastgroup]
        return match.group(match.lastgroup) + address.encode()

    return re.sub(f"{repository}|{site}|{path}".encode(), replace, text)


def files(root: Path) -> list[Path]:
    """List the files that git knows or would add, the one with the setting last."""
    git = ["git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(git, capture_output=True, text=True, check=False)
    if listed.returncode:
        sys.exit(f"git cannot list the files of {root}: {listed.stderr.strip()}")
    found = {root / name for name in listed.stdout.split("\0") if name}
    return sorted(
        (f for f in found if f.is_file() and not f.is_symlink()), key=lambda f: (f.name == "pyproject.toml", f)
    )


def publish_as(root: Path, new: Address) -> list[Path]:
    """Rewrite every file that tells another address. Return those that changed."""
    old = told(root)
    before = {path: path.read_bytes() for path in files(root)}
    after = {path: rewritten(text, old, new) for path, text in before.items() if b"\0" not in text}
    changed = [path for path in after if after[path] != before[path]]
    for path in changed:
        write(path, after[path])
    return changed


if __name__ == "__main__":
    new = parsed(" ".join(sys.argv[1:]))
    for path in publish_as(ROOT, new):
        print("wrote", path.relative_to(ROOT))
    print(f"The book's address is {HOST}{'/'.join(new)}, its pages are at https://{new.site}")
