"""Rows of results/equivalent.json: which digests stand for code that computes the same.

``python scripts/equivalent.py same-tree`` evaluates the formula of the digest before and that of today on this tree,
for every published record that is current by the old one. It proves nothing on a tree where either has been changed.

``python scripts/equivalent.py rerun [--seeds N] [--minutes M] [--jobs 2]`` repeats, for each method and kind of input
whose published records are stale by their code alone, the N cheapest of their trials with today's code, without writing
to any store. Where metrics and curve come out equal to the bit (seconds apart) one row leads from each of the group's
digests to today's. What was found is kept as it comes: the same command goes on from there.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import joblib
from boostrun.compose import compose_one

from boostrun import digest
from boostrun.data import is_drifting, is_streamed, loader_module
from boostrun.digest import source_digest
from boostrun.errors import BoostrunError
from boostrun.runner import algorithms, plan
from boostrun.runner.cell import Cell, Inputs, Trial
from boostrun.runner.code import code_of
from boostrun.runner.equivalent import NAME, RERUN, SAME_TREE, Equivalent, read_rows
from boostrun.runner.trial import Execute

RESULTS = Path("results")


def records() -> Iterator[dict[str, Any]]:
    """Every published record that is done."""
    for path in sorted(RESULTS.rglob("records.jsonl.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            yield from (record for line in lines if (record := json.loads(line))["status"] == "done")


def write(rows: list[dict[str, Any]]) -> None:
    """Put the rows into the file, one a line, none twice."""
    lines = sorted({json.dumps(row, sort_keys=True) for row in rows})
    text = '{"rows": [\n' + ",\n".join(lines) + "\n]}\n"
    beside = RESULTS / f".{NAME}"
    beside.write_text(text, encoding="utf-8")
    os.replace(beside, RESULTS / NAME)


# The formula before: modules by name, with their sources as they stand, in the order of the names.


def _modules_before(cell: Cell) -> list[str]:
    made = algorithms.ALGORITHMS.get(cell.algo["name"])
    found = [algorithms.evaluation(cell.algo["name"]), "boostrun.runner.seeds"]
    found += [made.module, *made.also] if made else []
    if is_streamed(cell.dataset):
        found.append("boostrun.runner.streamed")
    return [*found, loader_module(cell.dataset)] if is_drifting(cell.dataset) else found


def digest_before(cell: Cell) -> str:
    """What the formula before makes of this tree."""
    import hashlib

    counted, waiting = {}, _modules_before(cell)
    while waiting:
        name = waiting.pop()
        if name in counted or name == "boostrun.config" or (path := digest._path(name)) is None:
            continue
        source = digest._read(name, path)
        counted[name] = digest.normalised(source, name).encode("utf-8", "surrogatepass")
        package = digest._package(name)
        for node, _, typing in digest._imports(digest._tree(name)):
            if typing:
                continue
            if hasattr(node, "level"):
                base = digest._base(node, package)
                below = [f"{base}.{alias.name}" for alias in node.names]
                inside = digest._is_package(base)
                waiting += [each if inside and digest._find(each) else base for each in below]
            else:
                waiting += [alias.name for alias in node.names]
        waiting = [each for each in waiting if each.partition(".")[0] == "boostrun"]
    total = hashlib.sha256()
    for name, source in sorted(counted.items()):
        total.update(f"{name}\n{len(source)}\n".encode())
        total.update(source)
    return total.hexdigest()


def same_tree() -> int:
    """Add a row for each pair of digests of the records that are current."""
    commit = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=True).stdout.strip()
    rows, stale, before = read_rows(RESULTS), 0, {}
    pairs = set()
    for record in records():
        cell = Cell.from_config(record["cell"])
        roots = tuple(_modules_before(cell))
        before.setdefault(roots, digest_before(cell)) if roots not in before else None
        if before[roots] != record["inputs"]["source"]:
            stale += 1
            continue
        pairs.add((before[roots], source_digest(*code_of(cell))))
    rows += [{"kind": SAME_TREE, "old": old, "new": new, "commit": commit} for old, new in pairs]
    write(rows)
    print(f"{len(pairs)} rows of {len({old for old, _ in pairs})} digests; {stale} records were stale before")
    return 0


# Repeating trials.


def kind_of(cell: Cell) -> str:
    """The kind of input, as rows of reruns name it."""
    if is_drifting(cell.dataset):
        return "drifting stream"
    if is_streamed(cell.dataset):
        return "chunks"
    narrowed = [word for key, word in (("holdout", "hold-out"), ("train_samples", "subset")) if cell.dataset.get(key)]
    return " of ".join([*narrowed, "codes bank" if "bins" in cell.features else "value bank"])


def different(old: dict, new: dict, path: str = "") -> list[str]:
    """Where two results differ; figures in seconds are not compared."""
    if isinstance(old, dict) and isinstance(new, dict):
        keys = [key for key in {**old, **new} if "seconds" not in key]
        return [line for key in keys for line in different(old.get(key), new.get(key), f"{path}.{key}")]  # type: ignore[arg-type]
    equal = json.dumps(old, sort_keys=True) == json.dumps(new, sort_keys=True)
    return [] if equal else [f"{path[1:]}: {str(old)[:60]} before, {str(new)[:60]} now"]


def repeated(record: dict, data_root: Path, cache_root: Path, folder: str) -> tuple[list[str], str]:
    """What differs when the trial of a record is run again, and why it could not be."""
    cell = Cell.from_config(record["cell"])
    run = Execute(str(data_root), str(cache_root), folder=folder)
    try:
        result = run(Trial(cell, record["seed"], Inputs(record["inputs"]["data"], source_digest(*code_of(cell)))))
    except BoostrunError as error:
        return [], str(error)
    result = json.loads(json.dumps(result))
    return [line for part in ("metrics", "curve") for line in different(record[part], result[part], f".{part}")], ""


def rerun(seeds: int, minutes: float, jobs: int) -> int:
    """Repeat what is stale by its code, cheapest groups first; returns 1 when something differs."""
    began = time.monotonic()
    known, groups = Equivalent.read(RESULTS), defaultdict(list)
    for record in records():
        cell = Cell.from_config(record["cell"])
        now = source_digest(*code_of(cell))
        if not known.kind(record["inputs"]["source"], now):
            groups[cell.algo["name"], kind_of(cell), now].append(record)
    settings = compose_one([])
    data_root, _ = plan.roots(settings)
    wrong = 0
    chosen = {}
    for group, found in groups.items():
        found.sort(key=lambda record: (record["cost"].get("seconds", float("inf")), record["key"]))
        chosen[group] = found[:seeds]
    print(f"{len(groups)} groups with {sum(map(len, groups.values()))} stale records")
    # kept between calls: banks are costly to build
    banks = Path(os.environ.get("BOOSTRUN_CACHE", Path(tempfile.gettempdir()) / "boostrun-equivalent"))
    order = sorted(chosen, key=lambda group: sum(r["cost"].get("seconds", 0.0) for r in chosen[group]))
    for number, group in enumerate(order, 1):
        if time.monotonic() - began > 60 * minutes:
            print(f"{len(order) - number + 1} groups are left: give the same command again")
            break
        method, kind, now = group
        work = joblib.Parallel(n_jobs=min(jobs, 2))
        came = work(joblib.delayed(repeated)(record, data_root, banks, os.getcwd()) for record in chosen[group])
        problem = next((why for _, why in came if why), "")
        lines = [line for differs, _ in came for line in differs]
        told = problem or "; ".join(lines[:3]) or f"{len(came)} trials equal"
        print(f"{number}/{len(order)} {method}, {kind}: {told}", flush=True)
        wrong += bool(lines)
        if problem or lines:
            continue
        olds = sorted({record["inputs"]["source"] for record in groups[group]})
        labels = sorted({f"{Cell.from_config(r['cell']).label} seed {r['seed']}" for r in chosen[group]})
        more = {"method": method, "input": kind, "seeds": len(came), "trials": labels}
        write([*read_rows(RESULTS), *({"kind": RERUN, "old": old, "new": now, **more} for old in olds)])
    return 1 if wrong else 0


def main() -> int:
    """Read the arguments; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    verbs = parser.add_subparsers(dest="verb", required=True)
    verbs.add_parser("same-tree")
    again = verbs.add_parser("rerun")
    again.add_argument("--seeds", type=int, default=3)
    again.add_argument("--minutes", type=float, default=30.0)
    again.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    return same_tree() if given.verb == "same-tree" else rerun(given.seeds, given.minutes, given.jobs)


if __name__ == "__main__":
    sys.exit(main())
