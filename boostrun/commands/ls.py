"""``boostrun ls algo | dataset | features | paper``: what there is, one line each."""

from __future__ import annotations

from pathlib import Path

from boostrun.compose import options
from boostrun.config import SCHEMAS
from boostrun.errors import BoostrunError, did_you_mean
from boostrun.extend import registry
from boostrun.words import Words

GROUPS = ("algo", "dataset", "features", "paper", "run")


def main(words: Words) -> int:
    """Print the choices of a group with their first comment line; all groups when none is named."""
    for group in words.names or GROUPS:
        if group not in GROUPS:
            raise BoostrunError(f"nothing to list under '{group}'{did_you_mean(group, GROUPS)} ({', '.join(GROUPS)})")
        found = options(group, words.config_dir)
        if not words.names:
            print(f"{group}:")
        installed = {name: point for name, point in registry.installed(group).items() if name not in found}
        wide = max(map(len, [*found, *installed]), default=0)
        for name, path in found.items():
            print(f"{'' if words.names else '  '}{name:<{wide}}  {first_comment(path)}{_takes(group, name)}")
        for name, point in installed.items():
            package = f" ({point.dist.name})" if point.dist else ""
            print(f"{'' if words.names else '  '}{name:<{wide}}  installed: {point.value}{package}")
    return 0


def first_comment(path: Path) -> str:
    """What the first line of a YAML file says of it; empty where it is no comment."""
    first = path.read_text(encoding="utf-8").partition("\n")[0]
    return first.lstrip("# ") if first.startswith("#") else ""


def _takes(group: str, name: str) -> str:
    """The budget keys of an algorithm, and its traits."""
    if group != "algo" or name not in SCHEMAS["algo"]:
        return ""
    lists = [", ".join(words) for words in (SCHEMAS["algo"][name].budget, SCHEMAS["algo"][name].traits)]
    return "".join(f" [{words}]" for words in lists if words)
