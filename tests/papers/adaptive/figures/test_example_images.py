"""Figure 3: the images that are shown, and the notes on missing data."""

import numpy as np
import pytest
from PIL import Image

from boostrun.errors import BoostrunError
from boostrun.papers.adaptive.figures import panels, tiled

RNG = np.random.default_rng(0)
TITLES = ["MNIST", "INRIA", "Caltech-101", "CIFAR-10"]


def paint(path, width, height):
    path.parent.mkdir(parents=True, exist_ok=True)
    pixels = RNG.integers(0, 256, (height, width, 3), np.uint8)
    Image.fromarray(pixels).save(path)
    return pixels


def keep(root, name, shape, labels, test=5):
    """<name>.npz of random images, the last of them for testing; returns the images."""
    root.mkdir(exist_ok=True)
    images = RNG.integers(0, 256, (len(labels), *shape), np.uint8)
    arrays = {"x_train": images[:-test], "y_train": labels[:-test], "x_test": images[-test:], "y_test": labels[-test:]}
    np.savez(root / f"{name}.npz", **arrays)
    return images


@pytest.fixture
def root(workplace):
    return workplace / "datasets"


def test_each_data_set_shows_the_images_of_the_paper(root):
    digits = np.concatenate([[3, 3], RNG.permutation(np.repeat(np.arange(10), 3)), np.arange(5)])
    mnist = keep(root, "mnist", (28, 28), digits)
    cifar = keep(root, "cifar10", (32, 32, 3), np.arange(45) % 10, test=10)
    tree = root / "INRIAPerson"
    inria = [paint(tree / "train_64x128_H96" / "pos" / f"{i:02}.png", 96, 160) for i in range(30)]
    for folder in ("train_64x128_H96/neg", "test_64x128_H96/neg", "test_64x128_H96/pos"):
        paint(tree / folder / "0.png", 70, 134)
    objects = [paint(root / f"caltech101/101_ObjectCategories/{c}/{i}.png", 96, 96) for c in "abc" for i in range(9)]
    paint(root / "caltech101/101_ObjectCategories/BACKGROUND_Google/0.png", 96, 96)

    shown, absent = panels(root)
    assert not absent and [panel.title.startswith(title) for panel, title in zip(shown, TITLES)] == [True] * 4
    for digit, image in enumerate(shown[0].images):
        assert (image == mnist[list(digits).index(digit)]).all()
    middles = [image[16:144, 16:80] for image in inria]
    assert len(shown[1].images) == 12
    assert all(any((image == middle).all() for middle in middles) for image in shown[1].images)
    assert (shown[1].images[0] == middles[0]).all() and (shown[1].images[-1] == middles[-1]).all()
    which = [next(i for i, other in enumerate(objects) if (image == other).all()) for image in shown[2].images]
    assert len(set(which)) == 20 and which != sorted(which)
    assert all((one == other).all() for one, other in zip(shown[2].images, panels(root)[0][2].images))
    assert (np.array(shown[3].images) == cifar[:20]).all()


def test_the_command_draws_what_is_there_and_says_what_is_not(command, root, workplace):
    code, out, _ = command("reproduce adaptive/figure3")
    picture = workplace / "results" / "adaptive" / "figure3" / "figure.png"
    empty = picture.read_bytes()
    assert code == 0 and out.count("missing: ") == 4 and "INRIAPerson.tar" in out and str(picture)[-30:] in out
    keep(root, "cifar10", (32, 32, 3), np.arange(45) % 10, test=10)
    code, out, _ = command("reproduce adaptive/figure3")
    with Image.open(picture) as image:
        assert code == 0 and image.width == 1200 and out.count("missing: ") == 3
    first = picture.read_bytes()
    assert first != empty and command("reproduce adaptive/figure3 results=again")[0] == 0
    assert (workplace / "again" / "adaptive" / "figure3" / "figure.png").read_bytes() == first
    (root / "mnist.npz").write_bytes(b"no archive")
    code, _, err = command("reproduce adaptive/figure3")
    assert code == 2 and "mnist.npz cannot be read" in err


def test_damaged_files_are_no_missing_ones(root):
    root.mkdir()
    (root / "cifar10.npz").write_bytes(b"no archive")
    with pytest.raises(BoostrunError, match=r"cifar10\.npz cannot be read"):
        panels(root)


def test_images_stand_in_rows_from_the_top_left_on_white():
    images = [np.full((4, 6, 3), value, np.uint8) for value in (10, 20, 30, 40, 50)]
    mosaic = tiled(images, columns=3)
    assert mosaic.shape == (2 * 4 + 1, 3 * 6 + 2, 3)
    places = [(0, 0), (0, 7), (0, 14), (5, 0), (5, 7)]
    for (top, left), image in zip(places, images):
        assert (mosaic[top : top + 4, left : left + 6] == image).all()
    assert (mosaic == 255).sum() == mosaic.size - 5 * 4 * 6 * 3
