"""Python source as names: the names that top-level statements of a module bind, import and change. Imports nothing."""

from __future__ import annotations

import ast
import functools
import importlib.util
import os
import sysconfig
from collections.abc import Iterable, Iterator
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from typing import NamedTuple

from boostrun.errors import BoostrunError

_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_SCOPES = frozenset({*DEFINITIONS, *_COMPREHENSIONS, ast.Lambda})
_ATOMS = frozenset({ast.Constant, ast.Import, ast.ImportFrom, ast.Load, ast.Store, ast.Del, ast.Global, ast.Nonlocal})
_BINDING = frozenset({ast.ExceptHandler, ast.MatchAs, ast.MatchStar, ast.MatchMapping})
# functions and decorators that hand back a function, class or field and store it nowhere
PURE = frozenset({
    "abstractmethod", "cache", "cached_property", "classmethod", "contextmanager", "dataclass", "deleter", "field",
    "final", "getter", "guvectorize", "intrinsic", "jit", "lru_cache", "njit", "override", "property",
    "runtime_checkable", "setter", "staticmethod", "stencil", "total_ordering", "vectorize", "wraps",
})  # fmt: skip
_INSTALLED = frozenset({"site-packages", "dist-packages"})


class Node(NamedTuple):
    """A definition that can be referred to: a name of a module, ``*`` for all of it, ``#i`` for its i-th effect."""

    module: str
    name: str

    @property
    def label(self) -> str:
        """``package.module.name``."""
        return f"{self.module}.{self.name}"


class ModuleRef(NamedTuple):
    """A module, where a name leads to one."""

    module: str


class Outside(NamedTuple):
    """A dotted name that is not followed: of another library, or of code that does not count (empty)."""

    dotted: str


Target = Node | ModuleRef | Outside


class Module:
    """The top of a module: names with the statements and imports that bind them, and statements with other effects."""

    def __init__(self, name: str, path: Path, package: bool):
        self.name, self.path = name, path
        self.package = name if package else name.rpartition(".")[0]
        self.tree = parsed(path, name)
        self.bound: dict[str, list[ast.stmt]] = {}
        self.imported: dict[str, list[tuple[str, str]]] = {}
        self.stars: list[str] = []
        self.statements = list(_run(self.tree.body))
        for statement in self.statements:
            for node in inner([statement]):
                if isinstance(node, (ast.Import, ast.ImportFrom)):
                    self._import(node)
                    for local, _ in imports_of(node, self.package) if node is not statement else ():
                        if local != "*":  # the condition decides what is imported
                            self.bound.setdefault(local, []).append(statement)
            for bound in names_bound([statement]):
                if statement not in self.bound.setdefault(bound, []):
                    self.bound[bound].append(statement)
        for statement in self.statements:  # a statement that changes a name in place binds it too
            for base in {names[0] for each in inner([statement]) for names in changes(each) if names}:
                if statement not in self.bound.get(base, [statement]):
                    self.bound[base].append(statement)

    def _import(self, node: ast.Import | ast.ImportFrom) -> None:
        for local, target in imports_of(node, self.package):
            if local == "*":
                self.stars.append(target[0])
            else:
                self.imported.setdefault(local, []).append(target)

    def defines(self, name: str) -> bool:
        """Whether a statement or an import at its top binds the name."""
        return name in self.bound or name in self.imported

    @functools.cached_property
    def lazy(self) -> dict[str, tuple[str, str]]:
        """Names that ``__getattr__`` of a module imports when they are asked for, with their module and name."""
        makers = [each for each in self.bound.get("__getattr__", ()) if isinstance(each, ast.FunctionDef)]
        found: dict[str, tuple[str, str]] = {}
        for statement in self.statements if makers else ():
            value = getattr(statement, "value", None)
            for key, item in zip(value.keys, value.values) if isinstance(value, ast.Dict) else ():
                texts = [one.value for one in (key, item) if isinstance(one, ast.Constant)]
                if len(texts) == 2 and all(isinstance(text, str) for text in texts):
                    name, (module, _, attribute) = str(texts[0]), str(texts[1]).partition(":")
                    absolute = importlib.util.resolve_name(module, self.package) if self.package else module
                    found[name] = absolute, attribute or name
        for maker in makers:
            for node in ast.walk(maker):
                if isinstance(node, ast.ImportFrom):
                    found |= {local: target for local, target in imports_of(node, self.package) if target[1]}
        return found

    @functools.cached_property
    def public(self) -> frozenset[str]:
        """Names that a star import of this module binds."""
        listed = self.bound.get("__all__", ())
        value = getattr(listed[0], "value", None) if len(listed) == 1 else None
        if isinstance(value, (ast.List, ast.Tuple)) and all(isinstance(one, ast.Constant) for one in value.elts):
            return frozenset(str(one.value) for one in value.elts if isinstance(one, ast.Constant))
        if listed:  # computed: any name may be among them
            return frozenset((*self.bound, *self.imported))
        return frozenset(name for name in (*self.bound, *self.imported) if not name.startswith("_"))


STATES: dict[Path, tuple[int, ...]] = {}
"""The state of each file by the file system when it was read."""


INSTEAD: dict[Path, bytes] = {}
"""Sources that are taken instead of those in the files, while digests of imported code are computed."""


def state_of(path: Path) -> tuple[int, ...]:
    """The file system's state of a file, which changes with every write or replacement; empty if the file is gone.

    Device, inode, size, and both times.
    """
    try:
        found = os.stat(path)
    except OSError:
        return ()
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


@functools.cache
def parsed(path: Path, name: str) -> ast.Module:
    """The syntax tree of a file; BoostrunError with the module's ``name`` where it cannot be read or parsed."""
    STATES[path] = state_of(path)
    try:
        content = INSTEAD[path] if path in INSTEAD else path.read_bytes()
        return ast.parse(importlib.util.decode_source(content))
    except (OSError, SyntaxError, ValueError) as error:
        raise BoostrunError(f"cannot read the source of {name}: {error}") from None


def found_at(name: str) -> ModuleSpec | None:
    """The location of a module, without importing it or its packages; None if there is none."""
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
        places = list(spec.submodule_search_locations)
        try:
            spec = PathFinder.find_spec(found, places)
        except KeyError:  # a namespace package, which the import system would import first
            spec = ModuleSpec(found, None, is_package=True)
            spec.submodule_search_locations = [str(Path(place, part)) for place in places if Path(place, part).is_dir()]
    return spec


# -- a person's own code -----------------------------------------------------------------------------------------------


@functools.cache
def homes_of(module: str) -> frozenset[str]:
    """Folders and files whose definitions count with those of a module: beside it, or installed with it.

    Each as it is named, and where its links lead.
    """
    top = module.partition(".")[0]
    spec = None if top == __name__.partition(".")[0] else found_at(top)
    places = [] if spec is None else list(spec.submodule_search_locations or ())
    if spec is not None and spec.has_location and spec.origin and not places:
        places = [spec.origin]
    found = set[str]()
    for first in absolute_paths(places):
        beside = os.path.dirname(first)
        others = [os.path.join(beside, f"{other}{end}") for other in _siblings(top) for end in ("", ".py")]
        found |= {first, *others} if is_installed(first) else {beside}
    return frozenset(found)


def absolute_paths(places: Iterable[str | None]) -> set[str]:
    """Absolute paths of places, as they are named and where links lead."""
    return {absolute(place) for place in places if place for absolute in (os.path.abspath, os.path.realpath)}


@functools.cache
def _libraries() -> frozenset[str]:
    found = sysconfig.get_paths()
    return frozenset(absolute_paths(found[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")))


@functools.cache
def _siblings(top: str) -> tuple[str, ...]:
    """Top-level names that were installed with one."""
    from importlib.metadata import packages_distributions

    owners = packages_distributions()
    return tuple(sorted(name for name, found in owners.items() if {*found} & {*owners.get(top, ())}))


def is_installed(path: str) -> bool:
    """Whether a file or folder is, or lies in, an installed library."""
    return bool(_INSTALLED.intersection(Path(path).parts)) or os.path.dirname(path) in _libraries()


def is_below(path: str, home: str) -> bool:
    """Whether a file or folder is, or lies in, another; Python's library or an installed one below it does not."""
    while path != home:
        above = os.path.dirname(path)
        if above == path or os.path.basename(path) in _INSTALLED or path in _libraries():
            return False
        path = above
    return True


def modules_in(folder: str, prefix: str = "", above: frozenset[str] = frozenset()) -> Iterator[str]:
    """Dotted names of the Python files in a folder, and in folders below it that hold some."""
    here = os.path.realpath(folder)
    entries = sorted(os.listdir(folder)) if os.path.isdir(folder) and os.access(folder, os.R_OK) else []
    if here in above or (above and not any(entry.endswith(".py") for entry in entries)):
        return
    for entry in entries:
        name, end = os.path.splitext(entry)
        if name.isidentifier() and end == ".py":
            yield f"{prefix}{name}".removesuffix(".__init__")
        elif entry.isidentifier():
            yield from modules_in(os.path.join(folder, entry), f"{prefix}{entry}.", above | {here})


# -- names -------------------------------------------------------------------------------------------------------------


def imports_of(node: ast.Import | ast.ImportFrom, package: str) -> Iterator[tuple[str, tuple[str, str]]]:
    """Each local name that an import binds, with the module and the attribute (empty: the module itself)."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            top = alias.name.partition(".")[0]
            yield alias.asname or top, (alias.name if alias.asname else top, "")
        return
    base = _base(node, package)
    for alias in node.names:
        yield alias.asname or alias.name, (base, "" if alias.name == "*" else alias.name)


def _base(node: ast.ImportFrom, package: str) -> str:
    """The absolute name of the module that a ``from`` import names; empty beyond the top, where it fails when run."""
    if not node.level:
        return node.module or ""
    parents = package.split(".") if package else []
    if node.level > len(parents):
        return ""
    start = ".".join(parents[: len(parents) - node.level + 1])
    return f"{start}.{node.module}" if node.module else start


def names_bound(statements: Iterable[ast.AST]) -> dict[str, None]:
    """Names that statements bind in their own scope, imports excepted, in the order in which they stand there."""
    found: dict[str, None] = {}
    waiting = [*statements][::-1]
    while waiting:
        node = waiting.pop()
        kind = type(node)
        if kind is ast.Name:
            if type(node.ctx) is not ast.Load:  # type: ignore[attr-defined]
                found[node.id] = None  # type: ignore[attr-defined]
        elif kind in _ATOMS:
            pass
        elif kind in _SCOPES:
            if kind in DEFINITIONS:
                found[node.name] = None  # type: ignore[attr-defined]
                waiting += node.decorator_list  # type: ignore[attr-defined]
            elif kind in _COMPREHENSIONS:
                found |= {each.target.id: None for each in ast.walk(node) if isinstance(each, ast.NamedExpr)}
        else:
            if kind in _BINDING and (name := getattr(node, "rest" if kind is ast.MatchMapping else "name", None)):
                found[name] = None
            for field in reversed(node._fields):
                value = getattr(node, field, None)
                if type(value) is list:
                    waiting += [each for each in reversed(value) if isinstance(each, ast.AST)]
                elif isinstance(value, ast.AST):
                    waiting.append(value)
    return found


def inner(statements: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements and those in their blocks, but not in definitions."""
    for statement in statements:
        yield statement
        if not isinstance(statement, DEFINITIONS):
            for block in _BLOCKS:
                for each in getattr(statement, block, ()):
                    yield from inner([each] if isinstance(each, ast.stmt) else each.body)


def _run(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements that run when a module is imported: no docstring, nothing for type checkers or for ``-m``."""
    for statement in body:
        if isinstance(statement, ast.If) and (last(statement.test) == "TYPE_CHECKING" or _is_main(statement.test)):
            yield from _run(statement.orelse)
        elif not (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)):
            yield statement


def _is_main(test: ast.expr) -> bool:
    return ast.dump(test) == ast.dump(ast.parse('__name__ == "__main__"', mode="eval").body)


def last(node: ast.AST) -> str:
    """The last name of a dotted name, or of the function of a call; empty for anything else."""
    if isinstance(node, ast.Call):
        return last(node.func)
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def dotted(node: ast.AST) -> list[str]:
    """The names of ``a.b.c``, or of a called or indexed expression; empty if it begins with something else."""
    names: list[str] = []
    while not isinstance(node, ast.Name):
        if isinstance(node, ast.Attribute):
            names.append(node.attr)
            node = node.value
        elif isinstance(node, (ast.Call, ast.Subscript)):
            names, node = [], node.func if isinstance(node, ast.Call) else node.value
        else:
            return []
    return [node.id, *reversed(names)]


def changes(statement: ast.AST) -> Iterator[list[str]]:
    """Dotted names that a simple statement changes without binding, as in ``a.b[0] = 1`` or ``a.append(1)``.

    Empty names for a call that is not understood.
    """
    if isinstance(statement, ast.Expr):
        call = statement.value
        if isinstance(call, ast.Call):
            yield dotted(call.func)[:-1] if isinstance(call.func, ast.Attribute) else []
        elif not isinstance(call, ast.Constant):
            yield []
    targets = getattr(statement, "targets", [getattr(statement, "target", None)])
    for target in targets if isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Delete)) else ():
        for one in target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]:
            if isinstance(one, (ast.Attribute, ast.Subscript)):
                yield dotted(one.value)


def run_with(statement: ast.AST) -> Iterator[ast.AST]:
    """The parts of a statement that run with it: all but the bodies of functions."""
    waiting = [statement]
    while waiting:
        node = waiting.pop()
        yield node
        if isinstance(node, _FUNCTIONS):
            waiting += [*getattr(node, "decorator_list", ()), *node.args.defaults, *filter(None, node.args.kw_defaults)]
        else:
            waiting += ast.iter_child_nodes(node)


def imported_on_top(module: Module) -> Iterator[str]:
    """Modules that the import of a module imports, and names that may be modules."""
    for node in (each for statement in module.statements for each in run_with(statement)):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names)
            for _, (base, attribute) in imports_of(node, module.package):
                yield from (base, f"{base}.{attribute}")
        elif (name := imported_by_call(node, module.package)) is not None:
            yield name


def imported_by_call(node: ast.AST, package: str) -> str | None:
    """The absolute name of the module in ``import_module("name")``, with or without a package."""
    if not (isinstance(node, ast.Call) and last(node.func) == "import_module" and node.args and not node.keywords):
        return None
    target, *rest = node.args
    known = not rest or (isinstance(rest[0], ast.Name) and rest[0].id in ("__package__", "__name__"))
    if not (known and isinstance(target, ast.Constant) and isinstance(target.value, str)):
        return None
    try:
        return importlib.util.resolve_name(target.value, package)
    except (ImportError, ValueError):
        return target.value
