"""The first command after an installation, compiler included, and the second; nothing is asserted."""

import os
import subprocess
import sys
import time

import pytest

from tests.bench.timing import show, slowness, yardsticks

pytestmark = pytest.mark.bench


def test_first_and_second_command(tmp_path):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "numba"), "BOOSTRUN_DATA": str(tmp_path / "data")}

    def seconds_to_first_trial(store):
        begun = time.perf_counter()
        process = subprocess.Popen(
            [sys.executable, "-m", "boostrun", "algo=geem", "dataset=digits", "r=100", "T=250", "trials=2",
             f"store={store}"],
            cwd=tmp_path, env=environment, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        first = None
        for line in process.stderr:
            if first is None and line.startswith("trials"):
                first = time.perf_counter() - begun
        process.wait()
        return first, time.perf_counter() - begun

    rows = []
    for name in ("first command, everything compiled", "second command", "third command"):
        before = yardsticks()
        first, whole = seconds_to_first_trial(name.split()[0])
        scale = slowness(before, yardsticks())
        scaled = f"{first / scale:.1f} s on the machine of the targets (this one is {scale:.2f} times as slow)"
        rows.append((name, f"{first:.1f} s to the first finished trial, {scaled}; {whole:.1f} s in all"))
    begun = time.perf_counter()
    subprocess.run([sys.executable, "-m", "boostrun", "--help"], check=True, capture_output=True)
    rows.append(("boostrun --help", f"{time.perf_counter() - begun:.2f} s"))
    show("the command on digits: GEEM, r=100, T=250", rows)
