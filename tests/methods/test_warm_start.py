"""``warm_start`` goes on with the samples that training began with, and with no others; whole numbers may be floats."""

import numpy as np
import pandas as pd
import pytest

from boostrun import (
    AdaBoostMHClassifier,
    BoostrunError,
    FullDataClassifier,
    IBoostClassifier,
    ReservoirClassifier,
    ShareBoostClassifier,
    SplitReservoirClassifier,
)

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 4))
Y = (X[:, 0] > 0).astype(int)
GAP = np.where(np.arange(480).reshape(120, 4) == 13, np.nan, X)
WORDS = pd.DataFrame({"t": np.array(["b", "c", "d"])[np.arange(120) % 3], "z": X[:, 1]})
OTHERS = {"other values": (-X, Y), "other labels": (X, np.where(Y, "p", "n")), "fewer columns": (X[:, :2], Y),
          "a missing value": (GAP, Y), "fewer rows": (X[:60], Y[:60])}  # fmt: skip
MODELS = {
    "reservoir": lambda: ReservoirClassifier(reservoir_size=20, n_estimators=5, warm_start=True, random_state=0),
    "adaboost": lambda: AdaBoostMHClassifier(n_estimators=5, warm_start=True, random_state=0),
}


@pytest.mark.parametrize("name", list(MODELS))
@pytest.mark.parametrize("words", list(OTHERS))
def test_other_samples_are_refused_and_the_model_stays_as_it_is(name, words):
    model = MODELS[name]().fit(X, Y)
    before = model.predict(X)
    with pytest.raises(BoostrunError, match="warm_start goes on with the samples that training began with"):
        model.set_params(n_estimators=9).fit(*OTHERS[words])
    assert np.array_equal(model.predict(X), before) and model.n_features_in_ == 4
    assert model.fit(X.copy(), list(Y)).score(X, Y) > 0.9


def test_text_of_other_samples_is_not_coded_anew():
    model = MODELS["reservoir"]().fit(WORDS, np.arange(120) % 3)
    other = WORDS.copy()
    other.loc[0, "t"] = "a"
    with pytest.raises(BoostrunError, match="these are others"):
        model.set_params(n_estimators=9).fit(other, np.arange(120) % 3)
    assert model.fit(WORDS.copy(), np.arange(120) % 3).score(WORDS, np.arange(120) % 3) == 1.0


def test_without_warm_start_each_fit_is_its_own():
    model = MODELS["reservoir"]().fit(X, Y).set_params(warm_start=False).fit(-X, Y)
    assert model.set_params(warm_start=True, n_estimators=9).fit(X[:, :3], Y).n_features_in_ == 3


def test_class_weight_counts_once_where_a_class_has_no_weight():
    labels = np.arange(120) % 3
    weights = np.choose(labels, [2.0, 1.0, 0.0])
    given = FullDataClassifier("all", n_estimators=3, class_weight={0: 20, 1: 40}).fit(X, labels, sample_weight=weights)
    product = FullDataClassifier("all", n_estimators=3).fit(X, labels, weights * np.choose(labels, [20, 40, 1]))
    np.testing.assert_array_equal(given.predict_proba(X), product.predict_proba(X))
    assert FullDataClassifier("all", n_estimators=3, class_weight={2: 0}).fit(X, labels).classes_.tolist() == [0, 1, 2]


def test_parts_that_learn_together_stop_early():
    words = {"reservoir_size": 10, "parts": 2, "rounds": "merged", "early_stopping": True}
    assert SplitReservoirClassifier(n_estimators=4, **words).fit(X, Y).score(X, Y) > 0.8


@pytest.mark.parametrize("kind", [float, np.float64, np.int64])
def test_whole_numbers_may_be_written_as_floats(kind):
    for cls, name in (
        (ReservoirClassifier, "n_estimators"), (ReservoirClassifier, "reservoir_size"), (IBoostClassifier, "budget"),
        (AdaBoostMHClassifier, "n_estimators"), (ShareBoostClassifier, "n_features"),
    ):  # fmt: skip
        assert np.array_equal(cls(**{name: kind(8)}).fit(X, Y).predict(X), cls(**{name: 8}).fit(X, Y).predict(X))
    with pytest.raises(BoostrunError, match=r"n_estimators=8.5: a whole number"):
        ReservoirClassifier(n_estimators=8.5).fit(X, Y)


@pytest.mark.parametrize("name", list(MODELS))
def test_the_same_samples_and_weights_may_come_in_other_forms(name):
    weights = np.linspace(1.0, 2.0, len(Y))
    model = MODELS[name]().fit(X, Y, weights)
    for rounds, samples, given in ((6, X.tolist(), weights), (7, X, weights.tolist())):
        model.set_params(n_estimators=rounds).fit(samples, Y, sample_weight=given)
    plain = MODELS[name]().fit(X, Y)
    plain.set_params(n_estimators=6).fit(X, Y, sample_weight=None)
