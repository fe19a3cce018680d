"""Arrays in .npz files: what is taken, and the sentence for everything that is not."""

import numpy as np
import pytest

from boostrun.data import load
from boostrun.errors import BoostrunError


@pytest.fixture
def loaded(tmp_path):
    def from_arrays(**arrays):
        np.savez(tmp_path / "t.npz", **arrays)
        return load({"name": "npz", "path": str(tmp_path / "t.npz")}, tmp_path)

    return from_arrays


def test_keras_layout_comes_back_as_it_was(loaded, arrays):
    data = loaded(**{**arrays, "y_train": arrays["y_train"][:, None]})
    for key in ("x_train", "x_test", "y_train", "y_test"):
        np.testing.assert_array_equal(getattr(data, key), arrays[key])


def test_x_and_y_are_split_by_class(loaded):
    data = loaded(x=np.arange(20.0).reshape(10, 2), y=["no", "yes"] * 5)
    assert data.classes == ("no", "yes") and len(data.x_test) == 2 and sorted(data.y_test) == [0, 1]


@pytest.mark.parametrize(
    ("labels", "classes"),
    [
        (np.array([10.0, 2.0] * 5), ("2", "10")),
        (np.array([True, False] * 5), ("0", "1")),
        (np.array([-1, 1] * 5, np.int8), ("-1", "1")),
        (np.array([b"a", b"b"] * 5), ("a", "b")),
    ],
)
def test_labels_of_many_kinds_become_indices(loaded, labels, classes):
    data = loaded(x=np.ones((10, 2)), y=labels)
    assert data.classes == classes and set(data.y_train) == {0, 1} and data.y_train.dtype == np.int64


def test_a_path_is_looked_for_in_the_current_folder_then_in_the_data_root(tmp_path, arrays, monkeypatch):
    (tmp_path / "root").mkdir()
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    np.savez(tmp_path / "root" / "t.npz", **arrays)
    config = {"name": "npz", "path": "t.npz"}
    assert len(load(config, tmp_path / "root").x_train) == 30
    np.savez("t.npz", **{**arrays, "x_train": arrays["x_train"][:15], "y_train": arrays["y_train"][:15]})
    assert len(load(config, tmp_path / "root").x_train) == 15


def test_loaders_with_a_place_in_the_data_root_take_an_npz(tmp_path, arrays):
    for name in ("mnist", "cifar10", "stl10"):
        np.savez(tmp_path / f"{name}.npz", **arrays)
        assert load({"name": name}, tmp_path).x_train.shape == (30, 4, 5, 3)
    np.savez(tmp_path / "pedestrians.npz", **{k: v % 2 if k[0] == "y" else v for k, v in arrays.items()})
    assert load({"name": "pedestrians"}, tmp_path).classes == ("background", "person")


X, Y = np.ones((6, 2)), np.array([0, 1] * 3)
FOUR = {"x_train": X, "y_train": Y, "x_test": X, "y_test": Y}


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"y_train": Y[:5]}, "x_train holds 6 samples but y_train 5 labels"),
        ({"y_train": Y * 0, "y_test": Y * 0}, r"all 6 training samples have the same label \(0\)"),
        ({"y_train": Y + 0.5}, "no whole numbers"),
        ({"y_train": np.where(Y, np.nan, 1.0)}, "3 labels that are NaN"),
        ({"y_train": np.eye(6)}, "one label per sample"),
        ({"y_train": np.arange(6) + 0j}, "has the type complex128"),
        ({"y_test": Y + 1}, "3 test samples have labels that no training sample has"),
        ({"x_test": X * np.inf}, "12 values"),
        ({"x_train": X * 1e300}, "beyond float32"),
        ({"x_test": np.ones((6, 3))}, "they must be equal"),
        ({"x_train": np.ones(6)}, "must be a table"),
        ({"x_train": np.ones((6, 3, 4, 4))}, "must be a table"),
        ({"x_train": np.ones((6, 0)), "x_test": np.ones((6, 0))}, "without features"),
        ({"x_train": np.ones((6, 2, 2)) * 0.5}, "images must be whole numbers"),
        ({"x_train": np.full((6, 2, 2), 256)}, "images must be whole numbers"),
        ({"x_train": np.full((6, 2), "a")}, "features must be numbers"),
        ({"x_test": X[:0], "y_test": Y[:0]}, "the test part holds no sample"),
    ],
)
def test_wrong_content_is_a_sentence(loaded, changes, sentence):
    with pytest.raises(BoostrunError, match=sentence):
        loaded(**{**FOUR, **changes})


def test_labels_that_are_all_different_are_a_sentence(loaded):
    with pytest.raises(BoostrunError, match="no classification task"):
        loaded(x=np.ones((400, 2)), y=np.arange(400) // 2)


def test_wrong_keys_are_a_sentence(loaded):
    with pytest.raises(BoostrunError, match="has the keys data, y; expected: x_train"):
        loaded(data=X, y=Y)


def _truncated(path, arrays):
    np.savez(path, **arrays)
    path.write_bytes(path.read_bytes()[:-200])


def _flipped(path, arrays):
    np.savez_compressed(path, **arrays)
    content = bytearray(path.read_bytes())
    content[300:320] = bytes(20)
    path.write_bytes(content)


def _array(path, arrays):
    with open(path, "wb") as stream:
        np.save(stream, arrays["x_train"])


def _pickle(path, arrays):
    np.savez(path, **{**arrays, "y_train": np.array([{"a": 1}] * 30, dtype=object)})


def _bare_pickle(path, arrays):
    import pickle

    path.write_bytes(pickle.dumps({"x": 1}))


@pytest.mark.parametrize(
    "spoil",
    [
        _truncated,
        _flipped,
        _array,
        _pickle,
        _bare_pickle,
        lambda path, _: path.write_bytes(b""),
        lambda path, _: path.write_bytes(b"PK\x03\x04 no zip"),
        lambda path, _: path.write_text("hello"),
    ],
)
def test_a_damaged_file_is_a_sentence_that_names_it(spoil, tmp_path, arrays):
    spoil(tmp_path / "t.npz", arrays)
    with pytest.raises(BoostrunError, match=r"t\.npz"):
        load({"name": "npz", "path": str(tmp_path / "t.npz")}, tmp_path)
