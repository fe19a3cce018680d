"""Pipelines: sizes, the twin of Coates & Ng, independence of blocks and threads, what they refuse."""

import numpy as np
import pytest

from boostrun.errors import BoostrunError
from boostrun.features.coates_ng import DEFAULTS, CoatesNg, zca
from boostrun.features.hog import HogPipeline, as_colour
from boostrun.features.patch_kernels import ROWS
from tests.reference import coates_ng as twin

HOG = {"orientations": 9, "cell": 8, "block": 2}


def tiny(**changes):
    return CoatesNg({**DEFAULTS, "atoms": 5, "patches": 300, "iterations": 3, "size": 12, **changes})


def pictures(n, shape=(12, 12, 3), seed=0):
    return np.random.default_rng(seed).integers(0, 256, (n, *shape), dtype=np.uint8)


def test_hog_of_a_64x128_window_has_3780_features():
    hog = HogPipeline(HOG)
    assert hog(pictures(2, (128, 64, 3))).shape == (2, 3780)
    assert hog(pictures(1, (128, 64))).shape == (1, 3780)


def test_hog_does_not_depend_on_n_jobs_or_blocks():
    images = pictures(70, (16, 16))
    hog = HogPipeline(HOG)
    alone = hog(images)
    hog.n_jobs = 2
    np.testing.assert_array_equal(alone, hog(images))
    np.testing.assert_array_equal(alone[3:9], hog(images[3:9]))


def test_coates_ng_equals_its_twin():
    images = pictures(20)
    pipeline = tiny().fit(images)
    rng = np.random.default_rng(np.random.SeedSequence(0))
    which = np.sort(rng.integers(0, 20, 300))
    tops, lefts = rng.integers(0, 7, (2, 300))
    patches = np.array([twin.normalised(images[w, t : t + 6, v : v + 6]) for w, t, v in zip(which, tops, lefts)])
    mean, whitening = twin.zca(patches)
    start = rng.standard_normal((5, 108))
    atoms = twin.dictionary(
        (patches - mean) @ whitening, start / np.linalg.norm(start, axis=1, keepdims=True), iterations=3
    )
    np.testing.assert_allclose(pipeline.atoms_, atoms, atol=1e-5)
    raw = np.array([twin.encode(image, 6, mean, whitening, atoms, 0.25) for image in images])
    expected = (raw - raw.mean(axis=0)) / np.sqrt(raw.var(axis=0) + 0.01)
    np.testing.assert_allclose(pipeline(images), expected, atol=2e-4)


def test_zca_makes_patches_white_up_to_its_regulariser():
    x = np.random.default_rng(0).standard_normal((4000, 6)) @ np.diag([1, 2, 3, 4, 5, 6.0])
    mean, whitening = zca(x)
    white = np.cov(((x - mean) @ whitening).T)
    np.testing.assert_allclose(white, np.diag(np.diag(white)), atol=0.02)
    assert (np.diag(white) > 0.85).all() and (np.diag(white) <= 1).all()


def test_coates_ng_does_not_depend_on_n_jobs_or_blocks():
    images = pictures(30)
    one, two = tiny(), tiny()
    two.n_jobs = 2
    np.testing.assert_array_equal(one.fit(images)(images), two.fit(images)(images))
    np.testing.assert_array_equal(one(images)[4:7], two(images[4:7]))


def test_atoms_have_unit_norm_and_dead_ones_are_replaced():
    # flat images: all patches are equal, so all atoms but one die in every iteration
    images = np.repeat(pictures(1, (1, 1, 3)), 4, axis=0).repeat(12, axis=1).repeat(12, axis=2)
    images[1:] = pictures(3)
    pipeline = tiny(atoms=200, patches=250).fit(images)
    np.testing.assert_allclose(np.linalg.norm(pipeline.atoms_, axis=1), 1, atol=1e-5)
    assert np.isfinite(pipeline(images)).all()


def test_more_patches_than_one_product_holds():
    assert tiny(patches=ROWS + 17).fit(pictures(6))(pictures(2)).shape == (2, 40)


def test_grey_and_larger_images_become_small_colour_ones():
    grey = pictures(3, (20, 30))
    small = as_colour(grey, 12)
    assert small.shape == (3, 12, 12, 3) and (small[..., 0] == small[..., 2]).all()
    assert tiny().fit(grey)(grey).shape == (3, 40)


def test_fewer_patches_than_atoms_is_a_sentence():
    with pytest.raises(BoostrunError, match=r"patches=4 is fewer than features\.atoms=5"):
        tiny(patches=4)


@pytest.mark.parametrize("make", [lambda: HogPipeline(HOG), tiny])
def test_a_table_is_refused(make):
    with pytest.raises(BoostrunError, match="table of 7 columns"):
        make().fit(np.zeros((3, 7)))


def test_too_small_images_are_refused_by_hog():
    with pytest.raises(BoostrunError, match="at least 16x16 pixels"):
        HogPipeline(HOG).fit(pictures(2, (8, 8)))
