"""The online boosters of Table 4 on a source of samples: scores, counts, bounded memory, and the estimator's checks."""

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from boostrun.config.fields import fields_of, kind_of
from boostrun.data.source import ArraySource
from boostrun.errors import BoostrunError
from boostrun.methods import hypothesis_ensemble as one_vs_all
from boostrun.papers.reservoir.classifier import ReservoirClassifier
from boostrun.papers.reservoir.keys import OnlineRivalKeys
from boostrun.papers.reservoir.online_classifier import OnlineRivalClassifier, offline_logitboost
from tests.reference.stumps import brute_force_stump

METHODS = kind_of(fields_of(OnlineRivalKeys)["method"]).choices
SMALL = {"n_estimators": 8, "subset_size": 40, "samples_seen": 90, "batch_size": 25, "reservoir_size": 20}
FIELDS = ("features", "thresholds", "polarities", "coefficients")
# enough to pass for a classifier; an odd number of votes has no ties, which the checks and we would break differently
ENOUGH = {"n_estimators": 21, "subset_size": 60, "samples_seen": 600, "reservoir_size": 40}
CHECKED = ("oza", "leistner")  # one of each kind; the others are slow tests


@parametrize_with_checks([OnlineRivalClassifier(name, **ENOUGH) for name in CHECKED])
def test_scikit_learns_checks(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks([OnlineRivalClassifier(name, **ENOUGH) for name in METHODS if name not in CHECKED])
def test_scikit_learns_checks_of_the_other_methods(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    ("method", "expected"),
    [
        ("oza", 85.6), ("osboost", 84.6), ("ocp", 87.4), ("bisc", 80.1), ("leistner", 80.9), ("geem_oza", 88.2),
        ("geem_osboost", 87.2), ("geem_ocp", 83.4),
    ],
)  # fmt: skip
def test_score_on_digits(method, expected, digits):
    """One parametrised table of scores that this code gives; a change here is a change of results."""
    X, y = digits
    source = ArraySource(X[:1400], y[:1400], 0)
    model = OnlineRivalClassifier(
        method, n_estimators=60, subset_size=500, samples_seen=2800, reservoir_size=100, random_state=0
    )
    scores = model.fit_source(source).ensemble_.decision(X[1400:])
    assert 100 * (one_vs_all.predict(scores, model.classes_) == y[1400:]).mean() == pytest.approx(expected, abs=1.5)


@pytest.mark.parametrize(
    ("method", "drawn", "held"),
    [("oza", 40 + 90, 40), ("osboost", 40 + 90, 40), ("ocp", 40 + 90, 40), ("bisc", 90, 25), ("leistner", 90, 25),
     ("geem_oza", 40 + 8 * 20 + 90, 40), ("geem_osboost", 40 + 8 * 20 + 90, 40), ("geem_ocp", 40 + 8 * 20 + 90, 40)],
)  # fmt: skip
def test_what_is_drawn_and_held_is_bounded_and_counted(method, drawn, held, digits):
    filters = []

    class Spy(ArraySource):
        def open(self, capacity, stream=0):
            assert stream == len(filters)
            filters.append(super().open(capacity, stream))
            return filters[-1]

    model = OnlineRivalClassifier(method, random_state=0, **SMALL).fit_source(Spy(*digits, 1))
    assert model.samples_drawn_per_problem_ == [drawn] * 10 == [filter_.drawn for filter_ in filters]
    assert model.samples_drawn_ == 10 * drawn
    assert model.peak_samples_held_ == held == max(filter_.peak_held for filter_ in filters)
    assert all(filter_.held == 0 for filter_ in filters)


@pytest.mark.parametrize("method", METHODS)
def test_the_seed_decides_everything_and_the_batch_size_nothing(method, digits):
    models = [
        OnlineRivalClassifier(method, random_state=3, **{**SMALL, "batch_size": batch}).fit_source(
            ArraySource(*digits, 2)
        )
        for batch in (25, 25, 7)
    ]
    for name in FIELDS:
        arrays = [getattr(model.ensemble_, name) for model in models]
        assert (arrays[0] == arrays[1]).all() and (arrays[0] == arrays[2]).all()


def test_by_default_the_online_methods_see_what_a_reservoir_of_250_draws_or_one_pass(digits):
    X, y = digits
    small = OnlineRivalClassifier("osboost", n_estimators=3, subset_size=50, random_state=0).fit_source(
        ArraySource(X, y, 0)
    )
    assert small.samples_drawn_per_problem_ == [50 + 250 + 250 + 3 * 250] * 10
    large = OnlineRivalClassifier("osboost", n_estimators=20, subset_size=50, random_state=0).fit_source(
        ArraySource(X, y, 0)
    )
    assert large.samples_drawn_per_problem_ == [50 + len(y)] * 10


def test_stumps_of_geem_are_those_of_reservoir_boosting_on_the_same_stream(digits):
    source = ArraySource(*digits, 5)
    ours = OnlineRivalClassifier("geem_oza", random_state=9, **SMALL).fit_source(source).ensemble_
    geem = ReservoirClassifier("geem", reservoir_size=20, n_estimators=8, random_state=9).fit_source(source).ensemble_
    for name in FIELDS[:3]:
        assert (getattr(ours, name) == getattr(geem, name)).all()
    assert not np.allclose(ours.coefficients, geem.coefficients)


def test_offline_logitboost_is_logitboost():
    rng = np.random.default_rng(0)
    samples = rng.integers(0, 256, (60, 4), dtype=np.uint8)
    labels = np.where(samples[:, 0].astype(int) + samples[:, 1] > 256, 1.0, -1.0)
    scores = np.zeros(60)
    for stump, step in offline_logitboost(samples, labels, 10, 0.5):
        weights = 1 / (1 + np.exp(labels * scores))
        (feature, *_, polarity), edge = brute_force_stump(samples, weights * labels)
        assert (stump.feature, stump.polarity) == (feature, polarity)
        error = np.clip((1 - edge / weights.sum()) / 2, 1e-3, 1 - 1e-3)
        assert step == pytest.approx(0.25 * np.log((1 - error) / error), rel=1e-9)
        scores += step * stump(samples)


@pytest.mark.parametrize("method", METHODS)
def test_real_values_keep_their_units(method):
    rng = np.random.default_rng(0)
    X = rng.normal(1e6, 1.0, (600, 5))
    y = (X[:, 3] > 1e6).astype(int)
    sizes = {**SMALL, "n_estimators": 5, "samples_seen": 500}
    clf = OnlineRivalClassifier(method, random_state=0, **sizes).fit(X[:400], y[:400])
    assert clf.score(X[400:], y[400:]) > (0.6 if method.endswith("osboost") else 0.9)
    used = (clf.ensemble_.features[0] == 3) & (clf.ensemble_.coefficients[0] > 0)
    assert used.any() and (abs(clf.ensemble_.thresholds[0][used] - 1e6) < 4).all()


@pytest.mark.parametrize("method", METHODS)
def test_constant_features_and_a_class_absent_from_the_first_draws_give_finite_models(method):
    X, y = np.zeros((200, 4), np.uint8), np.zeros(200, int)
    y[-1] = 1
    clf = OnlineRivalClassifier(method, random_state=0, **SMALL).fit(X, y)
    assert np.isfinite(clf.decision_function(X)).all()


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"method": "ozza"}, "did you mean 'oza'"),
        ({"n_estimators": 0}, "n_estimators=0"),
        ({"subset_size": 2.5}, "subset_size=2.5"),
        ({"samples_seen": 0}, "samples_seen=0"),
        ({"batch_size": True}, "batch_size=True"),
        ({"pool_size": 10}, "pool_size=10: 250 selectors"),
        ({"replace_every": 0}, "replace_every=0"),
        ({"reservoir_size": -1}, "reservoir_size=-1"),
        ({"shrinkage": 0.0}, "shrinkage=0.0"),
        ({"gamma": 1.0}, "gamma=1.0"),
        ({"learning_rate": float("nan")}, "learning_rate=nan"),
        ({"max_bins": 1}, "max_bins=1"),
    ],
)
def test_bad_parameters_get_a_sentence(parameters, words, digits):
    with pytest.raises(BoostrunError, match=words):
        OnlineRivalClassifier(**parameters).fit(*digits)


def test_one_class_only_is_a_sentence():
    with pytest.raises(BoostrunError, match="only one class"):
        OnlineRivalClassifier().fit(np.zeros((5, 2)), np.zeros(5))
