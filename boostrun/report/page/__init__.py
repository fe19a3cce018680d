"""One HTML page of many items: tables beside the papers' figures, charts, ranks, records. It fetches nothing.

Names and texts of records are escaped wherever they stand, in the page by Jinja, in charts by MarkupSafe; the summary
of the records is JSON that the page's script puts in as text.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import NamedTuple

from boostrun.report import verdicts
from boostrun.report.page.records import PageSection, Records, bests, verdict_counts
from boostrun.report.verdicts import Judged

__all__ = ["OWN", "PageSection", "Records", "render"]

OWN = "own"
"""First part of the names of sections that are a person's own runs."""


class Stored(NamedTuple):
    """How much a page shows: own trials in so many runs, the last of which ended when; items of papers, those of them
    with trials; records in all."""

    own_trials: int
    own_runs: int
    last: str
    items: int
    with_trials: int
    records: int


def render(
    sections: Sequence[PageSection], records: Records, version: str, remark: str = "",
    claims: Mapping[str, Sequence[Judged]] | None = None,
) -> str:  # fmt: skip
    """The page; ``version`` is that of boostrun, ``remark`` a line below the heading, ``claims`` come first: those of
    each paper with their verdicts.
    """
    from jinja2 import Environment

    folder = resources.files("boostrun.report.page")
    files = [folder.joinpath(f"page.{kind}") for kind in ("css", "js", "html")]
    style, script, page = (file.read_text(encoding="utf-8") for file in files)
    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True)
    environment.filters["base64"] = lambda content: base64.b64encode(content).decode("ascii")
    papers: dict[str, list[PageSection]] = {}
    for section in sections:
        papers.setdefault(section.paper, []).append(section)
    own = papers.pop(OWN, [])
    stored = Stored(
        sum(one.trials for one in own), len(own), own[0].when if own else "", sum(map(len, papers.values())),
        sum(bool(one.trials) for one in sections if one.paper != OWN), len(records),
    )  # fmt: skip
    choices = {
        "dataset": _names(name for section in sections for name in section.datasets),
        "algo": _names(name for section in sections for name in section.algos),
    }
    return environment.from_string(page).render(
        papers=papers, own=own, stored=stored, choices=choices,
        bests=bests([best for section in sections for best in section.best]), counts=verdict_counts(claims or {}),
        summary=records.summary(), trials=len(records), version=version, remark=remark,
        style=style, script=script, claims=_verdicts(claims or {}), claims_told=verdicts.TOLD,
    )  # fmt: skip


def _verdicts(claims: Mapping[str, Sequence[Judged]]) -> list[tuple[str, str, list[list[str]], list[str]]]:
    """(paper, how many claims have each verdict, head and rows of texts, the verdict of each row) of each paper."""
    found = []
    for name, judged in claims.items():
        counts = verdicts.counts(judged)
        told = ", ".join(f"{counts[word]} {word}" for word in verdicts.WORDS if counts[word])
        found.append((name, told, verdicts.table(judged), [one.word.replace(" ", "-") for one in judged]))
    return found


def _names(names) -> list[str]:
    return sorted(set(names), key=str.lower)
