"""Digest of the source that a result was computed with, found by reading files: nothing is imported.

A record carries the digest of the modules that its algorithm is made of. When one of them changes in what it *does*,
the record is stale; a comment, a docstring or a blank line makes no record stale.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import io
import tokenize
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path

from boostrun.errors import BoostrunError

_HOME = __name__.partition(".")[0]
_SETTINGS = f"{_HOME}.config"  # what it decides, names and defaults of keys, stands in each record's cell


def source_digest(modules: Sequence[str]) -> str:
    """sha256 of the normalised source of ``modules`` and of all that they import of their own packages.

    Followed are imports within the top-level packages of ``modules`` and within boostrun, at any depth: absolute and
    relative ones, inside functions, behind ``try``, and ``import_module`` of a literal name; not those under
    ``if TYPE_CHECKING``, and not ``boostrun.config``, because a record's cell holds every key. The ``__init__`` of a
    plugin's package counts when something in it is imported, that of our own packages only when it is itself imported;
    what it imports is followed only when the package, or a name that is not one of its modules, is imported. A name
    that a package makes up when asked (module ``__getattr__``) cannot be followed: inside a package, import from where
    a thing lives.

    The same on every Python version and independent of the order of ``modules``; found once per process.

    Raises
    ------
    BoostrunError
        When a module is not found, or a source cannot be read or parsed.

    >>> source_digest(["boostrun.errors"]) == source_digest(("boostrun.errors", "boostrun.errors"))
    True
    """
    return _digest(tuple(sorted(set(modules))))


def module_digest(module: str) -> str:
    """sha256 of the normalised source of one module alone; what it imports does not count.

    Raises BoostrunError when the module is not found or cannot be parsed.
    """
    spec = _find(module)
    path = _source_of(spec)
    if path is None or path.suffix != ".py":
        raise BoostrunError(f"no source of {module!r} on the Python path")
    return hashlib.sha256(normalised(_read(module, path), module).encode("utf-8", "surrogatepass")).hexdigest()


def modules_of(modules: Sequence[str]) -> list[str]:
    """Dotted names, sorted, of the modules that :func:`source_digest` reads.

    >>> modules_of(["boostrun.evaluation.seeds"])
    ['boostrun.errors', 'boostrun.runner.cell', 'boostrun.evaluation.seeds']
    """
    return sorted(_closure(tuple(sorted(set(modules)))))


def forget() -> None:
    """Read the sources again next time (they are read once per process)."""
    for cached in (_digest, _closure, _find):
        cached.cache_clear()


@cache
def _digest(modules: tuple[str, ...]) -> str:
    total = hashlib.sha256()
    for name, path in sorted(_closure(modules).items()):
        if path is None:  # a namespace package: no source
            continue
        if path.suffix == ".py":
            source = normalised(_read(name, path), name).encode("utf-8", "surrogatepass")
        else:
            source = path.read_bytes()  # compiled: there is nothing to normalise
        total.update(f"{name}\n{len(source)}\n".encode())
        total.update(source)
    return total.hexdigest()


@cache
def _closure(modules: tuple[str, ...]) -> dict[str, Path | None]:
    own = {name.partition(".")[0] for name in modules} | {_HOME}
    counted: dict[str, Path | None] = {}
    followed: set[str] = set()
    to_follow = list(modules)
    for name in modules:
        if _find(name) is None:
            raise BoostrunError(f"no module {name!r} on the Python path: the algorithm it belongs to cannot be run")
    while to_follow:
        name = to_follow.pop()
        if name == _SETTINGS or name in followed or (spec := _find(name)) is None:
            continue
        followed.add(name)
        parts = name.split(".")
        for depth in range(1, len(parts) + 1):
            parent = ".".join(parts[:depth])
            # our own packages only pass names on, so that their __init__ decides no result; a plugin's may
            if parent == name or parts[0] != _HOME:
                counted[parent] = _source_of(_find(parent))
        path = counted[name]
        if path is not None and path.suffix == ".py":
            package = name if spec.submodule_search_locations is not None else name.rpartition(".")[0]
            tree = _parse(_read(name, path), name)
            to_follow += [found for found in _imports(tree, package) if found.partition(".")[0] in own]
    return counted


def _imports(tree: ast.AST, package: str) -> Iterator[str]:
    """Dotted names of the modules that a module in ``package`` imports, at any depth of its source."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If) and _is_type_checking(node.test):
            waiting += node.orelse
            continue
        waiting += ast.iter_child_nodes(node)
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from _from_imports(node, package)
        elif isinstance(node, ast.Call) and node.args and _called(node.func) == "import_module":
            target = node.args[0]
            if isinstance(target, ast.Constant) and isinstance(target.value, str) and len(node.args) == 1:
                yield target.value


def _from_imports(node: ast.ImportFrom, package: str) -> Iterator[str]:
    base = node.module or ""
    if node.level:
        parents = package.split(".") if package else []
        if node.level > len(parents):
            return  # beyond the top: it would fail when run
        start = ".".join(parents[: len(parents) - node.level + 1])
        base = f"{start}.{base}" if base else start
    spec = _find(base)
    for alias in node.names:
        submodule = f"{base}.{alias.name}"
        is_package = spec is not None and spec.submodule_search_locations is not None
        if is_package and alias.name != "*" and _find(submodule) is not None:
            yield submodule
        else:
            yield base


def _is_type_checking(test: ast.expr) -> bool:
    return _called(test) == "TYPE_CHECKING"


def _called(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


@cache
def _find(name: str) -> ModuleSpec | None:
    """Where a module is, without importing it or its packages (importlib's own find_spec imports the parents)."""
    top, *rest = name.split(".")
    try:
        spec = importlib.util.find_spec(top) if top else None
    except (ImportError, ValueError):  # ValueError: a module made by hand, such as __main__
        spec = PathFinder.find_spec(top)
    found = top
    for part in rest:
        if spec is None or spec.submodule_search_locations is None:
            return None
        found = f"{found}.{part}"
        spec = PathFinder.find_spec(found, list(spec.submodule_search_locations))
    return spec


def _source_of(spec: ModuleSpec | None) -> Path | None:
    return Path(spec.origin) if spec is not None and spec.has_location and spec.origin else None


def _read(name: str, path: Path) -> str:
    try:
        return importlib.util.decode_source(path.read_bytes())
    except (OSError, SyntaxError, UnicodeError) as error:
        raise BoostrunError(f"cannot read the source of {name}: {error}") from None


@cache
def _parse(source: str, name: str) -> ast.Module:
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError) as error:
        raise BoostrunError(f"cannot parse the source of {name}: {error}") from None


@cache
def normalised(source: str, name: str = "source") -> str:
    r"""``source`` without comments, docstrings, blank lines, trailing space and the value of ``__version__``.

    Cut out by position, since the printed form of a syntax tree differs from one Python version to the next. A release
    that changes nothing but ``__version__`` makes no record stale.

    >>> normalised('def f(x):  # why\n    "What f does."\n\n    return x   \n')
    'def f(x):\n    return x\n'
    """
    source = source.replace("\r\n", "\n").replace("\r", "\n")
    lines = source.split("\n")  # not splitlines: it knows more line ends than Python's grammar does
    tree = _parse(source, name)
    try:
        comments, inside = _comments_and_strings(source)
    except (tokenize.TokenError, SyntaxError, IndentationError) as error:
        raise BoostrunError(f"cannot parse the source of {name}: {error}") from None
    # Comments first: each runs to the end of its line, so the positions of what stands before it stay right.
    for row, column in comments:
        lines[row] = lines[row][:column]
    for node in _unwanted(tree):
        first, last = node.lineno - 1, node.end_lineno - 1  # type: ignore[operator]  # ast.parse sets it
        # The tree counts bytes of UTF-8 in a line, not characters.
        start = len(lines[first].encode()[: node.col_offset].decode())
        end = len(lines[last].encode()[: node.end_col_offset].decode())
        rest = lines[last][end:]
        lines[first] = lines[first][:start] + (rest if first == last else "")
        for row in range(first + 1, last + 1):
            lines[row] = rest if row == last else ""
        inside.difference_update(range(first, last))
    kept = [line if row in inside else line.rstrip() for row, line in enumerate(lines)]
    return "".join(line + "\n" for row, line in enumerate(kept) if line or row in inside)


def _comments_and_strings(source: str) -> tuple[list[tuple[int, int]], set[int]]:
    """Where comments begin (row, column), and the rows whose end lies inside a string: these are kept to the letter."""
    comments: list[tuple[int, int]] = []
    inside: set[int] = set()
    begun: list[int] = []  # f-strings are one token before Python 3.12 and several since; nested ones add to the depth
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        kind = tokenize.tok_name[token.type]
        if kind == "COMMENT" and not begun:
            comments.append((token.start[0] - 1, token.start[1]))
        elif kind == "STRING":
            inside.update(range(token.start[0] - 1, token.end[0] - 1))
        elif kind in ("FSTRING_START", "TSTRING_START"):
            begun.append(token.start[0] - 1)
        elif kind in ("FSTRING_END", "TSTRING_END"):
            inside.update(range(begun.pop(), token.end[0] - 1))
    return comments, inside


def _unwanted(tree: ast.Module) -> list[ast.stmt]:
    """Docstrings and the assignment of ``__version__``, last one first."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)) and node.body:
            first = node.body[0]
            value = first.value if isinstance(first, ast.Expr) else None
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                found.append(first)
    for node in tree.body:
        if isinstance(node, ast.Assign) and [_called(target) for target in node.targets] == ["__version__"]:
            found.append(node)
    return sorted(found, key=lambda node: (node.lineno, node.col_offset), reverse=True)
