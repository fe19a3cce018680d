"""The item of a paper that a verb names."""

from __future__ import annotations

from boostrun.cli.arguments import Arguments
from boostrun.config.compose import options
from boostrun.errors import BoostrunError


def item_name(words: Arguments) -> str:
    """The item that a verb names; BoostrunError when it names none."""
    if not words.names:
        raise BoostrunError(
            f"{words.verb} needs a paper's item, as in {next(iter(options('paper')))} (boostrun ls paper)"
        )
    return words.names[0]
