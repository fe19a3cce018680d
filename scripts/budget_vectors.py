"""Fits under random vectors of budgets: do the models keep them, and what does a full search gain for its cost?

    python scripts/budget_vectors.py FOLDER [SET ...]

For each of 13 sets, :data:`VECTORS` vectors of budgets are drawn from :data:`SEED`, before anything runs. Of the six
largest sets a search trains on 2,000 rows, of INRIA on 400: all of them would take days. Under each vector, two
searches choose on the same held-out rows, one trial at a time, and the test part only scores their models. The first is
full: :data:`TRIALS` trials of every method that may be chosen, on all these training rows, without a clock; if that
took less than :data:`LEAST` CPU seconds, twice as many, and so on. The second is that of `boostrun fit --within
VECTOR,seconds=S`, without trials of the first; each budget of its model is measured once more. S is :data:`SHARE` of
the CPU seconds of the full search, times :func:`slowness`.

Appends a row to results/within/table.csv for each vector that is not there yet, then writes table.md and the table of
docs/howto/budget.md. FOLDER keeps the files of named sets. Without words, only the tables are written.
"""

from __future__ import annotations

import csv
import os
import re
import shlex
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from boostrun.config import defaults
from boostrun.config.words import quoted
from boostrun.data import load as load_data
from boostrun.errors import BoostrunError
from boostrun.export import read
from boostrun.export.flash import flash
from boostrun.prediction import load, pieces
from boostrun.report.markup import pipe_table
from boostrun.runner import meters
from boostrun.runner.meters import budgets_of
from boostrun.runner.wide import Request
from boostrun.runner.within import Search, fit_within

ROOT = Path(__file__).parent.parent
TABLE = ROOT / "results" / "within" / "table.csv"
PAGE = ROOT / "docs" / "howto" / "budget.md"
SEED, VECTORS, TRIALS = 8, 5, 8
SHARE, LEAST = 0.2, 100.0
MOST_TRIALS = 512
LEVEL = 0.5  # points of accuracy: neither is ahead
PARTS = ("fit", "full")
KEPT = ("method", "test_accuracy_pct", "validation_accuracy_pct", "trials", "seconds", "cpu", "error")
HEAD = ["set", "vector", "seed", "within", "budgets", "exceeded", "exceeded_again", "regret"]
HEAD += [f"{part}_{key}" for part in PARTS for key in KEPT]


class Set(NamedTuple):
    """A data set: training rows of a search, columns and classes. ``own``: a csv file. ``drawn``: not all rows, but so
    many of the file, or of the training part; 0 for all.
    """

    rows: int
    columns: int
    classes: int
    own: bool = True
    drawn: int = 0


SETS = {
    "wine": Set(114, 13, 3), "breast_cancer": Set(364, 30, 2), "segment": Set(1478, 19, 7),
    "digits": Set(1150, 64, 10, False), "statlog": Set(3548, 36, 6, False), "spam": Set(2944, 57, 2),
    "pendigits": Set(5995, 16, 10, False), "weather": Set(2000, 8, 2, True, 3125),
    "letter": Set(2000, 16, 26, False, 2500), "electricity": Set(2000, 8, 2, True, 3125),
    "mnist": Set(2000, 784, 10, False, 2500), "cifar10": Set(2000, 3072, 10, False, 2500),
    "inria": Set(400, 24576, 2, False, 500),
}  # fmt: skip


def drawn(name: str, number: int, seed: int = SEED) -> str:
    """The budgets of a vector, without seconds: each kind with probability 1/2, at least one; sizes are log-uniform.

    >>> drawn("wine", 0) == drawn("wine", 0) != drawn("wine", 1)
    True
    """
    one, generator = SETS[name], np.random.default_rng([seed, list(SETS).index(name), number])
    data = 16 * one.rows * one.columns / 2**20  # MiB of the samples, twice in double precision
    sizes = {
        "features": (2, min(one.columns, 100), ""), "flash": (500 + 100 * one.classes, 32_000, "B"),
        "latency": (500, 20_000, "ns"), "memory": (450 + data, 1000 + 4 * data, "MiB"),
        "held": (10 * one.classes, max(one.rows // 2, 20 * one.classes), ""),
    }  # fmt: skip
    while True:
        asked = {kind: generator.random() < 0.5 for kind in sizes}
        amounts = {kind: np.exp(generator.uniform(*np.log(sizes[kind][:2]))) for kind in sizes}
        if any(asked.values()):
            return ",".join(f"{kind}={amounts[kind]:.0f}{sizes[kind][2]}" for kind in sizes if asked[kind])


def words_of(name: str, number: int, folder: Path) -> list[str]:
    """The words that name a set: its csv file, split anew for each vector, or a file of its usual two parts."""
    one = SETS[name]
    if one.own:
        path = ROOT / "datasets" / "tables" / f"{name}.csv"
        if one.drawn:
            whole, path = pd.read_csv(path, dtype=str, keep_default_na=False), folder / path.name
            whole.sample(one.drawn, random_state=SEED).to_csv(path, index=False)
        return [f"dataset={quoted(str(path))}", "dataset.label=target", f"dataset.split_seed={number}"]
    path = folder / f"{name}.npz"
    if not path.exists():
        data = load_data({"name": name, **defaults("dataset", name)}, ROOT / "datasets")
        x_train, x_test = (each.reshape(len(each), -1) for each in (data.x_train, data.x_test))
        some = np.random.default_rng(SEED).permutation(len(x_train))[: one.drawn] if one.drawn else slice(None)
        np.savez(path, x_train=x_train[some], y_train=data.y_train[some], x_test=x_test, y_test=data.y_test)
    return [f"dataset={quoted(str(path))}"]


class FullSearch(Search):
    """Tries every contender equally often, on all training rows."""

    def run(self) -> None:
        """One trial of each, rounds that fit the flash, then all others; more until it took the least seconds."""
        begun, trials = cpu(), TRIALS
        self._rung(self.contenders, 1, 1.0)
        if "flash" in self.request.budgets:
            self._rung([one for one in self.contenders if self._sized(one, few=False)], 1, 1.0)
        self._rung(self.contenders, trials, 1.0)
        while cpu() < begun + LEAST and trials < MOST_TRIALS:
            trials *= 2
            self._rung(self.contenders, trials, 1.0)
        self._confirm()


def searched(words: Sequence[str], within: str, folder: Path, searching: type[Search]) -> dict[str, Any]:
    """The certificate of a search, or its ``error``, with the ``seconds`` and ``cpu`` seconds that it took."""
    places = [f"{key}={quoted(str(folder / key))}" for key in ("store", "results", "cache_root")]
    request = Request([*words, "n_jobs=1", *places], (), budgets_of(within), folder / "m.npz", quiet=True)
    begun, before = time.monotonic(), cpu()
    try:
        found = fit_within(request, begun, searching)
        if found is None:
            raise KeyboardInterrupt
        facts = found.certificate
    except BoostrunError as error:
        facts = {"error": str(error)}
    return {**facts, "seconds": time.monotonic() - begun, "cpu": cpu() - before}


def slowness() -> float:
    """Wall-clock seconds of a CPU second, over two of them: more than 1 if other programs use the cores."""
    begun, before = time.monotonic(), cpu()
    while cpu() < before + 2.0:
        sum(range(10_000))
    return (time.monotonic() - begun) / (cpu() - before)


def cpu() -> float:
    """CPU seconds of this process and its children."""
    return sum(os.times()[:4])


def again(model: Path, table: str, facts: Mapping[str, Any]) -> dict[str, float]:
    """What a model spends of each budget by a second measurement; ``held`` is what the certificate says."""
    samples, asked = next(iter(pieces(load(model), table, {}))).X[:4000], facts["budgets"]
    found = {"seconds": facts["seconds"], "held": asked.get("held", {}).get("spent", 0.0)}
    if "features" in asked:
        used = meters.columns_read(load(model), samples, seed=1)
        found["features"] = float(len(used.columns)) if used.all_others else float(samples.shape[1])
    if "flash" in asked:
        found["flash"] = float(flash(read(model), samples).bytes)
    if "latency" in asked:
        found["latency"] = meters.latency(read(model), samples).microseconds
    if "memory" in asked:
        command = [*shlex.split(facts["alone"])[1:-1], str(model.with_name("second.npz"))]
        found["memory"] = meters.peak_of([sys.executable, "-m", "boostrun", *command]) * 2**20
    return found


def exceeded(most: Mapping[str, float], spent: Mapping[str, float]) -> str:
    """The budgets that are not kept, with the share that is spent; NaN if it was not measured.

    >>> exceeded({"features": 3.0, "flash": 900.0, "held": 9.0}, {"features": 3.0, "flash": 909.0})
    'flash 1.010; held nan'
    """
    shares = {kind: spent.get(kind, np.nan) / most[kind] for kind in most}
    return "; ".join(f"{kind} {share:.3f}" for kind, share in shares.items() if not share <= 1.0)


def row_of(name: str, number: int, folder: Path) -> dict[str, Any]:
    """Both searches of a vector."""
    words, budgets = words_of(name, number, folder), drawn(name, number)
    with tempfile.TemporaryDirectory() as place:
        full = searched(words, budgets, Path(place), FullSearch)
    within = f"{budgets},seconds={SHARE * full['cpu'] * slowness():.0f}"
    row: dict[str, Any] = {"set": name, "vector": number, "seed": SEED, "within": within}
    with tempfile.TemporaryDirectory() as place:
        fit = searched(words, within, Path(place), Search)
        if "error" not in fit:
            most, spent = ({kind: each[key] for kind, each in fit["budgets"].items()} for key in ("most", "spent"))
            row |= {"budgets": len(most), "exceeded": exceeded(most, spent)}
            row["exceeded_again"] = exceeded(most, again(Path(place) / "m.npz", words[0].partition("=")[2], fit))
    for part, facts in zip(PARTS, (fit, full)):
        row |= {f"{part}_{key}": facts.get(key, "") for key in KEPT}
    if "error" not in fit and "error" not in full:
        row["regret"] = full["test_accuracy_pct"] - fit["test_accuracy_pct"]
    return {key: round(value, 2) if isinstance(value, float) else value for key, value in row.items()}


def rows_of() -> list[dict[str, str]]:
    """The finished vectors."""
    with TABLE.open(newline="") as file:
        return list(csv.DictReader(file))


def run(folder: Path, names: Sequence[str]) -> None:
    """Run the vectors that are not finished, and append a row for each."""
    folder.mkdir(parents=True, exist_ok=True)
    TABLE.parent.mkdir(exist_ok=True)
    if not TABLE.exists():
        TABLE.write_text(",".join(HEAD) + "\n")
    done = {(row["set"], int(row["vector"])) for row in rows_of()}
    for number in range(VECTORS):
        for name in names or SETS:
            if (name, number) not in done:
                row = row_of(name, number, folder)
                with TABLE.open("a", newline="") as file:
                    csv.DictWriter(file, HEAD, lineterminator="\n").writerow(row)
                print(row, flush=True)


def summary_of(rows: Sequence[Mapping[str, str]]) -> list[list[str]]:
    """A line for each set, and one for all. ``exceeded``: by the certificate, by the second measurement, of budgets."""
    lines = [["set", "vectors", "exceeded", "only in full", "regret", "sd", "ahead, level, behind", "trials"]]
    for name in [*dict.fromkeys(row["set"] for row in rows), "all"]:
        own = [row for row in rows if name in (row["set"], "all")]
        both = [row for row in own if row["regret"]]
        regrets = np.array([float(row["regret"]) for row in both] or [np.nan])
        over = [sum(len(row[key].split(";")) for row in own if row[key]) for key in ("exceeded", "exceeded_again")]
        trials = [sum(int(row[f"{part}_trials"]) for row in both) for part in ("fit", "full")]
        ahead, behind = int((regrets < -LEVEL).sum()), int((regrets > LEVEL).sum())
        lines.append([
            name, str(len(own)), f"{over[0]}, {over[1]} of {sum(int(row['budgets'] or 0) for row in own)}",
            str(sum(bool(row["fit_error"]) and not row["full_error"] for row in own)),
            f"{regrets.mean():.2f}", f"{regrets.std(ddof=1):.2f}" if len(both) > 1 else "",
            f"{ahead}, {len(both) - ahead - behind}, {behind}", f"{trials[0]:,} : {trials[1]:,}",
        ])  # fmt: skip
    return lines


def write() -> None:
    """Write table.md, and the summary into the section of the page, below its text."""
    rows = sorted(rows_of(), key=lambda row: (list(SETS).index(row["set"]), int(row["vector"])))
    summary = pipe_table(summary_of(rows), range(1, 8))
    each = [["set", "budgets", "exceeded", "fit", "full search", "regret"]]
    for row in rows:
        models = [" ".join(row[f"{part}_{key}"] for key in (*KEPT[:2], "error")).strip() for part in PARTS]
        over = " ".join([row["exceeded"], row["exceeded_again"]]).strip()
        each.append([row["set"], row["within"], over, *models, row["regret"]])
    TABLE.with_suffix(".md").write_text(f"{summary}\n\n{pipe_table(each, [5])}\n")
    page = re.compile(r"(\n## Random budgets\n.*?\n\n)\| set .*?(?=\n\n)", re.DOTALL)
    PAGE.write_text(page.sub(lambda found: found[1] + summary, PAGE.read_text()))


if __name__ == "__main__":
    if len(sys.argv) > 1:
        run(Path(sys.argv[1]).absolute(), sys.argv[2:])
    write()
