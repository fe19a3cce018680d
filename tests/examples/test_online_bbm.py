"""The fifth paper, from outside: its own tests, run as its author runs them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "examples" / "online_bbm"
if not PACKAGE.is_dir():
    pytest.skip("the examples are not beside the tests", allow_module_level=True)


def of_its_own(*words):
    """The output of pytest for the package, in a process that has not imported it."""
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *words], cwd=PACKAGE, env=env, check=False,
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
def test_its_own_tests_of_how_it_plugs_in_pass():
    assert " passed" in of_its_own("-n", "0", "-k", "not kappa", "tests/test_plugged_in.py", "tests/test_hyperplane.py")


@pytest.mark.slow
def test_its_own_tests_pass():
    assert " passed" in of_its_own("-n", "0")


@pytest.mark.slow
def test_every_command_of_its_readme_does_what_it_says():
    assert " passed" in of_its_own("-n", "0", "-m", "slow")


def test_nothing_of_boostrun_names_it():
    words = ("online_bbm", "adaboost_ol", "small_margins", "tree2", "thompson", "ternary_patterns")
    texts = {path: path.read_text().lower() for path in (ROOT / "boostrun").rglob("*.py")}
    assert not [(str(path), word) for path, text in texts.items() for word in words if word in text]
