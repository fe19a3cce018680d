"""The board of a run: what is marked is read, and boards of killed commands do not pile up in the temporary folder."""

import os
import pickle
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from run_toys import Toy, script, trials, wait_for

from boostrun.runner import worker
from boostrun.runner.queue import run_trials
from boostrun.runner.worker import RECORDED, RUNNING, WAITING, TrialBoard
from boostrun.store.store import Store

needs_locks = pytest.mark.skipif(worker.fcntl is None, reason="needs file locks")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The temporary folder, of this process and of those that it starts."""
    path = tmp_path / "temporary"
    path.mkdir()
    monkeypatch.setenv("TMPDIR", str(path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return path


def boards(folder):
    return list(folder.glob("boostrun-*.board"))


def age(path):
    os.utime(path, (0, 0))


def test_marks_of_this_process_and_of_a_worker_are_read(folder):
    ours = TrialBoard.make(4)
    try:
        ours.mark(1, RUNNING)
        code = (
            "import pickle, sys; board = pickle.loads(bytes.fromhex(sys.argv[1])); "
            f"board.mark(2, {RECORDED!r}); board.mark(1, {RECORDED!r})"
        )
        subprocess.run([sys.executable, "-c", code, pickle.dumps(ours).hex()], check=True)
        assert ours.read() == [WAITING, RECORDED, RECORDED, WAITING]
        boards(folder)[0].unlink()  # by somebody who empties the folder
        ours.mark(3, RUNNING)
        assert ours.read() == [WAITING, RECORDED, RECORDED, RUNNING]
    finally:
        ours.remove()


@pytest.mark.parametrize("left", [0, 2])
def test_trials_of_a_board_that_was_cut_count_as_waiting(folder, left):
    ours = TrialBoard.make(4)
    try:
        ours.mark(1, RECORDED)
        ours.mark(3, RUNNING)
        os.truncate(ours.path, left)
        assert ours.read() == ([WAITING, RECORDED] if left else [WAITING] * 2) + [WAITING] * 2
        ours.mark(3, RUNNING)
        assert ours.read()[3] == RUNNING
    finally:
        ours.remove()


def test_a_run_that_ends_leaves_none(folder, tmp_path):
    run_trials(trials(3), Toy(str(tmp_path)), Store(tmp_path / "s"), n_jobs=1, provenance={})
    assert not boards(folder)


@needs_locks
def test_of_old_boards_only_those_that_nobody_holds_are_swept_away(folder):
    held, other = TrialBoard.make(2), folder / "another.board"
    for path in (other, folder / "boostrun-dead.board", folder / "boostrun-young.board"):
        path.write_bytes(WAITING)
    (folder / "boostrun-link.board").symlink_to(other)
    for path in (Path(held.path), other, folder / "boostrun-dead.board"):
        age(path)
    new = TrialBoard.make(1)
    try:
        names = {path.name for path in folder.iterdir()}
        assert names == {
            Path(held.path).name, Path(new.path).name, "another.board", "boostrun-young.board", "boostrun-link.board",
        }  # fmt: skip
        held.mark(1, RUNNING)
        assert held.read() == [WAITING, RUNNING]
    finally:
        held.remove()
        new.remove()


@needs_locks
def test_the_board_of_a_killed_command_is_swept_away_by_a_later_one(folder, tmp_path):
    command = script(tmp_path / "s", 30, Toy(str(tmp_path), seconds=0.1))
    assert wait_for(lambda: len(Toy(str(tmp_path)).executions()) >= 2)
    (left,) = boards(folder)
    age(left)
    worker.sweep_boards(folder)
    assert boards(folder) == [left]  # its command lives
    os.kill(command.pid, signal.SIGKILL)
    command.communicate()
    assert boards(folder) == [left]
    run_trials(trials(1), Toy(str(tmp_path)), Store(tmp_path / "t"), n_jobs=1, provenance={})
    assert not boards(folder)
