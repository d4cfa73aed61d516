"""Comparison of models: plans, metrics, statistics, and the recorded runs.

`models` defines models that no paper has; `plan` describes what is compared; `evaluation` and `training` run it;
`runs`, `captions` and `verdicts` load and judge the results; `comparisons` plots them. This package exports
what most chapters use.
"""

from attnlib.experiments.evaluation import compute_metrics, max_output_length, predict, window_centers
from attnlib.experiments.plan import ExperimentConfig, build_vocabularies, read_plan, split_lengths
from attnlib.experiments.runs import Recording, read_table
from attnlib.experiments.training import count_macs, count_parameters, train_from_config
from attnlib.experiments.verdicts import (
    compare_by_metrics,
    compare_models,
    confidence_interval,
    holm_correction,
    judge_claims,
    paired_bootstrap,
    paired_t_test,
    prediction_interval,
    within_model_correlation,
)
