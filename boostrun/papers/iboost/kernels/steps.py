"""Steps of descent that move IBoost's coefficients, base classifiers fixed: equations (8) and (9).

The slope of coefficient j on slot i is q_ji min(exp(-z_i), cap); see :mod:`.drift_margins`, also for ``middle`` and
``half``. Coefficients are changed in place.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from boostrun.kernels.compiled import kernel, part, written_in
from boostrun.papers.iboost.kernels.margins import margin_of, margins_of

_LARGEST = 700.0  # exponents are kept this small: exp stays finite


@written_in
def _slope(margin, cap):
    """min(exp(-z), cap), the exponent kept finite."""
    return min(math.exp(min(max(-margin, -_LARGEST), _LARGEST)), cap)


@kernel
def step_newest(right, coefficients, size, slot, margins, middle, half, n_steps, eta, cap):
    """b steps of (9) on the newest example in one: each moves its margin by eta w sum_j q_j^2."""
    squares, margin, moved = 0.0, margins[slot], 0.0
    for j in range(size):
        squares += (middle + half * right[j, slot]) ** 2
    for _ in range(n_steps):
        step = eta * _slope(margin, cap)
        moved += step
        margin += squares * step
    for j in range(size):
        coefficients[j] += moved * (middle + half * right[j, slot])
    margins[slot] = margin


@part
def step_random(right, coefficients, size, mass, random, middle, half, n_steps, eta, cap):
    """b steps of (9), each on an example drawn from those in use: ``mass`` (n,) is not 0."""
    for _ in range(n_steps):
        slot = _draw(random, mass.shape[0])
        while mass[slot] == 0.0:
            slot = _draw(random, mass.shape[0])
        step = eta * _slope(margin_of(right, coefficients, size, slot, middle, half), cap)
        for j in range(size):
            coefficients[j] += step * (middle + half * right[j, slot])


@part
def _draw(random, n):
    """A whole number below n, uniform; ``random`` (1,) uint64 is the state of splitmix64."""
    random[0] += np.uint64(0x9E3779B97F4A7C15)
    z = random[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return int((z >> np.uint64(11)) * (1.0 / 9007199254740992.0) * n)


@kernel
def step_batch(right, coefficients, size, mass, middle, half, n_steps, eta, cap, log, sums):
    """b steps of (8): all coefficients at once, F before the step. ``log`` divides by the cost and has no cap: descent
    on ln E. ``sums`` (n,) is scratch. Cost 2 b m n."""
    for _ in range(n_steps):
        margins_of(right, coefficients, size, middle, half, sums)
        least, total = 0.0, 0.0
        if log:
            least = np.inf
            for i in range(sums.shape[0]):
                if mass[i] > 0.0:
                    least = min(least, sums[i])
        for i in range(sums.shape[0]):
            sums[i] = mass[i] * _slope(sums[i] - least, np.inf if log else cap)
            total += sums[i]
        step = eta / total if log else eta
        for j in range(size):
            coefficients[j] += step * (middle * total + half * _product(right, j, sums))


@njit(cache=True, fastmath={"reassoc"}, no_cfunc_wrapper=True, no_cpython_wrapper=True)  # type: ignore[call-overload]
def _product(right, j, sums):
    """sum_i right_ji sums_i, in any order."""
    out = 0.0
    for i in range(sums.shape[0]):
        out += right[j, i] * sums[i]
    return out
