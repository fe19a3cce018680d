"""Remembered digests are those of the bytes, however they are written; the memory of digests; settled states."""

import hashlib
import json
import mmap
import os
import random
import subprocess
import sys
import time

import pytest

from boostrun.data import digests as module
from boostrun.data.digests import FileDigests, keep, looked_at, one_look, settled, state_of
from boostrun.errors import BoostrunError

WRITER = """
import mmap, os, sys

path, written, file = sys.argv[1], None, None
for line in sys.stdin:
    how, place, value = line.split()
    place, value = int(place), int(value)
    if how == "open" or written is None:
        file = open(path, "r+b")
        written = mmap.mmap(file.fileno(), 0)
    stat = os.stat(path)
    if how == "flush":
        written.flush()
    if how.startswith("map"):
        written[place] = value
    if how.startswith("write"):
        with open(path, "r+b") as other:
            other.seek(place)
            other.write(bytes([value]))
    if how.startswith("replace"):
        content = bytearray(open(path, "rb").read())
        content[place] = value
        with open(path + ".new", "wb") as other:
            other.write(content)
        os.replace(path + ".new", path)
    if how.endswith("+times"):
        os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    print(flush=True)
"""
WAYS = [*9 * ["map"], "map+times", "write", "write+times", "replace", "replace+times", "flush", "open"]
SIZE = 3 * mmap.PAGESIZE


def digest(root, path, *given):
    with FileDigests(root) as digests:
        return digests.of(path, *given)


def quiet(path, content=b"abc"):
    """A file that was written a moment ago."""
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)
    time.sleep(0.05)
    return path


@pytest.fixture
def unread(monkeypatch):
    """From its call on no file may be read."""
    return lambda: monkeypatch.setattr(module, "_digest", lambda path, _: pytest.fail(f"{path} was read"))


@pytest.mark.parametrize("steps", [30, pytest.param(600, marks=pytest.mark.slow)])
def test_a_digest_is_that_of_the_bytes_however_another_process_writes_them(anywhere, steps, quiet_soon):
    path, choose = anywhere / "a", random.Random(steps)
    path.write_bytes(bytes(SIZE))
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as writer:
        for step in range(steps):
            for _ in range(choose.choice([0, 1, 2])):
                line = f"{choose.choice(WAYS)} {choose.randrange(SIZE)} {choose.randrange(256)}"
                print(line, file=writer.stdin, flush=True)
                assert writer.stdout.readline() == "\n"
                time.sleep(choose.choice([0, 0, 0.005, 0.03]))
            time.sleep(choose.choice([0, 0.03, 0.05]))
            assert digest(anywhere, path) == hashlib.sha256(path.read_bytes()).hexdigest(), (step, line)
        writer.stdin.close()


@pytest.mark.parametrize("replace", [False, True])
def test_other_content_of_the_same_size_and_time_has_another_digest(tmp_path, replace, local):
    path, other = quiet(tmp_path / "a", b"one"), tmp_path / "b"
    first, written = digest(tmp_path, path), path.stat()
    other.write_bytes(b"two")
    if replace:
        other.replace(path)
    else:
        path.write_bytes(b"two")
    os.utime(path, ns=(written.st_atime_ns, written.st_mtime_ns))
    assert digest(tmp_path, path) != first


def test_a_quiet_file_on_a_local_disk_is_hashed_once_and_one_on_tmpfs_each_time(anywhere, monkeypatch, quiet_soon):
    read, original = [], module._digest
    monkeypatch.setattr(module, "_digest", lambda *given: read.append(given) or original(*given))
    path = quiet(anywhere / "a")
    for _ in range(3):
        digest(anywhere, path)
    assert len(read) == (3 if anywhere.is_relative_to("/dev/shm") else 1)


# -- the memory


def test_a_memory_of_another_device_without_one_or_altered_does_not_count(tmp_path, capsys, local):
    path, memory = quiet(tmp_path / "a"), tmp_path / ".checksums" / "digests.json"
    right = digest(tmp_path, path)
    for change in ({"device": -1}, {"device": None}):
        entries = json.loads(memory.read_text())["files"]
        changed = {**entries[str(path)], "sha256": "other", **change}
        entries[str(path)] = {key: value for key, value in changed.items() if value is not None}
        memory.write_text(json.dumps({"sha256": module._seal(entries), "files": entries}))
        assert digest(tmp_path, path) == right
    memory.write_text(memory.read_text().replace(right, right[::-1]))
    assert digest(tmp_path, path) == right and capsys.readouterr().err.count("digests.json is damaged") == 1
    assert digest(tmp_path, path) == right and not capsys.readouterr().err


@pytest.mark.parametrize("broken", ["", "{", "[1]", '{"a": 3}', "[" * 100_000, '{"sha256": 1, "files": [2]}'])
def test_a_broken_memory_of_digests_is_no_harm(tmp_path, broken):
    (tmp_path / ".checksums").mkdir()
    (tmp_path / ".checksums" / "digests.json").write_text(broken)
    (tmp_path / "a").write_bytes(b"abc")
    assert digest(tmp_path, tmp_path / "a", "md5") == "900150983cd24fb0d6963f7d28e17f72"


@pytest.mark.parametrize("kept", [False, True])
def test_each_folder_has_a_memory_in_the_data_root_or_where_it_is_kept(tmp_path, monkeypatch, kept, local, unread):
    monkeypatch.setattr(module, "_CACHE_ROOTS", {})
    data, cache = tmp_path / "data", tmp_path / "cache"
    for folder in (data, cache, data / "photos"):
        quiet(folder / "a")
    if kept:
        keep(data, cache)
    expected = [digest(data, data / place) for place in ("a", "photos/a")]
    digest(data, quiet(data / "b"))  # cached digests stay
    memory = (cache if kept else data) / ".checksums"
    assert {path.name for path in memory.iterdir()} == {"digests.json", "digests-photos.json"}
    assert list(json.loads((memory / "digests.json").read_text())["files"]) == [str(data / "a"), str(data / "b")]
    assert (data / ".checksums").exists() != kept
    unread()
    monkeypatch.chdir(tmp_path)
    assert [digest(type(data)("data"), data / place) for place in ("a", "photos/a")] == expected


def test_what_follows_from_the_content_is_remembered_by_it_wherever_the_file_lies(anywhere):
    def length(look):
        with FileDigests(anywhere) as digests:
            return digests.derived(anywhere / "a", "length", look)

    (anywhere / "a").write_bytes(b"abc")
    assert length(lambda path: str(len(path.read_bytes()))) == "3"
    os.utime(anywhere / "a")
    assert length(lambda path: pytest.fail("looked through again")) == "3"
    (anywhere / "a").write_bytes(b"abcd")
    assert length(lambda path: str(len(path.read_bytes()))) == "4"


@pytest.mark.parametrize("changed", ["values", "labels"])
def test_a_look_at_files_that_change_under_it_is_refused_and_not_remembered(tmp_path, changed, local):
    for name in ("values", "labels"):
        quiet(tmp_path / name)

    def look(path):
        (tmp_path / changed).write_bytes(b"abd")
        return "a look at other bytes"

    with pytest.raises(BoostrunError, match=f"{changed} was changed while it was read"), FileDigests(tmp_path) as first:
        first.derived(tmp_path / "values", f"labels {first.of(tmp_path / 'labels')}", look)
    (tmp_path / changed).write_bytes(b"abc")
    with FileDigests(tmp_path) as again:
        what = f"labels {again.of(tmp_path / 'labels')}"
        assert again.derived(tmp_path / "values", what, lambda _: "the right one") == "the right one"


def test_one_look_hashes_no_file_twice_and_the_next_one_does(tmp_path, monkeypatch):
    read = []
    (tmp_path / "a").write_bytes(b"abc")
    monkeypatch.setattr(module, "_digest", lambda *given: read.append(given) or "digest")
    for number in (1, 2):
        with one_look():
            for _ in range(3):
                digest(tmp_path, tmp_path / "a")
        assert len(read) == number


# -- states


def mapped(path):
    """The file as a map that is written through."""
    path.write_bytes(bytes(SIZE))
    with open(path, "r+b") as file:
        return mmap.mmap(file.fileno(), 0)


def test_each_write_through_a_map_ends_a_settled_state(disk, quiet_soon):
    path = disk / "a"
    written = mapped(path)
    for number in range(1, 20):
        written[number] = number  # the first makes a page dirty, and later ones find it so
        time.sleep(0.03)
        written[number] = 0
        state = settled(path)
        assert state == state_of(path)
        written[number] = number
        assert state_of(path) != state


def test_without_writing_back_a_later_write_through_a_map_would_not_show(anywhere):
    written = mapped(anywhere / "a")
    written[0] = 1
    before = state_of(anywhere / "a")
    time.sleep(0.03)
    written[1] = 1
    assert state_of(anywhere / "a") == before


def test_a_file_that_was_written_a_moment_ago_is_not_settled(disk, monkeypatch):
    path = disk / "a"
    path.write_bytes(b"abc")
    assert settled(path) is None
    monkeypatch.setattr(module.time, "time_ns", lambda: state_of(path)["ctime_ns"] + 2_000_000_001)
    assert settled(path) == state_of(path)
    monkeypatch.setattr(module.time, "time_ns", lambda: state_of(path)["ctime_ns"] - 1)  # the clock was set
    assert settled(path) is None


class System:
    """A system's library that says of each file on which kind of file system it lies."""

    def __init__(self, kind, failing=""):
        self.kind, self.failing = kind, failing

    def fstatfs(self, descriptor, numbers):
        numbers[0] = self.kind
        return -1 if self.failing == "fstatfs" else 0

    def sync_file_range(self, *_):
        return -1 if self.failing == "sync_file_range" else 0


@pytest.mark.parametrize(
    ("system", "stamps"),
    [(System(0xEF53), True), (System(0x58465342), True), (System(0x9123683E - (1 << 32)), True),
     (System(0xF2F52010), True), (System(0x01021994), False), (System(0x6969), False), (System(0x794C7630), False),
     (System(0), False), (None, False), (System(0xEF53, "fstatfs"), False), (System(0xEF53, "sync_file_range"), False)],
    ids=["ext", "xfs", "btrfs", "f2fs", "tmpfs", "nfs", "overlay", "none", "no calls", "cannot say", "not written"],
)  # fmt: skip
def test_only_file_systems_that_stamp_each_write_have_settled_states(system, stamps, tmp_path, monkeypatch, quiet_soon):
    quiet(tmp_path / "a")
    monkeypatch.setattr(module, "_linux", lambda: system)
    assert (settled(tmp_path / "a") is not None) == stamps


def test_the_device_is_part_of_a_state_and_nothing_is_settled_on_tmpfs(tmpfs, tmp_path, quiet_soon):
    assert state_of(quiet(tmpfs / "a"))["device"] != state_of(quiet(tmp_path / "a"))["device"]
    assert settled(tmpfs / "a") is None


def test_a_file_that_changes_under_a_look_has_no_state_to_be_remembered_by(tmp_path, local):
    path = quiet(tmp_path / "a")
    assert looked_at(path, os.path.getsize) == (3, state_of(path))
    assert looked_at(path, lambda path: path.write_bytes(b"abd")) == (3, None)
