"""What the tests of plans share: a plan whose runs take a second."""

from pathlib import Path

import pytest

from attnlib.experiments.plan import Plan, read_plan

SMALL = """
[budget]
emb = 7
hid = 6
pairs = 60
words = 200
steps = 20
test_clauses = [1, 2, 4]
test_sentences = 3
test_seed = 2000
width = 2

[seeds]
first = 10

[learning_rates]
rates = [0.002, 0.01, 0.05]
seeds = [100, 101]
share_of_steps = 0.5
clauses = [1, 2]

[learning_rates.families]
early = "bahdanau"
late = "local-p"

[lost]
below = 0.5
times = 2
tables = ["luong"]

[tables.attention]
phase = 2
rows = [
  { name = "no-attention", model = "rnn_encdec", family = "early", seeds = 2, beam = false, times = 0.5, hid = 8 },
  { name = "bahdanau", model = "rnn_search", family = "early", seeds = 3, clauses = [1, 2] },
]
claims = [{ first = "bahdanau", second = "no-attention", says = "more", measure = "exact", group = "within" }]

[tables.luong]
phase = 1
rows = [{ name = "local-p", model = "luong", family = "late", seeds = 2, window = "predictive", half_width = 2 }]
claims = []
"""


@pytest.fixture(scope="session")
def small_file(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("plans") / "small.toml"
    path.write_text(SMALL)
    return path


@pytest.fixture(scope="session")
def small(small_file) -> Plan:
    return read_plan(small_file)
