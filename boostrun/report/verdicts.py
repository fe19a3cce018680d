"""The verdicts on claims, and their texts for a terminal and a page.

A claim is judged on the figures that the paper prints first, and then on ours, from the tables of the items it names.
Ours that contradict a sentence as the print does agree with the print.
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
from typing import Any

from boostrun.errors import BoostrunError
from boostrun.report import claims
from boostrun.report.claims import (
    CONTRADICTED,
    FAILS,
    HOLDS,
    LEVEL,
    NOT_PRINTED,
    UNDECIDED,
    Case,
    Claim,
    Evidence,
    Pair,
    Pick,
    Side,
)
from boostrun.report.entry import Entry
from boostrun.report.markup import STALE, align, escape, metric_name, pipe_table
from boostrun.report.table import Comparison, ResultTable, compare

CONDITIONAL, AGREES, CONSTRUCTED = "holds only if", "agrees with the print", "by construction"
IN_PART = "in part"
_ROUNDING = 0.005  # of printed figures, which have two decimals at most
_SIGNS: dict[str, Callable] = {
    "<": operator.lt, "<=": operator.le, "=": math.isclose, ">=": operator.ge, ">": operator.gt,
}  # fmt: skip


@dataclass(frozen=True)
class Source:
    """An item: its ``table``, or the ``lines`` (by column) of the table of a figure without trials.

    ``printed`` has the paper's figures and no trials, ``figures[i]`` says which is that of cell i. ``codes[i]`` holds
    (method, data, features) of cell i with a name of the code that made its records, empty for today's. ``wrong[i]``
    (n,) says on which test samples the first trial's model errs, None if its predictions are not kept. ``show`` is the
    command that shows the item, ``make`` the one that makes its records.
    """

    show: str
    make: str
    table: ResultTable | None = None
    codes: Sequence[frozenset[tuple[str, str]]] = ()
    lines: Sequence[Mapping[str, str]] = ()
    printed: ResultTable | None = None
    figures: Sequence[Any] = ()
    wrong: Sequence[Any] = ()


@dataclass(frozen=True)
class Judged:
    """A claim with its verdicts.

    ``printed`` are those of the paper's figures for each case, by its name. ``word`` is that of ours (one of
    :data:`WORDS`), ``why`` its condition or reason, ``findings`` decide each case. ``beside`` is said beside the
    verdict. ``stale``: all records are of code that has changed.
    """

    claim: Claim
    word: str = ""
    why: str = ""
    findings: Sequence[tuple[str, Evidence]] = ()
    commands: Sequence[str] = ()
    stale: bool = field(default=False)
    printed: Sequence[tuple[str, Evidence]] = ()
    beside: Sequence[str] = ()

    @property
    def verdict(self) -> str:
        """The verdict on ours in words, with its condition or reason in brackets."""
        if self.word == CONDITIONAL:
            return f"{self.word} {self.why}"
        word = f"{self.word}, which contradicts the sentence" if self.word == AGREES else self.word
        return f"{word} ({self.why})" if self.why else word

    @property
    def print_word(self) -> str:
        """The verdict of the paper's figures: holds, in part, contradicted, level or not printed."""
        words = {one.verdict for _, one in self.printed}
        if HOLDS in words and words & {CONTRADICTED, LEVEL}:
            return IN_PART
        return next((word for word in (CONTRADICTED, HOLDS, LEVEL) if word in words), NOT_PRINTED)


def judge_print(claim: Claim, sources: Mapping[str, Source]) -> Judged:
    """The verdict of the paper's printed figures on a claim.

    Raises BoostrunError if a side fits several cells, or a claim needs a figure that the paper does not print.
    """
    return Judged(claim, printed=[(case.name, _Trial(case, sources).on_paper()) for case in claim.cases])


def judge(on_paper: Judged, sources: Mapping[str, Source]) -> Judged:
    """The verdict of ours, from the items that its cases name, added to that of the print.

    Raises BoostrunError if a side fits several cells of its item's table.
    """
    claim = on_paper.claim
    if claim.open:
        return Judged(claim, UNDECIDED, claim.open, commands=[claim.command] if claim.command else [])
    trials = [_Trial(case, sources) for case in claim.cases]
    decided = [(one.case, one.evidence()) for one in trials]
    found = [(case.name, finding) for case, finding in decided]
    word, why = verdict(found)
    if word == HOLDS and claim.by_construction:
        word, why = CONSTRUCTED, claim.by_construction
    items = dict.fromkeys(item for case in claim.cases for item in case.items)
    commands = [sources[item].show for item in items]
    lacking = [item for case, one in decided if one.verdict == UNDECIDED and math.isnan(one.p) and math.isnan(one.low)
               for item in case.items]  # fmt: skip
    if word == UNDECIDED and lacking:
        commands = [sources[item].make for item in dict.fromkeys(lacking)]
    stale = any(name for one in trials for _, name in one.codes())
    rivals = [(one.case.name, one.rivals()) for one in trials]
    beside = [
        f"{_named(', '.join(name for name, one in rivals if one == text))}{text}"
        for text in dict.fromkeys(text for _, text in rivals if text)
    ]  # fmt: skip
    return dataclasses.replace(
        on_paper, word=word, why=why, findings=found, commands=commands, stale=stale, beside=beside
    )


def verdict(found: Sequence[tuple[str, Evidence]]) -> tuple[str, str]:
    """The verdict on a sentence that is decided in several cases, and its condition or reason.

    >>> verdict([("with one", Evidence(HOLDS, "")), ("with two", Evidence(FAILS, ""))])
    ('holds only if', 'with one; fails with two')
    """
    names = {
        word: [name for name, finding in found if finding.verdict == word] for word in (HOLDS, AGREES, FAILS, UNDECIDED)
    }
    parts = [f"{word} {', '.join(names[word])}" for word in (FAILS, AGREES, UNDECIDED) if names[word]]
    whys = "; ".join(dict.fromkeys(finding.why for _, finding in found if finding.verdict == UNDECIDED and finding.why))
    holds = ", ".join(names[HOLDS])
    if names[HOLDS] and (names[FAILS] or names[AGREES]):
        return CONDITIONAL, "; ".join([holds, *parts])
    if names[FAILS] or names[AGREES]:
        return (FAILS if names[FAILS] else AGREES), "; ".join(parts[1:])
    if names[UNDECIDED]:
        return UNDECIDED, f"{', '.join(names[UNDECIDED])}: {whys}; holds {holds}" if names[HOLDS] else whys
    return HOLDS, ""


class _Trial:
    """A case of a claim with the items that it names."""

    def __init__(self, case: Case, sources: Mapping[str, Source]) -> None:
        self.case, self.sources = case, sources
        self.picks = [pick for chain in case.chains for place in chain for pick in place if pick.item]

    def evidence(self) -> Evidence:
        """The evidence of our records that decides the case."""
        case = self.case
        if case.test == "lines":
            return _lines(case, self.sources[case.items[0]])
        if mixed := self._mixed():
            return Evidence(UNDECIDED, "", metric=self._metrics(), why=f"records of different code: {mixed}")
        bounds, quotient = self._bounds(), case.test == "ratio"
        printed = claims.on_paper(self._pairs(self._print), *bounds, quotient)
        found = [
            dataclasses.replace(one, verdict=AGREES)
            if one.verdict == FAILS and other.verdict == CONTRADICTED
            and claims.beyond(one.mean, *bounds) == claims.beyond(other.mean, *bounds) else one
            for one, other in zip(self._tested(self._pairs(self._side)), printed)
        ]  # fmt: skip
        return dataclasses.replace(_deciding(found, (FAILS, AGREES, UNDECIDED, HOLDS)), metric=self._metrics())

    def on_paper(self) -> Evidence:
        """The evidence of the paper's figures that decides the case."""
        case = self.case
        if case.test == "lines":
            return Evidence(NOT_PRINTED, "")
        found = claims.on_paper(self._pairs(self._print), *self._bounds(), case.test == "ratio")
        one = _deciding(found, (CONTRADICTED, LEVEL, HOLDS, NOT_PRINTED))
        lacking = sum(other.verdict == NOT_PRINTED for other in found)
        some = f"{lacking} of {len(found)} comparisons not printed" if lacking else ""
        return dataclasses.replace(one, metric=self._metrics(), why=one.why if one.verdict == NOT_PRINTED else some)

    def rivals(self) -> str:
        """A remark if most methods that the claim puts behind are behind their own printed figures; else empty."""
        if self.case.test != "order" or self._mixed():
            return ""
        picks = [pick for chain in self.case.chains if len(chain[-1]) > 1 for pick in chain[-1] if pick.item]
        pairs = [(self._cell(pick)[0], self._printed_cell(pick)[0]) for pick in picks]
        known = [(ours, printed) for ours, printed in pairs if ours.n and printed.has_paper]
        sign = 1 if self._higher() else -1
        behind = sum(sign * (printed.paper_mean - ours.mean) > _ROUNDING for ours, printed in known)
        return f"{behind} of {len(known)} rivals are behind their printed figures" if 2 * behind > len(known) else ""

    def _metrics(self) -> str:
        if self.case.test == "errors":
            return f"errors of {self.case.of}"
        return " and ".join(dict.fromkeys(metric_name(self._metric(pick)) for pick in self.picks))

    def _pairs(self, side: Callable[[Pick], Side]) -> list[Pair]:
        """All pairs of neighbours, with the values that ``side`` finds; for a trend each chain's slope and 0."""
        chains = [[[side(pick) for pick in place] for place in chain] for chain in self.case.chains]
        if len(chains) == 1:
            chains = [[[dataclasses.replace(one, place="") for one in place] for place in chains[0]]]
        if self.case.test == "trend":
            return claims.slopes([[place[0] for place in chain] for chain in chains])
        return [
            pair for chain in chains for one, other in itertools.pairwise(chain)
            for pair in itertools.product(one, other)
        ]  # fmt: skip

    def _bounds(self) -> tuple[float, float]:
        """Between which bounds the difference of a pair lies, or the quotient, if the sentence is right."""
        case, margin, higher = self.case, self.case.margin or 0.0, self._higher()
        if case.test in ("order", "trend"):
            return (0.0, math.inf) if higher else (-math.inf, 0.0)
        if case.test == "no_worse":
            return (-margin, math.inf) if higher else (-math.inf, margin)
        return {"ratio": (case.least, case.most), "errors": (-math.inf, margin)}.get(case.test, (-margin, margin))

    def _higher(self) -> bool:
        table = self._table(self.picks[0])
        return table is not None and table.spec.higher(self._metric(self.picks[0]))

    def _tested(self, pairs: list[Pair]) -> list[Evidence]:
        """The evidence of our records for each pair."""
        case, margin, higher = self.case, self.case.margin or 0.0, self._higher()
        if case.exact:
            return claims.exact(pairs, *self._bounds(), case.test == "ratio")
        tests: dict[str, Callable[[], list[Evidence]]] = {
            "order": lambda: claims.order(pairs, higher), "trend": lambda: claims.trend(pairs, higher),
            "alike": lambda: claims.alike(pairs, margin), "no_worse": lambda: claims.no_worse(pairs, margin, higher),
            "ratio": lambda: claims.ratio(pairs, case.least, case.most),
            "errors": lambda: claims.errors(pairs, case.of, case.margin),
        }  # fmt: skip
        return tests[case.test]()

    def _table(self, pick: Pick) -> ResultTable | None:
        return self.sources[pick.item].table or self.sources[pick.item].printed

    def _metric(self, pick: Pick) -> str:
        table = self._table(pick)
        return pick.metric or (table.spec.metric if table else "")

    def _fitting(self, pick: Pick, table: ResultTable | None) -> int | None:
        """The number of the cell of a pick, None if it is not in the table."""
        metric = self._metric(pick)
        fits = [
            number for number, cell in enumerate(table.cells if table else ())
            if cell.row == pick.row and cell.metric == metric and cell.setting in (pick.setting or cell.setting,)
            and set(pick.labels) <= set(cell.column)
        ]  # fmt: skip
        if len(fits) > 1:
            raise BoostrunError(f"claims: {len(fits)} cells of {pick.item} fit '{self._name(pick)}'; one is needed")
        return fits[0] if fits else None

    def _name(self, pick: Pick) -> str:
        setting = [f"({pick.setting})"] if pick.setting else []
        return " ".join([pick.row, *setting, *pick.labels, self._metric(pick)])

    def _cell(self, pick: Pick) -> tuple[Comparison, frozenset[tuple[str, str]], Any]:
        """The cell of a pick, the code of its records, and where its first model errs."""
        source = self.sources[pick.item]
        number = self._fitting(pick, source.table)
        if number is None:  # the names are the item's, so the published table was narrowed
            absent = Entry(pick.row, pick.labels, {}, 0, [], reason="not in the table as it is published")
            return compare(absent, self._metric(pick)), frozenset(), None
        assert source.table is not None  # it has the cell
        return source.table.cells[number], source.codes[number], source.wrong[number] if source.wrong else None

    def _printed_cell(self, pick: Pick) -> tuple[Comparison, Any]:
        """The cell of a pick with the paper's figure, if it has one, and which figure that is."""
        source = self.sources[pick.item]
        number = self._fitting(pick, source.printed)
        if source.printed is None or number is None:
            return compare(Entry(pick.row, pick.labels, {}, 0, []), self._metric(pick)), None
        return source.printed.cells[number], source.figures[number] if source.figures else None

    def _side(self, pick: Pick) -> Side:
        """The values or the figure of a pick."""
        if not pick.item:
            return Side(pick.name, figure=self._shown(pick.figure, self._metric(self.picks[0])))
        if pick.paper:
            cell, _ = self._printed_cell(pick)
            figure = self._shown(cell.paper_mean, cell.metric)
            return Side(claims.PAPER, figure=figure, place=pick.place, spread=cell.paper_std)
        cell, _, wrong = self._cell(pick)
        values, lack = cell.values, cell.reason
        if self.case.test == "errors":  # single models: the first seed's
            values = {seed: round(self._shown(one, cell.metric)) for seed, one in sorted(values.items())[:1]}
            counts = wrong is not None and [int(wrong.sum())] == list(values.values())
            return Side(pick.name, values, lack=lack, place=pick.place, wrong=wrong if counts else None)
        if pick.once:
            figure = next(iter(values.values())) if len(values) == 1 else math.nan
            lack = lack or (f"{len(values)} figures of {pick.name}" if math.isnan(figure) else "")
            return Side(pick.name, figure=figure, lack=lack, place=pick.place)
        if pick.less:
            other, *_ = self._cell(dataclasses.replace(pick, row=pick.less, less=""))
            values = {seed: one - other.values[seed] for seed, one in values.items() if seed in other.values}
            lack = lack or other.reason
        return Side(pick.name, values, lack=lack, place=pick.place, sampling=cell.sampling)

    def _print(self, pick: Pick) -> Side:
        """The paper's figure of a pick; none if the sentence is about a distance from that figure."""
        if not pick.item:
            return Side(pick.name, figure=self._shown(pick.figure, self._metric(self.picks[0])))
        cell, source = self._printed_cell(pick)
        if pick.paper:
            narrowed = self._fitting(pick, self.sources[pick.item].printed) is None
            if not cell.has_paper and not narrowed:
                raise BoostrunError(f"claims: {pick.item} has no figure of the paper beside '{self._name(pick)}'")
            return Side(claims.PAPER, lack="ours is compared with the print", place=pick.place)
        figure = self._shown(cell.paper_mean, cell.metric)
        if pick.less:
            figure -= self._printed_cell(dataclasses.replace(pick, row=pick.less, less=""))[0].paper_mean
        return Side(pick.name, figure=figure, place=pick.place, source=None if pick.less else source)

    def _shown(self, figure: float, metric: str) -> float:
        """A figure, or the number of errors that it means if the case counts errors."""
        if self.case.test != "errors" or not metric.endswith("_pct"):
            return figure
        return self.case.of * ((100.0 - figure) if "accuracy" in metric else figure) / 100.0

    def codes(self) -> set[tuple[str, str]]:
        """The cells of the compared records, with a name of their code, empty for today's."""
        picks = [pick for pick in self.picks if not pick.paper]
        picks += [dataclasses.replace(pick, row=pick.less, less="") for pick in picks if pick.less]
        return {code for pick in picks for code in self._cell(pick)[1]}

    def _mixed(self) -> str:
        """Why records must not be compared: some are of today's code and some are not, or of several older ones."""
        codes = self.codes()
        old = {what for what, name in codes if name}
        if old and len(old) < len({what for what, _ in codes}):
            return f"{', '.join(sorted(old))} by other code than today's, the others not"
        twice = sorted(what for what in old if sum(what == one for one, _ in codes) > 1)
        return f"{', '.join(twice)} by several" if twice else ""


def _deciding(found: Sequence[Evidence], words: Sequence[str]) -> Evidence:
    """The evidence of the first of these verdicts that is there which speaks most against the sentence."""
    for word in words:
        if of_word := [finding for finding in found if finding.verdict == word]:
            return max(of_word, key=lambda one: one.against)
    return Evidence(words[-1], "", why="nothing to compare")


def _lines(case: Case, source: Source) -> Evidence:
    """The evidence of the lines of a table without trials."""
    other = case.against if isinstance(case.against, str) else f"{case.against:g}"
    what = f"{case.column} {case.sign} {other}"
    if not source.lines:
        return Evidence(UNDECIDED, what, why="not drawn yet")
    chosen = [line for line in source.lines if all(text in line.get(column, "") for column, text in case.lines)]
    try:
        pairs = [(_number(line[case.column]), _number(line[case.against]) if isinstance(case.against, str)
                  else case.against) for line in chosen]  # fmt: skip
    except (KeyError, ValueError):
        pairs = []
    if not pairs:
        raise BoostrunError(f"claims: no line of {case.items[0]} has '{case.column}' where {dict(case.lines)}")
    good = sum(_SIGNS[case.sign](one, other) for one, other in pairs)
    summary = f"{what}: in {good} of {len(pairs)} lines"
    return Evidence(HOLDS if good == len(pairs) else FAILS, summary, len(pairs), test="computed")


def _number(text: str) -> float:
    return float(text.replace("\u202f", "").replace(" ", "").replace(",", ""))


WORDS = (HOLDS, CONDITIONAL, CONSTRUCTED, AGREES, FAILS, UNDECIDED)
PRINT_WORDS = (HOLDS, IN_PART, CONTRADICTED, LEVEL, NOT_PRINTED)
_WIDTH = 100
HEAD = ["the sentence", "the print", "ours", "effect [95 %]", "n", "test", "shown by"]
TOLD_OF_PRINT = (
    "The print: the verdict of the paper's own printed figures, by their means alone. The claim holds, is "
    "contradicted, or two figures are level."
)
TOLD = (
    f"{TOLD_OF_PRINT} Ours: the verdict of our records. If they contradict the claim as the printed figures do, they "
    "agree with the print. Effects are means of differences by seed, the side named first minus the other, with "
    "Student's 95 % interval, or Welch's beside a figure with a printed spread; of several pairs the most contrary is "
    "shown. Orders are tested pair by pair (Wilcoxon signed-rank, paired by seed, Holm-corrected), equality by a "
    "margin stated beforehand, and errors of single models by McNemar's test; if their predictions are not kept, for "
    "every way in which the errors may overlap. With fewer than six seeds there is no test."
)


def counts(judged: Sequence[Judged]) -> Counter[str]:
    """The number of claims with each verdict."""
    return Counter(one.word for one in judged)


def summary(papers: Mapping[str, Sequence[Judged]], print_only: bool = False) -> list[list[str]]:
    """A head and a row for each paper, and one for all: the number of claims with each verdict."""
    words = PRINT_WORDS if print_only else WORDS
    rows = [["", "claims", *words]]
    sums = {**papers, **({"all": [one for rows in papers.values() for one in rows]} if len(papers) > 1 else {})}
    for name, judged in sums.items():
        found = Counter(one.print_word for one in judged) if print_only else counts(judged)
        rows.append([name, str(len(judged)), *(str(found[word]) for word in words)])
    return rows


def terminal(papers: Mapping[str, Sequence[Judged]], print_only: bool = False) -> str:
    """A paragraph for each claim: the sentence, the print, ours with the evidence, and the command that shows it.

    Sums are below. With ``print_only`` the print's figures are the evidence.
    """
    parts = []
    for name, judged in papers.items():
        parts.append(name)
        for one in judged:
            lines = [f"{one.claim.text} ({one.claim.where})"]
            lines += [f"print {line}" for line in (_print_figures if print_only else _print_lines)(one)]
            if not print_only:
                lines.append("; ".join([f"{_mark(one)}ours {one.verdict}", *one.beside]))
                lines += [f"  {_in_words(one, case, finding)}" for case, finding in one.findings]
            first, *rest = (_wrapped(line, "  " if number == 0 else "      ") for number, line in enumerate(lines))
            parts.append("\n".join([first, *rest, *(f"      $ {command}" for command in one.commands)]))
        parts.append("")
    return "\n".join([*parts, *align(summary(papers, print_only))])


def table(judged: Sequence[Judged], print_only: bool = False) -> list[list[str]]:
    """The claims of a paper as rows of texts, a head first; cells have a line for each case of a claim.

    With ``print_only`` there are the sentence and the print alone, with its figures.
    """
    if print_only:
        return [
            HEAD[:2], *([f"{one.claim.text} ({one.claim.where})", "\n".join(_print_figures(one))] for one in judged)
        ]  # fmt: skip
    rows = [HEAD]
    for one in judged:
        found = [finding for _, finding in one.findings]
        metrics = dict.fromkeys(finding.metric for finding in found if finding.metric)
        effects = [f"{_named(case)}{finding.effect}" for case, finding in one.findings]
        rows.append([
            f"{one.claim.text} ({one.claim.where})",
            "\n".join(_print_lines(one)),
            "\n".join([_mark(one) + one.verdict, *one.beside]),
            "\n".join([*metrics, *effects]),
            ", ".join(dict.fromkeys(str(finding.n) for finding in found)),
            "\n".join(dict.fromkeys(_test(finding) for finding in found if finding.test)),
            "\n".join(one.commands),
        ])  # fmt: skip
    return rows


def markdown(papers: Mapping[str, Sequence[Judged]], titles: Mapping[str, str], print_only: bool = False) -> str:
    """All claims as a page: the counts, then a table for each paper."""
    sums = [summary(papers, True)] if print_only else [summary(papers, True), summary(papers)]
    records = "stored records and " * (not print_only)
    parts = [
        "# Which claims hold",
        "These are the claims of the papers, and ours, that data can contradict. "
        f"`boostrun claims{' --on-paper' * print_only}` computes the verdicts from {records}the papers' printed "
        "figures; no verdict is typed by hand.",
    ]
    for said, counted in zip(("In print:", "Ours:"), sums):
        parts += [said, pipe_table(counted, numbers=range(1, len(counted[0])))]
    parts.append(TOLD_OF_PRINT if print_only else TOLD)
    for name, judged in papers.items():
        parts.append(f"## {escape(titles.get(name, name))}")
        head, *rows = table(judged, print_only)
        shown = [["<br>".join(map(escape, text.split("\n"))) for text in row] for row in rows]
        for one, row in zip(judged, shown):
            row[0] = (f'<a id="{one.claim.id}"></a>' if one.claim.id else "") + row[0]
            if not print_only:
                row[-1] = "<br>".join(f"`{command}`" for command in one.commands)
        lines = [head, ["---"] * len(head), *shown]
        parts.append("\n".join(f"| {' | '.join(line)} |" for line in lines))
    if any(one.stale for judged in papers.values() for one in judged):
        parts.append(f"{STALE} from records of code that has changed since.")
    return "\n\n".join(parts) + "\n"


def _print_lines(one: Judged) -> list[str]:
    """A line for each verdict of the print: its cases, and the figures that do not agree with the sentence."""
    cases: dict[str, dict[str, list[str]]] = {word: {} for word in PRINT_WORDS}
    for case, found in one.printed:
        figures = found.what if found.verdict in (CONTRADICTED, LEVEL) else ""
        detail = (f": {figures}" if figures else "") + (f" ({found.why})" if found.why else "")
        cases[found.verdict].setdefault(detail, []).append(case)
    lines = [(word, names, detail) for word, groups in cases.items() for detail, names in groups.items()]
    return [" ".join(filter(None, [word, ", ".join(names) if len(lines) > 1 else ""])) + detail
            for word, names, detail in lines] or [NOT_PRINTED]  # fmt: skip


def _print_figures(one: Judged) -> list[str]:
    """A line for each case of a claim: the verdict of the print and the figures."""
    return [
        f"{_named(case)}{found.verdict}" + (f": {found.metric}, {found.what}" if found.verdict != NOT_PRINTED else "")
        + (f" ({found.why})" if found.why else "") for case, found in one.printed
    ] or [NOT_PRINTED]  # fmt: skip


def _mark(one: Judged) -> str:
    return f"{STALE} " if one.stale else ""


def _named(case: str) -> str:
    return f"{case}: " if case else ""


def _test(finding: Evidence) -> str:
    if not finding.p >= 0:
        return finding.test
    p = "< 0.0001" if finding.p < 1e-4 else f"= {finding.p:.2g}"
    if finding.least_p < finding.p and finding.p >= 1e-4:
        p = f"{'< 0.0001' if finding.least_p < 1e-4 else f'{finding.least_p:.2g}'} to {finding.p:.2g}"
    return f"{finding.test}, p {p}"


def _in_words(one: Judged, case: str, finding: Evidence) -> str:
    """One line about a case: its effect, and its verdict if that differs from the claim's."""
    told = [f"{finding.metric}, {finding.effect}".strip(", "), *([f"n={finding.n}"] if finding.n else [])]
    told += [_test(finding)] if finding.test else []
    own = f": {finding.verdict}" if len(one.findings) > 1 and one.word != finding.verdict else ""
    why = f" ({finding.why})" if finding.why and finding.why != one.why else ""
    return f"{_named(case)}{'; '.join(told)}{own}{why}"


def _wrapped(line: str, indent: str) -> str:
    return textwrap.fill(line, _WIDTH, initial_indent=indent, subsequent_indent=f"{indent}  ", break_on_hyphens=False)
