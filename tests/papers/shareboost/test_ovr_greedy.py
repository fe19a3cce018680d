"""One-vs-rest greedy selection: each class against an obvious binary path, both counts, scores along the path."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.utils.estimator_checks import parametrize_with_checks

from boostrun.errors import BoostrunError
from boostrun.papers.shareboost.features import Groups, features_of
from boostrun.papers.shareboost.ovr_greedy import OneVsRestGreedyClassifier, class_scores
from boostrun.papers.shareboost.pools import DensePool
from tests.reference import ovr_greedy as twin


@pytest.mark.slow
@parametrize_with_checks([OneVsRestGreedyClassifier(5, reg=1e-3)])
def test_scikit_learns_checks(estimator, check):
    check(estimator)


def noisy(seed=0, n=150, d=8, k=3):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, d))
    return X, (X @ rng.normal(size=(d, k)) * 2 + rng.gumbel(size=(n, k))).argmax(axis=1)


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:500] / 16, y[:500]


@pytest.mark.parametrize("reg", [0.0, 0.01])
def test_every_class_takes_the_path_of_an_obvious_binary_run(reg):
    X, y = noisy()
    clf = OneVsRestGreedyClassifier(5, reg=reg, inner_rtol=1e-7).fit(X, y)
    for number in range(3):
        chosen, path = twin.greedy_path(X, np.where(y == number, 1.0, -1.0), 5, reg)
        assert clf.selected_[number].tolist() == chosen
        for t, weights in enumerate(path, 1):
            places, found = clf.model_.point(number, t)
            assert clf.model_.used[places].tolist() == chosen[:t]
            np.testing.assert_allclose(found, weights, atol=1e-4)


def test_both_counts_and_the_scores_of_every_number_of_features(digits):
    X, y = digits
    clf = OneVsRestGreedyClassifier(4).fit(X, y)
    path, staged = clf.model_, list(clf.staged_decision_function(X))
    for t, scores in enumerate(staged, 1):
        first = [selected[:t] for selected in clf.selected_]
        assert clf.n_union_[t - 1] == len(set(np.concatenate(first))) and clf.n_sum_[t - 1] == 10 * t
        assert path.multiply_adds[t - 1] == 10 * t  # raw columns cost nothing
        points = [path.point(number, t) for number in range(10)]
        expected = np.column_stack([X[:, path.used[places]] @ weights for places, weights in points])
        np.testing.assert_allclose(scores, expected, atol=1e-10)
    np.testing.assert_array_equal(clf.decision_function(X), staged[-1])
    assert (clf.predict(X) == staged[-1].argmax(axis=1)).all() and clf.n_union_[-1] < 40
    losses = [np.logaddexp(0, -np.where(y[:, None] == np.arange(10), s, -s)).mean() for s in staged]
    np.testing.assert_allclose(clf.train_loss_, losses, rtol=1e-9)
    assert (np.diff(clf.train_loss_) < 0).all() and clf.seconds_select_.shape == (4,) == clf.seconds_optimise_.shape


def test_a_class_whose_path_has_ended_keeps_its_last_function():
    """One column separates class 2; the other classes go on."""
    X, y = noisy(1, n=90, d=4, k=2)
    X = np.column_stack([X, np.full(90, -1.0)])
    X[-10:, 4], y[-10:] = 1.0, 2
    clf = OneVsRestGreedyClassifier(3, stop_loss=1e-2).fit(X, y)
    assert clf.model_.lengths.tolist() == [3, 3, 1] and clf.n_sum_.tolist() == [3, 5, 7]
    stages = [scores[:, 2] for scores in clf.staged_decision_function(X)]
    np.testing.assert_allclose(stages[0], stages[2], atol=1e-12)


def test_two_classes_mirror_each_other():
    X, y = noisy(2, k=2)
    clf = OneVsRestGreedyClassifier(4, inner_rtol=1e-7).fit(X, y)
    assert clf.selected_[0].tolist() == clf.selected_[1].tolist() and (clf.n_union_ * 2 == clf.n_sum_).all()
    scores = clf.model_.scores(X)
    np.testing.assert_allclose(scores[:, 0], -scores[:, 1], atol=1e-4)


def test_candidates_may_be_stumps():
    X, y = noisy(3)
    clf = OneVsRestGreedyClassifier(10, features="stumps").fit(X, y)
    assert clf.score(X, y) > 0.75
    calls = []
    model = OneVsRestGreedyClassifier(2).fit_pool(DensePool(X), y, calls.append)
    assert calls == [1, 2] and model.n_union_[-1] <= 6


@pytest.mark.parametrize("kind", ["raw", "codes", "stumps", "products"])
def test_one_pass_for_all_classes_gives_each_class_its_scores(kind):
    X, y = noisy()
    X = np.round(255 * (X + 1) / 2).astype(np.uint8) if kind == "codes" else X
    pool = features_of(kind).pool(X, "none", np.random.default_rng(0))
    residuals = [np.random.default_rng(c).normal(size=len(y)) for c in range(3)]
    for found, g in zip(class_scores(pool, residuals), residuals):
        np.testing.assert_allclose(found, pool.scores(np.column_stack([g, -g])), rtol=1e-4, atol=1e-6)


def test_groups_of_columns_are_refused():
    with pytest.raises(BoostrunError, match="groups of columns"):
        OneVsRestGreedyClassifier(2, Groups([[0, 1], [2, 3]])).fit(*noisy())


def test_saved_and_loaded_it_predicts_the_same(digits, tmp_path):
    X, y = digits
    clf = OneVsRestGreedyClassifier(3).fit(X, y)
    loaded = OneVsRestGreedyClassifier.load(clf.save(tmp_path / "model"))
    np.testing.assert_array_equal(loaded.decision_function(X), clf.decision_function(X))
    assert (loaded.n_union_ == clf.n_union_).all()


@pytest.mark.parametrize(
    ("keys", "message"),
    [({"n_features": 0}, "n_features=0"), ({"reg": -1.0}, "reg="), ({"solver": "newton"}, "solver='newton'"),
     ({"features": "stump"}, "did you mean 'stumps'")],
)  # fmt: skip
def test_bad_parameters_get_one_sentence(keys, message, digits):
    with pytest.raises(BoostrunError, match=message):
        OneVsRestGreedyClassifier(**keys).fit(*digits)
