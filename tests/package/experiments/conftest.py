"""What the tests of plans share: plans whose runs take a second, and a text in miniature, from the grammar."""

import gzip
import re
from html import escape
from pathlib import Path

import pytest

from attnbook.experiments.plan import PLANS, Plan, read_plan
from attnbook.language.sentences import sample


@pytest.fixture(scope="session")
def small_file() -> Path:
    return Path(__file__).with_name("small.toml")


@pytest.fixture(scope="session")
def small(small_file) -> Plan:
    return read_plan(small_file)


FEW = {"embedding_dim": 8, "hidden_size": 8, "max_steps": 3, "eval_every": 2, "beam_size": 2, "max_length": 7}
SIZES = {"train": (60, "train"), "val": (6, "test"), "test_2017_flickr": (5, "test")}


@pytest.fixture(scope="session")
def sentences(tmp_path_factory) -> Plan:
    """Read the plan of chapter 5 with a smaller effort."""
    text, path = (PLANS / "sentences.toml").read_text("utf-8"), tmp_path_factory.mktemp("plans") / "sentences.toml"
    for name, number in FEW.items():
        text = re.sub(rf"^{name} = .*", f"{name} = {number}", text, count=1, flags=re.MULTILINE)
    path.write_text(text.replace("num_seeds = 3", "num_seeds = 2"), "utf-8")
    return read_plan(path)


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
