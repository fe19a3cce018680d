"""load, checksum, describe, fetch: what holds for every loader."""

import importlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from boostrun.config import catalogue, defaults
from boostrun.data import checksum, describe, fetch, load, loader_module
from boostrun.data import digests as digests_module
from boostrun.data.dataset import stratified
from boostrun.data.digests import FileDigests
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
    assert checksum(config, tmp_path) != checksum({"name": "digits", "split_seed": 1}, tmp_path)


def test_the_same_file_elsewhere_is_the_same_data(tmp_path, arrays):
    (tmp_path / "b").mkdir()
    np.savez(tmp_path / "a.npz", **arrays)
    (tmp_path / "b" / "c.npz").write_bytes((tmp_path / "a.npz").read_bytes())
    first, second = ({"name": "npz", "path": str(tmp_path / p)} for p in ("a.npz", "b/c.npz"))
    assert checksum(first, tmp_path) == checksum(second, tmp_path)


def test_digests_are_remembered_until_the_file_changes(tmp_path, monkeypatch, local):
    path = tmp_path / "a"
    path.write_bytes(b"one")
    time.sleep(0.05)  # what was written this moment may be written again without another time
    with FileDigests(tmp_path) as digests:
        first = digests.of(path)
    monkeypatch.setattr("boostrun.data.digests._digest", lambda *_: "again")
    with FileDigests(tmp_path) as digests:
        assert digests.of(path) == first
    path.write_bytes(b"other")
    with FileDigests(tmp_path) as digests:
        assert digests.of(path) == "again"


@pytest.mark.parametrize("replace", [False, True])
def test_other_content_of_the_same_size_and_time_has_another_digest(tmp_path, replace, local):
    path, other = tmp_path / "a", tmp_path / "b"
    path.write_bytes(b"one")
    time.sleep(0.05)
    with FileDigests(tmp_path) as digests:
        first = digests.of(path)
    written = path.stat()
    other.write_bytes(b"two")
    if replace:
        other.replace(path)
    else:
        path.write_bytes(b"two")
    os.utime(path, ns=(written.st_atime_ns, written.st_mtime_ns))
    with FileDigests(tmp_path) as digests:
        assert digests.of(path) != first


def test_a_digest_that_was_altered_in_the_memory_is_not_believed(tmp_path, capsys, local):
    path, memory = tmp_path / "a", tmp_path / ".checksums" / "digests.json"
    path.write_bytes(b"abc")
    time.sleep(0.05)
    with FileDigests(tmp_path) as digests:
        right = digests.of(path)
    memory.write_text(memory.read_text().replace(right, right[::-1]))
    with FileDigests(tmp_path) as digests:
        assert digests.of(path) == right
    assert capsys.readouterr().err.count("digests.json is damaged") == 1
    assert FileDigests(tmp_path).of(path) == right and not capsys.readouterr().err


@pytest.mark.parametrize("broken", ["", "{", "[1]", '{"a": 3}', "[" * 100_000, '{"sha256": 1, "files": [2]}'])
def test_a_broken_memory_of_digests_is_no_harm(tmp_path, broken):
    (tmp_path / ".checksums").mkdir()
    (tmp_path / ".checksums" / "digests.json").write_text(broken)
    (tmp_path / "a").write_bytes(b"abc")
    with FileDigests(tmp_path) as digests:
        assert digests.of(tmp_path / "a", "md5") == "900150983cd24fb0d6963f7d28e17f72"


def test_each_folder_of_the_data_root_has_a_memory_of_its_own(tmp_path, monkeypatch, local):
    for path in (tmp_path / "a", tmp_path / "photos" / "b", tmp_path / "photos" / "c", tmp_path / "rows" / "d"):
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(path.name.encode())
    time.sleep(0.05)
    memory, files = tmp_path / ".checksums", [path for path in tmp_path.rglob("?") if path.is_file()]
    with FileDigests(tmp_path) as digests:
        expected = {path: digests.of(path) for path in files}
    assert {path.name for path in memory.iterdir()} == {"digests.json", "digests-photos.json", "digests-rows.json"}
    assert list(json.loads((memory / "digests.json").read_text())["files"]) == [str(tmp_path / "a")]
    monkeypatch.setattr(digests_module, "_digest", lambda path, _: pytest.fail(f"{path} was read"))
    with FileDigests(tmp_path) as digests:
        assert {path: digests.of(path) for path in files} == expected


def test_an_absent_data_root_is_not_made(tmp_path):
    checksum({"name": "digits"}, tmp_path / "absent")
    assert not (tmp_path / "absent").exists()


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


@pytest.mark.parametrize("name", ["mnist", "mnist_expanded", "cifar10", "stl10", "pedestrians", "caltech101", "inria"])
def test_missing_files_are_named_with_their_place(name, tmp_path):
    with pytest.raises(DataMissingError, match=str(tmp_path)):
        load({"name": name}, tmp_path)


@pytest.mark.parametrize("name", ["pedestrians", "inria"])
def test_what_cannot_be_fetched_says_which_file_belongs_where(name, tmp_path):
    with pytest.raises(DataMissingError, match=str(tmp_path)):
        fetch({"name": name}, tmp_path)


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
        ({"name": "digits", "split_sed": 1}, "did you mean 'split_seed'"),
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


def test_a_loader_of_ones_own_is_one_module(tmp_path, monkeypatch):
    (tmp_path / "my_loader.py").write_text(
        "import numpy as np\nfrom boostrun.data.dataset import Parts\nDEFAULTS = {'n': 8}\n"
        "def places(options, root): return 'nowhere'\n"
        "def files(options, root): return {}\n"
        "def read(options, root): return Parts(np.ones((options['n'], 2)), np.arange(options['n']) % 2)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    config = {"name": "mine", "loader": "my_loader", "n": 20}
    assert loader_module(config) == "my_loader"
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
        module = importlib.import_module(one.loader if group == "dataset" else one.module)
        assert getattr(module, "DEFAULTS", defaults(group, name)) == defaults(group, name), name


def test_published_checksums_are_the_tracked_ones():
    tomllib = pytest.importorskip("tomllib")
    from boostrun.data.torchvision_sets import PUBLISHED

    known = tomllib.loads((ROOT / "datasets" / "checksums.toml").read_text())
    known.pop("archives")
    assert known == PUBLISHED
