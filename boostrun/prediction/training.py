"""What a model must know of the table that it was trained on, so that new rows become the same numbers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from boostrun.data.dataset import Parts
from boostrun.data.row_split import parts_of_rows
from boostrun.errors import BoostrunError
from boostrun.methods.raw_table import RawTable
from boostrun.prediction.tables import Opened, opened

_ROWS = 1 << 14
_NONE = -1  # of a missing value
_COMPARED = 1 << 12  # training samples that are looked at again


def columns_of(path: Path, parts: Parts, options: Mapping[str, Any]) -> tuple[RawTable, bool]:
    """The columns of the file that ``parts`` were read from, and what the training part has where they hold text.

    ``options`` are the data set's. Beside them whether the labels are numbers there. Raises BoostrunError where the
    categories are not those that the samples have.
    """
    found = opened(str(path), path, None)
    features = parts.columns or ()
    label = next(name for name in (options.get("label"), found.names[-1]) if name is not None)
    table = RawTable(features, str(label))
    no_numbers = _text(found, (*features, table.label))
    numbered = table.label not in no_numbers
    text = [name for name in no_numbers if name != table.label]
    if not text:
        return table, numbered
    group = options.get("group")
    codes, known = _codes(found, [*text, table.label, *([] if group is None else [str(group)])])
    train = np.arange(len(codes))
    if not options.get("test_path"):
        labels = _in_order(codes[:, len(text)], known[table.label])
        train, _ = parts_of_rows(options, labels, None if group is None else codes[:, -1])
    categories = {}
    for position, name in enumerate(text):
        words = np.array(known[name])
        present = words[np.setdiff1d(codes[train, position], _NONE)]
        if not _all_numbers(present):
            categories[name] = tuple(sorted(present.tolist()))
            seen = codes[train[:_COMPARED], position]
            values = np.where(seen < 0, np.nan, np.searchsorted(categories[name], words[seen]))
            if not np.array_equal(values, parts.x_train[:_COMPARED, features.index(name)], equal_nan=True):
                raise BoostrunError(f"the categories of column '{name}' of {path} are not those that were trained on")
    return RawTable(features, table.label, categories), numbered


def _text(found: Opened, names: tuple[str, ...]) -> list[str]:
    """The columns of those named that are not numbers throughout; bools are, beside missing ones as well."""
    import pandas.api.types as kinds

    text: dict[str, None] = {}
    for frame in found.frames(RawTable(tuple(found.names)), _ROWS):
        odd = (name for name in names if not kinds.is_numeric_dtype(frame[name]))
        text |= {name: None for name in odd if not kinds.is_bool_dtype(frame[name].dropna().infer_objects())}
    return list(text)


def _codes(found: Opened, names: list[str]) -> tuple[np.ndarray, dict[str, list[str]]]:
    """(rows, columns) int32, and what they count: the texts of each of the columns ``names``; -1 is missing."""
    known: dict[str, dict[str, int]] = {name: {} for name in names}
    blocks = []
    for frame in found.frames(RawTable(tuple(found.names), "", dict.fromkeys(names, ())), _ROWS):
        block = np.empty((len(frame), len(names)), np.int32)
        for position, name in enumerate(names):
            places = known[name]
            missing = frame[name].isna()
            words = frame[name][~missing].astype(str).tolist()
            block[:, position] = _NONE
            block[~missing.to_numpy(), position] = [places.setdefault(word, len(places)) for word in words]
        blocks.append(block)
    return np.concatenate(blocks), {name: list(places) for name, places in known.items()}


def _in_order(codes: np.ndarray, words: list[str]) -> np.ndarray:
    """Labels (n,) in the order that they have as numbers, or as text where they are none."""
    numbers = _all_numbers(words)
    return np.array([float(word) for word in words] if numbers else words)[codes]


def _all_numbers(words) -> bool:
    try:
        return all(float(word) is not None for word in words)
    except ValueError:
        return False
