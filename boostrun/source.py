"""A module's source without what decides nothing: comments, docstrings, blank lines, ``__version__``."""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterable, Iterator
from functools import cache

from boostrun.errors import BoostrunError


@cache
def parsed(source: str, name: str) -> ast.Module:
    """The syntax tree of a source; BoostrunError with the module's ``name`` where it cannot be parsed."""
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError) as error:
        raise BoostrunError(f"cannot parse the source of {name}: {error}") from None


def statements(tree: ast.AST) -> Iterator[ast.AST]:
    """Every module, class, function and other statement of a tree, without looking into expressions."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        for name in BLOCKS:
            if isinstance(block := getattr(node, name, None), list):
                waiting += block


BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")


@cache
def normalised(source: str, name: str = "source") -> str:
    r"""``source`` without comments, docstrings, blank lines, trailing space and the value of ``__version__``.

    Cut out by position, since the printed form of a syntax tree differs from one Python version to the next. A release
    that changes nothing but ``__version__`` makes no record stale.

    >>> normalised('def f(x):  # why\n    "What f does."\n\n    return x   \n')
    'def f(x):\n    return x\n'
    """
    return without(source, name, ())


def without(source: str, name: str, more: Iterable[ast.AST]) -> str:
    """As :func:`normalised`, and without the statements and expressions ``more`` of its tree :func:`parsed`."""
    source = source.replace("\r\n", "\n").replace("\r", "\n")
    lines = source.split("\n")  # not splitlines: it knows more line ends than Python's grammar does
    tree = parsed(source, name)
    try:
        comments, inside = _comments_and_strings(source)
    except (tokenize.TokenError, SyntaxError, IndentationError) as error:
        raise BoostrunError(f"cannot parse the source of {name}: {error}") from None
    # Comments first: each runs to the end of its line, so the positions of what stands before it stay right.
    for row, column in comments:
        lines[row] = lines[row][:column]
    for node in _last_first([*_unwanted(tree), *more]):
        first, last = node.lineno - 1, node.end_lineno - 1  # ast.parse sets it
        # The tree counts bytes of UTF-8 in a line, not characters.
        start = len(lines[first].encode()[: node.col_offset].decode())
        end = len(lines[last].encode()[: node.end_col_offset].decode())
        rest = lines[last][end:]
        lines[first] = lines[first][:start] + (rest if first == last else "")
        for row in range(first + 1, last + 1):
            lines[row] = rest if row == last else ""
        inside = inside.difference(range(first, last))
    kept = [line if row in inside else line.rstrip() for row, line in enumerate(lines)]
    return "".join(line + "\n" for row, line in enumerate(kept) if line or row in inside)


@cache
def _comments_and_strings(source: str) -> tuple[list[tuple[int, int]], frozenset[int]]:
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
    return comments, frozenset(inside)


def _unwanted(tree: ast.Module) -> list[ast.AST]:
    """Docstrings and the assignment of ``__version__``."""
    found: list[ast.AST] = []
    for node in statements(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)) and node.body:
            first = node.body[0]
            value = first.value if isinstance(first, ast.Expr) else None
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                found.append(first)
    for node in tree.body:
        if isinstance(node, ast.Assign) and [getattr(target, "id", "") for target in node.targets] == ["__version__"]:
            found.append(node)
    return found


def _last_first(nodes: Iterable[ast.AST]) -> list:
    return sorted(nodes, key=lambda node: (node.lineno, node.col_offset), reverse=True)


def chains(tree: ast.Module) -> Iterator[list[str]]:
    """Dotted names in a module's text, longest and shorter ones."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            chain, inner = [node.attr], node.value
            while isinstance(inner, ast.Attribute):
                chain.append(inner.attr)
                inner = inner.value
            if isinstance(inner, ast.Name):
                yield [inner.id, *reversed(chain)]


def base_of(node: ast.ImportFrom, package: str) -> str:
    """The absolute name of the module that a ``from`` import names; empty beyond the top, where it fails when run."""
    if not node.level:
        return node.module or ""
    parents = package.split(".") if package else []
    if node.level > len(parents):
        return ""
    start = ".".join(parents[: len(parents) - node.level + 1])
    return f"{start}.{node.module}" if node.module else start
