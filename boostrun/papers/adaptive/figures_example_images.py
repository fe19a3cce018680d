"""Dubout & Fleuret 2014, Figure 3: images of the data sets, as the loaders give them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from boostrun.data import caltech101, inria, load
from boostrun.data.files import read_image
from boostrun.errors import DataMissingError
from boostrun.papers.adaptive.figures_mosaic import Panel, mosaic_figure

_PEOPLE, _OBJECTS, _FIRST = 12, 20, 20
_SIZE = 96  # pixels of the sides that images of Caltech-101 are brought to


def draw_example_images(folder: Path, data_root: Path) -> str:
    """Dubout & Fleuret 2014, Figure 3, of the data sets that are there, as figure.png in ``folder``; returns what to
    tell.

    Raises BoostrunError when the folder cannot be written, or a data set is damaged.
    """
    shown, absent = panels(data_root)
    mosaic_figure(shown, folder / "figure.png")
    return "\n".join([*(f"missing: {what}" for what in absent), f"written: {folder}/figure.png"])


def panels(data_root: Path) -> tuple[list[Panel], list[str]]:
    """A panel for each data set, and for each whose files are not there what belongs where.

    Raises BoostrunError where files are there but damaged.
    """
    shown, absent = [], []
    for name, title, images in _PANELS:
        try:
            shown.append(Panel(title, images(data_root)))
        except DataMissingError as missing:
            shown.append(Panel(title, [], f"data not there: boostrun data {name} says which files belong where"))
            absent.append(str(missing))
    return shown, absent


def _digits(data_root: Path) -> list[np.ndarray]:
    """The first training image of each digit."""
    data = load({"name": "mnist"}, data_root)
    return [data.x_train[np.flatnonzero(data.y_train == digit)[0]] for digit in range(len(data.classes))]


def _inria_people(data_root: Path) -> list[np.ndarray]:
    people = [path for name, path in inria.files({"name": "inria"}, data_root).items() if name.startswith("train/pos/")]
    return [inria.centre(path) for path in _spread(people)]


def _pedestrians(data_root: Path) -> list[np.ndarray]:
    data = load({"name": "pedestrians"}, data_root)
    return [data.x_train[i] for i in _spread(np.flatnonzero(data.y_train == data.classes.index("person")))]


def _spread(items) -> list:
    """A few of many, evenly: neighbours are often mirror images."""
    return [items[at] for at in np.unique(np.linspace(0, len(items) - 1, _PEOPLE).astype(int))]


def _objects(data_root: Path) -> list[np.ndarray]:
    """Random images, the same every time."""
    paths = list(caltech101.files({"name": "caltech101"}, data_root).values())
    chosen = np.random.default_rng(0).permutation(len(paths))[:_OBJECTS]
    return [read_image(paths[i], (_SIZE, _SIZE)) for i in chosen]


def _first(data_root: Path) -> list[np.ndarray]:
    return list(load({"name": "cifar10"}, data_root).x_train[:_FIRST])


_PANELS: tuple[tuple[str, str, Callable[[Path], list[np.ndarray]]], ...] = (
    ("mnist", "MNIST: the first image of each digit", _digits),
    ("inria", "INRIA: people", _inria_people),
    ("pedestrians", "pedestrians, a stand-in for INRIA made of other backgrounds: people", _pedestrians),
    ("caltech101", "Caltech-101: random images", _objects),
    ("cifar10", "CIFAR-10: the first images", _first),
)
