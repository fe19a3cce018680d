"""Columns that are not numbers in both parts of a table: numbers that are kept as text, or ranks of text."""

from __future__ import annotations

import sys

import numpy as np

from boostrun.errors import BoostrunError

_A_TEXT = 150  # bytes of a distinct text in a dictionary, besides its letters


class OddColumn:
    """One such column; looked through in both parts, then settled, then turned into numbers piece by piece.

    Parameters
    ----------
    name : the column's
    where : str, the file with the training part, for messages
    room : int, bytes that its distinct texts may take
    """

    def __init__(self, name, where: str, room: int):
        self.name, self.where, self.room = name, where, room
        self._numbers = {"train": True, "test": True}
        self._counts: dict[str, int] | None = {}
        self._letters = 0
        self._ranks: dict[str, int] | None = None

    def look(self, part: str, column) -> None:
        """See the next rows of a part ("train" or "test"), a pandas Series."""
        codes, texts = _texts(column)
        if self._numbers[part]:
            self._numbers[part] = column.dtype != bool and _floats(texts) is not None
        if part == "train" and self._counts is not None:
            for text, count in zip(texts, np.bincount(codes[codes >= 0], minlength=len(texts)).tolist()):
                if text not in self._counts:
                    self._letters += len(text)
                self._counts[text] = self._counts.get(text, 0) + count
            if len(self._counts) * _A_TEXT + self._letters > self.room:
                self._counts = None

    def settle(self) -> None:
        """Decide, from all rows, what the column is; stderr hears of numbers that are kept as text.

        Raises BoostrunError for numbers among text, and for more texts than there is room for.
        """
        if all(self._numbers.values()):
            if self._counts != {}:  # else all are missing
                print(
                    f"boostrun: column '{self.name}' of {self.where} holds whole numbers beyond 64 bits, or numbers "
                    "that are kept as text; it is read as floating-point numbers",
                    file=sys.stderr,
                )
            return
        if self._counts is not None:
            self._refuse_half_numbers(self._counts)
        if self._numbers["train"] and self._counts != {}:
            raise BoostrunError(f"column '{self.name}' holds numbers in {self.where} but text in the test part")
        if self._counts is None:
            raise BoostrunError(
                f"column '{self.name}' of {self.where} holds more different texts than fit into "
                f"{max(1, self.room >> 20)} MiB, a part of run.memory_mb; raise that, or remove the column"
            )
        known = sorted({_comparable(text) for text in self._counts})
        self._ranks = {text: rank for rank, text in enumerate(known)}
        self._counts = None

    def values(self, column) -> np.ndarray:
        """The numbers, (m,) float64, of some rows of a settled column; NaN where there is no value."""
        codes, texts = _texts(column)
        if self._ranks is None:
            found = _floats(texts)
        else:
            found = [self._ranks.get(_comparable(text), -1) for text in texts]
        if found is None:
            raise BoostrunError(f"{self.where} was changed while it was read; run it again")
        return np.array([*found, np.nan], np.float64)[codes]

    def _refuse_half_numbers(self, counts: dict[str, int]) -> None:
        """A number column with a few odd values ("?", "n/a") must not become ranks of text unnoticed."""
        import pandas

        number = pandas.to_numeric(pandas.Series(list(counts)), errors="coerce").notna().to_numpy()
        many = np.array(list(counts.values()))
        if not number.all() and many[number].sum() / many.sum() >= 0.5:
            first = list(counts)[int(np.flatnonzero(~number)[0])]
            raise BoostrunError(
                f"column '{self.name}' of {self.where} holds numbers and {int(many[~number].sum())} values that are "
                f"none (first: {first!r}); leave such cells empty, or remove their rows"
            )


def _texts(column) -> tuple[np.ndarray, list[str]]:
    """Each row's place among the distinct values, -1 where it is missing, and those as text."""
    import pandas

    if column.dtype == object:  # also of what cannot be told apart otherwise, such as lists
        column = column.map(str, na_action="ignore")
    elif isinstance(column.dtype, pandas.CategoricalDtype):
        column = column.astype(object)
    codes, values = pandas.factorize(column)
    return codes, [str(value) for value in values.tolist()]


def _floats(texts: list[str]) -> list[float] | None:
    """The numbers that all texts spell; None where one does not."""
    try:
        return [float(text) for text in texts]
    except ValueError:
        return None


def _comparable(text: str) -> str:
    """Without NUL at the end, which NumPy's text never had."""
    return text.rstrip("\0")
