"""boostrun beside other libraries in one run: results and costs; no times are asserted.

It trains on a whole set beside scikit-learn, LightGBM and XGBoost; learns from a stream beside river; and runs many
short trials beside a loop of the shell, one of joblib and Hydra's own multirun. Writes the measurements to
results/bench/peers_table.csv; peers_table.md also has the machine and the features of each (peers_features.csv).

Sizes are small, so that all takes a few minutes; test_peers.py and test_drift_iboost.py look closer at the first two.
Times are processor time, including child processes, which a busy machine disturbs less than the clock; every library
uses one thread. Compared tasks run in turn, ``TURNS`` times, and the minimum of each counts.
"""

import csv
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.ensemble import AdaBoostClassifier, HistGradientBoostingClassifier
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

from boostrun import FullDataClassifier, IBoostClassifier
from boostrun.report.markup import pipe_table
from boostrun.store import provenance
from tests.bench import test_drift_iboost as drift
from tests.bench.timing import RESULTS, processor, show

pytestmark = pytest.mark.bench

HERE = Path(__file__).parent
TURNS, ROUNDS, SHRINKAGE = 2, 50, 0.5
COPIES = 5  # of scikit-learn's 1,797 digits, each with its own noise
EXAMPLES, RIVER_EXAMPLES = 50_000, 500
TRIALS, SHELL_TRIALS = 100, 3
HOW = (
    "Made by `make peers`: processor time, each in turn, so that other work on the machine disturbs ratios little. The "
    "libraries fit two leaf values a stump where the papers' has one vote, and so reach a lower error."
)
ONE_TRIAL = """
import numpy as np
from sklearn.datasets import load_digits
from boostrun import ReservoirClassifier

def trial(seed):
    X, y = load_digits(return_X_y=True)
    order = np.random.default_rng(seed).permutation(len(X))
    train, test = order[:1400], order[1400:]
    model = ReservoirClassifier(strategy="rand", reservoir_size=20, n_estimators=10, random_state=seed)
    return 100 * model.fit(X[train], y[train]).score(X[test], y[test])
"""
SHELL = "import sys\nfrom one_trial import trial\nprint(trial(int(sys.argv[1])))\n"
JOBLIB = """
import sys
import joblib
import numpy as np
from one_trial import trial

found = joblib.Parallel(n_jobs=1)(joblib.delayed(trial)(seed) for seed in range(int(sys.argv[1])))
print(np.mean(found), np.std(found, ddof=1))
"""
HYDRA = """
import hydra
from one_trial import trial

@hydra.main(version_base=None, config_path=None)
def main(config):
    print(trial(config.seed))

main()
"""


class Measured(NamedTuple):
    """A row: a task, its library, ``seconds`` of the processor for one ``unit``, and the result."""

    task: str
    by: str
    unit: str
    seconds: float
    outcome: str


def least(functions: dict[str, Callable[[], str]]) -> Iterator[tuple[str, float, str]]:
    """(name, processor seconds, outcome): each function in turn, a few times, and its least."""
    found: dict[str, tuple[float, str]] = {}
    for _ in range(TURNS):
        for name, function in functions.items():
            begun = processor()
            outcome = function()
            took = processor() - begun
            if name not in found or took < found[name][0]:
                found[name] = took, outcome
    return ((name, *what) for name, what in found.items())


def batch() -> list[Measured]:
    """The digit 3 against the rest, noisy copies: bytes (8985, 64); a quarter is for the test."""
    from lightgbm import LGBMClassifier
    from xgboost import XGBClassifier

    X, y = load_digits(return_X_y=True)
    rng = np.random.default_rng(0)
    X = np.clip(np.tile(X, (COPIES, 1)) * 12 + rng.normal(0, 30, (COPIES * len(X), 64)), 0, 255).astype(np.uint8)
    y = np.tile(y == 3, COPIES).astype(np.int64)
    test = np.tile(rng.random(len(y) // COPIES) < 0.25, COPIES)  # copies of one digit stay together
    common = {"n_estimators": ROUNDS, "learning_rate": SHRINKAGE, "n_jobs": 1}
    models = {
        "boostrun": lambda: FullDataClassifier("all", n_estimators=ROUNDS, shrinkage=SHRINKAGE, random_state=0),
        "LightGBM": lambda: LGBMClassifier(num_leaves=2, force_row_wise=True, verbose=-1, **common),
        "XGBoost": lambda: XGBClassifier(max_depth=1, tree_method="hist", **common),
        "scikit-learn, HistGradientBoosting": lambda: HistGradientBoostingClassifier(
            max_iter=ROUNDS, learning_rate=SHRINKAGE, max_leaf_nodes=2, early_stopping=False
        ),
        "scikit-learn, AdaBoost": lambda: AdaBoostClassifier(DecisionTreeClassifier(max_depth=1), n_estimators=ROUNDS),
    }

    kept = {}

    def fitting(name, make):
        def fit():
            kept[name] = make().fit(X[~test], y[~test])
            return ""

        return fit

    FullDataClassifier("all", n_estimators=2).fit(X[:200], y[:200])  # compiles
    with threadpool_limits(1):
        times = list(least({name: fitting(name, make) for name, make in models.items()}))
    task = f"{ROUNDS} stumps on {int((~test).sum()):,} samples of 64 bytes, two classes"
    errors = {name: 100 * float((model.predict(X[test]) != y[test]).mean()) for name, model in kept.items()}
    return [Measured(task, name, "training", took, f"test error {errors[name]:.2f} %") for name, took, _ in times]


def streams() -> list[Measured]:
    """LED with its changes, each example tested before it is learnt."""
    X, y = drift.led(EXAMPLES)
    drift.seconds(IBoostClassifier(**drift.SETTING), X[:1000], y[:1000])  # compiles
    rows = []
    for _ in range(TURNS):
        took, right = drift.seconds(IBoostClassifier(**drift.SETTING), X, y)
        rows.append(Measured("", "boostrun, IBoost", "example", took / EXAMPLES, f"accuracy {100 * right:.1f} %"))
        took, right = drift.river_seconds(X[:RIVER_EXAMPLES], y[:RIVER_EXAMPLES])
        by = "river, AdaBoost of Bernoulli naive Bayes"
        rows.append(Measured("", by, "example", took / RIVER_EXAMPLES, f"accuracy {100 * right:.1f} %"))
    task = f"20 classifiers on LED, prequentially: {EXAMPLES:,} examples, {RIVER_EXAMPLES:,} for river"
    best = [min(rows[first::2], key=lambda row: row.seconds) for first in (0, 1)]
    return [row._replace(task=task) for row in best]


def trials(folder: Path) -> list[Measured]:
    """Whole commands, the start of Python and of the libraries with them."""
    for name, text in (("one_trial", ONE_TRIAL), ("shell", SHELL), ("loop", JOBLIB), ("multirun", HYDRA)):
        (folder / f"{name}.py").write_text(text, "utf-8")
    words = f"-m boostrun algo=rand dataset=digits r=20 T=10 trials={TRIALS} n_jobs=1"
    ours = [sys.executable, *words.split()]
    seeds = ",".join(map(str, range(TRIALS)))
    stores = iter(range(10 * TURNS))

    def run(*words) -> str:
        environment = {**os.environ, "PYTHONPATH": str(HERE.parent.parent), "BOOSTRUN_DATA": str(folder / "data")}
        done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=True)
        return done.stdout

    shell = f"for seed in $(seq {SHELL_TRIALS}); do {sys.executable} shell.py $seed; done"
    ways = {
        "boostrun": lambda: run(*ours, f"store=store{next(stores)}") and "records, a table",
        "a loop of joblib": lambda: run(sys.executable, "loop.py", str(TRIALS)) and "mean and deviation",
        "Hydra's multirun": lambda: run(sys.executable, "multirun.py", "-m", f"+seed={seeds}") and "a folder a trial",
        "a loop of the shell": lambda: run("sh", "-c", shell) and "a figure a line",
        "boostrun, the same again": lambda: run(*ours, "store=kept") and "the same table, nothing computed",
    }
    ways["boostrun, the same again"]()  # compiles, lays out the bank
    ways["a loop of the shell"]()
    counts = {"a loop of the shell": SHELL_TRIALS}
    task = (
        f"{TRIALS} trials of GEEM's rival Rand on digits, r = 20, T = 10, one at a time ({SHELL_TRIALS} by the shell)"
    )
    return [Measured(task, by, "trial", took / counts.get(by, TRIALS), got) for by, took, got in least(ways)]


def read_features() -> list[list[list[str]]]:
    """Tables of texts of peers_features.csv, which a blank line divides."""
    tables: list[list[list[str]]] = [[]]
    with open(RESULTS / "peers_features.csv", newline="", encoding="utf-8") as file:
        for line in csv.reader(file):
            if line:
                tables[-1].append(line)
            else:
                tables.append([])
    return tables


def machine(load: list[float]) -> str:
    """The machine, and its load from other programs."""
    here = provenance.collect([])
    packages = ("numpy", "numba", "scikit-learn", "lightgbm", "xgboost-cpu", "river", "joblib", "hydra-core")
    busy = f"1-minute load {load[0]:.1f} before and {load[1]:.1f} after, this run's own of 1 with it"
    return (
        f"{here['cpu']['model']}, {here['cpu']['usable']} cores; {busy}; Python {here['python']}, "
        + ", ".join(f"{name} {version(name)}" for name in packages)
        + f"; {here['time'][:10]}."
    )


def write(rows: list[Measured], about: str) -> None:
    first: dict[str, float] = {}
    for row in rows:
        first.setdefault(row.task, row.seconds)
    lines = [
        [row.task, row.by, row.unit, f"{1e3 * row.seconds:.4g}", f"{row.seconds / first[row.task]:.3g}", row.outcome]
        for row in rows
    ]
    with open(RESULTS / "peers_table.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["task", "by", "unit", "processor_ms_a_unit", "times_ours", "outcome"])
        writer.writerows(lines)
    parts = ["# Beside what else one might use", HOW, f"Measured on: {about}"]
    for task in first:
        unit = next(row.unit for row in rows if row.task == task)
        head = ["", f"processor ms of one {unit}", "times ours", "outcome"]
        of_task = ([*line[1:2], *line[3:]] for line in lines if line[0] == task)
        parts += [f"## {task}", pipe_table([head, *of_task], (1, 2))]
    learners, runners = read_features()
    parts += ["## What the libraries can do", pipe_table(learners, ())]
    parts += ["## What runs many trials", pipe_table(runners, ())]
    (RESULTS / "peers_table.md").write_text("\n\n".join(parts) + "\n", "utf-8")


def test_beside_what_else_one_might_use(tmp_path):
    for package in ("lightgbm", "xgboost", "river"):
        pytest.importorskip(package, reason=f"the comparison needs {package}, which is not installed")
    begun, load = time.perf_counter(), os.getloadavg()[0]
    rows = [*batch(), *streams(), *trials(tmp_path)]
    assert all(row.seconds > 0.0 for row in rows) and len({row.by for row in rows}) > 5
    write(rows, machine([load, os.getloadavg()[0]]))
    for task in dict.fromkeys(row.task for row in rows):
        of_task = [row for row in rows if row.task == task]
        show(task, [(row.by, f"{1e3 * row.seconds:.4g} ms a {row.unit}; {row.outcome}") for row in of_task])
    show("all of it took", [("seconds by the clock", f"{time.perf_counter() - begun:.0f}")])
