"""Files are complete or absent even with several writers; links and devices stay; leftovers are removed."""

import os

import numpy as np
import pytest
from run_toys import dead

from boostrun import BoostrunError, files
from boostrun.methods import archive
from boostrun.report.markup import write_bytes

posix = pytest.mark.skipif(os.name != "posix", reason="links, devices and processes of that kind")


def test_two_writers_of_one_file_never_meet(tmp_path):
    path = tmp_path / "table.md"
    with files.replacing(path) as one:
        one.write(b"one")
        with files.replacing(path) as other:  # as if no lock kept them apart
            other.write(b"other")
        assert path.read_bytes() == b"other"
    assert path.read_bytes() == b"one" and list(tmp_path.iterdir()) == [path]


def test_what_was_there_stays_when_writing_fails(tmp_path, monkeypatch):
    path = tmp_path / "model.npz"
    archive.save(path, "kind", {"a": np.arange(3)})
    kept = path.read_bytes()

    def fail(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(BoostrunError, match="No space left"):
        archive.save(path, "kind", {"a": np.arange(4)})
    assert path.read_bytes() == kept and list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("write", [write_bytes, lambda path, data: archive.save(path, "kind", {})])
@posix
def test_a_link_stays_and_what_it_leads_to_is_replaced(write, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    link, target = tmp_path / "link.npz", tmp_path / "elsewhere" / "file.npz"
    link.symlink_to(target)
    for _ in range(2):  # it need not be there yet
        write(link, b"new")
        assert link.is_symlink() and target.stat().st_size


@posix
def test_a_device_and_a_pipe_are_written_to(tmp_path):
    write_bytes(os.devnull, b"new")
    assert archive.save(os.devnull, "kind", {}).name == "null" and files.is_device(os.devnull)
    reader, writer = os.pipe()
    with os.fdopen(reader, "rb") as reading:
        write_bytes(f"/dev/fd/{writer}", b"new")
        os.close(writer)
        assert reading.read() == b"new"
    with open(tmp_path / "redirected", "wb") as file:
        assert files.is_device(f"/dev/fd/{file.fileno()}") and not files.is_device(tmp_path / "redirected")


@posix
def test_what_a_dead_writer_left_is_removed_by_the_next_one_and_nobody_elses(tmp_path):
    machine, ours = files._machine(), os.getpid()
    given_again = f"{ours}.{int(files._started(ours) or 2) - 1}"  # to us, after its writer had ended
    writers = (dead(), ours, files.owner().partition("-")[2], *([given_again] if files._started(ours) else []))
    left = [tmp_path / f".table.md.{machine}-{writer}-0123abcd.tmp" for writer in writers]
    foreign, old = (tmp_path / f".table.md.{machine[::-1]}x-1-{name}.tmp" for name in ("0123abcd", "4567abcd"))
    for path in (*left, foreign, old, tmp_path / "kept.tmp"):
        path.write_bytes(b"half")
    os.utime(old, (0, 0))
    write_bytes(tmp_path / "other.md", b"whole")
    assert {path.name for path in tmp_path.iterdir()} == {
        "other.md", "kept.tmp", left[1].name, left[2].name, foreign.name
    }  # fmt: skip
