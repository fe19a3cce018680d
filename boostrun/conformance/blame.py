"""Which line a failed check is about: one of the checked thing's own, else the assertion itself with its source."""

from __future__ import annotations

import ast
import importlib.util
import linecache
import os
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path

_LONGEST = 120  # characters of a statement


def place(error: BaseException, own: Sequence[str] = ()) -> str:
    """``file:line: statement`` of the deepest frame in the files or folders ``own``, else of the deepest of all.

    Errors that an error was raised from count too, the first cause before the others. Empty where there is no frame.
    """
    chain = list(_chain(error))[::-1]
    frames = [frame for link in chain for frame in reversed(traceback.extract_tb(link.__traceback__))]
    theirs = [frame for frame in frames if _below(frame.filename, own)]
    return next((shown(frame.filename, frame.lineno or 0) for frame in [*theirs, *frames]), "")


def shown(file: str, line: int) -> str:
    """A line of a file as a person looks for it, with the statement that stands there."""
    path = Path(file)
    name = os.path.relpath(path) if path.is_relative_to(Path.cwd()) else file
    return f"{name}:{line}: {statement(file, line)}"


def statement(file: str, line: int) -> str:
    """The statement that a line of a source file belongs to, on one line; of ``raise`` in an ``if``, the condition.

    >>> statement(__file__, 1).startswith("Which line")
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
    """The file of ``module:name``, first, and the folder of its package where it is not boostrun's."""
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


def _below(file: str, own: Sequence[str]) -> bool:
    return any(Path(file).is_relative_to(place) for place in own)


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
