"""The 33 feature families of the Caltech-101 experiments (Dubout & Fleuret, JMLR 15, 2014), and their pipeline.

The paper takes the features of Gehler & Nowozin (ICCV 2009): PHOG, visual words, region covariances, local binary
patterns and V1S+, one family a level of a spatial pyramid; its 360,630 values were computed beforehand and their exact
definitions are not printed. These have 336,640, for images of any size.

A group of families is computed together: an object with `kinds`, {kind: number of features of each of its families};
`describe()`, one sentence; and `__call__(images, kinds)`, which yields (kind, (n, d) float32) for some of its kinds and
images (n, h, w) or (n, h, w, 3) uint8. Its values for an image depend on that image alone (and on codebooks), to the
last bit. "Grey" is as in `boostrun.papers.adaptive.families`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import accumulate, pairwise
from math import prod
from typing import NamedTuple, Protocol

import numpy as np

from boostrun.config import defaults
from boostrun.data.options import in_range
from boostrun.errors import BoostrunError
from boostrun.features.hog import as_colour, require_images
from boostrun.features.store import NoJournal, Progress
from boostrun.papers.adaptive.classifier import chosen
from boostrun.papers.adaptive.groups.filters import Covariance, V1s
from boostrun.papers.adaptive.groups.pyramid import (
    PATCHES,
    LbpHistograms,
    Phog,
    ScaledWords,
    VisualWords,
    cluster,
    sample,
)

LEAST = 16  # pixels of the shorter side: one patch of the SIFT descriptors
DEFAULTS = defaults("features", "families33")
_PARTS = ("codebooks", "covariance", "dense_sift", "lbp", "phog", "pyramid", "v1s", "visual_words")
SOURCES = ("boostrun.features.bank:FirstSplit",)
_PIXELS = 1 << 15  # of the images that a thread works on at a time: its arrays stay below about 100 MiB


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


# -- the pipeline ------------------------------------------------------------------------------------------------------


class Families33:
    """The families of `boostrun.papers.adaptive.groups`, one after the other; 336,640 features of any images.

    Images must be at least 16x16 pixels, and Caltech-101 should be loaded larger than by default: dataset.size=150 is
    that of the V1-like model. The visual words are learned: codebooks come from training images only, without labels.
    With codebook=shared they are those of the training images of the data set's split 0, for all its splits, as the
    published features were made once for all; then a codebook may have seen test images of another split.
    codebook=per_split is the strict variant. Only codebooks are learned.

    Parameters
    ----------
    options : mapping with `only`, names of families or None for all; `codebook`, "shared" or "per_split";
        `descriptors`, how many patches a codebook is learned on; `size`, to which images are resized first, or None

    Attributes
    ----------
    n_jobs : int, threads; the result does not depend on it
    saved : journal (`boostrun.features.store`) in which `fit` keeps each codebook of its own
    first_split : `boostrun.features.bank.FirstSplit` or None; with it, shared codebooks are taken from there,
        without it they are learned on the images given to `fit`

    >>> options = {"only": ["covariance_0"], "codebook": "shared", "descriptors": 10, "size": None}
    >>> Families33(options)(np.zeros((2, 16, 16), np.uint8)).shape
    (2, 28)
    """

    name = "families33"

    def __init__(self, options: Mapping):
        if options["codebook"] not in ("shared", "per_split"):
            raise BoostrunError(f"features.codebook must be shared or per_split, not {options['codebook']!r}")
        in_range(options, "features", "descriptors", 1)
        if options["size"] is not None:
            in_range(options, "features", "size", LEAST)
        self.options = dict(options)
        chosen = choose(options["only"])
        bounds = accumulate((family.stop - family.start for family in chosen), initial=0)
        self._places: list[tuple[Member, int, int]] = [(f, *bound) for f, bound in zip(chosen, pairwise(bounds))]
        self._groups = []  # (group, those of its kinds that are needed)
        for group in make_groups():
            if kinds := [kind for kind in group.kinds if any(family.kind == kind for family in chosen)]:
                self._groups.append((group, kinds))
        self.n_jobs, self.progress, self.saved, self.first_split = 1, False, NoJournal(), None

    def fit(self, images: np.ndarray) -> Families33:
        """Learn the codebooks of training images, (n, h, w) or (n, h, w, 3) uint8, or take the shared ones."""
        self._require(images)
        if self.options["codebook"] == "shared" and self.first_split is not None:
            with self.first_split.kept() as kept:
                self._learn(lambda: self.first_split.images(images), kept)
        else:
            self._learn(lambda: images, self.saved)
        return self

    def __call__(self, images: np.ndarray) -> np.ndarray:
        """(n, h, w) or (n, h, w, 3) uint8 -> (n, d) float32; each image by itself, so blocks do not matter."""
        self._require(images)
        features = np.empty((len(images), self._places[-1][2]), dtype=np.float32)

        def work(start: int, stop: int, here: np.ndarray) -> None:
            for group, kinds in self._groups:
                for kind, values in group(here, kinds):
                    for family, first, last in self._places:
                        if family.kind == kind:
                            features[start:stop, first:last] = values[:, family.start : family.stop]

        self._in_chunks(images, work, np.arange(len(images)))
        return features

    def families(self, d: int) -> list[tuple[str, int, int]]:
        """(name, start, stop) of each family among the d features."""
        return [(family.name, first, last) for family, first, last in self._places]

    def describe(self) -> str:
        """One line; after `fit` with the sha256 of the codebooks, so that a bank holds it."""
        text = "the 33 feature families of Caltech-101 (Dubout & Fleuret 2014, after Gehler & Nowozin 2009)"
        if len(self._places) < len(NAMES):
            text = f"{', '.join(family.name for family, *_ in self._places)} of {text}"
        words = [group.codebooks[kind] for group, kind in self._codebooks() if kind in group.codebooks]
        if not words:
            return text
        digest = hashlib.sha256()
        for array in words:
            digest.update(np.ascontiguousarray(array, dtype="<f4"))  # type: ignore[arg-type]
        return f"{text}; {self.options['codebook']} codebooks {digest.hexdigest()[:16]}"

    def _codebooks(self):
        """The groups that need codebooks, once for each kind."""
        return [(group, kind) for group, kinds in self._groups if hasattr(group, "codebooks") for kind in kinds]

    def _learn(self, training: Callable[[], np.ndarray], kept) -> None:
        """Set all codebooks: from those kept, else from the images that `training()` gives."""
        wanted, vectors = self._codebooks(), {}
        for group, kind in wanted:
            if (known := kept.load(f"codebook_{kind}")) is not None:
                group.codebooks[kind] = known["words"]
        missing = [(group, kind) for group, kind in wanted if kind not in group.codebooks]
        if not missing:
            return
        images, most = training(), self.options["descriptors"]
        in_chunks = partial(self._in_chunks, images)
        with Progress("codebooks", len(wanted), self.progress, "codebooks", len(wanted) - len(missing)) as progress:
            for group, kind in missing:
                if group.colour not in vectors:  # one colour at a time: up to 150 MiB with 100,000 descriptors
                    vectors = {group.colour: sample(len(images), self._size(images), group.colour, most, in_chunks)}
                words = cluster(vectors[group.colour], group.words[kind])
                kept.save(f"codebook_{kind}", words=words)
                group.codebooks[kind] = words
                progress.advance(1)

    def _size(self, images: np.ndarray) -> tuple[int, int]:
        """Height and width of images when they are resized."""
        return (self.options["size"],) * 2 if self.options["size"] else images.shape[1:3]

    def _in_chunks(self, images: np.ndarray, work: Callable, which: np.ndarray) -> None:
        """work(start, stop, images[which[start:stop]]) for chunks of images, resized, in threads."""
        from joblib import Parallel, delayed
        from threadpoolctl import threadpool_limits

        size = self.options["size"]
        step = max(1, _PIXELS // prod(self._size(images)))

        def chunk(start: int) -> None:
            stop = min(start + step, len(which))
            here = np.asarray(images[which[start:stop]])
            work(start, stop, as_colour(here, size) if size else here)

        starts = range(0, len(which), step)
        with threadpool_limits(1, user_api="blas"):  # a product that is cut among threads is rounded otherwise
            if self.n_jobs == 1 or len(starts) < 2:
                for start in starts:
                    chunk(start)
            else:
                Parallel(n_jobs=self.n_jobs, backend="threading")(delayed(chunk)(start) for start in starts)

    def _require(self, images: np.ndarray) -> None:
        require_images(images, self.name, (1, 1))
        if min(self._size(images)) < LEAST:
            raise BoostrunError(
                f"features={self.name} needs images of at least {LEAST}x{LEAST} pixels; these are "
                f"{images.shape[1]}x{images.shape[2]} (features.size={LEAST} or more resizes them)"
            )
        if images.dtype != np.uint8 or images.shape[3:] not in ((), (3,)):
            raise BoostrunError(
                f"features={self.name} takes images (n, h, w) or (n, h, w, 3) of uint8, not {images.dtype} of the "
                f"shape {images.shape}"
            )


class Families33Scales(Families33):
    """The same, with visual words of patches of four sizes, for images of about 300 pixels: `dataset.size=300`.

    >>> options = {"only": ["covariance_0"], "codebook": "shared", "descriptors": 10, "size": None}
    >>> Families33Scales(options)(np.zeros((2, 16, 16), np.uint8)).shape
    (2, 28)
    """

    name = "families33_scales"

    def __init__(self, options: Mapping):
        super().__init__(options)
        self._groups = [
            (ScaledWords(group.colour) if isinstance(group, VisualWords) else group, kinds)
            for group, kinds in self._groups
        ]

    def describe(self) -> str:
        """One line; after `fit` with the sha256 of the codebooks."""
        return f"{super().describe()}; words of patches of {', '.join(map(str, PATCHES))} pixels"


Pipeline = Families33
