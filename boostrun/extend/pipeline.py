"""A user's feature family as a pipeline: see `boostrun.features` for the interface of pipelines.

A family is a function of images, (n, h, w) or (n, h, w, 3) uint8, or a table (n, d), and of its keys, that returns
columns, (n, d) numbers; or a class made from its keys, with ``__call__(images)`` that returns the same, and optional
``fit(images)`` (the training images) and ``families(d) -> [(name, start, stop)]``.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np

from boostrun import extend
from boostrun.digest import digest_now
from boostrun.errors import BoostrunError

DEFAULTS = {"class": "???", "given": None, "source": "???"}


@runtime_checkable
class Learning(Protocol):
    """A family that is fitted on the training images."""

    def fit(self, images: np.ndarray) -> Any:
        """Fit on the training images."""


@runtime_checkable
class InFamilies(Protocol):
    """A family whose columns are several families, one after the other."""

    def families(self, d: int) -> Sequence[tuple[str, int, int]]:
        """(name, start, stop) of each among ``d`` columns."""


def config_for(features: Mapping) -> Mapping:
    """The config of a user's family as `boostrun.features` takes it; other configs unchanged."""
    if "class" not in features:
        return features
    own = ("name", "class", "bins", "bin_samples")
    given = {key: value for key, value in features.items() if key not in own}
    source = digest_now([features["class"]])
    return {**{key: features[key] for key in own}, "pipeline": __name__, "given": given, "source": source}


def family(where: str, given: Mapping[str, Any]):
    """The family with its keys: callable on images alone."""
    thing = extend.obtain(where)
    if not inspect.isclass(thing):
        return functools.partial(thing, **given)
    made = extend.call(where, thing, **given)
    if not callable(made):
        raise BoostrunError(f"{where} is no feature family: a class needs __call__(images)")
    return made


class Own:
    """A user's family as a pipeline; its output must be (n, d) numbers."""

    def __init__(self, options: Mapping):
        self.name, self._where = options["name"], options["class"]
        self._family = family(self._where, options["given"] or {})

    def fit(self, images: np.ndarray) -> Own:
        """Pass the training images to a family that is fitted."""
        if isinstance(self._family, Learning):
            extend.call(self._where, self._family.fit, images)
        return self

    def __call__(self, images: np.ndarray) -> np.ndarray:
        """(n, d) float32 of n images; BoostrunError if the family fails or returns something else."""
        columns = np.asarray(extend.call(self._where, self._family, images))
        if columns.ndim != 2 or len(columns) != len(images) or columns.dtype.kind not in "biuf":
            raise BoostrunError(
                f"{self._where} made {columns.dtype} of the shape {columns.shape} of {len(images)} images; "
                "numbers of the shape (n, d) are needed"
            )
        return columns.astype(np.float32)

    def families(self, d: int) -> list[tuple[str, int, int]]:
        """(name, start, stop) of each family among the d features."""
        if not isinstance(self._family, InFamilies):
            return [(self.name, 0, d)]
        return [tuple(part) for part in extend.call(self._where, self._family.families, d)]

    def describe(self) -> str:
        return f"{self._where}, a family of your own"


Pipeline = Own
