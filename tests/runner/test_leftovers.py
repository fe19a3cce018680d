"""What a killed command leaves outside of its records goes with the next one."""

import os
import signal
from pathlib import Path

import pytest
from run_toys import Toy, dead, record, script, wait_for

from boostrun.files import owner
from boostrun.runner import pool
from boostrun.store.store import _UNLINK_LOCKS, Store

pytestmark = pytest.mark.skipif(not Path("/dev/shm").is_dir(), reason="there is no such shared memory")


@pytest.fixture
def places(tmp_path, monkeypatch):
    """Folders in place of shared memory and of that for temporary files."""
    for name in ("shared", "temporary"):
        (tmp_path / name).mkdir()
    monkeypatch.setattr(pool, "_SHARED", tmp_path / "shared")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    return tmp_path / "shared", tmp_path / "temporary"


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
