"""A folder with one file a round, from which a killed run goes on."""

from __future__ import annotations

import itertools
import json
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from boostrun.errors import BoostrunError
from boostrun.methods import archive
from boostrun.methods.layout import Array

_FORMAT = "boostrun.ShareBoostRound/1"
_LAYOUT = {
    "identity": Array("text"),
    "candidate": Array("int64", "", least=0),
    "weights": Array("float64", "_ _"),
    **{name: Array("float64", values="any") for name in ("score", "loss", "objective", "residual")},
    "iterations": Array("int64", "", least=0),
    "scored": Array("int64", "", least=0),
    **{name: Array("float64", values="any") for name in ("seconds_select", "seconds_optimise")},
}


class Round(NamedTuple):
    """What a round leaves behind; see the attributes of the classifier."""

    candidate: int
    weights: np.ndarray
    score: float
    loss: float
    objective: float
    residual: float
    iterations: int
    scored: int
    seconds_select: float
    seconds_optimise: float


class Checkpoint:
    """Rounds of one run in ``folder``, which is made where it is missing.

    ``identity``: plain values that decide what the rounds are. A file is written under a temporary name, then renamed,
    so that a killed run leaves whole rounds. Raises BoostrunError where the folder cannot be written.
    """

    def __init__(self, folder: str | Path, identity: dict):
        self.folder, self.identity = Path(folder), json.dumps(identity, sort_keys=True)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise BoostrunError(f"cannot make the folder {folder} of a checkpoint: {error.strerror or error}") from None

    def keep(self, number: int, done: Round) -> None:
        """Write round ``number``, counted from 1; ``done`` is it."""
        arrays = {name: np.array(value) for name, value in done._asdict().items()}
        archive.save(self._path(number), _FORMAT, {"identity": np.array(self.identity), **arrays})

    def rounds(self) -> Iterator[Round]:
        """The rounds that are there, from the first; raises BoostrunError for those of another run.

        A damaged one is thrown away with those that come after it, which a line on stderr says: they are made again.
        """
        for number in itertools.count(1):
            if not self._path(number).is_file():
                return
            try:
                if damaged := _damaged_part(self._path(number)):
                    raise BoostrunError(damaged)
                fields = ("identity", *Round._fields)
                (identity, *values), _ = archive.load(self._path(number), _FORMAT, fields, _LAYOUT)
            except BoostrunError:
                self._forget(number)
                return
            if str(identity) != self.identity:
                raise BoostrunError(
                    f"{self.folder} holds rounds of another run (other data or parameters); name another folder or "
                    "remove it"
                )
            yield Round(*(value if value.ndim else value.item() for value in values))  # type: ignore[arg-type]

    def _forget(self, first: int) -> None:
        print(f"boostrun: {self._path(first)} is damaged; the run goes on at round {first}", file=sys.stderr)
        for number in itertools.count(first):
            try:
                self._path(number).unlink()
            except FileNotFoundError:
                return
            except OSError as error:
                raise BoostrunError(f"{self._path(number)} cannot be removed: {error.strerror or error}") from None

    def _path(self, number: int) -> Path:
        return self.folder / f"round-{number:04d}.npz"


def _damaged_part(path: Path) -> str:
    """The part of an archive that is not what was written, or why it is none; empty where all are as they were."""
    try:
        with zipfile.ZipFile(path) as parts:
            return parts.testzip() or ""
    except Exception as error:  # a damaged archive raises any of a dozen kinds
        return str(error) or "no archive"
