"""The columns of a table as a model takes them: found by name, text as the places of what training has seen."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from boostrun.errors import BoostrunError, did_you_mean

_LARGEST = np.finfo(np.float32).max  # what training refuses, since codes are compared as float32
_UNSEEN = -1.0  # as training has it for values that only its test part holds


@dataclass(frozen=True)
class RawTable:
    """What a model knows of the table that it was trained on.

    Attributes
    ----------
    columns : names of the features, in the model's order.
    label : name of the label column, "" where that is not known.
    categories : for each column that held text, what the training part had, sorted: a value is its place among them,
        and -1 where it is none of them.

    >>> import pandas
    >>> table = RawTable(("size", "colour"), "kind", {"colour": ("blue", "red")})
    >>> table.numbers(pandas.DataFrame({"colour": ["red", "mauve"], "id": ["a", "b"], "size": [1, 2]}), "new.csv")
    array([[ 1.,  1.],
           [ 2., -1.]])
    """

    columns: tuple[str, ...]
    label: str = ""
    categories: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def text(self) -> str:
        """Itself as JSON; see :meth:`of`."""
        return json.dumps([self.columns, self.label, self.categories])

    @classmethod
    def of(cls, text: str) -> RawTable:
        """What :meth:`text` has written; ValueError where it is something else."""
        try:
            columns, label, categories = json.loads(text)
        except RecursionError:
            raise ValueError("its table is nested too deeply") from None
        lists = [columns, *categories.values()]
        if not (isinstance(label, str) and all(isinstance(one, list) for one in lists)):
            raise ValueError("its table is none")
        if not all(isinstance(word, str) for one in lists for word in one) or len(set(columns)) != len(columns):
            raise ValueError("the columns of its table are none")
        if set(categories) - set(columns) or not all(categories.values()):
            raise ValueError("the categories of its table are none")
        if any(known != sorted(set(known)) for known in categories.values()):  # they are searched by halves
            raise ValueError("the categories of its table are none")
        return cls(tuple(columns), label, {name: tuple(known) for name, known in categories.items()})

    def numbers(self, frame, where: str, start: int = 0, missing: bool = False) -> np.ndarray:
        """(n, d) float64 of a pandas frame, whose other columns are passed over.

        ``where`` names the file, ``start`` is the number of its rows before these; with ``missing`` a missing value is
        NaN. Raises BoostrunError, one sentence with the row and the column, for a column that lacks, another missing or
        an infinite value, or text for a number.
        """
        names = {str(column): column for column in frame.columns}
        self.check(names, where)
        out = np.empty((len(frame), len(self.columns)))
        for position, name in enumerate(self.columns):
            column = frame[names[name]]
            if name in self.categories:
                out[:, position] = self._places(column, name, where, start, missing)
            else:
                out[:, position] = _as_numbers(column, name, where, start, missing)
        return out

    def check(self, names, where: str) -> None:
        """BoostrunError where ``names`` lack a column of the model."""
        lacking = [name for name in self.columns if name not in names]
        if lacking:
            others = [name for name in names if name not in self.columns and name != self.label]
            more = f" and {len(lacking) - 1} more" if len(lacking) > 1 else ""
            shown = ", ".join(list(names)[:12]) + (", ..." if len(names) > 12 else "")
            raise BoostrunError(
                f"{where} has no column '{lacking[0]}'{more}, which the model takes"
                f"{did_you_mean(lacking[0], others)} (its columns: {shown})"
            )

    def in_order(self, names) -> RawTable:
        """The same columns under other ``names``, as many, in the same order."""
        called = dict(zip(self.columns, names))
        return RawTable(tuple(names), "", {called[name]: known for name, known in self.categories.items()})

    def coded(self, frame, missing: bool = False):
        """A copy of a frame with numbers in place of text, where there is any to replace; see :meth:`numbers`."""
        if not self.categories:
            return frame
        present = [name for name in self.categories if name in frame]
        return frame.assign(**{name: self._places(frame[name], name, "the frame", 0, missing) for name in present})

    def _places(self, column, name: str, where: str, start: int, missing: bool) -> np.ndarray:
        unknown = column.isna().to_numpy()
        if unknown.any() and not missing:
            raise _no_value(where, start + int(unknown.argmax()), name)
        known = np.array(self.categories[name])
        values = column.astype(str).to_numpy(dtype=str)
        places = np.minimum(np.searchsorted(known, values), len(known) - 1)
        return np.where(unknown, np.nan, np.where(known[places] == values, places, _UNSEEN))


def _as_numbers(column, name: str, where: str, start: int, missing: bool) -> np.ndarray:
    import pandas.api.types as kinds

    if kinds.is_numeric_dtype(column) and not kinds.is_complex_dtype(column):
        found = column.astype("float64").to_numpy(dtype=np.float64, na_value=np.nan)
    else:
        found = np.empty(len(column))
        for row, value in enumerate(column.tolist()):
            try:
                found[row] = float(value)
            except OverflowError:
                found[row] = np.inf
            except (TypeError, ValueError):
                if column.isna().to_numpy()[row]:
                    found[row] = np.nan
                    continue
                raise BoostrunError(
                    f"{where}: row {start + row + 1} has {str(value)[:60]!r} in column '{name}', where the model takes "
                    "a number"
                ) from None
    check_finite(found[:, None], (name,), where, start, missing)
    return found


def check_finite(values: np.ndarray, names, where: str, start: int, missing: bool = False) -> None:
    """BoostrunError for the first of ``values`` (n, d) that is infinite or beyond float32, or, if not ``missing``, NaN.

    ``names`` are those of the columns, or empty: then they are counted from 0.
    """
    bad = np.abs(values) > _LARGEST if missing else ~(np.abs(values) <= _LARGEST)
    if bad.any():
        row, column = np.argwhere(bad)[0]
        name, value = names[column] if len(names) else str(column), values[row, column]
        if np.isnan(value):
            raise _no_value(where, start + int(row), name)
        raise BoostrunError(
            f"{where}: row {start + int(row) + 1} has {value:g} in column '{name}': infinite or beyond float32"
        )


def _no_value(where: str, row: int, name: str) -> BoostrunError:
    return BoostrunError(f"{where}: row {row + 1} has no value in column '{name}'; fill or leave out such rows")
