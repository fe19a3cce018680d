"""Quantile bins for values that are not codes already: fitted on few samples, applied to many."""

from __future__ import annotations

import numpy as np

from boostrun.kernels.quantise import fit_edges, quantise


class Binner:
    """At most ``bins`` quantile bins a feature; ``code >= c`` exactly when ``value >= edges[feature, c - 1]``.

    >>> binner = Binner(np.array([[1.0], [2.0], [4.0]]), bins=256)
    >>> binner.encode(np.array([[0.0], [1.5], [9.0]]))
    array([[0],
           [1],
           [2]], dtype=uint8)
    >>> binner.thresholds(np.array([0, 0]), np.array([1, 2]))
    array([1.5, 3. ])
    """

    def __init__(self, values: np.ndarray, bins: int = 256):
        self.edges = np.empty((values.shape[1], bins - 1), values.dtype)
        fit_edges(np.sort(np.ascontiguousarray(values.T), axis=1), self.edges)

    @classmethod
    def of(cls, edges: np.ndarray) -> Binner:
        """Bins with known ``edges`` (d, bins - 1), in increasing order, filled up with infinity."""
        binner = cls.__new__(cls)
        binner.edges = edges
        return binner

    def encode(self, values: np.ndarray) -> np.ndarray:
        """Codes (n, d) uint8 of values (n, d) of the dtype that the bins were fitted on. Cost O(n d log bins)."""
        codes = np.empty((values.shape[1], len(values)), np.uint8)
        quantise(np.ascontiguousarray(values), self.edges, codes)
        return np.ascontiguousarray(codes.T)

    def thresholds(self, features: np.ndarray, codes: np.ndarray) -> np.ndarray:
        """The value at which a feature's code becomes ``codes`` (any shape); minus infinity for code 0."""
        codes = codes.astype(np.intp)
        values = self.edges[features, np.maximum(codes - 1, 0)].astype(np.float64)
        return np.where(codes > 0, values, -np.inf)
