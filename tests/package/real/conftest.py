"""A text in miniature, from the grammar, under the names that the files of the real text have."""

import gzip
from html import escape
from pathlib import Path

import pytest

from attnlib.language.grammar import sample
from attnlib.real.plan import Effort

SMALL = Effort(features=8, steps=3, score_every=2, beam=2, max_length=7)
SIZES = {"train": (60, "train"), "val": (6, "test"), "test_2017_flickr": (5, "test")}


@pytest.fixture(scope="session")
def text_folder(tmp_path_factory) -> Path:
    """Write the files of all parts: the German ones hold French too, compressed, under their short names."""
    folder = tmp_path_factory.mktemp("tok")
    for seed, (name, (n, part)) in enumerate(SIZES.items()):
        pairs = sample(n, seed=seed, part=part, clauses=(1,))
        sides = {"en": "source", "de": "target", "fr": "target"}
        for ending, side in sides.items():
            lines = "".join(escape(" ".join(getattr(pair, side))).replace("&#x27;", "&apos;") + "\n" for pair in pairs)
            if ending == "de":
                (folder / f"{name}.de.gz").write_bytes(gzip.compress(lines.encode()))
            else:
                (folder / f"{name}.lc.norm.tok.{ending}").write_text(lines, "utf-8")
    return folder
