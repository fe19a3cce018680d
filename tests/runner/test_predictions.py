"""Stored predictions of a trial: labels, probabilities, and their metrics."""

import numpy as np
import pytest
from sklearn.metrics import brier_score_loss, log_loss

from boostrun.errors import BoostrunError
from boostrun.evaluation.measures import Trained
from boostrun.inputs.bank import Table
from boostrun.runner import predictions


class Classifier:
    """Predicts the values that it was made with."""

    def __init__(self, proba, classes=(0, 1, 2)):
        self.proba, self.classes_ = np.asarray(proba, float), np.array(classes)

    def predict(self, X):
        return self.classes_[self.proba.argmax(axis=1)]

    def predict_proba(self, X):
        return self.proba


class Told(Classifier):
    predict_proba = None


def trained(model):
    data = Table.made()
    accuracy = 100.0 * np.mean(model.predict(None) == data.labels("test"))
    return Trained(model, data, {"metrics": {"test_accuracy_pct": accuracy}, "cost": {}, "curve": {}})


@pytest.fixture
def proba():
    return np.random.default_rng(0).dirichlet([1.0, 1.0, 1.0], 40)


def test_probabilities_are_kept_as_single_precision_and_measured_before_that(tmp_path, proba):
    proba[0] = 1.0 - 1e-12, 1e-12, 0.0
    found = predictions.of(trained(Classifier(proba)))
    predictions.keep(tmp_path, "one", found)
    (kept,) = predictions.read(tmp_path, ["one"], probabilities=True)
    assert kept.probabilities.dtype == np.float32 and np.array_equal(kept.probabilities, proba.astype(np.float32))
    assert kept.calibration.log_loss == pytest.approx(log_loss(kept.truth, proba, labels=[0, 1, 2]), rel=1e-12)
    scores = predictions.scores(tmp_path, ["one", "absent"])
    assert scores["Brier"] == [pytest.approx(brier_score_loss(kept.truth, proba, labels=[0, 1, 2]), rel=1e-12)]
    assert predictions.read(tmp_path, ["one"])[0].probabilities.size == 0  # not read unless asked for


def test_a_model_without_probabilities_keeps_its_labels_and_an_unseen_class_has_none(tmp_path, proba):
    found = predictions.of(trained(Told(proba)))
    assert found.calibration is None and found.probabilities.size == 0
    predictions.keep(tmp_path, "one", found)
    assert predictions.scores(tmp_path, ["one"]) == {"log loss": [], "Brier": []}
    assert predictions.read(tmp_path, ["one"])[0].confusion.sum() == 40
    two = proba[:, 1:] / proba[:, 1:].sum(axis=1, keepdims=True)
    found = predictions.of(trained(Classifier(two, (1, 2))))
    assert found.probabilities.shape == (40, 3) and not found.probabilities[:, 0].any()


def test_what_would_take_too_much_of_the_disk_is_measured_and_not_kept(tmp_path, proba, monkeypatch):
    monkeypatch.setattr(predictions, "MOST_BYTES", 40 * 3 * 4 - 1)
    found = predictions.of(trained(Classifier(proba)))
    assert found.probabilities.size == 0 and found.calibration.bins[0].sum() == 40
    predictions.keep(tmp_path, "one", found)
    assert "1 files" in predictions.size_line(tmp_path, ["one", "absent"])
    assert len(predictions.scores(tmp_path, ["one"])["log loss"]) == 1


@pytest.mark.parametrize("wrong, sentence", [
    (lambda proba: proba[:, :2], "gave the shape"), (lambda proba: 2.0 * proba, "whose sum is not 1"),
    (lambda proba: proba * np.nan, "whose sum is not 1"), (lambda proba: proba * [-1, 1, 1], "numbers below 0"),
])  # fmt: skip
def test_what_is_no_probability_is_refused_in_one_sentence(proba, wrong, sentence):
    model = Classifier(proba)
    made = trained(model)
    model.predict_proba = lambda X: wrong(proba)
    with pytest.raises(BoostrunError, match=sentence):
        predictions.of(made)


def test_rows_that_are_right_are_kept_by_themselves_or_with_the_predictions(tmp_path, proba):
    one, two = (predictions.of(trained(Told(np.roll(proba, shift, axis=0)))) for shift in (0, 1))
    predictions.keep_right(tmp_path, "one", one.truth == one.predicted)
    predictions.keep(tmp_path, "two", two)
    both = [found.truth == found.predicted for found in (one, two)]
    assert predictions.right(tmp_path, ["one", "two"], 40) == tuple(np.mean(both, axis=0))
    assert predictions.right(tmp_path, ["one", "absent"], 40) is None is predictions.right(tmp_path, ["one"], 80)
    (tmp_path / "one.npy").write_bytes(b"cut off")
    assert predictions.right(tmp_path, ["one"], 40) is None


def test_files_of_before_there_were_probabilities_count_as_absent(tmp_path):
    labels = np.array([0, 1], np.int32)
    np.savez(tmp_path / "old.npz", classes=np.array(["a", "b"]), truth=labels, predicted=labels)
    whole = predictions.Predictions(("a", "b"), labels, labels)
    predictions.keep(tmp_path, "new", whole)
    broken = predictions.Calibration(np.array([np.nan, 1.0]), np.zeros((3, 10)))
    predictions.keep(tmp_path, "broken", whole._replace(calibration=broken))
    assert len(predictions.read(tmp_path, ["old", "new", "broken"])) == 1


# -- metrics -----------------------------------------------------------------------------------------------------------


class Raises(Classifier):
    def predict_proba(self, X):
        raise RuntimeError("not fitted for that")


@pytest.mark.parametrize("kind, of_probabilities", [(Classifier, True), (Told, False), (Raises, False)])
def test_metrics_need_no_probabilities_where_labels_are_enough(proba, kind, of_probabilities):
    made = trained(kind(proba))
    assert predictions.add_metrics(made, 64) is not None
    found = made.result["metrics"]
    assert {"test_accuracy_pct", "balanced_accuracy_pct", "macro_f1_pct", "test_rows", "majority_pct"} <= found.keys()
    assert ({"log_loss", "roc_auc", "average_precision"} <= found.keys()) is of_probabilities


def test_probabilities_beyond_the_memory_have_a_log_loss_alone(proba):
    made = trained(Classifier(proba))
    predictions.add_metrics(made, 0)
    assert "log_loss" in made.result["metrics"] and "roc_auc" not in made.result["metrics"]


def test_a_model_that_does_not_predict_adds_nothing(proba):
    made = trained(Classifier(proba))
    made.result["metrics"]["test_accuracy_pct"] += 1.0
    before = dict(made.result["metrics"])
    assert predictions.add_metrics(made, 64) is None and made.result["metrics"] == before


def test_metrics_of_kept_predictions_are_those_of_the_record(tmp_path, proba):
    made = trained(Classifier(proba))
    predictions.keep(tmp_path, "one", predictions.of(made))
    record = {"key": "one", "metrics": dict(made.result["metrics"])}
    (completed,) = predictions.completed([record], tmp_path)
    predictions.add_metrics(made, 64)
    assert completed["metrics"] == pytest.approx(made.result["metrics"], abs=1e-6)
    assert predictions.completed([record], tmp_path / "elsewhere") == [record]


def test_curves_of_metrics_end_at_the_metrics(proba):
    class InStages(Classifier):
        def staged_predict(self, X):
            yield from (np.zeros(40, int), np.ones(40, int), self.predict(X))

    made = trained(InStages(proba))
    truth = made.data.labels("test")
    curve = {
        "T": [1, 3],
        "test_accuracy_pct": [100.0 * np.mean(truth == 0), made.result["metrics"]["test_accuracy_pct"]],
    }
    made.result["curve"] = curve
    predictions.add_metrics(made, 64)
    found = made.result["curve"]["balanced_accuracy_pct"]
    assert found == pytest.approx([100 / 3, made.result["metrics"]["balanced_accuracy_pct"]])
