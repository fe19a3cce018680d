"""Santa Fe, series A (a far-infrared laser): is the next value at most c, given the nine before it? c changes twice.

How the paper made a classification task with three concepts of the series is recalled, not published; sizes and
IBoost's figure fit this reading (`holdout=segments`). `holdout=disjoint` is the stricter one.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from boostrun.config import defaults
from boostrun.data.files import reading
from boostrun.data.streams.drift_stream import DriftStream, Holdout, equal_changes
from boostrun.errors import BoostrunError, DataMissingError

DEFAULTS = defaults("dataset", "santafe")
THRESHOLDS = (-0.5, 0.0, 1.0)  # on the standardised series
LAGS = 9
STREAM = 10_000
_NAMES = ("santafe_laser.npy", "santafe_laser.txt", "A.dat")


def places(options: Mapping, data_root: Path) -> str:
    """Which file belongs where, as a clause for a sentence."""
    folder = Path(data_root) / "santafe"
    return f"{folder / _NAMES[0]}, or {' or '.join(_NAMES[1:])} there with one number a line: the 10,093 laser values"


def files(options: Mapping, data_root: Path) -> dict[str, Path]:
    """The one file that is read, or DataMissingError."""
    for name in _NAMES:
        path = Path(data_root) / "santafe" / name
        if path.is_file():
            return {"series": path}
    raise DataMissingError(f"dataset=santafe is not there; it belongs at {places(options, data_root)}")


def draw(options: Mapping, data_root: Path, rng, holdout_rng) -> DriftStream:
    """The stream in the order of time (only ``holdout_rng`` decides anything), and a hold-out a concept.

    ``segments``: the first 10,000 examples; the hold-out of a concept is drawn from all but its segment of the stream.
    ``disjoint``: three times ``holdout_per_concept`` examples are set aside first, and each concept is tested on all
    of them. With ``ramp`` k the threshold moves to its next value along a line, over k examples from the change on.
    """
    if options["holdout"] not in ("segments", "disjoint"):
        raise BoostrunError(f"dataset.holdout={options['holdout']}: it must be one of segments, disjoint")
    path = files(options, data_root)["series"]
    series = _series(path)
    if len(series) < STREAM + LAGS:
        raise BoostrunError(f"{path} holds {len(series)} values; dataset=santafe needs {STREAM + LAGS}")
    x, target = lagged(standardised(series))
    m = options["holdout_per_concept"]
    if options["holdout"] == "disjoint":
        if 3 * m > len(target) - 3:
            raise BoostrunError(f"dataset.holdout_per_concept={m}: the series has {len(target)} examples in all")
        aside = np.sort(holdout_rng.permutation(len(target))[: 3 * m])
        order = np.delete(np.arange(len(target)), aside)
        held = [aside] * 3
    else:
        order = np.arange(STREAM)
        edges = [0, *equal_changes(STREAM, 3), STREAM]
        free = [np.delete(np.arange(len(target)), slice(a, b)) for a, b in itertools.pairwise(edges)]
        if m > min(map(len, free)):
            raise BoostrunError(f"dataset.holdout_per_concept={m}: {min(map(len, free))} examples are free for it")
        held = [np.sort(holdout_rng.choice(rest, m, replace=False)) for rest in free]
    changes = equal_changes(len(order), 3)
    threshold = ramped(len(order), changes, options["ramp"])
    holdouts = tuple(Holdout(x[i], (target[i] <= c).astype(np.int64)) for i, c in zip(held, THRESHOLDS))
    y = (target[order] <= threshold).astype(np.int64)
    facts = {"concepts": [f"c = {c:g}" for c in THRESHOLDS]}
    return DriftStream("santafe", x[order], y, ("-1", "1"), changes, holdouts, facts)


def standardised(series: np.ndarray) -> np.ndarray:
    """The series with mean 0 and standard deviation 1."""
    return (series - series.mean()) / series.std()


def lagged(series: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """x (N - 9, 9): the nine values before each target, the oldest first; and the targets (N - 9,).

    >>> x, target = lagged(np.arange(12.0))
    >>> x[1].tolist(), target.tolist()
    ([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0], [9.0, 10.0, 11.0])
    """
    windows = np.lib.stride_tricks.sliding_window_view(series, LAGS + 1)
    return np.ascontiguousarray(windows[:, :LAGS]), windows[:, LAGS].copy()


def ramped(n: int, changes: np.ndarray, ramp: int) -> np.ndarray:
    """The threshold of each of n examples; after a change it takes ``ramp`` equal steps to the next one.

    >>> ramped(8, np.array([2, 6]), 2).tolist()
    [-0.5, -0.5, -0.25, 0.0, 0.0, 0.0, 0.5, 1.0]
    """
    number = np.arange(1, n + 1)
    threshold = np.full(n, THRESHOLDS[0])
    for change, before, after in zip(changes, THRESHOLDS, THRESHOLDS[1:]):
        done = np.clip((number - change) / max(ramp, 1), 0.0, 1.0)
        threshold += done * (after - before)
    return threshold


def _series(path: Path) -> np.ndarray:
    with reading(path, "a series of numbers"):
        values = np.load(path) if path.suffix == ".npy" else np.loadtxt(path)
        values = np.asarray(values, np.float64).ravel()
    if not np.isfinite(values).all():
        raise BoostrunError(f"{path} holds a value that is no finite number")
    if len(values) and not 0.0 < values.std() < np.inf:
        raise BoostrunError(f"{path} holds the same value throughout, or values too large to square")
    return values
