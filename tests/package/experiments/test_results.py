"""What is recorded in this repository: complete, and the results of this code."""

import numpy as np
import pytest

from attnlib.experiments.probe import agree, probe
from attnlib.experiments.record import RESULTS, read, recorded
from attnlib.experiments.variants import BUDGET, VARIANTS


@pytest.mark.parametrize("name", VARIANTS)
def test_the_recorded_results_are_those_of_this_code(name):
    found, variant = read(name), VARIANTS[name]
    assert found["settings"] == variant.settings(BUDGET)
    assert agree(found["probe"], probe(variant, found["probe"]["sentences"]))


def test_every_variant_has_every_seed_and_measure():
    for name, variant in VARIANTS.items():
        record = read(name)
        assert [*record["rows"]] == [str(seed) for seed in variant.seeds]
        assert {"date", "processor", "python", "numpy", "torch"} <= record["environment"].keys()
        perplexities = recorded(name, "perplexity")
        assert len(perplexities) == len(variant.seeds)
        assert (perplexities >= 1).all()
        assert np.isnan(recorded(name, "alignment_error")).all() == name.startswith("no-attention")
        assert np.isnan(recorded(name, "centre_distance")).all() == (not name.startswith("local"))


def test_nothing_else_lies_among_the_results():
    assert {path.name for path in RESULTS.iterdir()} == {f"{name}.json" for name in VARIANTS}
