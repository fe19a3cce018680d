"""What `boostrun check` holds a method, a data set or whatever else a person or a paper brings to, one check a line."""

from __future__ import annotations

import contextlib
import io
import pickle
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from boostrun.conformance import subject
from boostrun.extend import registry

_MOST = 10  # lines of one check's details


class Failed(Exception):
    """A check that did not hold, with the reason, and lines of details."""

    def __init__(self, reason: str, *details: str):
        super().__init__(reason)
        self.details = details


class Skipped(Exception):
    """A check that does not apply, with the reason."""


class Check(NamedTuple):
    """A name that says what must hold, and a function that raises Failed, Skipped, or anything, where it does not."""

    name: str
    hold: Callable[[], None]


class Section(NamedTuple):
    """The checks of one thing: what it is, and the files and folders of its source, its own file first."""

    title: str
    checks: Sequence[Check]
    own: tuple[str, ...] = ()


class Finding(NamedTuple):
    """``status`` is ok, FAILED or skipped; ``details`` say where it failed: file, line and what stands there."""

    name: str
    status: str
    reason: str = ""
    details: tuple[str, ...] = ()


def outcomes(checks: Sequence[Check], own: Sequence[str] = ()) -> Iterator[Finding]:
    """Hold each check, without a warning and without a word of the thing itself."""
    for check in checks:
        try:
            with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                check.hold()
        except Skipped as why:
            yield Finding(check.name, "skipped", str(why))
        except Failed as error:
            more = len(error.details) - _MOST
            details = (*error.details[:_MOST], f"... and {more} more") if more > 0 else error.details
            yield Finding(check.name, "FAILED", str(error), details or (subject.place(error, own),))
        except (Exception, SystemExit) as error:
            yield Finding(check.name, "FAILED", said(error), (subject.place(error, own),))
        else:
            yield Finding(check.name, "ok")


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
            raise Failed(f"{type(error).__name__} without a word") from error
        return True
    except Exception as error:
        raise Failed(f"{said(error)}; a ValueError with a sentence is needed") from error
    return False


def plain_and_finite(value: Any) -> bool:
    """Whether a value can stand in a record: text, true or false, finite numbers, and lists and dicts of these."""
    if isinstance(value, dict):
        return all(isinstance(key, str) and plain_and_finite(each) for key, each in value.items())
    if isinstance(value, list):
        return all(map(plain_and_finite, value))
    if value is None or isinstance(value, (str, bool, int)):
        return True
    return isinstance(value, float) and value - value == 0.0


def in_a_worker(function: Callable[..., Any], *arguments: Any) -> Any:
    """What ``function(*arguments)`` of this package returns in a fresh process that knows what is registered here."""
    with tempfile.TemporaryDirectory() as folder:
        task, answer = Path(folder) / "task", Path(folder) / "answer"
        task.write_bytes(pickle.dumps(sys.path) + pickle.dumps(registry.everything()))
        with task.open("ab") as file:
            pickle.dump((function, arguments), file)
        done = subprocess.run(
            [sys.executable, "-c", _WORKER, task, answer], check=False, capture_output=True, text=True
        )
        if done.returncode:
            lines = done.stderr.strip().splitlines()
            places = [line.strip() for line in lines if line.startswith("  File ") and "<string>" not in line]
            reason = lines[-1][:200] if lines else f"exit code {done.returncode}"
            raise Failed(f"in another process: {reason}", *places[-1:])
        return pickle.loads(answer.read_bytes())


_WORKER = """
import pickle, sys
with open(sys.argv[1], "rb") as task:
    sys.path[:] = pickle.load(task)
    from boostrun.extend import registry
    registry.admit(pickle.load(task))
    function, arguments = pickle.load(task)
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
