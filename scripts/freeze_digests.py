"""Map digests of whole modules to digests of definitions: writes ``frozen`` of ``results/equivalent.json``.

``python scripts/freeze_digests.py CHECKOUT`` was run once, with a checkout of the last commit that computed digests of
whole modules (98725eaa). It computes the digest of each published cell by both formulas, from the same code, and maps
each digest in a record to the new one if the code was known to be equal, by a proof or by a rerun. It also writes the
definitions behind the new digests to ``results/code.json``, and the old digests in keys of feature banks to
``boostrun/published_digests.json``. It trains no model and changes no record.
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

from equivalent import RESULTS, digests_in, records

import boostrun.features as banks
from boostrun.config import catalogue
from boostrun.data.options import read_roots
from boostrun.digest import roots_in, source_digest
from boostrun.files import write_whole
from boostrun.store import code as changes
from boostrun.store.cell import Cell
from boostrun.store.code import EQUIVALENT_NAME, RERUN, SAME_TREE, Equivalent, code_of, read_rows, rows_text

_OF_BANKS = """
import importlib, json, sys
from boostrun import features
from boostrun.data.options import read_roots
from boostrun.digest import module_digest
for line in sys.stdin:
    name = json.loads(line)
    sources = features._SOURCES if name == "" else (name, *getattr(importlib.import_module(name), "SOURCES", ()))
    print(json.dumps([module_digest(each) for each in sources]))
"""


def old_names(checkout: Path, modules: list[str]) -> list[list[str]]:
    """The old digests of modules in keys of banks; those of the modules that build banks for the name ""."""
    env = {**os.environ, "PYTHONPATH": str(checkout.absolute())}
    lines = "".join(f"{json.dumps(name)}\n" for name in modules)
    command = [sys.executable, "-c", _OF_BANKS]
    done = subprocess.run(command, input=lines, stdout=subprocess.PIPE, text=True, check=True, cwd=checkout, env=env)
    return [json.loads(line) for line in done.stdout.splitlines()]


def of_banks(checkout: Path) -> dict[str, list[str]]:
    """New digest of a part of a bank's key -> the old digests that published keys have instead."""
    parts: dict[str, tuple[str, ...]] = {"": banks._BUILD, "boostrun.features.build": banks._BUILD_VALUES}
    for pipeline in [*catalogue.pipelines().values()]:
        more = getattr(importlib.import_module(pipeline.module), "SOURCES", ())
        parts[pipeline.module] = (*roots_in(pipeline.module, ["Pipeline"]), *more)
    for name, data in catalogue.datasets().items():
        if data.gives == "table":
            module = data.loader if data.loader.startswith("boostrun.papers.") else f"boostrun.data.{name}"
            parts[module] = read_roots({"name": name})
    for own in ("boostrun.extend.loader", "boostrun.extend.pipeline"):
        parts[own] = roots_in(own, ["read", "read_within", "Pipeline"])
    parts["boostrun.data.stream_set"] = ("boostrun.data.stream_set:open_set",)
    return {source_digest(roots): old for roots, old in zip(parts.values(), old_names(checkout, [*parts]))}


def frozen(checkout: Path) -> tuple[dict[str, dict[str, list[str]]], dict[str, dict[str, str]]]:
    """Kind -> new digest -> old digests of equal code; and the definitions behind each new digest."""
    known, cells, carried = Equivalent.read(RESULTS), dict[str, Any](), defaultdict[str, set](set)
    data = set[str]()
    for record in records():
        cells[record["cell_key"]] = record["cell"]
        carried[record["cell_key"]].add(record["inputs"]["source"])
        data.add(record["inputs"]["data"])
    before = dict(zip(cells, digests_in(checkout, [*cells.values()])))
    found: dict[str, dict[str, set[str]]] = {SAME_TREE: defaultdict(set), RERUN: defaultdict(set)}
    told = Counter[str]()
    notes = dict[str, dict[str, str]]()
    for key, config in cells.items():
        code = code_of(Cell.from_config(config))
        new = source_digest(*code)
        if new not in notes:
            notes[new] = changes.definitions(code.roots)
        found[SAME_TREE][new].add(before[key])
        for old in carried[key]:
            kind = known.kind(old, before[key])
            told[kind or "stale"] += 1
            if kind:
                found[kind][new].add(old)
    for row in read_rows(RESULTS):  # keys of banks keep their old digests
        for old in data:
            if kind := known.kind(old, row["new"]) if old != row["new"] else "":
                found[kind][row["new"]].add(old)
    print(f"{len(cells)} cells, {len(set(before.values()))} digests before; kinds of {told}")
    return {kind: {new: sorted(olds) for new, olds in sorted(rows.items())} for kind, rows in found.items()}, notes


def main() -> None:
    """Write both files."""
    checkout = Path(sys.argv[1])
    content, notes = frozen(checkout)
    pairs = {kind: sum(map(len, rows.values())) for kind, rows in content.items()}
    write_whole(RESULTS / EQUIVALENT_NAME, rows_text({"frozen": content, "rows": []}).encode())
    write_whole(RESULTS / changes.NAME, changes.notes_text(notes).encode())
    names = of_banks(checkout)
    text = ",\n".join(f"{json.dumps(new)}: {json.dumps(old)}" for new, old in sorted(names.items()))
    write_whole(Path("boostrun/published_digests.json"), f"{{\n{text}\n}}\n".encode())
    print(f"{pairs} pairs, {len(names)} parts of keys of banks")


if __name__ == "__main__":
    main()
