"""Digest of the code that a result was computed with, found by reading files: nothing is imported but declarations.

It is made of *bodies*, not of names: of each module that counts the normalised source, its first-party imports cut out
and replaced by what they bind, a local name and the body behind it. So a file moved or renamed changes nothing; a
constant edited, or a name bound to another body, does. A comment, a docstring or a blank line does not count.
"""

from __future__ import annotations

import ast
import contextlib
import hashlib
import importlib.util
import json
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any, NamedTuple

from boostrun import source
from boostrun.digest_memory import DigestMemory, looked_for, sha_of, where_is
from boostrun.errors import BoostrunError
from boostrun.source import BLOCKS, base_of, chains, normalised, parsed, without

__all__ = ["forget", "module_digest", "modules_of", "normalised", "remembering", "source_digest"]

_HOME = __name__.partition(".")[0]
# names and defaults of keys, and what a cell is: each record holds its cell; and what finds digests
_IN_THE_CELL = (f"{_HOME}.config", f"{_HOME}.runner.cell", __name__, f"{_HOME}.source")
# what becomes of a model that has been trained and measured
_AFTERWARDS = tuple(
    f"{_HOME}.methods.{name}"
    for name in (
        "archive", "importances", "layout", "plain_values", "preparation", "probabilities", "saved", "saved_layouts",
        "stream_layouts", "stream_state",
    )
)  # fmt: skip
# the last names of our modules that only list what there is: keys, whose values stand in the cell or are facts, and
# what can be chosen, of which what was chosen is a root
_LISTS = ("keys", "catalogue")
_DEPTH = 4  # how far the hash of a module tells targets of its imports apart whose own text is the same


def source_digest(roots: Sequence[str], facts: Mapping[str, Any] | None = None, papers: Collection[str] = ()) -> str:
    """sha256 of the bodies of ``roots`` and of all that they import of their own packages, and of ``facts``.

    Parameters
    ----------
    roots : "package.module" or "package.module:Class"; their order does not matter
    facts : plain JSON values that decide a result and stand in no body
    papers : dotted names of the modules that declare a paper

    Followed are imports within the top-level packages of ``roots`` and within boostrun, at any depth: absolute and
    relative ones, inside functions, behind ``try``, and ``import_module`` of a literal name; not those under
    ``if TYPE_CHECKING``. A name that a package passes on, by an import or by a module ``__getattr__`` with a literal
    dict of names and modules, leads to the module that has its body; our own packages count only where that fails,
    while the ``__init__`` of a plugin's package counts when something in it is imported. Registries and settings of our
    own do not count: what a result takes of them is a root, a fact, or stands in the record's cell; nor do modules of a
    plugin's paper called ``keys``, or its ``__init__`` that declares it, but for what is imported from there by name.
    Where a module is used by its dotted name (``import a.b``; ``a.b.f()``), that name is part of the body, and counts.

    The same on every Python version; found once per process.

    Raises
    ------
    BoostrunError
        When a module is not found, or a source cannot be read or parsed.

    >>> source_digest(["boostrun.errors"]) == source_digest(("boostrun.errors", "boostrun.errors"))
    True
    """
    asked = tuple(sorted(set(roots))), json.dumps(facts or {}, sort_keys=True), frozenset(papers)
    return _MEMORY.of([*asked[:2], sorted(asked[2])], lambda: _digest(*asked))


def module_digest(module: str) -> str:
    """sha256 of the body of one module alone: what it imports does not count, but for the names that it binds.

    Its own ``SOURCES``, which names the others that count beside it, is not part of it either: a module moved or
    renamed, or an import that follows one, changes nothing. Raises BoostrunError when the module is not found or
    cannot be parsed.

    >>> module_digest("boostrun.errors") == module_digest("boostrun.errors")
    True
    """
    return _MEMORY.of(module, lambda: _module_digest(module))


def _module_digest(module: str) -> str:
    if (path := _path(module)) is None or path.suffix != ".py":
        raise BoostrunError(f"no source of {module!r} on the Python path")
    own, tree = _Own(frozenset({module.partition(".")[0], _HOME}), frozenset()), parsed(_read(module, path), module)
    listed = [node for node in tree.body if [_called(each) for each in getattr(node, "targets", ())] == ["SOURCES"]]
    cut, bound = _first_party(module, tree, own)
    lines = sorted(f"{one.place}{one.local} = {one.attribute}" for one in bound)
    return _sha("\n".join([*lines, without(_read(module, path), module, [*cut, *listed])]))


def modules_of(roots: Sequence[str]) -> list[str]:
    """Dotted names, sorted, of the modules that :func:`source_digest` counts.

    >>> modules_of(["boostrun.evaluation.trial"])
    ['boostrun.evaluation', 'boostrun.evaluation.seeds', 'boostrun.evaluation.trial']
    """
    return sorted(_closure(tuple(sorted(set(roots)))))


def forget() -> None:
    """Read the sources again next time (they are read once per process)."""
    for cached in (_digest, _closure, _body, _hash, _tree, _find, _passed_on, _defined):
        cached.cache_clear()
    _MEMORY.forget()


@contextlib.contextmanager
def remembering(places: Sequence[Path]) -> Iterator[None]:
    """Digests found within are remembered at the first of ``places`` that can be written, and found there again."""
    _MEMORY.load(places)
    _MEMORY.active = True
    try:
        yield
    finally:
        _MEMORY.active = False
    _MEMORY.save(places)


@cache
def _digest(roots: tuple[str, ...], facts: str, papers: frozenset[str]) -> str:
    own, counted = _own(roots, papers), _closure(roots, papers)
    bodies = {_hash(name, own, _DEPTH if followed else 0) for name, followed in counted.items()}
    begun = {f"{_hash(root.partition(':')[0], own, _DEPTH)}:{root.partition(':')[2]}" for root in roots}
    return _sha("\n".join([*sorted(bodies - {_sha("")}), "", *sorted(begun), "", facts]))


@cache
def _closure(roots: tuple[str, ...], papers: frozenset[str] = frozenset()) -> dict[str, bool]:
    """The modules that count, and whether what they import counts too: not of a package that something is in."""
    own, counted = _own(roots, papers), dict[str, bool]()
    to_follow = [root.partition(":")[0] for root in roots]
    for name in to_follow:
        if _find(name) is None:
            raise BoostrunError(f"no module {name!r} on the Python path: the algorithm it belongs to cannot be run")
    while to_follow:
        name = to_follow.pop()
        if counted.get(name):
            continue
        counted[name] = True
        to_follow += [bound.module for bound in _body(name, own).bound if bound.module]
        parts = name.split(".")
        if parts[0] != _HOME:  # our own packages only pass names on: their __init__ decides nothing; a plugin's may
            packages = {".".join(parts[:depth]) for depth in range(1, len(parts))}
            for package in packages - papers:
                counted.setdefault(package, False)
    return counted


def _own(roots: tuple[str, ...], papers: frozenset[str]) -> _Own:
    return _Own(frozenset({name.partition(".")[0] for name in roots} - {""} | {_HOME}), papers)


class _Own(NamedTuple):
    """What is followed: names of packages, and of the modules in them that declare a paper."""

    packages: frozenset[str]
    papers: frozenset[str]


class _Bound(NamedTuple):
    """A name that an import binds: where in its module, the name, and the module and attribute that it stands for."""

    place: str
    local: str
    module: str  # empty: it does not count
    attribute: str


class _Body(NamedTuple):
    text: str
    bound: tuple[_Bound, ...]


@cache
def _hash(name: str, own: _Own, depth: int) -> str:
    """Of a module's text alone (depth 0), or with those of what its imports bind, themselves to a lesser depth."""
    body = _body(name, own)
    if not depth or not body.bound:
        return _sha(body.text)
    lines = sorted(
        f"{bound.place}{bound.local} = {_hash(bound.module, own, depth - 1) if bound.module else ''}:{bound.attribute}"
        for bound in body.bound
    )
    return _sha("\n".join([*lines, body.text]))


@cache
def _body(name: str, own: _Own) -> _Body:
    path, tree = _path(name), _tree(name)
    if path is None:  # a namespace package: no source
        return _Body("", ())
    if tree is None:  # compiled: there is nothing to normalise
        content = path.read_bytes()
        _MEMORY.has_read(path, content)
        return _Body(hashlib.sha256(content).hexdigest(), ())
    cut, bound = _first_party(name, tree, own)
    return _Body(without(_read(name, path), name, cut), tuple(bound))


def _first_party(name: str, tree: ast.Module, own: _Own) -> tuple[list[ast.AST], list[_Bound]]:
    """The imports in a module of what is followed, and what they bind but for type checkers."""
    cut: list[ast.AST] = []
    bound: list[_Bound] = []
    for node, place, typing in _imports(tree):
        if isinstance(node, ast.Import):
            if not any(alias.name.partition(".")[0] in own.packages for alias in node.names):
                continue
            found = list(_plain(node, place, tree, own))
        else:
            base = base_of(node, _package(name))
            if base.partition(".")[0] not in own.packages:
                continue
            found = [
                _Bound(place, alias.asname or alias.name, *_body_of(base, alias.name, own)) for alias in node.names
            ]
        cut.append(node)
        bound += [] if typing else found
    for number, literal in enumerate(_import_module_literals(tree)):
        target = importlib.util.resolve_name(str(literal.value), _package(name))
        if target.partition(".")[0] in own.packages and _find(target) is not None:
            cut.append(literal)
            bound.append(_Bound(f"import_module {number} ", "", _counting(target, own), ""))
    return cut, bound


def _imports(tree: ast.AST, place: str = "", typing: bool = False) -> Iterator[tuple[Any, str, bool]]:
    """Every import statement, the blocks that it stands in, and whether it is for type checkers alone."""
    for block in BLOCKS:
        inner = place if isinstance(tree, ast.Module) else f"{place}{type(tree).__name__}.{block} "
        if isinstance(tree, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            inner = f"{place}{tree.name} "
        checked = typing or (isinstance(tree, ast.If) and block == "body" and _called(tree.test) == "TYPE_CHECKING")
        nodes = getattr(tree, block, None)
        for node in nodes if isinstance(nodes, list) else ():
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                yield node, inner, checked
            else:
                yield from _imports(node, inner, checked)


def _plain(node: ast.Import, place: str, tree: ast.Module, own: _Own) -> Iterator[_Bound]:
    """What ``import a.b`` or ``import a.b as c`` binds: the modules or names that the module's text uses below it."""
    for alias in node.names:
        top, local = alias.name.partition(".")[0], alias.asname or alias.name.partition(".")[0]
        if top not in own.packages:
            yield _Bound(place, f"{local} of {alias.name}", "", "")
            continue
        start = alias.name if alias.asname else top
        whole = bool(alias.asname)
        for chain in sorted({tuple(chain) for chain in chains(tree) if chain[0] == local}):
            module, rest = start, list(chain[1:])
            while rest and _is_package(module) and _find(f"{module}.{rest[0]}") is not None:
                module = f"{module}.{rest.pop(0)}"
            if rest:
                yield _Bound(place, ".".join(chain), *_body_of(module, rest[0], own))
            whole = whole and _is_package(start)
        if whole or top != _HOME:  # a stranger's module is run by its import; as a whole, ours counts as it is
            yield _Bound(place, local, _counting(alias.name, own), "")


def _import_module_literals(tree: ast.Module) -> Iterator[ast.Constant]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and node.args and _called(node.func) == "import_module":
            target, *package = node.args
            known = [_called(each) for each in package] == (["__package__"] if package else [])
            if known and isinstance(target, ast.Constant) and isinstance(target.value, str):
                yield target


def _body_of(module: str, name: str, own: _Own, before: tuple = ()) -> tuple[str, str]:
    """The module that has the body of ``name`` of ``module``, and what it is called there; no module: does not count.

    An import passes a name on, as does a module ``__getattr__``; a name that neither tells leads to the module itself.
    """
    if not _counting(module, own):
        return "", name
    passed = _passed_on(module).get(name)
    if passed is not None and (module, name) not in before and passed[0].partition(".")[0] in own.packages:
        return _body_of(*passed, own, (*before, (module, name))) if passed[1] else (_counting(passed[0], own), "")
    if name != "*" and name not in _defined(module) and _is_package(module) and _find(f"{module}.{name}") is not None:
        return _counting(f"{module}.{name}", own), ""
    if module == _HOME and name not in _defined(module) and (where := _given_by_papers(name)):
        return _body_of(where, name, own)
    return module, name


def _counting(module: str, own: _Own) -> str:
    """The module; empty where it is not there, or does not count."""
    if _find(module) is None or any(f"{module}.".startswith(f"{each}.") for each in (*_IN_THE_CELL, *_AFTERWARDS)):
        return ""
    of_paper = any(module.startswith(f"{paper}.") for paper in own.papers)
    lists = module.rpartition(".")[2] in _LISTS and (module.partition(".")[0] == _HOME or of_paper)
    return "" if lists else module


@cache
def _passed_on(module: str) -> dict[str, tuple[str, str]]:
    """Names that a module has from others, by import or by a literal dict behind its ``__getattr__``."""
    tree = _tree(module)
    if tree is None:
        return {}
    found: dict[str, tuple[str, str]] = {}
    makers = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "__getattr__"]
    for node in tree.body if makers else ():
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and isinstance(node.value, ast.Dict):
            for key, value in zip(node.value.keys, node.value.values):
                if all(isinstance(each, ast.Constant) and isinstance(each.value, str) for each in (key, value)):
                    found[key.value] = value.value, key.value  # type: ignore[union-attr,attr-defined]
    for node, place, typing in _imports(tree):
        if isinstance(node, ast.ImportFrom) and not typing and place in ("", "__getattr__ ", "__getattr__ If.body "):
            base = base_of(node, _package(module))
            found |= {alias.asname or alias.name: (base, alias.name) for alias in node.names if alias.name != "*"}
    return found


def _given_by_papers(name: str) -> str:
    """The module of a name that a paper gives to ``from boostrun import``, as its declaration says; empty: none."""
    if name.startswith("_"):
        return ""
    from boostrun.config import catalogue

    return dict(catalogue.public()).get(name, "")


@cache
def _defined(module: str) -> frozenset[str]:
    """Names that a module's own text defines at its top."""
    tree, found = _tree(module), set()
    for node in tree.body if tree is not None else ():
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            found |= {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}
    return frozenset(found)


def _package(module: str) -> str:
    return module if _is_package(module) else module.rpartition(".")[0]


def _is_package(module: str) -> bool:
    spec = _find(module)
    return spec is not None and spec.submodule_search_locations is not None


def _called(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _sha(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@cache
def _tree(module: str) -> ast.Module | None:
    path = _path(module)
    return parsed(_read(module, path), module) if path is not None and path.suffix == ".py" else None


@cache
def _find(name: str) -> ModuleSpec | None:
    """Where a module is, without importing it or its packages (importlib's own find_spec imports the parents)."""
    spec = looked_for(name)
    _MEMORY.saw(name, where_is(spec))
    return spec


def _path(name: str) -> Path | None:
    spec = _find(name)
    return Path(spec.origin) if spec is not None and spec.has_location and spec.origin else None


def _read(name: str, path: Path) -> str:
    try:
        content = path.read_bytes()
        _MEMORY.has_read(path, content)
        return importlib.util.decode_source(content)
    except (OSError, SyntaxError, UnicodeError) as error:
        raise BoostrunError(f"cannot read the source of {name}: {error}") from None


def _surroundings() -> list:
    """What else decides a digest: this code, the Python that parses, the names that papers give."""
    from boostrun.config import catalogue

    code = [sha_of(path) for path in (__file__, str(source.__file__))]
    return [*code, sys.version, sorted([*pair] for pair in dict(catalogue.public()).items())]


_MEMORY = DigestMemory(lambda name: where_is(_find(name)), _surroundings)
