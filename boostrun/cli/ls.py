"""``boostrun ls algo | dataset | features | paper | strategies ...``: what there is, one line each."""

from __future__ import annotations

from boostrun.cli.arguments import Arguments
from boostrun.config import catalogue
from boostrun.config.compose import choices
from boostrun.errors import BoostrunError, did_you_mean

GROUPS = ("algo", "dataset", "features", "paper", *catalogue.PARTS, "run")


def main(words: Arguments) -> int:
    """Print the choices of a group with a line about each; all groups when none is named."""
    for group in words.names or GROUPS:
        if group not in GROUPS:
            raise BoostrunError(f"nothing to list under '{group}'{did_you_mean(group, GROUPS)} ({', '.join(GROUPS)})")
        found = catalogue.parts(group) if group in catalogue.PARTS else choices(group, words.config_dir)
        if not words.names:
            print(f"{group}:")
        wide = max(map(len, found), default=0)
        for name, line in found.items():
            print(f"{'' if words.names else '  '}{name:<{wide}}  {line}{_takes(group, name)}")
    return 0


def _takes(group: str, name: str) -> str:
    """The budget keys of an algorithm, and its traits."""
    if group != "algo" or name not in catalogue.methods():
        return ""
    method = catalogue.methods()[name]
    lists = [", ".join(words) for words in (method.budget, method.traits)]
    return "".join(f" [{words}]" for words in lists if words)
