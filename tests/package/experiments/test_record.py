"""Records: read as they were written, and refused rather than read wrong."""

import copy
import json
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from attnlib.experiments.record import read, recorded

MEASURES = {"sentences": 2, "bleu": 90.5, "alignment_error": None}
RECORD: dict[str, Any] = {
    "format": 2,
    "variant": "bahdanau",
    "settings": {"model": "rnn_search"},
    "probe": {"sentences": 3, "losses": [4.5]},
    "environment": {"python": "3.11"},
    "cost": {"parameters": 3},
    "rows": {
        seed: {"losses": [1.5, 0.25], "groups": {group: MEASURES | {"bleu": bleu} for group in ("within", "beyond")}}
        for seed, bleu in (("0", 90.5), ("1", 80.0))
    },
}
REFUSED = r"bahdanau\.json(: | is not of format 2)"


def laid(record: Any, folder: Path) -> Path:
    text = record if isinstance(record, bytes) else json.dumps(record).encode()
    (folder / "bahdanau.json").write_bytes(text)
    return folder


def test_a_measure_is_one_number_a_seed(tmp_path):
    laid(RECORD, tmp_path)
    assert recorded("bahdanau", "bleu", "beyond", tmp_path).tolist() == [90.5, 80.0]
    assert np.isnan(recorded("bahdanau", "alignment_error", folder=tmp_path)).tolist() == [True, True]


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda _: read("rnn"), FileNotFoundError, r"name is 'rnn'; expected a variant with results.* no rnn\.json"),
        (lambda _: read("../results/bahdanau"), ValueError, r"variant is 'bahdanau', expected '\.\./results/bahdanau'"),
        (lambda to: recorded("bahdanau", "blue", folder=to), ValueError, "'blue' is not .* of alignment_error, bleu"),
        (lambda to: recorded("bahdanau", "bleu", "7", to), ValueError, "'7' is not .* one of beyond, within"),
    ],
)
def test_what_is_not_recorded_is_named(refused, tmp_path, call, error, says):
    laid(RECORD, tmp_path)
    refused(lambda: call(tmp_path), error, says)


def test_cut_short_at_any_byte_it_is_refused(tmp_path):
    whole = json.dumps(RECORD).encode()
    for length in range(len(whole)):
        with pytest.raises(ValueError, match=r"bahdanau\.json is no whole JSON file"):
            read("bahdanau", laid(whole[:length], tmp_path))
    assert read("bahdanau", laid(whole, tmp_path)) == RECORD


@pytest.mark.parametrize("record", [[], RECORD | {"format": 1}], ids=["a list", "format 1"])
def test_another_format_is_refused(tmp_path, record):
    with pytest.raises(ValueError, match=r"bahdanau\.json is not of format 2"):
        read("bahdanau", laid(record, tmp_path))


def places(record: Any, before: tuple = ()) -> Iterator[tuple]:
    """List the way to every field of a record."""
    for key in record if isinstance(record, dict) else ():
        yield (*before, key)
        yield from places(record[key], (*before, key))


def changed(way: tuple, *value: Any) -> dict[str, Any]:
    """Give the record another value at one place, or take the field away."""
    record = copy.deepcopy(RECORD)
    inside = record
    for key in way[:-1]:
        inside = inside[key]
    if value:
        inside[way[-1]] = value[0]
    else:
        del inside[way[-1]]
    return record


def is_minor(way: tuple) -> bool:
    """Say whether a field says nothing of the measures, and whether the code is the same is for the probe to tell."""
    return way[0] in ("settings", "environment", "cost", "probe") and len(way) > 1 and way[1] != "sentences"


@pytest.mark.parametrize("way", list(places(RECORD)), ids="/".join)
def test_with_a_field_removed_no_wrong_value_is_read(way, tmp_path):
    laid(changed(way), tmp_path)
    if is_minor(way) or (way[0] == "rows" and len(way) == 2):
        left = {"0": 90.5, "1": 80.0}
        left.pop(way[1], None)  # a seed not yet recorded
        assert recorded("bahdanau", "bleu", folder=tmp_path).tolist() == [*left.values()]
    else:
        with pytest.raises(ValueError, match=REFUSED):
            recorded("bahdanau", "bleu", folder=tmp_path)


@pytest.mark.parametrize("value", ["90.5", False, [None], {}, None], ids=repr)
@pytest.mark.parametrize(
    "way", [way for way in places(RECORD) if way[0] == "cost" or not is_minor((*way, ""))], ids="/".join
)
def test_with_another_value_no_wrong_value_is_read(way, value, tmp_path):
    """A measure may be None, the cost too, and there may be no row yet."""
    laid(changed(way, value), tmp_path)
    nothing = value is None and way[-1] in ("cost", *MEASURES) and way[0] != "probe"
    if nothing or (value == {} and way in (("rows",), ("cost",))):
        assert read("bahdanau", tmp_path)
    else:
        with pytest.raises(ValueError, match=REFUSED):
            read("bahdanau", tmp_path)


class Bomb:
    """Pickled, it makes whoever loads it create a file."""

    def __init__(self, path: Path):
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


def test_a_pickle_is_not_loaded(tmp_path):
    went_off = tmp_path / "went off"
    bomb = pickle.dumps(Bomb(went_off))
    for text in (bomb, pickle.dumps(RECORD), b"[" * 100_000, json.dumps(RECORD).encode("utf-16")):
        with pytest.raises(ValueError, match=r"bahdanau\.json is no whole JSON file"):
            read("bahdanau", laid(text, tmp_path))
    assert not went_off.exists()
    pickle.loads(bomb)
    assert went_off.exists()
