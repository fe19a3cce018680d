"""Coefficients of members that are shares: the nearest point of the simplex."""

from numba import njit


@njit(cache=True)
def project_on_simplex(point):
    """The nearest point with entries of at least 0 that sum to 1, in place (Michelot 1986).

    ``point`` (M,) float64. Entries under the common shift drop out until none does; the set shrinks every pass, two or
    three passes for a point that is near the simplex already. Cost O(M) a pass.
    """
    alive, total = point.shape[0], 0.0
    for j in range(point.shape[0]):
        total += point[j]
    shift = (total - 1.0) / alive
    while True:
        count, total = 0, 0.0
        for j in range(point.shape[0]):
            if point[j] > shift:
                count += 1
                total += point[j]
        if count >= alive or count == 0:  # rounding may let one back in
            break
        alive = count
        shift = (total - 1.0) / count
    for j in range(point.shape[0]):
        point[j] = max(point[j] - shift, 0.0)
