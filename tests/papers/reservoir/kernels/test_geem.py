"""GEEM's covariance, elimination and inverses by halves, against the definitions and NumPy."""

import itertools
import pickle
from functools import partial
from unittest.mock import Mock, patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

from boostrun.errors import BoostrunError
from boostrun.papers.reservoir import geem, kernels
from boostrun.papers.reservoir.geem import Geem, GeemLattice, GeemThin, swap
from boostrun.papers.reservoir.geem_single import GeemSingle, PlainSingleInversion, SingleInversion
from boostrun.papers.reservoir.kernels import RUN, Inversion, PlainInversion, byte_distance
from boostrun.papers.reservoir.strategies import Batch
from tests.marks import slow_but
from tests.reference import geem as twin


def random_problem(seed, n):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(n, n + 3))
    return root @ root.T + 0.1 * n * np.eye(n), rng.random(n) * 10.0 ** rng.integers(-3, 1), rng


WAYS = pytest.mark.parametrize("way", [kernels.eliminate, partial(geem.eliminate_in_blocks, block=3, candidates=5), (
    partial(geem.eliminate_in_blocks, block=2, candidates=1)  # nearly all columns are made alone
)], ids=["one by one", "in blocks", "in blocks, few candidates"])  # fmt: skip


def selected(way, sigma, weights, q, targets=None):
    with patch.multiple(geem, eliminate_in_blocks=way, _BLOCKS_ABOVE=-1):
        return geem._Elimination(len(sigma), q)(lambda raised, out: np.copyto(out, sigma), weights, targets)


@WAYS
@given(st.integers(0, 10**6), st.integers(2, 14), st.data())
@settings(max_examples=80, deadline=None)
def test_elimination_equals_the_definition_on_random_covariances(way, seed, n, data):
    q = data.draw(st.integers(0, n - 1))
    sigma, weights, _ = random_problem(seed, n)
    found, (kept, corrected, order) = selected(way, sigma, weights, q), twin.select(sigma, weights, q)
    assert found.order.tolist() == order.tolist() and found.kept.tolist() == kept.tolist()
    np.testing.assert_allclose(found.weights, corrected, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize(("n", "q", "classes"), [(1100, 550, 1), (1001, 1000, 1), (1040, 300, 3), (150, 149, 2)])
def test_blocks_choose_the_samples_that_are_chosen_one_by_one(n, q, classes):
    rng = np.random.default_rng(n)
    codes = rng.integers(0, 256, (n, 60)).astype(np.uint8) // rng.integers(1, 128, 60).astype(np.uint8)
    sigma = geem.covariance(codes, np.ones(n), ridge=0.1)
    labels, weights = np.where(rng.random((classes, n)) < 0.3, 1.0, -1.0), rng.random((classes, n)) ** 3
    blocks, singly = (
        selected(way, sigma, labels * weights, q, lambda factor: labels)
        for way in (geem.eliminate_in_blocks, kernels.eliminate)
    )
    assert blocks.order.tolist() == singly.order.tolist() and blocks.kept.tolist() == singly.kept.tolist()
    np.testing.assert_allclose(blocks.weights, singly.weights, rtol=1e-8, atol=1e-10)


def test_blocks_are_for_more_than_a_thousand_samples_at_hand():
    for n in (1000, 1001):
        with patch.object(geem, "eliminate_in_blocks", Mock(wraps=geem.eliminate_in_blocks)) as blocks:
            assert geem.select(np.eye(n), np.arange(n, 0, -1.0), 1)[0].tolist() == [*range(n - 1)]
        assert blocks.called == (n > 1000)


def test_of_equal_losses_blocks_discard_the_sample_that_stands_first():
    weights = np.repeat([2.0, 1.0], 75)
    assert selected(geem.eliminate_in_blocks, np.eye(150), weights, 90).order.tolist() == [*range(75, 150), *range(15)]


@WAYS
def test_elimination_stops_where_a_pivot_vanishes(way):
    inverse, n = np.diag([4.0, 4.0, 4.0, 1e-3, 4.0, 4.0]), 6
    u, corrected, alive = np.ones((1, n)), np.array([[1.0, 2.0, 3.0, 1e-3, 5.0, 6.0]]), np.arange(n)
    steps, _ = way(inverse, u, corrected, np.zeros((1, n)), 0.01, alive, np.empty((5, n)))
    assert steps == 3 and sorted(alive) == list(range(n))  # losses are w / pivot: 0.25, 0.5, 0.75, then 1


@given(st.integers(0, 10**6), st.integers(2, 14), st.data())
@settings(max_examples=80, deadline=None)
def test_selection_equals_the_definition_on_random_covariances(seed, n, data):
    q = data.draw(st.integers(0, n - 1))
    sigma, weights, _ = random_problem(seed, n)
    kept, corrected = geem.select(sigma, weights, q)
    expected_kept, expected, _ = twin.select(sigma, weights, q)
    assert kept.tolist() == expected_kept.tolist()
    np.testing.assert_allclose(corrected, expected, rtol=1e-10, atol=1e-10)


@WAYS
@pytest.mark.parametrize("seed", range(5))
def test_lattice_elimination_equals_the_definition(way, seed):
    n, q = 16, 9
    sigma, weights, rng = random_problem(seed, n)
    lattice = np.where(rng.random((7, n)) < 0.5, 1.0, -1.0)
    selection = selected(way, sigma, weights, q, lambda factor: lattice)
    _, corrected, order = twin.select(sigma, weights, q, lattice)
    assert selection.order.tolist() == order.tolist()
    np.testing.assert_allclose(selection.weights, corrected, rtol=1e-9, atol=1e-10)


@given(st.integers(0, 10**6), st.integers(2, 9), st.integers(1, 4), st.integers(1, 6))
@settings(max_examples=80, deadline=None)
def test_covariance_equals_enumeration_of_all_stumps_with_ties(seed, n, d, distinct):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, distinct, (n, d)).astype(np.uint8)
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    expected = twin.covariance_by_enumeration(codes, y)
    assert (geem.covariance(codes, y) == expected).all()
    assert (geem.covariance(codes.astype(np.float64) * 0.37, y) == expected).all()


def test_covariance_without_ties_equals_enumeration_and_ridge_scales_with_the_thresholds():
    rng = np.random.default_rng(0)
    codes = np.stack([rng.permutation(30) for _ in range(5)], axis=1).astype(np.uint8)
    y = np.where(rng.random(30) < 0.5, 1, -1)
    sigma = geem.covariance(codes, y)
    assert (sigma == twin.covariance_by_enumeration(codes, y)).all()
    assert (sigma == sigma.T).all() and (np.diag(sigma) == 2 * 29 * 5).all()
    np.testing.assert_allclose(geem.covariance(codes, y, 0.1) - sigma, 0.1 * 29 * 5 * np.eye(30))


def test_wide_codes_with_many_distinct_values_are_ranked_right():
    rng = np.random.default_rng(3)
    values = rng.normal(size=(300, 3))
    y = np.ones(300)
    assert (geem.covariance(values, y) == twin.covariance_by_enumeration(values, y)).all()
    codes = rng.integers(0, 256, (300, 3)).astype(np.uint8)
    assert (geem.covariance(codes, y) == twin.covariance_by_enumeration(codes, y)).all()


def test_a_singular_covariance_is_raised_and_counted_and_gives_finite_weights():
    codes = np.repeat(np.arange(4, dtype=np.uint8)[:, None], 2, axis=0)  # duplicates: rank 4 of 8
    batch = Batch(codes, np.ones(8), np.linspace(0.1, 0.8, 8), np.zeros(8, np.int64))
    strategy = Geem(ridge=0.0)
    kept, corrected = strategy(batch, 4, np.random.default_rng(0))
    assert len(kept) == 4 and np.isfinite(corrected).all() and strategy.restarts > 0


def test_a_singular_covariance_of_many_samples_is_raised_too():
    codes = np.repeat(np.arange(4, dtype=np.uint8)[:, None], 260, axis=0)
    batch = Batch(codes, np.ones(1040), np.linspace(0.1, 0.8, 1040), np.zeros(1040, np.int64))
    strategy = Geem(ridge=0.0)
    kept, corrected = strategy(batch, 520, np.random.default_rng(0))
    assert len(set(kept.tolist())) == 520 and np.isfinite(corrected).all() and strategy.restarts > 0


def test_constant_features_leave_the_largest_weights():
    batch = Batch(np.full((6, 3), 5, np.uint8), np.ones(6), np.array([0.1, 0.6, 0.2, 0.5, 0.3, 0.4]), np.zeros(6, int))
    kept, corrected = Geem()(batch, 3, np.random.default_rng(0))
    assert kept.tolist() == [1, 3, 5]
    np.testing.assert_allclose(corrected, [0.6, 0.5, 0.4])


def test_lattice_vectors_follow_the_covariance():
    sigma = np.array([[1.0, 0.9, 0.0], [0.9, 1.0, 0.0], [0.0, 0.0, 1.0]])
    strategy = GeemLattice(lattice_size=20000)
    inversion = Inversion(3)
    inversion.matrix[:] = sigma
    signs = strategy._targets(inversion.factor(), np.random.default_rng(0))
    agreement = (signs[:, :, None] == signs[:, None, :]).mean(axis=0)
    expected = 0.5 + np.arcsin(sigma) / np.pi  # orthant probability of a Gaussian pair
    np.testing.assert_allclose(agreement, expected, atol=0.015)


@pytest.mark.parametrize(("sigma", "weights", "q", "words"), [(np.eye(3), np.ones(2), 1, "must be"), (
    np.eye(3), np.ones(3), 3, "at least one must be kept",
), (np.eye(3), np.ones(3), -1, "q=-1"), (np.full((3, 3), np.nan), np.ones(3), 1, "finite")])  # fmt: skip
def test_bad_input_gets_a_sentence(sigma, weights, q, words):
    with pytest.raises(BoostrunError, match=words):
        geem.select(sigma, weights, q)


def test_bad_labels_and_shapes_get_a_sentence():
    with pytest.raises(BoostrunError, match="-1 and \\+1"):
        geem.covariance(np.zeros((2, 1), np.uint8), np.array([0, 1]))
    with pytest.raises(BoostrunError, match="must be"):
        geem.covariance(np.zeros((2, 1), np.uint8), np.ones(3))
    with pytest.raises(BoostrunError, match="ridge"):
        geem.covariance(np.zeros((2, 1), np.uint8), np.ones(2), ridge=-1)


@WAYS
@pytest.mark.parametrize("seed", range(5))
def test_elimination_for_all_classes_minimises_the_summed_objective(way, seed):
    n, q, classes = 14, 8, 3
    unsigned, _, rng = random_problem(seed, n)
    labels = np.where(rng.random((n, classes)) < 0.4, 1.0, -1.0)
    weights = rng.random((n, classes))
    found = selected(way, unsigned, (labels * weights).T, q, lambda factor: labels.T)
    kept, order = list(range(n)), []
    ones = np.ones(n)
    signed = [unsigned * np.outer(y, y) for y in labels.T]
    for _ in range(q):
        candidates = [
            sum(twin.objective(sigma, w, np.delete(kept, i), ones) for sigma, w in zip(signed, weights.T))
            for i in range(len(kept))
        ]
        order.append(kept.pop(int(np.argmax(candidates))))
    assert found.order.tolist() == order
    corrected = np.stack([twin.corrected_weights(s, w, np.array(kept)) for s, w in zip(signed, weights.T)], axis=1)
    np.testing.assert_allclose(found.weights.T * labels[found.kept], corrected, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("seed", range(8))
def test_swaps_only_raise_the_objective_and_stop_where_the_best_exchange_does_not(seed):
    n, r = 12, 5
    sigma, weights, rng = random_problem(seed, n)
    target = np.where(rng.random(n) < 0.7, 1.0, -1.0)
    start = np.sort(rng.permutation(n)[:r])
    values = [twin.objective(sigma, weights, start, target)]
    for rounds in range(1, 12):
        kept, corrected, made = swap(sigma, weights, target, start, rounds)
        values.append(twin.objective(sigma, weights, kept, target))
        np.testing.assert_allclose(corrected, twin.corrected_weights(sigma, weights, kept), rtol=1e-9)
        assert len(set(kept.tolist())) == r and made <= rounds
    assert all(after >= before for before, after in itertools.pairwise(values)) and values[-1] == values[-2]
    # the sample that would be added is the one whose addition raises the objective most
    outside = [j for j in range(n) if j not in kept]
    gains = [twin.objective(sigma, weights, np.sort(np.append(kept, j)), target) for j in outside]
    more = np.sort(np.append(kept, outside[int(np.argmax(gains))]))
    best = max(twin.objective(sigma, weights, np.delete(more, i), target) for i in range(r + 1))
    assert best <= values[-1] * (1 + 1e-9) if values[-1] > 0 else best <= values[-1] + 1e-9


def test_geem_with_swaps_keeps_a_set_that_is_worth_at_least_as_much():
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 40, (40, 6)).astype(np.uint8)
    batch = Batch(codes, np.where(rng.random(40) < 0.5, 1.0, -1.0), rng.random(40) ** 3, np.zeros(40, int))
    plain, swapping = Geem(covariance_dims="all"), Geem(covariance_dims="all", swap_rounds=20)
    before, after = plain(batch, 10, rng)[1].sum(), swapping(batch, 10, rng)[1].sum()
    assert after >= before and (swapping.swaps == 0) == (after == before)


@given(st.integers(0, 10**6), st.integers(2, 14), st.integers(1, 20), st.floats(1e-2, 10.0), st.data())
@settings(max_examples=80, deadline=None)
def test_thin_elimination_equals_the_definition(seed, n, k, ridge, data):
    rng, r = np.random.default_rng(seed), data.draw(st.integers(1, n))
    above, y, weights = rng.random((n, k)) < 0.5, np.where(rng.random(n) < 0.5, 1.0, -1.0), rng.random(n)
    found = geem._ThinElimination(above, y, ridge, r)(None, weights, lambda like: np.ones((1, len(like))))
    kept, corrected, order = twin.select(twin.thin_covariance(above, y, ridge), weights, n - r)
    assert found.order.tolist() == order.tolist() and found.kept.tolist() == kept.tolist()
    np.testing.assert_allclose(found.weights, corrected, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("values", [False, True])
@pytest.mark.parametrize("shared", [False, True])
def test_thin_geem_on_as_many_stumps_as_there_are_thresholds_is_geem(shared, values):
    rng = np.random.default_rng(5)
    codes = (rng.integers(0, 256, (60, 9)) // rng.integers(1, 90, 9)).astype(np.uint8)
    codes[:, 4] = 7  # a constant feature has no threshold
    labels = np.where(rng.random((60, 3) if shared else 60) < 0.4, 1.0, -1.0)
    batch = Batch(codes * 0.37 if values else codes, labels, rng.random(labels.shape), np.zeros(60, int))
    m = sum(len(np.unique(column)) - 1 for column in codes.T)
    thin, exact = GeemThin(covariance_stumps=m), Geem(covariance_dims="all")
    one, other = (
        (each.for_all_classes if shared else each)(batch, 25, np.random.default_rng(0)) for each in (thin, exact)
    )
    np.testing.assert_array_equal(one[0], other[0])
    np.testing.assert_allclose(one[1], other[1], rtol=1e-8, atol=1e-10)


def test_stumps_of_thin_geem_are_drawn_with_equal_chances():
    codes = np.array([[0, 5], [1, 5], [2, 9]], np.uint8)  # thresholds: two, and one
    batch, rng, seen = Batch(codes, np.ones(3), np.ones(3), np.zeros(3, int)), np.random.default_rng(0), []
    for _ in range(3000):
        seen += GeemThin(covariance_stumps=1)._prepare(batch, np.ones(3), 1, rng)[0].above.T.tolist()
    kinds, counts = np.unique(seen, axis=0, return_counts=True)
    assert kinds.tolist() == [[False, False, True], [False, True, True]]
    np.testing.assert_allclose(counts, [2000, 1000], atol=120)  # between 1 and 2 there are thresholds of both


def test_thin_geem_keeps_the_largest_weights_of_constant_features_and_copes_with_a_small_ridge():
    weights = np.array([0.1, 0.6, 0.2, 0.5, 0.3, 0.4])
    batch = Batch(np.full((6, 3), 5, np.uint8), np.ones(6), weights, np.zeros(6, int))
    kept, corrected = GeemThin()(batch, 3, np.random.default_rng(0))
    assert kept.tolist() == [1, 3, 5] and corrected.tolist() == [0.6, 0.5, 0.4]
    codes = np.repeat(np.arange(30, dtype=np.uint8)[:, None], 20, axis=0)  # 20 of each
    batch = Batch(codes, np.ones(600), np.random.default_rng(0).random(600), np.zeros(600, int))
    kept, corrected = GeemThin(ridge=1e-6, covariance_stumps=29)(batch, 300, np.random.default_rng(0))
    assert len(set(kept.tolist())) == 300
    sigma = twin.thin_covariance(codes >= np.arange(1, 30), np.ones(600), 1e-6)
    np.testing.assert_allclose(corrected, twin.corrected_weights(sigma, batch.weights, kept), rtol=1e-4)


@pytest.mark.parametrize("keys", [{"ridge": 0.0}, {"ridge": 1e-7}, {"swap_rounds": 1}, {"covariance_stumps": 0}])
def test_keys_that_thin_geem_cannot_take_are_one_sentence(keys):
    with pytest.raises(BoostrunError, match=r"ridge|covariance_stumps"):
        GeemThin(**keys).check(shared=False)


@pytest.mark.parametrize("values", [False, True])
@pytest.mark.parametrize(("n", "shared"), [(60, False), (60, True), (700, False), (1100, False)])
def test_geem_in_single_precision_keeps_the_same_samples(n, shared, values):
    rng = np.random.default_rng(n)
    codes = (rng.integers(0, 256, (n, 40)) // rng.integers(1, 90, 40)).astype(np.uint8)
    labels = np.where(rng.random((n, 3) if shared else n) < 0.4, 1.0, -1.0)
    batch = Batch(codes * 0.37 if values else codes, labels, rng.random(labels.shape), np.zeros(n, int))
    kinds = (GeemSingle(), Geem())
    for keep in (n // 2, n // 2, n // 3):  # memory is used again
        one, other = (
            (each.for_all_classes if shared else each)(batch, keep, np.random.default_rng(0)) for each in kinds
        )
        np.testing.assert_array_equal(one[0], other[0])
        np.testing.assert_allclose(one[1], other[1], rtol=1e-4, atol=1e-6)
    assert kinds[0]._memory.inversion.matrix.dtype == kinds[0]._memory.columns.dtype == np.float32


@pytest.mark.parametrize("keys", [{"ridge": 0.05}, {"ridge": 0.0}, {"swap_rounds": 1}])
def test_keys_that_single_precision_cannot_take_are_one_sentence(keys):
    with pytest.raises(BoostrunError, match=r"^geem_single needs a ridge of at least 0\.1, and"):
        GeemSingle(**keys).check(shared=False)


@pytest.mark.parametrize("kind", [SingleInversion, PlainSingleInversion])
@given(st.integers(1, 90), st.integers(0, 2**32 - 1))
def test_the_inverse_in_single_precision_is_that_of_numpy(kind, n, seed):
    root = np.random.default_rng(seed).normal(size=(n, n))
    sigma = root @ root.T + n * np.eye(n)
    inversion, right = kind(n), np.linalg.inv(sigma)
    inversion.matrix[:] = sigma
    lower = np.tril(inversion.factor())
    np.testing.assert_allclose(lower.T @ lower, right, atol=1e-5 / n)
    np.testing.assert_allclose(np.tril(inversion.inverse()), np.tril(right), atol=1e-5 / n)
    assert inversion.matrix.dtype == np.float32
    inversion.matrix[:] = -np.eye(n)
    with pytest.raises(np.linalg.LinAlgError):
        inversion.factor()


BOTH = pytest.mark.parametrize("kind", [Inversion, PlainInversion])


@njit
def distance(left, right):
    return byte_distance(left.ctypes.data, right.ctypes.data)


@pytest.mark.parametrize("largest", [1, 127, 255])
def test_byte_distance_is_the_sum_of_absolute_differences(largest):
    rng = np.random.default_rng(largest)
    for _ in range(20):
        left, right = rng.integers(0, largest + 1, (2, RUN)).astype(np.uint8)
        assert distance(left, right) == np.abs(left.astype(int) - right).sum()
    assert distance(np.zeros(RUN, np.uint8), np.full(RUN, largest, np.uint8)) == RUN * largest


@BOTH
@pytest.mark.parametrize("n", slow_but([1, 2, 129, 257], [1, 2, 127, 128, 129, 200, 257, 515]))
def test_factor_and_inverse_equal_numpys_in_memory_used_again(n, kind):
    inversion, rng = kind(n), np.random.default_rng(n)
    for _ in range(2):
        root = rng.normal(size=(n, n + 2))
        matrix = root @ root.T + 0.5 * n * np.eye(n)
        inversion.matrix[:] = np.tril(matrix)  # values above the diagonal are not read
        lower = np.tril(inversion.factor())
        np.testing.assert_allclose(lower, np.linalg.inv(np.linalg.cholesky(matrix)), rtol=1e-9, atol=1e-12)
        inverse = np.tril(inversion.inverse())
        np.testing.assert_allclose(inverse, np.tril(np.linalg.inv(matrix)), rtol=1e-9, atol=1e-12)
        inversion = pickle.loads(pickle.dumps(inversion))  # a copy works too, in memory of its own


@pytest.mark.parametrize("n", [1, 31, 32, 33, 64, 100, 257, 515])
def test_the_plain_inverse_equals_the_other_to_the_bit(n):
    root = np.random.default_rng(n).normal(size=(n, n + 2))
    both = Inversion(n), PlainInversion(n)
    for inversion in both:
        inversion.matrix[:] = np.tril(root @ root.T + 0.5 * n * np.eye(n))
    np.testing.assert_array_equal(*(np.tril(inversion.factor()) for inversion in both))
    np.testing.assert_array_equal(*(np.tril(inversion.inverse()) for inversion in both))


@BOTH
@pytest.mark.parametrize("n", [3, 300])
def test_a_matrix_that_is_not_positive_definite_is_refused_wherever_it_fails(n, kind):
    for place in (0, n // 2, n - 1):
        matrix = np.eye(n)
        matrix[place, place] = -1.0
        inversion = kind(n)
        inversion.matrix[:] = matrix
        with pytest.raises(np.linalg.LinAlgError, match="positive definite"):
            inversion.factor()
        inversion.matrix[:] = np.eye(n)
        np.testing.assert_array_equal(np.tril(inversion.factor()), np.eye(n))
