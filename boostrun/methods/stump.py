"""The weak learner of all four papers: a decision stump, found by one of two equivalent searches."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from boostrun.kernels import stumps

SEARCHES = ("histogram", "exact")


class Stump(NamedTuple):
    """h(x) = polarity if x[feature] >= threshold else -polarity."""

    feature: int
    threshold: float
    polarity: int

    def __call__(self, samples: np.ndarray) -> np.ndarray:
        """Votes of -1.0 and +1.0, (n,) float64, for ``samples`` (n, d)."""
        above = samples[:, self.feature] >= self.threshold
        return np.where(above, float(self.polarity), -float(self.polarity))


def find_stump(
    samples: np.ndarray, signed_weights: np.ndarray, rows: np.ndarray | None = None, search: str = "histogram"
) -> tuple[Stump, float]:
    """The stump with the largest edge sum_i w_i y_i h(x_i), and that edge (Lefakis & Fleuret 2013, section 3).

    Parameters
    ----------
    samples : (m, d) array, sample-major; uint8 codes for ``search="histogram"``, any ordered dtype for ``"exact"``.
    signed_weights : (n,) float64, w_i y_i; weights may be negative.
    rows : (n,) int64, which samples the weights belong to; all of them by default.
    search : "histogram" costs O(d (n + 256)), "exact" sorts each feature, O(d n log n); the results are the same.

    Thresholds lie midway between consecutive distinct values of the samples looked at (rounded up for integers).
    Among equal edges the lowest feature wins, then the lowest threshold. When no feature takes two values, the stump
    is constant: threshold 0 on feature 0 for codes, minus infinity otherwise, and the polarity of the larger side.

    >>> samples = np.array([[3, 9], [5, 9], [7, 1]], dtype=np.uint8)
    >>> find_stump(samples, np.array([-0.5, 0.25, 0.25]))
    (Stump(feature=0, threshold=4.0, polarity=1), 1.0)
    """
    if rows is None:
        rows = np.arange(len(samples))
    weights, scale = stumps.fixed_point(signed_weights)
    integral = np.issubdtype(samples.dtype, np.integer)
    if search == "histogram":
        feature, _ = stumps.best_feature_by_histogram(samples, rows, weights)
    else:
        feature, _ = stumps.best_feature_by_sorting(samples, rows, weights)
    if feature < 0:
        total = float(weights.sum()) / scale
        return Stump(0, 0.0 if samples.dtype == np.uint8 else -np.inf, 1 if total >= 0 else -1), abs(total)
    values = samples[rows, feature]
    left, right, edge = stumps.best_threshold(values, np.argsort(values), weights)
    threshold = (int(left) + int(right) + 1) // 2 if integral else _between(float(left), float(right))
    return Stump(int(feature), float(threshold), 1 if edge >= 0 else -1), abs(edge) / scale


def _between(left: float, right: float) -> float:
    """A number in (left, right]: their middle, or ``right`` where rounding would give ``left``."""
    middle = left / 2 + right / 2
    return middle if middle > left else right
