"""What is compared, how it is measured, and what was recorded.

`models` (that no paper has) and `plan`, `evaluation` and `measures`, `probe`, `records`, `statistics` and `verdicts`,
`runner`: one command that does what is not recorded yet. What a chapter uses of them can be had from here.
"""

from attnlib.experiments.evaluation import Evaluation, cap, centres, evaluate, summarise
from attnlib.experiments.measures import (
    begun,
    benchmark,
    grouped,
    multiply_adds,
    parameters,
    train_variant,
    trained,
)
from attnlib.experiments.models import between
from attnlib.experiments.plan import Budget, Plan, Row, Variant, held_out, read_plan, vocabularies
from attnlib.experiments.records import Ledger
from attnlib.experiments.runner import chosen_rate, lost_rows
from attnlib.experiments.statistics import (
    Interval,
    correlation_within,
    mean_interval,
    paired_p,
    prediction_interval,
    sentence_interval,
)
from attnlib.experiments.verdicts import QUALITIES, Verdict, judge, misses_of, right

__all__ = [
    "QUALITIES",
    "Budget",
    "Evaluation",
    "Interval",
    "Ledger",
    "Plan",
    "Row",
    "Variant",
    "Verdict",
    "begun",
    "benchmark",
    "between",
    "cap",
    "centres",
    "chosen_rate",
    "correlation_within",
    "evaluate",
    "grouped",
    "held_out",
    "judge",
    "lost_rows",
    "mean_interval",
    "misses_of",
    "multiply_adds",
    "paired_p",
    "parameters",
    "prediction_interval",
    "read_plan",
    "right",
    "sentence_interval",
    "summarise",
    "train_variant",
    "trained",
    "vocabularies",
]
