"""Pieces of C: tables of numbers, names that may hold anything, blocks of lines."""

from __future__ import annotations

import string as letters
import textwrap

import numpy as np

from ..errors import BoostrunError

_TYPES = {"float64": "double", "float32": "float", "int64": "int", "uint8": "unsigned char"}
_WIDTH = 110
_LARGEST_INT = 2**31 - 1
_HARMLESS = frozenset(letters.ascii_letters + letters.digits + " _.,:;+()=<>-")


def table(name: str, values: np.ndarray) -> str:
    """``static const TYPE name[n][m] = {...};`` that holds exactly these numbers; the type is that of the array.

    Raises BoostrunError for what C cannot say: no number at all, NaN, or a whole number that is no int.

    >>> print(table("w", np.array([[0.5, -np.inf], [1e-300, 2]])))
    static const double w[2][2] = {
    {0.5, -INFINITY}, {1e-300, 2.0}
    };
    """
    if not values.size:
        raise BoostrunError(f"the model's {name} is empty: there is nothing to export")
    if values.dtype.kind == "f" and np.isnan(values).any():
        raise BoostrunError(f"the model's {name} holds NaN, which cannot be written in C")
    if values.dtype.kind in "iu" and (values.max() > _LARGEST_INT or values.min() < -_LARGEST_INT):
        raise BoostrunError(f"the model's {name} holds a number that is no int of C")
    sizes = "".join(f"[{size}]" for size in values.shape)
    body = textwrap.fill(_braces(values, values.dtype), _WIDTH, break_long_words=False, break_on_hyphens=False)
    return f"static const {_TYPES[values.dtype.name]} {name}{sizes} = {{\n{body}\n}};"


def _braces(values: np.ndarray, kind: np.dtype) -> str:
    if values.ndim > 1:
        return ", ".join("{" + _braces(row, kind) + "}" for row in values)
    return ", ".join(map(_number, values.tolist() if kind != np.float32 else values))


def _number(value) -> str:
    if not isinstance(value, (float, np.floating)):
        return str(value)
    if np.isinf(value):
        return "INFINITY" if value > 0 else "-INFINITY"
    return f"{value!s}f" if isinstance(value, np.float32) else repr(value)


def string(text: str) -> str:
    r"""A C string literal of any text as UTF-8; all that is not a plain letter, digit or sign is an octal number.

    >>> print(string('a"*/\n'))
    "a\042\052\057\012"
    """
    code = text.encode("utf-8", "surrogatepass")
    return '"' + "".join(chr(byte) if chr(byte) in _HARMLESS else f"\\{byte:03o}" for byte in code) + '"'


def plain(text: str) -> str:
    """Text that can do no harm in a comment.

    >>> plain("a */ b")
    'a __ b'
    """
    return "".join(letter if letter in _HARMLESS else "_" for letter in text)


def block(text: str, **words) -> str:
    """A piece of C written with indentation in Python, with ``@word@`` replaced.

    >>> block('''
    ...     int a[@n@];
    ... ''', n=3)
    'int a[3];'
    """
    out = textwrap.dedent(text).strip("\n").rstrip()
    for word, value in words.items():
        out = out.replace(f"@{word}@", str(value))
    return out


def comment(paragraphs: list[str]) -> str:
    """A C comment of paragraphs of plain text."""
    lines = [
        line
        for number, paragraph in enumerate(paragraphs)
        for line in ([""] if number else []) + textwrap.wrap(paragraph, _WIDTH)
    ]
    return "\n".join(["/*", *(f" * {line}".rstrip() for line in lines), " */"])
