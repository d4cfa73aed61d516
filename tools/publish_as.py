"""Write the repository's address, ``org/name``, everywhere it is told: ``python tools/publish_as.py org/name``.

The address now is ``[project.urls] Repository`` in ``pyproject.toml``. That file is written last, so that a run that
was interrupted is finished by running it again.
"""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HOST = "https://github.com/"
ADDRESS = r"(?=.{1,39}/)[A-Za-z0-9]+(-[A-Za-z0-9]+)*/(?!\.{1,2}$)(?!.*\.git$)[A-Za-z0-9_.-]{1,100}"


def site(address: str) -> str:
    """Return the address where GitHub publishes a repository's pages."""
    owner, name = address.split("/")
    host = f"https://{owner.lower()}.github.io/"
    return host if host == f"https://{name.lower()}/" else f"{host}{name}/"


def rewritten(text: str, old: str, new: str) -> str:
    """Replace the old address by the new one, of repository, pages, and 404 page."""
    text = re.sub(rf"(github\.com/|/github/|/gh/){re.escape(old)}(?![\w-])", rf"\g<1>{new}", text)
    text = text.replace(site(old), site(new))
    return re.sub(r"(\n *notfound_urls_prefix: )/.*", rf"\g<1>/{site(new).split('/', 3)[3]}", text)


def publish_as(root: Path, new: str) -> None:
    """Rewrite every text file that git knows."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    old = project["urls"]["Repository"].removeprefix(HOST)
    git = ["git", "-C", root, "grep", "-lIz", "--untracked", ""]
    names = subprocess.run(git, capture_output=True, text=True, check=True).stdout.split("\0")[:-1]
    for path in sorted((root / name for name in names), key=lambda path: path.name == "pyproject.toml"):
        before = path.read_bytes()
        after = rewritten(before.decode(), old, new).encode()
        if after != before:
            path.write_bytes(after)
            print("wrote", path.relative_to(root))


if __name__ == "__main__":
    new = " ".join(sys.argv[1:])
    if not re.fullmatch(ADDRESS, new):
        sys.exit(f"REPO is '{new}', expected a GitHub repository's org/name: make publish-as REPO=org/name")
    publish_as(ROOT, new)
    print(f"The book's address is {HOST}{new}, its pages are at {site(new)}")
