"""Conformance checks, as ``boostrun check`` runs them: one named check a line for a method, data set, part or paper."""

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
    """A check failed: the reason, and lines of details."""

    def __init__(self, reason: str, *details: str):
        super().__init__(reason)
        self.details = details


class Skipped(Exception):
    """A check that does not apply, with the reason."""


class Check(NamedTuple):
    """A name that states what must hold, and a function that raises Failed, Skipped or any exception otherwise."""

    name: str
    hold: Callable[[], None]


class Section(NamedTuple):
    """The checks of one subject: its title, and the files and folders of its source, its own file first."""

    title: str
    checks: Sequence[Check]
    own: tuple[str, ...] = ()


class Finding(NamedTuple):
    """The outcome of a check.

    ``status`` is ok, FAILED or skipped; ``details`` are ``file:line: statement`` of the failure.
    """

    name: str
    status: str
    reason: str = ""
    details: tuple[str, ...] = ()


def outcomes(checks: Sequence[Check], own: Sequence[str] = ()) -> Iterator[Finding]:
    """Run each check with warnings and output silenced; yields a Finding for each."""
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
    """An exception as one line."""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text[:200]}" if text else type(error).__name__


def fails_with_a_sentence(function: Callable[[], Any]) -> bool:
    """Whether a call raises an error with a message.

    Raises Failed if the message is empty, or the error is neither ValueError nor TypeError.
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
    """Return ``function(*arguments)`` from a fresh process in which the same plug-ins are registered."""
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
    """Raise Failed if the block changes NumPy's global random state."""
    before = tuple(np.random.get_state())[1:3]
    yield
    after = tuple(np.random.get_state())[1:3]
    if before[1] != after[1] or not np.array_equal(before[0], after[0]):
        raise Failed("it draws from numpy.random itself: trials of one process would depend on their order")
