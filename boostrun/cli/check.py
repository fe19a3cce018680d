"""``boostrun check NAME [key=value ...]``: what a person or a paper brings, check by check.

NAME is module:Class (or a function, an object, a whole paper: module:PAPER), the name of an installed paper or of one
of its items, or of any choice of the catalogue.
"""

from __future__ import annotations

from pathlib import Path

from boostrun.cli.arguments import Arguments
from boostrun.errors import BoostrunError

_WIDTH = 8  # of a status


def main(words: Arguments) -> int:
    """Print one line a check, with the places below it where one fails; 0 when all hold, 1 when one does not.

    A module is looked for in ``--config-dir``, else in the current folder, and where Python finds its modules. Keys
    are those of the class or function, and short budget keys of a method.
    """
    from boostrun.conformance import outcomes, things

    if not words.names:
        raise BoostrunError(
            "check needs the name of a class, function or paper, as in check my_algo:MyBooster or check my_paper:PAPER"
        )
    if words.config_dir is not None and not Path(words.config_dir).is_dir():
        raise BoostrunError(f"--config-dir {words.config_dir}: there is no such folder")
    count = failed = 0
    found = things.sections(words.names[0], words.config_dir, words.overrides)
    for number, section in enumerate(found):
        print(f"{chr(10) if number else ''}{section.title}", flush=True)
        for outcome in outcomes(section.checks, section.own):
            print(f"{outcome.status:<{_WIDTH}} {outcome.name}{f': {outcome.reason}' if outcome.reason else ''}")
            for detail in outcome.details:
                print(f"{'':<{_WIDTH}} - {detail}" if detail else "", flush=True)
            count, failed = count + 1, failed + (outcome.status == "FAILED")
    things_ = f" of {len(found)} things" if len(found) > 1 else ""
    print(f"{count} checks{things_}, {failed} failed")
    return 1 if failed else 0
