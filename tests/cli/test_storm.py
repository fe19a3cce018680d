"""Ctrl-C on a busy machine, and short storms (make storm, make fuzz): kills, damaged input, a full disk."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from run_toys import listen_to_ctrl_c

SCRIPT = Path(__file__).parents[2] / "scripts" / "storm.py"


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="finds processes through /proc")
def test_a_short_storm_ends_in_the_undisturbed_table():
    words = ["--kills", "6", "--busy", "2"]
    storm = subprocess.run([sys.executable, SCRIPT, *words], capture_output=True, text=True, check=False)
    assert storm.returncode == 0, storm.stderr
    assert "none lost, changed or doubled" in storm.stdout and "episodes" in storm.stdout


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks a process for each case")
def test_damaged_input_ends_in_a_sentence_or_a_right_result():
    fuzz = subprocess.run(
        [sys.executable, SCRIPT.with_name("fuzz.py"), "--cases", "60"], capture_output=True, text=True, check=False
    )
    assert fuzz.returncode == 0, fuzz.stderr
    assert "WRONG" not in fuzz.stdout and "exit code 2" in fuzz.stdout


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


def children(pid):
    tasks = Path(f"/proc/{pid}/task")
    found = []
    for task in tasks.iterdir():
        found += [int(child) for child in (task / "children").read_text().split()]
    return found + [grandchild for child in found for grandchild in children(child)]


@pytest.fixture
def busy():
    """Four busy processes that slow down the tested ones."""
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
    while len(children(process.pid)) < 2 and time.monotonic() < limit:  # the workers start
        time.sleep(0.01)
    wait_for_records(workplace, finished, process, 600)
    assert len(records(workplace)) >= finished
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 130 and "interrupted" in err
    assert not any(word in out + err for word in ("Traceback", "Exception", "Warning")), err
    assert all(json.loads(path.read_text())["status"] == "done" for path in records(workplace))
