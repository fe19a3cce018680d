"""``boostrun --shell-completion install=bash``: Hydra's completion, with our verbs and items before it."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from boostrun.cli.arguments import BUDGETS, VERBS
from boostrun.cli.frontier import names
from boostrun.cli.ls import GROUPS, RUNS
from boostrun.config import catalogue, defaults
from boostrun.errors import BoostrunError


def main(arguments: Sequence[str]) -> int:
    """Install, uninstall or query the completion of a shell (bash, zsh, fish)."""
    if len(arguments) != 1 or arguments[0].partition("=")[0] not in ("install", "uninstall", "query"):
        raise BoostrunError("--shell-completion takes install=SHELL or uninstall=SHELL with SHELL bash, zsh or fish")
    action, _, shell = arguments[0].partition("=")
    if shell not in ("bash", "zsh", "fish"):
        raise BoostrunError(f"no completion for the shell '{shell}' (bash, zsh, fish)")
    if action == "query" and _complete_verb():
        return 0
    _hydra(arguments[0])
    return 0


def _complete_verb() -> bool:
    """Answer for a verb or its argument; otherwise take the verb out of the line, so that Hydra can answer."""
    line = os.environ.get("COMP_LINE", "")
    words = line.split()[1:] + ([""] if line.endswith(" ") or not line.split()[1:] else [])
    word, before = words[-1], [w for w in words[:-1] if not w.startswith("-")]
    if not before and word and "=" not in word and any(verb.startswith(word) for verb in VERBS):
        print(" ".join(verb for verb in VERBS if verb.startswith(word)))
        return True
    if len(before) == 1 and before[0] in VERBS and "=" not in word:
        items = catalogue.options("paper")
        words_of = {
            "reproduce": [*items, *names()], "table": items, "report": ["own", *items], "plan": items, "diff": items,
            "claims": [name for name, one in catalogue.papers().items() if one.claims], "ls": (*GROUPS, RUNS),
            "data": catalogue.summaries("dataset"), "help": VERBS, "frontier": ["summary"],
        }.get(before[0], ())  # fmt: skip
        found = [choice for choice in words_of if choice.startswith(word)]
        if found:
            print(" ".join(found))
            return True
    if before[:1] == ["frontier"] and word:
        kinds = [f"budget={kind}" for kind in BUDGETS if f"budget={kind}".startswith(word)]
        if kinds:
            print(" ".join(kinds))
            return True
    if before and before[0] in VERBS:
        before = before[1:]
    rest = [w for w in before if "=" in w] + [word]
    os.environ["COMP_LINE"] = " ".join([line.split()[0] if line.split() else "boostrun", *rest])
    os.environ["COMP_POINT"] = str(len(os.environ["COMP_LINE"]))
    return False


def _hydra(argument: str) -> None:
    import hydra
    from hydra.core.config_store import ConfigStore

    for group in catalogue.GROUPS:
        for name in catalogue.names(group):
            ConfigStore.instance().store(group=group, name=name, node={"name": name, **defaults(group, name)})
    sys.argv = [sys.argv[0], "--shell-completion", argument]

    @hydra.main(config_path=str(catalogue.conf_dir().resolve()), config_name="config", version_base="1.3")
    def app(_config) -> None:
        """Never called: Hydra answers and leaves."""

    app()
