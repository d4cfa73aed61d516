"""What the package index shows: the README, with links that work there once `pyproject.toml` names the repository."""

import re
from pathlib import Path

from hatchling.metadata.plugin.interface import MetadataHookInterface


class Published(MetadataHookInterface):
    """The field of `pyproject.toml` that depends on where the book is published."""

    def update(self, metadata: dict) -> None:
        """Make the relative links of the README absolute."""
        text = Path(self.root, "README.md").read_text("utf-8")
        if "urls" in metadata:
            files = f"{metadata['urls']['Repository']}/blob/main/"
            text = re.sub(r"(?<=\]\()(?!\w+:)", files, text)
            text = re.sub(r'(?<= src=")([^"]+)', rf"{files}\1?raw=true", text)
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
