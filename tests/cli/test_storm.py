"""Short storms (make storm, make fuzz): the command killed at random, damaged input, a full disk, a wrong clock."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

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
