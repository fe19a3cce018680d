"""One HTML page of many items: tables beside the papers' figures, and files beside it with charts, ranks and records.

It fetches only these files, each when its item is opened. Names and texts of records are escaped wherever they
stand, in the page by Jinja, in charts by MarkupSafe; the summary of the records is JSON that the page's script puts in
as text.
"""

from __future__ import annotations

import base64
import functools
from collections.abc import Callable, Mapping, Sequence
from importlib import resources
from urllib.parse import quote

from boostrun.report import verdicts
from boostrun.report.page.beside import Picture
from boostrun.report.page.records import PageSection, Records, bests, verdict_counts
from boostrun.report.verdicts import Judged

__all__ = ["OWN", "PageSection", "Records", "count_of", "files_of", "render"]

OWN = "own"
"""First part of the names of sections that are your own runs."""


def files_of(sections: Sequence[PageSection]) -> dict[str, Callable[[], bytes]]:
    """The files beside a page by name, each with the function that makes its content."""
    found: dict[str, Callable[[], bytes]] = {}
    for section in sections:
        found |= {picture.file: functools.partial(getattr, picture, "light") for picture in section.pictures}
        if section.details is not None:
            found[section.details.file] = section.details.script
    return found


def count_of(sections: Sequence[PageSection]) -> int:
    """The number of records in the sections, each counted once."""
    return len(set[str]().union(*(section.keys for section in sections)))


def render(
    sections: Sequence[PageSection], version: str, remark: str = "",
    claims: Mapping[str, Sequence[Judged]] | None = None, folder: str = "", without: Sequence[str] = (),
) -> str:  # fmt: skip
    """The page.

    Parameters
    ----------
    version : that of boostrun
    remark : a line below the heading
    claims : the claims of each paper with their verdicts, which come first
    folder : the name of the folder beside the page that has :func:`files_of` its sections; if empty, their content is
        in the page itself
    without : papers without stored results, which are left out
    """
    from jinja2 import Environment

    parts = resources.files("boostrun.report.page")
    files = [parts.joinpath(f"page.{kind}") for kind in ("css", "js", "html")]
    style, script, page = (file.read_text(encoding="utf-8") for file in files)
    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True)

    beside = quote(folder, errors="surrogateescape")  # a name may contain other bytes than UTF-8

    def address(picture: Picture) -> str:
        if folder:
            return f"{beside}/{picture.file}"
        return f"data:image/png;base64,{base64.b64encode(picture.light).decode('ascii')}"

    papers: dict[str, list[PageSection]] = {}
    for section in sections:
        papers.setdefault(section.paper, []).append(section)
    own = papers.pop(OWN, [])
    stored = {
        "own_trials": count_of(own), "own_runs": len(own), "last": own[0].when if own else "",
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
        trials=count_of(sections),
        version=version, remark=remark, style=style, script=script, claims=_verdicts(claims or {}),
        claims_told=verdicts.TOLD, address=address, folder=beside, without=without,
        inside=[section.details.script().decode() for section in sections if section.details and not folder],
    )  # fmt: skip


def _verdicts(claims: Mapping[str, Sequence[Judged]]) -> list[tuple[str, str, list[list[str]], list[str]]]:
    """For each paper: its name, its counts of verdicts, head and rows of texts, and the verdict of each row."""
    found = []
    for name, judged in claims.items():
        counts = verdicts.counts(judged)
        text = ", ".join(f"{counts[word]} {word}" for word in verdicts.WORDS if counts[word])
        found.append((name, text, verdicts.table(judged), [one.word.replace(" ", "-") for one in judged]))
    return found
