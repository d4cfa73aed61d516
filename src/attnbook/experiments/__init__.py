"""Comparison of models: plans, metrics, statistics, and the recorded runs.

`variants` defines models that no paper has; `plan` describes what is compared; `fitting` and `predictions` run it;
`runs`, `learning`, `captions` and `verdicts` load and judge the results; `ranges` shows them; `ledger` and `beside` put
the papers' figures beside ours; `interventions` change what a trained model reads. This package exports what most
chapters use.
"""

from attnbook.costs import count_macs, count_parameters
from attnbook.experiments.fitting import train_from_config
from attnbook.experiments.learning import read_learning
from attnbook.experiments.plan import read_plan
from attnbook.experiments.predictions import compute_metrics, predict, window_centers
from attnbook.experiments.runs import Recording, read_table
from attnbook.experiments.verdicts import judge_claims
