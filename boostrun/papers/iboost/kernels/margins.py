"""Margins of the window's slots, one number each, and the weights that follow from them (Grbovic & Vucetic 2011).

Classifier j has q+ = 1 / (K - 1) on a slot where it is right and q- = -1 / (K - 1)^2 where it is wrong: 1 and -1 for
two classes, y f_j(x). All that weights need is z_i = sum_j b_j q_ji: w_i = exp(-z_i). With ``right`` (M, n) int8, +1 or
-1, q is ``middle + half * right``, where ``middle`` is (q+ + q-) / 2 and ``half`` (q+ - q-) / 2.
"""

from __future__ import annotations

import math

import numpy as np

from boostrun.kernels.compiled import kernel, part


@part
def margin_of(right, coefficients, size, slot, middle, half):
    """z of one slot, case (10). Cost m."""
    margin = 0.0
    for j in range(size):
        margin += coefficients[j] * (middle + half * right[j, slot])
    return margin


@kernel
def margins_of(right, coefficients, size, middle, half, margins):
    """``margins`` (n,) of all slots by the first ``size`` classifiers, case (6). Cost m n."""
    for i in range(margins.shape[0]):
        margins[i] = 0.0
    for j in range(size):
        base, step = coefficients[j] * middle, coefficients[j] * half
        for i in range(margins.shape[0]):
            margins[i] += base + step * right[j, i]


@part
def shift(right, j, coefficient, middle, half, margins):
    """z_i += coefficient * q_ji for all slots: classifier j is added, case (4), or goes, case (11). Cost n."""
    for i in range(margins.shape[0]):
        margins[i] += coefficient * (middle + half * right[j, i])


@kernel
def weigh(margins, mass, weights):
    """``weights`` (n,) w_i = mass_i exp(-z_i), divided by their sum; never the exponential of a raw margin."""
    least, total = np.inf, 0.0
    for i in range(margins.shape[0]):
        if mass[i] > 0.0:
            least = min(least, margins[i])
    for i in range(margins.shape[0]):
        weights[i] = mass[i] * math.exp(least - margins[i]) if mass[i] > 0.0 else 0.0
        total += weights[i]
    for i in range(margins.shape[0]):
        weights[i] /= total
