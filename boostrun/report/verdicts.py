"""Claims held against tables: what each comparison shows, and the verdict that follows for the sentence.

Claims and their verdicts as people read them: in a terminal, on a page, and how many there are of each.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
import operator
import textwrap
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from boostrun.errors import BoostrunError
from boostrun.report import claims as findings
from boostrun.report.claims import FAILS, HOLDS, UNDECIDED, Case, Claim, Evidence, Pick, Side
from boostrun.report.entry import Entry
from boostrun.report.formats import STALE, metric_name
from boostrun.report.markup import escape, pipe_table
from boostrun.report.table import Comparison, ResultTable, compare

CONDITIONAL = "holds only if"
_SIGNS: dict[str, Callable] = {
    "<": operator.lt, "<=": operator.le, "=": math.isclose, ">=": operator.ge, ">": operator.gt,
}  # fmt: skip


@dataclass(frozen=True)
class Source:
    """What an item shows: its ``table`` with, for each cell, which ``code`` made its records; or, of a figure without
    trials, the ``lines`` of its table by column.

    ``codes[i]`` holds (method, data, features) and a name of the code of the records of cell i: empty for today's.
    ``show`` is the command that shows the item, ``make`` the one that makes its records.
    """

    show: str
    make: str
    table: ResultTable | None = None
    codes: Sequence[frozenset[tuple[str, str]]] = ()
    lines: Sequence[Mapping[str, str]] = ()


@dataclass(frozen=True)
class Judged:
    """A claim with its verdict: ``word`` is holds, holds only if, fails or undecided.

    ``why`` is its condition or reason, ``findings`` decide each case, by its name. ``stale``: all records are of code
    that has changed.
    """

    claim: Claim
    word: str
    why: str = ""
    findings: Sequence[tuple[str, Evidence]] = ()
    commands: Sequence[str] = ()
    stale: bool = field(default=False)

    @property
    def verdict(self) -> str:
        """The verdict in words, with its condition or reason in brackets."""
        if self.word == CONDITIONAL:
            return f"{self.word} {self.why}"
        return f"{self.word} ({self.why})" if self.why else self.word


def judge(claim: Claim, sources: Mapping[str, Source]) -> Judged:
    """The verdict on a claim from the items that its cases name.

    Raises BoostrunError where a side is several cells of its item's table.
    """
    if claim.open:
        return Judged(claim, UNDECIDED, claim.open, commands=[claim.command] if claim.command else [])
    decided = [(case, _case(case, sources)) for case in claim.cases]
    found = [(case.name, finding) for case, finding in decided]
    word, why = verdict(found)
    items = dict.fromkeys(item for case in claim.cases for item in case.items)
    commands = [sources[item].show for item in items]
    lacking = [item for case, one in decided if one.verdict == UNDECIDED and not one.p >= 0 for item in case.items]
    if word == UNDECIDED and lacking:
        commands = [sources[item].make for item in dict.fromkeys(lacking)]
    stale = any(name for case in claim.cases for _, name in _codes(case, sources))
    return Judged(claim, word, why, found, commands, stale)


def verdict(found: Sequence[tuple[str, Evidence]]) -> tuple[str, str]:
    """The verdict on a sentence that is decided in several cases, and its condition or reason.

    >>> verdict([("with one", Evidence(HOLDS, "")), ("with two", Evidence(FAILS, ""))])
    ('holds only if', 'with one; fails with two')
    """
    names = {word: [name for name, finding in found if finding.verdict == word] for word in (HOLDS, FAILS, UNDECIDED)}
    whys = "; ".join(dict.fromkeys(finding.why for _, finding in found if finding.verdict == UNDECIDED and finding.why))
    if names[HOLDS] and names[FAILS]:
        rest = f"; undecided {', '.join(names[UNDECIDED])}" if names[UNDECIDED] else ""
        return CONDITIONAL, f"{', '.join(names[HOLDS])}; fails {', '.join(names[FAILS])}{rest}"
    if names[FAILS]:
        return FAILS, f"undecided {', '.join(names[UNDECIDED])}" if names[UNDECIDED] else ""
    if not names[UNDECIDED]:
        return HOLDS, ""
    if names[HOLDS]:
        return UNDECIDED, f"{', '.join(names[UNDECIDED])}: {whys}; holds {', '.join(names[HOLDS])}"
    return UNDECIDED, whys


def _case(case: Case, sources: Mapping[str, Source]) -> Evidence:
    if case.test == "lines":
        return _lines(case, sources[case.items[0]])
    chains = [[[_side(pick, case, sources) for pick in place] for place in chain] for chain in case.chains]
    if len(chains) == 1:
        chains = [[[dataclasses.replace(side, place="") for side in place] for place in chains[0]]]
    pairs = [
        pair for chain in chains for one, other in itertools.pairwise(chain) for pair in itertools.product(one, other)
    ]
    higher = _higher(case, sources)
    if mixed := _mixed(case, sources):
        return Evidence(UNDECIDED, "", metric=_what(case, sources), why=f"records of different code: {mixed}")
    if case.exact:
        bounds = {
            "order": (0.0, math.inf) if higher else (-math.inf, 0.0), "ratio": (case.least, case.most),
            "no_worse": (-(case.margin or 0.0), math.inf) if higher else (-math.inf, case.margin or 0.0),
        }.get(case.test, (-(case.margin or 0.0), case.margin or 0.0))  # fmt: skip
        found = findings.exact(pairs, *bounds, case.test == "ratio")
    elif case.test == "order":
        found = findings.order(pairs, higher)
    elif case.test == "trend":
        found = findings.trend([[place[0] for place in chain] for chain in chains], higher)
    elif case.test == "alike":
        found = findings.alike(pairs, case.margin or 0.0)
    elif case.test == "no_worse":
        found = findings.no_worse(pairs, case.margin or 0.0, higher)
    elif case.test == "ratio":
        found = findings.ratio(pairs, case.least, case.most)
    else:
        found = findings.errors(pairs, case.of, case.margin)
    deciding = _deciding(found)
    return dataclasses.replace(deciding, metric=_what(case, sources))


def _what(case: Case, sources: Mapping[str, Source]) -> str:
    """The metrics that a case compares, in words."""
    metrics = [_metric(pick, sources) for chain in case.chains for place in chain for pick in place if pick.item]
    if case.test == "errors":
        return f"errors of {case.of}"
    return " and ".join(dict.fromkeys(metric_name(metric) for metric in metrics))


def _deciding(found: Sequence[Evidence]) -> Evidence:
    """The finding that decides: of those that fail the clearest, else of those untold or that hold the weakest."""
    for word, clear in ((FAILS, -1.0), (UNDECIDED, 1.0), (HOLDS, 1.0)):
        of_word = [finding for finding in found if finding.verdict == word]
        if of_word:
            return max(of_word, key=lambda one: (clear * (one.p if one.p >= 0 else math.inf), -abs(one.mean)))
    return Evidence(UNDECIDED, "", why="nothing to compare")


def _cell(pick: Pick, sources: Mapping[str, Source]) -> tuple[Comparison, frozenset[tuple[str, str]]]:
    source, metric = sources[pick.item], _metric(pick, sources)
    assert source.table is not None  # whoever asks for cells was checked to have a table
    fits = [
        (cell, code) for cell, code in zip(source.table.cells, source.codes)
        if cell.row == pick.row and cell.metric == metric and cell.setting in (pick.setting or cell.setting,)
        and set(pick.labels) <= set(cell.column)
    ]  # fmt: skip
    if not fits:  # its names are the item's, so that the published table was narrowed
        absent = Entry(pick.row, pick.labels, {}, 0, [], reason="not in the table as it is published")
        return compare(absent, metric), frozenset()
    if len(fits) > 1:
        place = " ".join([pick.row, *([f"({pick.setting})"] if pick.setting else []), *pick.labels, metric])
        raise BoostrunError(f"claims: {len(fits)} cells of {pick.item} fit '{place}'; one is needed")
    return fits[0]


def _metric(pick: Pick, sources: Mapping[str, Source]) -> str:
    table = sources[pick.item].table
    return pick.metric or (table.spec.metric if table else "")


def _side(pick: Pick, case: Case, sources: Mapping[str, Source]) -> Side:
    if not pick.item:
        metric = _metric(next(one for chain in case.chains for place in chain for one in place if one.item), sources)
        return Side(pick.name, figure=_errors(pick.figure, metric, case.of) if case.test == "errors" else pick.figure)
    cell, _ = _cell(pick, sources)
    if pick.paper:
        lack = "" if cell.has_paper else "the paper has no figure there"
        figure = _errors(cell.paper_mean, cell.metric, case.of) if case.test == "errors" else cell.paper_mean
        return Side("paper", figure=figure, lack=lack, place=pick.place)
    if case.test == "errors":  # single models: the first seed's
        counted = {seed: round(_errors(value, cell.metric, case.of)) for seed, value in sorted(cell.values.items())[:1]}
        return Side(pick.name, counted, lack=cell.reason, place=pick.place)
    if pick.once:
        figure = next(iter(cell.values.values())) if len(cell.values) == 1 else math.nan
        lack = cell.reason or (f"{len(cell.values)} figures of {pick.name}" if math.isnan(figure) else "")
        return Side(pick.name, figure=figure, lack=lack, place=pick.place)
    if pick.less:
        other, _ = _cell(dataclasses.replace(pick, row=pick.less, less=""), sources)
        lead = {seed: value - other.values[seed] for seed, value in cell.values.items() if seed in other.values}
        return Side(pick.name, lead, lack=cell.reason or other.reason, place=pick.place)
    return Side(pick.name, cell.values, lack=cell.reason, place=pick.place)


def _errors(value: float, metric: str, of: int) -> float:
    """How many of so many samples a figure says are errors."""
    if not metric.endswith("_pct"):
        return value
    return of * ((100.0 - value) if "accuracy" in metric else value) / 100.0


def _higher(case: Case, sources: Mapping[str, Source]) -> bool:
    pick = next(pick for chain in case.chains for place in chain for pick in place if pick.item)
    table = sources[pick.item].table
    return table is not None and table.spec.higher(_metric(pick, sources))


def _codes(case: Case, sources: Mapping[str, Source]) -> set[tuple[str, str]]:
    picks = [pick for chain in case.chains for place in chain for pick in place if pick.item and not pick.paper]
    picks += [dataclasses.replace(pick, row=pick.less, less="") for pick in picks if pick.less]
    return {code for pick in picks for code in _cell(pick, sources)[1]}


def _mixed(case: Case, sources: Mapping[str, Source]) -> str:
    """What stands in the way of a comparison: records of today's code beside others, or of two that are not today's."""
    codes = _codes(case, sources)
    old = {what for what, name in codes if name}
    if old and len(old) < len({what for what, _ in codes}):
        return f"{', '.join(sorted(old))} by other code than today's, the others not"
    twice = sorted(what for what in old if sum(what == one for one, _ in codes) > 1)
    return f"{', '.join(twice)} by several" if twice else ""


def _lines(case: Case, source: Source) -> Evidence:
    """What the lines of a table without trials show."""
    chosen = [line for line in source.lines if all(text in line.get(column, "") for column, text in case.lines)]
    what = f"{case.column} {case.sign} {case.against}" if isinstance(case.against, str) else (
        f"{case.column} {case.sign} {case.against:g}")  # fmt: skip
    if not source.lines:
        return Evidence(UNDECIDED, what, why="not drawn yet")
    try:
        pairs = [(_number(line[case.column]), _number(line[case.against]) if isinstance(case.against, str)
                  else case.against) for line in chosen]  # fmt: skip
    except (KeyError, ValueError):
        pairs = []
    if not pairs:
        raise BoostrunError(f"claims: no line of {case.items[0]} has '{case.column}' where {dict(case.lines)}")
    good = sum(_SIGNS[case.sign](one, other) for one, other in pairs)
    told = f"{what}: in {good} of {len(pairs)} lines"
    return Evidence(HOLDS if good == len(pairs) else FAILS, told, len(pairs), test="computed")


def _number(text: str) -> float:
    return float(text.replace("\u202f", "").replace(" ", "").replace(",", ""))


WORDS = (HOLDS, CONDITIONAL, FAILS, UNDECIDED)
_WIDTH = 100
HEAD = ["claim", "verdict", "effect [95 %]", "n", "test", "shown by"]
TOLD = (
    "An effect is the mean of differences by seed, the side named first minus the other, with Student's 95 % "
    "interval; of several pairs the deciding one is shown. An order is tested pair by pair (Wilcoxon signed-rank, "
    "paired by seed, Holm-corrected), equality by a margin stated beforehand, and errors of single models by "
    "Fisher's exact test. Fewer than six seeds allow no test."
)


def counts(judged: Sequence[Judged]) -> Counter[str]:
    """How many claims have each verdict."""
    return Counter(one.word for one in judged)


def summary(papers: Mapping[str, Sequence[Judged]]) -> list[list[str]]:
    """A head and a row for each paper, and one for all: how many claims have each verdict."""
    rows = [["", "claims", *WORDS]]
    sums = {**papers, **({"all": [one for rows in papers.values() for one in rows]} if len(papers) > 1 else {})}
    for name, judged in sums.items():
        found = counts(judged)
        rows.append([name, str(len(judged)), *(str(found[word]) for word in WORDS)])
    return rows


def terminal(papers: Mapping[str, Sequence[Judged]]) -> str:
    """Every claim with its verdict, what decided it and the command that shows it, a paragraph each; sums below."""
    parts = []
    for name, judged in papers.items():
        parts.append(name)
        for one in judged:
            lines = [f"{_mark(one)}{one.verdict}: {one.claim.text} ({one.claim.where})"]
            lines += [_in_words(one, case, finding) for case, finding in one.findings]
            first, *rest = (_wrapped(line, "  " if number == 0 else "      ") for number, line in enumerate(lines))
            parts.append("\n".join([first, *rest, *(f"      $ {command}" for command in one.commands)]))
        parts.append("")
    wide = [max(len(row[column]) for row in summary(papers)) for column in range(2 + len(WORDS))]
    sums = ["  ".join(text.ljust(size) for text, size in zip(row, wide)).rstrip() for row in summary(papers)]
    return "\n".join([*parts, *sums])


def table(judged: Sequence[Judged]) -> list[list[str]]:
    """The claims of a paper as rows of texts, a head first; a line for each case of a claim."""
    rows = [HEAD]
    for one in judged:
        found = [(_named(case), finding) for case, finding in one.findings]
        rows.append([
            f"{one.claim.text} ({one.claim.where})",
            _mark(one) + one.verdict,
            "\n".join([*_metrics(one), *(f"{name}{finding.effect}" for name, finding in found)]),
            ", ".join(dict.fromkeys(str(finding.n) for _, finding in found)),
            "\n".join(dict.fromkeys(_test(finding) for _, finding in found if finding.test)),
            "\n".join(one.commands),
        ])  # fmt: skip
    return rows


def markdown(papers: Mapping[str, Sequence[Judged]], titles: Mapping[str, str]) -> str:
    """All claims as a page: what is counted, then a table for each paper, whose commands are code."""
    parts = [
        "# Which claims hold",
        "These are the claims of the papers, and ours, that data can contradict. `boostrun claims` computes the "
        "verdicts from stored records; no verdict is typed by hand.",
        pipe_table(summary(papers), numbers=range(1, 2 + len(WORDS))),
        TOLD,
    ]
    for name, judged in papers.items():
        parts.append(f"## {escape(titles.get(name, name))}")
        head, *rows = table(judged)
        shown = [
            [*("<br>".join(map(escape, text.split("\n"))) for text in row[:-1]),
             "<br>".join(f"`{command}`" for command in row[-1].split("\n") if command)]
            for row in rows
        ]  # fmt: skip
        for one, row in zip(judged, shown):
            row[0] = (f'<a id="{one.claim.id}"></a>' if one.claim.id else "") + row[0]
        lines = [head, ["---"] * len(head), *shown]
        parts.append("\n".join(f"| {' | '.join(line)} |" for line in lines))
    if any(one.stale for judged in papers.values() for one in judged):
        parts.append(f"{STALE} from records of code that has changed since.")
    return "\n\n".join(parts) + "\n"


def _metrics(one: Judged) -> list[str]:
    return list(dict.fromkeys(finding.metric for _, finding in one.findings if finding.metric))


def _mark(one: Judged) -> str:
    return f"{STALE} " if one.stale else ""


def _named(case: str) -> str:
    return f"{case}: " if case else ""


def _test(finding: Evidence) -> str:
    return finding.test + (f", p {_p(finding.p)}" if finding.p >= 0 else "")


def _p(p: float) -> str:
    return "< 0.0001" if p < 1e-4 else f"= {p:.2g}"


def _in_words(one: Judged, case: str, finding: Evidence) -> str:
    """One line about a case: its effect, and, where the claim's verdict does not tell it, its own."""
    told = [f"{finding.metric}, {finding.effect}".strip(", "), *([f"n={finding.n}"] if finding.n else [])]
    told += [_test(finding)] if finding.test else []
    own = f": {finding.verdict}" if len(one.findings) > 1 and one.word != finding.verdict else ""
    why = f" ({finding.why})" if finding.why and finding.why != one.why else ""
    return f"{_named(case)}{'; '.join(told)}{own}{why}"


def _wrapped(line: str, indent: str) -> str:
    return textwrap.fill(line, _WIDTH, initial_indent=indent, subsequent_indent=f"{indent}  ", break_on_hyphens=False)
