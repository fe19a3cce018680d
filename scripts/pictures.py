"""Draw the pictures of published items anew from their packed records; tables and records stay as they are.

    python scripts/pictures.py [PAPER | PAPER/ITEM ...] [--results results]

Nothing is run, no data are looked for, and only files that are pictures are written.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from boostrun.config.yaml_files import options
from boostrun.report import build
from boostrun.report.pictures import write_pictures, write_tradeoff
from boostrun.runner import paper
from boostrun.runner.plan import plan, published_store


def draw(name: str, results: Path, bases: dict) -> int:
    """The pictures of one item, from the packed records of its table; returns how many."""
    item, _ = paper.load_published(name, results, [f"results={results}"], None, bases)
    cells = plan(item.settings, published_store(results), data=False)
    entries = item.entries(cells)
    table = build(item.spec, entries)
    found = write_pictures(
        results / name, table, entries, item.curves(cells), item.metrics, item.extras(entries, table)
    )
    write_tradeoff(results / name, table, entries, item.tradeoff)
    return len(found)


def main() -> None:
    """Draw what is named, or all that has records."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--results", type=Path, default=Path("results"))
    words, bases = parser.parse_args(), {}
    for name in options("paper"):
        wanted = not words.names or any(name == word or name.startswith(f"{word}/") for word in words.names)
        if wanted and not paper.drawing(name) and (words.results / name / "table.md").is_file():
            begun = time.perf_counter()
            count = draw(name, words.results, bases)
            print(f"{name}: {count} pictures in {time.perf_counter() - begun:.1f} s", flush=True)


if __name__ == "__main__":
    main()
