"""What each rival has, against the paper's table; and what all of them share."""

import csv
from importlib import resources

import numpy as np
import pytest
from sklearn.utils.estimator_checks import check_estimator

from boostrun.drift.adaboost import AdaBoostWindowClassifier
from boostrun.drift.adwin_bagging import AdwinBaggingClassifier
from boostrun.drift.dwm import DWMClassifier
from boostrun.drift.flb import FLBClassifier
from boostrun.drift.flc import FLCClassifier
from boostrun.drift.nsoboost import NSOnlineBoostClassifier
from boostrun.online.ocb import OCBClassifier
from boostrun.online.onlineboost import OnlineBoostClassifier
from boostrun.schemas import drift

RIVALS = {
    "onlineboost": OnlineBoostClassifier,
    "nsoboost": NSOnlineBoostClassifier,
    "flc": FLCClassifier,
    "adwinbag": AdwinBaggingClassifier,
    "ocb": OCBClassifier,
    "dwm": DWMClassifier,
    "flb": FLBClassifier,
}
ATTRIBUTES = {
    "change_detector": "uses_change_detector",
    "online_base_update": "updates_base_online",
    "classifier_add_remove": "adds_and_removes",
    "sliding_window": "keeps_window",
}


def test_attributes_are_those_of_the_papers_table():
    with resources.files("boostrun.reference").joinpath("iboost.csv").open() as lines:
        rows = [row for row in csv.DictReader(lines) if row["table"] == "characteristics" and row["method"] in RIVALS]
    assert len(rows) == len(RIVALS) * len(ATTRIBUTES)
    for row in rows:
        assert getattr(RIVALS[row["method"]], ATTRIBUTES[row["metric"]]) == (float(row["value"]) == 1), row


@pytest.mark.parametrize("method", [*RIVALS.values(), AdaBoostWindowClassifier])
def test_chunks_do_not_matter(method):
    """Any cut of the stream gives the same predictions, and predict() is what comes before the next example."""
    rng = np.random.default_rng(0)
    X, y = rng.uniform(0, 10, (500, 3)), np.zeros(500, int)
    y[:] = X[:, 0] + X[:, 1] <= 8
    y[300:] ^= 1
    fewer = {"random_state": 0} if "random_state" in method().get_params() else {}
    fewer |= {"n_window": 60} if "n_window" in method().get_params() else {}
    whole = method(budget=6, **fewer).test_then_train(X, y)
    model, parts = method(budget=6, **fewer), []
    for a, b in ((0, 60), (60, 61), (61, 250), (250, 500)):
        ahead = model.predict(X[a : a + 1]) if a else []
        parts.append(model.test_then_train(X[a:b], y[a:b], classes=[0, 1]))
        assert list(ahead) == list(parts[-1][: len(ahead)])
    np.testing.assert_array_equal(np.concatenate(parts), whole)
    assert (whole[200:300] == y[200:300]).mean() > 0.7


@pytest.mark.parametrize("method", [*RIVALS.values(), AdaBoostWindowClassifier])
def test_a_stream_of_one_class_is_predicted_and_nan_is_refused(method):
    X = np.random.default_rng(0).normal(size=(450, 2))
    fewer = {"n_window": 50} if "n_window" in method().get_params() else {}
    model = method(budget=3, **fewer).partial_fit(X, np.zeros(450, int), classes=[0, 1])
    assert (model.predict(X) == 0).all()
    with pytest.raises(ValueError, match="NaN"):
        model.partial_fit([[np.nan, 0.0]], [0])


@pytest.mark.parametrize("method", [*RIVALS.values(), AdaBoostWindowClassifier])
def test_scikit_learns_checks(method):
    """The window is one that the checks' data fill: a method that waits for a full one predicts a constant until then;
    their check of accuracy is left to the methods that learn from the first example on."""
    windowed = "n_window" in method().get_params()
    waits = method in (AdaBoostWindowClassifier, OCBClassifier, FLBClassifier)
    failing = {"check_classifiers_train": "the last few examples are not the whole set"} if waits else {}
    check_estimator(
        method(budget=5, **({"n_window": 5} if windowed else {})), expected_failed_checks=failing, on_skip=None
    )


@pytest.mark.parametrize("name", [*RIVALS, "adaboost"])
def test_the_list_of_algorithms_says_the_same(name):
    words = {"uses_change_detector": drift.DETECTS, "updates_base_online": drift.ONLINE,
             "adds_and_removes": drift.CHANGING, "keeps_window": drift.WINDOW}  # fmt: skip
    method = {**RIVALS, "adaboost": AdaBoostWindowClassifier}[name]
    assert drift.ALGORITHMS[name].traits == tuple(word for key, word in words.items() if getattr(method, key))
