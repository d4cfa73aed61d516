"""What is compared, how it is measured, and what was recorded.

In reading order:

- `hybrids`: models between the papers';
- `costs`: how many numbers a model learns;
- `variants`: what the experiments compare, under which budget;
- `evaluation`: what a translator makes of sentences, and how good that is;
- `measure`: one run of one variant, and what it costs;
- `probe`: a run in miniature, by which a change in the code is noticed;
- `shares`: the rows dealt out to several runs, each with files of its own;
- `record`: the recorded results, read and written;
- `intervals`: what several runs tell;
- `runner`: every variant, several seeds, one command;
- `successors`: what came after both papers, a plan apart.

What a chapter uses of them can be had from here.
"""

from attnlib.experiments.costs import parameters
from attnlib.experiments.evaluation import Evaluation, centres, evaluate, sentence_losses, summarise
from attnlib.experiments.hybrids import StepFirstDecoder, step_first
from attnlib.experiments.intervals import Interval, mean_interval, prediction_interval
from attnlib.experiments.measure import benchmark, grouped, train_and_measure, train_variant
from attnlib.experiments.record import read, recorded
from attnlib.experiments.variants import (
    BUDGET,
    CHAIN,
    VARIANTS,
    Budget,
    Variant,
    half_width_row,
    held_out,
    vocabularies,
)

__all__ = [
    "BUDGET",
    "CHAIN",
    "VARIANTS",
    "Budget",
    "Evaluation",
    "Interval",
    "StepFirstDecoder",
    "Variant",
    "benchmark",
    "centres",
    "evaluate",
    "grouped",
    "half_width_row",
    "held_out",
    "mean_interval",
    "parameters",
    "prediction_interval",
    "read",
    "recorded",
    "sentence_losses",
    "step_first",
    "summarise",
    "train_and_measure",
    "train_variant",
    "vocabularies",
]
