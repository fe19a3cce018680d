"""Marks of parameters: a few of many stand for all of them in a quick run."""

import pytest


def slow_but(quick, values):
    """All of ``values``, which may be tuples of a test's arguments; those that are not in ``quick`` are slow."""
    return [value if value in quick else pytest.param(*_arguments(value), marks=pytest.mark.slow) for value in values]


def slow_after(count, values):
    """All of ``values``; those after the first so many are slow."""
    values = list(values)
    late = [pytest.param(*_arguments(value), marks=pytest.mark.slow) for value in values[count:]]
    return values[:count] + late


def _arguments(value):
    return value if isinstance(value, tuple) else (value,)
