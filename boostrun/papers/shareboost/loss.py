"""The multiclass logistic loss with a margin (Shalev-Shwartz, Wexler & Shashua 2011, section 1) and its residuals."""

from __future__ import annotations

import numpy as np

from boostrun.papers.shareboost.kernels.losses import exponents, shares


def losses(scores: np.ndarray, y: np.ndarray, margin: float = 1.0) -> np.ndarray:
    """l_i = ln sum_q exp(margin 1[q != y_i] - s_{i,y_i} + s_iq): (n,) float64, natural logarithm.

    Parameters: ``scores`` (n, k) float64; ``y`` (n,) int64, class numbers from 0; ``margin`` 1 in the paper, 0 for
    plain multinomial logistic regression. Finite for scores of any finite size. Cost O(n k), one exp an entry.

    >>> losses(np.zeros((1, 3)), np.array([0]))  # ln(1 + 2 e)
    array([1.8619948])
    """
    return _losses_and_shares(scores, y, margin)[0]


def residuals(scores: np.ndarray, y: np.ndarray, margin: float = 1.0) -> np.ndarray:
    """G_iq = rho_iq - 1[q = y_i], (n, k) float64, where rho_i are the normalised terms of the sum in :func:`losses`.

    n times the gradient of the mean loss by the scores; every row sums to 0. Parameters and cost as there.

    >>> residuals(np.zeros((1, 2)), np.array([0]), margin=0.0)
    array([[-0.5,  0.5]])
    """
    return losses_and_residuals(scores, y, margin)[1]


def loss_and_residuals(scores: np.ndarray, y: np.ndarray, margin: float = 1.0) -> tuple[float, np.ndarray]:
    """The mean of :func:`losses` and :func:`residuals` at the price of one of them."""
    each, rest = losses_and_residuals(scores, y, margin)
    return float(each.mean()), rest


def losses_and_residuals(scores: np.ndarray, y: np.ndarray, margin: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """:func:`losses` (n,) and :func:`residuals` (n, k) at the price of one of them."""
    each, shares = _losses_and_shares(scores, y, margin)
    shares[np.arange(len(y)), y] -= 1.0
    return each, shares


def _losses_and_shares(scores: np.ndarray, y: np.ndarray, margin: float) -> tuple[np.ndarray, np.ndarray]:
    """Losses (n,) and rho (n, k), laid out in memory as ``scores`` are."""
    if scores.flags.f_contiguous and not scores.flags.c_contiguous and scores.dtype == np.float64:
        return _of_class_major(scores.T, y, margin)
    rows = np.arange(len(y))
    terms = scores - (scores[rows, y] - margin)[:, None]
    terms[rows, y] = 0.0
    largest = terms.max(axis=1)
    terms -= largest[:, None]
    np.exp(terms, out=terms)
    summed = terms.sum(axis=1)
    terms /= summed[:, None]
    return largest + np.log(summed), terms


def _of_class_major(scores: np.ndarray, y: np.ndarray, margin: float) -> tuple[np.ndarray, np.ndarray]:
    """The same to the bit, of ``scores`` (k, n) in C order: two passes, with the exponentials between them."""
    terms, largest, summed = np.empty(scores.shape), np.empty(len(y)), np.empty(len(y))
    exponents(scores, y, margin, terms, largest)
    np.exp(terms, out=terms)
    shares(terms, summed)
    return largest + np.log(summed), terms.T
