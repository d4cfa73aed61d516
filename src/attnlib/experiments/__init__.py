"""What is compared, how it is measured, and what was recorded.

`models` (that no paper has) and `plan`, `evaluation` and `measures`, `probe`, `records`, `statistics` and `verdicts`,
`runner`: one command that does what is not recorded yet. What a chapter uses of them can be had from here.
"""

from attnlib.experiments.evaluation import cap, centres, evaluate, summarise
from attnlib.experiments.measures import begun, multiply_adds, parameters, train_variant, trained
from attnlib.experiments.models import between
from attnlib.experiments.plan import Budget, Variant, held_out, read_plan, vocabularies
from attnlib.experiments.records import Ledger
from attnlib.experiments.runner import chosen_rate, lost_rows
from attnlib.experiments.statistics import (
    correlation_within,
    mean_interval,
    paired_p,
    prediction_interval,
    sentence_interval,
)
from attnlib.experiments.verdicts import judge, misses_of, right
