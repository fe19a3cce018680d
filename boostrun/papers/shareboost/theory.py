"""The paper's mathematics as checks: the examples of Section 6, and the bounds of Theorem 2 and Corollary 1.

Section 6 shows where greedy selection, and only it, finds the few columns that all classes share. First example: a
class y in {0..k-1}, k = 2^m, has one sample [bin(y), 2 m e_y]; W^s uses the m bit columns, W^f the k unit columns.
Second example: s blocks of bits, one of which some samples lack; W^s uses the first block, W^f all of them.

Theorem 2: with features in [-1, 1] and B = ||W||_{inf,1}, L(W_t) <= L(W) + 4 B^2 / t after every round t, for every W.
The W that uses most of this allowance is found on the path of the mixed norm, whose points have the least loss of all W
with the same B.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from boostrun.errors import BoostrunError
from boostrun.papers.shareboost.classifier import ShareBoostClassifier
from boostrun.papers.shareboost.design import DenseDesign
from boostrun.papers.shareboost.inner import Frobenius, Objective, lbfgs, loss_and_residuals
from boostrun.papers.shareboost.keys import MixedNormKeys
from boostrun.papers.shareboost.mixed_norm import PathSolver, mixed_norm
from boostrun.papers.shareboost.pools import DensePool
from boostrun.report.markup import write_text_table


class Assertion(NamedTuple):
    """A check: example and item, the checked quantity, its expected and found value, and whether they agree."""

    example: int
    item: int
    what: str
    expected: str
    found: str
    met: bool


SIZES = ((16, 4), (16, 8), (16, 16), (32, 6))  # (k, s) of the second example
L1 = ((16, 0.01, 0.949984), (64, 0.001, 0.864297))  # k, lambda, and the c whose c W^f is the minimiser
BITS_ONLY = ((0.9, 0.109617), (0.5, 0.624211), (0.1, 1.870528), (0.02, 2.778295))  # k = 128: lambda, and the entries
COLUMNS = ((64, 0.9, 6), (64, 0.5, 6), (64, 0.1, 70), (16, 0.9, 20), (16, 0.5, 20), (16, 0.1, 20))  # k, lambda, columns


def draw_section6(folder: Path, data_root: Path) -> str:
    """Write table.md and table.csv of Section 6's checks into ``folder``; returns a summary, failed checks first.

    Raises BoostrunError if the folder cannot be written.
    """
    found = list(checks())
    missed = [check for check in found if not check.met]
    head = ["example", "item", "check", "expected", "found", "met"]
    rows = [[str(c.example), str(c.item), c.what, c.expected, c.found, "yes" if c.met else "not met"] for c in found]
    remark = f"{len(found) - len(missed)} of {len(found)} checks are met."
    page = write_text_table("ShareBoost, Section 6: exact checks", [head, *rows], remark, folder, numbers=(3, 4))
    lines = [f"not met: example {c.example}, item {c.item}: {c.what}: {c.found}, not {c.expected}" for c in missed]
    lines.append(f"{len(missed)} of {len(found)} checks not met" if missed else f"all {len(found)} checks are met")
    return "\n".join([*lines, "", page.splitlines()[-1]])


def checks() -> Iterator[Assertion]:
    """All checks of Section 6; takes some seconds."""
    yield from _checks_of_first()
    yield from _checks_of_second()


def _checks_of_first() -> Iterator[Assertion]:
    for k in (4, 8, 16, 64, 128):
        x, y, shared, separate, m = first_example(k)
        scales = (0.01, 0.1, 0.5, 1.0, 2.0, 5.0)
        gaps = [loss(c * shared, x, y) - loss(c * separate, x, y) for c in scales]
        what = f"k = {k}: least L(c W^s) - L(c W^f), c from {scales[0]:g} to {scales[-1]:g}"
        yield _check(1, 1, what, "> 0", min(gaps), min(gaps) > 0)
        away = max(abs(loss(c * separate, x, y) - math.log1p((k - 1) * math.exp(1 - 2 * m * c))) for c in scales)
        what = f"k = {k}: largest distance of L(c W^f) from ln(1 + (k - 1) e^(1 - 2 m c))"
        yield _check(1, 1, what, "< 1e-12", away, away < 1e-12)
    for k, lam, scale in L1:
        x, y, _, separate, m = first_example(k)
        gradient = x.T @ loss_and_residuals(x @ (l1_scale(k, lam) * separate), y)[1] / k
        optimal = np.allclose(gradient[separate > 0], -lam, rtol=1e-9) and abs(gradient[separate == 0]).max() < lam
        met = bool(optimal) and abs(l1_scale(k, lam) - scale) < 1e-6
        yield _check(1, 2, f"k = {k}, lambda = {lam:g}: c of the l1 minimiser c W^f", f"{scale}", l1_scale(k, lam), met)
    for k, lam in ((16, 1e-2), (64, 1e-3)):
        x, y, _, _, m = first_example(k)
        sizes = np.abs(frobenius_solution(x, y, k, lam)).max(axis=1)
        used = int((sizes > 1e-3 * sizes.max()).sum())
        yield _check(1, 2, f"k = {k}, lambda = {lam:g}: columns of the Frobenius minimiser", m + k, used, used == m + k)
    for k in (16, 32, 64, 128):
        x, y, *_, m = first_example(k)
        model = ShareBoostClassifier(m, inner_rtol=1e-6, inner_maxiter=2000).fit_pool(DensePool(x), y)
        taken = sorted(model.selected_.tolist())
        what = f"k = {k}: ShareBoost's first {m} columns are the bits"
        yield _check(1, 3, what, m, sum(r < m for r in taken), taken == list(range(m)))
        expected = np.array([bit_score(t, k) for t in range(1, m + 1)])
        met = np.allclose(model.scores_, expected, rtol=1e-5)
        yield _check(1, 3, f"k = {k}: score of round {m}", f"{expected[-1]:.6g}", model.scores_[-1], met)
        errors = [float(np.mean(scores.argmax(axis=1) != y)) for scores in model.model_.staged_scores(x)]
        halved = errors == [1 - 2**t / k for t in range(1, m + 1)]
        yield _check(1, 3, f"k = {k}: training error after {m - 1} rounds, 0 after {m}", "0.5", errors[-2], halved)
    for k in (4, 8):
        x, y, *_, m = first_example(k)
        model = ShareBoostClassifier(1).fit_pool(DensePool(x), y)
        met = model.selected_[0] == m and math.isclose(model.scores_[0], unit_score(k), rel_tol=1e-6)
        what = f"k = {k}: score of round 1, a unit column's"
        yield _check(1, 3, what, f"{unit_score(k):.6g}", model.scores_[0], met)
    x, y, shared, _, m = first_example(128)
    for lam, entry in BITS_ONLY:
        weights = mixed_norm_solution(x, y, 128, lam)
        met = np.allclose(weights, entry * shared, atol=5e-5 * entry)
        what = f"k = 128, lambda = {lam:g}: the mixed norm's entries, bit columns only"
        yield _check(1, 4, what, f"{entry}", np.abs(weights[:m]).max(), met)
    for k, lam, columns in COLUMNS:
        x, y, *_ = first_example(k)
        used = int(np.count_nonzero(mixed_norm_solution(x, y, k, lam).any(axis=1)))
        yield _check(1, 4, f"k = {k}, lambda = {lam:g}: columns of the mixed norm", columns, used, used == columns)


def _checks_of_second() -> Iterator[Assertion]:
    for k, s in SIZES:
        x, y, shared, spread, m = second_example(k, s, 4 * s)
        gaps = [loss(c * shared, x, y) - loss(c * spread, x, y) for c in (0.01, 0.1, 1.0, 3.0, 10.0)]
        met = min(gaps) > 0 and math.isclose(mixed_norm(spread), mixed_norm(shared))
        yield _check(2, 1, f"k = {k}, s = {s}: least L(c W^s) - L(c W^f), equal mixed norms", "> 0", min(gaps), met)
    x, y, *_ = second_example(16, 4, 16)
    for lam in (0.5, 0.1, 0.02):
        sizes = np.abs(mixed_norm_solution(x, y, 16, lam))
        used = int(np.count_nonzero(sizes.any(axis=1)))
        met = used == 16 and np.ptp(sizes) < 1e-6 * max(1.0, sizes.max())
        yield _check(2, 2, f"k = 16, s = 4, lambda = {lam:g}: columns of the mixed norm, entries alike", 16, used, met)
    for k, s in SIZES:
        x, y, *_, m = second_example(k, s, 4 * s)
        model = ShareBoostClassifier(3 * m).fit_pool(DensePool(x), y)
        errors = [float(np.mean(scores.argmax(axis=1) != y)) for scores in model.model_.staged_scores(x)]
        expected = (1 - 1 / k) / (5 * s)  # (eps / s)(1 - 1 / k), eps = s / (a + s), a = 4 s
        met = model.selected_[:m].tolist() == list(range(m)) and math.isclose(errors[m - 1], expected)
        what = f"k = {k}, s = {s}: training error after {m} rounds, one block's bits"
        yield _check(2, 3, what, f"{expected:.6g}", errors[m - 1], met)
        needed = errors.index(0.0) + 1 if 0.0 in errors else 0
        what = f"k = {k}, s = {s}: columns until the training error is 0"
        yield _check(2, 3, what, 2 * m, needed, needed == 2 * m)


def _check(example: int, item: int, what: str, expected: object, found: float, met: object) -> Assertion:
    return Assertion(example, item, what, str(expected), f"{found:.6g}", bool(met))


class Example(NamedTuple):
    """``x`` (n, d), ``y`` (n,), the weights ``shared`` W^s and ``other`` W^f (d, k), and ``m``, the number of bits."""

    x: np.ndarray
    y: np.ndarray
    shared: np.ndarray
    other: np.ndarray
    m: int


def first_example(k: int) -> Example:
    """The first example with k = 2^m classes."""
    code = bits(k)
    m = code.shape[1]
    shared, separate = np.zeros((2, m + k, k))
    shared[:m], separate[m:] = code.T, np.eye(k)
    return Example(np.column_stack([code, 2 * m * np.eye(k)]), np.arange(k), shared, separate, m)


def second_example(k: int, s: int, a: int) -> Example:
    """The second example: a class has ``a`` samples with all s blocks, and one without each block."""
    code = bits(k)
    m = code.shape[1]
    whole = np.tile(code, (1, s))
    lacking = [np.where(np.repeat(np.arange(s) == block, m), 0.0, whole) for block in range(s)]
    shared = np.zeros((s * m, k))
    shared[:m] = code.T
    return Example(np.concatenate([whole] * a + lacking), np.tile(np.arange(k), a + s), shared, whole.T / s, m)


def bits(k: int) -> np.ndarray:
    """(k, log2 k): binary digits of 0, ..., k - 1 as -1 and +1, the lowest first.

    >>> bits(4)
    array([[-1., -1.],
           [ 1., -1.],
           [-1.,  1.],
           [ 1.,  1.]])
    """
    return np.where(np.arange(k)[:, None] >> np.arange(k.bit_length() - 1) & 1, 1.0, -1.0)


def loss(weights: np.ndarray, x: np.ndarray, y: np.ndarray) -> float:
    """L(W) for ``weights`` (d, k)."""
    return loss_and_residuals(x @ weights, y)[0]


def mixed_norm_solution(x: np.ndarray, y: np.ndarray, k: int, lam: float) -> np.ndarray:
    """The minimiser (d, k) of L + lambda ||W||_{inf,1}, to a certified gap of 1e-9; BoostrunError if that fails."""
    solver = PathSolver(MixedNormKeys(gap=1e-9), DensePool(x), y, k)
    point, out = solver.solve(lam), np.zeros((x.shape[1], k))
    if point.gap > 1e-9 * point.objective:
        raise BoostrunError(f"the mixed norm's solver stopped at a relative gap of {point.gap / point.objective:.1e}")
    out[point.candidates] = point.weights
    return out


def frobenius_solution(x: np.ndarray, y: np.ndarray, k: int, lam: float) -> np.ndarray:
    """The minimiser (d, k) of L + lambda ||W||_F^2, to a gradient of 1e-8; BoostrunError if that fails."""
    design = DenseDesign(len(y))
    design.add(x)
    objective = Objective(design, y, k, penalty=Frobenius(), weight=lam)
    found = lbfgs(objective, np.zeros((x.shape[1], k)), 1e-9, 5000)
    if found.residual > 1e-8:
        raise BoostrunError(f"the solver stopped at a gradient of {found.residual:.1e}")
    return found.weights


def l1_scale(k: int, lam: float) -> float:
    """c of the minimiser c W^f of L + lambda ||W||_{1,1}, for lambda < (b / k)(1 - 1 / (1 + (k - 1) e)), b = 2 m."""
    b = 2 * (k.bit_length() - 1)
    u = k * lam / b
    return (1 + math.log(k - 1) - math.log(u / (1 - u))) / b


def bit_score(t: int, k: int) -> float:
    """||grad_r L||_1 of a bit column in round t, after t - 1 bits."""
    return 1 + (math.e - 1) / (1 + (k / 2 ** (t - 1) - 1) * math.e)


def unit_score(k: int) -> float:
    """||grad_r L||_1 of a unit column in the first round."""
    return (4 * (k.bit_length() - 1) / k) * (1 - 1 / (1 + (k - 1) * math.e))


CONSTANT = 4.0  # in Theorem 2
SETS, ROUNDS = 20, 40
_SAMPLES = 300
_EXACT: dict[str, Any] = {"inner_rtol": 1e-5, "inner_maxiter": 3000}
_LAMBDAS = np.geomspace(0.95, 0.003, 16)  # times the first round's score, the largest lambda
_BOUND_HEAD = [
    "set", "d", "k", "r", "loss of r columns", "loss after T", "excess", "allowed", "share used", "share used by any",
    "rounds to twice", "rounds allowed",
]  # fmt: skip


def draw_greedy_bound(folder: Path, data_root: Path) -> str:
    """Write table.md and table.csv of the bounds into ``folder``, a line for each set; returns a summary.

    No data are needed. Raises BoostrunError if the folder cannot be written.
    """
    rows, shares = [], []
    for number, (one, found) in enumerate(measure_all(), start=1):
        d, k = one.truth.shape
        rounds, last = len(found.losses), found.losses[-1]
        columns = int(np.count_nonzero(one.truth.any(axis=1)))
        figures = (
            found.competitor, last, last - found.competitor, CONSTANT * found.size**2 / rounds,
            found.share, found.share_of_any,
        )  # fmt: skip
        sizes = [str(number), str(d), str(k), str(columns)]
        rows.append([*sizes, *(f"{figure:.3g}" for figure in figures), str(found.rounds), f"{found.allowed:.0f}"])
        shares.append(found.share_of_any)
    page = f"""\
{len(rows)} synthetic sets of d features in [-1, 1] and k classes, whose labels r columns of +-1 decide, a tenth of them
at random; T = {ROUNDS} rounds. The competitor is the best W on those r columns, with B the sum of its
columns' largest entries. Theorem 2 allows an excess of 4 B^2 / t after every round t: excess and allowance
after T, and the largest share of the allowance that was used after any round, against these r columns and
against any W at all (the path of the mixed norm, whose points have the least loss of all W with the same B).
Corollary 1 allows 4 B^2 / eps rounds until the loss is twice the competitor's, eps ({ROUNDS + 1}: not reached).

The largest share used is {max(shares):.3g}, of all sets and rounds and any W; of the sharper bound 2 B^2 / t it is
twice that."""
    title = "ShareBoost: the theorem's bound beside the measured excess"
    return write_text_table(title, [_BOUND_HEAD, *rows], page, folder, range(len(_BOUND_HEAD)))


class Problem(NamedTuple):
    """``x`` (n, d) in [-1, 1], ``y`` (n,) codes of k classes, ``truth`` (d, k), whose r columns made them."""

    x: np.ndarray
    y: np.ndarray
    truth: np.ndarray


def make_problem(seed: int) -> Problem:
    """A synthetic set: 20 to 120 features, 2 to 8 classes, 2 to 6 deciding columns of +-1, a tenth of labels random.

    Every second set has groups of similar features.
    """
    rng = np.random.default_rng([7, seed])
    d, k, r = int(rng.integers(20, 121)), int(rng.integers(2, 9)), int(rng.integers(2, 7))
    x = rng.uniform(-1.0, 1.0, (_SAMPLES, d))
    if seed % 2:
        x = 0.5 * x + 0.5 * np.repeat(rng.uniform(-1.0, 1.0, (_SAMPLES, -(-d // 4))), 4, axis=1)[:, :d]
    truth = np.zeros((d, k))
    truth[rng.choice(d, r, replace=False)] = rng.choice((-1.0, 1.0), (r, k))
    y = (x @ truth).argmax(axis=1)
    y = np.where(rng.random(_SAMPLES) < 0.1, rng.integers(0, k, _SAMPLES), y)
    return Problem(x, y, truth)


class Measurement(NamedTuple):
    """The results on one problem.

    Losses after each round (T,); loss and B of the true columns, fitted; the largest share of the allowance used
    against them, and against any W; rounds to twice their loss (T + 1: not reached), and the rounds allowed.
    """

    losses: np.ndarray
    competitor: float
    size: float
    share: float
    share_of_any: float
    rounds: int
    allowed: float


def measure(one: Problem, rounds: int = ROUNDS) -> Measurement:
    """Results of ShareBoost, solved to 1e-5 of a score, on all and on the true columns, and the mixed norm's path."""
    k = one.truth.shape[1]
    model = ShareBoostClassifier(rounds, **_EXACT).fit_pool(DensePool(one.x), one.y)
    losses = np.asarray(model.train_loss_)
    deciding = one.x[:, one.truth.any(axis=1)]
    fitted = ShareBoostClassifier(deciding.shape[1], **_EXACT).fit_pool(DensePool(deciding), one.y)
    competitor, size = float(fitted.train_loss_[-1]), mixed_norm(fitted.path_[-1])
    solver = PathSolver(MixedNormKeys(gap=1e-6), DensePool(one.x), one.y, k)
    path = [solver.solve(lam) for lam in _LAMBDAS * float(model.scores_[0])]
    rivals = [(point.loss, mixed_norm(point.weights)) for point in path if len(point.candidates)]
    below = np.flatnonzero(losses <= 2.0 * competitor)
    return Measurement(
        losses, competitor, size, _share(losses, competitor, size),
        max(_share(losses, *rival) for rival in [*rivals, (competitor, size)]),
        int(below[0]) + 1 if len(below) else rounds + 1, CONSTANT * size**2 / competitor,
    )  # fmt: skip


def measure_all() -> Iterator[tuple[Problem, Measurement]]:
    """Every problem with its measurement, about a second each."""
    for seed in range(SETS):
        one = make_problem(seed)
        yield one, measure(one)


def _share(losses: np.ndarray, competitor: float, size: float) -> float:
    """The largest share of 4 B^2 / t by which L(W_t) exceeds a competitor's loss."""
    rounds = np.arange(1, len(losses) + 1)
    return float(np.max((losses - competitor) * rounds / (CONSTANT * size**2)))
