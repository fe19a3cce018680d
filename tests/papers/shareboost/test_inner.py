"""The convex problem of a round: the loss, its gradient and bounds, the solvers' ends, threads."""

import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from boostrun.papers.shareboost import design as threads
from boostrun.papers.shareboost.classifier import ShareBoostClassifier
from boostrun.papers.shareboost.coded import CodedPool
from boostrun.papers.shareboost.design import DenseDesign, Kronecker, largest_curvature
from boostrun.papers.shareboost.inner import (
    SOLVERS,
    Objective,
    agd,
    descend,
    lbfgs,
    loss_and_residuals,
    losses,
    losses_and_residuals,
    regulariser,
    residuals,
)
from boostrun.papers.shareboost.pieces import LocalDesign, PiecewisePool
from boostrun.papers.shareboost.pools import DensePool, ProductPool
from boostrun.papers.shareboost.stumps import BinnedStumpPool
from tests.papers.shareboost.pools import CLASSES, choices, samples


def objective(kind="frobenius", weight=0.0, design=None, **keys):
    x, y = samples(80)
    if design is None:
        design = DenseDesign(80)
        design.add(x[:, :5])
    return Objective(design, y, CLASSES, penalty=regulariser(kind, 10.0), weight=weight, **keys)


@pytest.mark.parametrize("kind", choices("reg_kind"))
@pytest.mark.parametrize("keys", [
    {}, {"n_free": 1}, {"margin": 0.3}, {"offset": np.linspace(-1, 1, 320).reshape(80, 4)},
])  # fmt: skip
def test_the_gradient_is_that_of_central_differences(kind, keys):
    problem = objective(kind, 0.1, **keys)
    weights, step = np.random.default_rng(0).normal(size=problem.shape), 1e-5
    _, gradient = problem(weights)
    for place in np.ndindex(weights.shape):
        up, down = weights.copy(), weights.copy()
        up[place] += step
        down[place] -= step
        slope = (problem(up)[0] - problem(down)[0]) / (2 * step)
        assert gradient[place] == pytest.approx(slope, abs=1e-8)


@pytest.mark.parametrize("solver", SOLVERS)
def test_solvers_tell_where_they_stopped(solver):
    problem = objective(weight=1e-3)
    start = np.zeros(problem.shape)
    for tolerance, most in ((1e-6, 2000), (0.0, 3)):
        found = SOLVERS[solver](problem, start, tolerance, most)
        value, gradient = problem(found.weights)
        assert found.value == pytest.approx(value, rel=1e-12)
        assert found.residual == pytest.approx(np.abs(gradient).max(), rel=1e-6, abs=1e-12)
        assert found.residual <= tolerance or found.iterations == most
    assert not start.any()


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_start_at_the_minimum_is_left_where_it_is(solver):
    problem = objective(weight=1e-3)
    end = lbfgs(problem, np.zeros(problem.shape), 1e-9, 5000).weights
    found = SOLVERS[solver](problem, end, 1e-6, 100)
    assert found.iterations == 0
    np.testing.assert_array_equal(found.weights, end)


def test_columns_of_zeros_move_nothing():
    design = DenseDesign(80)
    design.add(np.zeros((80, 2)))
    problem = objective(design=design)
    assert not agd(problem, np.zeros(problem.shape), 0.0, 10).weights.any()


def test_curvature_is_the_largest_eigenvalue():
    x, _ = samples(80)
    design = DenseDesign(80)
    design.add(x)
    largest = np.linalg.eigvalsh(x.T @ x).max() / 80
    assert largest * (1 - 1e-6) <= largest_curvature(design) <= 1.01 * largest


def test_along_unit_weights_the_loss_bends_by_half_the_curvature_at_most():
    problem, rng = objective(), np.random.default_rng(0)
    for _ in range(50):
        at, way = rng.normal(size=(2, *problem.shape))
        way /= np.linalg.norm(way)
        bend = np.vdot(problem(at + 1e-4 * way)[1] - problem(at - 1e-4 * way)[1], way) / 2e-4
        assert -1e-8 <= bend <= problem.lipschitz()


def test_a_team_shares_out_parts_and_leaves_one_thread_to_linear_algebra():
    before, meeting = threads.blas_threads(), threading.Barrier(2, timeout=10)
    with threads.thread_team(2):
        assert threads.blas_threads() == 1
        with threads.thread_team(1):  # within another one nothing changes
            places = threads.parallel_map(lambda part: (meeting.wait(), part)[1], range(2))
    assert places == [0, 1]
    assert threads.blas_threads() == before


def many(n=5000, d=40):
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, (n, d))
    return x, (x[:, :3] + 0.5 * rng.normal(size=(n, 3))).argmax(axis=1)


def test_blocks_of_samples_are_the_whole_matrix():
    x, y = many(2100)
    design, weights = DenseDesign(2100), np.random.default_rng(1).normal(size=(40, 3))
    design.add(x[:, :30])
    design.add(x[:, 30:])
    np.testing.assert_allclose(design.scores(weights), x @ weights, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(design.scores(weights[:7]), x[:, :7] @ weights[:7], rtol=1e-12, atol=1e-12)
    loss, rest = loss_and_residuals(x @ weights, y)
    np.testing.assert_allclose(design.gradient(rest), x.T @ rest / 2100, rtol=1e-10, atol=1e-14)
    value, gradient = design.value_and_gradient(weights, lambda part, scores: losses_and_residuals(scores, y[part]))
    assert value == pytest.approx(loss, rel=1e-12)
    np.testing.assert_allclose(gradient, x.T @ rest / 2100, rtol=1e-10, atol=1e-14)
    importance = np.random.default_rng(2).random(2100)
    np.testing.assert_allclose(design.gram(importance), (x.T * importance) @ x / 2100, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("kind", choices("reg_kind"))
def test_the_scale_is_a_root_of_the_curvature_at_the_start(kind):
    problem = objective(kind, 1e-3, n_free=1)
    weights = 0.1 * np.random.default_rng(0).normal(size=problem.shape)
    x, y = samples(80)
    rho = residuals(x[:, :5] @ weights, y) + np.eye(CLASSES)[y]
    wanted = x[:, :5].T @ (x[:, :5] * (rho * (1 - rho)).mean(axis=1)[:, None]) / 80
    wanted += np.diag([1e-4 * np.trace(wanted) / 5] * 5) + 1e-3 * problem.penalty.curvature * np.diag([0, 1, 1, 1, 1])
    root = problem.scaling(weights).root
    np.testing.assert_allclose(root, np.tril(root))
    np.testing.assert_allclose(root @ root.T, wanted, rtol=1e-5, atol=1e-7)


def kronecker_case():
    rng = np.random.default_rng(0)
    a, b = (x.T @ x for x in (rng.normal(size=(9, 4)), rng.normal(size=(8, 3))))
    return Kronecker(a, b, 0.3), np.kron(a, b) + 0.3 * np.eye(12), rng.normal(size=(12, 2))


def test_kronecker_scaling_is_a_root_of_the_whole_matrix():
    scaling, wanted, scaled = kronecker_case()
    inverse = scaling.undo(np.eye(12))
    np.testing.assert_allclose(inverse.T @ wanted @ inverse, np.eye(12), atol=1e-10)
    np.testing.assert_allclose(scaling.undo(scaled), inverse @ scaled, atol=1e-12)
    np.testing.assert_allclose(scaling.gradient(scaled), inverse.T @ scaled, atol=1e-12)


def test_the_scaling_of_pieces_is_exact_where_they_have_the_same_samples():
    x, _ = many(300, 3)
    design = LocalDesign(x)
    for _ in range(2):
        design.add(np.ones(300, bool))
    importance = np.random.default_rng(1).random(300)
    root = np.linalg.inv(design.scaling(importance, np.zeros(6)).undo(np.eye(6)))
    wanted = np.kron(np.ones((2, 2)), (x.T * importance) @ x / 300)
    wanted += 1e-4 * np.trace(wanted) / 6 * np.eye(6)
    np.testing.assert_allclose(root.T @ root, wanted, rtol=1e-4, atol=1e-5)


def test_columns_much_alike_take_few_iterations_in_scaled_variables():
    x, y = many(1000, 20)
    design = DenseDesign(1000)
    design.add(0.9 * x[:, :1] + 0.1 * x)
    problem = objective(weight=1e-5, design=design)
    problem.y, problem.n_classes = y, 3
    start = np.zeros(problem.shape)
    plain, scaled = descend(problem, start, 1e-7, 3000), lbfgs(problem, start, 1e-7, 3000)
    assert scaled.value == pytest.approx(plain.value, rel=1e-6)
    assert scaled.residual <= 1e-7 and scaled.iterations < plain.iterations / 3


KINDS = {
    "codes": lambda x: CodedPool((127.5 * (x.T + 1)).astype(np.uint8)), "columns": DensePool,
    "single": lambda x: DensePool(x.astype(np.float32)), "products": lambda x: ProductPool(x[:, :12]),
    "stumps": BinnedStumpPool.binned,
    "pieces": lambda x: PiecewisePool(x[:, :6], x[:40, :6], np.array([1.0, np.inf]), np.zeros(6), np.eye(6)),
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_the_number_of_threads_changes_no_bit_of_a_run(kind):
    x, y = many(d=600 if kind in ("codes", "columns", "single") else 40)
    pool = KINDS[kind](x)
    one, two = (ShareBoostClassifier(3, reg=1e-4, n_jobs=count).fit_pool(pool, y) for count in (1, 2))
    np.testing.assert_array_equal(one.selected_, two.selected_)
    np.testing.assert_array_equal(one.model_.weights, two.model_.weights)
    np.testing.assert_array_equal(one.scores_, two.scores_)


def draw(seed, n=40, k=4, spread=3.0):
    rng = np.random.default_rng(seed)
    return rng.normal(scale=spread, size=(n, k)), rng.integers(0, k, n)


@given(seed=st.integers(0, 10_000), k=st.integers(2, 9), spread=st.sampled_from([0.0, 0.3, 5.0, 100.0]))
def test_error_hinge_loss_and_hinge_plus_log_k_are_in_order(seed, k, spread):
    scores, y = draw(seed, k=k, spread=spread)
    wrong = scores.argmax(axis=1) != y
    reach = scores + 1.0 - scores[np.arange(len(y)), y][:, None]
    reach[np.arange(len(y)), y] = 0.0
    hinge, loss = reach.max(axis=1), losses(scores, y)
    assert (wrong <= hinge).all()
    assert (hinge <= loss + 1e-12).all()
    assert (loss <= hinge + np.log(k) + 1e-12).all()


@given(seed=st.integers(0, 10_000), margin=st.sampled_from([0.0, 0.5, 1.0]))
def test_residuals_are_the_gradient_by_the_scores_and_sum_to_zero(seed, margin):
    scores, y = draw(seed, n=3)
    found, step = residuals(scores, y, margin), 1e-5
    for i, q in np.ndindex(scores.shape):
        up, down = scores.copy(), scores.copy()
        up[i, q] += step
        down[i, q] -= step
        slope = (losses(up, y, margin).sum() - losses(down, y, margin).sum()) / (2 * step)
        assert found[i, q] == pytest.approx(slope, abs=1e-8)
    assert np.abs(found.sum(axis=1)).max() < 1e-14


@pytest.mark.parametrize("order", ["C", "F"])
def test_both_at_once_are_each_alone_whatever_the_layout(order):
    scores, y = draw(2)
    loss, rest = loss_and_residuals(np.array(scores, order=order), y)
    assert loss == pytest.approx(losses(scores, y).mean(), rel=1e-14)
    np.testing.assert_allclose(rest, residuals(scores, y), atol=1e-15)


def test_inputs_are_left_as_they_were():
    scores, y = draw(3)
    before = scores.copy()
    loss_and_residuals(scores, y)
    np.testing.assert_array_equal(scores, before)


@given(
    seed=st.integers(0, 10_000), n=st.sampled_from([2, 7, 511, 512, 513, 1100]), k=st.integers(2, 19),
    margin=st.sampled_from([0.0, 1.0]), spread=st.sampled_from([0.0, 3.0, 800.0]),
)  # fmt: skip
def test_class_major_scores_give_what_arrays_give_to_the_bit(seed, n, k, margin, spread):
    scores, y = draw(seed, n, k, spread)
    scores = np.asfortranarray(scores)
    every = np.arange(n)
    terms = scores - (scores[every, y] - margin)[:, None]
    terms[every, y] = 0.0
    largest = terms.max(axis=1)
    terms = np.exp(terms - largest[:, None])
    summed = sum(terms[:, q] for q in range(k))
    np.testing.assert_array_equal(losses(scores, y, margin), largest + np.log(summed))
    terms /= summed[:, None]
    terms[every, y] -= 1.0
    found = residuals(scores, y, margin)
    np.testing.assert_array_equal(found, terms)
    assert found.flags.f_contiguous
