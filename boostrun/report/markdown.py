"""A table as Markdown (the pipe tables of GitHub)."""

from __future__ import annotations

import re
from collections.abc import Collection

from boostrun.report.formats import width
from boostrun.report.layout import BEST, Block, layout
from boostrun.report.table import ResultTable

#: Column groups side by side: four of three columns are what a page holds.
GROUPS = 4


def escape(text: str) -> str:
    r"""Text that Markdown shows as it stands, on one line.

    >>> escape("a|b <c> *d*")
    'a\\|b &lt;c> \\*d\\*'
    """
    text = re.sub(r"[\\`*|~]|(?<=\])\(|\b_|_\b", lambda found: "\\" + found[0], " ".join(text.splitlines()))
    return text.replace("<", "&lt;")


def render(table: ResultTable) -> str:
    """The whole table with its footer."""
    laid = layout(table)
    parts = [f"# {escape(laid.heading)}"]
    title = None
    for whole in laid.blocks:
        for block in whole.split(lambda block: len(block.groups) <= GROUPS):
            if block.title and block.title != title:
                parts.append(f"## {escape(block.title)}")
            title = block.title
            parts.append(_pipe_table(block))
    lines = [f"- {escape(line)}" for line in laid.footer]
    lines += [f"- [{number}] {escape(note)}" for number, note in enumerate(laid.notes, 1)]
    return "\n\n".join([*parts, "\n".join(lines)]) + "\n"


def pipe_table(lines: list[list[str]], numbers: Collection[int]) -> str:
    """A head and rows of texts as a pipe table; the columns in ``numbers`` are set to the right.

    >>> print(pipe_table([["a", "b"], ["x|y", "1"]], numbers=(1,)))
    | a    | b   |
    | ---- | --: |
    | x\\|y | 1   |
    """
    lines = [[escape(text) for text in line] for line in lines]
    lines = [[f"**{text}**" if BEST in text else text for text in line] for line in lines]
    wide = [max(3, *(width(line[i]) for line in lines)) for i in range(len(lines[0]))]
    rule = ["-" * (columns - 1) + ":" if i in numbers else "-" * columns for i, columns in enumerate(wide)]
    padded = [
        [text + " " * (wide[i] - width(text)) for i, text in enumerate(line)] for line in (lines[0], rule, *lines[1:])
    ]
    return "\n".join("| " + " | ".join(line) + " |" for line in padded)


def _pipe_table(block: Block) -> str:
    lines = block.lines("method")
    return pipe_table(lines, range(1, len(lines[0])))
