"""Write ``conf/frontier/NAME.yaml`` of the frontiers below ``results/frontiers`` that have none yet.

    python scripts/frontiers.py

The words of the command that made a frontier stand in the notes of its table; as a file they are what
``boostrun reproduce frontier/NAME`` makes it of again. Quick ones and summaries are none.
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
    """The words ``key=value`` that made the frontier of a folder; none where it does not say."""
    found = _AGAIN.search((folder / "table.md").read_text(encoding="utf-8"))
    return [word for word in shlex.split(re.sub(r"\\(\W|_)", r"\1", found[1])) if "=" in word] if found else []


def as_yaml(name: str, words: list[str]) -> str:
    """The file of a frontier that these words make."""
    given = dict(keys_and_values(words))
    kind = given["budget"][0]
    about = f"{name.removesuffix(f'-{kind}')}: accuracy by {KINDS[kind].head}, ours beside the rivals of today"
    lines = [f"{key}: {values[0] if len(values) == 1 else _listed(values)}" for key, values in given.items()]
    return "\n".join([f"# {about}", *lines]) + "\n"


def _listed(values: list[str]) -> str:
    return f"[{', '.join(values)}]"


def main() -> None:
    """Write those that are missing."""
    for folder in sorted(RESULTS.glob("*/contest.csv")):
        name = folder.parent.name
        path = CONF / f"{name}.yaml"
        if not path.exists() and not name.endswith("-quick") and (words := words_of(folder.parent)):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(as_yaml(name, words), encoding="utf-8")
            print(f"written: {path}")


if __name__ == "__main__":
    main()
