"""The results that the chapters show as yet: one JSON file a variant, in which each row is what one run gave."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float

RESULTS = Path(__file__).parent / "results"
"""Where the recorded results are."""

FORMAT = 2
"""The version of the files; what is of another is refused."""

_KEYS = {"format", "variant", "settings", "probe", "environment", "cost", "rows"}


def read(name: str, folder: Path = RESULTS) -> dict[str, Any]:
    """Read what is recorded of a variant.

    Parameters
    ----------
    name : str
        One of `attnlib.experiments.variants.VARIANTS`.
    folder : Path
        Where the results are.

    Returns
    -------
    dict
        ``variant``, its name; ``settings``; ``probe``, what `attnlib.experiments.probe.probe` gave with the code that
        all this came from; ``environment``: versions, processor and date; ``rows``: for each seed, as a string, what
        `attnlib.experiments.measure.train_and_measure` gave; ``cost``: what `attnlib.experiments.measure.benchmark`
        gave, or None.

    Raises
    ------
    FileNotFoundError
        If nothing is recorded.
    ValueError
        If the file is cut short, or is not of this format, or of another variant, or lacks a part.

    Notes
    -----
    JSON is data: whatever is in the file, reading it runs nothing.
    """
    path = folder / f"{name}.json"
    if not path.is_file():
        raise FileNotFoundError(f"name is {name!r}; expected a variant with results, but there is no {path.name}")
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path.name} is no whole JSON file ({error})") from error
    if not isinstance(record, dict) or record.get("format") != FORMAT or not record.keys() >= _KEYS:
        raise ValueError(f"{path.name} is not of format {FORMAT}")
    for complaint in _complaints(record, name):
        raise ValueError(f"{path.name}: {complaint}")
    return record


def recorded(name: str, measure: str, group: str = "within", folder: Path = RESULTS) -> Float[np.ndarray, "seeds"]:
    """Take one measure of one group of test sentences, for every seed of a variant.

    Parameters
    ----------
    name : str
        The variant.
    measure : str
        See `attnlib.experiments.evaluation`.
    group : str
        See `attnlib.experiments.measure`.
    folder : Path
        Where the results are.

    Returns
    -------
    ``"seeds"``
        NaN where the variant has no such measure.

    Raises
    ------
    ValueError
        If there is no such group or measure. For other errors see `read`.
    """
    rows = read(name, folder)["rows"].values()
    for known, asked in (({g for row in rows for g in row["groups"]}, group), (_measures(rows), measure)):
        if asked not in known:
            raise ValueError(f"{asked!r} is not recorded of {name}; expected one of {', '.join(sorted(known))}")
    return np.array([row["groups"][group][measure] for row in rows], dtype=float)


def _complaints(record: dict[str, Any], name: str) -> Iterator[str]:
    """Say what is wrong with a record that is of the right format. Each complaint supposes that none came before."""
    probe, rows, cost = record["probe"], record["rows"], record["cost"]
    if record["variant"] != name:
        yield f"variant is {record['variant']!r}, expected {name!r}"
    if not isinstance(probe, dict) or type(probe.get("sentences")) is not int or probe["sentences"] < 0:
        yield "probe does not say of which sentences it is"
    if cost is not None and not (isinstance(cost, dict) and all(map(_is_number, cost.values()))):
        yield "cost holds what is no number"
    if not isinstance(rows, dict) or not all(seed.isdecimal() for seed in rows):
        yield "rows is not one row a seed"
    for seed, row in rows.items():
        if not isinstance(row, dict) or not row.keys() >= {"losses", "groups"}:
            yield f"row {seed} lacks losses or groups"
        if not isinstance(row["losses"], list) or not all(map(_is_number, row["losses"])):
            yield f"row {seed} has losses that are no numbers"
        if not isinstance(row["groups"], dict) or not all(isinstance(group, dict) for group in row["groups"].values()):
            yield f"row {seed} has groups without measures"
        if not all(number is None or _is_number(number) for g in row["groups"].values() for number in g.values()):
            yield f"row {seed} has a measure that is no number"
    if len({frozenset(row["groups"]) for row in rows.values()}) > 1:
        yield "the rows have not the same groups"
    if len({frozenset(group) for row in rows.values() for group in row["groups"].values()}) > 1:
        yield "the groups have not the same measures"


def _is_number(x: Any) -> bool:
    return isinstance(x, int | float) and not isinstance(x, bool)


def _measures(rows: Iterable[dict]) -> set[str]:
    return {measure for row in rows for group in row["groups"].values() for measure in group}
