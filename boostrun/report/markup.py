"""Texts as Markdown and LaTeX, and files that are written whole or not at all."""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

from boostrun.errors import BoostrunError
from boostrun.files import sweep, write_whole
from boostrun.report.formats import BEST, NARROW, width

_LATEX_SIGNS = {
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


def write_bytes(path: Path | str, content: bytes) -> Path:
    """Put `content` at `path`, making its folder; a reader sees the old file or the new one, never a part.

    A link stays a link, a device is written to. What killed commands left in the folder is removed.

    Raises
    ------
    BoostrunError
        The folder cannot be written, or the disk is full; nothing is left behind.
    """
    path = Path(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        sweep(path.parent)
        write_whole(path, content)
    except OSError as error:
        raise BoostrunError(f"cannot write {path}: {error.strerror or error}") from error
    return path


def write_texts(folder: Path | str, contents: Mapping[str, str]) -> list[Path]:
    """Put texts by their file names into ``folder``, as UTF-8; BoostrunError if it cannot be written."""
    return [
        write_bytes(Path(folder) / name, text.encode("utf-8", "backslashreplace")) for name, text in contents.items()
    ]


def csv_text(rows: Iterable[Sequence]) -> str:
    """Rows as CSV."""
    found = io.StringIO()
    csv.writer(found, lineterminator="\n").writerows(rows)
    return found.getvalue()


def write_text_table(
    title: str, rows: Sequence[list[str]], remark: str, folder: Path | str, numbers: Sequence[int] = ()
) -> str:
    """Put table.md and table.csv into ``folder``: a head, rows of texts, and a remark below.

    The columns ``numbers`` are aligned to the right. Returns the page and where it is. Raises BoostrunError if the
    folder cannot be written.
    """
    page = f"# {title}\n\n{pipe_table(list(rows), numbers=tuple(numbers))}\n\n{remark}\n"
    write_texts(folder, {"table.md": page, "table.csv": csv_text(rows)})
    return f"{page}\nwritten: {folder}/table.md and table.csv"


def escape(text: str) -> str:
    r"""Text that Markdown shows as it stands, on one line.

    >>> escape("a|b <c> *d*")
    'a\\|b &lt;c> \\*d\\*'
    """
    text = re.sub(r"[\\`*|~]|(?<=\])\(|\b_|_\b", lambda found: "\\" + found[0], " ".join(text.splitlines()))
    return text.replace("<", "&lt;")


def pipe_table(lines: list[list[str]], numbers: Collection[int]) -> str:
    """A head and rows of texts as a pipe table of Markdown; the columns in ``numbers`` are aligned to the right.

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


def escape_latex(text: str) -> str:
    r"""Text for LaTeX, whatever it holds; a sign that plain LaTeX lacks loses its accent or becomes its code point.

    >>> print(escape_latex("uniform_1q 50 % ≠"))
    uniform\_1q 50 \% $\neq$
    """
    text = re.sub(r"(?<![\w-])-(?=\d)", "−", text)
    text = re.sub(r"-(?=-)", "-\N{WORD JOINER}", text)
    return "".join(_LATEX_SIGNS[sign] if sign in _LATEX_SIGNS else _plain(sign) for sign in text)


def _plain(sign: str) -> str:
    if sign.isascii():
        return sign if sign.isprintable() else " "
    base = "".join(part for part in unicodedata.normalize("NFKD", sign) if part.isascii() and part.isprintable())
    return escape_latex(base) if base else rf"\texttt{{U+{ord(sign):04X}}}"


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
    lines += [rf"\caption{{{escape_latex(caption)}}}", rf"\label{{tab:{label}}}"]
    for one in tabulars:
        lines += [*one, r"\par\medskip"]
    lines += [r"\begin{minipage}{\linewidth}\raggedright\scriptsize"]
    lines += [rf"{escape_latex(note)}\par" for note in notes]
    return "\n".join([*lines, r"\end{minipage}", r"\end{table}", ""])


def tabular(lines: list[list[str]]) -> list[str]:
    """A head and rows of texts as a tabular, the first column to the left."""
    head, *body = lines
    lines_of = [rf"\begin{{tabular}}{{l{'r' * (len(head) - 1)}}}", r"\toprule", _row(head), r"\midrule"]
    return [*lines_of, *(_row(line) for line in body), r"\bottomrule", r"\end{tabular}"]


def _row(texts: list[str]) -> str:
    shown = [rf"\textbf{{{escape_latex(text)}}}" if BEST in text else escape_latex(text) for text in texts]
    return " & ".join(shown) + r" \\"
