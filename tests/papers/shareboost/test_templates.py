"""Patch templates under masks: their arithmetic, their linear codes, and builds that are killed."""

import numpy as np
import pytest

from boostrun.config import defaults
from boostrun.errors import BoostrunError
from boostrun.features import build, open_bank
from boostrun.papers.shareboost import templates as module
from boostrun.papers.shareboost.templates import Templates, gaussian_masks
from tests.features.test_resume import build_until, killed, leftovers
from tests.reference import templates as twin

SMALL = {"patch": 3, "centres": 5, "masks": 4, "sigma": 2.0, "patches": 300, "fit_images": 20}


def tiny(**changes):
    return Templates({**defaults("features", "templates"), **SMALL, **changes})


def pictures(n, shape=(10, 9), seed=0):
    return np.random.default_rng(seed).integers(0, 256, (n, *shape), dtype=np.uint8)


@pytest.mark.parametrize("centres", [5, 300])  # one tile of filters, two
def test_features_equal_their_twin(centres):
    images = pictures(12)
    pipeline = tiny(centres=centres, patches=400).fit(images)
    fitted = pipeline.fitted
    assert fitted["filters"].shape == (centres, 3, 3) and fitted["masks"].shape == (4, 8, 7)
    raw = np.array([
        [twin.feature(image / 255, filter_, mask) for mask in fitted["masks"] for filter_ in fitted["filters"]]
        for image in images[:2]
    ])  # fmt: skip
    np.testing.assert_allclose(pipeline(images[:2]) * fitted["maxima"], raw, rtol=1e-4, atol=1e-5)
    everything = pipeline(images)
    assert everything.dtype == np.float32 and everything.min() >= 0
    np.testing.assert_allclose(everything.max(axis=0)[fitted["maxima"] > 0], 1, rtol=1e-6)


def test_masks_are_those_of_the_specification():
    masks = gaussian_masks((22, 22), 16, 5.0, 0.1)
    centres = np.linspace(2.5, 18.5, 4)
    for c, mask in enumerate(masks):
        place = centres[c // 4], centres[c % 4]
        np.testing.assert_allclose(mask.reshape(22, 22), twin.mask((22, 22), place, 5.0, 0.1), rtol=1e-6)
    cells = {sigma: gaussian_masks((22, 22), 16, sigma, 0.1).astype(bool).sum() / 16 for sigma in (3.0, 4.0, 5.0)}
    assert [round(cells[sigma]) for sigma in (3.0, 4.0, 5.0)] == [104, 172, 235]  # section 6
    with pytest.raises(BoostrunError, match=r"features\.masks=5 is not a square number"):
        gaussian_masks((22, 22), 5, 5.0, 0.1)


def test_one_mask_stands_in_the_middle():
    mask = gaussian_masks((5, 7), 1, 1.0, 0.0).reshape(5, 7)
    assert np.unravel_index(mask.argmax(), mask.shape) == (2, 3) and mask.max() == 1


def test_filters_have_the_shape_that_was_asked_for():
    images = pictures(12)
    raw, unit, zero = (
        tiny(filter=kind).fit(images).fitted["filters"].reshape(5, 9) for kind in ("raw", "unit", "zero_mean")
    )
    norms = np.linalg.norm(raw, axis=1, keepdims=True)
    np.testing.assert_allclose(unit, raw / norms, rtol=1e-5)
    centred = raw - raw.mean(axis=1, keepdims=True)
    np.testing.assert_allclose(zero, centred / np.linalg.norm(centred, axis=1, keepdims=True), rtol=1e-4, atol=1e-6)
    assert raw.min() >= 0 and raw.max() <= 1


def test_nothing_depends_on_n_jobs_or_blocks(monkeypatch):
    images = pictures(40)
    one, two = tiny(), tiny()
    two.n_jobs = 2
    expected = one.fit(images)(images)
    monkeypatch.setattr(module, "_CHUNK", 3)
    monkeypatch.setattr(module, "_BLOCK", 7)
    np.testing.assert_array_equal(expected, two.fit(images)(images))
    np.testing.assert_array_equal(expected[4:9], two(images[4:9]))


def test_windows_come_from_the_first_images_and_hold_ink():
    images = pictures(8)
    images[:, :5] = 0
    images[4:] = 255  # would give windows of 1 throughout
    windows = tiny(fit_images=4)._windows(images[:4], np.random.default_rng(0))
    assert windows.shape == (300, 9) and (windows.sum(axis=1) > 0.45).all() and windows.mean() < 0.9
    first = tiny(fit_images=4).fit(images).fitted["filters"]
    images[4:] = pictures(4, seed=1)
    np.testing.assert_array_equal(first, tiny(fit_images=4).fit(images).fitted["filters"])


@pytest.fixture
def data(tmp_path, monkeypatch):
    """40 + 10 small grey images in an .npz file, built in blocks of 15."""
    monkeypatch.setattr(build, "block_rows", lambda *_: 15)
    x, y = pictures(50), np.arange(50) % 2
    x[:40] //= 2  # test images have more contrast
    np.savez(tmp_path / "i.npz", x_train=x[:40], y_train=y[:40], x_test=x[40:], y_test=y[40:])
    return {"name": "npz", "path": str(tmp_path / "i.npz")}


def made(data, tmp_path, cache="cache", **more):
    return open_bank(data, {"name": "templates", **SMALL, **more}, tmp_path, tmp_path / cache)


def test_codes_are_linear_and_larger_test_values_are_full(data, tmp_path):
    bank = made(data, tmp_path)
    pipeline = tiny().fit(np.load(data["path"])["x_train"])
    for split in ("train", "test"):
        values = pipeline(np.load(data["path"])[f"x_{split}"]).T
        assert np.abs(bank.codes(split) / 255 - np.minimum(values, 1)).max() <= 0.5 / 255 + 1e-6
    assert values.max() > 1 and bank.codes("test").max() == 255 and (bank.codes("train").max(axis=1) == 255).all()
    assert bank.families == [(f"mask{c}", 5 * c, 5 * c + 5) for c in range(4)]
    for name, array in pipeline.fitted.items():
        np.testing.assert_array_equal(bank.fitted()[name], array)


def test_maxima_are_taken_over_some_training_images(data, tmp_path):
    some = made(data, tmp_path, bin_samples=6).fitted()["maxima"]
    images = np.load(data["path"])["x_train"]
    pipeline = tiny(bin_samples=6).fit(images)
    pipeline._factor[:] = 1
    np.testing.assert_array_equal(some, pipeline(images[build.subset(40, 6)]).max(axis=0))
    assert (some <= made(data, tmp_path).fitted()["maxima"]).all()


# centres 0, probe 1, maxima 2, edges 3, (probe of the build 4,) train 5-7, test 8
@pytest.mark.parametrize("entry", [1, 3, 6])
def test_a_build_that_is_killed_goes_on_to_the_same_bank(data, tmp_path, entry, monkeypatch):
    expected = made(data, tmp_path, "undisturbed")
    monkeypatch.setattr("tests.features.test_resume.made", made)
    killed(build_until, data, tmp_path, "cache", entry, "after")
    assert len(leftovers(tmp_path)) == 1
    monkeypatch.setattr(Templates, "_centres", None)  # not learned again
    bank = made(data, tmp_path)
    assert bank.meta["files"] == expected.meta["files"] and leftovers(tmp_path) == []
    assert all((bank.fitted()[name] == array).all() for name, array in expected.fitted().items())


def test_a_build_that_was_begun_with_other_filters_starts_anew_with_linear_codes(data, tmp_path, monkeypatch):
    expected = made(data, tmp_path, "undisturbed")
    monkeypatch.setattr("tests.features.test_resume.made", made)
    original = module.shaped
    monkeypatch.setattr(module, "shaped", lambda centres, kind: original(centres, "unit"))
    killed(build_until, data, tmp_path, "cache", 6, "after")
    monkeypatch.setattr(module, "shaped", original)
    bank = made(data, tmp_path)
    assert bank.meta["files"] == expected.meta["files"] and (bank.edges == expected.edges).all()


@pytest.mark.parametrize(("make", "sentence"), [
    (lambda: tiny(patches=4), r"features\.patches=4 is fewer than features\.centres=5"),
    (lambda: tiny(filter="sharp"), r"features\.filter must be one of zero_mean, unit, raw"),
    (lambda: tiny(bins=16), r"features\.bins must be between 256 and 256"),
    (lambda: tiny().fit(np.zeros((4, 10, 9), np.uint8)), "too few windows with ink"),
    (lambda: tiny().fit(pictures(4, (10, 9, 3))), "takes grey images"),
    (lambda: tiny().fit(np.zeros((3, 7))), "table of 7 columns"),
    (lambda: tiny().fit(pictures(4, (2, 9))), "at least 3x3 pixels"),
])  # fmt: skip
def test_what_cannot_be_is_a_sentence(make, sentence):
    with pytest.raises(BoostrunError, match=sentence):
        make()
