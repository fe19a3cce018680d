"""Chars74K's fonts in the published layout, and MNIST with elastic and affine distortions."""

import shutil

import numpy as np
import pytest
from PIL import Image
from scipy.ndimage import affine_transform, gaussian_filter, map_coordinates

from boostrun.data import checksum, describe, load
from boostrun.errors import BoostrunError, DataMissingError
from boostrun.papers.shareboost import mnist_expanded
from boostrun.papers.shareboost.mnist_expanded import distorted, matrix, transformed


@pytest.fixture
def fonts(tmp_path):
    """36 characters of ten fonts, 16x16 pixels; the grey of a glyph tells its sample and font."""
    for sample in range(1, 37):
        folder = tmp_path / "English" / "Fnt" / f"Sample{sample:03d}"
        folder.mkdir(parents=True)
        for font in range(1, 11):
            pixels = np.full((16, 16), 4 * sample + font, np.uint8)
            Image.fromarray(pixels).save(folder / f"img{sample:03d}-{font:05d}.png")
    return tmp_path


def fonts_of(images, labels, classes):
    samples = np.array(["0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ".index(classes[label]) + 1 for label in labels])
    return set((255 - images[:, 0, 0].astype(int) - 4 * samples).tolist())


def test_glyphs_are_split_by_font_and_ink_is_high(fonts):
    data = load({"name": "chars74k", "size": 8}, fonts)
    assert data.x_train.shape == (36 * 6, 8, 8) and data.x_test.shape == (36 * 4, 8, 8)
    train = fonts_of(data.x_train, data.y_train, data.classes)
    test = fonts_of(data.x_test, data.y_test, data.classes)
    assert train | test == set(range(1, 11)) and not train & test and len(test) == 4
    assert data.classes[:2] == ("0", "1") and data.classes[-1] == "Z"


def test_another_seed_splits_otherwise_and_fewer_classes_keep_the_fonts(fonts):
    one, two, few = (
        load({"name": "chars74k", **more}, fonts) for more in ({}, {"split_seed": 1}, {"classes": 2, "class_order": 4})
    )
    tests = [fonts_of(data.x_test, data.y_test, data.classes) for data in (one, two, few)]
    assert tests[0] != tests[1] and tests[0] == tests[2] and len(few.classes) == 2
    assert checksum({"name": "chars74k"}, fonts) != checksum({"name": "chars74k", "classes": 2}, fonts)


def test_absent_odd_and_too_few_glyphs_are_a_sentence(fonts):
    with pytest.raises(DataMissingError, match=r"Sample001/img001-00001\.png"):
        load({"name": "chars74k"}, fonts / "elsewhere")
    folder = fonts / "English" / "Fnt"
    (folder / "Sample003" / "img003-00001.png").rename(folder / "Sample003" / "other.png")
    with pytest.raises(BoostrunError, match=r"other\.png is not named imgSSS-FFFFF"):
        load({"name": "chars74k"}, fonts)
    for path in folder.rglob("*.png"):
        if not path.stem.endswith("00001"):
            path.unlink()
    with pytest.raises(BoostrunError, match="finds 1 fonts"):
        load({"name": "chars74k"}, fonts)


def test_the_classes_are_those_that_are_there_and_the_others_are_told(fonts):
    for absent in ("Sample019", "Sample025"):  # I and O, which some copies lack
        shutil.rmtree(fonts / "English" / "Fnt" / absent)
    data = load({"name": "chars74k", "size": 8}, fonts)
    assert "".join(data.classes) == "0123456789ABCDEFGHJKLMNPQRSTUVWXYZ"
    assert "chars74k without I, O" in describe({"name": "chars74k"}, fonts)
    with pytest.raises(BoostrunError, match="classes=35: chars74k without I, O has from 2 to 34 of them"):
        load({"name": "chars74k", "classes": 35}, fonts)


def digits(n=6, size=20):
    return np.random.default_rng(1).integers(0, 256, (n, size, size), dtype=np.uint8)


def test_a_distortion_equals_its_twin():
    images = digits()
    made = distorted(images, 10, 2, 34.0, 4.0, seed=5)
    noise = np.random.default_rng([5, 13]).random((2, 2, 20, 20), dtype=np.float32)  # of image 3 of these
    down, right = (34 * gaussian_filter(2.0 * field - 1, 4, mode="constant", truncate=4) for field in noise[1])
    places = np.indices((20, 20)) + np.stack([down, right])
    padded = np.pad(images[3].astype(float), 40)  # map_coordinates itself knows no half of a pixel beyond the border
    expected = map_coordinates(padded, places + 40, order=1)
    assert abs(made[1, 3] - expected).max() <= 0.51 and np.abs(made[1, 3].astype(int) - images[3]).mean() > 10


def test_distortions_depend_on_the_image_and_the_seed_alone():
    images = digits()
    whole = distorted(images, 0, 3, 34.0, 4.0, seed=0)
    np.testing.assert_array_equal(whole[:2, 2:4], distorted(images[2:4], 2, 2, 34.0, 4.0, seed=0))
    assert (whole != distorted(images, 0, 3, 34.0, 4.0, seed=1)).any()
    np.testing.assert_array_equal(distorted(images, 0, 1, 0.0, 4.0, seed=0)[0], images)


def test_displacements_have_the_size_that_was_published():
    inner = []
    for seed in range(300):
        noise = 2 * np.random.default_rng([0, seed]).random((28, 28)) - 1
        smooth = mnist_expanded._smoothing(28, 4.0)
        inner.append((34 * smooth @ noise @ smooth.T)[8:20, 8:20])
    assert 1.25 < np.sqrt(np.mean(np.square(inner))) < 1.45  # pixels


MOST = (np.deg2rad(12), 0.12, 0.12, 0.12)


def test_an_affine_distortion_equals_scipys():
    images = digits()
    made = transformed(images, 3, MOST, seed=5)
    drawn = np.random.default_rng([5, 2]).uniform(-1, 1, (3, 4)) * MOST  # of image 2
    for copy, numbers in enumerate(drawn):
        m, centre = matrix(*numbers), np.full(2, 9.5 + 40)
        padded = np.pad(images[2].astype(float), 40)
        expected = affine_transform(padded, m, centre - m @ centre, order=1)[40:-40, 40:-40]
        assert abs(made[copy, 2] - expected).max() <= 0.51 and abs(expected - images[2]).mean() > 10
    np.testing.assert_array_equal(made[:2], transformed(images, 2, MOST, seed=5))


def test_the_matrix_is_that_of_scikit_image():
    from skimage.transform import AffineTransform

    def swapped(m):  # scikit-image counts to the right, then down
        return m[::-1, ::-1]

    turned = AffineTransform(rotation=-0.2, scale=(1.1, 0.9)).params[:2, :2]
    np.testing.assert_allclose(swapped(matrix(0.2, -0.1, 0.1, 0.0)), turned)
    np.testing.assert_allclose(matrix(0, 0, 0, 0.12), [[1, 0.12], [0, 1]])
    assert np.linalg.det(matrix(0.2, -0.1, 0.1, 0.12)) == pytest.approx(0.99)  # only scale changes areas


def test_the_expanded_set_begins_with_the_originals(tmp_path, monkeypatch):
    monkeypatch.setattr(mnist_expanded, "_BLOCK", 4)
    images = digits(10)
    np.savez(tmp_path / "mnist.npz", x_train=images, y_train=np.arange(10) % 5, x_test=images[:3], y_test=[0, 1, 2])
    data = load({"name": "mnist_expanded", "copies": 2}, tmp_path)
    assert data.x_train.shape == (30, 20, 20) and data.y_train.tolist() == list(np.arange(10) % 5) * 3
    np.testing.assert_array_equal(data.x_train[:10], images)
    np.testing.assert_array_equal(data.x_train[10:].reshape(2, 10, 20, 20), distorted(images, 0, 2, 34.0, 4.0, 0))
    np.testing.assert_array_equal(data.x_test, images[:3])
    assert data.checksum != load({"name": "mnist_expanded", "copies": 1}, tmp_path).checksum
    affine = load({"name": "mnist_affine", "copies": 2}, tmp_path)
    np.testing.assert_array_equal(affine.x_train[:10], images)
    np.testing.assert_array_equal(affine.x_train[10:].reshape(2, 10, 20, 20), transformed(images, 2, MOST, 0))
    assert affine.y_train.tolist() == data.y_train.tolist()
