"""Texts for readers: numbers and names, Markdown and LaTeX, and files that are written whole or not at all."""

from __future__ import annotations

import csv
import io
import math
import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from boostrun.errors import BoostrunError
from boostrun.files import sweep, write_whole

#: Narrow no-break space: groups thousands in rendered pages (a terminal gets an ordinary space).
NARROW = "\u202f"

#: The signs of all tables, and the mark of a row of the paper that is not run.
BEST, NOT_WORSE, UNTESTED, DIFFERS, STALE, SAMPLED, MISSING = "★", "☆", "?", "≠", "†", "‡", "—"
QUOTED = "quoted"

_COST_HEADS = {
    "peak_samples_held": "samples held", "samples_drawn": "drawn", "n_features_used": "features used",
    "train_seconds": "fit s",
}  # fmt: skip
_ABBREVIATIONS = {"f1": "F1", "roc": "ROC", "auc": "AUC"}
_UNITS = {"pct": "%", "seconds": "s", "s": "s", "mb": "MB", "us": "µs"}
_AXES = {
    "log10_loss": "training loss (log10)", "train_seconds": "training time (s)", "test_seconds": "test time (s)",
    "select_seconds": "time to select (s)", "optimise_seconds": "time to optimise (s)", "time_s": "time (s)",
    "time_per_example_us": "time an example (µs)", "run_time_relative": "run time, relative",
    "edge_gap_pct": "gap to the best edge (%)", "tail_accuracy_pct": "accuracy at the end (%)",
    "recovery_pct": "accuracy after a change (%)", "peak_memory_mb": "memory (MB)", "memory_mib": "memory (MiB)",
    "peak_samples_held": "samples held", "n_features_used": "features used", "labels_asked": "labels asked for",
    "memory_bytes": "memory of the learner (bytes)", "microseconds_per_example": "time an example (µs)",
    "evaluations": "evaluations of a feature on a sample",
    "evaluations_selection": "evaluations that choose splits",
    "evaluations_refit": "evaluations that fit what is chosen",
    "all_evaluations": "all evaluations of a feature on a sample",
    "multiply_adds": "multiplications and additions", "features_to_20_pct": "features to 20 % error",
    "features_to_8_pct": "features to 8 % error",
}  # fmt: skip
_IN_WORDS = {"%": "(%)", "s": "(s)", "MB": "(MB)", "µs": "(µs)"}
_LOWER_IS_BETTER = re.compile(r"error|loss|Brier|seconds|time|memory|held|drawn|misclassified|evaluations")
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


def metric_name(metric: str) -> str:
    """A metric's key in words.

    >>> metric_name("test_accuracy_pct"), metric_name("train_seconds"), metric_name("roc_auc")
    ('test accuracy %', 'train s', 'ROC AUC')
    """
    words = [_ABBREVIATIONS.get(word, word) for word in metric.split("_")]
    return " ".join([*words[:-1], _UNITS.get(words[-1], words[-1])])


def axis_name(metric: str) -> str:
    """The label of an axis: plain words and a unit in brackets, no name of a variable.

    >>> axis_name("train_seconds"), axis_name("test_error_pct"), axis_name("samples_drawn"), axis_name("build_seconds")
    ('training time (s)', 'test error (%)', 'samples drawn', 'build time (s)')
    """
    if metric in _AXES:
        return _AXES[metric]
    words = metric_name(metric).split(" ")
    if words[-1] in _IN_WORDS and len(words) > 1:
        words[-1:] = (["time"] if words[-1] == "s" else []) + [_IN_WORDS[words[-1]]]
    return " ".join(words)


def cost_head(cost: str) -> str:
    """The short head of a cost's column."""
    return _COST_HEADS.get(cost, metric_name(cost))


def level_head(key: str) -> str:
    """The head of a key's column in a csv file, where ``n`` is the number of trials.

    >>> level_head("r"), level_head("n")
    ('r', 'budget.n')
    """
    return "budget.n" if key == "n" else key


def lower_is_better(metric: str) -> bool:
    """Whether the name says that less is better: errors, losses, times, memory.

    >>> lower_is_better("log10_loss"), lower_is_better("test_accuracy_pct")
    (True, False)
    """
    return bool(_LOWER_IS_BETTER.search(metric))


def signs_of(ranks: Iterable[str]) -> dict[str, str]:
    """The sign of each mark that is there; "untested" has one only if other methods could be tested.

    >>> signs_of(["best", "worse", "untested"]), signs_of(["best", "untested"])
    ({'best': '★', 'untested': '?'}, {'best': '★'})
    """
    there = set(ranks)
    signs = {"best": BEST, "not worse": NOT_WORSE, "untested": UNTESTED * bool(there & {"worse", "not worse"})}
    return {rank: sign for rank, sign in signs.items() if rank in there and sign}


def decimal(number: float, *, signed: bool = False, group: str = NARROW, places: int = 2) -> str:
    """Two decimals or ``places``, thousands grouped; empty for nan, and never a signed zero.

    >>> decimal(84.305), decimal(-0.001), decimal(0.12, signed=True), decimal(12345.6, group=" ")
    ('84.31', '0.00', '+0.12', '12 345.60')
    >>> decimal(26.0, signed=True, places=0)
    '+26'
    """
    if math.isnan(number):
        return ""
    # Recorded percentages are short decimals: 84.305 is stored a hair below, yet a reader rounds it up.
    number = round(round(number, 10) + math.copysign(1e-9, number), places) + 0.0
    return f"{number:{'+' if signed and number else ''},.{places}f}".replace(",", group)


def count(number: float, group: str = NARROW) -> str:
    """A whole number with grouped thousands.

    >>> count(63000, " ")
    '63 000'
    """
    return "" if math.isnan(number) else f"{round(number):,}".replace(",", group)


def cost_text(cost: str, mean: float) -> str:
    """A mean cost for the terminal: two decimals for seconds, megabytes and shares, whole numbers for counts.

    >>> cost_text("samples_drawn", 63000.0), cost_text("train_seconds", 0.384)
    ('63 000', '0.38')
    """
    return decimal(mean, group=" ") if has_unit(cost) else count(mean, " ")


def has_unit(metric: str) -> bool:
    """Whether the name ends in a unit; names of counts do not.

    >>> has_unit("test_error_pct"), has_unit("test_errors")
    (True, False)
    """
    return metric.rpartition("_")[2] in _UNITS


def spread(mean: float, std: float, group: str = NARROW, places: int = 2) -> str:
    """``mean (std)``; the mean alone without a std, empty without a mean.

    >>> spread(84.31, 0.29), spread(84.31, float("nan"))
    ('84.31 (0.29)', '84.31')
    """
    if math.isnan(mean):
        return ""
    written = [decimal(number, group=group, places=places) for number in (mean, std)]
    return f"{written[0]} ({written[1]})" if written[1] else written[0]


def width(text: str) -> int:
    """Columns that a text takes on a terminal."""
    return sum(0 if unicodedata.combining(c) else 1 + (unicodedata.east_asian_width(c) in "WF") for c in text)


def align(rows: Iterable[list[str]], gap: str = "  ") -> list[str]:
    """Rows of text as lines with columns padded to the left, without trailing blanks."""
    rows = [list(row) for row in rows]
    wide = [max(width(row[i]) for row in rows if i < len(row)) for i in range(max(map(len, rows), default=0))]
    return [gap.join(text + " " * (wide[i] - width(text)) for i, text in enumerate(row)).rstrip() for row in rows]


def write_bytes(path: Path | str, content: bytes) -> Path:
    """Put `content` at `path`, making its folder; a reader sees the old file or the new one, never a part.

    A link stays a link, and a device is written to. Temporary files of killed commands in the folder are removed.
    Raises BoostrunError if the folder cannot be written, or the disk is full; nothing is left behind.
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


def csv_text(rows: Iterable[Iterable]) -> str:
    """Rows as CSV: floats with ten significant digits, NaN and None as empty fields.

    >>> csv_text([["a", 2, 1 / 3, math.nan, None]])
    'a,2,0.3333333333,,\\n'
    """
    found = io.StringIO()
    csv.writer(found, lineterminator="\n").writerows(map(_csv_field, row) for row in rows)
    return found.getvalue()


def _csv_field(value: Any) -> Any:
    if isinstance(value, float):
        return "" if math.isnan(value) else f"{value:.10g}"
    return value


def write_text_table(
    title: str, rows: Sequence[list[str]], remark: str, folder: Path | str, numbers: Sequence[int] = ()
) -> str:
    """Put table.md and table.csv into ``folder``: a head, rows of texts, and a remark below.

    The columns ``numbers`` are aligned to the right. Returns the page and its path. Raises BoostrunError if the
    folder cannot be written.
    """
    page = f"# {title}\n\n{pipe_table(list(rows), numbers=tuple(numbers))}\n\n{remark}\n"
    write_texts(folder, {"table.md": page, "table.csv": csv_text(rows)})
    return f"{page}\nwritten: {folder}/table.md and table.csv"


def escape(text: str) -> str:
    r"""Text that Markdown shows unchanged, on one line.

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
