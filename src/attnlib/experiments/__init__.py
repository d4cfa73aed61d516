"""What is compared, how it is measured, and what was recorded.

In reading order:

- `parts`, `hybrids`, `baselines`, `mixtures`: the models that the papers do not have;
- `costs`: how many numbers a model learns;
- `variants`: what the experiments compare, under which budget;
- `evaluation`: what a translator makes of sentences, and how good that is;
- `measure`: one run of one variant, and what it costs;
- `probe`: a run in miniature, by which a change in the code is noticed;
- `intervals`: what several runs tell;
- `plan`: what is compared, and what would count as an answer, written before the first run;
- `runs`, `ledger`: one run of a row of a plan, and where runs are recorded;
- `shares`, `jobs`, `runner`: what there is to do, and one command that does it;
- `significance`, `verdicts`: what the recorded runs say of the claims of a plan.

What a chapter uses of them can be had from here.
"""

from attnlib.experiments.costs import multiply_adds, parameters
from attnlib.experiments.evaluation import Evaluation, cap, centres, evaluate, sentence_losses, summarise
from attnlib.experiments.intervals import Interval, mean_interval, prediction_interval
from attnlib.experiments.jobs import chosen_rate, lost_rows
from attnlib.experiments.ledger import Ledger
from attnlib.experiments.measure import benchmark, grouped, train_variant
from attnlib.experiments.mixtures import between
from attnlib.experiments.plan import Plan, Row, read_plan
from attnlib.experiments.runs import begun, trained
from attnlib.experiments.significance import correlation_within, sentence_interval
from attnlib.experiments.variants import (
    Budget,
    Variant,
    held_out,
    vocabularies,
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
    "parameters",
    "prediction_interval",
    "read_plan",
    "right",
    "sentence_interval",
    "sentence_losses",
    "summarise",
    "train_variant",
    "trained",
    "vocabularies",
]
