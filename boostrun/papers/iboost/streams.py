"""The paper's streams: SEA, LED, RBF (generated), Santa Fe, electricity and weather (read from files).

A function that ends in the name of a stream belongs to that stream; see :mod:`boostrun.data.streams`.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np

from boostrun.data.files import reading
from boostrun.data.streams.drift_stream import DriftStream, Holdout, equal_changes, found, recorded, table
from boostrun.errors import BoostrunError, DataMissingError


def files(options: Mapping, data_root: Path) -> dict[str, Path]:
    """None: the stream is generated."""
    return {}


def places(options: Mapping, data_root: Path) -> str:
    """The files that are needed and their places, as a clause of a sentence."""
    return "generated, no file is needed"


SEA_THRESHOLDS = (8.0, 9.0, 7.0, 9.5)


def draw_sea(options: Mapping, data_root: Path, rng, holdout_rng) -> DriftStream:
    """SEA (Street & Kim, KDD 2001): two of three uniform attributes, summed, against a threshold that changes three
    times.

    Four concepts of equal length, and a hold-out for each without noise. MOA and river label the side x1 + x2 <=
    threshold with 0 or False, here it is +1, class number 1. They flip labels with exactly the given probability, as
    here; neither changes the threshold by itself.
    """
    n, m = options["n_samples"], options["holdout_per_concept"]
    changes = equal_changes(n, len(SEA_THRESHOLDS))
    x = rng.uniform(0, 10, (n, 3))
    y = is_below(x, np.array(SEA_THRESHOLDS)[np.searchsorted(changes, np.arange(1, n + 1))])
    y ^= rng.random(n) < options["noise"]
    holdouts = []
    for threshold in SEA_THRESHOLDS:
        points = holdout_rng.uniform(0, 10, (m, 3))
        holdouts.append(Holdout(points, is_below(points, threshold)))
    facts = {"concepts": [f"x1 + x2 <= {threshold:g}" for threshold in SEA_THRESHOLDS]}
    return DriftStream("sea", x, y, ("-1", "1"), changes, tuple(holdouts), facts)


def is_below(x: np.ndarray, threshold) -> np.ndarray:
    """Class numbers int64 (n,) of x (n, 3): 1 where x1 + x2 <= threshold, a number or one for each row."""
    return (x[:, 0] + x[:, 1] <= threshold).astype(np.int64)


_SEGMENT_CODES = "1110111 0010010 1011101 1011011 0111010 1101011 1101111 1010010 1111111 1111011"
SEGMENTS = np.array([[int(segment) for segment in code] for code in _SEGMENT_CODES.split()], np.uint8)
SHOWN, COINS = 7, 17
LED_CONCEPTS = {  # schedule -> of each concept (attributes exchanged, offset among segments, offset among coins)
    "static": ((4, 0, 0),),
    "swap": ((0, 0, 0), (4, 0, 0), (4, 2, 4), (4, 4, 8)),
    "moa_chain": ((1, 0, 0), (3, 0, 0), (5, 0, 0), (7, 0, 0)),
}


def draw_led(options: Mapping, data_root: Path, rng, holdout_rng) -> DriftStream:
    """LED (Breiman et al., CART, 1984): the seven segments of a digit, some of them inverted, among 17 coin flips.

    In a drifted stream segments and coins are exchanged, as in MOA's `LEDGeneratorDrift` and river's `LEDDrift`, where
    the exchange never changes. Here ``schedule`` says how it changes. ``static``: never. ``swap``: at once after each
    quarter. ``moa_chain``: more and more attributes are exchanged, each step over about ``width`` examples, as MOA's
    `ConceptDriftStream` mixes two streams. MOA inverts a segment with exactly the given probability, as here; river
    with 0.01 less. There is no hold-out.
    """
    for key, words in (("schedule", LED_CONCEPTS), ("classes", ("binary", "10"))):
        if options[key] not in words:
            raise BoostrunError(f"dataset.{key}={options[key]}: it must be one of {', '.join(words)}")
    n, concepts = options["n_samples"], LED_CONCEPTS[options["schedule"]]
    positives = None if options["classes"] == "10" else positive_digits(options["positive"])
    changes = equal_changes(n, len(concepts))
    digits = rng.integers(10, size=n)
    plain = np.empty((n, SHOWN + COINS), np.uint8)
    plain[:, :SHOWN] = SEGMENTS[digits] ^ (rng.random((n, SHOWN), dtype=np.float32) < options["noise"])
    plain[:, SHOWN:] = rng.integers(2, size=(n, COINS), dtype=np.uint8)
    if options["schedule"] == "moa_chain":
        concept = gradual(n, changes, options["width"], rng)
    else:
        concept = np.searchsorted(changes, np.arange(1, n + 1))
    x = np.empty_like(plain)
    for number, drift in enumerate(concepts):
        rows = concept == number
        x[rows] = plain[rows][:, exchange(*drift)]
    if positives is None:
        y, classes = digits, tuple(map(str, range(10)))
    else:
        y, classes = np.isin(digits, positives).astype(np.int64), ("-1", "1")
    facts = {
        "bayes_accuracy_pct": 100.0 * bayes_accuracy(options["noise"], positives),
        "concepts": [f"{d} exchanged ({r}, {s})" if d else "no exchange" for d, r, s in concepts],
    }
    return DriftStream("led", x, y, classes, changes, facts=facts)


def exchange(d: int, r: int = 0, s: int = 0) -> np.ndarray:
    """The plain attribute that each of the 24 columns shows: int64, (24,), its own inverse.

    For i < d, columns (i + r) mod 7 and 7 + (i + s) mod 17 are exchanged.

    >>> exchange(2, 6).tolist()[:10]
    [8, 1, 2, 3, 4, 5, 7, 6, 0, 9]
    """
    shown = np.arange(SHOWN + COINS)
    i = np.arange(d)
    segments, coins = (i + r) % SHOWN, SHOWN + (i + s) % COINS
    shown[segments], shown[coins] = coins, segments
    return shown


def gradual(n: int, changes: np.ndarray, width: int, rng) -> np.ndarray:
    """The concept of each of n examples, int64 (n,). At each change, example k (from 1 on) has the new concept with
    probability 1 / (1 + exp(-4 (k - change) / width))."""
    concept = np.zeros(n, np.int64)
    for number, change in enumerate(changes, start=1):
        passed = 4.0 * (np.arange(1, n + 1) - change) / width
        concept[rng.random(n) < 1.0 / (1.0 + np.exp(-np.clip(passed, -500.0, 500.0)))] = number
    return concept


def positive_digits(text) -> list[int]:
    """The digits of class +1. BoostrunError unless ``text`` has one to nine different digits.

    >>> positive_digits("12457")
    [1, 2, 4, 5, 7]
    """
    text = str(text)
    if not (text.isascii() and text.isdigit()) or len(set(text)) < len(text) or len(text) > 9:
        raise BoostrunError(f"dataset.positive={text}: it must be one to nine different digits, as in 12457")
    return sorted(map(int, text))


def bayes_accuracy(noise: float, positives=None) -> float:
    """The best possible accuracy if the exchange is known, over all 2^7 patterns of segments.

    ``noise`` is the probability that a segment is inverted; ``positives`` are the digits of class +1, None for ten
    classes.

    >>> round(bayes_accuracy(0.1), 4), round(bayes_accuracy(0.1, [1, 2, 4, 5, 7]), 4)
    (0.74, 0.8807)
    """
    patterns = np.arange(2**SHOWN)[:, None] >> np.arange(SHOWN) & 1
    wrong = (patterns[:, None, :] != SEGMENTS).sum(axis=2)
    joint = 0.1 * noise**wrong * (1.0 - noise) ** (SHOWN - wrong)
    if positives is None:
        return float(joint.max(axis=1).sum())
    yes = joint[:, positives].sum(axis=1)
    return float(np.maximum(yes, joint.sum(axis=1) - yes).sum())


_CLASS_SHARES = (0.35, 0.65)
_BLOCK = 100_000  # examples made at once


class Centroids(NamedTuple):
    """Centroids of the RBF streams: centres (c, d) in [0, 1]; labels (c,) int64, 0 or 1; sds (c,) and weights (c,)
    in [0, 1]; velocities (v, d) of the first v centroids, of length 1."""

    centres: np.ndarray
    labels: np.ndarray
    sds: np.ndarray
    weights: np.ndarray
    velocities: np.ndarray

    @property
    def positive_share(self) -> float:
        """Probability of class 1."""
        return float(self.weights @ self.labels / self.weights.sum())


def draw_rbf(options: Mapping, data_root: Path, rng, holdout_rng) -> DriftStream:
    """Moving radial basis functions: MOA's `RandomRBFGeneratorDrift`, river's `RandomRBFDrift`, without hold-out.

    The definition is theirs, the random numbers are not, so that only distributions can be compared. If ``model_seed``
    is None, seeds are drawn until the share of class 1 lies in [0.35, 0.65]; ``facts`` report the seed.
    """
    c, v = options["n_centroids"], options["n_drift_centroids"]
    if v > c:
        raise BoostrunError(f"dataset.n_drift_centroids={v}: there are only {c} centroids (n_centroids)")
    seed, centroids = options["model_seed"], None
    while centroids is None or (
        options["model_seed"] is None and not _CLASS_SHARES[0] <= centroids.positive_share <= _CLASS_SHARES[1]
    ):
        seed = int(rng.integers(2**31)) if options["model_seed"] is None else seed
        centroids = draw_centroids(seed, options["n_features"], c, v)
    x, y = examples(centroids, options["speed"], options["n_samples"], rng)
    facts = {"model_seed": seed, "positive_share": centroids.positive_share}
    return DriftStream("rbf", x, y, ("-1", "1"), np.array([], np.int64), facts=facts)


def draw_centroids(seed: int, n_features: int, n_centroids: int, n_drift: int) -> Centroids:
    """For each centroid a centre, a label, a standard deviation and a weight, in this order.

    A second generator with the same seed draws the velocities, so that the first is parallel to the first centre, and
    all start with positive coordinates.
    """
    rng = np.random.default_rng(seed)
    centres, labels = np.empty((n_centroids, n_features)), np.empty(n_centroids, np.int64)
    sds, weights = np.empty(n_centroids), np.empty(n_centroids)
    for i in range(n_centroids):
        centres[i], labels[i], sds[i], weights[i] = rng.random(n_features), rng.integers(2), rng.random(), rng.random()
    velocities = np.random.default_rng(seed).random((n_drift, n_features))
    velocities /= np.linalg.norm(velocities, axis=1, keepdims=True)
    return Centroids(centres, labels, sds, weights, velocities)


def examples(centroids: Centroids, speed: float, n: int, rng) -> tuple[np.ndarray, np.ndarray]:
    """x (n, d) float64 and y (n,) int64: a centroid by weight, and a point around it.

    The point lies in a direction whose coordinates are uniform on [-1, 1], at a distance of |N(0, 1)| times the
    centroid's standard deviation. The centroids move before each example; ``centroids`` itself does not change.
    """
    from boostrun.papers.iboost.kernels.bases import add_moving_centres

    d = centroids.centres.shape[1]
    centres, velocities = centroids.centres.copy(), centroids.velocities.copy()
    upto = np.cumsum(centroids.weights)
    x, y = np.empty((n, d)), np.empty(n, np.int64)
    for start in range(0, n, _BLOCK):
        block = x[start : start + _BLOCK]
        chosen = np.searchsorted(upto[:-1], rng.random(len(block)) * upto[-1], side="right")
        block[:] = rng.uniform(-1.0, 1.0, block.shape)
        block *= (rng.standard_normal(len(block)) * centroids.sds[chosen] / np.linalg.norm(block, axis=1))[:, None]
        add_moving_centres(block, chosen, centres, velocities, speed)
        y[start : start + _BLOCK] = centroids.labels[chosen]
    return x, y


def draw_rbf_abrupt(options: Mapping, data_root: Path, rng, holdout_rng) -> DriftStream:
    """Radial basis functions at rest, replaced at once: MOA's `RandomRBFGenerator`, several in a row, without hold-out.

    There are ``changes`` + 1 concepts of equal length; for each, centroids are drawn until neither class is rare.
    ``facts`` report their seeds.

    >>> options = {"n_samples": 900, "n_features": 4, "n_centroids": 9, "changes": 2}
    >>> stream = draw_rbf_abrupt(options, Path("."), np.random.default_rng(0), None)
    >>> stream.x.shape, stream.changes.tolist(), len(stream.facts["model_seeds"])
    ((900, 4), [300, 600], 3)
    """
    at_rest = {
        "n_features": options["n_features"], "n_centroids": options["n_centroids"], "n_drift_centroids": 0,
        "speed": 0.0, "model_seed": None,
    }  # fmt: skip
    n = options["n_samples"]
    changes = equal_changes(n, options["changes"] + 1)
    concepts = [
        draw_rbf({**at_rest, "n_samples": int(length)}, data_root, rng, holdout_rng)
        for length in np.diff(changes, prepend=0, append=n)
    ]
    x, y = np.concatenate([one.x for one in concepts]), np.concatenate([one.y for one in concepts])
    seeds = [(one.facts or {})["model_seed"] for one in concepts]
    return DriftStream("rbf_abrupt", x, y, ("-1", "1"), changes, facts={"model_seeds": seeds})


SANTAFE_THRESHOLDS = (-0.5, 0.0, 1.0)  # on the standardised series
SANTAFE_LAGS = 9
SANTAFE_LENGTH = 10_000
_SANTAFE_FILES = ("santafe_laser.npy", "santafe_laser.txt", "A.dat")


def places_santafe(options: Mapping, data_root: Path) -> str:
    """The file to provide and its folder, as a clause."""
    folder = Path(data_root) / "santafe"
    others = " or ".join(_SANTAFE_FILES[1:])
    return f"{folder / _SANTAFE_FILES[0]}, or {others} there with one number a line: the 10,093 laser values"


def files_santafe(options: Mapping, data_root: Path) -> dict[str, Path]:
    """The file that is read, or DataMissingError."""
    for name in _SANTAFE_FILES:
        path = Path(data_root) / "santafe" / name
        if path.is_file():
            return {"series": path}
    raise DataMissingError(f"dataset=santafe was not found; it belongs at {places_santafe(options, data_root)}")


def draw_santafe(options: Mapping, data_root: Path, rng, holdout_rng) -> DriftStream:
    """Santa Fe, series A (a far-infrared laser): is the next value at most c, given the nine before it? c changes
    twice.

    How the paper made three concepts of the series was not published. Its sizes and IBoost's figure fit
    ``holdout=segments``: the stream is the first 10,000 examples in the order of time; the hold-out of a concept is
    drawn from all examples outside its segment of the stream. ``disjoint`` is stricter: three times
    ``holdout_per_concept`` examples are set aside first, and every concept is tested on all of them. With ``ramp`` k
    the threshold moves along a line to its next value, over the k examples after a change. Only ``holdout_rng`` is
    used.
    """
    if options["holdout"] not in ("segments", "disjoint"):
        raise BoostrunError(f"dataset.holdout={options['holdout']}: it must be one of segments, disjoint")
    path = files_santafe(options, data_root)["series"]
    series = _read_series(path)
    if len(series) < SANTAFE_LENGTH + SANTAFE_LAGS:
        raise BoostrunError(f"{path} holds {len(series)} values; dataset=santafe needs {SANTAFE_LENGTH + SANTAFE_LAGS}")
    x, target = lagged(standardised(series))
    m = options["holdout_per_concept"]
    if options["holdout"] == "disjoint":
        if 3 * m > len(target) - 3:
            raise BoostrunError(f"dataset.holdout_per_concept={m}: the series has only {len(target)} examples")
        aside = np.sort(holdout_rng.permutation(len(target))[: 3 * m])
        order = np.delete(np.arange(len(target)), aside)
        held = [aside] * 3
    else:
        order = np.arange(SANTAFE_LENGTH)
        edges = [0, *equal_changes(SANTAFE_LENGTH, 3), SANTAFE_LENGTH]
        free = [np.delete(np.arange(len(target)), slice(a, b)) for a, b in itertools.pairwise(edges)]
        if m > min(map(len, free)):
            raise BoostrunError(f"dataset.holdout_per_concept={m}: only {min(map(len, free))} examples are free for it")
        held = [np.sort(holdout_rng.choice(rest, m, replace=False)) for rest in free]
    changes = equal_changes(len(order), 3)
    threshold = ramped(len(order), changes, options["ramp"])
    holdouts = tuple(Holdout(x[i], (target[i] <= c).astype(np.int64)) for i, c in zip(held, SANTAFE_THRESHOLDS))
    y = (target[order] <= threshold).astype(np.int64)
    facts = {"concepts": [f"c = {c:g}" for c in SANTAFE_THRESHOLDS]}
    return DriftStream("santafe", x[order], y, ("-1", "1"), changes, holdouts, facts)


def standardised(series: np.ndarray) -> np.ndarray:
    """The series with mean 0 and standard deviation 1."""
    return (series - series.mean()) / series.std()


def lagged(series: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """x (N - 9, 9), the nine values before each target, the oldest first, and the targets (N - 9,).

    >>> x, target = lagged(np.arange(12.0))
    >>> x[1].tolist(), target.tolist()
    ([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0], [9.0, 10.0, 11.0])
    """
    windows = np.lib.stride_tricks.sliding_window_view(series, SANTAFE_LAGS + 1)
    return np.ascontiguousarray(windows[:, :SANTAFE_LAGS]), windows[:, SANTAFE_LAGS].copy()


def ramped(n: int, changes: np.ndarray, ramp: int) -> np.ndarray:
    """The threshold of each of n examples; after a change it takes ``ramp`` equal steps to the next one.

    >>> ramped(8, np.array([2, 6]), 2).tolist()
    [-0.5, -0.5, -0.25, 0.0, 0.0, 0.0, 0.5, 1.0]
    """
    number = np.arange(1, n + 1)
    threshold = np.full(n, SANTAFE_THRESHOLDS[0])
    for change, before, after in zip(changes, SANTAFE_THRESHOLDS, SANTAFE_THRESHOLDS[1:]):
        done = np.clip((number - change) / max(ramp, 1), 0.0, 1.0)
        threshold += done * (after - before)
    return threshold


def _read_series(path: Path) -> np.ndarray:
    with reading(path, "a series of numbers"):
        values = np.load(path) if path.suffix == ".npy" else np.loadtxt(path)
        values = np.asarray(values, np.float64).ravel()
    if not np.isfinite(values).all():
        raise BoostrunError(f"{path} holds a value that is not a finite number")
    if len(values) and not 0.0 < values.std() < np.inf:
        raise BoostrunError(f"{path} holds the same value throughout, or values too large to square")
    return values


ELECTRICITY_FILE = "electricity_openml.csv"
ELECTRICITY_COLUMNS = ["date", "day", "period", "nswprice", "nswdemand", "vicprice", "vicdemand", "transfer"]


def places_electricity(options: Mapping, data_root: Path) -> str:
    """The file to provide and its folder, as a clause."""
    return f"{Path(data_root) / 'streams' / ELECTRICITY_FILE}, data set 151 of OpenML as CSV"


def files_electricity(options: Mapping, data_root: Path) -> dict[str, Path]:
    """The files that are read, by name; DataMissingError if one is absent."""
    return found("electricity", (ELECTRICITY_FILE,), data_root)


def draw_electricity(options: Mapping, data_root: Path, rng, holdout_rng) -> DriftStream:
    """Electricity (Harries 1999), 45,312 half hours in their order: is the price in New South Wales above its mean
    of the last day? Class 1 is UP."""
    path = files_electricity(options, data_root)[ELECTRICITY_FILE]
    frame = table(path, header=0)
    absent = [column for column in (*ELECTRICITY_COLUMNS, "class") if column not in frame.columns]
    if absent:
        raise BoostrunError(f"{path} has no column '{absent[0]}', which dataset=electricity has")
    return recorded("electricity", frame[ELECTRICITY_COLUMNS], frame["class"].to_numpy(), ("DOWN", "UP"), path)


DATA, LABELS = "NEweather_data.csv", "NEweather_class.csv"  # of weather
WEATHER_WIDTH = 8


def places_weather(options: Mapping, data_root: Path) -> str:
    """The files to provide and their folder, as a clause."""
    return " and ".join(str(Path(data_root) / "streams" / name) for name in (DATA, LABELS))


def files_weather(options: Mapping, data_root: Path) -> dict[str, Path]:
    """The files that are read, by name; DataMissingError if one is absent."""
    return found("weather", (DATA, LABELS), data_root)


def draw_weather(options: Mapping, data_root: Path, rng, holdout_rng) -> DriftStream:
    """NOAA weather (Elwell & Polikar 2011), 18,159 days of 50 years in their order: did it rain at Offutt Air Force
    Base? Class 1 is rain."""
    paths = files_weather(options, data_root)
    frame, labels = table(paths[DATA]), table(paths[LABELS])
    if frame.shape[1] != WEATHER_WIDTH:
        raise BoostrunError(
            f"{paths[DATA]} has {frame.shape[1]} columns; dataset=weather has {WEATHER_WIDTH} attributes"
        )
    return recorded("weather", frame, labels.iloc[:, 0].to_numpy(), ("0", "1"), paths[DATA])


_DRAWS = {
    "sea": draw_sea, "led": draw_led, "rbf": draw_rbf, "rbf_abrupt": draw_rbf_abrupt, "santafe": draw_santafe,
    "electricity": draw_electricity, "weather": draw_weather,
}  # fmt: skip


def draw(options: Mapping, data_root: Path, rng, holdout_rng) -> DriftStream:
    """The stream that is named in ``options``."""
    return _DRAWS[options["name"]](options, data_root, rng, holdout_rng)
