"""Labels that come late, and streams that end before they come."""

import json
from pathlib import Path

import numpy as np
import pytest

from boostrun.data.streams import draw
from boostrun.data.streams.drift_stream import DriftStream, Holdout
from boostrun.evaluation.measures import spawn
from boostrun.evaluation.prequential import Delayed, OnStream
from boostrun.inputs.bank import open_stream
from boostrun.papers.iboost.iboost import IBoostClassifier
from boostrun.papers.iboost.online_ensembles import DWMClassifier


def stream(n=400, **keys):
    return draw({"name": "sea", "n_samples": n, **keys}, Path())


@pytest.mark.parametrize("delay, size", [(1, 1), (30, 7), (30, 60), (1000, 60)])
def test_an_example_is_learnt_after_so_many_more_were_predicted(delay, size):
    drawn = stream(60)
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
    drawn = stream() if holdouts else draw({"name": "led", "n_samples": 400}, Path())
    keys = {"eval_every": 20, "fading": 0.99, "measures": "all", "delay": delay}
    result = OnStream().run(IBoostClassifier(50, 5), open_stream(lambda *_: drawn, keys, Path(), None, {}), spawn(0))
    always = 100 * (drawn.y == 1).mean()
    name = "prequential_accuracy_pct" if holdouts else "test_accuracy_pct"
    assert result["metrics"][name] == pytest.approx(always)
    assert result["metrics"]["kappa"] == pytest.approx(0.0, abs=1e-12)
    json.dumps(result, allow_nan=False)


class Last:
    """Predicts the last label it learnt."""

    def test_then_train(self, x, y, classes=None):
        self.label = y[-1]

    def predict(self, x):
        return np.full(len(x), self.label)


def test_labels_late_by_so_many_examples_put_recovery_off_by_as_many():
    n, change, delay = 2000, 1000, 40
    y = (np.arange(n) >= change).astype(int)
    held = tuple(Holdout(np.zeros((4, 1)), np.full(4, concept)) for concept in (0, 1))
    drawn = DriftStream("turn", np.zeros((n, 1)), y, ("a", "b"), np.array([change]), held)
    keys = {"eval_every": 20, "delay": delay}
    metrics = OnStream().run(Last(), open_stream(lambda *_: drawn, keys, Path(), None, {}), spawn(0))["metrics"]
    assert metrics["recovery_pct"] == pytest.approx(100 * 28 / 30)  # checkpoints 1020 and 1040 are lost
