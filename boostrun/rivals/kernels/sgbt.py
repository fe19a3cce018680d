"""Boosting of stream trees by gradients and Hessians (Gunasekara, Pfahringer, Gomes & Bifet 2024)."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from boostrun.kernels.compiled import allocating_kernel, kernel, part
from boostrun.rivals.kernels.regression_trees import TreeGrowth, has_room, leaf_of, learn, value

_LEAST_HESSIAN = 1e-16


class BoostingSettings(NamedTuple):
    """``rate`` eta; ``skip`` k: one example in k is not learnt; ``repeats`` R: an example is learnt ceil(R h) times,
    1: once; ``by_hessian``: it has the weight h, else 1; ``growth`` of the trees."""

    rate: float
    skip: int
    repeats: int
    by_hessian: bool
    growth: TreeGrowth


@part
def logistic(raw):
    """1 / (1 + e^-raw), without overflow."""
    if raw >= 0.0:
        return 1.0 / (1.0 + math.exp(-raw))
    grown = math.exp(raw)
    return grown / (1.0 + grown)


@kernel
def derivatives(raw, label):
    """(g, h) of the logistic loss at the score ``raw``, for a label of 0 or 1: p - y and p (1 - p), at least 1e-16."""
    p = logistic(raw)
    return p - label, max(p * (1.0 - p), _LEAST_HESSIAN)


@part
def boost_one(trees, x, label, settings, leaves):
    """All trees learn (x, label), each what those before it have left; ``leaves`` (T,) is where x comes to in each."""
    raw = 0.0
    for t in range(trees.roots.shape[0]):
        g, h = derivatives(raw, label)
        count = math.ceil(settings.repeats * h) if settings.repeats > 1 else 1.0
        if settings.by_hessian and settings.repeats == 1:
            gradient, hessian = count * g, count * h
        else:
            gradient, hessian = count * (g / h), count
        raw += settings.rate * learn(trees, t, x, leaves[t], count, gradient, hessian, settings.growth)


@allocating_kernel
def boost(X, y, positive, trees, settings, rng, first, scores):
    """Each row of X (n, d) from ``first`` on: its score by the trees into ``scores`` (n,), then the trees learn it.

    ``y`` (n,) int64, of which ``positive`` is label 1 and all others 0. Returns how many rows are
    done: fewer than n where the pools have no room for the next.
    """
    leaves = np.empty(trees.roots.shape[0], np.int64)
    for i in range(first, X.shape[0]):
        if not has_room(trees):
            return i
        raw = 0.0
        for t in range(trees.roots.shape[0]):
            leaves[t] = leaf_of(trees, trees.roots[t], X[i])
            raw += settings.rate * value(trees, leaves[t])
        scores[i] = raw
        if settings.skip == 1 or rng.random() * settings.skip >= 1.0:
            boost_one(trees, X[i], 1.0 if y[i] == positive else 0.0, settings, leaves)
    return X.shape[0]


@kernel
def score_rows(X, trees, rate, scores):
    """``scores`` (n,): the sum of what the trees say of each row of X (n, d), times ``rate``."""
    for i in range(X.shape[0]):
        raw = 0.0
        for t in range(trees.roots.shape[0]):
            raw += rate * value(trees, leaf_of(trees, trees.roots[t], X[i]))
        scores[i] = raw
