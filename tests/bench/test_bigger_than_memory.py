"""Reservoir boosting from a file of 1.6 GB: peak memory and accuracy beside a resident subset; nothing slow asserted.

50 million samples of 32 bytes, labels by a noisy sum of a few features, written in pieces and deleted afterwards.
Each method trains in a process of its own, whose peak resident memory the system counts: by the library, and by the
command with ``dataset=stream``, which hashes the file, looks through its labels, trains and tests in one process.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.bench.timing import show

pytestmark = pytest.mark.bench

SAMPLES, FEATURES, PIECE = 50_000_000, 32, 1_000_000

TRAIN = """
import json, sys, time
from pathlib import Path
import numpy as np
from boostrun.data.source import ArraySource
from boostrun.data.stream import StreamSource
from boostrun.papers.reservoir.classifier import ReservoirClassifier

folder, strategy, rounds, kind = sys.argv[1:]
begun = time.perf_counter()
if kind == "file":
    source = StreamSource(folder + "/x.npy", folder + "/y.npy", memory_limit_mb=64, seed=0)
else:
    source = ArraySource(np.load(folder + "/subset_x.npy"), np.load(folder + "/subset_y.npy"), 0)
model = ReservoirClassifier(strategy, reservoir_size=250, n_estimators=int(rounds), random_state=0).fit_source(source)
seconds = time.perf_counter() - begun
test_x, test_y = np.load(folder + "/test_x.npy"), np.load(folder + "/test_y.npy")
found = model.ensemble_.decision(test_x)[0] >= 0
# of this program alone: getrusage would count the process that started it
peak = Path("/proc/self/status").read_text().split("VmHWM:")[1]
print(json.dumps({
    "peak_mib": int(peak.split()[0]) / 1024, "seconds": seconds,
    "accuracy": float((found == test_y).mean()), "drawn": model.samples_drawn_, "held": model.peak_samples_held_,
}))
"""
COMMAND = """
import json, sys
from pathlib import Path
from boostrun.cli import main

code = main(sys.argv[1:])
peak = Path("/proc/self/status").read_text().split("VmHWM:")[1]
print(json.dumps({"code": code, "peak_mib": int(peak.split()[0]) / 1024}))
"""
LIMIT = 256


def pieces(rng, total):
    """(values, labels) in pieces: a label is the noisy sign of a sum over eight features."""
    for _ in range(0, total, PIECE):
        values = rng.integers(0, 256, (min(PIECE, total), FEATURES), dtype=np.uint8)
        total_ = values[:, :8].astype(np.float32) @ np.linspace(1, 2, 8, dtype=np.float32)
        noise = rng.normal(0, 100, len(values)).astype(np.float32)
        yield values, (total_ + noise > 127.5 * 12).astype(np.uint8)


def write(folder, name, parts, total):
    """An .npy file of samples and one of labels, a piece at a time."""
    with open(folder / f"{name}x.npy", "wb") as x, open(folder / f"{name}y.npy", "wb") as y:
        for file, shape in ((x, (total, FEATURES)), (y, (total,))):
            header = {"descr": "|u1", "fortran_order": False, "shape": shape}
            np.lib.format.write_array_header_1_0(file, header)
        for values, labels in parts:
            values.tofile(x)
            labels.tofile(y)


def by_command(folder, strategy):
    """A row for the command: one trial in the process that is measured (n_jobs=1), with LIMIT MiB of buffer."""
    out = subprocess.run(
        [sys.executable, "-c", COMMAND, f"algo={strategy}", "dataset=stream", "dataset.path=x.npy",
         "dataset.label=y.npy", "dataset.test_path=test_x.npy", "dataset.test_label=test_y.npy", "r=250", "T=250",
         f"run.memory_limit={LIMIT}", "n_jobs=1", "trials=1", f"store={strategy}"],
        cwd=folder, env={**os.environ, "BOOSTRUN_DATA": str(folder / "data"), "XDG_CACHE_HOME": str(folder / "cache")},
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    got = json.loads(out.stdout.splitlines()[-1])
    (path,) = (folder / strategy).rglob("*.json")
    record = json.loads(path.read_text())
    cost = record["cost"]
    assert got["code"] == 0 and got["peak_mib"] < 1024
    return (
        f"the command, run.memory_limit={LIMIT}",
        f"peak {got['peak_mib']:.0f} MiB of 1024 MiB, {cost['train_seconds']:.1f} s, accuracy "
        f"{record['metrics']['test_accuracy_pct']:.2f} %, {cost['samples_drawn']} drawn, "
        f"{cost['peak_samples_held']} held, buffer of {cost['buffer_rows']}",
    )


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="peak memory is read from /proc")
def test_a_file_bigger_than_the_memory_that_is_used(tmp_path):
    rng = np.random.default_rng(0)
    try:
        write(tmp_path, "", pieces(rng, SAMPLES), SAMPLES)
        write(tmp_path, "test_", pieces(rng, 100_000), 100_000)
        write(tmp_path, "subset_", pieces(rng, 200_000), 200_000)  # as good as a random subset: samples are independent
        for strategy in ("geem", "wsam"):
            rows = []
            for kind in ("file", "subset"):
                out = subprocess.run(
                    [sys.executable, "-c", TRAIN, str(tmp_path), strategy, "250", kind],
                    check=True, capture_output=True, text=True,
                )  # fmt: skip
                got = json.loads(out.stdout)
                rows.append((
                    "the file, 64 MiB of buffer" if kind == "file" else "200,000 samples in memory",
                    f"peak {got['peak_mib']:.0f} MiB, {got['seconds']:.1f} s, accuracy {100 * got['accuracy']:.2f} %, "
                    f"{got['drawn']} drawn, {got['held']} held",
                ))  # fmt: skip
                assert got["peak_mib"] < 1024
            rows.append(by_command(tmp_path, strategy))
            show(f"{strategy}, r = 250, T = 250, {SAMPLES} x {FEATURES} bytes on disk", rows)
    finally:
        for path in tmp_path.glob("*.npy"):
            path.unlink()
