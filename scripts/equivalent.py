"""Add rows to results/equivalent.json: pairs of digests whose code computes the same results.

    python scripts/equivalent.py [--seeds N] [--minutes M] [--before CHECKOUT] [--only METHOD ...]
                                 [--instead KEY=VALUE ...]

Published records whose digest differs from that of the current code are stale. They are grouped by method, kind of
input and digest. For each group the script runs the N cheapest trials again with the current code, without writing to a
store. If metrics and curves are equal to the bit, except for seconds and memory, it adds a row from the old digest to
the current one.

Some figures differ in their last digit between machines. With ``--before``, a trial whose result differs is therefore
also run on this machine with the code of CHECKOUT, and the two results are compared. This is done only for records that
carry the digest of CHECKOUT, or one that is known to be equivalent to it; such records form one group, whose row starts
at the digest of CHECKOUT. ``--instead`` compares trials with other settings than those published, if those take hours.

Each row is written as soon as it is found. If the minutes are over, the same command continues.
"""

from __future__ import annotations

import argparse
import contextlib
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

from boostrun.config import catalogue
from boostrun.data.options import of_trial
from boostrun.digest import source_digest
from boostrun.errors import BoostrunError
from boostrun.runner import plan
from boostrun.runner.plan import compose_one
from boostrun.store.cell import Cell
from boostrun.store.code import RERUN, Equivalent, add_row, code_of

RESULTS = Path("results")
# seconds in which features are built, to find the cheapest trials; other features take little
_BUILD = {"families19": 300.0, "coates_ng": 1500.0, "templates": 120.0, "families33": 3000.0}
_LARGE = {"inria": 8.0, "cifar10": 4.0, "mnist_expanded": 6.0, "digits": 0.05}

# works in every checkout that can make records: reads a trial from each line, writes its result or its error
_TRIALS = """
import contextlib, json, sys
from boostrun.store.cell import Cell, Inputs, Trial
from boostrun.runner.worker import Execute
from boostrun.runner.worker import without_numpy
for line in sys.stdin:
    given = json.loads(line)
    trial = Trial(Cell.from_config(given["cell"]), given["seed"], Inputs(given["data"], given["source"]))
    try:
        with contextlib.redirect_stdout(sys.stderr):
            result = Execute(given["data_root"], given["cache_root"], folder=given["folder"])(trial)
        answer = {part: without_numpy(result[part]) for part in ("metrics", "curve")}
    except Exception as error:
        answer = {"failed": f"{type(error).__name__}: {error}"}
    print(json.dumps(answer), flush=True)
"""


_DIGESTS = """
import json, sys
from boostrun.digest import source_digest
from boostrun.store.cell import Cell
from boostrun.store.code import code_of
for line in sys.stdin:
    print(source_digest(*code_of(Cell.from_config(json.loads(line)))))
"""


def digests_in(folder: Path, cells: list[dict[str, Any]]) -> list[str]:
    """The digests of cells by the code in a folder."""
    lines = "".join(f"{json.dumps(cell)}\n" for cell in cells)
    env = {**os.environ, "PYTHONPATH": str(folder.absolute())}
    done = subprocess.run(
        [sys.executable, "-c", _DIGESTS], input=lines, capture_output=True, text=True, check=True, cwd=folder, env=env
    )
    return done.stdout.split()


def records() -> Iterator[dict[str, Any]]:
    """All published records of trials that did not fail."""
    found = plan.published_store(RESULTS).records()
    return ({**record, "curve": dict(record["curve"])} for record in found if record["status"] == "done")


def kind_of(cell: Cell) -> str:
    """The kind of a cell's input, as rows of results/equivalent.json name it."""
    gives = catalogue.dataset(cell.dataset).gives
    if gives != "table":
        return {"stream": "drifting stream"}.get(gives, gives)
    narrowed = [word for key, word in (("holdout", "hold-out"), ("train_samples", "subset")) if cell.dataset.get(key)]
    return " of ".join([*narrowed, catalogue.pipeline(cell.features).gives])


def price(record: dict[str, Any]) -> tuple[float, str]:
    """A sort key: an estimate of the seconds of a trial with its features, then the record's key."""
    cell = record["cell"]
    build = _BUILD.get(cell["features"]["name"], 0.0) * _LARGE.get(cell["dataset"]["name"], 1.0)
    return build + record["cost"].get("seconds", float("inf")), record["key"]


def different(old: Any, new: Any, path: str = "") -> list[str]:
    """The places where two results differ; seconds and memory are not compared."""
    if isinstance(old, dict) and isinstance(new, dict):
        keys = [key for key in {**old, **new} if "seconds" not in key and "memory" not in key]
        return [line for key in keys for line in different(old.get(key), new.get(key), f"{path}.{key}")]
    equal = json.dumps(old, sort_keys=True) == json.dumps(new, sort_keys=True)
    return [] if equal else [f"{path[1:]}: {str(old)[:60]} before, {str(new)[:60]} now"]


class Checkout:
    """A process that runs trials with the code in a folder, with one thread per library."""

    def __init__(self, folder: Path, data_root: Path, cache_root: Path):
        self._places = {"data_root": str(data_root.absolute()), "cache_root": str(cache_root), "folder": os.getcwd()}
        threads = [f"{library}_NUM_THREADS" for library in ("OMP", "OPENBLAS", "MKL", "NUMBA")]
        self._process = subprocess.Popen(
            [sys.executable, "-c", _TRIALS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            text=True, env={**os.environ, **dict.fromkeys(threads, "1"), "PYTHONPATH": str(folder.absolute())},
            cwd=folder,
        )  # fmt: skip

    def __call__(self, record: dict[str, Any]) -> dict[str, Any]:
        """Run a record's trial; returns its metrics and curve. Raises ValueError with the error if it fails."""
        given = {"cell": record["cell"], "seed": record["seed"], **record["inputs"], **self._places}
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write(json.dumps(given) + "\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline() or '{"failed": "its process is gone"}')
        if "failed" in answer:
            raise ValueError(answer["failed"])
        return answer


def repeated(record: dict[str, Any], now: Checkout, before: Checkout | None) -> tuple[list[str], bool]:
    """Run the trial of a record again; returns the differences, and whether the old code had to run too."""
    try:
        result = now(record)
        lines = different({part: record[part] for part in result}, result)
        if lines and before is not None:
            return different(before(record), result), True
    except ValueError as error:
        return [str(error)], False
    return lines, False


def made(method: str, words: list[str], seeds: int) -> list[dict[str, Any]]:
    """Trials of a method with these settings, as records without results: the old code has to compute them."""
    settings = compose_one([f"algo={method}", *words])
    cell = plan.cell_of(settings)
    inputs = {"data": plan.input_for(cell.dataset).key(cell.dataset, cell.features, plan.places_of(settings))}
    made = {"cell": cell.config(), "inputs": {**inputs, "source": ""}, "cost": {}, "metrics": {}, "curve": {}}
    return [{**made, "seed": seed, "key": ""} for seed in range(seeds)]


def with_key_of_today(record: dict[str, Any], known: Equivalent) -> dict[str, Any]:
    """A record with the current key of its input, if this is known to have the same content as the record's key."""
    cell, old = Cell.from_config(record["cell"]), record["inputs"]["data"]
    places = plan.places_of(compose_one([]))
    with contextlib.suppress(BoostrunError):
        dataset = of_trial(cell.dataset, record["seed"], places.data_root)
        today = plan.input_for(cell.dataset).key(dataset, cell.features, places)
        if known.kind(old, today):
            return {**record, "inputs": {**record["inputs"], "data": today}}
    return record


def rerun(seeds: int, minutes: float, before: Path | None, instead: list[str], only: list[str]) -> int:
    """Run trials of stale records again, the cheapest groups first; returns 1 if a result differs, else 0."""
    began = time.monotonic()
    known, groups, stale = Equivalent.read(RESULTS), defaultdict(list), []
    for record in records():
        cell = Cell.from_config(record["cell"])
        today = source_digest(*code_of(cell))
        if not known.kind(record["inputs"]["source"], today):
            stale.append((record, cell, today))
    cells = {record["cell_key"]: record["cell"] for record, _, _ in stale}
    middle = dict(zip(cells, digests_in(before, [*cells.values()]))) if before else {}
    for record, cell, today in stale:
        old, on = record["inputs"]["source"], middle.get(record["cell_key"], "")
        groups[cell.algo["name"], kind_of(cell), on if known.kind(old, on) else old, today].append(record)
    groups = {group: found for group, found in groups.items() if not only or group[0] in only}
    chosen = {
        group: made(group[0], instead, seeds) if instead
        else [with_key_of_today(record, known) for record in sorted(found, key=price)[:seeds]]
        for group, found in groups.items()
    }
    print(f"{len(groups)} groups with {sum(map(len, groups.values()))} stale records", flush=True)
    data_root, _ = plan.roots(compose_one([]))
    # feature banks are kept between calls, since building them takes long
    banks = Path(os.environ.get("BOOSTRUN_CACHE", Path(tempfile.gettempdir()) / "boostrun-equivalent"))
    now = Checkout(Path(), data_root, banks)
    then = Checkout(before, data_root, banks) if before else None
    order = sorted(chosen, key=lambda group: sum(price(record)[0] for record in groups[group][:seeds]))
    wrong = 0
    for number, group in enumerate(order, 1):
        if time.monotonic() - began > 60 * minutes:
            print(f"{len(order) - number + 1} groups are left: run the same command again")
            break
        method, kind, old, today = group
        # compare with the old code only records with its digest or an equivalent one, and trials of --instead
        vouched = bool(instead) or old in middle.values()
        came = [repeated(record, now, then if vouched else None) for record in chosen[group]]
        lines = [line for differs, _ in came for line in differs]
        here = sum(compared for _, compared in came)
        told = "; ".join(lines[:3]) or f"{len(came)} trials equal" + (f", {here} to the old code here" if here else "")
        print(f"{number}/{len(order)} {method}, {kind}: {told}", flush=True)
        if lines:
            wrong += 1
            continue
        labels = sorted({f"{Cell.from_config(each['cell']).label} seed {each['seed']}" for each in chosen[group]})
        row = {"kind": RERUN, "old": old, "new": today, "method": method, "input": kind, "seeds": len(came)}
        add_row(RESULTS, {**row, "trials": labels, "here": here})
    return 1 if wrong else 0


def main() -> int:
    """Run the command; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--before", type=Path, help="a checkout of the code that made the records")
    parser.add_argument("--only", nargs="*", default=[], help="methods")
    parser.add_argument("--instead", nargs="*", default=[], help="settings to run instead of published trials")
    given = parser.parse_args()
    if given.instead and given.before is None:
        parser.error("--instead compares with the old code: --before is needed")
    return rerun(given.seeds, given.minutes, given.before, given.instead, given.only)


if __name__ == "__main__":
    sys.exit(main())
