"""The normal form of a statement: its syntax tree without parts that change no result, and its references.

Positions, comments, docstrings, annotations of functions and messages of our own errors are left out; local variables
are numbered; each name that leads to a definition is a blank, with a reference to that definition.
"""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

from boostrun.source import (
    DEFINITIONS,
    PURE,
    Module,
    ModuleRef,
    Node,
    Outside,
    Target,
    dotted,
    imported_by_call,
    imports_of,
    inner,
    last,
    names_bound,
)

_NAME = __name__.partition(".")[0]
_NAMED = re.compile(r"([A-Za-z_][\w.]*):([A-Za-z_]\w*)")
_KEYS = ("boostrun.config.fields", "keys")  # the decorator of classes whose fields are keys of a configuration
_FIELDS = frozenset({"ClassVar", "InitVar", "KW_ONLY"})  # annotations that make a field of a class another one
_AFTERWARDS = frozenset({"describe", "importances", "load", "save"})  # methods of a trained model
_UNSEEN = frozenset({"ctx", "kind", "type_comment", "returns"})
_WHOLE_NAMESPACE = frozenset({"globals", "exec", "eval", "locals", "__import__"})
# what imports modules, and what finds objects, in ways that are not followed
_FINDERS = re.compile(
    r"(importlib(?!\.(metadata|resources))|pkgutil|runpy)\b|(gc|sys\.(modules|_getframe)|inspect\.(stack|currentframe))\b"
)
_FOUND_BY = frozenset({"__globals__", "__subclasses__", "f_globals"})
ANY = "*"
"""Stands for any module where one is imported by a computed name."""


class Statement(NamedTuple):
    """A statement in normal form, and the names in it."""

    text: str
    """sha256 (hex) of the normal form, in which references are blanks."""
    refs: tuple[Node, ...]
    """The definitions behind the blanks, in order."""
    objects: frozenset[str]
    """Modules that are used as values, so that any of their names may be asked for."""
    mentions: frozenset[str]
    """Attributes and texts by which names of such modules can be asked for."""
    imports: frozenset[str]
    """Modules that it imports when it is run; :data:`ANY` if a person's own code may import any."""
    unresolved: tuple[str, ...]
    """Code that cannot be followed: "line 3: globals()"."""


class Resolver(Protocol):
    """Finds the definitions a name of a module leads to."""

    def lookup(self, module: Module, name: str) -> Sequence[Target]:
        """The definitions a top-level name of a module leads to; empty for a built-in name."""

    def member(self, module: str, name: str) -> Sequence[Target]:
        """The definitions ``module.name`` leads to; empty if there is no such name."""

    def place(self, module: str) -> Target:
        """A module as a target."""


class _Scope:
    """Local names, with the import that binds each (empty for a variable), and the texts that replace them."""

    def __init__(self, depth: int, names: dict[str, Sequence[Target]], function: bool):
        self.names, self.function = names, function
        self.texts = {name: f"l {depth} {number if function else name}" for number, name in enumerate(names)}


def normal_form(statement: ast.stmt, module: Module, own: str, resolver: Resolver) -> Statement:
    """A statement at the top of a module, as part of the definition of the name ``own``."""
    writer = _Writer(module, own, resolver)
    writer.write(statement)
    if not writer._is_ours:
        writer.unresolved += sorted(writer.mentions & _FOUND_BY)
    text = hashlib.sha256("\x1f".join(writer.out).encode("utf-8", "surrogatepass")).hexdigest()
    return Statement(
        text, tuple(writer.refs), frozenset(writer.objects), frozenset(writer.mentions), frozenset(writer.imports),
        tuple(writer.unresolved),
    )  # fmt: skip


def plain_form(tree: ast.AST) -> str:
    """The syntax tree as a text, names as they are: the same on every Python version."""
    if isinstance(tree, ast.AST):
        fields = [(name, getattr(tree, name, None)) for name in tree._fields if name not in ("ctx", "type_comment")]
        inner = " ".join(f"{name}={plain_form(value)}" for name, value in fields if value not in (None, []))
        return f"{type(tree).__name__}({inner})"
    return f"[{' '.join(map(plain_form, tree))}]" if isinstance(tree, list) else _spelled(tree)


def _spelled(value: Any) -> str:
    return hex(value) if type(value) is int else f"{type(value).__name__} {value!r}"


def _is_ours(module: str) -> bool:
    return f"{module}.".startswith(f"{_NAME}.")


class _Writer:
    def __init__(self, module: Module, own: str, resolver: Resolver):
        self.module, self.own, self.resolver = module, own, resolver
        self._is_ours = _is_ours(module.name)
        self.out: list[str] = []
        self.refs: list[Node] = []
        self.objects: set[str] = set()
        self.mentions: set[str] = set()
        self.imports: set[str] = set()
        self.unresolved: list[str] = []
        self.line = 0
        self.scopes: list[_Scope] = []

    # -- any node

    def write(self, node: Any) -> None:
        if isinstance(node, ast.AST):
            self.line = getattr(node, "lineno", self.line)
            special = getattr(self, f"_{type(node).__name__}", None)
            if special is not None:
                special(node)
                return
            self.out.append(f"({type(node).__name__}")
            for name in node._fields:
                value = getattr(node, name, None)
                if value is not None and value != [] and name not in _UNSEEN:
                    self.out.append(name)
                    self.write(value)
            self.out.append(")")
        elif isinstance(node, list):
            self.out.append("[")
            for each in node:
                self.write(each)
            self.out.append("]")
        else:
            self.out.append(_spelled(node))

    def _Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, str):
            if node.value.isidentifier():
                self.mentions.add(node.value)
            elif match := _NAMED.fullmatch(node.value):
                found = self._followed(match[1], match[2])
                for target in found:
                    self._emit(target, [])
                if found:
                    return
        self.out.append(_spelled(node.value))

    def _followed(self, module: str, name: str) -> list[Target]:
        place = self.resolver.place(module)
        found = self.resolver.member(module, name) if isinstance(place, ModuleRef) else ()
        return [target for target in found if not isinstance(target, Outside)]

    # -- names

    def _Name(self, node: ast.Name) -> None:
        self._chain(node, node.id, [])

    def _Attribute(self, node: ast.Attribute) -> None:
        attributes, inner = [node.attr], node.value
        while isinstance(inner, ast.Attribute):
            attributes.append(inner.attr)
            inner = inner.value
        self.mentions.update(attributes)
        attributes.reverse()
        if isinstance(inner, ast.Name):
            self._chain(inner, inner.id, attributes)
        elif (place := self._imported_by_call(inner)) is not None:
            self._emit(place, attributes)
        else:
            self.write(inner)
            self.out.append("." + ".".join(attributes))

    def _chain(self, node: ast.Name, name: str, attributes: list[str]) -> None:
        if (local := self._local(name)) is not None:
            token, targets = local
            if isinstance(node.ctx, ast.Load) and not self.scopes[-1].function:  # until it is bound, that of the module
                targets = [*targets, *self.resolver.lookup(self.module, name)]
        elif not self.scopes and not isinstance(node.ctx, ast.Load) and not attributes:
            self.out.append("=" if name == self.own else f"={name}")
            return
        else:
            token, targets = f"n {name}", self.resolver.lookup(self.module, name)
            if not targets and name in _WHOLE_NAMESPACE:
                self._give_up(f"{name}()", imports=name not in ("globals", "locals"))
        if not targets:
            self.out.append(".".join([token, *attributes]))
        for target in targets:
            self._emit(target, attributes)

    def _enter(self, names: dict[str, Sequence[Target]], function: bool) -> None:
        self.scopes.append(_Scope(len(self.scopes), names, function))

    def _local(self, name: str) -> tuple[str, Sequence[Target]] | None:
        """The text of a local name, and the import it came from; None for a name of the module."""
        for depth in range(len(self.scopes) - 1, -1, -1):
            scope = self.scopes[depth]
            if name in scope.names and (scope.function or depth == len(self.scopes) - 1):
                return scope.texts[name], scope.names[name]
        return None

    def _emit(self, target: Target, attributes: list[str]) -> None:
        while isinstance(target, ModuleRef) and attributes:
            found = self.resolver.member(target.module, attributes[0])
            if not found:
                break
            attributes = attributes[1:]
            for other in found[1:]:
                self._emit(other, attributes)
            target = found[0]
        if isinstance(target, Node):
            self.refs.append(target)
            self.out.append(".".join(["@", *attributes]))
        elif isinstance(target, ModuleRef):
            if not (attributes and attributes[0].startswith("__") and _is_ours(target.module)):
                self.objects.add(target.module)
            self.out.append(".".join(["module", target.module.rpartition(".")[2], *attributes]))
        else:
            name = ".".join([target.dotted, *attributes])
            self.out.append(".".join(["x", name]))
            if finder := _FINDERS.match(name):
                self._give_up(name, imports=bool(finder[1]))

    def _give_up(self, why: str, imports: bool = False) -> None:
        """Note that code cannot be followed, and whether it may import any module."""
        self.unresolved.append(f"line {self.line}: {why}")
        if imports and not self._is_ours:
            self.imports.add(ANY)

    # -- calls that import or look up by name

    def _Call(self, node: ast.Call) -> None:
        if (place := self._imported_by_call(node)) is not None:
            self._emit(place, [])
            return
        called = node.func.id if isinstance(node.func, ast.Name) else ""
        if called in ("getattr", "vars", "dir") and node.args and (places := self._places(node.args[0])):
            name = node.args[1] if called == "getattr" and len(node.args) > 1 else None
            if isinstance(name, ast.Constant) and isinstance(name.value, str):
                self.mentions.add(name.value)
                for place in places:
                    self._emit(place, [name.value])
                self.write(node.args[2:])
                return
            self._give_up(f"{called}() of a module")
            self.objects |= {place.module for place in places}
        elif called == "vars" and not node.args:
            self._give_up("vars()")
        self.out.append("(Call")
        for part in (node.func, node.args, node.keywords):
            self.write(part)
        self.out.append(")")

    def _imported_by_call(self, node: ast.AST) -> Target | None:
        """The module of ``import_module("a literal")``."""
        name = imported_by_call(node, self.module.package)
        if name is None:
            return None
        place = self.resolver.place(name)
        if isinstance(place, ModuleRef):
            self.imports.add(place.module)
        return place

    def _places(self, node: ast.AST) -> list[ModuleRef]:
        """The modules that an expression names, where it names some."""
        if isinstance(place := self._imported_by_call(node), ModuleRef):
            return [place]
        names = dotted(node) if isinstance(node, (ast.Name, ast.Attribute)) else []
        if not names:
            return []
        local = self._local(names[0])
        found = list(local[1] if local is not None else self.resolver.lookup(self.module, names[0]))
        for name in names[1:]:
            found = [one for place in found if isinstance(place, ModuleRef)
                     for one in self.resolver.member(place.module, name)]  # fmt: skip
        return [place for place in found if isinstance(place, ModuleRef)]

    # -- statements

    def _Import(self, node: ast.Import | ast.ImportFrom) -> None:
        """Names an import binds in a function are written at their uses, and only those of other libraries count here.

        In a class or a block of the module the definitions that it imports are written too.
        """
        binds = not self.scopes or not self.scopes[-1].function
        for local, (base, attribute) in imports_of(node, self.module.package):
            target = self.resolver.place(base)
            if isinstance(target, Outside):
                self.out.append(f"import {target.dotted}" if target.dotted else "import")
                continue
            self.imports.add(base)
            found = self.resolver.member(base, attribute) if attribute else [target]
            self.imports |= {one.module for one in found if isinstance(one, ModuleRef)}
            if binds and local != "*":
                self.out.append(f"as {local}")
                for one in found:
                    self._emit(one, [])

    _ImportFrom = _Import

    def _Raise(self, node: ast.Raise) -> None:
        """Messages of our errors do not count."""
        names = dotted(node.exc) if isinstance(node.exc, ast.Call) else []
        targets = self.resolver.lookup(self.module, names[0]) if len(names) == 1 else ()
        if any(isinstance(one, Node) and one.label.startswith(f"{_NAME}.") for one in targets) or (
            self._is_ours and len(names) == 1 and names[0] in ("ValueError", "TypeError")
        ):
            self.out.append("(Raise")
            self.write(node.exc.func)  # type: ignore[union-attr]
            self.out.append(")")
            return
        self.out.append("(Raise")
        self.write([part for part in (node.exc, node.cause) if part is not None])
        self.out.append(")")

    def _AnnAssign(self, node: ast.AnnAssign) -> None:
        """The annotation of a variable counts in a class, where it may make a field."""
        self.out.append("(Assign")
        self.write(node.target)
        if self.scopes and not self.scopes[-1].function and (not self._is_ours or last(node.annotation) in _FIELDS):
            self.out.append(plain_form(node.annotation))
        if node.value is not None:
            self.write(node.value)
        self.out.append(")")

    def _Assign(self, node: ast.Assign) -> None:
        self.out.append("(Assign")
        for target in node.targets:
            self.write(target)
        self.write(node.value)
        self.out.append(")")

    def _FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self.write(node.decorator_list)
        self._binds(node.name)
        self._function(node, not self._is_ours and any(last(each) not in PURE for each in node.decorator_list))

    _AsyncFunctionDef = _FunctionDef

    def _Lambda(self, node: ast.Lambda) -> None:
        self._function(node, False)

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, annotated: bool) -> None:
        self.out.append(f"({type(node).__name__}")
        given = node.args
        self.write([*given.defaults, "/", *(each or "-" for each in given.kw_defaults)])
        names: dict[str, Sequence[Target]] = {}
        for kind in ("posonlyargs", "args", "vararg", "kwonlyargs", "kwarg"):
            found = getattr(given, kind) or []
            for one in found if isinstance(found, list) else [found]:
                names[one.arg] = ()
                self.out.append(f"{kind} {one.arg}")
                if annotated and one.annotation is not None:
                    self.write(one.annotation)
        body = node.body if isinstance(node.body, list) else [node.body]
        if isinstance(node.body, list):
            body = body[1:] if _is_text(body[0]) else body
            declared = {name for each in inner(node.body) if isinstance(each, (ast.Global, ast.Nonlocal))
                        for name in each.names}  # fmt: skip
            names |= {name: () for name in names_bound(body) if name not in declared}
            names |= self._imported_in(body)
        self._enter(names, True)
        for statement in body:
            self.write(statement)
        self.scopes.pop()
        self.out.append(")")

    def _imported_in(self, body: Sequence[Any]) -> dict[str, Sequence[Target]]:
        """Names that imports in a body bind, and variables that hold a module imported by a call."""
        found: dict[str, list[Target]] = {}
        for each in inner(body):
            if isinstance(each, (ast.Import, ast.ImportFrom)):
                for local, (base, attribute) in imports_of(each, self.module.package):
                    targets = self.resolver.member(base, attribute) if attribute else [self.resolver.place(base)]
                    found.setdefault(local, []).extend(targets)
            elif isinstance(each, ast.Assign) and isinstance(each.targets[0], ast.Name):
                name = imported_by_call(each.value, self.module.package)
                found.setdefault(each.targets[0].id, []).extend([] if name is None else [self.resolver.place(name)])
        return {name: list(dict.fromkeys(targets)) for name, targets in found.items()}

    def _ClassDef(self, node: ast.ClassDef) -> None:
        self.write(node.decorator_list)
        self._binds(node.name)
        self.out.append("(Class")
        self.write(node.bases)
        self.write(node.keywords)
        body = node.body[1:] if _is_text(node.body[0]) else node.body
        if self._is_ours and any(self._is_keys(each) for each in node.decorator_list):
            body = [each for each in body if not isinstance(each, ast.AnnAssign)]  # they stand in each record's cell
        methods = sorted((each for each in body if isinstance(each, DEFINITIONS)), key=lambda each: each.name)
        unseen = _AFTERWARDS if self._is_ours else frozenset()
        body = [each for each in body if not isinstance(each, DEFINITIONS)]
        body += [each for each in methods if each.name not in unseen]
        names: dict[str, Sequence[Target]] = dict.fromkeys(names_bound(body), ())
        self._enter(names | self._imported_in(body), False)
        for statement in body:
            self.write(statement)
        self.scopes.pop()
        self.out.append(")")

    def _is_keys(self, decorator: ast.expr) -> bool:
        names = dotted(decorator)
        return len(names) == 1 and _KEYS in self.module.imported.get(names[0], ())

    def _binds(self, name: str) -> None:
        """The name of a definition: of the module's own it is left out."""
        if self.scopes:
            local = self._local(name)
            self.out.append(local[0] if local is not None else name)
        elif name != self.own:
            self.out.append(f"={name}")

    def _comprehension(self, node: Any) -> None:
        self.out.append(f"({type(node).__name__}")
        self.write(node.generators[0].iter)
        targets = names_bound(each.target for each in node.generators)
        self._enter(dict.fromkeys(targets, ()), True)
        for number, each in enumerate(node.generators):
            self.write([each.target, *([each.iter] if number else []), *each.ifs])
            self.out.append(f"async {each.is_async}")
        parts = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        self.write(parts)
        self.scopes.pop()
        self.out.append(")")

    _ListComp = _SetComp = _DictComp = _GeneratorExp = _comprehension

    def _ExceptHandler(self, node: ast.ExceptHandler) -> None:
        self._named(node, "name")

    def _MatchAs(self, node: ast.MatchAs) -> None:
        self._named(node, "name")

    def _MatchStar(self, node: ast.MatchStar) -> None:
        self._named(node, "name")

    def _MatchMapping(self, node: ast.MatchMapping) -> None:
        self._named(node, "rest")

    def _named(self, node: ast.AST, field: str) -> None:
        """A node that binds a name which it holds as a text."""
        self.out.append(f"({type(node).__name__}")
        for name in node._fields:
            value = getattr(node, name, None)
            if name == field and value is not None:
                self._binds(value)
            elif value is not None and value != []:
                self.out.append(name)
                self.write(value)
        self.out.append(")")


def _is_text(statement: Any) -> bool:
    value = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(value, ast.Constant) and isinstance(value.value, str)
