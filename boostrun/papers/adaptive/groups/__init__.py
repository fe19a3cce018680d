"""The 33 feature families of the Caltech-101 experiments (Dubout & Fleuret, JMLR 15, 2014), in six groups.

The paper takes the features of Gehler & Nowozin (ICCV 2009): PHOG, visual words, region covariances, local binary
patterns and V1S+, one family a level of a spatial pyramid; its 360,630 values were computed beforehand and their exact
definitions are not printed. These have 336,640, for images of any size.

A group of families is computed together: an object with `kinds`, {kind: number of features of each of its families};
`describe()`, one sentence; and `__call__(images, kinds)`, which yields (kind, (n, d) float32) for some of its kinds and
images (n, h, w) or (n, h, w, 3) uint8. Its values for an image depend on that image alone (and on codebooks), to the
last bit. "Grey" is as in `boostrun.papers.adaptive.families`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple, Protocol

import numpy as np

from boostrun.papers.adaptive.classifier import chosen
from boostrun.papers.adaptive.groups.filters import Covariance, V1s
from boostrun.papers.adaptive.groups.pyramid import LbpHistograms, Phog, VisualWords

LEAST = 16  # pixels of the shorter side: one patch of the SIFT descriptors


class Group(Protocol):
    """The interface of a group."""

    kinds: dict[str, tuple[int, ...]]

    def describe(self) -> str: ...

    def __call__(self, images: np.ndarray, kinds: Sequence[str]) -> Iterator[tuple[str, np.ndarray]]: ...


class Member(NamedTuple):
    """A family: columns `start` to `stop` of the array its group yields for its kind."""

    name: str
    kind: str
    start: int
    stop: int


def make_groups() -> tuple[Group, ...]:
    """All groups, in the order of the families; codebooks are still to be set."""
    return Phog(), VisualWords("gray"), VisualWords("hsv"), Covariance(), LbpHistograms(), V1s()  # type: ignore[return-value]


def _families() -> Iterator[Member]:
    for group in make_groups():
        for kind, widths in group.kinds.items():
            for level, (start, stop) in enumerate(pairwise(accumulate(widths, initial=0))):
                yield Member(f"{kind}_{level}" if len(widths) > 1 else kind, kind, start, stop)


FAMILIES = tuple(_families())
NAMES = tuple(family.name for family in FAMILIES)


def choose(only: Sequence[str] | str | None) -> tuple[Member, ...]:
    """The families of these names, in the order of `FAMILIES`; all of them for None.

    Raises
    ------
    BoostrunError
        A name that is none, or no name at all.

    >>> [family.name for family in choose(["v1s", "lbp_0"])]
    ['lbp_0', 'v1s']
    """
    return chosen(FAMILIES, only)
