"""The loop: the invariants of the specification's section 14, the twin, the variants, scikit-learn's checks."""

import numpy as np
import pytest
from scipy.optimize import minimize, minimize_scalar
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

from boostrun.papers.shareboost.classifier import ShareBoostClassifier
from boostrun.papers.shareboost.coded import CodedPool
from boostrun.papers.shareboost.inner import losses, regulariser, residuals
from boostrun.papers.shareboost.model import SharedFeatures
from boostrun.papers.shareboost.pieces import PiecewisePool
from boostrun.papers.shareboost.pools import ColumnStumps, DensePool, GroupPool, Groups, Piecewise, ProductPool
from boostrun.papers.shareboost.selection import LazyScores
from tests.papers.shareboost.pools import CLASSES, POOLS, choices, samples
from tests.reference import sharing as twin

EXACT = {"inner_rtol": 0.0, "inner_maxiter": 2000}  # to 1e-8


@parametrize_with_checks([
    ShareBoostClassifier(2), ShareBoostClassifier(2, ColumnStumps(max_bins=16), bias="free", reg=1e-3),
])  # fmt: skip
def test_scikit_learns_checks(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks([
    ShareBoostClassifier(2, rule="full", shortlist=3, solver="agd"),
    ShareBoostClassifier(2, scoring="lazy", reg=1e-3, reg_kind="smoothed_linf", bias="pool"),
    ShareBoostClassifier(3, Piecewise(anchors=4, radii=3), reg=1e-3),
])  # fmt: skip
def test_scikit_learns_checks_of_other_variants(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def digits():
    x, y = load_digits(return_X_y=True)
    return x[:600] / 16.0, y[:600]


@pytest.fixture(scope="module")
def data():
    x, y = samples(400)
    return np.delete(x, 8, axis=1), y


@pytest.fixture(scope="module")
def path(digits):
    return run(digits, 12)


def run(data, n_features, make=DensePool, **keys):
    """ShareBoost on a pool of the samples."""
    x, y = data
    return ShareBoostClassifier(n_features, **keys).fit_pool(make(x), y)


def lazily(data, n_features, make=DensePool, **keys):
    """The same run with full and with lazy scoring, which must choose the same candidates."""
    x, y = data
    pool = make(x)
    full, lazy = (ShareBoostClassifier(n_features, scoring=s, **keys).fit_pool(pool, y) for s in ("full", "lazy"))
    np.testing.assert_array_equal(lazy.selected_, full.selected_)
    return full, lazy


# --- the loop


def test_the_loop_is_algorithm_1(data):
    x, y = data

    def solve(columns, y, k):
        def objective(flat):
            scores = columns @ flat.reshape(columns.shape[1], k)
            return losses(scores, y).mean(), (columns.T @ residuals(scores, y)).ravel() / len(y)

        start = np.zeros(columns.shape[1] * k)
        found = minimize(objective, start, jac=True, method="BFGS", options={"gtol": 1e-9}).x if len(start) else start
        return found.reshape(-1, k)

    chosen, weights = twin.share_boost(x, y, CLASSES, 4, solve)
    model = run(data, 4, **EXACT)
    assert model.selected_.tolist() == chosen
    np.testing.assert_allclose(model.path_[-1], weights, atol=1e-5)


def test_the_loss_falls_by_half_the_squared_score_at_least(path):
    before = np.append(np.log(1 + 9 * np.e), path.train_loss_[:-1])
    assert (before - path.train_loss_ >= path.scores_**2 / 2 - 1e-6).all()


def test_each_round_ends_where_the_gradient_is_small(digits, path):
    x, y = digits
    for t, weights in enumerate(path.path_):
        columns = x[:, path.selected_[: t + 1]]
        largest = np.abs(columns.T @ residuals(columns @ weights, y) / len(y)).max()
        assert largest <= max(1e-8, 1e-3 * path.scores_[t]) or path.inner_iterations_[t] == 300
        assert largest == pytest.approx(path.inner_residual_[t], rel=1e-6, abs=1e-12)
        assert losses(columns @ weights, y).mean() == pytest.approx(path.train_loss_[t], rel=1e-12)


def test_columns_in_use_are_as_many_as_rounds_and_differ(path):
    assert path.model_.nonzero_columns.tolist() == list(range(1, 13)) and len(set(path.selected_.tolist())) == 12
    np.testing.assert_allclose([np.abs(w.sum(axis=1)).max() for w in path.path_], 0.0, atol=1e-8)


@pytest.mark.parametrize("name", POOLS)
def test_a_longer_run_begins_with_the_shorter_one_bit_for_bit(name):
    short, long = (run(samples(), t, POOLS[name], reg=1e-4) for t in (3, 5))
    np.testing.assert_array_equal(long.selected_[:3], short.selected_)
    for a, b in zip(short.path_, long.path_):
        np.testing.assert_array_equal(a, b)


def test_order_of_samples_classes_and_features_changes_names_only(data):
    x, y = data
    rng, model = np.random.default_rng(3), run(data, 5, **EXACT)
    rows, classes, columns = rng.permutation(len(y)), rng.permutation(CLASSES), rng.permutation(x.shape[1])
    by_rows, by_classes = run((x[rows], y[rows]), 5, **EXACT), run((x, classes[y]), 5, **EXACT)
    np.testing.assert_array_equal(by_rows.selected_, model.selected_)
    np.testing.assert_array_equal(by_classes.selected_, model.selected_)
    np.testing.assert_array_equal(columns[run((x[:, columns], y), 5, **EXACT).selected_], model.selected_)
    np.testing.assert_allclose(by_rows.path_[-1], model.path_[-1], atol=1e-5)
    np.testing.assert_allclose(by_classes.path_[-1][:, classes], model.path_[-1], atol=1e-5)


@pytest.mark.parametrize("piece", [False, True])
def test_all_columns_without_margin_are_scikit_learns_logistic_regression(piece, data):
    """Eight columns, or one infinite piece, which has a constant too and is multiplied in single precision."""
    x, y = data
    keys, weight = {"margin": 0.0, **EXACT}, 1e-3 if piece else 1e-2
    if piece:
        model = run(
            data, 1, lambda x: PiecewisePool(x, x[:1], np.array([np.inf]), np.zeros(8), np.eye(8)), reg=weight, **keys
        )
        x, order = np.column_stack([x, np.ones(len(x))]), np.arange(9)
    else:
        model = run(data, 8, reg=weight, **keys)
        order = model.selected_
    peer = LogisticRegression(C=1 / (2 * len(y) * weight), fit_intercept=False, tol=1e-10, max_iter=5000).fit(x, y)
    np.testing.assert_allclose(model.path_[-1], peer.coef_.T[order], atol=3e-4 if piece else 1e-5)


def test_a_group_brings_all_its_columns_and_is_solved_to_a_tolerance_of_their_mean_score(digits, data):
    x, y = digits
    clf = ShareBoostClassifier(3, Groups([range(8 * row, 8 * row + 8) for row in range(8)])).fit(x, y)
    assert [w.shape for w in clf.path_] == [(8, 10), (16, 10), (24, 10)] and clf.score(x, y) > 0.8
    groups = [list(range(start, start + 4)) for start in (0, 4)]
    model = run(data, 2, lambda x: GroupPool(x, groups), inner_rtol=0.1, inner_maxiter=2000)
    assert (model.inner_residual_ <= 0.1 * model.scores_ / 4).all()


# --- lazy scoring


@pytest.mark.parametrize("name", [name for name in POOLS if name != "groups"])
def test_lazy_scoring_is_full_scoring(name):
    full, lazy = lazily(samples(300), 9, POOLS[name], reg=1e-5)
    np.testing.assert_array_equal(lazy.path_[-1], full.path_[-1])
    np.testing.assert_allclose(lazy.scores_, full.scores_, rtol=1e-4)


@pytest.mark.parametrize("bias", ["none", "free", "pool"])
def test_lazy_scoring_of_thousands_of_columns_stays_finite_beyond_saturation(bias):
    x = np.random.default_rng(0).uniform(-1, 1, (60, 6000))
    x[:, ::7], x[:, 1::7] = 0.0, 1.0
    _, lazy = lazily((x, np.arange(60) % 3), 30, stop_loss=0.0, bias=bias)
    assert lazy.scored_[-1] < 6000 and lazy.train_loss_[-1] < 1e-6
    for found in (lazy.scores_, lazy.train_loss_, lazy.inner_residual_, lazy.model_.weights):
        assert np.isfinite(found).all()


def test_lazy_scoring_looks_at_fewer_candidates_in_late_rounds(digits, monkeypatch):
    monkeypatch.setattr("boostrun.papers.shareboost.selection._FIRST", 16)
    model = run((digits[0][:, 8:40], digits[1]), 40, ProductPool, scoring="lazy", reg=0.1)
    assert model.scored_[0] == 32 * 31 // 2 and model.scored_[-8:].mean() < 0.6 * model.scored_[0]


def test_a_score_that_rises_by_all_that_residuals_move_is_not_missed(monkeypatch):
    monkeypatch.setattr("boostrun.papers.shareboost.selection._FIRST", 1)
    pool = DensePool(np.array([[1.0, 0.5], [1.0, -0.5], [1.0, 0.5], [1.0, -0.5]]))
    swinging, shift = np.array([[1.0, -1.0], [-1.0, 1.0]] * 2), np.array([1.0, -1.0])
    lazy, taken = LazyScores(pool), np.zeros(2, bool)
    assert lazy.best(swinging, taken) == (1, 1.0, 2)
    moved = swinging + 0.51 * shift  # column 0's score: from 0 to 1.02, which is delta
    lazy.moved(np.abs(moved - swinging).sum() / 4)
    assert lazy.best(moved, taken) == (0, pytest.approx(1.02), 2)
    nearer = moved + 0.01 * shift
    lazy.moved(np.abs(nearer - moved).sum() / 4)
    assert lazy.best(nearer, taken) == (0, pytest.approx(1.04), 1)


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.uint8])
@pytest.mark.parametrize("width", [2, 130])
def test_of_equal_columns_the_first_is_taken(kind, width):
    rng = np.random.default_rng(width)
    y = rng.integers(0, 3, 301)
    column = np.round(np.clip(rng.normal(loc=y, size=301), -2, 4) * 40 + 80)
    x = np.column_stack([rng.integers(0, 20, 301), *[column] * width]).astype(kind)
    coded = kind == np.uint8
    full, _ = lazily((x, y), 1, lambda x: CodedPool(np.ascontiguousarray(x.T)) if coded else DensePool(x / kind(255)))
    assert full.selected_.tolist() == [1]


# --- solvers, penalties, rules


def test_solvers_agree(data):
    one, other = (run(data, 5, solver=s, inner_rtol=0, inner_maxiter=20_000) for s in ("lbfgs", "agd"))
    np.testing.assert_array_equal(one.selected_, other.selected_)
    np.testing.assert_allclose(one.train_loss_, other.train_loss_, rtol=1e-8)
    np.testing.assert_allclose(one.path_[-1], other.path_[-1], atol=1e-4)
    assert other.inner_residual_.max() <= 1e-8


@pytest.mark.parametrize("kind", choices("reg_kind"))
@pytest.mark.parametrize("solver", ["lbfgs", "agd"])
def test_every_penalty_is_minimised_with_the_loss(kind, solver, data):
    x, y = data
    model = run(data, 3, reg=1e-2, reg_kind=kind, beta=20.0, solver=solver, inner_maxiter=5000)
    value = losses(x[:, model.selected_] @ model.path_[-1], y).mean()
    assert model.objective_[-1] == pytest.approx(value + 1e-2 * regulariser(kind, 20.0)(model.path_[-1])[0])
    assert model.train_loss_[-1] == pytest.approx(value)
    assert (model.inner_residual_ <= 1e-3 * model.scores_).all() and (np.diff(model.objective_) < 0).all()


@pytest.mark.parametrize("kind", choices("reg_kind"))
def test_penalties_are_flat_at_zero_and_near_their_norms(kind):
    penalty, weights = regulariser(kind, 50.0), np.random.default_rng(0).normal(size=(4, 3))
    value, (nothing, slope) = penalty(weights)[0], penalty(np.zeros((4, 3)))
    assert nothing == pytest.approx(0.0, abs=1e-15) and not slope.any()
    if kind == "smoothed_l1":
        assert 0 <= np.abs(weights).sum() - value <= 12 * np.log(2) / 50
    elif kind == "smoothed_linf":
        assert 0 <= np.abs(weights).max(axis=1).sum() - value <= 4 * np.log(6) / 50


@pytest.mark.parametrize("rule", choices("rule"))
def test_every_rule_trains(rule, digits):
    model = run(digits, 5, rule=rule, shortlist=10, reg=1e-5)
    assert len(set(model.selected_.tolist())) == 5 and (np.diff(model.train_loss_) < 0).all()
    before = residuals(np.zeros((600, 10)), digits[1])
    assert model.scores_[0] == pytest.approx(np.abs(digits[0][:, model.selected_[0]] @ before).sum() / 600)


def test_from_one_state_the_more_a_rule_may_change_the_lower_it_gets(data):
    x, y = data
    two, reached = run(data, 2, **EXACT), {}
    taken, scores = two.selected_.tolist(), x[:, two.selected_] @ two.path_[-1]
    rest = [r for r in range(x.shape[1]) if r not in taken]
    for rule in ("line", "column", "full"):
        third = run(data, 3, lambda x: _Forced(x, taken), rule=rule, shortlist=0, **EXACT)
        reached[rule] = third.train_loss_[-1]
        if rule == "line":
            steps = [x[:, [r]] * (x[:, r] @ residuals(scores, y) / len(y)) for r in rest]
            least = [minimize_scalar(lambda a, s=s: losses(scores + a * s, y).mean()).fun for s in steps]
            assert third.selected_[-1] == rest[int(np.argmin(least))]
    each = [run(data, 3, lambda x, r=r: _Forced(x, [*taken, r]), **EXACT).train_loss_[-1] for r in rest]
    assert reached["full"] == pytest.approx(min(each), rel=1e-7) and third.selected_[-1] == rest[int(np.argmin(each))]
    assert reached["full"] <= min(reached.values()) + 1e-9


class _Forced(DensePool):
    """Columns that can only be taken in the order given at first."""

    def __init__(self, x, order):
        super().__init__(x)
        self.order = list(order)

    def scores(self, residuals, units=None, normalised=False):
        scores = super().scores(residuals, units, normalised)
        if self.order:
            scores[np.arange(len(scores)) != self.order[0]] = -np.inf
        return scores

    def extend(self, design, candidate):
        self.order = self.order[1:]
        super().extend(design, candidate)


def test_the_normalised_rule_does_not_depend_on_scale(data):
    x, y = data
    sizes = 10.0 ** np.arange(-3, x.shape[1] - 3)
    one, other = (run((z, y), 4, rule="normalised", **EXACT) for z in (x, x * sizes))
    np.testing.assert_array_equal(one.selected_[:2], other.selected_[:2])


# --- constants, the end of a path, absent classes


def test_a_free_constant_is_not_counted_and_bears_no_penalty(data):
    model = run(data, 1, bias="free", margin=0.0, reg=1e3, **EXACT)
    assert model.path_[0].shape == (2, CLASSES) and model.model_.nonzero_columns.tolist() == [1]
    level = model.path_[0][0] - np.log(np.bincount(data[1]) / len(data[1]))
    np.testing.assert_allclose(level, level.mean(), atol=1e-3)


def test_a_constant_in_the_pool_counts_when_it_is_taken():
    rng = np.random.default_rng(0)
    x, y = rng.normal(scale=0.05, size=(300, 3)), (rng.random(300) < 0.9).astype(int)
    clf = ShareBoostClassifier(2, bias="pool").fit(x, y)
    assert clf.feature_names_selected_[0] == "1" and clf.model_.constants.tolist() == [0] and clf.score(x, y) > 0.85
    assert ShareBoostClassifier(2, "stumps").fit(x, y).feature_names_selected_[0] == "1"


def test_separable_data_stop_at_the_loss_and_are_marked(data):
    x = np.column_stack([data[1] == 0, data[1] == 1, data[1] == 2, data[1] == 3, data[0]]) * 1.0
    model = run((x, data[1]), 10, stop_loss=0.3)
    assert model.stopped_ == "loss" and len(model.selected_) < 10
    assert model.saturated_.tolist() == [False] * (len(model.selected_) - 1) + [True]


@pytest.mark.parametrize("bias", ["none", "free"])
def test_columns_in_use_are_as_many_as_rounds_until_rounds_are_marked(bias):
    """Random columns separate few samples: without a penalty the solver soon cannot move."""
    x = np.random.default_rng(0).uniform(-1, 1, (60, 300))
    model = run((x, np.arange(60) % 3), 40, stop_loss=0.0, bias=bias)
    marked, columns = model.saturated_, model.model_.nonzero_columns
    assert 0 < np.count_nonzero(marked) < len(marked)
    np.testing.assert_array_equal(~marked, columns == np.arange(1, len(marked) + 1))


def test_a_group_is_in_use_when_any_of_its_columns_is():
    model = SharedFeatures(
        "columns", 1, True, np.arange(2), np.array([2, 2]), np.empty(0, np.int64), np.zeros(2, np.int64),
        np.array([1.0, 0, 5, 1, 0, 0, 2, 0]), {},  # W_1 and W_2, each with the free constant first
    )  # fmt: skip
    assert model.idle.tolist() == [False, True]


def test_a_pool_that_is_used_up_ends_the_path_and_columns_of_zeros_are_not_taken(data):
    x, y = data
    with pytest.warns(UserWarning, match="there are 8 candidates"):
        clf = ShareBoostClassifier(20).fit(x, y)
    assert clf.stopped_ in ("pool", "flat") and sorted(clf.selected_) == list(range(8))
    model = run((x * (np.arange(8) < 3), y), 6)
    assert model.stopped_ == "flat" and sorted(model.selected_) == [0, 1, 2]


def test_absent_classes_have_scores_but_no_name(data):
    clf = ShareBoostClassifier(3, n_classes=7).fit(*data)
    assert clf.path_[0].shape == (1, 7) and clf.decision_function(data[0]).shape == (400, 4)
    assert set(clf.predict(data[0])) <= set(range(4))
    assert not np.array_equal(clf.path_[-1][:, :4], ShareBoostClassifier(3).fit(*data).path_[-1])


# --- the classifier


def test_raw_bytes_are_numbers(digits):
    x, y = (digits[0] * 16).astype(np.uint8), digits[1]
    as_bytes, as_numbers = ShareBoostClassifier(3).fit(x, y), ShareBoostClassifier(3).fit(x.astype(float), y)
    np.testing.assert_array_equal(as_bytes.predict(x), as_numbers.predict(x))
    np.testing.assert_array_equal(ShareBoostClassifier(3, "codes").fit(x, y).selected_, as_numbers.selected_)
