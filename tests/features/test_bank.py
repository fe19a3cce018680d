"""The bank: its content, the time of building, and failures while it is built."""

import dataclasses
import errno
import json
import multiprocessing
import os
import pickle
import time

import numpy as np
import pytest

from boostrun import digest
from boostrun.config import catalogue
from boostrun.config.fields import integer
from boostrun.errors import BoostrunError
from boostrun.features import bank_key, build, open_bank, store
from boostrun.features import store as seal
from boostrun.features.bank import Bank
from boostrun.features.keys import FeatureKeys
from boostrun.methods.paper import Pipeline

RAW = {"name": "raw"}


@pytest.fixture
def data(tmp_path):
    """A table of 200 + 50 samples with four features, one constant, in an .npz file."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((250, 4)).astype(np.float32)
    x[:, 2] = 7
    y = np.arange(250) % 3
    np.savez(tmp_path / "t.npz", x_train=x[:200], y_train=y[:200], x_test=x[200:], y_test=y[200:])
    return {"name": "npz", "path": str(tmp_path / "t.npz")}


def made(data, tmp_path, features=RAW, **more):
    return open_bank(data, features, tmp_path, tmp_path / "cache", **more)


def test_8_bit_images_are_their_own_codes(tmp_path):
    images = np.random.default_rng(0).integers(0, 256, (30, 5, 6), dtype=np.uint8)
    np.savez(tmp_path / "i.npz", x_train=images[:20], y_train=np.arange(20) % 2, x_test=images[20:], y_test=[0, 1] * 5)
    bank = made({"name": "npz", "path": str(tmp_path / "i.npz")}, tmp_path)
    np.testing.assert_array_equal(bank.codes("train"), images[:20].reshape(20, 30).T)
    np.testing.assert_array_equal(bank.encode(images[20:].reshape(10, 30)), bank.samples("test"))
    assert bank.edges.shape == (30, 255) and bank.edges[3, 41] == 42


def test_codes_samples_labels_and_encode_agree(data, tmp_path):
    bank = made(data, tmp_path)
    with np.load(data["path"]) as content:
        raw = {split: content[f"x_{split}"] for split in ("train", "test")}
        labels = content["y_test"]
    for split, values in raw.items():
        codes = bank.codes(split)
        assert codes.dtype == np.uint8 and codes.flags.c_contiguous and not codes.flags.writeable
        np.testing.assert_array_equal(bank.samples(split), codes.T)
        np.testing.assert_array_equal(bank.encode(values), codes.T)
        for c in (1, 100):
            np.testing.assert_array_equal(codes >= c, bank.edges[:, [c - 1]] <= values.T)
    np.testing.assert_array_equal(bank.labels("test"), labels)
    assert bank.labels("train").dtype == np.int64 and bank.classes == ("0", "1", "2")
    assert bank.families == [("raw", 0, 4)] and (bank.codes("train")[2] == 0).all()


def test_coates_ng_and_hog_banks_do_not_depend_on_n_jobs_or_blocks(tmp_path, monkeypatch):
    images = np.random.default_rng(0).integers(0, 256, (40, 16, 16), dtype=np.uint8)
    np.savez(tmp_path / "i.npz", x=images, y=np.arange(40) % 2)
    data = {"name": "npz", "path": str(tmp_path / "i.npz")}
    small = {"name": "coates_ng", "atoms": 3, "patches": 50, "iterations": 2, "size": 16}
    kinds = [small, {"name": "hog"}]
    one = [open_bank(data, kind, tmp_path, tmp_path / "a").checksum for kind in kinds]
    monkeypatch.setattr(build, "block_rows", lambda *_: 7)
    two = [open_bank(data, kind, tmp_path, tmp_path / "b", n_jobs=2).checksum for kind in kinds]
    assert one == two


def test_test_samples_change_neither_edges_nor_dictionary(tmp_path):
    rng = np.random.default_rng(0)
    images = rng.integers(0, 256, (20, 12, 12, 3), dtype=np.uint8)
    features = {"name": "coates_ng", "atoms": 3, "patches": 50, "iterations": 2, "size": 12}
    banks = []
    for number in range(2):
        path = tmp_path / f"{number}.npz"
        test = rng.integers(0, 256, (5, 12, 12, 3), dtype=np.uint8)
        np.savez(path, x_train=images, y_train=np.arange(20) % 2, x_test=test, y_test=[0, 1, 0, 1, 0])
        banks.append(made({"name": "npz", "path": str(path)}, tmp_path, features))
    first, second = banks
    assert first.key != second.key
    np.testing.assert_array_equal(first.edges, second.edges)
    np.testing.assert_array_equal(first.codes("train"), second.codes("train"))
    assert (first.codes("test") != second.codes("test")).any()


def test_edges_come_from_one_subset_and_a_bank_is_the_same_for_any_block_size(data, tmp_path, monkeypatch):
    assert len(build.subset(100, 10)) == 10
    np.testing.assert_array_equal(build.subset(100, 10), build.subset(100, 10))
    first = open_bank(data, {"name": "raw", "bins": 9}, tmp_path, tmp_path / "a")
    monkeypatch.setattr(build, "block_rows", lambda *_: 7)
    second = open_bank(data, {"name": "raw", "bins": 9}, tmp_path, tmp_path / "b", memory_mb=1)
    assert first.checksum == second.checksum and (first.edges == second.edges).all()


def test_a_bank_is_built_once_opened_then_and_can_be_sent_to_another_process(data, tmp_path, monkeypatch):
    bank = made(data, tmp_path)
    assert (pickle.loads(pickle.dumps(bank)).codes("train") == bank.codes("train")).all()
    key = made(data, tmp_path).key
    assert bank_key(data, RAW, tmp_path) == bank_key(data, {"name": "raw", "bins": 256}, tmp_path) == key
    assert key != bank_key(data, {"name": "raw", "bins": 8}, tmp_path)
    monkeypatch.setattr(build, "build", None)
    assert made(data, tmp_path).key == key
    assert sorted(p.name for p in (tmp_path / "cache" / "banks").iterdir()) == [key, f"{key}.lock"]


def _open_and_count(data, root, count):
    original = build.build

    def slow(*args, **kwargs):
        with open(count, "a") as stream:
            stream.write("built\n")
        time.sleep(0.3)
        original(*args, **kwargs)

    build.build = slow
    bank = open_bank(data, RAW, root, root / "cache")
    bank.samples("train")
    with open(count, "a") as stream:
        stream.write(bank.checksum + "\n")


def test_two_processes_at_once_build_it_once_and_agree(data, tmp_path):
    context = multiprocessing.get_context("fork")
    both = [context.Process(target=_open_and_count, args=(data, tmp_path, tmp_path / "count")) for _ in range(2)]
    for process in both:
        process.start()
    for process in both:
        process.join(60)
    lines = (tmp_path / "count").read_text().split()
    assert lines.count("built") == 1 and len(lines) == 3 and lines[1] == lines[2]


def test_a_running_build_of_another_bank_is_not_swept(tmp_path):
    half = tmp_path / "abc.tmp"
    half.mkdir()
    with store.locked(tmp_path / "abc"):
        store.sweep_banks(tmp_path)
        assert half.is_dir()
    store.sweep_banks(tmp_path)
    assert not half.exists()


@pytest.mark.parametrize("where", ["room for codes", "last file"])
def test_a_full_disk_is_a_sentence_and_leaves_nothing(data, tmp_path, monkeypatch, where):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(*((store, "_reserve", full) if where == "room for codes" else (build, "_write_meta", full)))
    with pytest.raises(BoostrunError, match="no room left"):
        made(data, tmp_path)
    assert [p.name for p in (tmp_path / "cache" / "banks").iterdir() if not p.name.endswith(".lock")] == []


def test_a_cache_root_or_a_description_that_is_none_is_a_sentence(data, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(BoostrunError, match="cache_root="):
        open_bank(data, RAW, tmp_path, tmp_path / "file")
    folder = made(data, tmp_path).folder
    (folder / "meta.json").write_text(json.dumps({"key": 1})[:-2])
    with pytest.raises(BoostrunError, match="no readable feature bank"):
        Bank(folder)


def test_a_bank_that_was_opened_by_its_folder_is_checked_for_size_and_on_request_for_content(data, tmp_path):
    bank = made(data, tmp_path)
    path = bank.folder / "codes_train.npy"
    content = flipped(path)
    Bank(bank.folder)
    with pytest.raises(BoostrunError, match="checksum"):
        Bank(bank.folder, verify=True)
    path.write_bytes(content[:-1])
    with pytest.raises(BoostrunError, match="is built again"):
        Bank(bank.folder)


def flipped(path, place=-1):
    content = bytearray(path.read_bytes())
    content[place] ^= 1
    path.write_bytes(content)
    return content


def contents(bank):
    return {split: (bank.codes(split).tobytes(), bank.labels(split).tobytes()) for split in ("train", "test")}


@pytest.mark.parametrize("name, damage", [
    *((name, "flip") for name in ("codes_train", "codes_test", "labels_train", "labels_test", "edges")),
    *(("codes_train", damage) for damage in ("head", "cut", "gone", "zeros, times kept")),
])  # fmt: skip
def test_a_damaged_bank_is_built_again_with_a_line(data, tmp_path, capsys, name, damage):
    bank = made(data, tmp_path)
    right, edges, path = contents(bank), bank.edges.tobytes(), bank.folder / f"{name}.npy"
    before = path.stat()
    if damage in ("flip", "head"):
        flipped(path, -1 if damage == "flip" else 20)
    elif damage == "cut":
        path.write_bytes(path.read_bytes()[:-1])
    elif damage == "gone":
        path.unlink()
    else:
        array = np.lib.format.open_memmap(path, mode="r+")
        array[...] = 0
        array.flush()
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    again = made(data, tmp_path)
    assert contents(again) == right and again.edges.tobytes() == edges
    assert capsys.readouterr().err.count("is damaged") == 1
    made(data, tmp_path)
    assert not capsys.readouterr().err


@pytest.mark.parametrize("text", ["", "{", "[]", '{"files": 3}', "[" * 100_000])
def test_a_bank_with_a_damaged_description_is_built_again(data, tmp_path, text):
    bank = made(data, tmp_path)
    meta = (bank.folder / "meta.json").read_text()
    (bank.folder / "meta.json").write_text(text)
    assert contents(made(data, tmp_path)) == contents(bank)
    (bank.folder / "meta.json").write_text(meta.replace('"0"', '"7"'))
    assert made(data, tmp_path).classes == bank.classes
    (bank.folder / "meta.json").unlink()
    assert made(data, tmp_path).classes == bank.classes


@pytest.mark.parametrize("split", ["train", "test"])
@pytest.mark.parametrize("sealed", [True, False])
def test_damaged_samples_are_made_again(data, tmp_path, capsys, split, sealed):
    bank = made(data, tmp_path)
    right = bank.samples(split).tobytes()
    flipped(bank.folder / f"samples_{split}.npy")
    if not sealed:  # samples of before there were checksums of them
        (bank.folder / seal.NAME).unlink()
    assert made(data, tmp_path).samples(split).tobytes() == right
    assert capsys.readouterr().err.count("is made again") == 1


def test_a_bank_is_read_again_only_where_a_file_has_changed(data, tmp_path, monkeypatch, local):
    bank = made(data, tmp_path)
    bank.samples("train")
    time.sleep(0.05)  # a file written just now can change without another time
    made(data, tmp_path)
    read = []
    monkeypatch.setattr(seal, "sha256_of", lambda path: read.append(path.name))
    made(data, tmp_path)
    assert not read
    os.utime(bank.folder / "codes_test.npy")
    monkeypatch.setattr(
        seal, "sha256_of", lambda path: read.append(path.name) or bank.meta["files"][path.name]["sha256"]
    )
    time.sleep(0.05)
    made(data, tmp_path)
    assert read == ["codes_test.npy"]


@pytest.mark.parametrize("text", ["", "{", '{"sha256": 3}', "[" * 100_000])
def test_a_damaged_seal_is_no_harm(data, tmp_path, capsys, text):
    bank = made(data, tmp_path)
    bank.samples("train")
    (bank.folder / seal.NAME).write_text(text)
    assert contents(made(data, tmp_path)) == contents(bank) and not capsys.readouterr().err


def test_features_that_are_not_finite_are_a_sentence(data, tmp_path, monkeypatch):
    from boostrun.features.columns import Raw

    monkeypatch.setattr(Raw, "__call__", lambda self, x: np.full((len(x), 2), np.nan, np.float32))
    with pytest.raises(BoostrunError, match="NaN or infinite"):
        made(data, tmp_path)
    assert not list((tmp_path / "cache" / "banks").glob("*.tmp"))


def test_progress_is_lines_where_stderr_is_no_terminal(data, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("boostrun.features.store._SECONDS", 0.0)
    made(data, tmp_path, progress=True)
    assert "features (train): 200 of 200 images" in capsys.readouterr().err


@pytest.mark.parametrize(("features", "sentence"), [
    ({"name": "rwa"}, "did you mean 'raw'"), ({"name": "raw", "bin": 3}, r"did you mean features\.bins=3"),
    ({"name": "raw", "bins": 257}, "between 2 and 256"), ({"name": "raw", "bins": "x"}, "whole number"),
    ({"name": "hog"}, "works on images"), ({"name": "own", "pipeline": "no.such.module"}, "no module no.such.module"),
])  # fmt: skip
def test_wrong_features_are_a_sentence(data, tmp_path, features, sentence):
    with pytest.raises(BoostrunError, match=sentence):
        made(data, tmp_path, features)


def test_a_pipeline_that_a_paper_declares_needs_no_defaults_of_its_own(data, tmp_path, monkeypatch):
    (tmp_path / "my_halves.py").write_text(
        "class Pipeline:\n"
        "    name = 'halves'\n"
        "    def __init__(self, options): self.by = options['by']\n"
        "    def fit(self, images): return self\n"
        "    def __call__(self, images): return images / self.by\n"
        "    def describe(self): return 'halves'\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(BoostrunError, match="my_halves has no DEFAULTS"):
        made(data, tmp_path, {"name": "halves", "pipeline": "my_halves"})
    keys = dataclasses.make_dataclass("Halves", [("by", int, integer(2))], bases=(FeatureKeys,))
    catalogue.add("features", "halves", Pipeline("my_halves", keys, "halves"))
    try:
        assert made(data, tmp_path, {"name": "halves", "by": 4}).families == [("halves", 0, 4)]
    finally:
        catalogue.forget()


def test_a_pipeline_of_ones_own_is_one_module_and_its_source_is_part_of_the_key(data, tmp_path, monkeypatch):
    source = tmp_path / "my_squares.py"
    source.write_text(
        "DEFAULTS = {'power': 2}\n"
        "class Pipeline:\n"
        "    name = 'squares'\n"
        "    def __init__(self, options): self.power = options['power']\n"
        "    def fit(self, images): return self\n"
        "    def __call__(self, images): return images ** self.power\n"
        "    def describe(self): return 'squares'\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    bank = made(data, tmp_path, {"name": "squares", "pipeline": "my_squares"})
    assert bank.families == [("squares", 0, 4)]
    features = {"name": "squares", "pipeline": "my_squares"}
    source.write_text(source.read_text() + "# a comment changes no feature\n")
    digest.forget()
    assert bank_key(data, features, tmp_path) == bank.key
    source.write_text(source.read_text().replace("images ** self.power", "images ** -self.power"))
    digest.forget()
    assert bank_key(data, features, tmp_path) != bank.key
