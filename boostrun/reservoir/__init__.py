"""Reservoir boosting (Lefakis & Fleuret, NIPS 2013): training on a stream while holding r + q samples."""

from __future__ import annotations

__all__ = ["ReservoirClassifier"]


def __getattr__(name: str):
    if name == "ReservoirClassifier":
        from .classifier import ReservoirClassifier

        return ReservoirClassifier
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
