"""The real command, in a process and a folder of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

PACKAGE = Path(__file__).parents[1]


class Done(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    err: str


def boostrun(words: str, workplace: Path) -> Done:
    """Run ``boostrun`` with words in an empty data root, store, cache and folder of results below ``workplace``."""
    env = {
        **os.environ, "BOOSTRUN_DATA": str(workplace / "datasets"), "XDG_CACHE_HOME": str(workplace / "cache"),
        "COLUMNS": "100",
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-m", "boostrun", *words.split()], cwd=workplace, env=env, capture_output=True, text=True,
        check=False, timeout=600,
    )  # fmt: skip
    return Done(done.returncode, done.stdout, done.stderr)
