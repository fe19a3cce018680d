"""A killed build is continued, its bank is the same to the byte, and damaged files are not used."""

import contextlib
import itertools
import json
import multiprocessing
import os
import signal
import time

import numpy as np
import pytest

from boostrun.errors import BoostrunError
from boostrun.features import bank_key, build, coates_ng, open_bank, store
from boostrun.features import store as journal
from boostrun.features.store import Journal
from tests.marks import slow_after

SMALL = {"name": "coates_ng", "atoms": 3, "patches": 50, "iterations": 3, "size": 12}


@pytest.fixture
def data(tmp_path, monkeypatch):
    """40 + 10 small images in an .npz file, built in blocks of 15."""
    monkeypatch.setattr(build, "block_rows", lambda *_: 15)
    rng = np.random.default_rng(0)
    x, y = rng.integers(0, 256, (50, 12, 12, 3), dtype=np.uint8), np.arange(50) % 2
    np.savez(tmp_path / "i.npz", x_train=x[:40], y_train=y[:40], x_test=x[40:], y_test=y[40:])
    return {"name": "npz", "path": str(tmp_path / "i.npz")}


@pytest.fixture
def work(monkeypatch):
    """The work of this process: a name for each iteration of the dictionary and each block of images."""
    done = []
    encode, accumulate = coates_ng.CoatesNg._encode, coates_ng.accumulate

    def encoded(self, images):
        if len(images) > 1:  # one image is the probe
            done.append("block")
        return encode(self, images)

    monkeypatch.setattr(coates_ng.CoatesNg, "_encode", encoded)
    monkeypatch.setattr(coates_ng, "accumulate", lambda *args: (done.append("iteration"), accumulate(*args)))
    return done


def made(data, root, cache="cache", features=SMALL, **more):
    return open_bank(data, features, root, root / cache, **more)


def kill_self(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)


def build_until(data, root, cache, entry, instant):
    """In a child: build, and be killed at the entry of this number in the journal, at one of three instants."""
    write, count = Journal._write, iter(range(1000))

    def counted(self):
        if next(count) == entry:
            if instant == "before":
                kill_self()
            if instant == "half written":
                os.replace = kill_self
            write(self)
            kill_self()
        write(self)

    Journal._write = counted
    made(data, root, cache)


def killed(function, *args):
    process = multiprocessing.get_context("fork").Process(target=function, args=args)
    process.start()
    process.join(60)
    assert process.exitcode == -signal.SIGKILL


def leftovers(root, cache="cache"):
    return [path.name for path in (root / cache / "banks").glob("*.tmp")]


# dictionary 0-2, standardisation 3, probe 4, quantile bins 5-7, edges 8, train 9-11, test 12
ENTRIES = ["iteration"] * 3 + ["block", "probe"] + ["block"] * 3 + ["edges"] + ["block"] * 4


@pytest.mark.parametrize(
    ("entry", "instant"),
    [*(pytest.param(entry, "half written", marks=[] if entry % 4 == 1 else pytest.mark.slow)
       for entry in range(len(ENTRIES))),
     (9, "before"), (2, "after"), pytest.param(8, "after", marks=pytest.mark.slow), (12, "after")],
)  # fmt: skip
def test_a_build_killed_at_any_entry_goes_on_there(data, tmp_path, work, entry, instant):
    expected = made(data, tmp_path, "undisturbed")
    assert work == [unit for unit in ENTRIES if unit in ("iteration", "block")]
    work.clear()
    killed(build_until, data, tmp_path, "cache", entry, instant)
    bank = made(data, tmp_path)
    left = ENTRIES[entry + (instant == "after") :]
    assert work == [unit for unit in left if unit in ("iteration", "block")]
    assert bank.checksum == expected.checksum and bank.meta["files"] == expected.meta["files"]
    assert sorted(path.name for path in bank.folder.iterdir()) == sorted(p.name for p in expected.folder.iterdir())
    assert leftovers(tmp_path) == []


def build_until_cleaning(data, root):
    build.remove = kill_self
    made(data, root)


def test_killed_between_the_renaming_and_the_cleaning_leaves_a_bank(data, tmp_path, work):
    killed(build_until_cleaning, data, tmp_path)
    bank = made(data, tmp_path)
    assert work == [] and len(leftovers(tmp_path)) == 1
    made(data, tmp_path, features={"name": "raw"})
    assert leftovers(tmp_path) == [] and bank.folder.is_dir()


def half_built(data, tmp_path, entry=11):
    """The folder of a build that was killed after an entry."""
    killed(build_until, data, tmp_path, "cache", entry, "after")
    (half,) = (tmp_path / "cache" / "banks").glob(bank_key(data, SMALL, tmp_path) + ".*.tmp")
    return half


def change_head(name, value):
    def change(folder):
        content = json.loads((folder / "journal.json").read_text())
        content[name] = value
        (folder / "journal.json").write_text(json.dumps(content))

    return change


def change_body(folder):
    text = (folder / "journal.json").read_text()
    (folder / "journal.json").write_text(text.replace("[[15,", "[[14,"))


def flip(pattern, at=-1):
    """Change one byte of the file."""

    def change(folder):
        (path,) = folder.glob(pattern)
        content = bytearray(path.read_bytes())
        content[at] ^= 1
        path.write_bytes(content)

    return change


def cut(folder):
    path = folder / "bank" / "codes_train.npy"
    path.write_bytes(path.read_bytes()[:-1])


ALL = [unit for unit in ENTRIES if unit in ("iteration", "block")]


@pytest.mark.parametrize(
    ("damage", "again"),
    slow_after(
        4,
        [
            (change_body, ALL),
            (flip("dictionary.*.npz"), ["iteration"] * 3 + ["block"]),  # later files are equal, and used
            (flip("bank/codes_train.npy", 128), ["block"] * 4),
            (lambda folder: (folder / "journal.json").write_text("{"), ALL),
            (change_head("libraries", {}), ALL),
            (lambda folder: (folder / "journal.json").unlink(), ALL),
            (flip("standardisation.*.npz"), ["block"] * 2),
            (flip("edges.*.npz"), ["block"] * 4),
            (flip("probe.*.npz"), ["block"] * 7),  # the codes were perhaps another pipeline's
            (flip("bank/codes_train.npy", 128 + 39), ["block"] * 2),  # the last block of training images
            (cut, ["block"] * 4),
        ],
    ),
)
def test_what_is_damaged_is_computed_again(data, tmp_path, work, damage, again):
    expected = made(data, tmp_path, "undisturbed")
    work.clear()
    damage(half_built(data, tmp_path))
    assert made(data, tmp_path).meta["files"] == expected.meta["files"]
    assert work == again


def test_a_pipeline_that_is_fitted_otherwise_the_next_time_starts_anew(data, tmp_path, work, monkeypatch):
    monkeypatch.setattr(coates_ng, "SPREAD", 0.5)
    expected = made(data, tmp_path, "undisturbed")
    monkeypatch.setattr(coates_ng, "SPREAD", 0.01)
    folder = half_built(data, tmp_path)
    monkeypatch.setattr(coates_ng, "SPREAD", 0.5)
    work.clear()
    assert made(data, tmp_path).meta["files"] == expected.meta["files"]
    assert work == ["block"] * 7 and not folder.exists()


def test_progress_says_where_it_was_resumed(data, tmp_path, capsys):
    half_built(data, tmp_path, entry=10)
    made(data, tmp_path, progress=True)
    assert "features (train): resumed at 30 of 40 images" in capsys.readouterr().err


def test_an_interrupt_leaves_the_part_that_is_done(data, tmp_path, work):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(build, "_write_meta", interrupted)
        with pytest.raises(KeyboardInterrupt):
            made(data, tmp_path)
    assert len(leftovers(tmp_path)) == 1
    work.clear()
    made(data, tmp_path)
    assert work == [] and leftovers(tmp_path) == []


def test_an_error_leaves_nothing(data, tmp_path, monkeypatch):
    half_built(data, tmp_path)
    monkeypatch.setattr(coates_ng.CoatesNg, "__call__", lambda self, x: np.full((len(x), 24), np.nan, np.float32))
    with pytest.raises(BoostrunError, match="NaN or infinite"):
        made(data, tmp_path)
    assert leftovers(tmp_path) == []


def test_another_bank_sweeps_a_half_built_one_only_when_it_is_old(data, tmp_path):
    folder = half_built(data, tmp_path)
    made(data, tmp_path, features={"name": "raw"})
    assert folder.is_dir()
    old = time.time() - 4 * 24 * 3600
    os.utime(folder / "journal.json", (old, old))
    made(data, tmp_path, features={"name": "raw", "bins": 4})
    assert not folder.exists()


def test_an_old_half_built_bank_is_still_gone_on_with(data, tmp_path, work):
    folder = half_built(data, tmp_path)
    os.utime(folder / "journal.json", (0, 0))
    made(data, tmp_path)
    assert work == ["block"]


def test_builders_that_no_lock_keeps_apart_do_not_meet(data, tmp_path, monkeypatch):
    expected = made(data, tmp_path, "undisturbed")
    monkeypatch.setattr(store, "locked", lambda *_, **__: contextlib.nullcontext(True))
    write, begun = Journal.finished, []

    def another_begins(self, *block):
        write(self, *block)
        if not begun:
            begun.append(True)
            child = multiprocessing.get_context("fork").Process(target=made, args=(data, tmp_path))
            child.start()
            child.join(60)
            assert child.exitcode == 0

    monkeypatch.setattr(Journal, "finished", another_begins)
    assert made(data, tmp_path).meta["files"] == expected.meta["files"] and begun
    assert leftovers(tmp_path) == []


def test_a_half_built_bank_of_another_machine_is_gone_on_with_when_it_is_quiet(data, tmp_path, work):
    folder = half_built(data, tmp_path)
    key, _, rest = folder.name.partition(".")
    folder = folder.rename(folder.with_name(f"{key}.{rest[7::-1]}{rest[8:]}"))
    assert store.place_to_build(folder.with_name(key)) and folder.is_dir()
    os.utime(folder / "journal.json", (time.time() - 90,) * 2)
    work.clear()
    made(data, tmp_path)
    assert work == ["block"] and leftovers(tmp_path) == []


def test_a_damaged_head_of_an_array_is_no_array(tmp_path):
    path, shape = tmp_path / "codes.npy", (3, 10)
    np.save(path, np.ones(shape, np.uint8))
    content = bytearray(path.read_bytes())
    for place, value in itertools.product(range(8, 72), (0, 16, 40, 57, 255)):
        path.write_bytes(content[:place] + bytes([value]) + content[place + 1 :])
        found = journal._opened(path, np.dtype(np.uint8), shape)
        assert found is None or found.shape == shape


def test_a_damaged_journal_says_so_and_one_of_another_bank_does_not(tmp_path, capsys):
    journal.Journal(tmp_path / "k.tmp", "k").save("it", it=np.ones(3))
    assert journal.Journal(tmp_path / "k.tmp", "k").load("it") and not capsys.readouterr().err
    assert journal.Journal(tmp_path / "k.tmp", "other").load("it") is None and not capsys.readouterr().err
    journal.Journal(tmp_path / "k.tmp", "k").save("it", it=np.ones(3))
    (tmp_path / "k.tmp" / "journal.json").write_text("{")
    assert journal.Journal(tmp_path / "k.tmp", "k").load("it") is None
    assert capsys.readouterr().err.count("is damaged") == 1
