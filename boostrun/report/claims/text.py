"""Claims and their verdicts as people read them: in a terminal, on a page, and how many there are of each."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Mapping, Sequence

from boostrun.report.claims.claim import FAILS, HOLDS, UNTOLD, Evidence
from boostrun.report.claims.judge import CONDITIONAL, Judged
from boostrun.report.layout import STALE
from boostrun.report.markdown import escape, pipe_table

WORDS = (HOLDS, CONDITIONAL, FAILS, UNTOLD)
_WIDTH = 100
HEAD = ["claim", "verdict", "effect [95 %]", "n", "test", "shown by"]
TOLD = (
    "Effects are means of differences by seed, the side named first less the other, with Student's 95 % interval; of "
    "several pairs the one that decides is shown. An order is tested pair by pair (Wilcoxon signed-rank, paired by "
    "seed, Holm-corrected), likeness by a margin stated beforehand, errors of single models by Fisher's exact "
    "test. Fewer than six seeds carry no test."
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
        "# What holds",
        "Every claim of the papers that data can contradict, with a verdict that `boostrun claims` computes from "
        "stored records; none is typed by hand. A claim that fails is as welcome as one that holds.",
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
