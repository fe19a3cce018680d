"""LED (Breiman et al., CART, 1984): the seven segments of a digit, each inverted now and then, among 17 coin flips.

The attributes of a drifted stream are those of the plain one with segments and coins exchanged, as in MOA's
`LEDGeneratorDrift` and river's `LEDDrift`. There the exchange is fixed for the life of a generator: here `schedule`
says how it changes in time. MOA inverts a segment with exactly the probability given, as here; river with 0.01 less.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from boostrun.config import defaults
from boostrun.data.streams.drift_stream import DriftStream, equal_changes
from boostrun.errors import BoostrunError

DEFAULTS = defaults("dataset", "led")
_CODES = "1110111 0010010 1011101 1011011 0111010 1101011 1101111 1010010 1111111 1111011"
SEGMENTS = np.array([[int(segment) for segment in code] for code in _CODES.split()], np.uint8)
SHOWN, COINS = 7, 17
CONCEPTS = {  # schedule -> (attributes that drift, offset among the segments, offset among the coins) of each concept
    "static": ((4, 0, 0),),
    "swap": ((0, 0, 0), (4, 0, 0), (4, 2, 4), (4, 4, 8)),
    "moa_chain": ((1, 0, 0), (3, 0, 0), (5, 0, 0), (7, 0, 0)),
}


def files(options: Mapping, data_root: Path) -> dict[str, Path]:
    """None: the stream is generated."""
    return {}


def places(options: Mapping, data_root: Path) -> str:
    """Which file belongs where, as a clause for a sentence."""
    return "generated, no file is needed"


def draw(options: Mapping, data_root: Path, rng, holdout_rng) -> DriftStream:
    """A stream without hold-out; the exchange is that of the concept of each example.

    ``static``: one exchange throughout. ``swap``: it changes at once after each quarter. ``moa_chain``: more and more
    attributes are exchanged, each step over about ``width`` examples, as MOA's `ConceptDriftStream` mixes two streams.
    """
    for key, words in (("schedule", CONCEPTS), ("classes", ("binary", "10"))):
        if options[key] not in words:
            raise BoostrunError(f"dataset.{key}={options[key]}: it must be one of {', '.join(words)}")
    n, concepts = options["n_samples"], CONCEPTS[options["schedule"]]
    positives = None if options["classes"] == "10" else positive_digits(options["positive"])
    changes = equal_changes(n, len(concepts))
    digits = rng.integers(10, size=n)
    plain = np.empty((n, SHOWN + COINS), np.uint8)
    plain[:, :SHOWN] = SEGMENTS[digits] ^ (rng.random((n, SHOWN), dtype=np.float32) < options["noise"])
    plain[:, SHOWN:] = rng.integers(2, size=(n, COINS), dtype=np.uint8)
    if options["schedule"] == "moa_chain":
        of = gradual(n, changes, options["width"], rng)
    else:
        of = np.searchsorted(changes, np.arange(1, n + 1))
    x = np.empty_like(plain)
    for number, drift in enumerate(concepts):
        there = of == number
        x[there] = plain[there][:, exchange(*drift)]
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
    """Which plain attribute each of the 24 columns shows: int64, (24,), its own inverse.

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
    """The concept of each of n examples: at each change, example k (from 1 on) is of the new one with probability
    1 / (1 + exp(-4 (k - change) / width)). Returns int64, (n,).
    """
    of = np.zeros(n, np.int64)
    for number, change in enumerate(changes, start=1):
        passed = 4.0 * (np.arange(1, n + 1) - change) / width
        of[rng.random(n) < 1.0 / (1.0 + np.exp(-np.clip(passed, -500.0, 500.0)))] = number
    return of


def positive_digits(text) -> list[int]:
    """The digits of class +1; BoostrunError unless they are different ones, at least one, and not all ten.

    >>> positive_digits("12457")
    [1, 2, 4, 5, 7]
    """
    text = str(text)
    if not (text.isascii() and text.isdigit()) or len(set(text)) < len(text) or len(text) > 9:
        raise BoostrunError(f"dataset.positive={text}: it must be one to nine different digits, as in 12457")
    return sorted(map(int, text))


def bayes_accuracy(noise: float, positives=None) -> float:
    """The best possible accuracy when the exchange is known: over all 2^7 patterns of segments.

    Parameters
    ----------
    noise : float, probability that a segment is inverted
    positives : list of digits, or None for ten classes

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
