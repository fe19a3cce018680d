"""Predictions that are made and learnt from, and do not count: what is tuned on."""

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from boostrun.data.streams.drift_stream import DriftStream
from boostrun.errors import BoostrunError
from boostrun.evaluation.measures import Measures
from boostrun.evaluation.prequential import Prequential
from boostrun.inputs.bank import open_stream


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
