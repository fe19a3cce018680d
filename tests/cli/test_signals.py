"""SIGTERM at the start of a command: a sentence and exit code 143, whatever is being imported."""

import os
import subprocess
import sys

import pytest

COMING = """
import os, signal, sys

class Blow:
    def find_spec(self, name, path=None, target=None):
        if name == {name!r}:
            {blow}

sys.meta_path.insert(0, Blow())
sys.argv = ["boostrun", "ls"]
from boostrun.__main__ import command
sys.exit(command())
"""


@pytest.mark.skipif(os.name != "posix", reason="sends SIGTERM")
@pytest.mark.parametrize("name", ["boostrun.cli", "boostrun.cli.arguments", "boostrun.config"])
@pytest.mark.parametrize(
    "blow", ["os.kill(os.getpid(), signal.SIGTERM)", "exec('os.kill(os.getpid(), signal.SIGTERM)')"]
)
def test_sigterm_while_the_command_is_imported_is_a_sentence_and_143(name, blow):
    code = COMING.format(name=name, blow=blow)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 143
    assert done.stderr.startswith("boostrun: interrupted") and done.stderr.count("\n") == 1


def test_nothing_but_signals_is_imported_before_they_are_looked_after():
    code = "import sys; before = set(sys.modules); import boostrun.__main__; print(*sorted(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    ours = {name for name in done.stdout.split() if name.startswith("boostrun")}
    first = {"boostrun", "boostrun.__main__", "boostrun.import_hooks", "boostrun.signals"}
    assert ours == first
