"""Arrays in .npz files: accepted ones, and the sentence for all others."""

import pickle

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


@pytest.mark.parametrize(
    ("labels", "classes"),
    [
        (["no", "yes"], ("no", "yes")),
        (np.array([10.0, 2.0]), ("2", "10")),
        (np.array([True, False]), ("0", "1")),
        (np.array([-1, 1], np.int8), ("-1", "1")),
        (np.array([b"a", b"b"]), ("a", "b")),
    ],
)
def test_x_and_y_are_split_by_class_and_labels_of_many_kinds_become_indices(loaded, labels, classes):
    data = loaded(x=np.arange(20.0).reshape(10, 2), y=np.tile(labels, 5))
    assert data.classes == classes and data.y_train.dtype == np.int64
    assert set(data.y_train) == {0, 1} and sorted(data.y_test) == [0, 1]


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


X, Y = np.ones((6, 2)), np.array([0, 1] * 3)
FOUR = {"x_train": X, "y_train": Y, "x_test": X, "y_test": Y}


@pytest.mark.parametrize(
    ("arrays", "sentence"),
    [
        ({**FOUR, "y_train": Y[:5]}, "x_train holds 6 samples but y_train 5 labels"),
        ({**FOUR, "y_train": Y * 0, "y_test": Y * 0}, r"all 6 training samples have the same label \(0\)"),
        ({**FOUR, "y_train": Y + 0.5}, "no whole numbers"),
        ({**FOUR, "y_train": np.where(Y, np.nan, 1.0)}, "3 labels that are NaN"),
        ({**FOUR, "y_train": np.eye(6)}, "one label per sample"),
        ({**FOUR, "y_train": np.arange(6) + 0j}, "has the type complex128"),
        ({**FOUR, "y_test": Y + 1}, "3 test samples have labels that no training sample has"),
        ({**FOUR, "x_test": X * np.inf}, "12 values"),
        ({**FOUR, "x_train": X * 1e300}, "beyond float32"),
        ({**FOUR, "x_test": np.ones((6, 3))}, "they must be equal"),
        ({**FOUR, "x_train": np.ones(6)}, "must be a table"),
        ({**FOUR, "x_train": np.ones((6, 3, 4, 4))}, "must be a table"),
        ({**FOUR, "x_train": np.ones((6, 0)), "x_test": np.ones((6, 0))}, "without features"),
        ({**FOUR, "x_train": np.ones((6, 2, 2)) * 0.5}, "images must be whole numbers"),
        ({**FOUR, "x_train": np.full((6, 2, 2), 256)}, "images must be whole numbers"),
        ({**FOUR, "x_train": np.full((6, 2), "a")}, "features must be numbers"),
        ({**FOUR, "x_test": X[:0], "y_test": Y[:0]}, "the test part holds no sample"),
        ({**FOUR, "x_train": X[:0], "y_train": Y[:0]}, "npz holds no samples"),
        ({"x": X[:0], "y": Y[:0]}, "npz holds no samples"),
        ({"x": np.ones((400, 2)), "y": np.arange(400) // 2}, "no classification task"),
        ({"data": X, "y": Y}, "has the keys data, y; expected: x_train"),
        ({**FOUR, "y_train": np.array([{"a": 1}] * 6, dtype=object)}, r"t\.npz cannot be read"),
    ],
)
def test_wrong_content_is_a_sentence(loaded, arrays, sentence):
    with pytest.raises(BoostrunError, match=sentence):
        loaded(**arrays)


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


@pytest.mark.parametrize(
    "spoil",
    [
        _truncated, _flipped, _array,
        lambda path, _: path.write_bytes(pickle.dumps({"x": 1})),
        lambda path, _: path.write_bytes(b""),
        lambda path, _: path.write_bytes(b"PK\x03\x04 no zip"),
    ],
)  # fmt: skip
def test_a_damaged_file_is_a_sentence_that_names_it(spoil, tmp_path, arrays):
    spoil(tmp_path / "t.npz", arrays)
    with pytest.raises(BoostrunError, match=r"t\.npz"):
        load({"name": "npz", "path": str(tmp_path / "t.npz")}, tmp_path)
