"""What `boostrun check` holds a person's algorithm, data set or feature family to, one check a line."""

from __future__ import annotations

import contextlib
import io
import pickle
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from boostrun.extend import objects


class Failed(Exception):
    """A check that did not hold, with the reason."""


class Skipped(Exception):
    """A check that does not apply, with the reason."""


class Check(NamedTuple):
    """A name that says what must hold, and a function that raises Failed, Skipped, or anything, where it does not."""

    name: str
    hold: Callable[[], None]


class Outcome(NamedTuple):
    """``status`` is ok, FAILED or skipped."""

    name: str
    status: str
    reason: str = ""


def outcomes(checks: list[Check]) -> Iterator[Outcome]:
    """Hold each check, without a warning and without a word of the thing itself."""
    for check in checks:
        try:
            with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                check.hold()
        except Skipped as why:
            yield Outcome(check.name, "skipped", str(why))
        except (Exception, SystemExit) as error:
            yield Outcome(check.name, "FAILED", str(error) if isinstance(error, Failed) else said(error))
        else:
            yield Outcome(check.name, "ok")


def said(error: BaseException) -> str:
    """An exception in one line."""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text[:200]}" if text else type(error).__name__


def fails_with_a_sentence(function: Callable[[], Any]) -> bool:
    """Whether it refuses with a sentence; Failed where the error has no text or is of a kind that nobody chose.

    Of the kinds that NumPy and Python themselves raise on bad arrays, ValueError and TypeError are good enough.
    """
    try:
        function()
    except (ValueError, TypeError) as error:
        if not str(error).strip():
            raise Failed(f"{type(error).__name__} without a word") from None
        return True
    except Exception as error:
        raise Failed(f"{said(error)}; a ValueError with a sentence is needed") from None
    return False


def in_a_worker(where: str, function: Callable[..., Any], *arguments: Any) -> Any:
    """What ``function(*arguments)`` of this package returns in a fresh process that may import ``where``."""
    with tempfile.TemporaryDirectory() as folder:
        task, answer = Path(folder) / "task", Path(folder) / "answer"
        task.write_bytes(pickle.dumps(sys.path) + pickle.dumps((objects.allowed([where]), function, arguments)))
        done = subprocess.run(
            [sys.executable, "-c", _WORKER, task, answer], check=False, capture_output=True, text=True
        )
        if done.returncode:
            lines = done.stderr.strip().splitlines()
            raise Failed(f"in another process: {lines[-1][:200] if lines else f'exit code {done.returncode}'}")
        return pickle.loads(answer.read_bytes())


_WORKER = """
import pickle, sys
with open(sys.argv[1], "rb") as task:
    sys.path[:] = pickle.load(task)
    from boostrun.extend import objects
    own, function, arguments = pickle.load(task)
for where, folder in own:
    objects.allow(where, folder)
    objects.obtain(where)
result = pickle.dumps(function(*arguments))
with open(sys.argv[2], "wb") as answer:
    answer.write(result)
"""


@contextlib.contextmanager
def numpy_left_alone() -> Iterator[None]:
    """Failed where NumPy's global random state is moved."""
    before = tuple(np.random.get_state())[1:3]
    yield
    after = tuple(np.random.get_state())[1:3]
    if before[1] != after[1] or not np.array_equal(before[0], after[0]):
        raise Failed("it draws from numpy.random itself: trials of one process would depend on their order")
