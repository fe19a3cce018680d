"""The layout of a table, blocks of column groups (ours, paper, diff) and a footer, as text, Markdown and LaTeX.

All formats share the signs: ★ best, ☆ not significantly worse, ? untested, ≠ differs from the paper, † stale trials,
‡ trials of code that was compared by a sample, — missing, 7/10 incomplete, [1] a numbered note.
"""

from __future__ import annotations

import math
import textwrap
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from boostrun.report.entry import places_of
from boostrun.report.markup import (
    BEST,
    DIFFERS,
    MISSING,
    NARROW,
    NOT_WORSE,
    QUOTED,
    SAMPLED,
    STALE,
    UNTESTED,
    align,
    decimal,
    escape,
    float_of,
    has_unit,
    metric_name,
    pipe_table,
    signs_of,
    spread,
    tabular,
    write_texts,
)
from boostrun.report.markup import width as columns
from boostrun.report.reference import check_targets
from boostrun.report.statistics import ALPHA, LEAST_PAIRS, PAPER_TRIALS
from boostrun.report.table import Comparison, ResultTable, compared_by, competing

# column groups side by side: what a page holds, and the width of a text
_MARKDOWN_GROUPS, _LATEX_GROUPS = 4, 3


@dataclass(frozen=True)
class ColumnGroup:
    """The columns of one column label: one or three ``heads``, and the texts of each row."""

    heads: tuple[str, ...]
    cells: dict[str, tuple[str, ...]]


@dataclass(frozen=True)
class Block:
    """One small table: its title (the first column label), the heads of its rows, its column groups."""

    title: str
    rows: tuple[str, ...]
    groups: tuple[ColumnGroup, ...]

    def lines(self, corner: str = "") -> list[list[str]]:
        """Head and rows as lists of texts of equal length."""
        head = [corner, *(text for group in self.groups for text in group.heads)]
        blank = ("", "", "")
        body = [
            [row, *(text for group in self.groups for text in group.cells.get(row, blank[: len(group.heads)]))]
            for row in self.rows
        ]
        return [head, *body]

    def split(self, fits: Callable[[Block], bool]) -> list[Block]:
        """The block as several that fit, each with at least one group."""
        parts: list[Block] = []
        taken: tuple[ColumnGroup, ...] = ()
        for group in self.groups:
            if taken and not fits(Block(self.title, self.rows, (*taken, group))):
                parts.append(Block(self.title, self.rows, taken))
                taken = ()
            taken = (*taken, group)
        return [*parts, Block(self.title, self.rows, taken)]


@dataclass(frozen=True)
class Layout:
    """Heading, blocks, lines of the footer and numbered notes of a table."""

    heading: str
    blocks: tuple[Block, ...]
    footer: tuple[str, ...]
    notes: tuple[str, ...]


def layout(table: ResultTable, group: str = NARROW) -> Layout:
    """Lay a table out; `group` is the sign between thousands."""
    notes: dict[str, int] = {}
    usual, signs, places = _usual(table), signs_of(cell.rank for cell in table.cells), _places(table)
    by_title: dict[str, list[Comparison]] = {}
    for cell in table.cells:
        by_title.setdefault(block_title(table, cell), []).append(cell)
    blocks = []
    for title, cells in by_title.items():
        texts: dict[str, dict[str, tuple[str, ...]]] = {}
        with_paper = {group_head(cell) for cell in cells if cell.has_paper}
        rows = dict.fromkeys(table.label(cell) for cell in cells)
        for row in rows:  # row by row, so that notes are numbered in the order of reading
            for cell in cells:
                if table.label(cell) == row:
                    head = group_head(cell)
                    form = {"group": group, "places": places[cell.metric]}
                    shown = [_ours(cell, usual, signs, notes, form)]
                    if head in with_paper:
                        shown += [_paper(cell, notes, form), _difference(cell, form)]
                    texts.setdefault(head, {})[row] = tuple(shown)
        order = dict.fromkeys(group_head(cell) for cell in cells)
        groups = tuple(
            ColumnGroup((head, "paper", "diff") if head in with_paper else (head,), texts[head]) for head in order
        )
        blocks.append(Block(title, tuple(rows), groups))
    return Layout(table.spec.heading, tuple(blocks), tuple(_footer(table, usual)), tuple(notes))


def block_title(table: ResultTable, cell: Comparison) -> str:
    """The title of a cell's block."""
    return cell.column[0] if len(table.spec.columns) > 1 else ""


def group_head(cell: Comparison) -> str:
    """The head of a cell's columns."""
    return " ".join(filter(None, cell.column[1:] if len(cell.column) > 1 else cell.column)) or "ours"


def _usual(table: ResultTable) -> int:
    """The number of trials that most cells were asked for, which the footer states once."""
    counts = Counter(cell.expected for cell in table.cells if cell.expected)
    return max(counts, key=lambda n: (counts[n], n), default=0)


def _tested(table: ResultTable) -> bool:
    return any(cell.rank in ("worse", "not worse") for cell in table.cells)


def _places(table: ResultTable) -> dict[str, int]:
    """The decimals of each metric: those of :func:`places_of`, none for a count whose figures are all whole."""
    numbers: dict[str, list[float]] = {}
    for cell in table.cells:
        known = [x for x in (cell.mean, cell.std, cell.paper_mean, cell.paper_std) if not math.isnan(x)]
        numbers.setdefault(cell.metric, []).extend(known)
    return {
        metric: places_of(metric) if has_unit(metric) or any(x % 1 for x in known) else 0
        for metric, known in numbers.items()
    }


def _ours(cell: Comparison, usual: int, signs: dict[str, str], notes: dict[str, int], form: dict) -> str:
    if not cell.expected:
        return QUOTED if cell.has_paper else ""
    parts = [spread(cell.mean, cell.std, **form) or MISSING]
    if cell.n and not cell.complete:
        parts.append(f"{cell.n}/{cell.expected}")
    elif cell.n and cell.n != usual:
        parts.append(f"n={cell.n}")
    parts += [STALE] * (cell.stale > 0)
    if cell.rank in signs:
        parts.append(signs[cell.rank])
    return " ".join([*parts, *_note(cell.reason, notes)])


def _paper(cell: Comparison, notes: dict[str, int], form: dict) -> str:
    note = cell.paper_note if cell.has_paper else ""
    return " ".join([spread(cell.paper_mean, cell.paper_std, **form), *_note(note, notes)])


def _difference(cell: Comparison, form: dict) -> str:
    text = decimal(cell.difference, signed=True, **form)
    return f"{text} {DIFFERS}" if cell.differs else text


def _note(text: str, notes: dict[str, int]) -> list[str]:
    return [f"[{notes.setdefault(text, len(notes) + 1)}]"] if text else []


def _footer(table: ResultTable, usual: int) -> list[str]:
    spec, cells = table.spec, table.cells
    lines = [
        f"{_metrics(table)} is better: mean (standard deviation, ddof 1) over n = {usual} trials "
        f"where a cell does not give another number; no deviation and no test where n = 1{_constant(table)}."
    ]
    ranks = {cell.rank for cell in cells}
    within = "column and setting" if table.several_settings else "column"
    if ranks - {""}:
        line = f"{BEST} best mean of its {within} (of methods with {LEAST_PAIRS} trials or more, if there are any)."
        if _tested(table):
            groups = (group.values() for group in competing(cells, spec).values())
            line += (
                f" {NOT_WORSE} not significantly worse than it ({compared_by(groups)}, "
                f"Holm-corrected over the {within}, p >= {ALPHA})."
            )
        if "untested" in ranks:
            line += f" {UNTESTED} not tested:" if _tested(table) else " The others are not tested against it:"
            line += f" that takes at least {LEAST_PAIRS} seeds in common, more where a {within} has many methods."
        lines.append(line)
    if naught := [row for row in spec.naught if any(cell.row == row for cell in cells)]:
        lines.append(f"Compared with no method: {', '.join(naught)}. They learn nothing; where columns differ only by "
                     "what they are not told, these show one and the same run of theirs.")  # fmt: skip
    lines += _paper_lines(table)
    stale = [f"{table.label(cell)} {' '.join(cell.column)}: {cell.stale} of {cell.n}" for cell in cells if cell.stale]
    if stale:
        lines.append(f"{STALE} made in part by other code or data than today's ({'; '.join(stale)} trials).")
    if sampled := frozenset().union(*(cell.sampled for cell in cells)):  # cells may show one and the same trial
        trials = frozenset().union(*(cell.trials for cell in cells))
        lines.append(
            f"{SAMPLED} {len(sampled)} of {len(trials)} trials were made by code that has changed since; some of each "
            "method were repeated with today's, equal to the bit, which is a sample and no proof."
        )
    asked = [cell for cell in cells if cell.expected]
    absent, partial = sum(cell.n == 0 for cell in asked), sum(0 < cell.n < cell.expected for cell in cells)
    if absent or partial:
        lines.append(
            f"Of {len(asked)} cells {absent} are missing ({MISSING}) and {partial} incomplete (trials done/asked for)."
        )
    return [*lines, *check_targets(spec.targets, cells, spec.higher_is_better), *spec.notes]


def _constant(table: ResultTable) -> str:
    """Which rows of one trial are tested nevertheless, since nothing in them is random; empty if there is none."""
    tested = [cell for cell in table.cells if cell.fixed and cell.n == 1 and cell.rank in ("worse", "not worse")]
    names = ", ".join(dict.fromkeys(table.label(cell) for cell in tested))
    return f", except for {names}: nothing there is random, and its figure stands for every seed" if names else ""


def _metrics(table: ResultTable) -> str:
    """The metrics in words, with their good ends.

    >>> from boostrun.report.entry import Entry
    >>> from boostrun.report.table import TableSpec, build
    >>> spec = TableSpec("", "", "", "test_accuracy_pct", True, ("metric",))
    >>> _metrics(build(spec, [Entry("a", (name,), {}, 1, [], metric=name) for name in ("test_accuracy_pct", "time_s")]))
    'test accuracy %, higher, and time s, lower'
    """
    ends: dict[str, list[str]] = {}
    for metric in dict.fromkeys(cell.metric for cell in table.cells):
        ends.setdefault("higher" if table.spec.higher(metric) else "lower", []).append(metric_name(metric))
    return ", and ".join(f"{', '.join(names)}, {end}" for end, names in ends.items())


def _paper_lines(table: ResultTable) -> list[str]:
    spec, cells = table.spec, [cell for cell in table.cells if cell.has_paper]
    if not spec.paper:
        return []
    if not cells:
        return [f"The paper ({spec.paper}) gives no figures for these cells."]
    line = f"paper: the figures of {spec.paper} {spec.table}".rstrip() + "; diff: ours minus the paper's."
    if any(cell.paper_std == cell.paper_std for cell in cells):
        line += (
            f" {DIFFERS} Welch's t test against the paper's mean and deviation gives p < {ALPHA}, not corrected for "
            f"the number of cells; the paper does not say over how many trials: {PAPER_TRIALS} assumed."
        )
    if any(cell.paper_std != cell.paper_std for cell in cells):
        line += " No test where the paper gives no deviation."
    return [line]


def render_text(table: ResultTable, width: int = 100) -> str:
    """The table for a terminal, in lines of at most `width` columns unless one group of columns is wider."""
    laid = layout(table, group=" ")
    lines = textwrap.wrap(laid.heading, max(width, 20))
    for whole in laid.blocks:
        for block in whole.split(lambda block: max(map(columns, align(block.lines(block.title)))) <= width):
            lines += ["", *align(block.lines(block.title))]
    lines.append("")
    for line in laid.footer:
        lines += textwrap.wrap(line, max(width, 20))
    for number, note in enumerate(laid.notes, 1):
        lines += textwrap.wrap(f"[{number}] {note}", max(width, 20), subsequent_indent="    ")
    return "\n".join(lines) + "\n"


def render_markdown(table: ResultTable) -> str:
    """The table with its footer as Markdown, in pipe tables of at most four column groups."""
    laid = layout(table)
    parts = [f"# {escape(laid.heading)}"]
    title = None
    for whole in laid.blocks:
        for block in whole.split(lambda block: len(block.groups) <= _MARKDOWN_GROUPS):
            if block.title and block.title != title:
                parts.append(f"## {escape(block.title)}")
            title = block.title
            lines = block.lines("method")
            parts.append(pipe_table(lines, range(1, len(lines[0]))))
    notes = [f"- {escape(line)}" for line in laid.footer]
    notes += [f"- [{number}] {escape(note)}" for number, note in enumerate(laid.notes, 1)]
    return "\n\n".join([*parts, "\n".join(notes)]) + "\n"


def render_latex(table: ResultTable) -> str:
    """The table as a float of LaTeX; ``\\label`` is made of the paper's and the table's name."""
    laid = layout(table)
    label = "-".join(filter(None, (table.spec.paper, table.spec.table))) or "table"
    notes = [*laid.footer, *(f"[{number}] {note}" for number, note in enumerate(laid.notes, 1))]
    blocks = [
        tabular(block.lines(block.title))
        for whole in laid.blocks
        for block in whole.split(lambda block: len(block.groups) <= _LATEX_GROUPS)
    ]
    return float_of(laid.heading, blocks, notes, label)


def write(table: ResultTable, folder: Path | str) -> list[Path]:
    """Put table.md, table.csv and table.tex into `folder`.

    The bytes depend on the records' values of the table's metrics only, not on their order, their times or the machine.
    Raises BoostrunError if the folder cannot be written.
    """
    contents = {"table.md": render_markdown(table), "table.csv": table.csv(), "table.tex": render_latex(table)}
    return write_texts(folder, contents)
