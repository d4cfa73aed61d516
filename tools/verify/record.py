"""What a part of the verification found, and the file that keeps it for the page of the book that shows it."""

import json
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from attnlib.experiments.record import processor
from whole import write

ROOT = Path(__file__).parents[2]
RECORD = ROOT / "book" / "verification.json"


class Found(NamedTuple):
    """What a part found: a table, sentences about it, and what is not as it should be; if all is well, nothing."""

    head: list[str]
    rows: list[list[str]]
    said: list[str]
    failures: list[str]


def read(path: Path = RECORD) -> dict[str, dict[str, Any]]:
    """Read what was found by each part, when, and at which revision; nothing, if no part has run."""
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def keep(part: str, found: Found, path: Path = RECORD) -> None:
    """Put what a part found in the place of what it found before."""
    revision = subprocess.run(
        ["git", "-C", ROOT, "rev-parse", "--short=12", "HEAD"], capture_output=True, text=True, check=True
    ).stdout.strip()
    made = {"date": datetime.now(UTC).date().isoformat(), "revision": revision, "processor": processor()}
    record = read(path) | {part: made | found._asdict()}
    write(path, (json.dumps(record, ensure_ascii=False, indent=1) + "\n").encode())
