r"""A table as LaTeX: one float that needs ``\usepackage{booktabs}`` and nothing else."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from boostrun.report.formats import NARROW
from boostrun.report.layout import BEST, layout
from boostrun.report.table import ResultTable

#: Column groups side by side within the width of a text.
GROUPS = 3

_SIGNS = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": "$<$",
    ">": "$>$",
    "|": "$|$",
    '"': "''",
    # A bracket or star after the end of a row would be read as the row's option.
    "[": "{[}",
    "]": "{]}",
    "*": "{*}",
    "—": "---",
    "–": "--",
    "−": "$-$",
    "·": r"$\cdot$",
    "≠": r"$\neq$",
    "≥": r"$\geq$",
    "≤": r"$\leq$",
    "±": r"$\pm$",
    "×": r"$\times$",
    "→": r"$\to$",
    "µ": r"$\mu$",
    "†": r"$\dagger$",
    "‡": r"$\ddagger$",
    "★": r"$\bullet$",
    "☆": r"$\circ$",
    "’": "'",
    "…": r"\dots{}",
    NARROW: r"\,",
    # Keeps the two hyphens of an option (--strict) from joining into a dash.
    "\N{WORD JOINER}": "{}",
    "\n": " ",
    "\t": " ",
}


def escape(text: str) -> str:
    r"""Text for LaTeX, whatever it holds; a sign that plain LaTeX lacks loses its accent or becomes its code point.

    >>> print(escape("uniform_1q 50 % ≠"))
    uniform\_1q 50 \% $\neq$
    """
    text = re.sub(r"(?<![\w-])-(?=\d)", "−", text)
    text = re.sub(r"-(?=-)", "-\N{WORD JOINER}", text)
    return "".join(_SIGNS[sign] if sign in _SIGNS else _plain(sign) for sign in text)


def render(table: ResultTable) -> str:
    """The table as a float; ``\\label`` is made of the paper's and the table's name."""
    laid = layout(table)
    label = "-".join(filter(None, (table.spec.paper, table.spec.table))) or "table"
    notes = [*laid.footer, *(f"[{number}] {note}" for number, note in enumerate(laid.notes, 1))]
    blocks = [
        tabular(block.lines(block.title))
        for whole in laid.blocks
        for block in whole.split(lambda block: len(block.groups) <= GROUPS)
    ]
    return float_of(laid.heading, blocks, notes, label)


def float_of(caption: str, tabulars: Iterable[list[str]], notes: Iterable[str], label: str = "table") -> str:
    """The lines of some tables as one float with notes below; ``caption`` and ``notes`` may hold any text."""
    label = "".join(sign for sign in label if sign.isascii() and (sign.isalnum() or sign in "-."))
    lines = [
        r"% needs \usepackage{booktabs}",
        r"\begin{table}",
        r"\centering",
        r"\footnotesize",
        r"\setlength{\tabcolsep}{4pt}",
    ]
    lines += [rf"\caption{{{escape(caption)}}}", rf"\label{{tab:{label}}}"]
    for one in tabulars:
        lines += [*one, r"\par\medskip"]
    lines += [r"\begin{minipage}{\linewidth}\raggedright\scriptsize"]
    lines += [rf"{escape(note)}\par" for note in notes]
    return "\n".join([*lines, r"\end{minipage}", r"\end{table}", ""])


def tabular(lines: list[list[str]]) -> list[str]:
    """A head and rows of texts as a tabular, the first column to the left."""
    head, *body = lines
    lines_of = [rf"\begin{{tabular}}{{l{'r' * (len(head) - 1)}}}", r"\toprule", _row(head), r"\midrule"]
    return [*lines_of, *(_row(line) for line in body), r"\bottomrule", r"\end{tabular}"]


def _row(texts: list[str]) -> str:
    shown = [rf"\textbf{{{escape(text)}}}" if BEST in text else escape(text) for text in texts]
    return " & ".join(shown) + r" \\"


def _plain(sign: str) -> str:
    if sign.isascii():
        return sign if sign.isprintable() else " "
    base = "".join(part for part in unicodedata.normalize("NFKD", sign) if part.isascii() and part.isprintable())
    return escape(base) if base else rf"\texttt{{U+{ord(sign):04X}}}"
