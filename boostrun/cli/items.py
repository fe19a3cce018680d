"""The item of a paper that a verb names."""

from __future__ import annotations

from boostrun.cli.arguments import Arguments
from boostrun.cli.frontier import ROOM
from boostrun.config import catalogue
from boostrun.errors import BoostrunError


def item_name(words: Arguments) -> str:
    """The item that a verb names; BoostrunError if it names none, or a frontier that the verb does not take."""
    if not words.names:
        raise BoostrunError(
            f"{words.verb} needs a paper's item, as in {next(iter(catalogue.options('paper')))} (boostrun ls paper)"
        )
    name = words.names[0]
    if name.startswith(ROOM) and words.verb not in ("reproduce", "table"):
        folder = f"results/frontiers/{name.removeprefix(ROOM)}"
        raise BoostrunError(f"{words.verb} takes papers' items; boostrun reproduce {name} makes {folder}/table.md")
    return name
