"""Conformance checks, as ``boostrun check`` runs them: one named check a line for a method, data set, part or paper."""

from __future__ import annotations

import ast
import contextlib
import importlib.util
import io
import linecache
import os
import pickle
import subprocess
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from boostrun import extend
from boostrun.config import catalogue
from boostrun.data.source import ArraySource
from boostrun.data.streams.drift_stream import DriftStream, Holdout
from boostrun.inputs.bank import Followed, Table
from boostrun.methods.declaration import Method, obtain

_MOST = 10  # lines of one check's details
_LONGEST = 120  # characters of a statement


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
            yield Finding(check.name, "FAILED", str(error), details or (place(error, own),))
        except (Exception, SystemExit) as error:
            yield Finding(check.name, "FAILED", said(error), (place(error, own),))
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


def can(thing: Any, *names: str) -> bool:
    """Whether a class or an object has methods of these names."""
    return all(callable(getattr(thing, name, None)) for name in names)


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
        task.write_bytes(pickle.dumps(sys.path) + pickle.dumps(extend.everything()))
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
    from boostrun import extend
    extend.admit(pickle.load(task))
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


# -- the line of code that a failure points to -------------------------------------------------------------------------


def place(error: BaseException, own: Sequence[str] = ()) -> str:
    """``file:line: statement`` of the deepest frame in the files or folders ``own``, else of the deepest frame.

    Frames of the error's causes count, first cause first. Empty if there is no frame.
    """
    chain = list(_chain(error))[::-1]
    frames = [frame for link in chain for frame in reversed(traceback.extract_tb(link.__traceback__))]
    theirs = [frame for frame in frames if any(map(Path(frame.filename).is_relative_to, own))]
    return next((shown(frame.filename, frame.lineno or 0) for frame in [*theirs, *frames]), "")


def shown(file: str, line: int) -> str:
    """``file:line: statement`` of a line, with the path relative to the working directory if it lies below it."""
    path = Path(file)
    name = os.path.relpath(path) if path.is_relative_to(Path.cwd()) else file
    return f"{name}:{line}: {statement(file, line)}"


def statement(file: str, line: int) -> str:
    """The statement that a line of a source file belongs to, on one line; of ``raise`` in an ``if``, the condition.

    >>> statement(__file__, 1).startswith("Conformance")
    True
    """
    text = linecache.getline(file, line).strip().strip("\"'")
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except (SyntaxError, ValueError):
        return text
    found: ast.stmt | None = None
    around: ast.stmt | None = None
    for node in ast.walk(tree):  # parents before children
        if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or node.lineno):
            found, around = node, found
    if isinstance(found, ast.Raise) and isinstance(around, ast.If):
        text = f"if {ast.unparse(around.test)}"
    elif isinstance(found, (ast.Assert, ast.Return, ast.Assign, ast.AugAssign, ast.Raise, ast.AnnAssign)):
        text = ast.unparse(found)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} ..."


def files_of(where: str) -> tuple[str, ...]:
    """The file of ``module:name``, then the folder of its package unless it is boostrun's."""
    module = where.partition(":")[0]
    try:
        spec = importlib.util.find_spec(module)
        package = importlib.util.find_spec(module.partition(".")[0])
    except (ImportError, ValueError):
        return ()
    found = [spec.origin] if spec is not None and spec.origin else []
    if package is not None and package.submodule_search_locations and not __name__.startswith(f"{package.name}."):
        found += list(package.submodule_search_locations)
    return tuple(found)


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


# -- a method made small, and its data ---------------------------------------------------------------------------------


FAMILIES = [("first", 0, 2), ("middle", 2, 3), ("last", 3, 6)]
CLASSES = ("0", "1", "2")
_N = 120


def blobs(n: int = _N, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """``n`` samples (n, 6) uint8 codes of three classes, and their labels (n,) int64."""
    labels = np.arange(n) % 3
    noise = np.random.default_rng(seed).normal(0, 12, (n, 6))
    high = np.arange(6) // 2 == labels[:, None]  # each class has two features of its own: linear predictors find it
    return np.clip(np.where(high, 180, 60) + noise, 0, 255).astype(np.uint8), labels


class _Bank:
    """Blobs in both parts, other ones in each."""

    classes, families = CLASSES, FAMILIES

    def __init__(self) -> None:
        self.meta: dict[str, Any] = {}
        self._parts = {split: blobs(_N, seed) for seed, split in enumerate(("train", "test"))}
        for x, y in self._parts.values():
            x.setflags(write=False)
            y.setflags(write=False)

    def samples(self, split: str) -> np.ndarray:
        return self._parts[split][0]

    def codes(self, split: str) -> np.ndarray:
        return np.ascontiguousarray(self._parts[split][0].T)

    def values(self, split: str) -> np.ndarray:
        return self._parts[split][0].astype(np.float64)

    def labels(self, split: str) -> np.ndarray:
        return self._parts[split][1]

    def fitted(self) -> dict[str, np.ndarray]:
        return {}


def table(kind: str) -> Table:
    """Blobs as an evaluation sees a data set: features of the ``kind`` codes, values, products, stumps or anchors."""
    return Table(_Bank(), kind)


def examples(n: int, turn: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """``n`` examples (n, 3) float64, labels (n,) 0 and 1, which are the other way round after ``turn`` of them."""
    x = np.random.default_rng(seed).uniform(0, 10, (n, 3))
    y = (x[:, 0] + x[:, 1] <= 8).astype(np.int64)
    y[turn:] ^= 1
    return x, y


def followed(holdouts: bool, first: int) -> Followed:
    """400 examples as an evaluation sees a stream, measured on hold-outs or by testing, then training."""
    x, y = examples(400, 200)
    parts = tuple(Holdout(*examples(50, turn, seed=1)) for turn in (50, 0)) if holdouts else ()
    stream = DriftStream("made", x, y, ("0", "1"), np.array([200]), parts)
    if holdouts:
        return Followed(stream, first, eval_every=20, window=None, fading=None, curve_every=None)
    return Followed(stream, first, eval_every=None, window=100, fading=0.99, curve_every=50)


KINDS = ("codes", "values", "products", "stumps", "anchors")  # of features: the first that it learns from is tried
_SMALL = {"r": 30, "q": 30, "n": 20, "M": 20}  # small enough for a check; other budgets are at most 10


def small_budget(method: Method, given: Mapping[str, int]) -> dict[str, int]:
    """A budget small enough for a check; values in ``given`` are kept."""
    budget: dict[str, int] = {}
    for key, default in method.budget_defaults.items():
        usual = budget[default] if isinstance(default, str) else min(default, _SMALL.get(key, 10))
        budget[key] = given.get(key, usual)
    return budget


class Subject:
    """The method ``name`` of the catalogue with the keys ``values`` and a ``budget``.

    Attributes: ``X`` (120, 6), codes or values as it declares, and ``y``, three classes that lie well apart; ``table``,
    the same as an evaluation sees it. ``follows``: it learns from streams alone, example by example.
    """

    def __init__(self, name: str, values: Mapping[str, Any], budget: Mapping[str, int]):
        self.name, self.values, self.budget = name, dict(values), dict(budget)
        self.method = catalogue.methods()[name]
        self.cls = obtain(self.method.target)
        self.own = files_of(self.method.target)
        kinds = [kind for kind in KINDS if kind in self.method.inputs]
        self.follows = not kinds
        self.table = table(kinds[0] if kinds else "values")
        self.X, self.y = self.table.inputs("train"), self.table.labels("train")

    @property
    def plain(self) -> tuple[str, dict[str, Any], dict[str, int]]:
        """The arguments from which another process makes the same subject."""
        return self.name, self.values, self.budget

    def make(self, seed: int = 0) -> Any:
        """A new estimator, as the runner makes it."""
        return self.method.make(self.values, self.budget, {"random_state": seed, "n_jobs": 1})

    def along_streams(self) -> Subject:
        """The same, trained along a stream of the same samples."""
        other = Subject(*self.plain)
        other.follows = True
        return other

    def source(self, seed: int, kind: type[ArraySource] = ArraySource) -> ArraySource:
        """The training samples as a source, as the runner has it."""
        made = self.table.source(np.random.SeedSequence(seed))
        if kind is not ArraySource:
            watched = kind(made.samples, made.labels, made.seed, columns=made.columns)
            watched.families = made.families
            return watched
        return made

    def train(self, model: Any, seed: int = 0) -> Any:
        """Fit from a Filter where it can draw from one, as the runner does, along a stream, or to the arrays."""
        if self.follows:
            model.test_then_train(self.X, self.y, np.unique(self.y))
        elif can(model, "fit_source"):
            model.fit_source(self.source(seed))
        else:
            model.fit(self.X, self.y)
        return model

    def trained(self, seed: int = 0) -> Any:
        """One that is trained as the runner trains it."""
        return self.train(self.make(seed), seed)


def answers(model: Any, X: np.ndarray) -> np.ndarray:
    """The most detailed predictions for X: decision values or probabilities if available, else labels."""
    for name in ("decision_function", "predict_proba"):
        scores = getattr(model, name, None)  # not a Protocol: scikit-learn's have one for some parameters only
        if scores is not None:
            return np.asarray(scores(X))
    return np.asarray(model.predict(X))


class Nearest:
    """Nearest class mean, for a table or a stream; has all the methods that evaluations call."""

    def __init__(self, seed: int = 0):
        self.n_learners_ = 1
        self.classes_ = np.empty(0)

    def fit(self, X: np.ndarray, y: np.ndarray) -> Nearest:
        """Learn a table."""
        self.classes_ = np.unique(y)
        self._sums = np.stack([X[y == label].sum(axis=0, dtype=float) for label in self.classes_])
        self._counts = np.array([np.sum(y == label) for label in self.classes_], float)
        return self

    def fit_source(self, source: Any) -> Nearest:
        """Learn all samples of a source."""
        return self.fit(source.samples, source.labels)

    def test_then_train(self, X: np.ndarray, y: np.ndarray, classes: np.ndarray | None = None) -> np.ndarray:
        """Labels of the rows, each before it is learnt."""
        if not len(self.classes_):
            self.classes_ = np.unique(y if classes is None else classes)
            self._sums, self._counts = np.zeros((len(self.classes_), X.shape[1])), np.zeros(len(self.classes_))
        said = []
        for x, label in zip(X, y):
            said.append(self.predict(x[None])[0])
            place = np.searchsorted(self.classes_, label)
            self._sums[place] += x
            self._counts[place] += 1
        return np.array(said)

    def decision_function(self, X: np.ndarray) -> np.ndarray:
        """Minus the squared distances (n, classes) to the means."""
        means = self._sums / np.maximum(self._counts, 1.0)[:, None]
        return -np.square(np.asarray(X, float)[:, None, :] - means).sum(axis=2)

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Labels (n,) of X (n, d)."""
        return self.classes_[self.decision_function(X).argmax(axis=1)]

    def staged_predict(self, X: np.ndarray) -> Iterator[np.ndarray]:
        """One stage."""
        yield self.predict(X)
