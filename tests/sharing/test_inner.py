"""The convex problem of a round: gradients, the solvers' ends, threads."""

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from boostrun.sharing import threads
from boostrun.sharing.design import DenseDesign, LocalDesign, curvature
from boostrun.sharing.inner import SOLVERS, Objective, agd, lbfgs
from boostrun.sharing.pools.coded import CodedPool
from boostrun.sharing.regularisers import REGULARISERS, regulariser
from tests.sharing.pools import CLASSES, samples


def objective(kind="frobenius", weight=0.0, design=None, **keys):
    x, y = samples(80)
    if design is None:
        design = DenseDesign(80)
        design.add(x[:, :5])
    return Objective(design, y, CLASSES, penalty=regulariser(kind, 10.0), weight=weight, **keys)


def local():
    x, _ = samples(80)
    design = LocalDesign(np.column_stack([x[:, :2], np.ones(80)]))
    design.add(x[:, 3] > 0)
    design.add(x[:, 4] > 0)
    return design


@pytest.mark.parametrize("kind", REGULARISERS)
@pytest.mark.parametrize("keys", [
    {}, {"n_free": 1}, {"margin": 0.3}, {"offset": np.linspace(-1, 1, 320).reshape(80, 4)}, {"design": local()},
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
    assert largest * (1 - 1e-6) <= curvature(design) <= 1.01 * largest


def test_along_unit_weights_the_loss_bends_by_half_the_curvature_at_most():
    problem, rng = objective(), np.random.default_rng(0)
    for _ in range(50):
        at, way = rng.normal(size=(2, *problem.shape))
        way /= np.linalg.norm(way)
        bend = np.vdot(problem(at + 1e-4 * way)[1] - problem(at - 1e-4 * way)[1], way) / 2e-4
        assert -1e-8 <= bend <= problem.lipschitz()


def test_threads_do_not_change_scores_and_are_no_more_than_allowed():
    codes = np.random.default_rng(0).integers(0, 256, (300, 50)).astype(np.uint8)
    sides = np.random.default_rng(1).normal(size=(50, 3))
    found = []
    for count in (1, 2):
        with threadpool_limits(count, user_api="blas"):
            assert threads.allowed() <= count
            found.append(CodedPool(codes).scores(sides))
    np.testing.assert_array_equal(*found)


def test_small_work_uses_one_thread_and_large_work_all_of_them():
    before = threads.allowed()
    with threads.fit_for(1e3):
        assert threads.allowed() == 1
    with threads.fit_for(1e12):
        assert threads.allowed() == before
    assert threads.allowed() == before
