"""What came after both papers, trained like their models: a plan apart from the comparison's, fixed before it was run.

``python -m attnlib.experiments.successors`` does what is not done yet, one run after the other, each on one thread.

The sentences, their number, the words of a batch and the test are those of the comparison. The sizes are others, so
that the Transformer has about as many weights as Bahdanau's model: 242,368 against 263,136. Its learning rate was
looked for, on other sentences and with seeds 11 and 12, among 1, 2, 3 and 5 thousandths. Two more rows were planned, on
longer sentences and of three times the steps, and left out for want of time; one run of the first had been finished,
and had 0.54 of the sentences within right.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import torch

from attnlib.experiments.ledger import environment
from attnlib.experiments.measure import train_and_measure
from attnlib.experiments.probe import probe
from attnlib.experiments.record import FORMAT, read
from attnlib.experiments.variants import BUDGET, Budget, Variant
from attnlib.transformer import transformer
from attnlib.writing import write_atomically

RESULTS = Path(__file__).parent / "successors_results"
"""Where the results of this plan are."""

SUCCESSORS_BUDGET = replace(BUDGET, emb=64, hid=256, learning_rate=3e-3)
"""The comparison's, but for the sizes and the learning rate."""

SUCCESSORS: Mapping[str, tuple[Variant, Budget]] = MappingProxyType(
    {"transformer": (Variant("transformer", transformer), SUCCESSORS_BUDGET)}
)
"""The rows of the plan, each with its budget."""


def record_successors(folder: Path = RESULTS, plan: Mapping[str, tuple[Variant, Budget]] = SUCCESSORS) -> None:
    """Run what is missing, and write each row when it is done."""
    for name, (variant, budget) in plan.items():
        begun = (folder / f"{name}.json").is_file()
        found = read(name, folder) if begun else _begun(name, variant, budget)
        for seed in variant.seeds:
            if str(seed) not in found["rows"]:
                found["rows"][str(seed)] = train_and_measure(variant, seed, budget)
                _write(found, folder)


def _begun(name: str, variant: Variant, budget: Budget) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "variant": name,
        "settings": variant.settings(budget),
        "probe": probe(variant),
        "environment": environment(),
        "cost": None,
        "rows": {},
    }


def _write(record: dict[str, Any], folder: Path) -> None:
    """Write what is recorded of a row of the plan, its runs in the order of their seeds."""
    rows = dict(sorted(record["rows"].items(), key=lambda row: int(row[0])))
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(record | {"rows": rows}, ensure_ascii=False, indent=1)
    write_atomically(folder / f"{record['variant']}.json", f"{text}\n".encode())


if __name__ == "__main__":
    torch.set_num_threads(1)
    record_successors()
