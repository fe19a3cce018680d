"""Hold-outs of the current concept, recovery, prequential accuracy, late labels, and examples that do not count."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from boostrun.data.streams import draw
from boostrun.data.streams.drift_stream import DriftStream, Holdout
from boostrun.errors import BoostrunError
from boostrun.evaluation.measures import Measures, spawn
from boostrun.evaluation.prequential import Delayed, OnStream, Prequential, blocks_of, follow, prequential
from boostrun.inputs.bank import Followed, open_stream
from boostrun.papers.iboost.iboost import IBoostClassifier
from boostrun.papers.iboost.online_ensembles import DWMClassifier


class Last:
    """Predicts the last label it learnt, 0 at first, and remembers how it was asked."""

    def __init__(self):
        self.label, self.seen = 0, 0

    def test_then_train(self, x, y, classes=None):
        guesses = np.concatenate([[self.label], y[:-1]])
        self.label, self.seen = y[-1], self.seen + len(y)
        return guesses

    def predict(self, x):
        return np.full(len(x), self.label)


def toy(n=4000, changes=(1000, 2500)):
    """Labels are the concept's number modulo 2, except that the 100 examples after a change are still the old ones."""
    changes = np.array(changes)
    y = np.searchsorted(changes + 100, np.arange(1, n + 1)) % 2
    holdouts = tuple(Holdout(np.zeros((10, 2)), np.full(10, c % 2)) for c in range(len(changes) + 1))
    return DriftStream("toy", np.zeros((n, 2)), y, ("-1", "1"), changes, holdouts)


def test_the_holdout_is_that_of_the_last_example():
    curve = follow(Last(), toy(), every=20, first=200)
    assert curve.examples[0] == 200 and curve.examples[-1] == 4000 and len(curve.examples) == 191
    accuracy = dict(zip(curve.examples, curve.accuracy_pct))
    assert accuracy[1000] == 100 and accuracy[1020] == 0 and accuracy[1100] == 0 and accuracy[1120] == 100
    assert accuracy[2500] == 100 and accuracy[2520] == 0 and accuracy[2620] == 100


def test_recovery_is_over_the_600_examples_after_each_change():
    curve = follow(Last(), toy(), every=20)
    assert curve.recoveries_pct() == pytest.approx([100 * 25 / 30] * 2)  # 5 of 30 checkpoints are lost
    assert curve.recovery_pct() == pytest.approx(100 * 25 / 30)
    assert curve.stream_accuracy_pct() == pytest.approx(100 * 190 / 200)
    assert curve.tail_accuracy_pct() == 100
    assert curve.seconds >= 0


def test_changes_weigh_the_same_though_one_has_fewer_checkpoints():
    curve = follow(Last(), toy(2600, (1000, 2500)), every=20)
    assert curve.recoveries_pct() == pytest.approx([100 * 25 / 30, 0.0])
    assert curve.recovery_pct() == pytest.approx(50 * 25 / 30)


def test_tails_end_where_a_concept_ends():
    curve = follow(Last(), toy(1400, (1000,)), every=20)
    inside = curve.accuracy_pct[(curve.examples > 500) & (curve.examples <= 1400)]  # 501..1000 and 901..1400
    assert curve.tail_accuracy_pct() == pytest.approx(inside.mean()) and curve.tail_accuracy_pct() < 100


def test_a_stream_that_ends_early_is_learnt_to_its_end_and_measured_as_far_as_it_goes():
    learner = Last()
    curve = follow(learner, toy(1010, (1000, 2500)), every=20)
    assert learner.seen == 1010 and curve.examples[-1] == 1000
    assert np.isnan(curve.recoveries_pct()).all() and np.isnan(curve.recovery_pct())
    none = follow(Last(), toy(15), every=20)
    assert np.isnan(none.stream_accuracy_pct()) and len(none.examples) == 0


def test_a_stream_without_holdouts_is_refused():
    stream = DriftStream("bare", np.zeros((5, 1)), np.zeros(5, int), ("a", "b"), np.array([], int))
    with pytest.raises(BoostrunError, match="'bare' has no hold-out"):
        follow(Last(), stream)


@given(st.lists(st.booleans(), min_size=1, max_size=60), st.integers(1, 9), st.integers(1, 9), st.integers(1, 25),
       st.floats(0.5, 1.0))  # fmt: skip
def test_prequential_scores_are_those_of_the_definitions_in_any_blocks(right, window, every, block, fading):
    score = Prequential(window, fading, every)
    for start in range(0, len(right), block):
        score.update(np.array(right[start : start + block]))
    s = n = 0.0
    curve = []
    for k, one in enumerate(right, start=1):
        s, n = (not one) + fading * s, 1 + fading * n
        if k % every == 0:
            curve.append((k, 100 * np.mean(right[max(0, k - window) : k]), 100 * (1 - s / n)))
    assert score.n_seen == len(right) and score.accuracy_pct == pytest.approx(100 * np.mean(right))
    assert score.fading_accuracy_pct == pytest.approx(100 * (1 - s / n), abs=1e-9)
    assert score.window_accuracy_pct == pytest.approx(100 * np.mean(right[-window:]))
    found = list(zip(*score.curve.values()))
    np.testing.assert_allclose(np.array(found).reshape(-1, 3), np.array(curve).reshape(-1, 3), atol=1e-9)


def test_nothing_seen_has_no_accuracy():
    score = Prequential()
    score.update(np.array([], bool))
    assert np.isnan([score.accuracy_pct, score.window_accuracy_pct, score.fading_accuracy_pct]).all()


@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_each_example_is_predicted_before_it_is_learnt(size):
    stream = toy(300, (100,))
    learner = Last()
    score, seconds = prequential(learner, blocks_of(stream, size), [0, 1], Prequential(50, 0.9, 100))
    assert score.n_seen == learner.seen == 300 and seconds >= 0
    assert score.accuracy_pct == pytest.approx(100 * 299 / 300)  # wrong once, where the label turns
    assert score.curve["window_accuracy_pct"] == [100.0, 100.0, 100.0]


def test_memory_does_not_grow_with_the_stream():
    score = Prequential(window=100, every=10**9)
    blocks = ((np.zeros((50, 1)), np.zeros(50, int)) for _ in range(2000))
    prequential(Last(), blocks, [0, 1], score)
    assert score.n_seen == 100_000 and score._last.nbytes == 100 and score.curve["examples"] == []


class Rule:
    """Knows SEA's first threshold and never learns; remembers what it was given."""

    def __init__(self):
        self.sizes = []

    def test_then_train(self, x, y, classes=None):
        self.sizes.append(len(y))
        return self.predict(x)

    def predict(self, x):
        return (x[:, 0] + x[:, 1] <= 8).astype(int)


def test_a_stream_with_holdouts_is_measured_on_them_from_the_first_window_on():
    stream = draw({"name": "sea", "n_samples": 4000}, Path("."))
    result = OnStream().run(Rule(), Followed(stream, 200, 20, None, None, None), spawn(0))
    curve, metrics = result["curve"], result["metrics"]
    assert curve["changes"] == [1000, 2000, 3000] and curve["examples"][0] == 200
    accuracy = dict(zip(curve["examples"], curve["test_accuracy_pct"]))
    expected = [100 * np.mean(Rule().predict(held.x) == held.y) for held in stream.holdouts]
    assert [accuracy[k] for k in (1000, 1020, 2020, 4000)] == pytest.approx(expected)
    assert metrics["test_accuracy_pct"] == pytest.approx(np.mean(curve["test_accuracy_pct"]))
    assert metrics["recovery_pct"] == pytest.approx(np.mean(expected[1:]))
    assert [metrics[f"recovery_{i}_pct"] for i in (1, 2, 3)] == pytest.approx(expected[1:])
    assert metrics["tail_accuracy_pct"] == pytest.approx(np.mean(expected))
    assert metrics["test_error_pct"] == 100 - metrics["test_accuracy_pct"]
    assert result["cost"]["time_s"] >= 0
    json.dumps(result, allow_nan=False)


def test_a_stream_without_is_tested_example_by_example():
    stream = draw({"name": "led", "n_samples": 2500}, Path("."))
    rule = Rule()
    result = OnStream().run(rule, Followed(stream, 200, None, 500, 0.99, 1000), spawn(0))
    right = Rule().predict(stream.x) == stream.y
    assert sum(rule.sizes) == 2500 and result["curve"]["examples"] == [1000, 2000]
    assert result["metrics"]["test_accuracy_pct"] == pytest.approx(100 * right.mean())
    last = [100 * right[500:1000].mean(), 100 * right[1500:2000].mean()]
    assert result["curve"]["test_accuracy_pct"] == pytest.approx(last)
    assert result["curve"]["stream"]["bayes_accuracy_pct"] == pytest.approx(88.07, abs=0.01)
    json.dumps(result, allow_nan=False)


def test_figures_without_a_checkpoint_are_left_out():
    stream = draw({"name": "sea", "n_samples": 40}, Path("."))
    result = OnStream().run(Rule(), Followed(stream, 200, 20, None, None, None), spawn(0))
    assert result["metrics"] == {} and result["curve"]["examples"] == []


def sea(n=400, **keys):
    return draw({"name": "sea", "n_samples": n, **keys}, Path())


@pytest.mark.parametrize("delay, size", [(1, 1), (30, 7), (30, 60), (1000, 60)])
def test_an_example_is_learnt_after_so_many_more_were_predicted(delay, size):
    drawn = sea(60)
    late = Delayed(DWMClassifier(5), delay, 2)
    found = [late.test_then_train(drawn.x[i : i + size], drawn.y[i : i + size], [0, 1]) for i in range(0, 60, size)]
    model, expected = DWMClassifier(5), []
    for t in range(60):
        expected.append(model.predict(drawn.x[t : t + 1])[0] if t > delay else 1)
        if t >= delay:
            model.partial_fit(drawn.x[t - delay : t - delay + 1], drawn.y[t - delay : t - delay + 1], [0, 1])
    assert np.concatenate(found).tolist() == expected


@pytest.mark.parametrize("holdouts", [True, False])
@pytest.mark.parametrize("delay", [399, 400, 10**12])
def test_a_delay_as_long_as_the_stream_teaches_nothing_and_every_figure_is_a_number(delay, holdouts):
    drawn = sea() if holdouts else draw({"name": "led", "n_samples": 400}, Path())
    keys = {"eval_every": 20, "fading": 0.99, "measures": "all", "delay": delay}
    result = OnStream().run(IBoostClassifier(50, 5), open_stream(lambda *_: drawn, keys, Path(), None, {}), spawn(0))
    always = 100 * (drawn.y == 1).mean()
    name = "prequential_accuracy_pct" if holdouts else "test_accuracy_pct"
    assert result["metrics"][name] == pytest.approx(always)
    assert result["metrics"]["kappa"] == pytest.approx(0.0, abs=1e-12)
    json.dumps(result, allow_nan=False)


def test_labels_late_by_so_many_examples_put_recovery_off_by_as_many():
    n, change, delay = 2000, 1000, 40
    y = (np.arange(n) >= change).astype(int)
    held = tuple(Holdout(np.zeros((4, 1)), np.full(4, concept)) for concept in (0, 1))
    drawn = DriftStream("turn", np.zeros((n, 1)), y, ("a", "b"), np.array([change]), held)
    keys = {"eval_every": 20, "delay": delay}
    metrics = OnStream().run(Last(), open_stream(lambda *_: drawn, keys, Path(), None, {}), spawn(0))["metrics"]
    assert metrics["recovery_pct"] == pytest.approx(100 * 28 / 30)  # checkpoints 1020 and 1040 are lost


@pytest.mark.parametrize("cuts", [(), (5,), (30,), (29, 31, 60)])
def test_metrics_count_after_the_examples_that_are_not_scored(cuts):
    y, said = np.random.default_rng(0).integers(2, size=(2, 80))
    score, measures = Prequential(7, 0.9, 10, since=30), Measures(None, 2, 7, 10, [20, 40], since=30)
    for part, answers in zip(np.split(y, cuts), np.split(said, cuts)):
        score.update(part == answers)
        measures.update(part, answers, 0.0)
    assert score.accuracy_pct == measures.accuracy_pct == 100.0 * np.mean(y[30:] == said[30:])
    found = measures.metrics()
    assert found["kappa"] == pytest.approx(cohen_kappa_score(y[30:], said[30:]))
    assert "recovery_1_pct" not in found and found["recovery_2_pct"] == 100.0 * np.mean(y[40:] == said[40:])
    assert score.curve["examples"] == [10, 20, 30, 40, 50, 60, 70, 80]


def test_hold_outs_are_asked_after_them_and_something_must_be_left(tmp_path):
    stream = DriftStream("toy", np.zeros((90, 1)), np.zeros(90, int), ("a", "b"), np.array([40]))
    followed = [open_stream(lambda *_: stream, {"scored_after": n}, tmp_path, None, {"n": 20}) for n in (0, 50)]
    assert [one.first for one in followed] == [20, 50]
    with pytest.raises(BoostrunError, match="the stream has 90 examples, none is left"):
        open_stream(lambda *_: stream, {"scored_after": 90}, tmp_path, None, {})
