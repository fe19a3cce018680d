"""A bank is built from the data that its key names, or not kept; its files are checked as those of the data are."""

import os
import time

import numpy as np
import pytest

from boostrun import data as data_module
from boostrun import extend
from boostrun.errors import BoostrunError
from boostrun.extend import loader
from boostrun.features import bank_key, open_bank
from boostrun.features import store as seal
from boostrun.features.bank import CheckedSplit

RAW = {"name": "raw"}
CHANGED = "were changed while they were read; run it again"


def write(folder, seed=0):
    x = np.random.default_rng(seed).standard_normal((250, 4)).astype(np.float32)
    y = np.arange(250) % 3
    np.savez(folder / "t.npz", x_train=x[:200], y_train=y[:200], x_test=x[200:], y_test=y[200:])
    return {"name": "npz", "path": str(folder / "t.npz")}


def banks(folder):
    return [path.name for path in (folder / "cache" / "banks").iterdir() if not path.name.endswith(".lock")]


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_bank_whose_file_changes_while_it_is_read_is_not_kept(anywhere, monkeypatch, when):
    from boostrun.data import arrays

    dataset, original = write(anywhere), arrays.read_npz

    def read(options, root):
        if when == "before":
            write(anywhere, 1)
        parts = original(options, root)
        if when == "after":
            write(anywhere, 1)
        return parts

    monkeypatch.setattr(arrays, "read_npz", read)
    with pytest.raises(BoostrunError, match=CHANGED):
        open_bank(dataset, RAW, anywhere, anywhere / "cache")
    assert banks(anywhere) == []
    with pytest.raises(BoostrunError, match=CHANGED):
        write(anywhere)
        data_module.load(dataset, anywhere)


def test_a_file_that_changes_between_the_key_and_the_reading_makes_no_bank(anywhere, monkeypatch):
    dataset, original = write(anywhere), data_module.load

    def load(*given):
        write(anywhere, 1)
        return original(*given)

    monkeypatch.setattr(data_module, "load", load)
    with pytest.raises(BoostrunError, match=CHANGED):
        open_bank(dataset, RAW, anywhere, anywhere / "cache")
    assert banks(anywhere) == []


class Mapped:
    """A user's data set that returns a memory map of its file."""

    def __init__(self, folder: str):
        self.folder = folder

    def files(self, data_root):
        return [f"{self.folder}/x.npy"]

    def read(self, data_root):
        return np.load(f"{self.folder}/x.npy", mmap_mode="r"), np.arange(60) % 2


def test_a_map_that_changes_while_a_bank_is_built_of_it_makes_no_bank(anywhere, monkeypatch):
    from boostrun.features import build

    np.save(anywhere / "x.npy", np.random.default_rng(0).random((60, 3)))
    monkeypatch.setitem(extend._allowed, f"{__name__}:Mapped", "")
    own = {"name": "mapped", "class": f"{__name__}:Mapped", "folder": str(anywhere), "split_seed": 0}
    dataset, original = loader.config_for({**own, "test_fraction": 0.2}, anywhere), build.build

    def built(*given, **named):
        np.lib.format.open_memmap(anywhere / "x.npy", mode="r+")[:] = 0
        return original(*given, **named)

    monkeypatch.setattr(build, "build", built)
    with pytest.raises(BoostrunError, match=CHANGED):
        open_bank(dataset, RAW, anywhere, anywhere / "cache")
    assert banks(anywhere) == []


@pytest.mark.parametrize("seed", [0, 3])
def test_what_is_fitted_on_the_first_split_is_kept_under_its_own_key_alone(tmp_path, seed):
    lines = [f"{i * 7 % 50},{i % 2}" for i in range(100)]
    (tmp_path / "t.csv").write_text("\n".join(["a,label", *lines]))
    dataset = {"name": "csv", "path": str(tmp_path / "t.csv"), "split_seed": seed}
    split = CheckedSplit(dataset, RAW, tmp_path, tmp_path / "cache", bank_key(dataset, RAW, tmp_path))
    with split.kept() as kept:
        first = kept.folder.name
        assert len(split.images(np.zeros((80, 1)))) == 80
    assert first == bank_key({**dataset, "split_seed": 0}, RAW, tmp_path)
    with pytest.raises(BoostrunError, match=CHANGED), split.kept():
        (tmp_path / "t.csv").write_text("\n".join(["a,label", *reversed(lines)]))
        if seed == 0:  # its images were read before
            with split.kept():
                pass
        split.images(np.zeros((80, 1)))
    with pytest.raises(BoostrunError, match=CHANGED), split.kept():
        pass


def test_a_state_of_a_banks_file_counts_only_where_a_change_is_sure_to_show(anywhere, monkeypatch, quiet_soon):
    dataset = write(anywhere)
    folder = open_bank(dataset, RAW, anywhere, anywhere / "cache").folder
    time.sleep(0.05)
    open_bank(dataset, RAW, anywhere, anywhere / "cache")
    every, read, original = {path.name for path in folder.glob("*.npy")} | {"meta.json"}, [], seal.sha256_of
    monkeypatch.setattr(seal, "sha256_of", lambda path: read.append(path.name) or original(path))
    open_bank(dataset, RAW, anywhere, anywhere / "cache")
    assert set(read) == (every if anywhere.is_relative_to("/dev/shm") else set())


def test_a_bank_written_through_an_open_map_is_found_damaged(anywhere, quiet_soon, capsys):
    dataset = write(anywhere)
    bank = open_bank(dataset, RAW, anywhere, anywhere / "cache")
    codes = np.lib.format.open_memmap(bank.folder / "codes_train.npy", mode="r+")
    expected = codes.tobytes()
    for number in range(3):
        codes[0, number] = codes[0, number]
        time.sleep(0.05)
        open_bank(dataset, RAW, anywhere, anywhere / "cache")
        codes[0, number + 1] ^= 1
        bank = open_bank(dataset, RAW, anywhere, anywhere / "cache")
        assert "is damaged" in capsys.readouterr().err and bank.codes("train").tobytes() == expected
        codes = np.lib.format.open_memmap(bank.folder / "codes_train.npy", mode="r+")


def test_a_seal_that_says_nothing_new_is_not_written(tmpfs):
    dataset = write(tmpfs)
    folder = open_bank(dataset, RAW, tmpfs, tmpfs / "cache").folder
    open_bank(dataset, RAW, tmpfs, tmpfs / "cache")
    before = os.stat(folder / seal.NAME)
    open_bank(dataset, RAW, tmpfs, tmpfs / "cache")
    assert os.stat(folder / seal.NAME).st_ino == before.st_ino
