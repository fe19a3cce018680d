"""One HTML page of many items: tables beside the papers' figures, charts, ranks, records. It fetches nothing.

Names and texts of records are escaped wherever they stand, in the page by Jinja, in charts by MarkupSafe; the summary
of the records is JSON that the page's script puts in as text.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from importlib import resources

from boostrun.report import verdicts
from boostrun.report.page.records import PageSection, Records, bests, verdict_counts
from boostrun.report.verdicts import Judged

__all__ = ["OWN", "PageSection", "Records", "render"]

OWN = "own"
"""First part of the names of sections that are your own runs."""


def render(
    sections: Sequence[PageSection], records: Records, version: str, remark: str = "",
    claims: Mapping[str, Sequence[Judged]] | None = None,
) -> str:  # fmt: skip
    """The page.

    Parameters
    ----------
    version : that of boostrun
    remark : a line below the heading
    claims : the claims of each paper with their verdicts, which come first
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
    stored = {
        "own_trials": sum(one.trials for one in own), "own_runs": len(own), "last": own[0].when if own else "",
        "paper_items": sum(map(len, papers.values())),
        "with_trials": sum(bool(one.trials) for one in sections if one.paper != OWN),
    }  # fmt: skip
    names = {
        "dataset": {name for section in sections for name in section.datasets},
        "algo": {name for section in sections for name in section.algos},
    }
    choices = {kind: sorted(found, key=str.lower) for kind, found in names.items()}
    return environment.from_string(page).render(
        papers=papers, own=own, stored=stored, choices=choices,
        bests=bests([best for section in sections for best in section.best]), counts=verdict_counts(claims or {}),
        summary=records.summary(), trials=len(records), version=version, remark=remark,
        style=style, script=script, claims=_verdicts(claims or {}), claims_told=verdicts.TOLD,
    )  # fmt: skip


def _verdicts(claims: Mapping[str, Sequence[Judged]]) -> list[tuple[str, str, list[list[str]], list[str]]]:
    """For each paper: its name, its counts of verdicts, head and rows of texts, and the verdict of each row."""
    found = []
    for name, judged in claims.items():
        counts = verdicts.counts(judged)
        text = ", ".join(f"{counts[word]} {word}" for word in verdicts.WORDS if counts[word])
        found.append((name, text, verdicts.table(judged), [one.word.replace(" ", "-") for one in judged]))
    return found
