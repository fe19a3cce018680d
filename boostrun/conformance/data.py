"""Checks of data sets, streams and feature families: the same every time and everywhere, bad input refused."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from boostrun import extend
from boostrun.config import catalogue
from boostrun.conformance import (
    Check,
    Failed,
    Skipped,
    fails_with_a_sentence,
    in_a_worker,
    numpy_left_alone,
    plain_and_finite,
)
from boostrun.data.dataset import Parts, finish
from boostrun.data.options import loader_of
from boostrun.data.streams import draw
from boostrun.errors import BoostrunError, DataMissingError
from boostrun.extend import loader
from boostrun.extend.pipeline import InFamilies, Own
from boostrun.methods.declaration import obtain


def dataset_checks(dataset: Mapping[str, Any], data_root: Path) -> list[Check]:
    """All checks of a data set: its ``name`` in the catalogue, its keys, and its ``class`` if it is the user's."""
    return [
        Check("samples and labels that fit together, numbers, two classes", lambda: _accepted(dataset, data_root)),
        Check("the same every time", lambda: _repeated(dataset, data_root)),
        Check("the same in a worker process", lambda: _worker(dataset, data_root)),
        Check("its files are there", lambda: _files(dataset, data_root)),
        Check("bad input: a path that does not exist", lambda: _absent(dataset, data_root)),
    ]


def parts_of(dataset: Mapping[str, Any], data_root: Path) -> Parts:
    """Read the data set; raises Skipped if its files are missing."""
    if "class" in dataset:
        return loader.read_parts(dataset["class"], loader.given_to(dataset), data_root)
    try:
        loader_of(dataset).files(dataset, data_root)  # raises the error that names the missing file
        return loader_of(dataset).read(dataset, data_root)  # type: ignore[misc]
    except DataMissingError as missing:
        raise Skipped(f"its files are not there: {missing}") from None


def dataset_digest(dataset: Mapping[str, Any], data_root: Path) -> str:
    """sha256 (hex) of the arrays the data set returns."""
    return loader.content_digest(parts_of(dataset, data_root))


def _accepted(dataset: Mapping[str, Any], data_root: Path) -> None:
    finish(str(dataset["name"]), parts_of(dataset, data_root), "")


def _repeated(dataset: Mapping[str, Any], data_root: Path) -> None:
    with numpy_left_alone():
        first = dataset_digest(dataset, data_root)
    if first != dataset_digest(dataset, data_root):
        raise Failed("it returns other samples the second time: seed its random numbers by a key")


def _worker(dataset: Mapping[str, Any], data_root: Path) -> None:
    if dataset_digest(dataset, data_root) != in_a_worker(dataset_digest, dict(dataset), data_root):
        raise Failed("it returns other samples in another process")


def _files(dataset: Mapping[str, Any], data_root: Path) -> None:
    if "class" not in dataset:
        try:
            loader_of(dataset).files(dataset, data_root)
        except DataMissingError as missing:
            raise Skipped(str(missing)) from None
        return
    where = dataset["class"]
    if not loader.reads_files(extend.obtain(where)):
        raise Skipped("it has no files(data_root), so that what it returns is hashed at every command")
    if not loader.files({"class": where, "given": loader.given_to(dataset)}, data_root):
        raise Failed("files(data_root) names none")


def _absent(dataset: Mapping[str, Any], data_root: Path) -> None:
    paths = [name for name in dataset if name.endswith("path")]
    if not paths:
        raise Skipped("it has no key that ends in path")
    for name in paths:
        try:
            if "class" in dataset:
                parts = loader.read_parts(
                    dataset["class"], {**loader.given_to(dataset), name: "nowhere/nothing.absent"}, data_root
                )
            else:
                changed = {**dataset, name: "nowhere/nothing.absent"}
                loader_of(dataset).files(changed, data_root)
                parts = loader_of(dataset).read(changed, data_root)  # type: ignore[misc]
        except BoostrunError as error:
            if "nothing.absent" not in str(error):
                raise Failed(f"its error does not name the file: {error}") from error
        else:
            raise Failed(f"{name}=nowhere/nothing.absent gave {np.shape(parts.x_train)} samples")


_ROWS = 999  # examples of a block: no divisor of a round number


def drifting_checks(dataset: Mapping[str, Any], data_root: Path) -> list[Check]:
    """All checks of a stream: its ``name`` in the catalogue, and its keys."""
    drawn: dict[tuple, Any] = {}

    def stream(stream_seed: int = 1, holdout_seed: int = 2) -> Any:
        if (seeds := (stream_seed, holdout_seed)) not in drawn:
            drawn[seeds] = drawn_of(dataset, data_root, *seeds)
        return drawn[seeds]

    return [
        Check("examples and class numbers that fit together", lambda: _accepted_drifting(stream())),
        Check("changes that rise, a hold-out for each concept or none", lambda: _concepts(stream())),
        Check("blocks of any size hand out the same examples", lambda: _blocks(stream())),
        Check("same seeds, same stream", lambda: _repeated_drifting(dataset, data_root, stream())),
        Check("the same in a worker process", lambda: _worker_drifting(dataset, data_root, stream())),
        Check("another seed, another stream, on the same hold-outs", lambda: _seeds(dataset, data_root, stream)),
        Check("its facts are plain values", lambda: _facts(stream())),
    ]


def drawn_of(dataset: Mapping[str, Any], data_root: Path, stream_seed: int, holdout_seed: int) -> Any:
    """The stream; Skipped where its files are not there."""
    try:
        return draw(dataset, data_root, np.random.SeedSequence(stream_seed), np.random.SeedSequence(holdout_seed))
    except DataMissingError as missing:
        raise Skipped(f"its files are not there: {missing}") from None


def stream_digest(dataset: Mapping[str, Any], data_root: Path) -> str:
    """sha256 (hex) of the stream of the seeds 1 and 2, and of its hold-outs."""
    return _digest_of(drawn_of(dataset, data_root, 1, 2))


def _digest_of(stream: Any, examples: bool = True, holdouts: bool = True) -> str:
    total = hashlib.sha256()
    pairs = [*(stream.blocks(_ROWS) if examples else ()), *(stream.holdouts if holdouts else ())]
    for x, y in pairs:
        total.update(f"{x.dtype.str}{x.shape}{y.dtype.str}".encode())
        total.update(np.ascontiguousarray(x).tobytes())
        total.update(np.ascontiguousarray(y).tobytes())
    return total.hexdigest()


def _accepted_drifting(stream: Any) -> None:
    count = 0
    for x, y in [*stream.blocks(_ROWS), *stream.holdouts]:
        if x.ndim != 2 or y.shape != (len(x),):
            raise Failed(f"x of the shape {x.shape} and y of the shape {y.shape}: (n, d) and (n,) are needed")
        if x.dtype not in (np.float64, np.uint8) or y.dtype != np.int64:
            raise Failed(f"x of {x.dtype} and y of {y.dtype}: float64 or uint8, and int64 are needed")
        if not np.isfinite(x).all():
            raise Failed("some of x are NaN or infinite")
        if len(y) and not (y.min() >= 0 and y.max() < len(stream.classes)):
            raise Failed(f"y from {y.min()} to {y.max()}: these are places in classes, of which it has "
                         f"{len(stream.classes)}")  # fmt: skip
    for _, y in stream.blocks(_ROWS):
        count += len(y)
    if count != len(stream):
        raise Failed(f"its length is {len(stream)}, but it yields {count} examples")
    if len(stream.classes) < 2:
        raise Failed(f"classes={stream.classes!r}: two at least are needed")


def _concepts(stream: Any) -> None:
    changes = np.asarray(stream.changes)
    if (np.diff(changes) <= 0).any() or (changes < 0).any():
        raise Failed(f"changes={changes.tolist()} do not rise")
    if stream.holdouts and len(stream.holdouts) != len(changes) + 1:
        raise Failed(f"{len(changes)} changes make {len(changes) + 1} concepts, and there are {len(stream.holdouts)} "
                     "hold-outs")  # fmt: skip
    if stream.holdouts:
        concepts = np.asarray(stream.concept(np.arange(1, len(stream) + 1)))
        if concepts.min() < 0 or concepts.max() >= len(stream.holdouts):
            raise Failed(f"concept() goes from {concepts.min()} to {concepts.max()}, of {len(stream.holdouts)}")


def _blocks(stream: Any) -> None:
    for size in (1000, 7):
        one = [y for _, y in stream.blocks(size)]
        if any(len(y) > size for y in one):
            raise Failed(f"blocks({size}) gave {max(map(len, one))} examples at once")
        whole = np.concatenate([y for _, y in stream.blocks(max(len(stream), 1))])
        if not np.array_equal(np.concatenate(one), whole):
            raise Failed(f"blocks({size}) gave other labels than one block of all")


def _repeated_drifting(dataset: Mapping[str, Any], data_root: Path, stream: Any) -> None:
    with numpy_left_alone():
        again = stream_digest(dataset, data_root)
    if again != _digest_of(stream):
        raise Failed("two draws with the same seeds differ")


def _worker_drifting(dataset: Mapping[str, Any], data_root: Path, stream: Any) -> None:
    if in_a_worker(stream_digest, dict(dataset), data_root) != _digest_of(stream):
        raise Failed("drawn in another process it differs")


def _seeds(dataset: Mapping[str, Any], data_root: Path, stream: Callable) -> None:
    stream()  # skipped where its files are not there
    try:
        files = loader_of(dataset).files(dataset, data_root)
    except DataMissingError as missing:
        raise Skipped(f"its files are not there: {missing}") from None
    if files:
        raise Skipped("it is read from files: the same examples for every seed")
    if _digest_of(stream(1, 2), holdouts=False) == _digest_of(stream(3, 2), holdouts=False):
        raise Failed("it is generated, and another seed gives the same examples")
    if _digest_of(stream(1, 2), examples=False) != _digest_of(stream(3, 2), examples=False):
        raise Failed("its hold-outs change with the seed of the stream: rivals would be tested on different ones")


def _facts(stream: Any) -> None:
    if not plain_and_finite(dict(stream.facts)):
        raise Failed(f"facts={stream.facts!r}: plain values are needed")


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
        Check("the same every time", lambda: subject.each(_repeated_family)),
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
            made = obtain(catalogue.pipeline(self.features).target)(self.features)
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
    """The columns a family computes for images of a shape."""
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


def _repeated_family(make: Callable, images: np.ndarray) -> None:
    with numpy_left_alone():
        first = make(images)
    if not np.array_equal(first, make(images)):
        raise Failed("it makes other numbers of the same images")


def _untouched(make: Callable, images: np.ndarray) -> None:
    kept = images.copy()
    make(images)
    if not np.array_equal(kept, images):
        raise Failed("it writes into the images that it is given")
