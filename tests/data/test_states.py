"""States of files: where a change is sure to show, and what is done that it does."""

import mmap
import os
import time

import pytest

from boostrun.data import digests as states
from boostrun.data.digests import looked_at, settled, state_of


def mapped(path):
    """The file as a map that is written through."""
    with open(path, "r+b") as file:
        return mmap.mmap(file.fileno(), 0)


@pytest.fixture
def file(anywhere):
    path = anywhere / "a"
    path.write_bytes(bytes(3 * mmap.PAGESIZE))
    return path


def test_each_write_through_a_map_ends_a_settled_state(disk, quiet_soon):
    path = disk / "a"
    path.write_bytes(bytes(3 * mmap.PAGESIZE))
    written = mapped(path)
    for number in range(1, 20):
        written[number] = number  # the first makes a page dirty, and later ones find it so
        time.sleep(0.03)
        written[number] = 0
        state = settled(path)
        assert state == state_of(path)
        written[number] = number
        assert state_of(path) != state


def test_without_writing_back_a_later_write_through_a_map_would_not_show(file):
    written = mapped(file)
    written[0] = 1
    before = state_of(file)
    time.sleep(0.03)
    written[1] = 1
    assert state_of(file) == before


def test_a_file_that_was_written_a_moment_ago_is_not_settled(disk, monkeypatch):
    path = disk / "a"
    path.write_bytes(b"abc")
    assert settled(path) is None
    monkeypatch.setattr(states.time, "time_ns", lambda: state_of(path)["ctime_ns"] + 2_000_000_001)
    assert settled(path) == state_of(path)
    monkeypatch.setattr(states.time, "time_ns", lambda: state_of(path)["ctime_ns"] - 1)  # the clock was set
    assert settled(path) is None


def test_nothing_is_settled_on_tmpfs(tmpfs, quiet_soon):
    (tmpfs / "a").write_bytes(b"abc")
    time.sleep(0.05)
    assert settled(tmpfs / "a") is None


class System:
    """A system's library that says of each file what it lies on."""

    def __init__(self, kind, failing=()):
        self.kind, self.failing = kind, failing

    def fstatfs(self, descriptor, numbers):
        numbers[0] = self.kind
        return -1 if "fstatfs" in self.failing else 0

    def sync_file_range(self, *_):
        return -1 if "sync_file_range" in self.failing else 0


@pytest.mark.parametrize(
    ("kind", "stamps"),
    [(0xEF53, True), (0x58465342, True), (0x9123683E - (1 << 32), True), (0xF2F52010, True), (0x01021994, False),
     (0x858458F6, False), (0x6969, False), (0xFF534D42, False), (0x01021997, False), (0x65735546, False),
     (0x794C7630, False), (0x4D44, False), (0, False)],
    ids=["ext", "xfs", "btrfs", "f2fs", "tmpfs", "ramfs", "nfs", "cifs", "9p", "fuse", "overlay", "vfat", "none"],
)  # fmt: skip
def test_only_file_systems_that_stamp_each_write_have_settled_states(kind, stamps, tmp_path, monkeypatch, quiet_soon):
    (tmp_path / "a").write_bytes(b"abc")
    time.sleep(0.05)
    monkeypatch.setattr(states, "_linux", lambda: System(kind))
    assert (settled(tmp_path / "a") is not None) == stamps


@pytest.mark.parametrize("system", [None, System(0xEF53, ["fstatfs"]), System(0xEF53, ["sync_file_range"])])
def test_where_the_system_cannot_say_or_write_back_nothing_is_settled(system, tmp_path, monkeypatch, quiet_soon):
    (tmp_path / "a").write_bytes(b"abc")
    time.sleep(0.05)
    monkeypatch.setattr(states, "_linux", lambda: system)
    assert settled(tmp_path / "a") is None


def test_the_device_is_part_of_a_state(tmpfs, tmp_path):
    for folder in (tmpfs, tmp_path):
        (folder / "a").write_bytes(b"abc")
    assert state_of(tmpfs / "a")["device"] != state_of(tmp_path / "a")["device"]


def test_a_file_that_changes_under_a_look_has_no_state_to_be_remembered_by(tmp_path, local):
    path = tmp_path / "a"
    path.write_bytes(b"abc")
    time.sleep(0.05)
    assert looked_at(path, os.path.getsize) == (3, state_of(path))
    assert looked_at(path, lambda path: path.write_bytes(b"abd")) == (3, None)
