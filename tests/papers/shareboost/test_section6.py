"""Section 6 of the paper as exact tests, on the examples of :mod:`boostrun.papers.shareboost.theory`."""

import csv
import math

import numpy as np
import pytest
from scipy.optimize import brentq

from boostrun.papers.shareboost import theory
from boostrun.papers.shareboost.classifier import ShareBoostClassifier
from boostrun.papers.shareboost.inner import loss_and_residuals, mixed_norm
from boostrun.papers.shareboost.pools import DensePool
from boostrun.papers.shareboost.theory import (
    BITS_ONLY,
    COLUMNS,
    L1,
    SIZES,
    bit_score,
    first_example,
    frobenius_solution,
    l1_scale,
    loss,
    mixed_norm_solution,
    second_example,
    unit_score,
)

E = math.e


# --- first example


@pytest.mark.parametrize("k", [4, 8, 16, 64, 128])
def test_entrywise_norms_prefer_a_column_a_class(k):
    """Item 1: for every c the loss of c W^f is smaller, for p = 1 and 2 its norm too, and both predict perfectly."""
    X, y, shared, separate, m = first_example(k)
    for c in (0.01, 0.1, 0.5, 1.0, 2.0, 5.0):
        few, many = loss(c * shared, X, y), loss(c * separate, X, y)
        assert many == pytest.approx(math.log1p((k - 1) * math.exp(1 - 2 * m * c)), rel=1e-9)
        assert many < few <= math.log1p((k - 1) * math.exp(1 - 2 * c)) + 1e-12
    for p in (1, 2):
        assert (np.abs(separate) ** p).sum() == k < k * m == (np.abs(shared) ** p).sum()
    for weights in (shared, separate):
        assert ((X @ weights).argmax(axis=1) == y).all()


@pytest.mark.parametrize(("k", "lam", "expected"), L1)
def test_the_l1_solution_is_the_unit_columns_and_no_bit(k, lam, expected):
    """Item 2: the optimality conditions at c W^f, strict for every other entry, so that it is the only minimiser."""
    X, y, _, separate, m = first_example(k)
    b, z = 2 * m, 1 + (k - 1) * E
    assert lam < (b / k) * (1 - 1 / z)
    c = l1_scale(k, lam)
    assert c == pytest.approx(expected, abs=5e-7)
    gradient = X.T @ loss_and_residuals(X @ (c * separate), y)[1] / k
    np.testing.assert_allclose(gradient[separate > 0], -lam, rtol=1e-9)
    assert np.abs(gradient[separate == 0]).max() < lam
    assert np.abs(gradient[:m]).max() < 0.5 * lam


def test_the_l1_solution_found_by_proximal_gradient():
    """Item 2 again, by a solver that knows nothing of it: soft thresholding from 0."""
    X, y, _, separate, m = first_example(16)
    lam, step = 0.01, 2 * 16 / np.linalg.norm(X, 2) ** 2
    weights = np.zeros((m + 16, 16))
    for _ in range(4000):
        gradient = X.T @ loss_and_residuals(X @ weights, y)[1] / 16
        moved = weights - step * gradient
        weights = np.sign(moved) * np.maximum(np.abs(moved) - step * lam, 0.0)
    assert not weights[:m].any() and (weights[m:].any(axis=1)).all()
    np.testing.assert_allclose(weights, 0.949984 * separate, atol=2e-6)


@pytest.mark.parametrize(("k", "lam"), [(16, 1e-2), (16, 1e-4), (64, 1e-3)])
def test_the_frobenius_solution_has_every_unit_column_and_the_bits_too(k, lam):
    """Item 2: contrary to a literal reading of the paper; its columns sum to 0."""
    X, y, _, _, m = first_example(k)
    weights = frobenius_solution(X, y, k, lam)
    sizes = np.abs(weights).max(axis=1)
    assert (sizes > 1e-3 * sizes.max()).all() and np.count_nonzero(sizes) == m + k
    np.testing.assert_allclose(weights.sum(axis=1), 0.0, atol=1e-7)


@pytest.mark.parametrize("k", [16, 32, 64, 128])
def test_shareboost_takes_the_bits_one_after_the_other(k):
    """Item 3: the columns, the score of every round, the training error halving its complement, zero after m rounds."""
    X, y, *_, m = first_example(k)
    model = ShareBoostClassifier(m, inner_rtol=1e-6, inner_maxiter=2000).fit_pool(DensePool(X), y)
    assert sorted(model.selected_) == list(range(m))
    for t, scores in enumerate(model.model_.staged_scores(X), 1):
        assert model.scores_[t - 1] == pytest.approx(bit_score(t, k), rel=1e-5)
        assert np.mean(scores.argmax(axis=1) != y) == 1 - 2**t / k


@pytest.mark.parametrize(("k", "expected"), [(4, 1.782), (8, 1.425)])
def test_with_few_classes_the_unit_columns_win(k, expected):
    """Item 3: so that the test before can fail."""
    X, y, *_, m = first_example(k)
    model = ShareBoostClassifier(1).fit_pool(DensePool(X), y)
    assert model.selected_[0] == m and model.scores_[0] == pytest.approx(expected, abs=1e-3)
    assert model.scores_[0] == pytest.approx((4 * m / k) * (1 - 1 / (1 + (k - 1) * E))) == pytest.approx(unit_score(k))
    assert bit_score(1, k) < model.scores_[0]


def lambda_of(c, m):
    """The lambda whose solution has bit columns of entries +-c: 2 sum_h (h / m) rho_h."""
    counts = np.array([math.comb(m, h) for h in range(1, m + 1)])
    terms = counts * np.exp(1 - 2 * c * np.arange(1, m + 1))
    return 2 * (np.arange(1, m + 1) / m * terms).sum() / (1 + terms.sum())


@pytest.mark.slow
@pytest.mark.parametrize(("lam", "expected"), BITS_ONLY)
def test_with_many_classes_the_mixed_norm_has_the_bits_only(lam, expected):
    """Item 4, k = 128 >= 2 m^2."""
    X, y, shared, _, m = first_example(128)
    assert brentq(lambda c: lambda_of(c, m) - lam, 0.0, 10.0) == pytest.approx(expected, abs=1e-6)
    weights = mixed_norm_solution(X, y, 128, lam)
    assert np.flatnonzero(weights.any(axis=1)).tolist() == list(range(m))
    np.testing.assert_allclose(weights, expected * shared, atol=5e-5 * expected)


@pytest.mark.parametrize(("k", "lam", "columns"), COLUMNS)
def test_with_fewer_classes_the_mixed_norm_needs_the_unit_columns(k, lam, columns):
    """Item 4: where the bits no longer suffice."""
    X, y, *_ = first_example(k)
    weights = mixed_norm_solution(X, y, k, lam)
    assert np.count_nonzero(weights.any(axis=1)) == columns


# --- second example


@pytest.mark.parametrize(("k", "s"), SIZES)
def test_spread_over_all_blocks_the_same_norm_has_a_smaller_loss(k, s):
    """Item 1, by Jensen's inequality."""
    X, y, shared, spread, _ = second_example(k, s, 4 * s)
    assert mixed_norm(spread) == pytest.approx(mixed_norm(shared)) == k.bit_length() - 1
    for c in (0.01, 0.1, 1.0, 3.0, 10.0):
        assert loss(c * spread, X, y) < loss(c * shared, X, y)


@pytest.mark.parametrize("lam", [0.5, 0.1, 0.02])
def test_the_mixed_norm_uses_all_blocks_alike(lam):
    """Item 2: all s m columns, all entries of one magnitude."""
    X, y, _, spread, _ = second_example(16, 4, 16)
    sizes = np.abs(mixed_norm_solution(X, y, 16, lam))
    assert sizes.min() > 0.0 and np.ptp(sizes) < 1e-6 * max(1.0, sizes.max())
    assert (np.sign(mixed_norm_solution(X, y, 16, lam)) == np.sign(spread)).all()


@pytest.mark.parametrize(("k", "s"), SIZES)
def test_shareboost_needs_two_blocks_whatever_their_number(k, s):
    """Item 3: after m rounds one block's bits and the error of the samples that lack it; none after 2 m."""
    a = 4 * s
    X, y, *_, m = second_example(k, s, a)
    model = ShareBoostClassifier(3 * m).fit_pool(DensePool(X), y)
    errors = [float(np.mean(scores.argmax(axis=1) != y)) for scores in model.model_.staged_scores(X)]
    assert model.selected_[:m].tolist() == list(range(m))
    assert errors[m - 1] == pytest.approx((1 / (a + s)) * (1 - 1 / k))  # eps / s = 1 / (a + s)
    assert errors.index(0.0) + 1 == 2 * m <= 3 * m


# --- as an item


@pytest.mark.slow
def test_the_item_writes_every_check_with_what_was_expected_and_found(command, workplace):
    code, out, err = command("reproduce shareboost/section6")
    assert code == 0, err
    folder = workplace / "results" / "shareboost" / "section6"
    rows = list(csv.DictReader((folder / "table.csv").open()))
    assert f"all {len(rows)} checks are met" in out and {row["met"] for row in rows} == {"yes"}
    assert {(row["example"], row["item"]) for row in rows} == {(e, i) for e, i in zip("1111222", "1234123")}
    found = {row["check"]: float(row["found"]) for row in rows}
    assert found["k = 16, lambda = 0.01: c of the l1 minimiser c W^f"] == pytest.approx(0.949984, abs=1e-6)
    assert (folder / "table.md").read_text().count("| yes") == len(rows)


def test_a_check_that_fails_is_told(command, workplace, monkeypatch):
    monkeypatch.setattr(theory, "checks", lambda: iter([theory.Assertion(1, 3, "what", "2", "3", False)]))
    code, out, _ = command("reproduce shareboost/section6")
    assert code == 0 and "1 of 1 checks not met" in out
    assert "not met" in (workplace / "results" / "shareboost" / "section6" / "table.md").read_text()
