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

SWEEP = ["-m", "algo=rand,wsam", "dataset=digits", "r=20", "T=30", "trials=6", "n_jobs=2", "run.pictures=false"]


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
    (path,) = (folder / "results" / "tables").glob("*/table.csv")
    lines = [line.split(",") for line in path.read_text().splitlines()]
    assert lines[0][-1] == "fit s"  # which no two runs share
    return [line[:-1] for line in lines]


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


@pytest.mark.slow
@pytest.mark.parametrize("signal_sent", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_command_killed_midway_and_run_again_ends_in_the_same_table(signal_sent, undisturbed, workplace):
    process = start(workplace, *SWEEP)
    wait_for_records(workplace, 3, process)
    process.send_signal(signal_sent)
    _, err = process.communicate()
    kept = {path: path.stat().st_mtime_ns for path in records(workplace)}
    assert 3 <= len(kept) < 12 and process.returncode != 0
    if signal_sent != signal.SIGKILL:
        assert process.returncode == 128 + signal_sent and "interrupted" in err and "Traceback" not in err
    for path in kept:
        assert json.loads(path.read_text())["status"] == "done"
    again = start(workplace, *SWEEP)
    assert again.wait() == 0
    assert len(records(workplace)) == 12
    assert all(path.stat().st_mtime_ns == before for path, before in kept.items())
    assert table_of(workplace) == undisturbed


@pytest.mark.slow
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


@pytest.fixture
def busy():
    """Four processes that take the processors from what is tested."""
    loop = f"import os\nwhile os.getppid() == {os.getpid()}: pass"
    running = [subprocess.Popen([sys.executable, "-c", loop]) for _ in range(4)]
    yield
    for process in running:
        process.kill()
        process.wait()


# Before loky's thread looks at what it has sent, others have the processor: seldom by chance, here always.
LATE = """
import sys
if "boostrun" in sys.orig_argv:  # and no worker
    import time
    from joblib.externals.loky.process_executor import _ExecutorManagerThread as Thread
    sends_the_next = Thread.process_result_item
    def late(thread, answer):
        sends_the_next(thread, answer)
        time.sleep(1.0)
    Thread.process_result_item = late
"""


@pytest.mark.slow
@pytest.mark.parametrize("finished, late", [(0, False), (5, True), (30, False)])
def test_ctrl_c_on_a_busy_machine_with_trials_in_flight_and_queued_prints_one_sentence(
    busy, workplace, monkeypatch, finished, late
):
    (workplace / "late").mkdir()
    (workplace / "late" / "sitecustomize.py").write_text(LATE if late else "")
    monkeypatch.setenv("PYTHONPATH", str(workplace / "late"), prepend=os.pathsep)
    process = start(workplace, "algo=rand", "dataset=digits", "r=10", "T=1", "trials=3000", "n_jobs=2")
    limit = time.monotonic() + 600
    while len(children(process.pid)) < 2 and time.monotonic() < limit:  # the workers are being begun
        time.sleep(0.01)
    wait_for_records(workplace, finished, process, 600)
    assert len(records(workplace)) >= finished
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 130 and "interrupted" in err
    assert not any(word in out + err for word in ("Traceback", "Exception", "Warning")), err
    assert all(json.loads(path.read_text())["status"] == "done" for path in records(workplace))
