"""Test accuracy of a linear classifier on the whole CIFAR-10 bank of Coates & Ng; no time is asserted.

The literature has about 80 % with 1,600 atoms and an L2-SVM. Peak memory: two (d, d) float32 matrices, 1.3 GB at
d = 12,800, and blocks of samples; the bank is read from the disk about a hundred times.
"""

import time

import numpy as np
import pytest
from numba import njit
from scipy.linalg import blas, cho_factor, cho_solve

from boostrun.features import bank_key
from boostrun.features.bank import Bank
from tests.bench.timing import show
from tests.conftest import REAL_DATA

pytestmark = [pytest.mark.bench, pytest.mark.realdata]

RIDGES = (100.0, 300.0, 1000.0, 3000.0, 10000.0)
STEPS = 15  # of the L2-SVM, each one pass over the samples
BLOCK = 2000  # samples


@njit(cache=True, nogil=True)
def decode(codes, middles, out):
    """out[f, i] <- middles[f, codes[f, i]]"""
    for f in range(codes.shape[0]):
        for i in range(codes.shape[1]):
            out[f, i] = middles[f, codes[f, i]]


class Samples:
    """Samples start..stop of one part of a bank, each code as the middle of its bin; a column of ones at the end."""

    def __init__(self, bank, split, start, stop):
        last = bank.edges.max(axis=1, initial=0, where=np.isfinite(bank.edges), keepdims=True)
        edges = np.where(np.isinf(bank.edges), last, bank.edges)
        ends = edges[:, :1], edges[:, -1:]
        self.middles = (np.hstack([ends[0], edges]) + np.hstack([edges, ends[1]])) / np.float32(2)
        self.codes, self.places = bank.codes(split), range(start, stop, BLOCK)
        self.labels, self.stop, self.start = bank.labels(split)[start:stop], stop, start
        self.d = bank.n_features + 1

    def __iter__(self):
        """(slice of the labels, (d, n) float32) block by block."""
        for place in self.places:
            stop = min(place + BLOCK, self.stop)
            block = np.ones((self.d, stop - place), np.float32)
            decode(self.codes[:, place:stop], self.middles, block)
            yield slice(place - self.start, stop - self.start), block


def gram(samples, start=None):
    """x x' of all samples, upper triangle, (d, d) float32 in Fortran order; added to `start`."""
    total = np.zeros((samples.d, samples.d), np.float32, order="F") if start is None else start
    for _, block in samples:
        total = blas.ssyrk(1, block.T, beta=1, c=total, trans=1, overwrite_c=1)
    return total


def factor(matrix, ridge):
    """Cholesky factor of the Gram matrix plus `ridge` on its diagonal."""
    matrix = matrix.copy(order="F")
    matrix[np.diag_indices(len(matrix))] += np.float32(ridge)
    return cho_factor(matrix, overwrite_a=True, check_finite=False)


def accuracy(samples, weights):
    """Share of samples whose class has the largest score."""
    return float(np.mean(np.concatenate([(x.T @ weights).argmax(axis=1) for _, x in samples]) == samples.labels))


def one_vs_all(samples, classes):
    return np.where(samples.labels[:, None] == np.arange(classes), 1, -1).astype(np.float32)


def svm(samples, signs, factored, ridge, weights):
    """L2-SVM by majorisation: ridge regressions on targets that follow the scores beyond the margin."""
    for _ in range(STEPS):
        slope = -ridge * weights
        for part, x in samples:
            slope += x @ (signs[part] * np.maximum(1 - signs[part] * (x.T @ weights), 0))
        weights = weights + cho_solve(factored, slope, check_finite=False)
    return weights


def linear_check(bank, report=print):
    """The table of accuracies; ridges are chosen on the last fifth of the training samples."""
    n, n_test = len(bank.labels("train")), len(bank.labels("test"))
    fitted, held = Samples(bank, "train", 0, n * 4 // 5), Samples(bank, "train", n * 4 // 5, n)
    whole, test = Samples(bank, "train", 0, n), Samples(bank, "test", 0, n_test)
    begun = time.perf_counter()
    matrix, signs, found = gram(fitted), one_vs_all(fitted, len(bank.classes)), {}
    moment = sum(x @ signs[part] for part, x in fitted)
    for ridge in RIDGES:
        factored = factor(matrix, ridge)
        weights = cho_solve(factored, moment, check_finite=False)
        found[ridge] = accuracy(held, weights), accuracy(held, svm(fitted, signs, factored, ridge, weights))
        report(f"ridge {ridge:g}: held out {found[ridge][0]:.4f}, L2-SVM {found[ridge][1]:.4f}")
        del factored
    matrix, signs = gram(held, matrix), one_vs_all(whole, len(bank.classes))
    moment = sum(x @ signs[part] for part, x in whole)
    rows = []
    for kind, name in enumerate(("least squares", "L2-SVM")):
        ridge = max(RIDGES, key=lambda ridge, kind=kind: found[ridge][kind])
        factored = factor(matrix, ridge)
        weights = cho_solve(factored, moment, check_finite=False)
        if kind:
            weights = svm(whole, signs, factored, ridge, weights)
        del factored
        rows.append((f"{name}, ridge {ridge:g}: held out, test", f"{found[ridge][kind]:.4f}, "
                     f"{accuracy(test, weights):.4f}"))  # fmt: skip
    return [*rows, ("seconds", f"{time.perf_counter() - begun:.0f}")]


def test_a_linear_classifier_on_all_of_cifar_10(tmp_path):
    folder = REAL_DATA / "banks" / bank_key({"name": "cifar10"}, {"name": "coates_ng"}, REAL_DATA)
    if not (folder / "meta.json").is_file():
        pytest.skip(f"no CIFAR-10 bank of 1,600 atoms under {REAL_DATA}: boostrun dataset=cifar10 features=coates_ng")
    rows = linear_check(Bank(folder))
    assert all(float(said.rpartition(" ")[2]) > 0.7 for _, said in rows[:2])  # Coates & Ng have 0.796
    show("linear classifier on the codes of CIFAR-10", rows)
