"""Digest of the code that computed a result: a hash over the definitions that its run reaches.

From the roots, "module:Class" texts, names are followed to functions, classes with their bases, decorators, defaults
and constants, across modules. Each definition is hashed in normal form (:mod:`boostrun.source`) with references
replaced by the hashes of their definitions; definitions that refer to each other are hashed together. So a definition
that is moved, renamed or reordered changes nothing, nor does a new one without references to it; an edited constant
changes every definition that reaches it. Sources are read; only the declarations of papers are imported.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import hashlib
import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any, NamedTuple

from boostrun import import_hooks, source
from boostrun.errors import BoostrunError
from boostrun.normal_form import ANY, Statement, normal_form, plain_form
from boostrun.source import (
    DEFINITIONS,
    PURE,
    Module,
    ModuleRef,
    Node,
    Outside,
    Target,
    absolute_paths,
    changes,
    dotted,
    found_at,
    homes_of,
    imported_on_top,
    inner,
    is_below,
    is_installed,
    last,
    modules_in,
    run_with,
)

_NAME = __name__.partition(".")[0]
_UNCOUNTED = (
    # reading a configuration, whose values stand in each record's cell; computing digests; writing files
    *(f"{_NAME}.{name}" for name in (
        "config", "store.cell", "digest", "source", "import_hooks", "files", "data._loader", "data.checksum",
        "data.digests", "data.torchvision_sets.PUBLISHED", "data.torchvision_sets.verify_published",
        "features.bank_key", "features.journal", "features.progress", "features.seal", "features.store",
        "methods.estimator.Held",  # where something is computed, not what
    )),
    # sharing a kernel among threads, the same to the bit: trials have one thread
    *(f"{_NAME}.kernels.{name}" for name in ("in_threads", "released", "shared")),
    # handling a model after its evaluation
    *(f"{_NAME}.methods.{name}" for name in (
        "archive", "preparation", "probabilities", "saved", "stream_learner.CheckedRows", "stream_learner.RiverKind",
        "stream_state",
    )),
)  # fmt: skip
_EVERYTHING = "*"  # stands for all names of a module


@functools.cache
def code_below(homes: frozenset[str]) -> Definitions:
    """The definitions below these folders and files, and in boostrun; read once a process."""
    return Definitions(homes)


class Definitions:
    """The definitions below some folders and files, and in boostrun; satisfies :class:`boostrun.source.Resolver`."""

    def __init__(self, homes: frozenset[str]):
        self._homes = homes
        self._own = code_below(frozenset()) if homes else self  # boostrun's definitions are the same for all
        self._modules: dict[str, Module | None] = {}
        self._specs: dict[str, ModuleSpec | None] = {}
        self._followed: dict[str, bool] = {}
        self._names: dict[tuple[str, str], list[Target]] = {}
        self._contents: dict[Node, tuple[Statement, ...]] = {}
        self._hashes: dict[Node, str] = {}
        self._effects: dict[str, tuple[Node, ...]] = {}

    def root(self, root: str) -> list[Node]:
        """The definitions that a root names."""
        module, _, name = root.partition(":")
        if self.spec(module) is None:
            raise BoostrunError(f"no module {module!r} on the Python path: the algorithm it belongs to cannot be run")
        if not name:
            return [Node(module, _EVERYTHING)]
        found = [node for node in self.member(module, name) if isinstance(node, Node)]
        return found or [Node(module, _EVERYTHING)]

    # -- modules

    def spec(self, name: str) -> ModuleSpec | None:
        """The import spec of a module, None if there is no such module."""
        if name not in self._specs:
            self._specs[name] = found_at(name)
        return self._specs[name]

    def follows(self, name: str) -> bool:
        """Whether a module lies where names are followed to."""
        if name not in self._followed:
            spec = self.spec(name)
            found = [] if spec is None else [spec.origin] if spec.has_location else spec.submodule_search_locations
            places = absolute_paths(found or ())
            places = {place for place in places if is_installed(place)} or places  # links of an installed library
            self._followed[name] = bool(places) and (
                _below_boostrun(name) or any(is_below(place, home) for place in places for home in self._homes)
            )
        return self._followed[name]

    def module(self, name: str) -> Module | None:
        """The source of a module that is followed, else None."""
        if name not in self._modules:
            spec = self.spec(name)
            path = Path(spec.origin) if spec is not None and spec.has_location and spec.origin else None
            package = spec is not None and spec.submodule_search_locations is not None
            python = path is not None and path.suffix == ".py"
            self._modules[name] = Module(name, path, package) if path and python else None
        return self._modules[name]

    def place(self, module: str) -> ModuleRef | Outside:
        """A module that is followed, or the dotted name of one that is not."""
        if _uncounted(module):
            return Outside("")
        return ModuleRef(module) if self.follows(module) else Outside(module)

    def _all(self) -> Iterator[str]:
        """All modules below the homes, as far as they can be read."""
        for home in self._homes:
            prefix = f"{os.path.basename(home)}." if is_installed(home) else ""
            for name in modules_in(home, prefix):
                with contextlib.suppress(BoostrunError):
                    self.module(name)
                    yield name

    # -- names

    def lookup(self, module: Module, name: str) -> list[Target]:
        """The definitions a top-level name of a module leads to; empty for a built-in name."""
        key = module.name, name
        if key not in self._names:
            self._names[key] = []  # while it is looked for, so that names that stand for each other come to an end
            self._names[key] = list(dict.fromkeys(self._found(module, name)))
        return self._names[key]

    def _found(self, module: Module, name: str) -> Iterator[Target]:
        if _uncounted(f"{module.name}.{name}"):
            yield Outside("")
        elif name in module.bound:
            yield from self._other_name(module, name) or [Node(module.name, name)]
        for base, attribute in module.imported.get(name, ()):
            yield from self.member(base, attribute) if attribute else [self.place(base)]
        if not module.defines(name):
            for base in module.stars:
                there = self.module(base) if self.follows(base) else None
                if there is not None and (name in there.public or there.stars):
                    yield from self.lookup(there, name)

    def _other_name(self, module: Module, name: str) -> list[Target]:
        """The definitions behind an alias, ``name = other``."""
        statements = module.bound[name]
        if len(statements) > 1 or name in module.imported or not isinstance(statements[0], ast.Assign):
            return []
        value, targets = statements[0].value, statements[0].targets
        if len(targets) > 1 or not isinstance(targets[0], ast.Name):
            return []
        return list(self.lookup(module, value.id)) if isinstance(value, ast.Name) else []

    def member(self, module: str, name: str) -> list[Target]:
        """The definitions ``module.name`` leads to; empty if there is no such name."""
        if _uncounted(module) or _uncounted(f"{module}.{name}"):
            return [Outside("")]
        if not self.follows(module):
            return [Outside(f"{module}.{name}")]
        there = self.module(module)
        if there is not None and there.defines(name):
            return self.lookup(there, name)
        spec = self.spec(module)
        if spec is not None and spec.submodule_search_locations is not None and self.spec(f"{module}.{name}"):
            return [self.place(f"{module}.{name}")]
        if there is None:
            return [Node(module, _EVERYTHING)] if spec is not None and spec.has_location else []
        if found := self.lookup(there, name):  # by a star
            return found
        if name in there.lazy:
            return self.member(*there.lazy[name])
        if module == _NAME and (where := _given_by_papers(name)):
            return self.member(where, name)
        if "__getattr__" in there.bound and not name.startswith("__"):
            return [Node(module, _EVERYTHING)]
        return []

    def names(self, module: str) -> set[str]:
        """The names a module defines or imports at its top."""
        there = self.module(module)
        return {*there.bound, *there.imported} if there is not None else set()

    def defined(self, module: str, name: str) -> list[Node]:
        """The definition of a name in a module that is used as a value."""
        return [node for node in self.member(module, name) if isinstance(node, Node)]

    # -- what a definition is

    def content(self, node: Node) -> tuple[Statement, ...]:
        """The statements of a definition, in normal form."""
        if self._own is not self and _below_boostrun(node.module):
            return self._own.content(node)
        if node not in self._contents:
            self._contents[node] = tuple(self._content(node))
        return self._contents[node]

    def _content(self, node: Node) -> Iterator[Statement]:
        module = self.module(node.module)
        nothing: frozenset[str] = frozenset()
        if module is None:  # compiled: it has no source to normalise
            spec = self.spec(node.module)
            path = Path(spec.origin) if spec is not None and spec.has_location and spec.origin else None
            content = path.read_bytes() if path is not None else b""
            yield Statement(hashlib.sha256(content).hexdigest(), (), nothing, nothing, nothing, ())
        elif node.name == _EVERYTHING:
            names, values = [Node(module.name, name) for name in module.bound], nothing
            if not _below_boostrun(module.name):  # what it imports is among its names
                found = [target for name in module.imported for target in self.lookup(module, name)]
                names += [target for target in found if isinstance(target, Node)]
                values = frozenset(each.module for each in found if isinstance(each, ModuleRef)).union(module.stars)
            yield Statement(sha(*map(plain_form, module.statements)), tuple(names), values, nothing, nothing, ())
        else:
            number = node.name.removeprefix("#")
            own = [module.statements[int(number)]] if number != node.name else module.bound[node.name]
            for statement in own:
                yield normal_form(statement, module, node.name, self)

    def hash(self, node: Node) -> str:
        """sha256 (hex) of a definition and of everything it refers to.

        Definitions that refer to each other are hashed together: as many rounds as there are definitions, each
        including the hashes of its references from the round before.
        """
        if self._own is not self and _below_boostrun(node.module):
            return self._own.hash(node)
        if node not in self._hashes:
            for ring in _rings(node, self._refs, self._is_known):
                hashes = {one: sha(*(statement.text for statement in self.content(one))) for one in ring}
                for _ in ring:
                    hashes = {
                        one: sha(hashes[one], *(hashes.get(ref) or self.hash(ref) for ref in self._refs(one)))
                        for one in ring
                    }
                self._hashes |= hashes
        return self._hashes[node]

    def _is_known(self, node: Node) -> bool:
        return node in self._hashes or (self._own is not self and _below_boostrun(node.module))

    def _refs(self, node: Node) -> list[Node]:
        return [ref for one in self.content(node) for ref in one.refs]

    # -- what the import of a module does

    def run_by(self, modules: Iterable[str]) -> set[str]:
        """Modules that run when these are imported: of boostrun only these, of plug-ins also their imports."""
        found, waiting = set[str](), list(modules)
        while waiting:
            name = waiting.pop()
            if name == ANY:
                waiting += [each for each in self._all() if each not in found]
            if name in found or not self.follows(name) or _uncounted(name):
                continue
            found.add(name)
            module = self.module(name)
            if not _below_boostrun(name) and module is not None:
                parts = name.split(".")
                waiting += [".".join(parts[:depth]) for depth in range(1, len(parts))]
                waiting += imported_on_top(module)
        return found

    def effects(self, name: str) -> tuple[Node, ...]:
        """Statements of a module that do more, or may do more, than bind names when it is imported."""
        if name not in self._effects:
            module = self.module(name)
            statements = module.statements if module is not None else []
            self._effects[name] = tuple(
                Node(name, f"#{number}") for number, statement in enumerate(statements)
                if module is not None and self._acts(statement, module)
            )  # fmt: skip
        return self._effects[name]

    def _acts(self, statement: ast.stmt, module: Module) -> bool:
        if not _below_boostrun(module.name):
            return any(self._may_act(part, module) for part in run_with(statement))
        return any(
            self._registers_itself(each, module) if isinstance(each, DEFINITIONS) else
            any(not names or names[0] not in module.bound for names in changes(each))
            and not self._is_uncounted_call(each, module)
            for each in inner([statement])
        )  # fmt: skip

    def _may_act(self, part: ast.AST, module: Module) -> bool:
        """Whether a part of a statement of a person's own may do more than bind names: every unknown call may."""
        if isinstance(part, DEFINITIONS):
            return self._registers_itself(part, module)
        if isinstance(part, (ast.Attribute, ast.Subscript)):
            return not isinstance(part.ctx, ast.Load)
        if isinstance(part, ast.Expr):
            return not isinstance(part.value, ast.Constant)
        return isinstance(part, ast.AugAssign) or (isinstance(part, ast.Call) and self._stores(part.func, module))

    def _registers_itself(self, made: Any, module: Module) -> bool:
        hooked = isinstance(made, ast.ClassDef) and self._has_hook(made, module)
        return hooked or any(self._stores(decorator, module) for decorator in made.decorator_list)

    def _is_uncounted_call(self, statement: Any, module: Module) -> bool:
        value = getattr(statement, "value", None)
        called = dotted(value.func) if isinstance(value, ast.Call) else []
        return len(called) == 1 and Outside("") in self.lookup(module, called[0])

    def _stores(self, called: Any, module: Module) -> bool:
        """Whether a function or decorator may store or change its argument: one that is not known may."""
        names = dotted(called)
        targets = self.lookup(module, names[0]) if names else []
        inside = [_below_boostrun(one.module) for one in targets if not isinstance(one, Outside)]
        if inside:
            return not all(inside)
        known = any(isinstance(one, Outside) and one.dotted.partition(".")[0] in ("", "typing") for one in targets)
        return not (known or last(called) in PURE or (not targets and _below_boostrun(module.name)))

    def _has_hook(self, made: Any, module: Module) -> bool:
        """Whether a base or metaclass of a class is notified of subclasses."""
        if any(last(each.value) != "ABCMeta" for each in made.keywords):
            return True
        for base in made.bases:
            for node in self._bases(base, module):
                there = self.module(node.module)
                for statement in there.bound.get(node.name, ()) if there is not None else ():
                    if isinstance(statement, ast.ClassDef):
                        methods = {each.name for each in statement.body if isinstance(each, DEFINITIONS)}
                        if there is not None and ("__init_subclass__" in methods or self._has_hook(statement, there)):
                            return True
        return False

    def _bases(self, base: Any, module: Module) -> list[Node]:
        return [target for target in self._named(dotted(base), module) if isinstance(target, Node)]

    def _named(self, names: Sequence[str], module: Module) -> list[Target]:
        """The definitions a dotted name leads to, as far as it leads through modules."""
        found = self.lookup(module, names[0]) if names else []
        for name in names[1:]:
            found = [one for place in found if isinstance(place, ModuleRef) for one in self.member(place.module, name)]
        return found


def _rings(start: Node, refs: Any, known: Any) -> Iterator[list[Node]]:
    """Sets of definitions that lead to each other (Tarjan's), each after those that it refers to."""
    number: dict[Node, int] = {}
    lowest: dict[Node, int] = {}
    path: list[Node] = []
    waiting: list[tuple[Node, Iterator[Node]]] = []

    def enter(node: Node) -> None:
        number[node] = lowest[node] = len(number)
        path.append(node)
        waiting.append((node, iter(refs(node))))

    enter(start)
    inside = {start}
    while waiting:
        node, others = waiting[-1]
        following = next((other for other in others if not known(other)), None)
        if following is None:
            waiting.pop()
            if waiting:
                lowest[waiting[-1][0]] = min(lowest[waiting[-1][0]], lowest[node])
            if lowest[node] == number[node]:
                ring = [path.pop()]
                while ring[-1] != node:
                    ring.append(path.pop())
                inside.difference_update(ring)
                yield ring
        elif following not in number:
            enter(following)
            inside.add(following)
        elif following in inside:
            lowest[node] = min(lowest[node], number[following])


def _below_boostrun(module: str) -> bool:
    return f"{module}.".startswith(f"{_NAME}.")


def _is_in(module: str, packages: Iterable[str]) -> bool:
    return any(f"{module}.".startswith(f"{package}.") for package in packages)


@functools.cache
def _uncounted(name: str) -> bool:
    return _is_in(name, _UNCOUNTED)


def _given_by_papers(name: str) -> str:
    """The module of a name that a paper gives to ``from boostrun import``, as its declaration says; empty: none."""
    if name.startswith("_"):
        return ""
    from boostrun.config import catalogue

    return dict(catalogue.public()).get(name, "")


def sha(*parts: str) -> str:
    """sha256 (hex) of texts, joined by line ends."""
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


class Reached(NamedTuple):
    """The definitions that a run from some roots reaches."""

    definitions: dict[str, str]
    """Dotted name of each definition -> sha256 (hex) of its own text, whatever that refers to."""
    unresolved: tuple[str, ...]
    """Code that cannot be followed, "module, line 3: globals()"."""


def source_digest(roots: Sequence[str], facts: Mapping[str, Any] | None = None) -> str:
    """sha256 (hex) of the definitions that ``roots`` reach, and of ``facts``.

    Parameters
    ----------
    roots : "package.module:name" each; "package.module" stands for all names of a module. Their order does not matter.
    facts : plain JSON values that decide a result and stand in no definition

    Names are followed into boostrun, and into the root's surroundings: the folder of its file or top-level package, or,
    if it is installed, its distribution. Absolute, relative and star imports are found, those in functions and behind
    ``try``, ``import_module`` and ``getattr`` of literals, names that a module's ``__getattr__`` imports, "module:name"
    texts, and registrations that run when a reached module is imported. Annotations of functions, messages of our
    errors, our keys of a configuration, and the handling of a model after its evaluation do not count.

    Of code outside boostrun every call on import counts, and each module that is used as a value counts whole. If it
    does what cannot be followed (``globals()``, ``exec``, an import of a computed name), all its modules count that it
    imports, or may import; see :func:`reached`.

    The same on every Python version. Computed once a process: about 0.5 s for all methods.

    Raises
    ------
    BoostrunError
        When a module is not found, or a source cannot be read or parsed.

    >>> source_digest(["boostrun.errors:BoostrunError"]) == source_digest(("boostrun.errors:BoostrunError",) * 2)
    True
    """
    return _digest(tuple(sorted(set(roots))), json.dumps(facts or {}, sort_keys=True))


@functools.lru_cache(maxsize=1000)
def _as_imported(roots: tuple[str, ...], facts: str, sources: frozenset[tuple[Path, bytes]], now: str) -> str:
    """The digest of the code that has been imported, where that of the files is ``now``."""
    forget()
    source.INSTEAD.update(sources)
    try:
        return source_digest(roots, json.loads(facts))
    finally:
        source.INSTEAD.clear()
        forget()


def digest_now(roots: Sequence[str], facts: Mapping[str, Any] | None = None) -> str:
    """Like :func:`source_digest`, of the files as they stand now; BoostrunError if Python has imported other code."""
    look_again()
    check_imported(found := source_digest(roots, facts), roots, facts)
    return found


def check_imported(digest: str, roots: Sequence[str], facts: Mapping[str, Any] | None = None) -> None:
    """Raise BoostrunError if Python has imported other code of a person's own than that of ``digest``."""
    old = dict[Path, bytes]()
    for module, content in import_hooks.IMPORTED:
        path = Path(str(module.__file__))
        if sys.modules.get(module.__name__) is module and content != (path.read_bytes() if path.is_file() else None):
            old[path] = content
    if old and _as_imported(tuple(roots), json.dumps(facts or {}), frozenset(old.items()), digest) != digest:
        names = ", ".join(sorted(path.name for path in old))
        raise BoostrunError(f"{names} changed after it was imported: give the command again, in a new Python")


def look_again() -> None:
    """Read the sources again next time if a file has changed since it was read."""
    if any(source.state_of(path) != state for path, state in source.STATES.items()):
        forget()


def reached(roots: Sequence[str]) -> Reached:
    """The definitions that :func:`source_digest` counts, and the places it cannot follow.

    >>> sorted(reached(["boostrun.evaluation.measures:spawn"]).definitions)[0]
    'boostrun.evaluation.measures.TrialSeeds'
    """
    found = _reach(tuple(sorted(set(roots))))
    contents = {node: found.code.content(node) for node in found.nodes}
    definitions = {node.label: sha(*(one.text for one in content)) for node, content in contents.items()}
    odd = {f"{node.module}, {why}" for node, content in contents.items() for one in content for why in one.unresolved}
    return Reached(definitions, tuple(sorted(odd)))


def roots_in(module: str, names: Sequence[str]) -> tuple[str, ...]:
    """Roots for those of some names that a module defines, or takes from another.

    >>> roots_in("boostrun.evaluation.measures", ["spawn", "sew"])
    ('boostrun.evaluation.measures:spawn',)
    """
    code = code_below(homes_of(module))
    return tuple(f"{module}:{name}" for name in names if code.member(module, name))


def names_of_banks(roots: Sequence[str]) -> list[str]:
    """The digests of roots in keys of feature banks.

    The names used before 2026-12 if known, so that no bank is built again.
    """
    digest = source_digest(roots)
    return _published().get(digest, [digest])


@functools.cache
def _published() -> dict[str, list[str]]:
    return json.loads(Path(__file__).with_name("published_digests.json").read_text(encoding="utf-8"))


def forget() -> None:
    """Read the sources again next time (they are read once a process)."""
    source.STATES.clear()
    for cached in (_digest, _reach, code_below, homes_of, source.parsed):
        cached.cache_clear()


@functools.cache
def _digest(roots: tuple[str, ...], facts: str) -> str:
    code, _, begun, effects, objects = _reach(roots)
    parts = (
        {code.hash(node) for node in begun},
        {code.hash(node) for node in effects},
        {f"{name} {code.hash(node)}" for name, node in objects},
    )
    return sha(*("\n".join(sorted(part)) for part in parts), facts)


class _Reach(NamedTuple):
    code: Definitions
    nodes: dict[Node, None]
    """All that is reached, the roots first."""
    roots: tuple[Node, ...]
    effects: set[Node]
    """Statements that run when a module is imported, beside those that bind a name."""
    objects: set[tuple[str, Node]]
    """Names that may be asked for of a module that is used as a value."""


@functools.cache
def _reach(roots: tuple[str, ...]) -> _Reach:
    code = code_below(frozenset().union(*(homes_of(root.partition(":")[0]) for root in roots)))
    begun = tuple(node for root in roots for node in code.root(root))
    nodes, effects, objects = dict[Node, None](), set[Node](), set[tuple[str, Node]]()
    asked, values, imported, lost = set[str](), set[str](), set[str](), False
    waiting = list(begun)
    while waiting:
        while waiting:
            node = waiting.pop()
            if node in nodes:
                continue
            nodes[node] = None
            asked.add(node.name)
            for one in code.content(node):
                waiting += one.refs
                asked |= one.mentions
                values |= one.objects
                imported |= one.imports
                lost |= bool(one.unresolved) and not _below_boostrun(node.module)
        running = code.run_by({node.module for node in nodes} | imported)
        for module in running:
            effects.update(code.effects(module))
        whole = {name for name in running if not _below_boostrun(name) and (lost or _is_in(name, values))}
        effects.update(Node(module, _EVERYTHING) for module in whole)
        objects.update((name, node) for module in values for name in asked & code.names(module)
                       for node in code.defined(module, name))  # fmt: skip
        waiting += [*(effects - nodes.keys()), *({node for _, node in objects} - nodes.keys())]
    return _Reach(code, nodes, begun, effects, objects)
