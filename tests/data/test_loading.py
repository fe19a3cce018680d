"""load, checksum, describe and fetch, for every loader."""

import importlib
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from boostrun.config import catalogue, defaults
from boostrun.data import checksum, describe, fetch, load, loader_module
from boostrun.data.dataset import Parts, finish, stratified
from boostrun.data.options import read_roots
from boostrun.errors import BoostrunError, DataMissingError

ROOT = Path(__file__).parents[2]
NAMES = catalogue.names("dataset")


def test_digits_are_whole_and_split_by_class(tmp_path):
    digits = load({"name": "digits"}, tmp_path)
    assert len(digits.x_train) + len(digits.x_test) == 1797
    assert digits.x_train.shape[1:] == (8, 8) and digits.x_train.dtype == np.uint8 and digits.x_train.max() == 16
    assert digits.y_train.dtype == np.int64 and digits.classes == tuple("0123456789")
    shares = np.bincount(digits.y_test) / (np.bincount(digits.y_test) + np.bincount(digits.y_train))
    assert (abs(shares - 0.2) < 0.01).all()


def test_checksum_needs_no_decoding_and_tells_splits_apart(tmp_path):
    config = {"name": "digits"}
    assert checksum(config, tmp_path) == load(config, tmp_path).checksum
    assert checksum(config, tmp_path) == checksum({"name": "digits", "split_seed": 0}, tmp_path)
    assert checksum(config, tmp_path / "absent") != checksum({"name": "digits", "split_seed": 1}, tmp_path)
    assert not (tmp_path / "absent").exists()


def test_the_same_file_elsewhere_is_the_same_data(tmp_path, arrays):
    (tmp_path / "b").mkdir()
    np.savez(tmp_path / "a.npz", **arrays)
    (tmp_path / "b" / "c.npz").write_bytes((tmp_path / "a.npz").read_bytes())
    first, second = ({"name": "npz", "path": str(tmp_path / p)} for p in ("a.npz", "b/c.npz"))
    assert checksum(first, tmp_path) == checksum(second, tmp_path)


def test_split_is_by_class_deterministic_and_never_takes_a_whole_class():
    labels = np.array([0] * 10 + [1] * 2 + [2])
    train, test = stratified(labels, 0.9, seed=3)
    assert sorted([*train, *test]) == list(range(13))
    assert set(labels[train]) == {0, 1, 2} and list(np.bincount(labels[test])) == [9, 1]
    np.testing.assert_array_equal(test, stratified(labels, 0.9, seed=3)[1])
    assert not np.array_equal(test, stratified(labels, 0.9, seed=4)[1])


@pytest.mark.parametrize("name", NAMES)
def test_every_set_says_where_its_files_belong(name, tmp_path):
    text = describe({"name": name, **({"data_id": 61} if name == "openml" else {})}, tmp_path)
    assert text.startswith(f"{name}: ") and "\n" not in text


@pytest.mark.parametrize("name", ["mnist", "mnist_affine", "cifar10", "stl10", "caltech101", "inria"])
def test_missing_files_are_named_with_their_place(name, tmp_path):
    for read in (load, *([fetch] if name == "inria" else [])):  # the others can be fetched
        with pytest.raises(DataMissingError, match=str(tmp_path)):
            read({"name": name}, tmp_path)


def test_openml_is_kept_as_a_table_and_a_dead_network_is_a_sentence(tmp_path, monkeypatch):
    import pandas
    import sklearn.datasets

    def dead(**_):
        raise OSError("no route to host")

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", dead)
    config = {"name": "openml", "data_id": 61}
    with pytest.raises(DataMissingError, match=r"no route to host.*61\.csv\.gz"):
        fetch(config, tmp_path)

    frame = pandas.DataFrame({"a": [0.1, 1 / 3] * 5, "b": ["u", "v"] * 5})
    answer = type("Bunch", (), {"data": frame, "target": pandas.Series(["x", "y"] * 5, name="kind")})
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", lambda **_: answer)
    assert "61.csv.gz" in fetch(config, tmp_path)
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", dead)
    data = load(config, tmp_path)
    assert data.classes == ("x", "y") and set(data.x_train[:, 0]) == {0.1, 1 / 3}


@pytest.mark.parametrize(
    ("config", "sentence"),
    [
        ({"name": "minst"}, "did you mean 'mnist'"),
        ({"name": "digits", "split_sed": 1}, r"did you mean dataset\.split_seed=1"),
        ({"name": "digits", "test_fraction": 1.0}, "strictly between 0 and 1"),
        ({"name": "digits", "test_fraction": "a"}, "must be a number"),
        ({"name": "digits", "split_seed": -1}, "whole number"),
        ({"name": "npz"}, "needs dataset.path.*x_train, y_train"),
        ({"name": "npz", "path": "???"}, "needs dataset.path"),
        ({"name": "npz", "path": "absent.npz"}, "no file absent.npz"),
        ({"name": "csv", "path": "."}, "is a folder"),
        ({"name": "image_folder", "path": "absent"}, "no folder absent"),
        ({"name": "openml"}, "either dataset.data_id"),
        ({"name": "openml", "data_name": "../x"}, "is not a name"),
        ({"name": "own", "loader": "no.such.loader"}, "no module no.such.loader"),
        ({"name": "own", "loader": "json"}, "the loader json has no files"),
    ],
)
def test_a_wrong_config_is_a_sentence(config, sentence, tmp_path):
    with pytest.raises(BoostrunError, match=sentence):
        load(config, tmp_path)


@pytest.mark.parametrize("end", ["", "_mine"])
def test_a_loader_of_ones_own_is_a_module_whose_functions_may_end_in_the_name_of_the_set(tmp_path, monkeypatch, end):
    (tmp_path / f"my_loader{end}.py").write_text(
        "import numpy as np\nfrom boostrun.data.dataset import Parts\nDEFAULTS = {'n': 8}\n"
        f"def places{end}(options, root): return 'nowhere'\n"
        f"def files{end}(options, root): return {{}}\n"
        f"def read{end}(options, root): return Parts(np.ones((options['n'], 2)), np.arange(options['n']) % 2)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    config = {"name": "mine", "loader": f"my_loader{end}", "n": 20}
    assert loader_module(config) == f"my_loader{end}" and read_roots(config) == (f"my_loader{end}:read{end}",)
    assert len(load(config, tmp_path).x_train) == 16


def test_importing_the_packages_is_light():
    code = (
        "import sys, boostrun.data, boostrun.features; "
        "print([m for m in ('numpy', 'torch', 'numba') if m in sys.modules])"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("group, declared", [("dataset", catalogue.datasets), ("features", catalogue.pipelines)])
def test_a_module_that_names_its_defaults_has_those_that_are_declared(group, declared):
    for name, one in declared().items():
        module = importlib.import_module(one.loader if group == "dataset" else one.target.partition(":")[0])
        assert getattr(module, "DEFAULTS", defaults(group, name)) == defaults(group, name), name


def test_published_checksums_are_the_tracked_ones():
    tomllib = pytest.importorskip("tomllib")
    from boostrun.data.torchvision_sets import PUBLISHED

    known = tomllib.loads((ROOT / "datasets" / "checksums.toml").read_text())
    known.pop("archives")
    assert known == PUBLISHED


@pytest.mark.parametrize(("test", "kind"), [
    (np.array([[0], [255]]), "u"), (np.array([[0.0], [255.0]]), "u"), (np.array([[0], [300]]), "f"),
    (np.array([[0], [-1]]), "f"), (np.array([[0.5], [3.0]]), "f"), (np.array([[np.nan], [3.0]]), "f"),
])  # fmt: skip
def test_a_table_of_bytes_takes_other_numbers_of_its_test_part_as_numbers(test, kind):
    x, y = np.array([[0], [255], [7], [7]], np.uint8), np.array([0, 1, 0, 1])
    found = finish("mine", Parts(x, y, test, y[:2]), "", missing="data")
    assert found.x_train.dtype.kind == found.x_test.dtype.kind == kind
    assert np.array_equal(found.x_train, x) and np.array_equal(found.x_test, test, equal_nan=True)
    numbers = finish("mine", Parts(x.astype(np.float32), y, x[:2], y[:2]), "").x_test
    assert numbers.dtype.kind == "f" and np.array_equal(numbers, x[:2])
