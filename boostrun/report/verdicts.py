"""The verdicts on claims, from the tables of the items that they name, and their texts for a terminal and a page."""

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
from boostrun.report import claims
from boostrun.report.claims import FAILS, HOLDS, UNDECIDED, Case, Claim, Evidence, Pick, Side
from boostrun.report.entry import Entry
from boostrun.report.markup import STALE, escape, metric_name, pipe_table
from boostrun.report.table import Comparison, ResultTable, compare

CONDITIONAL = "holds only if"
_SIGNS: dict[str, Callable] = {
    "<": operator.lt, "<=": operator.le, "=": math.isclose, ">=": operator.ge, ">": operator.gt,
}  # fmt: skip


@dataclass(frozen=True)
class Source:
    """An item: its ``table``, or the ``lines`` (by column) of the table of a figure without trials.

    ``codes[i]`` holds (method, data, features) of cell i with a name of the code that made its records, empty for
    today's. ``show`` is the command that shows the item, ``make`` the one that makes its records.
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

    Raises BoostrunError if a side fits several cells of its item's table.
    """
    if claim.open:
        return Judged(claim, UNDECIDED, claim.open, commands=[claim.command] if claim.command else [])
    trials = [_Trial(case, sources) for case in claim.cases]
    decided = [(one.case, one.evidence()) for one in trials]
    found = [(case.name, finding) for case, finding in decided]
    word, why = verdict(found)
    items = dict.fromkeys(item for case in claim.cases for item in case.items)
    commands = [sources[item].show for item in items]
    lacking = [item for case, one in decided if one.verdict == UNDECIDED and not one.p >= 0 for item in case.items]
    if word == UNDECIDED and lacking:
        commands = [sources[item].make for item in dict.fromkeys(lacking)]
    stale = any(name for one in trials for _, name in one.codes())
    return Judged(claim, word, why, found, commands, stale)


def verdict(found: Sequence[tuple[str, Evidence]]) -> tuple[str, str]:
    """The verdict on a sentence that is decided in several cases, and its condition or reason.

    >>> verdict([("with one", Evidence(HOLDS, "")), ("with two", Evidence(FAILS, ""))])
    ('holds only if', 'with one; fails with two')
    """
    names = {word: [name for name, finding in found if finding.verdict == word] for word in (HOLDS, FAILS, UNDECIDED)}
    holds, fails, undecided = (", ".join(names[word]) for word in (HOLDS, FAILS, UNDECIDED))
    whys = "; ".join(dict.fromkeys(finding.why for _, finding in found if finding.verdict == UNDECIDED and finding.why))
    if names[HOLDS] and names[FAILS]:
        return CONDITIONAL, f"{holds}; fails {fails}" + (f"; undecided {undecided}" if names[UNDECIDED] else "")
    if names[FAILS]:
        return FAILS, f"undecided {undecided}" if names[UNDECIDED] else ""
    if names[UNDECIDED]:
        return UNDECIDED, f"{undecided}: {whys}; holds {holds}" if names[HOLDS] else whys
    return HOLDS, ""


class _Trial:
    """A case of a claim with the items that it names."""

    def __init__(self, case: Case, sources: Mapping[str, Source]) -> None:
        self.case, self.sources = case, sources
        self.picks = [pick for chain in case.chains for place in chain for pick in place if pick.item]

    def evidence(self) -> Evidence:
        """The evidence that decides the case."""
        case = self.case
        if case.test == "lines":
            return _lines(case, self.sources[case.items[0]])
        metrics = " and ".join(dict.fromkeys(metric_name(self._metric(pick)) for pick in self.picks))
        if case.test == "errors":
            metrics = f"errors of {case.of}"
        chains = [[[self._side(pick) for pick in place] for place in chain] for chain in case.chains]
        if len(chains) == 1:
            chains = [[[dataclasses.replace(side, place="") for side in place] for place in chains[0]]]
        if mixed := self._mixed():
            return Evidence(UNDECIDED, "", metric=metrics, why=f"records of different code: {mixed}")
        return dataclasses.replace(_deciding(self._tested(chains)), metric=metrics)

    def _tested(self, chains: list[list[list[Side]]]) -> list[Evidence]:
        """The evidence of all pairs of neighbours."""
        case, margin = self.case, self.case.margin or 0.0
        pairs = [
            pair for chain in chains for one, other in itertools.pairwise(chain)
            for pair in itertools.product(one, other)
        ]  # fmt: skip
        table = self.sources[self.picks[0].item].table
        higher = table is not None and table.spec.higher(self._metric(self.picks[0]))
        if case.exact:
            bounds = {
                "order": (0.0, math.inf) if higher else (-math.inf, 0.0), "ratio": (case.least, case.most),
                "no_worse": (-margin, math.inf) if higher else (-math.inf, margin),
            }.get(case.test, (-margin, margin))  # fmt: skip
            return claims.exact(pairs, *bounds, case.test == "ratio")
        if case.test == "order":
            return claims.order(pairs, higher)
        if case.test == "trend":
            return claims.trend([[place[0] for place in chain] for chain in chains], higher)
        if case.test == "alike":
            return claims.alike(pairs, margin)
        if case.test == "no_worse":
            return claims.no_worse(pairs, margin, higher)
        if case.test == "ratio":
            return claims.ratio(pairs, case.least, case.most)
        return claims.errors(pairs, case.of, case.margin)

    def _metric(self, pick: Pick) -> str:
        table = self.sources[pick.item].table
        return pick.metric or (table.spec.metric if table else "")

    def _cell(self, pick: Pick) -> tuple[Comparison, frozenset[tuple[str, str]]]:
        """The cell of a pick, and the code of its records."""
        source, metric = self.sources[pick.item], self._metric(pick)
        assert source.table is not None  # callers check that items with cells have a table
        fits = [
            (cell, code) for cell, code in zip(source.table.cells, source.codes)
            if cell.row == pick.row and cell.metric == metric and cell.setting in (pick.setting or cell.setting,)
            and set(pick.labels) <= set(cell.column)
        ]  # fmt: skip
        if not fits:  # the names are the item's, so the published table was narrowed
            absent = Entry(pick.row, pick.labels, {}, 0, [], reason="not in the table as it is published")
            return compare(absent, metric), frozenset()
        if len(fits) > 1:
            place = " ".join([pick.row, *([f"({pick.setting})"] if pick.setting else []), *pick.labels, metric])
            raise BoostrunError(f"claims: {len(fits)} cells of {pick.item} fit '{place}'; one is needed")
        return fits[0]

    def _side(self, pick: Pick) -> Side:
        """The values or the figure of a pick."""
        if not pick.item:
            return Side(pick.name, figure=self._shown(pick.figure, self._metric(self.picks[0])))
        cell, _ = self._cell(pick)
        if pick.paper:
            lack = "" if cell.has_paper else "the paper has no figure there"
            return Side("paper", figure=self._shown(cell.paper_mean, cell.metric), lack=lack, place=pick.place)
        values, lack = cell.values, cell.reason
        if self.case.test == "errors":  # single models: the first seed's
            values = {seed: round(self._shown(one, cell.metric)) for seed, one in sorted(values.items())[:1]}
        elif pick.once:
            figure = next(iter(values.values())) if len(values) == 1 else math.nan
            lack = lack or (f"{len(values)} figures of {pick.name}" if math.isnan(figure) else "")
            return Side(pick.name, figure=figure, lack=lack, place=pick.place)
        elif pick.less:
            other, _ = self._cell(dataclasses.replace(pick, row=pick.less, less=""))
            values = {seed: one - other.values[seed] for seed, one in values.items() if seed in other.values}
            lack = lack or other.reason
        return Side(pick.name, values, lack=lack, place=pick.place)

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


def _deciding(found: Sequence[Evidence]) -> Evidence:
    """The deciding evidence: the clearest that fails, else the weakest that is undecided, else the weakest of all."""
    for word, clear in ((FAILS, -1.0), (UNDECIDED, 1.0), (HOLDS, 1.0)):
        of_word = [finding for finding in found if finding.verdict == word]
        if of_word:
            return max(of_word, key=lambda one: (clear * (one.p if one.p >= 0 else math.inf), -abs(one.mean)))
    return Evidence(UNDECIDED, "", why="nothing to compare")


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
    """The number of claims with each verdict."""
    return Counter(one.word for one in judged)


def summary(papers: Mapping[str, Sequence[Judged]]) -> list[list[str]]:
    """A head and a row for each paper, and one for all: the number of claims with each verdict."""
    rows = [["", "claims", *WORDS]]
    sums = {**papers, **({"all": [one for rows in papers.values() for one in rows]} if len(papers) > 1 else {})}
    for name, judged in sums.items():
        found = counts(judged)
        rows.append([name, str(len(judged)), *(str(found[word]) for word in WORDS)])
    return rows


def terminal(papers: Mapping[str, Sequence[Judged]]) -> str:
    """A paragraph for each claim: its verdict, the evidence and the command that shows it. Sums are below."""
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
    """The claims of a paper as rows of texts, a head first; cells have a line for each case of a claim."""
    rows = [HEAD]
    for one in judged:
        found = [finding for _, finding in one.findings]
        metrics = dict.fromkeys(finding.metric for finding in found if finding.metric)
        effects = [f"{_named(case)}{finding.effect}" for case, finding in one.findings]
        rows.append([
            f"{one.claim.text} ({one.claim.where})",
            _mark(one) + one.verdict,
            "\n".join([*metrics, *effects]),
            ", ".join(dict.fromkeys(str(finding.n) for finding in found)),
            "\n".join(dict.fromkeys(_test(finding) for finding in found if finding.test)),
            "\n".join(one.commands),
        ])  # fmt: skip
    return rows


def markdown(papers: Mapping[str, Sequence[Judged]], titles: Mapping[str, str]) -> str:
    """All claims as a page: the counts, then a table for each paper."""
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


def _mark(one: Judged) -> str:
    return f"{STALE} " if one.stale else ""


def _named(case: str) -> str:
    return f"{case}: " if case else ""


def _test(finding: Evidence) -> str:
    p = "< 0.0001" if finding.p < 1e-4 else f"= {finding.p:.2g}"
    return f"{finding.test}, p {p}" if finding.p >= 0 else finding.test


def _in_words(one: Judged, case: str, finding: Evidence) -> str:
    """One line about a case: its effect, and its verdict if that differs from the claim's."""
    told = [f"{finding.metric}, {finding.effect}".strip(", "), *([f"n={finding.n}"] if finding.n else [])]
    told += [_test(finding)] if finding.test else []
    own = f": {finding.verdict}" if len(one.findings) > 1 and one.word != finding.verdict else ""
    why = f" ({finding.why})" if finding.why and finding.why != one.why else ""
    return f"{_named(case)}{'; '.join(told)}{own}{why}"


def _wrapped(line: str, indent: str) -> str:
    return textwrap.fill(line, _WIDTH, initial_indent=indent, subsequent_indent=f"{indent}  ", break_on_hyphens=False)
