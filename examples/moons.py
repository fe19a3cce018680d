"""A data set of your own: two half moons that reach into each other.

It is a function. boostrun reads its keys off the parameters, splits what it returns by class, and hashes it, so that
records are stale when it changes. For a split of your own return x_train, y_train, x_test, y_test.
"""

import numpy as np


def moons(n: int = 600, noise: float = 0.15, seed: int = 0):
    """n points in the plane, (n, 2), and which of the moons each is of."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    angle = rng.uniform(0, np.pi, n)
    x = np.column_stack([np.cos(angle), np.sin(angle)])
    x[y == 1] = (1, 0.5) - x[y == 1]
    return x + noise * rng.standard_normal(x.shape), y
