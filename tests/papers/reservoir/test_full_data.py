"""WSS, Mada, Fix, FilterBoost and boosting on all data: their models and their draws."""

from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from boostrun.data.source import ArraySource
from boostrun.errors import BoostrunError
from boostrun.kernels.stumps import fixed_point
from boostrun.methods.preparation import transposed
from boostrun.methods.stumps import Stump, StumpEnsemble, StumpLearner, find_stump
from boostrun.methods.weak_learner import LOSSES, WeakLearner
from boostrun.papers.reservoir import full_data as kernels
from boostrun.papers.reservoir.classifier import RULES
from boostrun.papers.reservoir.full_data import (
    Course,
    CourseSettings,
    Everything,
    Mada,
    Wss,
    draw_proportionally,
)
from boostrun.papers.reservoir.full_data_classifier import (
    All,
    ColumnSearch,
    FilterBoost,
    FullDataClassifier,
    WeightFilter,
)
from tests.papers.reservoir.test_every_method import KINDS
from tests.reference import full_data as reference

METHODS = KINDS[FullDataClassifier]
SMALL = {"reservoir_size": 30, "n_estimators": 10}
ARRAYS = ("features", "thresholds", "polarities", "coefficients")


def same_ensemble(one, other):
    return all((getattr(one, name) == getattr(other, name)).all() for name in ARRAYS)


# --- the search on all samples


@st.composite
def columns_and_weights(draw):
    """Codes of few values or many, features constant, sparse or dense, and weights with many ties or none."""
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    d, n = draw(st.integers(1, 20)), draw(st.integers(1, 60))
    columns = rng.integers(0, draw(st.sampled_from([1, 2, 5, 256])), (d, n)).astype(np.uint8)
    columns[rng.random((d, n)) < draw(st.sampled_from([0.0, 0.5, 0.95]))] = rng.integers(256)
    weights = rng.integers(-2, 3, n) / 4 if draw(st.booleans()) else rng.normal(size=n)
    return columns, weights


@settings(max_examples=150)
@given(columns_and_weights())
def test_the_search_on_columns_finds_the_stump_of_the_search_on_samples(case):
    columns, signed = case
    search = ColumnSearch(columns)
    stump, right, wrong = search(signed)
    expected, edge = find_stump(np.ascontiguousarray(columns.T), signed)
    assert stump == expected
    scale = fixed_point(signed)[1]
    assert right - wrong == pytest.approx(edge * scale) and right + wrong == pytest.approx(
        np.abs(np.rint(signed * scale)).sum()
    )
    for found, wanted in zip((search.present, search.common), reference.describe(columns)):
        assert (found == wanted).all()


@pytest.mark.parametrize("signed", [np.zeros(3), np.array([0.25, -1e-30, -3.5]), np.array([np.nan, 1.0, 1.0])])
def test_fixed_point_is_that_of_stumps(signed):
    out = np.empty(3, np.int64)
    size, whole = kernels.fixed_point(signed, out)
    assert (out == fixed_point(signed)[0]).all() and (size, whole) == (np.abs(out).sum(), out.sum())


def test_the_search_does_not_care_for_the_order_of_samples_nor_how_features_are_read():
    rng = np.random.default_rng(0)
    columns = rng.integers(0, 4, (30, 5000)).astype(np.uint8) ** 3
    columns[:15][rng.random((15, 5000)) < 0.8] = 9
    signed, order = rng.normal(size=5000), rng.permutation(5000)
    one, other = ColumnSearch(columns), ColumnSearch(np.ascontiguousarray(columns[:, order]))
    assert 0 < len(one.sparse) < 30
    assert one(signed) == other(signed[order])


def test_features_of_more_rows_than_16_bits_number():
    rng = np.random.default_rng(0)
    n = 140_000
    columns = np.zeros((3, n), np.uint8)
    columns[1, rng.permutation(n)[:9000]] = 7
    columns[2] = rng.integers(0, 256, n)
    search = ColumnSearch(columns)
    assert search.sparse.tolist() == [1] and search.dense.tolist() == [2]
    for signed in (np.where(columns[1] == 7, 1.0, -0.05) * rng.random(n), rng.normal(size=n)):
        assert search(signed)[0] == find_stump(transposed(columns), signed)[0]


def test_transposition_by_tiles():
    samples = np.random.default_rng(0).integers(0, 256, (1500, 1100)).astype(np.uint8)
    assert (transposed(samples) == samples.T).all()


def test_weight_kernels_equal_the_losses():
    rng = np.random.default_rng(0)
    y, scores = np.where(rng.random(500) < 0.5, 1.0, -1.0), rng.normal(0, 400, 500)
    out = np.empty(500)
    for kernel, expected in ((kernels.logistic_weights, LOSSES["logistic"].weights(y * scores)), (
        kernels.exponential_weights, LOSSES["exponential"].weights(y * scores),
    ), (kernels.bounded_weights, np.exp(np.minimum(0.0, -y * scores)))):  # fmt: skip
        kernel(y, scores, out)
        np.testing.assert_allclose(out, expected, rtol=1e-12)


# --- samples that stay


@pytest.mark.parametrize("search", ["histogram", "exact"])
@pytest.mark.parametrize("loss", ["logistic", "exponential"])
def test_fix_is_logitboost_and_adaboost_by_brute_force(loss, search):
    rng = np.random.default_rng(0)
    X, test = (rng.integers(0, 256, (n, 4)).astype(np.float64) for n in (60, 40))
    y = (X[:, 0] + X[:, 1] + rng.normal(0, 60, 60) > 256).astype(int)
    shrinkage = 1.0 if loss == "exponential" else 0.5
    clf = FullDataClassifier(
        "fix", reservoir_size=60, n_estimators=12, loss=loss, shrinkage=shrinkage, stump_search=search, random_state=0
    ).fit(X, y)
    expected = reference.boosted_scores(X, 2 * y - 1, 12, test, loss, shrinkage)
    np.testing.assert_allclose(clf.decision_function(test), expected, rtol=1e-9)


@pytest.mark.parametrize("coefficient", RULES)
def test_all_equals_fix_when_r_is_everything(coefficient, digits):
    X, y = digits
    parameters = {"n_estimators": 15, "coefficient": coefficient, "random_state": 0}
    every = FullDataClassifier("all", **parameters).fit(X, y)
    fix = FullDataClassifier("fix", reservoir_size=len(y), **parameters).fit(X, y)
    if coefficient == "log_odds":  # from exact sums: equal to the last bit
        assert same_ensemble(every.ensemble_, fix.ensemble_)
    np.testing.assert_allclose(every.decision_function(X), fix.decision_function(X), rtol=1e-6, atol=1e-9)
    assert (every.peak_samples_held_, every.samples_drawn_) == (fix.peak_samples_held_, fix.samples_drawn_)


def test_fix_gives_every_problem_the_samples_that_one_filter_draws_first(digits):
    X, y = digits
    source = ArraySource(X, y, 3)
    samples, labels = source.open(capacity=50).draw(50)
    fix = FullDataClassifier("fix", reservoir_size=50, n_estimators=5, random_state=0).fit_source(source)
    every = FullDataClassifier("all", n_estimators=5, random_state=9).fit_source(ArraySource(samples, labels))
    assert same_ensemble(fix.ensemble_, every.ensemble_)


def test_a_source_may_bring_its_columns(digits):
    X, y = digits
    plain = ArraySource(X, y, 0)
    carried = ArraySource(X, y, 0)
    carried.columns = np.ascontiguousarray(X.T)
    for method in ("all", "wss"):
        one, other = (
            FullDataClassifier(method, random_state=0, **SMALL).fit_source(source) for source in (plain, carried)
        )
        assert same_ensemble(one.ensemble_, other.ensemble_)
    carried.columns = X
    with pytest.raises(BoostrunError, match="columns have the shape"):
        FullDataClassifier("all", random_state=0, **SMALL).fit_source(carried)


# --- counts, determinism, input


@pytest.mark.parametrize(
    ("method", "held", "drawn"),
    [("wss", 1400, 14000), ("mada", 1400, 14000), ("all", 1400, 14000), ("fix", 30, 300), ("filterboost", 60, None)],
)
def test_samples_held_and_drawn(method, held, drawn, digits):
    X, y = digits
    clf = FullDataClassifier(method, random_state=0, **SMALL).fit(X[:1400], y[:1400])
    assert 30 <= clf.peak_samples_held_ <= held
    assert clf.samples_drawn_ == sum(clf.samples_drawn_per_problem_) == clf.staged_samples_drawn_[-1]
    assert clf.samples_drawn_ == drawn if drawn else clf.samples_drawn_ >= 10 * 10 * 30
    assert len(clf.staged_samples_drawn_) == len(clf.staged_train_seconds_) == 10
    assert (np.diff(clf.staged_train_seconds_) > 0).all() and clf.rounds_trained_ == [10] * 10


@pytest.mark.parametrize("method", METHODS)
def test_histogram_and_exact_search_give_the_same_ensemble_on_8_bit_data(method, digits):
    X, y = digits
    one, other = (
        FullDataClassifier(method, stump_search=search, random_state=2, **SMALL).fit(X, y)
        for search in ("histogram", "exact")
    )
    for name in ("features", "thresholds", "polarities"):
        assert (getattr(one.ensemble_, name) == getattr(other.ensemble_, name)).all()
    np.testing.assert_allclose(one.ensemble_.coefficients, other.ensemble_.coefficients, rtol=1e-9)


@pytest.mark.parametrize("method", ["wss", "mada", "all"])
def test_carried_scores_equal_the_scores_of_the_ensemble(method, digits):
    X, y = digits
    settings_ = CourseSettings(30, 10, LOSSES["logistic"], RULES["log_odds"], 0.5, 100, StumpLearner(), 256)
    trainer = {"wss": Wss, "mada": Mada, "all": All}[method](ArraySource(X, y), settings_, np.random.default_rng(0))
    course = Course(0.0)
    trainer.train(0, 3, course, np.random.default_rng(0))
    assert (trainer.data.scores == StumpEnsemble.of([course.learners]).decision(X)[0]).all()


class _Means(WeakLearner):
    """One leaf, the mean of the labels: a whole step."""

    whole_steps = True

    def find(self, samples, signed_weights):
        return _Mean(signed_weights.sum() / np.abs(signed_weights).sum())


class _Mean(NamedTuple):
    value: float

    def __call__(self, samples):
        return np.full(len(samples), self.value)


@pytest.mark.parametrize("method", METHODS)
def test_a_weak_learner_of_whole_steps_is_multiplied_by_shrinkage_alone(method):
    X, y = np.zeros((60, 2)), np.arange(60) < 20
    model = FullDataClassifier(method, weak_learner=_Means(), random_state=0, shrinkage=0.5, **SMALL).fit(X, y)
    assert (model.ensemble_.coefficients[:, 0] == 0.5).all() and model.ensemble_.n_rounds == 10
    assert np.isfinite(model.decision_function(X)).all()


@pytest.mark.parametrize("method", METHODS)
def test_fewer_rounds_are_the_first_ones_and_another_seed_draws_otherwise(method, digits):
    X, y = digits
    sizes = ((0, 10), (0, 4), (1, 10))
    one, short, other = (
        FullDataClassifier(method, reservoir_size=30, n_estimators=rounds, random_state=seed).fit(X, y)
        for seed, rounds in sizes
    )
    assert method == "all" or not same_ensemble(one.ensemble_, other.ensemble_)
    assert (list(one.staged_decision_function(X))[3] == short.decision_function(X)).all()


def test_a_source_that_does_not_hold_its_samples_is_a_sentence(digits):
    source = ArraySource(*digits, seed=0)
    bare = SimpleNamespace(n_features=64, class_labels=source.class_labels, open=source.open)
    for method in ("wss", "mada", "all"):
        with pytest.raises(BoostrunError, match="looks at all samples every round"):
            FullDataClassifier(method, random_state=0, **SMALL).fit_source(bare)
    assert FullDataClassifier("fix", random_state=0, **SMALL).fit_source(bare).samples_drawn_ == 300


# --- drawing in proportion to weights


def test_draws_equal_the_twin():
    rng = np.random.default_rng(0)
    for n, r in ((1, 5), (7, 1), (40, 200), (1000, 50)):
        weights, gaps = rng.random(n) * (rng.random(n) < 0.7), rng.standard_exponential(r + 1)
        weights[rng.integers(n)] = 1.0
        assert (kernels.draw_by_gaps(weights, gaps) == reference.draw_proportionally(weights, gaps)).all()


def test_rows_without_weight_are_never_drawn_and_no_weight_at_all_means_uniformly():
    rng = np.random.default_rng(0)
    weights = np.array([0.0, 2.0, 0.0, 1.0, 0.0])
    assert set(draw_proportionally(weights, 1000, rng)) == {1, 3}
    counts = np.bincount(draw_proportionally(np.zeros(5), 5000, rng), minlength=5)
    np.testing.assert_allclose(counts, 1000, atol=5 * np.sqrt(800))


def everything(scores, loss="logistic", seed=0):
    """N samples with given scores, labels at random, and r = 20 to draw."""
    rng = np.random.default_rng(seed)
    samples = rng.integers(0, 256, (len(scores), 3)).astype(np.uint8)
    settings_ = CourseSettings(20, 5, LOSSES[loss], RULES["log_odds"], 0.5, 100, StumpLearner(), 256)
    data = Everything(ArraySource(samples, rng.integers(0, 2, len(scores))), settings_, rng)
    data.begin(1)
    data.scores[:] = scores
    return data


@pytest.mark.parametrize("loss", ["logistic", "exponential"])
def test_wss_includes_samples_as_often_as_their_weights_say(loss):
    data, rng, trials, r = everything(np.linspace(-2, 2, 30), loss), np.random.default_rng(1), 4000, 20
    weights = LOSSES[loss].weights(data.y * data.scores)
    pick, drawn, included = Wss.pick, np.zeros(30), np.zeros(30)
    for _ in range(trials):
        rows, uniform = pick(None, data, r, LOSSES[loss], rng)
        assert (uniform == 1).all()
        drawn += np.bincount(rows, minlength=30)
        included[np.unique(rows)] += 1
    p = weights / weights.sum()
    assert (abs(drawn / (trials * r) - p) < 4.5 * np.sqrt(p * (1 - p) / (trials * r))).all()
    p = reference.chance_of_being_drawn(weights, r)
    assert (abs(included / trials - p) < 4.5 * np.sqrt(p * (1 - p) / trials)).all()


@pytest.mark.parametrize("loss", ["logistic", "exponential"])
def test_madas_estimate_of_every_edge_is_unbiased(loss):
    """The mean over many draws is the full-data edge within its standard error, for stumps of every feature."""
    data, rng, trials, r = everything(np.linspace(-2, 2, 60), loss), np.random.default_rng(2), 6000, 20
    weights = LOSSES[loss].weights(data.y * data.scores)
    votes = np.where(data.samples >= np.array([60, 128, 200]), 1.0, -1.0)
    estimates = np.empty((trials, 4))
    for t in range(trials):
        rows, v = Mada.pick(None, data, r, LOSSES[loss], rng)
        estimates[t, :3] = (v * data.y[rows]) @ votes[rows]
        estimates[t, 3] = v.sum()
    full = np.append((weights * data.y) @ votes, weights.sum())
    error = estimates.std(axis=0, ddof=1) / np.sqrt(trials)
    assert (abs(estimates.mean(axis=0) - full) < 4.5 * error).all() and (error < 0.02 * weights.sum()).all()


def test_madas_weights_stay_finite_when_all_margins_are_large():
    data = everything(np.zeros(30))
    data.scores[:] = 2000 * data.y
    for loss in LOSSES.values():
        _, weights = Mada.pick(None, data, 20, loss, np.random.default_rng(0))
        assert np.isfinite(weights).all() and (weights > 0).all()


# --- FilterBoost


def weight_filter(loss="logistic", r=40, n=30, max_rejections=1000, seed=0):
    """A filter whose ensemble of three stumps gives the n samples of a source scores of several sizes."""
    rng = np.random.default_rng(seed)
    samples = np.arange(n, dtype=np.uint8)[:, None]
    source = ArraySource(samples, rng.integers(0, 2, n), seed)
    settings_ = CourseSettings(r, 500, LOSSES[loss], RULES["log_odds"], 0.5, max_rejections, StumpLearner(), 256)
    filter_ = WeightFilter(
        FilterBoost(source, settings_, rng), source.open(capacity=2 * r), 1, np.random.default_rng(seed)
    )
    for threshold, step in [(5.0, 0.8), (12.0, -1.3), (20.0, 0.6)]:
        filter_.members.add(Stump(0, threshold, 1), step)
    scores = sum(np.where(samples[:, 0] >= a, s, -s) for a, s in [(5, 0.8), (12, -1.3), (20, 0.6)])
    return filter_, np.where(source.labels == 1, 1.0, -1.0), scores


@pytest.mark.parametrize("loss", ["logistic", "exponential"])
def test_accepted_samples_follow_the_weights_and_every_call_is_counted(loss):
    filter_, y, scores = weight_filter(loss)
    weights = np.minimum(1.0, LOSSES[loss].weights(y * scores))
    counts, rounds = np.zeros(30), 400
    for _ in range(rounds):
        samples, labels, found = filter_.accept()
        rows = samples[:, 0].astype(int)
        assert (labels == y[rows]).all()
        np.testing.assert_allclose(found, scores[rows])
        counts += np.bincount(rows, minlength=30)
        assert filter_.accepted + filter_.rejected + filter_.waiting == filter_.draws.drawn
        assert filter_.draws.held == filter_.waiting < 40
    assert filter_.accepted == counts.sum() == rounds * 40 and filter_.draws.peak_held <= 80
    p = weights / weights.sum()
    assert (abs(counts / counts.sum() - p) < 4.5 * np.sqrt(p * (1 - p) / counts.sum())).all()
    assert filter_.accepted / (filter_.accepted + filter_.rejected) == pytest.approx(weights.mean(), rel=0.03)


def test_a_filter_that_runs_dry_ends_its_problem_and_fills_it_with_rounds_without_effect():
    samples = np.arange(200, dtype=np.uint8)[:, None]
    source = ArraySource(samples, (samples[:, 0] >= 100).astype(int), 0)
    parameters = {"reservoir_size": 20, "n_estimators": 60, "shrinkage": 1.0, "random_state": 0}
    short = FullDataClassifier("filterboost", max_rejections=50, **parameters).fit_source(source)
    (trained,) = short.rounds_trained_
    assert 1 < trained < 60
    assert (short.ensemble_.coefficients[0, :trained] != 0).all()
    assert (short.ensemble_.coefficients[0, trained:] == 0).all()
    drawn = short.staged_samples_drawn_
    assert (np.diff(drawn[:trained]) >= 0).all() and (drawn[trained:] == short.samples_drawn_).all()
    assert 50 * 20 <= short.samples_drawn_ - drawn[trained - 1] <= 51 * 20 + 20
    longer = FullDataClassifier("filterboost", max_rejections=500, **parameters).fit_source(source)
    assert longer.rounds_trained_[0] > trained
    assert (longer.ensemble_.coefficients[0, :trained] == short.ensemble_.coefficients[0, :trained]).all()
