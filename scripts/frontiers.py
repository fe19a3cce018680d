"""Write ``conf/frontier/NAME.yaml`` for the frontiers in ``results/frontiers`` that have no such file.

    python scripts/frontiers.py

The notes of a frontier's table quote the command that made it. The file holds its settings, with which ``boostrun
reproduce frontier/NAME`` makes the frontier again. Quick frontiers and summaries get no file.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from boostrun.config.words import keys_and_values
from boostrun.report.frontier import KINDS

RESULTS, CONF = Path("results") / "frontiers", Path("conf") / "frontier"
_AGAIN = re.compile(r"^- again: boostrun frontier (.*)$", re.MULTILINE)


def words_of(folder: Path) -> list[str]:
    """The words ``key=value`` of the command that made the frontier in a folder; empty if its notes lack them."""
    found = _AGAIN.search((folder / "table.md").read_text(encoding="utf-8"))
    return [word for word in shlex.split(re.sub(r"\\(\W|_)", r"\1", found[1])) if "=" in word] if found else []


def as_yaml(name: str, words: list[str]) -> str:
    """The YAML text for the frontier that these words make."""
    given = dict(keys_and_values(words))
    kind = given["budget"][0]
    about = f"{name.removesuffix(f'-{kind}')}: accuracy by {KINDS[kind].head}, ours beside the rivals of today"
    lines = [f"{key}: {values[0] if len(values) == 1 else _listed(values)}" for key, values in given.items()]
    return "\n".join([f"# {about}", *lines]) + "\n"


def _listed(values: list[str]) -> str:
    return f"[{', '.join(values)}]"


def main() -> None:
    """Write the missing files."""
    for folder in sorted(RESULTS.glob("*/contest.csv")):
        name = folder.parent.name
        path = CONF / f"{name}.yaml"
        if not path.exists() and not name.endswith("-quick") and (words := words_of(folder.parent)):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(as_yaml(name, words), encoding="utf-8")
            print(f"written: {path}")


if __name__ == "__main__":
    main()
