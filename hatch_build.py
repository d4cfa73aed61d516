"""What the package index shows of the book: its README with links that work there, and addresses."""

import sys
from pathlib import Path

from hatchling.metadata.plugin.interface import MetadataHookInterface

sys.path.append(str(Path(__file__).parent / "extensions"))
from bookext.address import read

BADGES = """
[![Tests](REPOSITORY/actions/workflows/test.yml/badge.svg)](REPOSITORY/actions/workflows/test.yml)
[![Binder](https://mybinder.org/badge_logo.svg)](BINDER?urlpath=lab/tree/notebooks)
"""


class Published(MetadataHookInterface):
    """The fields of `pyproject.toml` that depend on where the book is published."""

    def update(self, metadata: dict) -> None:
        """Fill in README, badges, and addresses."""
        address = read(self.root)
        readme = address.absolute(Path(self.root, "README.md").read_text("utf-8"))
        if address.repository:
            binder = address.repository.replace("github.com", "mybinder.org/v2/gh") + f"/v{address.version}"
            badges = BADGES.replace("REPOSITORY", address.repository).replace("BINDER", binder)
            readme = readme.replace("\n", f"\n{badges}", 1)
            pages = {"Documentation": address.site, "Changelog": address.place("CHANGELOG.md", "")}
            metadata["urls"] = pages | {"Repository": address.repository}
        metadata["readme"] = {"content-type": "text/markdown", "text": readme}
