"""Section 6's examples and the theorem's bounds: all checks are met, and some against independent solvers."""

import csv
import math

import numpy as np
import pytest
from scipy.optimize import brentq

from boostrun.papers.shareboost import theory
from boostrun.papers.shareboost.classifier import ShareBoostClassifier
from boostrun.papers.shareboost.inner import loss_and_residuals
from boostrun.papers.shareboost.pools import DensePool
from boostrun.papers.shareboost.theory import bit_score, first_example, second_example, unit_score


@pytest.fixture(scope="module")
def small():
    one = theory.make_problem(2)  # with few features and classes
    return one, theory.measure(one, rounds=6)


@pytest.mark.parametrize("bits_only", [
    theory.BITS_ONLY[:2], pytest.param(theory.BITS_ONLY, marks=pytest.mark.slow),  # small lambdas take ten seconds
])  # fmt: skip
def test_every_check_of_section_6_is_met(bits_only, monkeypatch):
    monkeypatch.setattr(theory, "BITS_ONLY", bits_only)
    checks = list(theory.checks())
    assert not [check for check in checks if not check.met] and len(checks) == 49 + len(bits_only)
    items = {(1, 1), (1, 2), (1, 3), (1, 4), (2, 1), (2, 2), (2, 3)}
    assert {(check.example, check.item) for check in checks} == items


@pytest.mark.parametrize("k", [4, 16, 128])
def test_both_predictors_of_the_first_example_are_perfect_and_norms_prefer_a_column_a_class(k):
    x, y, shared, separate, m = first_example(k)
    assert all(((x @ weights).argmax(axis=1) == y).all() for weights in (shared, separate))
    assert all((np.abs(separate) ** p).sum() == k < k * m == (np.abs(shared) ** p).sum() for p in (1, 2))
    for c in (0.01, 1.0, 5.0):
        assert theory.loss(c * shared, x, y) <= math.log1p((k - 1) * math.exp(1 - 2 * c)) + 1e-12


def test_the_l1_solution_found_by_proximal_gradient():
    """By a solver that does not know it: soft thresholding from 0."""
    x, y, _, separate, m = first_example(16)
    lam, step = 0.01, 2 * 16 / np.linalg.norm(x, 2) ** 2
    weights = np.zeros((m + 16, 16))
    for _ in range(4000):
        moved = weights - step * x.T @ loss_and_residuals(x @ weights, y)[1] / 16
        weights = np.sign(moved) * np.maximum(np.abs(moved) - step * lam, 0.0)
    np.testing.assert_allclose(weights, 0.949984 * separate, atol=2e-6)
    assert not weights[:m].any()


def test_columns_of_the_frobenius_solution_sum_to_zero():
    x, y, *_ = first_example(16)
    np.testing.assert_allclose(theory.frobenius_solution(x, y, 16, 1e-4).sum(axis=1), 0.0, atol=1e-7)


@pytest.mark.parametrize(("k", "expected"), [(4, 1.782), (8, 1.425)])
def test_with_few_classes_the_unit_columns_win(k, expected):
    x, y, *_ = first_example(k)
    score = ShareBoostClassifier(1).fit_pool(DensePool(x), y).scores_[0]
    assert score == pytest.approx(expected, abs=1e-3) == pytest.approx(unit_score(k), abs=1e-3)
    assert bit_score(1, k) < score


@pytest.mark.parametrize(("lam", "entry"), theory.BITS_ONLY)
def test_entries_of_the_mixed_norm_solve_the_equation_of_their_lambda(lam, entry):
    """lambda = 2 sum_h (h / m) rho_h for k = 128 classes, m = 7 bits."""
    h = np.arange(1, 8)
    counts = np.array([math.comb(7, bits) for bits in h])

    def lambda_of(c):
        terms = counts * np.exp(1 - 2 * c * h)
        return 2 * (h / 7 * terms).sum() / (1 + terms.sum())

    assert brentq(lambda c: lambda_of(c) - lam, 0.0, 10.0) == pytest.approx(entry, abs=1e-6)


def test_in_the_second_example_the_mixed_norm_has_the_signs_of_all_blocks():
    x, y, _, spread, _ = second_example(16, 4, 16)
    assert (np.sign(theory.mixed_norm_solution(x, y, 16, 0.1)) == np.sign(spread)).all()


def test_the_item_writes_every_check(command, workplace, monkeypatch):
    met = theory.Assertion(1, 2, "what", "2", "2", True)
    failed = theory.Assertion(1, 3, "what", "2", "3", False)
    for found, summary in (([met, met], "all 2 checks are met"), ([met, failed], "1 of 2 checks not met")):
        monkeypatch.setattr(theory, "checks", lambda found=found: iter(found))
        code, out, err = command("reproduce shareboost/section6")
        assert code == 0 and summary in out, err
        folder = workplace / "results" / "shareboost" / "section6"
        rows = list(csv.DictReader((folder / "table.csv").open()))
        assert [row["met"] == "yes" for row in rows] == [check.met for check in found]
        assert [row["found"] for row in rows] == [check.found for check in found]
        assert (folder / "table.md").read_text().count("| not met") == len(found) - sum(c.met for c in found)


def test_no_w_uses_more_of_the_allowance_than_the_largest_share_found(small):
    one, found = small
    assert 0.0 < found.share <= found.share_of_any < 1.0
    rng, rounds = np.random.default_rng(0), np.arange(1, 7)
    for _ in range(200):
        weights = one.truth * rng.uniform(0.1, 8.0) + rng.normal(scale=0.1, size=one.truth.shape) * rng.integers(0, 2)
        excess = found.losses - loss_and_residuals(one.x @ weights, one.y)[0]
        size = np.abs(weights).max(axis=1).sum()
        assert (excess <= 1.05 * found.share_of_any * 4.0 * size**2 / rounds).all()  # the path has a few points


def test_rounds_to_twice_the_loss_are_those_of_the_losses(small):
    _, found = small
    assert found.losses[found.rounds - 1] <= 2.0 * found.competitor
    assert found.rounds == 1 or found.losses[found.rounds - 2] > 2.0 * found.competitor
    assert found.allowed == pytest.approx(4.0 * found.size**2 / found.competitor)


def test_a_problem_depends_on_its_seed_alone_and_lies_in_the_cube():
    one, again, other = (theory.make_problem(seed) for seed in (3, 3, 4))
    assert (one.x == again.x).all() and one.x.shape != other.x.shape
    assert np.abs(one.x).max() <= 1.0 and set(one.y.tolist()) <= set(range(one.truth.shape[1]))
