"""``boostrun claims [PAPER ...] [-o claims.md]``: every claim of the papers with its verdict, from stored records."""

from __future__ import annotations

import gc
from pathlib import Path

from boostrun.cli.arguments import Arguments
from boostrun.config import catalogue
from boostrun.config.words import words_of_places
from boostrun.errors import BoostrunError
from boostrun.report import verdicts as texts
from boostrun.report.markup import write_bytes
from boostrun.runner.claims import verdicts


def main(words: Arguments) -> int:
    """Print the claims, or write them as Markdown; BoostrunError for a paper, or a file of claims, that is none."""
    places = words_of_places(words.overrides)
    if odd := [word for word in words.overrides if word.partition("=")[0] not in {p.partition("=")[0] for p in places}]:
        raise BoostrunError(f"claims are decided by their items as they are published: {odd[0]} cannot be given")
    gc.disable()  # thousands of records are kept: to look for what could go takes a sixth of the time
    try:
        found = verdicts(words.names, places, words.config_dir)
    finally:
        gc.enable()
    if words.output:
        titles = {name: paper.title for name, paper in catalogue.papers().items()}
        write_bytes(Path(words.output), texts.markdown(found, titles).encode("utf-8", "backslashreplace"))
        print(f"written: {words.output}")
    else:
        print(texts.terminal(found))
    return 0
