"""The compiled Hoeffding tree beside river's on the same streams in one run, and ten of them on a million examples.

Accuracy is prequential and held to river's; times are processor time, shown and not asserted.
"""

import time
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone

from boostrun.data.streams import draw
from boostrun.papers.iboost.baselines import HoeffdingTreeClassifier
from boostrun.papers.iboost.onlineboost import OnlineBoostClassifier
from tests.bench.timing import show
from tests.conftest import REAL_DATA

pytestmark = pytest.mark.bench

STREAMS = {
    "sea": {}, "led": {"n_samples": 50_000, "classes": "10"}, "rbf": {"n_samples": 50_000}, "electricity": {},
    "weather": {},
}  # fmt: skip


def prequential(model, stream):
    """(processor seconds, predictions) in chunks of 10,000."""
    X, y, known, said = np.array(stream.x), np.array(stream.y), np.arange(len(stream.classes)), []
    begun = time.process_time()
    for first in range(0, len(y), 10_000):
        said.append(model.test_then_train(X[first : first + 10_000], y[first : first + 10_000], known))
    return time.process_time() - begun, np.concatenate(said)


def followed(model, stream):
    """(processor seconds, predictions) of a model of river's, example by example."""
    said = []
    examples = [(dict(enumerate(x)), label) for x, label in zip(stream.x.tolist(), stream.y.tolist())]
    begun = time.process_time()
    for x, label in examples:
        said.append(model.predict_one(x) or 0)
        model.learn_one(x, label)
    return time.process_time() - begun, np.array(said)


def compared(name, stream, ours, said, took, theirs):
    """By how many points ours is ahead; both are shown."""
    right = [100.0 * np.mean(found == stream.y) for found in (said, theirs)]
    show(name, [
        ("accuracy in %, ours and river's", f"{right[0]:.2f}  {right[1]:.2f}"),
        ("us an example, ours and river's", f"{1e6 * ours / len(said):.2f}  {1e6 * took / len(said):.1f}"),
        ("times as long", f"{took / ours:.1f}"),
    ])  # fmt: skip
    return right[0] - right[1]


@pytest.mark.realdata
@pytest.mark.parametrize("name", STREAMS)
def test_the_same_accuracy_as_river(name):
    tree = pytest.importorskip("river.tree")
    stream = draw({"name": name, **STREAMS[name]}, REAL_DATA, 0)
    prequential(HoeffdingTreeClassifier(), draw({"name": "sea", "n_samples": 2000}, Path("."), 0))  # compiles
    ours, said = prequential(HoeffdingTreeClassifier(), stream)
    took, theirs = followed(tree.HoeffdingTreeClassifier(), stream)
    assert abs(compared(name, stream, ours, said, took, theirs)) <= 0.5


@pytest.mark.realdata
@pytest.mark.parametrize("name", ["electricity", "sea", "rbf"])
def test_the_adaptive_tree_is_as_good_as_rivers(name):
    tree = pytest.importorskip("river.tree")
    stream = draw({"name": name, **STREAMS[name]}, REAL_DATA, 0)
    adaptive = HoeffdingTreeClassifier(adaptive=True)
    prequential(clone(adaptive), draw({"name": "sea", "n_samples": 2000}, Path("."), 0))  # compiles
    ours, said = prequential(adaptive, stream)
    took, theirs = followed(tree.HoeffdingAdaptiveTreeClassifier(bootstrap_sampling=False), stream)
    assert compared(name, stream, ours, said, took, theirs) >= -0.5


def test_ten_trees_on_a_million_led_examples():
    stream = draw({"name": "led", "n_samples": 1_000_000, "classes": "10"}, Path("."), 0)
    model = OnlineBoostClassifier(budget=10, base="hoeffding", random_state=0)
    took, said = prequential(model, stream)
    accuracy = 100 * np.mean(said == stream.y)
    assert accuracy > 50.0  # of ten classes
    show("a million LED examples", [("OnlineBoost of ten trees: s, accuracy in %", f"{took:.1f}  {accuracy:.2f}")])
