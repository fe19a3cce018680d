"""Remembered digests are those of the bytes, whoever writes them and however; where they are kept."""

import hashlib
import json
import os
import random
import subprocess
import sys
import time

import pytest

from boostrun.data import digests as module
from boostrun.data.digests import FileDigests, keep, one_look
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
SIZE = 3 * 4096


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
            with FileDigests(anywhere) as digests:
                found = digests.of(path)
            assert found == hashlib.sha256(path.read_bytes()).hexdigest(), (step, line)
        writer.stdin.close()


def test_a_quiet_file_on_a_local_disk_is_hashed_once_and_one_on_tmpfs_each_time(anywhere, monkeypatch, quiet_soon):
    path, read, original = anywhere / "a", [], module._digest
    monkeypatch.setattr(module, "_digest", lambda *given: read.append(given) or original(*given))
    path.write_bytes(b"abc")
    time.sleep(0.05)
    for _ in range(3):
        with FileDigests(anywhere) as digests:
            digests.of(path)
    assert len(read) == (3 if anywhere.is_relative_to("/dev/shm") else 1)


def test_what_is_remembered_of_another_device_or_without_one_does_not_count(tmp_path, local):
    path, memory = tmp_path / "a", tmp_path / ".checksums" / "digests.json"
    path.write_bytes(b"abc")
    time.sleep(0.05)
    with FileDigests(tmp_path) as digests:
        right = digests.of(path)
    for device in (None, -1):
        entries = json.loads(memory.read_text())["files"]
        entries[str(path)] = {**entries[str(path)], "sha256": "other", "device": device}
        if device is None:
            del entries[str(path)]["device"]
        memory.write_text(json.dumps({"sha256": module._seal(entries), "files": entries}))
        with FileDigests(tmp_path) as digests:
            assert digests.of(path) == right


def test_memories_lie_in_the_cache_root_and_nothing_in_the_data_root(tmp_path, monkeypatch, local):
    monkeypatch.setattr(module, "_CACHE_ROOTS", {})
    data, cache = tmp_path / "data", tmp_path / "cache"
    for folder in (data, data / "photos", cache):
        folder.mkdir()
        (folder / "a").write_bytes(b"abc")
    time.sleep(0.05)
    keep(data, cache)
    with FileDigests(data) as digests:
        digests.of(data / "a")
        digests.of(data / "photos" / "a")
    assert {path.name for path in (cache / ".checksums").iterdir()} == {"digests.json", "digests-photos.json"}
    assert not (data / ".checksums").exists()
    monkeypatch.setattr(module, "_digest", lambda path, _: pytest.fail(f"{path} was read"))
    monkeypatch.chdir(tmp_path)
    with FileDigests(type(data)("data")) as digests:
        digests.of(data / "photos" / "a")


def test_what_follows_from_the_content_is_remembered_by_it_wherever_the_file_lies(anywhere):
    path = anywhere / "a"
    path.write_bytes(b"abc")
    with FileDigests(anywhere) as digests:
        assert digests.derived(path, "length", lambda path: str(len(path.read_bytes()))) == "3"
    os.utime(path)
    with FileDigests(anywhere) as digests:
        assert digests.derived(path, "length", lambda path: pytest.fail("looked through again")) == "3"
    path.write_bytes(b"abcd")
    with FileDigests(anywhere) as digests:
        assert digests.derived(path, "length", lambda path: str(len(path.read_bytes()))) == "4"


@pytest.mark.parametrize("changed", ["values", "labels"])
def test_a_look_at_files_that_change_under_it_is_refused_and_not_remembered(tmp_path, changed, local):
    for name in ("values", "labels"):
        (tmp_path / name).write_bytes(b"abc")
    time.sleep(0.05)

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
    path, read = tmp_path / "a", []
    path.write_bytes(b"abc")
    monkeypatch.setattr(module, "_digest", lambda *given: read.append(given) or "digest")
    for number in (1, 2):
        with one_look():
            for _ in range(3):
                with FileDigests(tmp_path) as digests:
                    digests.of(path)
        assert len(read) == number
