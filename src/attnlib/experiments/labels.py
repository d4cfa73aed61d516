"""Labels of models and claims in plain words, for plots and tables."""

from collections.abc import Mapping

import pandas as pd

from attnlib.experiments.plan import ExperimentConfig, Plan

_CHANGES = {
    "readout": "output reads the new state",
    "asks": "new state is the query",
    "lstm": "LSTMs for GRUs",
    "reversed": "one direction, annotations as wide",
    "reversed-equal": "one direction, as many parameters",
    "narrow": "annotations half as wide",
    "start": "decoder starts without a matrix",
    "general": "general score for additive",
    "attentional": "output from the attentional state",
    "fed": "attentional state read and fed",
}
_PATHS = {"chain": "first path", "order": "second path"}
_LAST = {"chain-attentional": "attentional state fed", "order-narrow": "decoder starts without a matrix"}
_USUAL = {"D = 10", "no input feeding", "backward encoder", "in French", "1 to 3 clauses"}
_MODELS = {
    "rnn_search": "Bahdanau's model",
    "rnn_encdec": "no attention",
    "luong_without_attention": "Luong without attention",
}
_VERBS = {
    "alignment error": "aligns better than",
    "missed left": "misses to the left less often than",
    "missed right": "misses to the right more often than",
    "perplexity": "beats",
}
_CLAIMS = {"more": "beats", "less": "is worse than", "differs": "differs from"}


def label_model(config: ExperimentConfig) -> str:
    """Return the label of a grammar model, as "Luong global, dot, input feeding".

    Default settings are omitted: a window of half-width 10, no input feeding, a backward encoder, French, and training
    sentences of one to three clauses.

    Returns
    -------
    str
        The label.
    """
    return ", ".join(part for part in _parts(config).values() if part not in _USUAL)


def label_claims(claims: pd.DataFrame, plan: Plan) -> pd.Series:
    """Return the labels of claims.

    Parameters
    ----------
    claims : DataFrame
        Claims, as `attnlib.experiments.plan.Plan.claims` or `attnlib.experiments.verdicts.compare_models` returns them.
    plan : Plan
        The plan of the claims.

    Returns
    -------
    Series
        A label for each claim. If its models differ in one setting, it names the shared settings, then the two values.
    """
    return pd.Series([_label(claim, plan) for claim in claims.itertuples()], claims.index, dtype=object)


def split_lengths(claims: pd.DataFrame, clauses: tuple[int, ...] = (4, 5, 6, 8)) -> pd.DataFrame:
    """Return the claims about longer sentences, split by number of clauses.

    Parameters
    ----------
    claims : DataFrame
        Claims, as `attnlib.experiments.plan.Plan.claims` returns them.
    clauses : tuple of int, default (4, 5, 6, 8)
        Numbers of clauses.

    Returns
    -------
    DataFrame
        The new claims, with a ``test_set`` such as "4 clauses".
    """
    longer = claims[claims["test_set"] == "longer"]
    return pd.concat([longer.assign(test_set=f"{n} clauses") for n in clauses], ignore_index=True)


def _parts(config: ExperimentConfig) -> Mapping[str, str]:
    """Return the settings of a model in words."""
    options, parts = config.options, {}
    if config.model == "hybrid":
        path, _, change = config.name.partition("-")
        parts["model"] = f"{_PATHS[path]}: {_CHANGES[change]}"
    elif config.model in _MODELS:
        parts["model"] = _MODELS[config.model]
    else:
        parts["model"] = f"Luong {options['window']}"
        parts["score"] = options.get("score", "concat with identity")
        parts["width"] = f"D = {options.get('half_width', 10)}"
        parts["feeding"] = "input feeding" if options["input_feeding"] else "no input feeding"
        parts["encoder"] = f"{options.get('encoder', 'backward')} encoder"
    parts["language"] = f"in {config.language.title()}"
    parts["clauses"] = f"{config.clauses[0]} to {config.clauses[-1]} clauses"
    if config.table == "bottleneck":
        parts["size"] = f"{config.hidden_size} features, {config.max_steps:,} steps"
    return parts


def _label(claim: tuple, plan: Plan) -> str:
    first, second = (plan.configs[name] for name in (claim.first, claim.second))
    if first.model == "hybrid" and not claim.second.startswith("global"):
        return label_model(first)
    if second.model == "hybrid":
        return f"{_PATHS[claim.second.partition('-')[0]]}: {_LAST[claim.second]}"
    planned_metric = claim.claim.partition(", ")[2]
    verb = _VERBS.get(planned_metric, _CLAIMS[claim.direction])
    parts, others = _parts(first), _parts(second)
    apart = [name for name in parts if parts[name] != others.get(name)]
    if len(apart) > 1 or len(parts) != len(others):
        return f"{label_model(first)} {verb} {label_model(second)}"
    shared = [part for name, part in parts.items() if name not in apart and part not in _USUAL]
    return f"{', '.join(shared)}{': ' if shared else ''}{parts[apart[0]]} {verb} {others[apart[0]]}"
