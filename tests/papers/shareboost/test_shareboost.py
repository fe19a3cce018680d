"""The loop: the invariants of the specification's section 14, the twin, the variants, scikit-learn's checks."""

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

from boostrun.errors import BoostrunError
from boostrun.papers.shareboost.classifier import ShareBoostClassifier
from boostrun.papers.shareboost.coded import CodedPool
from boostrun.papers.shareboost.features import ColumnStumps, Groups, Piecewise
from boostrun.papers.shareboost.inner import losses, regulariser, residuals
from boostrun.papers.shareboost.model import SharedFeatures
from boostrun.papers.shareboost.pieces import PiecewisePool
from boostrun.papers.shareboost.pools import DensePool, GroupPool, ProductPool
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
    return ShareBoostClassifier(12).fit_pool(DensePool(digits[0]), digits[1])


def test_the_loop_is_algorithm_1(data):
    x, y = data

    def solve(columns, y, k):
        def objective(flat):
            weights = flat.reshape(columns.shape[1], k)
            scores = columns @ weights
            return losses(scores, y).mean(), (columns.T @ residuals(scores, y)).ravel() / len(y)

        if columns.shape[1] == 0:
            return np.zeros((0, k))
        found = minimize(objective, np.zeros(columns.shape[1] * k), jac=True, method="BFGS", options={"gtol": 1e-9})
        return found.x.reshape(-1, k)

    chosen, weights = twin.share_boost(x, y, CLASSES, 4, solve)
    model = ShareBoostClassifier(4, **EXACT).fit_pool(DensePool(x), y)
    assert model.selected_.tolist() == chosen
    np.testing.assert_allclose(model.path_[-1], weights, atol=1e-5)


def test_the_loss_falls_by_half_the_squared_score_at_least(path):
    before = np.append(np.log(1 + 9 * np.e), path.train_loss_[:-1])
    assert (before - path.train_loss_ >= path.scores_**2 / 2 - 1e-6).all()


def test_each_round_ends_where_the_gradient_is_small(digits, path):
    x, y = digits
    for t, weights in enumerate(path.path_):
        columns = x[:, path.selected_[: t + 1]]
        gradient = columns.T @ residuals(columns @ weights, y) / len(y)
        assert np.abs(gradient).max() <= max(1e-8, 1e-3 * path.scores_[t]) or path.inner_iterations_[t] == 300
        assert np.abs(gradient).max() == pytest.approx(path.inner_residual_[t], rel=1e-6, abs=1e-12)
        assert losses(columns @ weights, y).mean() == pytest.approx(path.train_loss_[t], rel=1e-12)


def test_columns_in_use_are_as_many_as_rounds_and_differ(path):
    assert path.model_.nonzero_columns.tolist() == list(range(1, 13))
    assert len(set(path.selected_.tolist())) == 12
    np.testing.assert_allclose([np.abs(w.sum(axis=1)).max() for w in path.path_], 0.0, atol=1e-8)


def test_theorem_2_with_half_its_constant_holds_against_many_predictors(digits):
    x, y = digits
    model = ShareBoostClassifier(10, inner_rtol=1e-5, inner_maxiter=3000).fit_pool(DensePool(x), y)
    best = ShareBoostClassifier(40, reg=1e-4).fit_pool(DensePool(x), y)
    rng = np.random.default_rng(0)
    for trial in range(40):
        weights = np.zeros((x.shape[1], 10))
        if trial % 2:
            weights[best.selected_] = best.path_[-1] * rng.uniform(0, 1.2)
        else:
            weights[rng.choice(64, 5)] = rng.normal(scale=rng.uniform(0.1, 2), size=(5, 10))
        bound, loss = np.abs(weights).max(axis=1).sum(), losses(x @ weights, y).mean()
        t = np.arange(1, 11)
        assert (model.train_loss_ - loss <= 2 * bound**2 / t).all()


@pytest.mark.parametrize("name", POOLS)
def test_a_longer_run_begins_with_the_shorter_one_bit_for_bit(name):
    x, y = samples()
    short, long = (ShareBoostClassifier(t, reg=1e-4).fit_pool(POOLS[name](x), y) for t in (3, 5))
    np.testing.assert_array_equal(long.selected_[:3], short.selected_)
    for a, b in zip(short.path_, long.path_):
        np.testing.assert_array_equal(a, b)


def test_predictions_of_a_prefix_are_those_of_a_shorter_run(digits):
    x, y = digits
    whole = ShareBoostClassifier(6).fit(x, y)
    for t, scores in enumerate(whole.staged_decision_function(x), start=1):
        np.testing.assert_array_equal(scores, ShareBoostClassifier(t).fit(x, y).decision_function(x))


def test_order_of_samples_classes_and_features_changes_names_only(data):
    x, y = data
    rng = np.random.default_rng(3)
    model = ShareBoostClassifier(5, **EXACT).fit_pool(DensePool(x), y)
    rows, classes, columns = rng.permutation(len(y)), rng.permutation(CLASSES), rng.permutation(x.shape[1])
    by_rows = ShareBoostClassifier(5, **EXACT).fit_pool(DensePool(x[rows]), y[rows])
    by_classes = ShareBoostClassifier(5, **EXACT).fit_pool(DensePool(x), classes[y])
    by_columns = ShareBoostClassifier(5, **EXACT).fit_pool(DensePool(x[:, columns]), y)
    np.testing.assert_array_equal(by_rows.selected_, model.selected_)
    np.testing.assert_array_equal(by_classes.selected_, model.selected_)
    np.testing.assert_array_equal(columns[by_columns.selected_], model.selected_)
    np.testing.assert_allclose(by_rows.path_[-1], model.path_[-1], atol=1e-5)
    np.testing.assert_allclose(by_classes.path_[-1][:, classes], model.path_[-1], atol=1e-5)


def test_all_columns_without_margin_are_scikit_learns_logistic_regression(data):
    x, y = data
    weight = 1e-2
    model = ShareBoostClassifier(x.shape[1], margin=0.0, reg=weight, **EXACT).fit_pool(DensePool(x), y)
    peer = LogisticRegression(C=1 / (2 * len(y) * weight), fit_intercept=False, tol=1e-10, max_iter=5000).fit(x, y)
    np.testing.assert_allclose(model.path_[-1], peer.coef_.T[model.selected_], atol=1e-5)


def test_a_group_brings_all_its_columns(digits):
    x, y = digits
    clf = ShareBoostClassifier(3, Groups([range(8 * row, 8 * row + 8) for row in range(8)])).fit(x, y)
    assert [w.shape for w in clf.path_] == [(8, 10), (16, 10), (24, 10)]
    assert clf.score(x, y) > 0.8


def test_one_infinite_piece_is_multinomial_regression(data):
    x, y = data
    pool = PiecewisePool(x, x[:1], np.array([np.inf]), np.zeros(8), np.eye(8))
    model = ShareBoostClassifier(1, margin=0.0, reg=1e-3, **EXACT).fit_pool(pool, y)
    whole = np.column_stack([x, np.ones(len(x))])
    peer = LogisticRegression(C=1 / (2 * len(y) * 1e-3), fit_intercept=False, tol=1e-10, max_iter=5000).fit(whole, y)
    np.testing.assert_allclose(model.path_[0], peer.coef_.T, atol=3e-4)  # pieces are multiplied in single precision


@pytest.mark.parametrize("name", [name for name in POOLS if name != "groups"])
def test_lazy_scoring_is_full_scoring(name):
    x, y = samples(300)
    pool = POOLS[name](x)
    full, lazy = (ShareBoostClassifier(9, scoring=how, reg=1e-5).fit_pool(pool, y) for how in ("full", "lazy"))
    np.testing.assert_array_equal(lazy.selected_, full.selected_)
    np.testing.assert_array_equal(lazy.path_[-1], full.path_[-1])
    np.testing.assert_allclose(lazy.scores_, full.scores_, rtol=1e-4)


@pytest.mark.parametrize("bias", ["none", "free", "pool"])
def test_lazy_scoring_of_thousands_of_columns_stays_finite_beyond_saturation(bias):
    rng = np.random.default_rng(0)
    x, y = rng.uniform(-1, 1, (60, 6000)), np.arange(60) % 3
    x[:, ::7], x[:, 1::7] = 0.0, 1.0
    pool = DensePool(x)
    full, lazy = (
        ShareBoostClassifier(30, scoring=s, stop_loss=0.0, bias=bias).fit_pool(pool, y) for s in ("full", "lazy")
    )
    np.testing.assert_array_equal(lazy.selected_, full.selected_)
    assert lazy.scored_[-1] < 6000 and lazy.train_loss_[-1] < 1e-6
    for found in (lazy.scores_, lazy.train_loss_, lazy.inner_residual_, lazy.model_.weights):
        assert np.isfinite(found).all()


def test_lazy_scoring_looks_at_fewer_candidates_in_late_rounds(digits, monkeypatch):
    monkeypatch.setattr("boostrun.papers.shareboost.selection._FIRST", 16)
    model = ShareBoostClassifier(40, scoring="lazy", reg=0.1).fit_pool(ProductPool(digits[0][:, 8:40]), digits[1])
    assert model.scored_[0] == 32 * 31 // 2
    assert model.scored_[-8:].mean() < 0.6 * model.scored_[0]


def test_solvers_agree(data):
    x, y = data
    exact = {"inner_rtol": 0, "inner_maxiter": 20_000}
    runs = [ShareBoostClassifier(5, solver=s, **exact).fit_pool(DensePool(x), y) for s in ("lbfgs", "agd")]
    np.testing.assert_array_equal(runs[0].selected_, runs[1].selected_)
    np.testing.assert_allclose(runs[0].train_loss_, runs[1].train_loss_, rtol=1e-8)
    np.testing.assert_allclose(runs[0].path_[-1], runs[1].path_[-1], atol=1e-4)
    assert runs[1].inner_residual_.max() <= 1e-8


@pytest.mark.parametrize(
    ("kind", "solver"), [*((kind, "lbfgs") for kind in choices("reg_kind")), ("smoothed_linf", "agd")]
)
def test_every_penalty_is_minimised_with_the_loss(kind, solver, data):
    x, y = data
    keys = {"reg": 1e-2, "reg_kind": kind, "beta": 20.0, "solver": solver, "inner_maxiter": 5000}
    model = ShareBoostClassifier(3, **keys).fit_pool(DensePool(x), y)
    value = losses(x[:, model.selected_] @ model.path_[-1], y).mean()
    assert model.objective_[-1] == pytest.approx(value + 1e-2 * regulariser(kind, 20.0)(model.path_[-1])[0])
    assert model.train_loss_[-1] == pytest.approx(value)
    assert (model.inner_residual_ <= 1e-3 * model.scores_).all()
    assert (np.diff(model.objective_) < 0).all()


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
    model = ShareBoostClassifier(5, rule=rule, shortlist=10, reg=1e-5).fit_pool(DensePool(digits[0]), digits[1])
    assert len(set(model.selected_.tolist())) == 5
    assert (np.diff(model.train_loss_) < 0).all()
    before = residuals(np.zeros((600, 10)), digits[1])
    assert model.scores_[0] == pytest.approx(np.abs(digits[0][:, model.selected_[0]] @ before).sum() / 600)


def test_from_one_state_the_more_a_rule_may_change_the_lower_it_gets(data):
    x, y = data
    base = ShareBoostClassifier(2, **EXACT).fit_pool(DensePool(x), y)
    reached = {}
    for rule in ("line", "column", "full"):
        third = ShareBoostClassifier(3, rule=rule, shortlist=0, **EXACT)
        third.fit_pool(_Forced(x, base.selected_), y)
        reached[rule] = third.train_loss_[-1]
        rest = [r for r in range(x.shape[1]) if r not in base.selected_]
        if rule == "full":
            each = [
                ShareBoostClassifier(3, **EXACT).fit_pool(_Forced(x, [*base.selected_, r]), y).train_loss_[-1]
                for r in rest
            ]
            assert reached["full"] == pytest.approx(min(each), rel=1e-7)
            assert third.selected_[-1] == rest[int(np.argmin(each))]
    assert reached["full"] <= min(reached.values()) + 1e-9


class _Forced(DensePool):
    """Columns that can only be taken in the order given at first."""

    def __init__(self, x, order):
        super().__init__(x)
        self.order, self.taken = list(order), []

    def scores(self, residuals, units=None, normalised=False):
        scores = super().scores(residuals, units, normalised)
        if len(self.taken) < len(self.order):
            allowed = self.order[len(self.taken)]
            scores[np.arange(len(scores)) != allowed] = -np.inf
        return scores

    def extend(self, design, candidate):
        if len(self.taken) < len(self.order):
            self.taken.append(candidate)
        super().extend(design, candidate)


def test_a_group_is_solved_to_a_tolerance_of_its_columns_not_of_their_sum(data):
    x, y = data
    groups = [list(range(start, start + 4)) for start in (0, 4)]
    model = ShareBoostClassifier(2, inner_rtol=0.1, inner_maxiter=2000).fit_pool(GroupPool(x, groups), y)
    assert (model.inner_residual_ <= 0.1 * model.scores_ / 4).all()


def test_the_normalised_rule_does_not_depend_on_scale(data):
    x, y = data
    sizes = 10.0 ** np.arange(-3, x.shape[1] - 3)
    runs = [ShareBoostClassifier(4, rule="normalised", **EXACT).fit_pool(DensePool(z), y) for z in (x, x * sizes)]
    np.testing.assert_array_equal(runs[0].selected_[:2], runs[1].selected_[:2])


def test_a_free_constant_is_not_counted_and_bears_no_penalty(data):
    x, y = data
    shares = np.bincount(y) / len(y)
    model = ShareBoostClassifier(1, bias="free", margin=0.0, reg=1e3, **EXACT).fit_pool(DensePool(x), y)
    assert model.path_[0].shape == (2, CLASSES)
    level = model.path_[0][0] - np.log(shares)
    np.testing.assert_allclose(level, level.mean(), atol=1e-3)
    assert model.model_.nonzero_columns.tolist() == [1]


def test_a_constant_in_the_pool_counts_when_it_is_taken():
    rng = np.random.default_rng(0)
    x, y = rng.normal(scale=0.05, size=(300, 3)), (rng.random(300) < 0.9).astype(int)
    clf = ShareBoostClassifier(2, bias="pool").fit(x, y)
    assert clf.feature_names_selected_[0] == "1"
    assert clf.model_.constants.tolist() == [0]
    assert clf.score(x, y) > 0.85
    stumps = ShareBoostClassifier(2, "stumps").fit(x, y)
    assert stumps.feature_names_selected_[0] == "1"


def test_separable_data_stop_at_the_loss_and_are_marked(data):
    x = np.column_stack([data[1] == 0, data[1] == 1, data[1] == 2, data[1] == 3, data[0]]) * 1.0
    model = ShareBoostClassifier(10, stop_loss=0.3).fit_pool(DensePool(x), data[1])
    assert model.stopped_ == "loss"
    assert len(model.selected_) < 10
    assert model.saturated_.tolist() == [False] * (len(model.selected_) - 1) + [True]


@pytest.mark.parametrize("bias", ["none", "free"])
def test_columns_in_use_are_as_many_as_rounds_until_rounds_are_marked(bias):
    """Random columns separate few samples: without a penalty the solver soon finds nothing left to do."""
    rng = np.random.default_rng(0)
    x, y = rng.uniform(-1, 1, (60, 300)), np.arange(60) % 3
    model = ShareBoostClassifier(40, stop_loss=0.0, bias=bias).fit_pool(DensePool(x), y)
    marked, columns = model.saturated_, model.model_.nonzero_columns
    assert 0 < np.count_nonzero(marked) < len(marked)
    np.testing.assert_array_equal(~marked, columns == np.arange(1, len(marked) + 1))


def test_a_group_is_in_use_when_any_of_its_columns_is():
    model = SharedFeatures(
        "columns", 1, True, np.arange(2), np.array([2, 2]), np.empty(0, np.int64), np.zeros(2, np.int64),
        np.array([1.0, 0, 5, 1, 0, 0, 2, 0]), {},  # W_1 and W_2, each with the free constant first
    )  # fmt: skip
    assert model.idle.tolist() == [False, True]


def test_a_pool_that_is_used_up_ends_the_path_and_says_so(data):
    x, y = data
    with pytest.warns(UserWarning, match="there are 8 candidates"):
        clf = ShareBoostClassifier(20).fit(x, y)
    assert clf.stopped_ in ("pool", "flat")
    assert sorted(clf.selected_) == list(range(8))


def test_columns_of_zeros_are_not_taken(data):
    x, y = data[0].copy(), data[1]
    x[:, 3:] = 0.0
    model = ShareBoostClassifier(6).fit_pool(DensePool(x), y)
    assert model.stopped_ == "flat"
    assert sorted(model.selected_) == [0, 1, 2]


def test_absent_classes_have_scores_but_no_name(data):
    clf = ShareBoostClassifier(3, n_classes=7).fit(data[0], data[1])
    assert clf.path_[0].shape == (1, 7)
    assert clf.decision_function(data[0]).shape == (400, 4)
    assert set(clf.predict(data[0])) <= set(range(4))
    assert not np.array_equal(clf.path_[-1][:, :4], ShareBoostClassifier(3).fit(*data).path_[-1])


def test_multiply_adds_count_features_and_weights(digits):
    products = ShareBoostClassifier(4, "products").fit(*digits)
    assert products.model_.multiply_adds.tolist() == [13, 26, 39, 52]
    assert ShareBoostClassifier(4).fit(*digits).model_.multiply_adds.tolist() == [10, 20, 30, 40]


@pytest.mark.parametrize("features", ["raw", "products", "stumps", Groups([[1, 2], [3]]), Piecewise(5, 3)])
def test_a_loaded_path_predicts_as_the_saved_one(features, data, tmp_path):
    x, y = data
    clf = ShareBoostClassifier(2, features, bias="auto" if features != "raw" else "free", random_state=0).fit(x, y)
    again = ShareBoostClassifier.load(clf.save(tmp_path / "path"))
    for a, b in zip(clf.staged_decision_function(x), again.staged_decision_function(x)):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(clf.predict(x), again.predict(x))


@pytest.mark.parametrize("keys, words", [
    ({"rule": "gradiant"}, "did you mean 'gradient'"),
    ({"features": "stump"}, "did you mean 'stumps'"),
    ({"features": ColumnStumps}, "an object of boostrun.papers.shareboost.features"),
    ({"n_features": 0}, "n_features=0"),
    ({"reg": -1.0}, "reg=-1.0"),
    ({"beta": 0.0}, "beta=0.0"),
    ({"n_classes": 3}, "y holds 4 classes"),
    ({"scoring": "lazy", "rule": "full"}, "works with rule='gradient'"),
    ({"features": "codes"}, "uint8"),
    ({"features": "piecewise", "bias": "free"}, "bias='free'"),
])  # fmt: skip
def test_what_cannot_be_is_refused_in_a_sentence(keys, words, data):
    with pytest.raises(BoostrunError, match=words):
        ShareBoostClassifier(**keys).fit(*data)


def test_one_class_and_holes_in_the_data_are_refused(data):
    with pytest.raises(BoostrunError, match="at least two"):
        ShareBoostClassifier().fit(data[0], np.zeros(400))
    with pytest.raises(ValueError, match="NaN"):
        ShareBoostClassifier().fit(np.where(data[0] > 0.5, np.nan, data[0]), data[1])


def test_raw_bytes_are_numbers(digits):
    x, y = (digits[0] * 16).astype(np.uint8), digits[1]
    as_bytes, as_numbers = ShareBoostClassifier(3).fit(x, y), ShareBoostClassifier(3).fit(x.astype(float), y)
    np.testing.assert_array_equal(as_bytes.predict(x), as_numbers.predict(x))
    coded = ShareBoostClassifier(3, "codes").fit(x, y)
    np.testing.assert_array_equal(coded.selected_, as_numbers.selected_)


def test_without_a_seed_nothing_but_pieces_is_random(digits):
    x, y = digits
    for features in ("raw", "products", "stumps"):
        a, b = (ShareBoostClassifier(3, features).fit(x, y).path_[-1] for _ in range(2))
        np.testing.assert_array_equal(a, b)
    a, b = (ShareBoostClassifier(2, Piecewise(8, 4, pca=5), random_state=1).fit(x, y) for _ in range(2))
    np.testing.assert_array_equal(a.decision_function(x), b.decision_function(x))


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.uint8])
@pytest.mark.parametrize("width", [2, 130])
def test_of_equal_columns_the_first_is_taken(kind, width):
    rng = np.random.default_rng(width)
    y = rng.integers(0, 3, 301)
    column = np.round(np.clip(rng.normal(loc=y, size=301), -2, 4) * 40 + 80)
    x = np.column_stack([rng.integers(0, 20, 301), *[column] * width]).astype(kind)
    pool = CodedPool(np.ascontiguousarray(x.T)) if kind == np.uint8 else DensePool(x / kind(255))
    for scoring in ("full", "lazy"):
        assert ShareBoostClassifier(1, scoring=scoring).fit_pool(pool, y).selected_.tolist() == [1]


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
