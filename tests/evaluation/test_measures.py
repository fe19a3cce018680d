"""Kappas, recovery, memory and time on a stream; log loss, Brier score, reliability: as river, scikit-learn and a few
obvious lines have them."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import brier_score_loss, log_loss

from boostrun.data.streams import draw
from boostrun.data.streams.drift_stream import DriftStream, Holdout
from boostrun.evaluation.measures import BINS, RECOVERY, Measures, measure, size_in_bytes, spawn, together
from boostrun.evaluation.prequential import OnStream
from boostrun.inputs.bank import Followed, open_stream
from boostrun.papers.iboost.baselines import MajoritySoFarClassifier, NoChangeClassifier
from boostrun.papers.iboost.online_ensembles import DWMClassifier

KAPPAS = ("kappa", "kappa_majority", "kappa_temporal")


def labels_alone(y, n_classes, delay):
    """The last label and the most frequent one of those that have come, one example at a time."""
    last, most = [], []
    for t in range(len(y)):
        come = y[: max(0, t - delay)]
        counts = [int((come == c).sum()) for c in range(n_classes)]
        ties = [c for c in range(n_classes) if counts[c] == max(counts)]
        begin = int(n_classes == 2)
        last.append(come[-1] if len(come) else begin)
        most.append(max(ties) if n_classes == 2 else min(ties))
    return np.array(last), np.array(most)


def kappa(accuracy, chance):
    return (accuracy - chance) / (1 - chance) if chance < 1 else 0.0


def plain(y, said, n_classes, last, most):
    p = np.mean(y == said)
    chance = sum(np.mean(y == c) * np.mean(said == c) for c in range(n_classes))
    return [kappa(p, chance), kappa(p, np.mean(y == most)), kappa(p, np.mean(y == last))]


@given(st.integers(0, 10_000), st.integers(1, 60), st.integers(2, 4), st.integers(1, 30), st.integers(1, 15),
       st.integers(1, 25), st.sampled_from([0, 1, 7]))  # fmt: skip
def test_kappas_are_those_of_the_definitions_in_any_blocks(seed, n, n_classes, window, every, block, delay):
    rng = np.random.default_rng(seed)
    y, said = rng.integers(0, n_classes, n), rng.integers(0, n_classes + 1, n)  # the last one is none of the classes
    last, most = labels_alone(y, n_classes, delay)
    measures = Measures(None, n_classes, window, every, delay=delay)
    for start in range(0, n, block):
        measures.update(y[start : start + block], said[start : start + block], 0.0)
    found = measures.metrics()
    assert [found[name] for name in KAPPAS] == pytest.approx(plain(y, said, n_classes, last, most), abs=1e-9)
    assert measures.accuracy_pct == pytest.approx(100 * np.mean(y == said))
    for place, seen in enumerate(measures.curve["examples"]):
        part = slice(max(0, seen - window), seen)
        expected = plain(y[part], said[part], n_classes, last[part], most[part])
        assert [measures.curve[name][place] for name in KAPPAS] == pytest.approx(expected, abs=1e-9)


def test_cohens_kappa_is_rivers():
    metrics = pytest.importorskip("river.metrics")
    rng = np.random.default_rng(3)
    y, said = rng.integers(0, 3, 400), rng.integers(0, 3, 400)
    said[:200] = y[:200]
    theirs, measures = metrics.CohenKappa(), Measures(None, 3, window=50, every=400)
    utils = pytest.importorskip("river.utils")
    rolling = utils.Rolling(metrics.CohenKappa, window_size=50)
    for truth, answer in zip(y.tolist(), said.tolist()):
        theirs.update(truth, answer)
        rolling.update(truth, answer)
    measures.update(y, said, 0.0)
    assert measures.metrics()["kappa"] == pytest.approx(theirs.get(), abs=1e-12)
    assert measures.curve["kappa"] == pytest.approx([rolling.get()], abs=1e-12)


def followed(stream, **more):
    return open_stream(lambda *_: stream, {"fading": 0.99, "measures": "all", **more}, Path(), None, {})


def labels(n, n_classes=2, seed=0):
    """A stream of labels in runs."""
    rng = np.random.default_rng(seed)
    y = np.repeat(rng.integers(0, n_classes, n), rng.integers(1, 6, n))[:n]
    names = tuple("abcdefgh"[:n_classes])
    return DriftStream("labels", rng.normal(size=(n, 2)), y, names, np.array([n // 2]))


@pytest.mark.parametrize("delay", [0, 3])
@pytest.mark.parametrize("n_classes", [2, 5])
@pytest.mark.parametrize("model, name", [
    (NoChangeClassifier, "kappa_temporal"), (MajoritySoFarClassifier, "kappa_majority"),
])  # fmt: skip
def test_the_rows_of_labels_alone_have_the_kappa_nought_they_are_held_against(model, name, n_classes, delay):
    result = OnStream().run(model(), followed(labels(150, n_classes), delay=delay), spawn(0))
    assert result["metrics"][name] == 0.0 and set(result["curve"][name]) == {0.0}


def test_a_perfect_other_answer_leaves_nothing_to_avoid_and_no_nan():
    measures = Measures(None, 2, window=10, every=5)
    measures.update(np.ones(10, int), np.ones(10, int), 0.0)
    measures.update(np.ones(10, int), np.zeros(10, int), 0.0)
    found = measures.metrics()
    assert [found[name] for name in KAPPAS] == [0.0, 0.0, 0.0]
    assert Measures(None, 2, 10, 5).metrics() == {}
    json.dumps(measures.curve, allow_nan=False)


def test_recovery_is_of_the_600_predictions_after_each_change_and_of_none_that_never_came():
    y = np.zeros(2000, int)
    said = y.copy()
    said[1000:1150] = 1
    measures = Measures(None, 2, 100, 100, changes=[1000, 1900, 5000])
    for start in range(0, 2000, 70):
        measures.update(y[start : start + 70], said[start : start + 70], 0.0)
    found = measures.metrics()
    assert found["recovery_1_pct"] == pytest.approx(100 * (1 - 150 / RECOVERY)) and found["recovery_2_pct"] == 100.0
    assert found["recovery_pct"] == pytest.approx((found["recovery_1_pct"] + 100) / 2)
    assert "recovery_3_pct" not in found


@pytest.mark.parametrize("n", [1, 3, 60, 150, 1010, 2000])
def test_a_curve_has_about_a_hundred_points_however_short_the_stream(n):
    result = OnStream().run(DWMClassifier(5), followed(labels(n)), spawn(0))
    curve = result["curve"]
    points = len(curve["examples"])
    assert points == n if n <= 100 else 50 <= points <= 100
    assert {len(curve[name]) for name in (*KAPPAS, "test_accuracy_pct", "memory_bytes")} == {points}
    assert result["cost"]["memory_bytes"] == max(curve["memory_bytes"]) > 100
    assert min(curve["microseconds_per_example"]) >= 0
    json.dumps(result, allow_nan=False)


def test_what_else_is_measured_leaves_accuracy_as_it_was():
    stream = draw({"name": "led", "n_samples": 3000}, Path())
    plain_, whole = (
        OnStream().run(DWMClassifier(5, base="bnb"), followed(stream, curve_every=300, measures=measures), spawn(0))
        for measures in ("accuracy", "all")
    )
    assert set(plain_["curve"]) == {"examples", "test_accuracy_pct", "fading_accuracy_pct", "changes", "stream"}
    assert set(plain_["metrics"]) == {"test_accuracy_pct", "fading_accuracy_pct", "test_error_pct"}
    assert {name: whole["metrics"][name] for name in plain_["metrics"]} == plain_["metrics"]
    assert {name: whole["curve"][name] for name in plain_["curve"]} == plain_["curve"]
    assert "recovery_3_pct" in whole["metrics"] and "memory_bytes" not in plain_["cost"]


def test_a_stream_with_holdouts_is_measured_by_its_predictions_too():
    stream = draw({"name": "sea", "n_samples": 2000}, Path())
    both = [
        OnStream().run(DWMClassifier(5), followed(stream, eval_every=20, measures=measures), spawn(0))
        for measures in ("accuracy", "all")
    ]
    right = DWMClassifier(5).test_then_train(stream.x, stream.y, [0, 1]) == stream.y
    metrics, curve = both[1]["metrics"], both[1]["curve"]
    assert metrics["prequential_accuracy_pct"] == pytest.approx(100 * right.mean())
    assert {name: metrics[name] for name in both[0]["metrics"]} == both[0]["metrics"]
    assert curve["test_accuracy_pct"] == both[0]["curve"]["test_accuracy_pct"]
    assert curve["predictions"]["examples"] == list(range(20, 2001, 20)) and "predictions" not in both[0]["curve"]


def test_memory_is_that_of_all_that_a_learner_holds_each_thing_once():
    class Held:
        __slots__ = ("a", "b")

    held = Held()
    held.a, held.b = np.zeros(1000), [np.zeros(1000)]
    assert 16_000 < size_in_bytes(held) < 17_000
    held.b.append(held.a[10:20])
    assert size_in_bytes(held) < 17_000  # a view of what is counted
    assert size_in_bytes({"x": np.array(["long" * 100, "text" * 100], object)}) > 800
    small, large = (DWMClassifier(5).fit(np.eye(d), np.arange(d) % 2) for d in (4, 40))
    assert size_in_bytes(large) > size_in_bytes(small) > 400
    assert size_in_bytes(np.linalg) == size_in_bytes(len) == 0  # code is not the learner's


def test_the_data_set_says_what_is_measured_or_nothing_is():
    stream = DriftStream("one", np.zeros((4, 1)), np.zeros(4, int), ("a", "b"), np.array([]), (Holdout(None, None),))
    found = open_stream(lambda *_: stream, {}, Path(), None, {})
    assert found == Followed(stream, 200, None, 500, None, 1, "stream", 0, "accuracy")


def made(classes, samples=200, seed=0):
    rng = np.random.default_rng(seed)
    probabilities = rng.dirichlet(np.full(classes, 0.3), samples)
    return probabilities, rng.integers(0, classes, samples), probabilities.argmax(axis=1)


@pytest.mark.parametrize("classes", [2, 3, 10])
def test_log_loss_and_brier_score_are_those_of_scikit_learn(classes):
    probabilities, truth, predicted = made(classes)
    found = measure(probabilities, truth, predicted)
    assert found.log_loss == pytest.approx(log_loss(truth, probabilities, labels=range(classes)), rel=1e-12)
    theirs = brier_score_loss(truth, probabilities[:, 1] if classes == 2 else probabilities, labels=range(classes))
    assert found.brier == pytest.approx(theirs, rel=1e-12)


def test_a_probability_of_zero_costs_much_and_not_everything():
    sure = np.array([[1.0, 0.0], [1.0, 0.0]])
    found = measure(sure, np.array([0, 1]), np.array([0, 0]))
    assert found.log_loss == pytest.approx(log_loss([0, 1], sure), rel=1e-6) and 18.0 < found.log_loss < 18.1


def test_parts_of_a_test_set_add_up_to_the_whole():
    probabilities, truth, predicted = made(4)
    whole = measure(probabilities, truth, predicted)
    parts = [
        measure(*(each[part] for each in (probabilities, truth, predicted))) for part in (slice(70), slice(70, 200))
    ]
    both = together(parts)
    assert both.log_loss == pytest.approx(whole.log_loss) and both.brier == pytest.approx(whole.brier)
    assert np.allclose(both.bins, whole.bins) and both.bins.shape == (3, BINS)


def test_bins_count_every_sample_once_and_say_how_many_are_right():
    probabilities, truth, predicted = made(3)
    probabilities[0] = 1.0, 0.0, 0.0  # the upper end is in the last bin
    counts, sums, right = measure(probabilities, truth, predicted).bins
    assert counts.sum() == 200 and counts[-1] > 0 and right.sum() == np.sum(predicted == truth)
    filled = counts > 0
    means = sums[filled] / counts[filled]
    low = np.arange(BINS)[filled] / BINS
    assert np.all(means >= low) and np.all(means <= low + 1 / BINS)
