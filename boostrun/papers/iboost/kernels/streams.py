"""Centroids that move while examples are drawn around them."""

from __future__ import annotations

from numba import njit


@njit(cache=True, nogil=True)
def add_moving_centres(x, of, centres, velocities, speed):
    """Before each example the centroids move; then x[k] += centres[of[k]].

    A centroid moves by velocity times speed in each coordinate; one beyond 1 (below 0) is set to 1 (0), and that
    velocity changes its sign.

    Parameters
    ----------
    x : float64, (n, d), changed
    of : int64, (n,), the centroid of each example
    centres : float64, (c, d), moved
    velocities : float64, (v, d), of the first v centroids, changed
    speed : float

    Cost: n v d additions.
    """
    for k in range(x.shape[0]):
        for i in range(velocities.shape[0]):
            for j in range(x.shape[1]):
                moved = centres[i, j] + velocities[i, j] * speed
                if moved > 1.0:
                    moved = 1.0
                    velocities[i, j] = -velocities[i, j]
                elif moved < 0.0:
                    moved = 0.0
                    velocities[i, j] = -velocities[i, j]
                centres[i, j] = moved
        for j in range(x.shape[1]):
            x[k, j] += centres[of[k], j]
