"""A short storm (scripts/storm.py, ``make storm``): the command killed at random, a full disk, a clock that jumps."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "storm.py"


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="finds processes through /proc")
def test_a_short_storm_ends_in_the_undisturbed_table():
    storm = subprocess.run([sys.executable, SCRIPT, "--kills", "6"], capture_output=True, text=True, check=False)
    assert storm.returncode == 0, storm.stderr
    assert "none lost, changed or doubled" in storm.stdout and "episodes" in storm.stdout
