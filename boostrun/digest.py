"""Digest of the code that computed a result: a hash over the definitions that its run reaches.

From the roots, "module:Class" texts, names are followed to functions, classes with their bases, decorators, defaults
and constants, across modules. Each definition is hashed in normal form (:mod:`boostrun.source`) with references
replaced by the hashes of their definitions; definitions that refer to each other are hashed together. So a definition
that is moved, renamed or reordered changes nothing, nor does a new one without references to it; an edited constant
changes every definition that reaches it. Sources are read; only the declarations of papers are imported.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from boostrun import source
from boostrun.definitions import Definitions, code_below, homes_of, sha
from boostrun.source import Node

__all__ = ["Reached", "forget", "names_of_banks", "reached", "roots_in", "source_digest"]


class Reached(NamedTuple):
    """The definitions that a run from some roots reaches."""

    definitions: dict[str, str]
    """Dotted name of each definition -> sha256 (hex) of its own text, whatever that refers to."""
    unresolved: tuple[str, ...]
    """What no reading of the source can follow, "module, line 3: globals()"."""


def source_digest(roots: Sequence[str], facts: Mapping[str, Any] | None = None) -> str:
    """sha256 (hex) of the definitions that ``roots`` reach, and of ``facts``.

    Parameters
    ----------
    roots : "package.module:name" each; "package.module" stands for all names of a module. Their order does not matter.
    facts : plain JSON values that decide a result and stand in no definition

    Names are followed into boostrun, and into the root's surroundings: the folder of its file or top-level package, or,
    if it is installed, its distribution. Absolute, relative and star imports are found, those in functions and behind
    ``try``, ``import_module`` and ``getattr`` of literals, names that a module's ``__getattr__`` imports, "module:name"
    texts, and registrations that run when a reached module is imported. If a name is computed (``globals()``, ``exec``,
    ``getattr`` of a module), the whole module counts; see :func:`reached`. Annotations of functions, messages of our
    errors, keys of a configuration, and the handling of a model after its evaluation do not count.

    The same on every Python version. Computed once a process: about 0.5 s for all methods.

    Raises
    ------
    BoostrunError
        When a module is not found, or a source cannot be read or parsed.

    >>> source_digest(["boostrun.errors:BoostrunError"]) == source_digest(("boostrun.errors:BoostrunError",) * 2)
    True
    """
    return _digest(tuple(sorted(set(roots))), json.dumps(facts or {}, sort_keys=True))


def digest_now(roots: Sequence[str], facts: Mapping[str, Any] | None = None) -> str:
    """As :func:`source_digest`, with sources read again if a file has changed since it was read."""
    found = _reach(tuple(sorted(set(roots))))
    paths = [there.path for name in {node.module for node in found.nodes} if (there := found.code.module(name))]
    if any(source.STATES.get(path) != source.state_of(path) for path in paths):
        forget()
    return source_digest(roots, facts)


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
    asked, values, imported = set[str](), set[str](), set[str]()
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
        for module in code.run_by({node.module for node in nodes} | imported):
            effects.update(code.effects(module))
        objects.update((name, node) for module in values for name in asked & code.names(module)
                       for node in code.defined(module, name))  # fmt: skip
        waiting += [*(effects - nodes.keys()), *({node for _, node in objects} - nodes.keys())]
    return _Reach(code, nodes, begun, effects, objects)
