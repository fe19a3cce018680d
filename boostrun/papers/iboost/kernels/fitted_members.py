"""Trees and logistic regressions that are fitted to a weighted window, and coefficients that follow their answers.

A window is X (n, d) float64 with class codes y (n,) int64, the oldest example first, and weights (n,) that sum to 1; an
example of weight w counts n w, so that a window counts n.
"""

from __future__ import annotations

import math

import numpy as np

from boostrun.kernels import hoeffding
from boostrun.kernels.plain import allocating_kernel, kernel, part
from boostrun.papers.iboost import window_committees as ocb
from boostrun.papers.iboost.kernels.incremental import winner


@kernel
def fit_tree(trees, j, X, y, weights, rules):
    """Tree j forgets, and meets the window once. Cost n lessons."""
    n = X.shape[0]
    hoeffding.forget(trees, j)
    for i in range(n):
        hoeffding.learn(trees, j, X[i], y[i], n * weights[i], rules)


@kernel
def answer_trees(trees, first, X, rules, said):
    """``said`` (m, k): what the trees from ``first`` on say of the rows of X (k, d). Cost O(m k (depth + K d))."""
    for j in range(said.shape[0]):
        for i in range(X.shape[0]):
            said[j, i] = hoeffding.answer(trees, first + j, X[i], rules)


@allocating_kernel
def fit_logistic(X, y, weights, n_classes, passes, rate, model):
    """Fill ``model`` (width,) with scores c + sum_r B_r x_r, a row of a Gaussian naive Bayes without squares.

    p = softmax(B z) of the classes with weight, z the features as the weighted window standardises them (0 where it has
    one value only) and a constant. ``passes`` times through the window each coefficient moves against its gradient
    g_cr = n w (p_c - 1[c = y]) z_r by AdaGrad's step ``rate`` g / sqrt(1 + sum g^2) (Duchi, Hazan & Singer 2011). A
    class that has all the weight always wins; of two classes the row has the second's score less the first's.
    Cost O(passes n K d).
    """
    n, d = X.shape
    mass, mean, scale = np.zeros(n_classes), np.zeros(d), np.zeros(d)
    beta, squares = np.zeros((n_classes, d + 1)), np.zeros((n_classes, d + 1))
    z, share, present = np.ones(d + 1), np.empty(n_classes), 0
    for i in range(n):
        mass[y[i]] += weights[i]
    for c in range(n_classes):
        present += 1 if mass[c] > 0.0 else 0
    for r in range(d):
        lowest, highest, spread = np.inf, -np.inf, 0.0
        for i in range(n):
            if weights[i] > 0.0:
                lowest, highest = min(lowest, X[i, r]), max(highest, X[i, r])
                mean[r] += weights[i] * X[i, r]
        for i in range(n):
            spread += weights[i] * (X[i, r] - mean[r]) ** 2
        scale[r] = 1.0 / math.sqrt(spread) if highest > lowest and spread > 0.0 else 0.0
    for _ in range(passes if present > 1 else 0):
        for i in range(n):
            if not weights[i] > 0.0:
                continue
            for r in range(d):
                z[r] = (X[i, r] - mean[r]) * scale[r]
            top, total = -np.inf, 0.0
            for c in range(n_classes):
                share[c] = 0.0
                for r in range(d + 1):
                    share[c] += beta[c, r] * z[r]
                if mass[c] > 0.0:
                    top = max(top, share[c])
            for c in range(n_classes):
                share[c] = math.exp(share[c] - top) if mass[c] > 0.0 else 0.0
                total += share[c]
            for c in range(n_classes):
                if mass[c] > 0.0:
                    slope = n * weights[i] * (share[c] / total - (1.0 if c == y[i] else 0.0))
                    for r in range(d + 1):
                        gradient = slope * z[r]
                        squares[c, r] += gradient * gradient
                        beta[c, r] -= rate * gradient / math.sqrt(1.0 + squares[c, r])
    _write_scores(beta, mass, mean, scale, present, model)


@part
def _write_scores(beta, mass, mean, scale, present, model):
    """Coefficients (K, d + 1) of standardised features as those of the features themselves."""
    n_classes, d = beta.shape[0], mean.shape[0]
    for i in range(model.shape[0]):
        model[i] = 0.0
    for c in range(n_classes):
        first = c * (1 + 2 * d) if n_classes > 2 else 0
        sign = 1.0 if n_classes > 2 or c == 1 else -1.0
        if mass[c] > 0.0:
            model[first] += sign * (beta[c, d] if present > 1 else 1.0)
            for r in range(d):
                slope = sign * beta[c, r] * scale[r]
                model[first] -= slope * mean[r]
                model[first + 1 + r] += slope
        elif n_classes > 2:
            model[first] = -np.inf


@allocating_kernel
def follow(said, y, n_classes, coefficients, positive, negative, sign, out):
    """Each row of a stream of which all members have answered, ``said`` (m, k): its class by the committee, ``out``
    (k,), then :func:`.ocb.update` of the coefficients. Cost O(m o) a row."""
    size = said.shape[0]
    votes, margins, offset = np.empty(n_classes), np.empty(size), 0.5 * math.log(n_classes - 1.0)
    for i in range(said.shape[1]):
        votes[:] = 0.0
        for j in range(size):
            votes[said[j, i]] += coefficients[j]
            margins[j] = 1.0 if said[j, i] == y[i] else -1.0
        out[i] = winner(votes)
        ocb.update(margins, positive, negative, coefficients, size, sign, offset)
