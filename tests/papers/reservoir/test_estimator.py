"""ReservoirClassifier as a scikit-learn estimator: its checks, parameters, save and load, and other libraries."""

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from boostrun import ArraySource, ReservoirClassifier, StumpEnsemble
from boostrun.conformance.method import not_of_draws
from boostrun.errors import BoostrunError
from boostrun.papers.reservoir import PAPER
from tests.marks import slow_but
from tests.reference.adaboost import adaboost_scores

SMALL = {"reservoir_size": 30, "n_estimators": 10}
CHECKED = ("wsam", "geem")  # one that draws, one that chooses; the others are slow tests


@parametrize_with_checks([ReservoirClassifier(name, **SMALL) for name in CHECKED], expected_failed_checks=not_of_draws)
def test_scikit_learns_checks(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(
    [ReservoirClassifier(name, **SMALL) for name in PAPER.strategies if name not in CHECKED],
    expected_failed_checks=not_of_draws,
)
def test_scikit_learns_checks_of_the_other_strategies(estimator, check):
    check(estimator)


@pytest.mark.parametrize("strategy", slow_but(("max", "rand", "wsam", "geem"), PAPER.strategies))
def test_score_on_digits(strategy, digits):
    """One parametrised table of scores that this code gives; a change here is a change of results."""
    X, y = digits
    expected = {
        "rand": 84.9, "max": 89.2, "window": 82.9, "wsam": 88.9, "geem": 89.2, "geem_lattice": 81.1, "wsam_mass": 87.4,
        "geem_likely": 89.9, "geem_trees": 88.7,
    }[strategy]  # fmt: skip
    clf = ReservoirClassifier(strategy, reservoir_size=100, n_estimators=100, random_state=0).fit(X[:1400], y[:1400])
    assert 100 * clf.score(X[1400:], y[1400:]) == pytest.approx(expected, abs=1.5)


def test_histogram_and_exact_search_give_the_same_ensemble_on_8_bit_data(digits):
    X, y = digits
    one, other = (
        ReservoirClassifier("wsam", stump_search=search, random_state=2, **SMALL).fit(X, y)
        for search in ("histogram", "exact")
    )
    for name in ("features", "thresholds", "polarities", "coefficients"):
        assert (getattr(one.ensemble_, name) == getattr(other.ensemble_, name)).all()


def test_real_values_are_binned_on_the_first_draws_and_thresholds_are_in_their_units():
    rng = np.random.default_rng(0)
    X = rng.normal(1e9, 1.0, (400, 5))  # an offset that single precision would wipe out
    y = (X[:, 3] > 1e9).astype(int)
    clf = ReservoirClassifier("wsam", reservoir_size=100, n_estimators=20, random_state=0).fit(X, y)
    assert clf.score(X, y) > 0.97
    used = clf.ensemble_.features[0] == 3
    assert used.any() and (abs(clf.ensemble_.thresholds[0][used] - 1e9) < 4).all()


def test_a_model_saved_and_loaded_predicts_the_same(digits, tmp_path):
    X, y = digits
    labels = np.array(list("abcdefghij"))[y]
    clf = ReservoirClassifier("rand", random_state=0, **SMALL).fit(X, labels)
    path = clf.save(tmp_path / "model")
    again = ReservoirClassifier.load(path)
    assert (again.decision_function(X) == clf.decision_function(X)).all()
    assert (again.predict(X) == clf.predict(X)).all()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["model.npz"]


def test_a_damaged_or_pickled_model_is_one_sentence(tmp_path):
    (tmp_path / "torn.npz").write_bytes(b"PK\x03\x04 nonsense")
    np.savez(tmp_path / "evil.npz", format=np.array([object()], dtype=object))
    np.savez(tmp_path / "other.npz", a=np.zeros(3))
    for name in ("torn", "evil", "other"):
        with pytest.raises(BoostrunError, match="not an ensemble"):
            ReservoirClassifier.load(tmp_path / f"{name}.npz")
    with pytest.raises(BoostrunError, match="no ensemble at"):
        StumpEnsemble.load(tmp_path / "absent.npz")
    with pytest.raises(BoostrunError, match="cannot write"):
        StumpEnsemble.of([]).save(tmp_path / "no" / "folder.npz")


def test_staged_scores_end_in_the_final_scores(digits):
    X, y = digits
    clf = ReservoirClassifier("wsam", random_state=0, **SMALL).fit(X, y)
    stages = list(clf.staged_decision_function(X))
    assert len(stages) == 10 and (stages[-1] == clf.decision_function(X)).all()
    assert (list(clf.staged_predict(X))[-1] == clf.predict(X)).all()
    first = ReservoirClassifier("wsam", random_state=0, reservoir_size=30, n_estimators=4).fit(X, y)
    assert (first.decision_function(X) == stages[3]).all()


def test_the_method_is_adaboost_when_the_reservoir_holds_everything():
    """A window over whole passes, the exponential loss and full steps: Freund and Schapire's algorithm, to rounding."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 256, (60, 4)).astype(np.float64)
    y = (X[:, 0] + X[:, 1] > 256).astype(int)
    ours = ReservoirClassifier(
        "window", reservoir_size=60, batch_size=60, n_estimators=12, loss="exponential", shrinkage=1.0,
        stump_search="exact", random_state=0,
    ).fit(X, y)  # fmt: skip
    test = rng.integers(0, 256, (40, 4)).astype(np.float64)
    np.testing.assert_allclose(ours.decision_function(test), adaboost_scores(X, 2 * y - 1, 12, test), rtol=1e-9)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"strategy": "gem"}, "did you mean 'geem'"),
        ({"reservoir_size": 0}, "reservoir_size=0"),
        ({"batch_size": 0}, "batch_size=0"),
        ({"n_estimators": 2.5}, "n_estimators=2.5"),
        ({"n_estimators": True}, "n_estimators=True"),
        ({"shrinkage": 0.0}, "shrinkage"),
        ({"ridge": -1.0}, "ridge"),
        ({"ridge": float("nan")}, "ridge"),
        ({"loss": "hinge"}, "loss='hinge': one of logistic, exponential is needed"),
        ({"covariance_dims": "some"}, "covariance_dims"),
        ({"max_bins": 300}, "max_bins"),
    ],
)
def test_bad_parameters_get_a_sentence(parameters, words, digits):
    with pytest.raises(BoostrunError, match=words):
        ReservoirClassifier(**parameters).fit(*digits)


def test_one_class_only_is_a_sentence():
    with pytest.raises(BoostrunError, match="only one class"):
        ReservoirClassifier().fit(np.zeros((5, 2)), np.zeros(5))


def test_a_source_hands_its_codes_through_and_balanced_draws_help_rare_classes(digits):
    X, y = digits
    source = ArraySource(X, (y == 3).astype(int), 0)
    plain = ReservoirClassifier("rand", random_state=0, **SMALL).fit_source(source)
    balanced = ReservoirClassifier("rand", balanced=True, random_state=0, **SMALL).fit_source(source)
    assert plain.samples_drawn_ == 30 + 30 + 10 * 30 < balanced.samples_drawn_
    found = [clf.ensemble_.decision(X)[0][y == 3] > 0 for clf in (plain, balanced)]
    assert found[1].mean() > found[0].mean()


def test_constant_features_and_a_class_absent_from_the_first_draws_give_finite_models():
    X = np.zeros((200, 4), np.uint8)
    y = np.zeros(200, int)
    y[-1] = 1  # drawn late, if at all
    for strategy in PAPER.strategies:
        clf = ReservoirClassifier(strategy, reservoir_size=5, n_estimators=5, random_state=0).fit(X, y)
        assert np.isfinite(clf.decision_function(X)).all() and (clf.predict(X) == 0).all()


@pytest.mark.slow
@pytest.mark.parametrize("loss", ["logistic", "exponential"])
@pytest.mark.parametrize("coefficient", ["log_odds", "line_search", "newton"])
def test_many_rounds_on_separable_data_stay_finite(loss, coefficient):
    X = np.repeat(np.array([[0], [255]], np.uint8), 30, axis=0)
    y = np.repeat([0, 1], 30)
    for strategy in PAPER.strategies:
        clf = ReservoirClassifier(
            strategy, reservoir_size=10, n_estimators=400, loss=loss, coefficient=coefficient, shrinkage=1.0,
            random_state=0,
        ).fit(X, y)  # fmt: skip
        assert np.isfinite(clf.ensemble_.coefficients).all() and clf.score(X, y) == 1.0
