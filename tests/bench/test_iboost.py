"""A million LED-like examples prequentially, beside river's AdaBoost of the same size; nothing is asserted."""

import time

import numpy as np
import pytest

from boostrun import IBoostClassifier
from tests.bench.timing import show

pytestmark = pytest.mark.bench

SEGMENTS = [
    0b1110111,
    0b0010010,
    0b1011101,
    0b1011011,
    0b0111010,
    0b1101011,
    0b1101111,
    0b1010010,
    0b1111111,
    0b1111011,
]


def led(count, seed=0):
    """Seven segments of a digit, each wrong one time in ten, and 17 coins; digits 1, 2, 4, 5, 7 against the rest."""
    rng = np.random.default_rng(seed)
    digits = rng.integers(0, 10, count)
    shown = (np.array(SEGMENTS)[digits, None] >> np.arange(6, -1, -1) & 1) ^ (rng.random((count, 7)) < 0.1)
    X = np.concatenate([shown, rng.integers(0, 2, (count, 17))], axis=1).astype(float)
    return X, np.isin(digits, [1, 2, 4, 5, 7]).astype(int)


def seconds(model, X, y):
    """(processor seconds, accuracy) of one prequential pass in chunks of 10,000."""
    right, begun = 0, time.process_time()
    for first in range(0, len(X), 10_000):
        part = slice(first, first + 10_000)
        right += (model.test_then_train(X[part], y[part], classes=[0, 1]) == y[part]).sum()
    return time.process_time() - begun, right / len(X)


def test_a_million_led_examples():
    X, y = led(1_000_000)
    rows, ours = [], {}
    for name, keys in {
        "stochastic, stumps": {}, "batch, stumps": {"update": "batch"}, "stochastic, Bernoulli": {"base": "bnb"},
    }.items():  # fmt: skip
        model = {"n_window": 200, "budget": 20, "period": 10, "n_steps": 1} | keys
        seconds(IBoostClassifier(**model), X[:1000], y[:1000])
        took, accuracy = seconds(IBoostClassifier(**model), X, y)
        ours[name] = took / len(X)
        rows.append((f"IBoost {name}: s a million, accuracy", f"{took:.1f}  {accuracy:.4f}"))
    river = pytest.importorskip("river")
    from river import ensemble, naive_bayes

    theirs = ensemble.AdaBoostClassifier(naive_bayes.BernoulliNB(), n_models=20, seed=0)
    examples = [(dict(enumerate(x)), label) for x, label in zip(X[:2000].tolist(), y[:2000].tolist())]
    begun = time.process_time()
    for x, label in examples:
        theirs.predict_one(x)
        theirs.learn_one(x, label)
    each = (time.process_time() - begun) / len(examples)
    rows.append((f"river {river.__version__} AdaBoost, 20 Bernoulli naive Bayes: ms an example", f"{1e3 * each:.2f}"))
    rows.extend((f"times as many examples a second, {name}", f"{each / took:.0f}") for name, took in ours.items())
    show("LED, M = 20, n = 200, p = 10, b = 1", rows)
