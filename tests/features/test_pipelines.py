"""Pipelines: sizes, the twin of Coates & Ng, in torch too, independence of blocks and threads, refused images."""

import sys

import numpy as np
import pytest

from boostrun.errors import BoostrunError
from boostrun.features import bank_key, open_bank, patch_kernels
from boostrun.features.coates_ng import DEFAULTS, CoatesNg, zca
from boostrun.features.hog import HogPipeline, as_colour
from boostrun.features.patch_kernels import ROWS
from boostrun.runner.plan import cell_of, compose_one
from tests.reference import coates_ng as twin

HOG = {"orientations": 9, "cell": 8, "block": 2}


def tiny(**changes):
    return CoatesNg({**DEFAULTS, "atoms": 5, "patches": 300, "iterations": 3, "size": 12, **changes})


def pictures(n, shape=(12, 12, 3), seed=0):
    return np.random.default_rng(seed).integers(0, 256, (n, *shape), dtype=np.uint8)


def test_hog_of_a_64x128_window_has_3780_features_whatever_n_jobs_and_blocks():
    hog = HogPipeline(HOG)
    assert hog(pictures(2, (128, 64, 3))).shape == (2, 3780)
    assert hog(pictures(1, (128, 64))).shape == (1, 3780)
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


def test_atoms_of_white_patches_have_unit_norm_and_dead_ones_are_replaced():
    x = np.random.default_rng(0).standard_normal((4000, 6)) @ np.diag([1, 2, 3, 4, 5, 6.0])
    mean, whitening = zca(x)
    white = np.cov(((x - mean) @ whitening).T)
    np.testing.assert_allclose(white, np.diag(np.diag(white)), atol=0.02)
    assert (np.diag(white) > 0.85).all() and (np.diag(white) <= 1).all()
    images = np.repeat(pictures(1, (1, 1, 3)), 4, axis=0).repeat(12, axis=1).repeat(12, axis=2)
    images[1:] = pictures(3)
    pipeline = tiny(atoms=200, patches=250).fit(images)
    np.testing.assert_allclose(np.linalg.norm(pipeline.atoms_, axis=1), 1, atol=1e-5)
    assert np.isfinite(pipeline(images)).all()


def test_grey_and_larger_images_become_small_colour_ones_and_patches_may_be_many():
    grey = pictures(3, (20, 30))
    small = as_colour(grey, 12)
    assert small.shape == (3, 12, 12, 3) and (small[..., 0] == small[..., 2]).all()
    assert tiny().fit(grey)(grey).shape == (3, 40)
    assert tiny(patches=ROWS + 17).fit(pictures(6))(pictures(2)).shape == (2, 40)


def test_what_does_not_fit_a_pipeline_is_a_sentence():
    with pytest.raises(BoostrunError, match=r"patches=4 is fewer than features\.atoms=5"):
        tiny(patches=4)
    with pytest.raises(BoostrunError, match="at least 16x16 pixels"):
        HogPipeline(HOG).fit(pictures(2, (8, 8)))


@pytest.mark.parametrize("make", [lambda: HogPipeline(HOG), tiny])
def test_a_table_is_refused(make):
    with pytest.raises(BoostrunError, match="table of 7 columns"):
        make().fit(np.zeros((3, 7)))


RNG = np.random.default_rng(0)
PICTURES = RNG.integers(0, 256, (20, 13, 12, 3), dtype=np.uint8)
CUDA = {"name": "coates_ng", "atoms": 3, "patches": 50, "iterations": 2, "size": 8, "device": "cuda"}


def encoded(function, images, *more):
    rng = np.random.default_rng(1)
    weights, offset = rng.normal(size=(108, 7)).astype(np.float32), rng.normal(size=7).astype(np.float32)
    out = np.empty((len(images), 56), np.float32)
    function(images, 6, 10.0, weights, offset, np.float32(0.25), out, *more)
    return out


@pytest.mark.slow
def test_encoding_equals_the_compiled_kernel():
    pytest.importorskip("torch")
    expected = encoded(patch_kernels.encode_images, PICTURES)
    found = encoded(patch_kernels.encode_images_by_torch, PICTURES, "cpu")
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-3)


@pytest.mark.slow
def test_encoding_does_not_depend_on_blocks(monkeypatch):
    pytest.importorskip("torch")
    monkeypatch.setattr(patch_kernels, "_BATCH", 4 * 8 * 7 * (7 + 216) * 6)  # six images
    whole = encoded(patch_kernels.encode_images_by_torch, PICTURES, "cpu")
    np.testing.assert_array_equal(encoded(patch_kernels.encode_images_by_torch, PICTURES[3:8], "cpu"), whole[3:8])


@pytest.mark.slow
def test_the_strongest_atoms_are_the_same():
    pytest.importorskip("torch")
    patches = RNG.normal(size=(2 * patch_kernels.ROWS, 30)).astype(np.float32)
    patches[-5:] = 0  # filling
    atoms = RNG.normal(size=(30, 9)).astype(np.float32)
    found = []
    for function, more in ((patch_kernels.strongest_atoms, ()), (patch_kernels.strongest_atoms_by_torch, ("cpu",))):
        labels, values = np.empty(len(patches), np.int64), np.empty(len(patches), np.float32)
        function(patches, atoms, labels, values, *more)
        found.append((labels, values))
    np.testing.assert_array_equal(found[0][0], found[1][0])
    np.testing.assert_allclose(found[0][1], found[1][1], rtol=1e-5, atol=1e-5)


@pytest.mark.slow
def test_the_pipeline_in_torch_equals_the_compiled_one():
    pytest.importorskip("torch")
    options = {**DEFAULTS, "atoms": 5, "patches": 300, "iterations": 3, "size": 12}
    compiled, in_torch = CoatesNg(options), CoatesNg(options)
    in_torch._torch_device = "cpu"
    expected = compiled.fit(PICTURES)(PICTURES)
    np.testing.assert_allclose(in_torch.fit(PICTURES)(PICTURES), expected, atol=2e-4)


@pytest.mark.slow  # imports torch
def test_without_a_gpu_the_command_is_refused_before_anything_is_written(command, workplace, monkeypatch):
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    code, _, err = command("dataset=digits features=coates_ng features.size=8 features.device=cuda r=20")
    assert code == 2 and "needs a GPU" in err.splitlines()[-1] and "Traceback" not in err
    assert not (workplace / "results").exists() and not (workplace / "datasets").exists()


def test_without_torch_the_bank_is_refused_before_anything_is_written(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(BoostrunError, match="which is not installed"):
        open_bank({"name": "digits"}, CUDA, tmp_path, tmp_path / "cache")
    assert not (tmp_path / "cache").exists()  # the data's checksum may have been kept beside them


def test_a_device_is_part_of_the_banks_key_and_the_usual_one_of_no_cell(tmp_path):
    keys = {device: bank_key({"name": "digits"}, {**CUDA, "device": device}, tmp_path) for device in ("cpu", "cuda")}
    assert keys["cpu"] != keys["cuda"]
    usual, cuda = (cell_of(compose_one(["features=coates_ng", *more])) for more in ((), ("features.device=cuda",)))
    assert "device" not in usual.features and cuda.features["device"] == "cuda"
    with pytest.raises(BoostrunError, match="must be cpu or cuda, not 'gpu'"):
        open_bank({"name": "digits"}, {**CUDA, "device": "gpu"}, tmp_path, tmp_path / "cache")
