"""Value banks: numbers instead of codes, scaled by the training part alone."""

import pickle

import numpy as np
import pytest

from boostrun.errors import BoostrunError
from boostrun.features import bank_key, open_bank
from boostrun.features import build as values
from boostrun.features import values as linear
from boostrun.features.build import ValueBank
from boostrun.features.values import SCALES, Linear


@pytest.fixture
def data(tmp_path):
    """A table of 50 + 20 samples with four features, one constant, in an .npz file."""
    rng = np.random.default_rng(0)
    x = rng.normal(3.0, 2.0, (70, 4))
    x[:, 2] = 7
    y = np.arange(70) % 3
    np.savez(tmp_path / "t.npz", x_train=x[:50], y_train=y[:50], x_test=x[50:], y_test=y[50:])
    return {"name": "npz", "path": str(tmp_path / "t.npz")}


def made(data, tmp_path, **more):
    return open_bank(data, {"name": "linear", **more}, tmp_path, tmp_path / "cache")


def twin(scale, train, x):
    """One value at a time."""
    out = np.empty(x.shape)
    for i, j in np.ndindex(*x.shape):
        column = train[:, j]
        low, high = min(column), max(column)
        if scale == "minmax":
            out[i, j] = 2 * (x[i, j] - low) / (high - low) - 1 if high > low else 0
        elif scale == "max01":
            out[i, j] = x[i, j] / max(abs(column)) if any(column) else 0
        else:
            out[i, j] = (x[i, j] - np.mean(column)) / np.std(column) if high > low else 0
    return out


@pytest.mark.parametrize("scale", SCALES)
def test_values_are_scaled_by_the_training_part(data, tmp_path, scale, monkeypatch):
    monkeypatch.setattr(values, "_ROWS", 8)
    bank = made(data, tmp_path, scale=scale)
    with np.load(data["path"]) as raw:
        for split in ("train", "test"):
            found = bank.values(split)
            assert found.dtype == np.float64 and not found.flags.writeable
            np.testing.assert_allclose(found, twin(scale, raw["x_train"], raw[f"x_{split}"]), atol=1e-12)
            np.testing.assert_array_equal(bank.labels(split), raw[f"y_{split}"])
    assert bank.classes == ("0", "1", "2") and bank.n_features == 4 and set(bank.fitted()) == {"shift", "factor"}


def test_images_are_flattened_and_a_test_sample_changes_nothing(tmp_path):
    images = np.random.default_rng(0).integers(0, 200, (9, 3, 2), dtype=np.uint8)
    scaler = Linear({"scale": "max01"}).fit(images)
    assert scaler(images).shape == (9, 6) and scaler(images).max() == 1
    assert scaler(np.full((1, 3, 2), 255, np.uint8)).min() > 1


def test_it_is_built_once_and_products_have_a_bank_of_their_own(data, tmp_path, monkeypatch):
    bank = made(data, tmp_path)
    factors = open_bank(data, {"name": "products"}, tmp_path, tmp_path / "cache")
    assert factors.key != bank.key == bank_key(data, {"name": "linear", "scale": "minmax"}, tmp_path)
    np.testing.assert_array_equal(factors.values("test"), bank.values("test"))
    assert factors.meta["features"] == {"name": "products", "scale": "minmax"}
    monkeypatch.setattr(values, "build_values", None)
    assert made(data, tmp_path).checksum == bank.checksum == pickle.loads(pickle.dumps(bank)).checksum
    assert made(data, tmp_path, scale="minmax").key != bank_key(data, {"name": "linear", "scale": "max01"}, tmp_path)


def test_stumps_are_the_codes_of_raw_features_and_anchors_are_no_more_than_samples(data, tmp_path):
    one, two = (open_bank(data, {"name": name}, tmp_path, tmp_path / "cache") for name in ("raw", "stumps"))
    np.testing.assert_array_equal(one.codes("train"), two.codes("train"))
    np.testing.assert_array_equal(one.edges, two.edges)
    with pytest.raises(BoostrunError, match=r"features\.anchors=51 is more than the 50 training samples"):
        open_bank(data, {"name": "anchors", "anchors": 51}, tmp_path, tmp_path / "cache")


@pytest.mark.parametrize("name", ["values_train.npy", "values_test.npy", "labels_test.npy", "fitted.npz", "meta.json"])
def test_a_damaged_value_bank_is_built_again_with_a_line(data, tmp_path, capsys, name):
    bank = made(data, tmp_path)
    right, path = bank.values("train").tobytes(), bank.folder / name
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    assert made(data, tmp_path).values("train").tobytes() == right
    assert capsys.readouterr().err.count("is damaged") == 1


def test_what_is_damaged_or_wrong_is_a_sentence(data, tmp_path, monkeypatch):
    with pytest.raises(BoostrunError, match=r"features\.scale must be one of minmax, max01, standard"):
        made(data, tmp_path, scale="minmx")
    with pytest.raises(BoostrunError, match="has no key 'bins'"):
        made(data, tmp_path, bins=3)
    bank = made(data, tmp_path)
    path = bank.folder / "values_test.npy"
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    with pytest.raises(BoostrunError, match=r"values_test\.npy is not what was written"):
        ValueBank(bank.folder, verify=True)
    path.write_bytes(content[:-1])
    with pytest.raises(BoostrunError, match="is built again"):
        ValueBank(bank.folder)
    made(data, tmp_path)
    (bank.folder / "meta.json").write_text("{")
    with pytest.raises(BoostrunError, match="no readable value bank"):
        ValueBank(bank.folder)
    monkeypatch.setattr(linear.Linear, "__call__", lambda self, x: np.full((len(x), 1), np.nan))
    with pytest.raises(BoostrunError, match="NaN or infinite"):
        made(data, tmp_path, scale="max01")
    assert not list((tmp_path / "cache" / "banks").glob("*.tmp"))


def test_anchors_hold_components_whose_largest_coordinate_is_one(data, tmp_path):
    bank = open_bank(data, {"name": "anchors", "anchors": 6, "radii": 5, "pca": 2}, tmp_path, tmp_path / "cache")
    fitted, points = bank.fitted(), bank.values("train")
    with np.load(data["path"]) as raw:
        centred = raw["x_train"] - raw["x_train"].mean(axis=0)
        whole = np.linalg.svd(centred, compute_uv=False)
        np.testing.assert_allclose(bank.values("test"), (raw["x_test"] - fitted["mean"]) @ fitted["axes"], atol=1e-12)
    lengths = np.linalg.norm(points, axis=0)
    np.testing.assert_allclose(lengths / lengths[0], whole[:2] / whole[0])
    assert np.abs(points).max() == pytest.approx(1) and abs(points[:, 0] @ points[:, 1]) < 1e-9
    distances = np.linalg.norm(points[:, None] - fitted["anchors"], axis=2)
    expected = np.quantile(distances, np.linspace(0.02, 1, 5))
    np.testing.assert_allclose(fitted["radii"][:-1], expected[:-1], rtol=1e-5)
    assert fitted["radii"][-1] == np.inf
    nearest = distances.argmin(axis=1)
    for j in np.unique(nearest):  # k-means has come to rest
        np.testing.assert_allclose(points[nearest == j].mean(axis=0), fitted["anchors"][j], atol=1e-6)
