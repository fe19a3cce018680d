"""Checks of features: numbers of a fixed width, of each image by itself, the same in every process."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from boostrun.config import catalogue
from boostrun.conformance import Check, Failed, Skipped, fails_with_a_sentence, in_a_worker, numpy_left_alone
from boostrun.errors import BoostrunError
from boostrun.extend.pipeline import InFamilies, Own

SHAPES = {"grey 28x28": (28, 28), "grey 12x20": (12, 20), "colour 32x32": (32, 32, 3), "table of 9": (9,)}
_IMAGES = 10


def family_checks(features: Mapping[str, Any]) -> list[Check]:
    """All checks of a family or pipeline: its ``name`` in the catalogue, its keys, and its ``class`` if it is a
    person's own; each shape of images is one, if it takes it.
    """
    subject = FamilySubject(features)
    return [
        *(Check(f"{name}: numbers, the same width", lambda name=name: subject.numbers(name)) for name in SHAPES),  # type: ignore[misc]
        Check("it takes images of some kind", subject.some),
        Check("each image by itself: blocks and order do not matter", lambda: subject.each(_by_itself)),
        Check("black, white and even images make numbers", lambda: subject.each(_even)),
        Check("the same every time", lambda: subject.each(_repeated)),
        Check("the images are left as they are", lambda: subject.each(_untouched)),
        Check("the same in a worker process", subject.worker),
        Check("its families cover all columns", subject.families),
        Check("bad input: no images but numbers in a row", subject.no_images),
    ]


class FamilySubject:
    """A family with its keys, and images to try it on: those shapes that it takes are found at first use."""

    def __init__(self, features: Mapping[str, Any]):
        self.features = dict(features)
        self.taken: dict[str, np.ndarray] = {}

    def made(self, images: np.ndarray) -> Any:
        """The family as the runner makes and fits it."""
        own = ("name", "class", "bins", "bin_samples")
        if "class" in self.features:
            given = {key: value for key, value in self.features.items() if key not in own}
            made: Any = Own({**{key: self.features[key] for key in own[:2]}, "given": given})
        else:
            module = importlib.import_module(catalogue.pipeline(self.features).module)
            made = module.Pipeline(self.features)
            made.n_jobs, made.progress = 1, False
        return made.fit(images) or made

    def numbers(self, name: str) -> None:
        """Failed where it makes no numbers of these images; Skipped where it refuses them with a sentence."""
        images = images_of(name)
        try:
            columns = self.made(images)(images)
        except BoostrunError as error:
            refusal = error.__cause__
            if refusal is None or isinstance(refusal, (ValueError, TypeError)):
                raise Skipped(f"it refuses them: {error}") from None
            raise
        if not columns.shape[1] or not np.isfinite(columns).all():
            raise Failed("no columns" if not columns.shape[1] else "some are NaN or infinite")
        self.taken[name] = images_of(name)  # as they were, whatever it did to them

    def some(self) -> None:
        if not self.taken:
            raise Failed(f"it takes none of {', '.join(SHAPES)}")

    def each(self, hold: Callable[[Callable, np.ndarray], None]) -> None:
        for images in self.taken.values():
            hold(self.made(images.copy()), images.copy())

    def worker(self) -> None:
        for name, images in list(self.taken.items())[:1]:
            there = in_a_worker(columns_of, self.features, name)
            if not np.array_equal(there, self.made(images)(images)):
                raise Failed("it makes other numbers in another process")

    def families(self) -> None:
        for images in self.taken.values():
            made = self.made(images)
            width = made(images).shape[1]
            if not isinstance(made, InFamilies):
                raise Skipped("it has no families(d): all its columns are one")
            parts = made.families(width)
            bounds = [0, *(stop for _, _, stop in parts)]
            if [start for _, start, _ in parts] != bounds[:-1] or bounds[-1] != width:
                raise Failed(f"{parts} are not the columns 0 to {width}, one after the other")

    def no_images(self) -> None:
        if "class" not in self.features:
            raise Skipped("a data set of such samples is refused before")
        row = np.arange(5, dtype=np.uint8)
        if not fails_with_a_sentence(lambda: self.made(row)(row)):
            raise Failed("they were accepted without a word")


def images_of(name: str) -> np.ndarray:
    """Ten images of a shape, uint8, always the same."""
    return np.random.default_rng(0).integers(0, 256, (_IMAGES, *SHAPES[name]), dtype=np.uint8)


def columns_of(features: Mapping[str, Any], name: str) -> np.ndarray:
    """What a family makes of the images of a shape."""
    images = images_of(name)
    return FamilySubject(features).made(images)(images)


def is_family(thing: Callable[..., Any]) -> bool:
    """Whether it is called with images: a function whose first parameter has that name, or a class that is called."""
    if inspect.isclass(thing):
        return any("__call__" in vars(base) for base in thing.__mro__)
    return next(iter(inspect.signature(thing).parameters), "") == "images"


def _by_itself(make: Callable, images: np.ndarray) -> None:
    whole = make(images)
    if not np.array_equal(whole, np.vstack([make(images[:3]), make(images[3:])])):
        raise Failed("an image has other numbers in another block of images")
    if not np.array_equal(whole[::-1], make(np.ascontiguousarray(images[::-1]))):
        raise Failed("an image has other numbers in another order of images")


def _even(make: Callable, images: np.ndarray) -> None:
    for value in (0, 7, 255):
        if not np.isfinite(make(np.full_like(images, value))).all():
            raise Failed(f"some are NaN or infinite where all pixels are {value}")


def _repeated(make: Callable, images: np.ndarray) -> None:
    with numpy_left_alone():
        first = make(images)
    if not np.array_equal(first, make(images)):
        raise Failed("it makes other numbers of the same images")


def _untouched(make: Callable, images: np.ndarray) -> None:
    kept = images.copy()
    make(images)
    if not np.array_equal(kept, images):
        raise Failed("it writes into the images that it is given")
