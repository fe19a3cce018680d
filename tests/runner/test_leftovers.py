"""The board of a run is read; the next command removes the temporary files of a killed one."""

import os
import pickle
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from run_toys import Toy, dead, record, script, trials, wait_for

from boostrun.files import owner
from boostrun.runner import pool, worker
from boostrun.runner.queue import run_trials
from boostrun.runner.worker import RECORDED, RUNNING, WAITING, TrialBoard
from boostrun.store import _UNLINK_LOCKS, Store

shared = pytest.mark.skipif(not Path("/dev/shm").is_dir(), reason="there is no such shared memory")


@pytest.fixture
def places(tmp_path, monkeypatch):
    """Folders in place of shared memory and of that for temporary files."""
    for name in ("shared", "temporary"):
        (tmp_path / name).mkdir()
    monkeypatch.setattr(pool, "_SHARED", tmp_path / "shared")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    return tmp_path / "shared", tmp_path / "temporary"


@shared
def test_shared_memory_of_dead_commands_of_ours_goes_and_no_other(places):
    shared, temporary = places
    machine, gone = owner().partition("-")[0], dead()
    for number in (gone, os.getpid(), 1):
        (shared / f"joblib_memmapping_folder_{number}_ab_cd").mkdir()
        (shared / f"sem.loky-{number}-xyz").write_text("")
    for who in (f"{machine}-{gone}", owner(), f"{machine[::-1]}-1"):
        (temporary / f"boostrun-{who}-.pool").write_text("")
    pool.sweep()
    assert not any(str(gone) in path.name for path in shared.iterdir()) and len(list(shared.iterdir())) == 4
    assert len(list(temporary.iterdir())) == 2


@shared
@pytest.mark.slow
def test_a_killed_group_leaves_nothing_in_shared_memory_after_the_next_run(tmp_path, monkeypatch):
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    command = script(tmp_path / "s", 200, Toy(str(tmp_path), seconds=0.05), 2)
    assert wait_for(lambda: len(Toy(str(tmp_path)).executions()) >= 2)
    os.killpg(command.pid, signal.SIGKILL)
    command.communicate()

    def left():
        return [path.name for path in Path("/dev/shm").iterdir() if f"-{command.pid}-" in path.name.replace("_", "-")]

    assert left()
    script(tmp_path / "t", 4, Toy(str(tmp_path)), 2).communicate()
    assert not left() and not list(temporary.glob("boostrun-*.pool")) and not list(temporary.glob("*.board"))


@pytest.mark.skipif(not _UNLINK_LOCKS, reason="this filelock keeps its files")
def test_locks_that_nobody_holds_go_and_others_stay(tmp_path):
    store, held, left = Store(tmp_path), record(0)["key"], record(1)["key"]
    with store.lock(held):
        (tmp_path / ".locks" / left).write_text("")
        Store(tmp_path).sweep_locks()
        assert [path.name for path in (tmp_path / ".locks").iterdir()] == [held]
    assert not list((tmp_path / ".locks").iterdir())


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


@pytest.mark.slow
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
