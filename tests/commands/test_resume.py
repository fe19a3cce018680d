"""Kill -9 of the real command and of its workers: finished trials are kept, the rest run, the table is the same."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from run_toys import listen_to_ctrl_c

SWEEP = ["-m", "algo=rand,wsam", "dataset=digits", "r=20", "T=30", "trials=6", "n_jobs=2"]


def start(folder, *words):
    line = [sys.executable, "-m", "boostrun", *words]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(line, cwd=folder, preexec_fn=listen_to_ctrl_c, **pipes)


def records(folder):
    return list((folder / "results" / "runs").rglob("*.json"))


def wait_for_records(folder, n, process, seconds=60):
    limit = time.monotonic() + seconds
    while len(records(folder)) < n and process.poll() is None and time.monotonic() < limit:
        time.sleep(0.002)


def table_of(folder):
    (path,) = (folder / "results" / "tables").glob("*/table.md")
    return path.read_bytes()


def children(pid):
    tasks = Path(f"/proc/{pid}/task")
    found = []
    for task in tasks.iterdir():
        found += [int(child) for child in (task / "children").read_text().split()]
    return found + [grandchild for child in found for grandchild in children(child)]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("undisturbed")
    process = start(folder, *SWEEP)
    assert process.wait() == 0
    return table_of(folder)


@pytest.mark.parametrize(
    "signal_sent", [signal.SIGKILL, pytest.param(signal.SIGTERM, marks=pytest.mark.slow), signal.SIGINT]
)
def test_a_command_killed_midway_and_run_again_ends_in_the_same_table(signal_sent, undisturbed, workplace):
    process = start(workplace, *SWEEP)
    wait_for_records(workplace, 3, process)
    process.send_signal(signal_sent)
    _, err = process.communicate()
    kept = {path: path.stat().st_mtime_ns for path in records(workplace)}
    assert 3 <= len(kept) < 12 and process.returncode != 0
    if signal_sent != signal.SIGKILL:
        assert process.returncode == 130 and "interrupted" in err and "Traceback" not in err
    for path in kept:
        assert json.loads(path.read_text())["status"] == "done"
    again = start(workplace, *SWEEP)
    assert again.wait() == 0
    assert len(records(workplace)) == 12
    assert all(path.stat().st_mtime_ns == before for path, before in kept.items())
    assert table_of(workplace) == undisturbed


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="finds the workers through /proc")
def test_a_killed_worker_is_replaced_and_the_table_is_the_same(undisturbed, workplace):
    process = start(workplace, *SWEEP)
    wait_for_records(workplace, 2, process)
    for child in children(process.pid):
        if "LokyProcess" in Path(f"/proc/{child}/cmdline").read_text():
            os.kill(child, signal.SIGKILL)
            break
    else:
        pytest.fail("no worker was found")
    process.communicate()
    assert process.returncode == 0 and len(records(workplace)) == 12
    assert table_of(workplace) == undisturbed
