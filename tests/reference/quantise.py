"""Slow, obvious twins of boostrun.kernels.stumps."""

import numpy as np


def fit_edges(column, bins):
    """Edges of one float32 column, in increasing order."""
    column = np.sort(np.asarray(column, dtype=np.float32))
    values = np.unique(column)
    if len(values) <= bins:
        starts = [int(np.searchsorted(column, value)) for value in values[1:]]
    else:  # for each quantile the last place, not after it, where the value changes
        wanted = [k * len(column) // bins for k in range(1, bins)]
        starts = [int(np.searchsorted(column, column[i])) for i in wanted]
        starts = sorted({s for s in starts if s > 0})
    edges = []
    for start in starts:
        below, above = column[start - 1], column[start]
        middle = np.float32((float(below) + float(above)) / 2)
        edges.append(middle if middle > below else above)
    return np.array(edges, dtype=np.float32)


def quantise(values, edges):
    """Codes (d, n) of values (n, d), with one list of edges for each feature."""
    return np.array(
        [[sum(edge <= value for edge in edges[f]) for value in values[:, f]] for f in range(values.shape[1])]
    )
