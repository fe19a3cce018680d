"""What takes how long in another checkout and in this one, in turn: results/bench/before_after.csv.

    git worktree add /tmp/before COMMIT
    python scripts/before_after.py /tmp/before [--turns 2] [--only WORD]

Each of :data:`WORK` runs in a new process with the code of one checkout, then with that of the other, so many times
in turn. Its seconds are processor time, with child processes, of one thread; the least and the median of all calls
are kept. A command and a first fit are one call a process, after one that does not count. `python
scripts/speed_page.py` puts the table on the page of speed.
"""

import argparse
import csv
import itertools
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
DATA = str(ROOT / "datasets")
_MNIST = (
    "from boostrun.features import open_bank; "
    f"k = open_bank({{'name': 'mnist'}}, {{'name': 'raw'}}, {DATA!r}, {DATA!r}); "
    "X = np.array(k.samples('train')); y = np.asarray(k.labels('train'))"
)
_TREE = f"{_MNIST}; C = np.ascontiguousarray(X.T); s = rng.random(60_000) * np.where(y == 3, 1.0, -1.0)"
_GROW = "from boostrun.methods.tree import ColumnTrees, Growth; t = ColumnTrees(C, Growth(depth=6))"
_GEEM = (
    f"{_MNIST}; from boostrun.papers.reservoir.geem import Geem; "
    "from boostrun.papers.reservoir.strategies import Batch; "
    "b = Batch(np.ascontiguousarray(X[:2 * r]), np.where(y[:2 * r] == 3, 1.0, -1.0), rng.random(2 * r), "
    "np.zeros(2 * r, int)); g = Geem()"
)
_STUMPS = (
    "from boostrun import ReservoirClassifier as C; X = rng.integers(0, 256, (20_000, 64)).astype(float); "
    "y = np.digitize(X[:, :8].sum(axis=1), np.linspace(700, 1340, 9)); "
    "c = C('rand', n_estimators=250, reservoir_size=500, random_state=0).fit(X[:2000], y[:2000]); row = X[:1].copy()"
)
_PAIRS = (
    f"{_MNIST}; CodedPool = there('CodedPool', 'coded', 'pools.coded');"
    "a, b = rng.integers(0, 784, (2, 10_000)); Z = np.maximum(X[:, a], X[:, b])"
)
_GRADIENTS = "G = np.asfortranarray(0.1 - (y[:, None] == np.arange(10))); N = np.zeros(10_000, bool)"
_DIGITS = "from sklearn.datasets import load_digits; X, y = load_digits(return_X_y=True)"
_COMMAND = ["-m", "boostrun", "algo=rand", "dataset=digits", "r=20", "T=10", "trials=1", "results={kept}"]

# name -> (set-up, what is timed, calls); without calls, the words after `python` of a process that is timed
WORK: dict[str, tuple | list] = {
    "a tree of depth 6, MNIST, 60,000 x 784": (f"{_TREE}; {_GROW}", "t(s)", 8),
    "a tree of depth 6, MNIST in two bins": (f"{_TREE}; C = (C > 127).astype(np.uint8); {_GROW}", "t(s)", 8),
    "a tree of depth 6, 5,000,000 x 20": (
        f"C = rng.integers(0, 256, (20, 5_000_000), dtype=np.uint8); {_GROW}; "
        "s = rng.random(5_000_000) * np.where(C[0] + rng.normal(0, 64, 5_000_000) > 127, 1.0, -1.0)", "t(s)", 3),
    **{f"a choice of GEEM, r = {r:,}": (f"r = {r}; {_GEEM}", "g(b, r, rng)", calls)
       for r, calls in ((100, 30), (250, 20), (500, 6), (1000, 3), (2000, 1))},
    "prediction, 10 x 250 stumps, one row": (_STUMPS, "c.predict(row)", 3000),
    "prediction, 10 x 250 stumps, 20,000 rows": (_STUMPS, "c.predict(X)", 5),
    "ShareBoost's choice, 10,000 x 60,000 codes": (
        f"{_PAIRS}; {_GRADIENTS}; p = CodedPool(np.ascontiguousarray(Z.T))", "p.contending(G, N)", 4),
    "a command whose trial is there": [*_COMMAND, "store={kept}/runs"],
    "a fresh tiny command": [*_COMMAND, "store={empty}"],
    **{f"first fit, no kernel compiled: {name}": ["-c", f"{_DIGITS}; from boostrun import {code}.fit(X, y)"]
       for name, code in (
           ("GEEM, stumps", "ReservoirClassifier as C; C('geem', reservoir_size=50, n_estimators=5)"),
           ("WSam, trees", "ReservoirClassifier as C; C('wsam', weak_learner='tree', n_estimators=5)"),
           ("ShareBoost", "ShareBoostClassifier as C; X = X / 16.0; C(n_features=5)"),
           ("IBoost", "IBoostClassifier as C; C(n_window=100, budget=5)"))},
}  # fmt: skip
_TIMED = """
import importlib, importlib.util, json, time
import numpy as np
rng = np.random.default_rng(0)
def there(name, *modules):  # it has been moved
    modules = [f"boostrun.papers.shareboost.{{module}}" for module in modules]
    return next(getattr(importlib.import_module(m), name) for m in modules if importlib.util.find_spec(m))
{setup}
def work():
    return {timed}
work()
found = []
for _ in range({calls}):
    begun = time.thread_time()
    work()
    found.append(time.thread_time() - begun)
print("seconds", json.dumps(found))
"""


def seconds(checkout: Path, work: tuple | list, kept: str, empty: str) -> list[float]:
    """Processor seconds of each call with the code of ``checkout``; its processes may use the folders."""
    environment = {**os.environ, "PYTHONPATH": str(checkout), "OMP_NUM_THREADS": "1", "BOOSTRUN_DATA": DATA}
    if isinstance(work, tuple):
        code = _TIMED.format(setup=work[0], timed=work[1], calls=work[2])
        words = ["-c", code]
    else:
        words = [word.format(kept=kept, empty=empty) for word in work]
        if "-c" in work:
            environment["NUMBA_CACHE_DIR"] = empty
    before = os.times()
    done = subprocess.run(
        [sys.executable, *words], cwd=checkout, env=environment, check=True, capture_output=True, text=True
    )
    after = os.times()
    if isinstance(work, tuple):
        return json.loads(done.stdout.rpartition("seconds ")[2])
    return [after.children_user + after.children_system - before.children_user - before.children_system]


def commit_of(checkout: Path) -> str:
    """Its commit, shortened."""
    words = ["git", "-C", str(checkout), "rev-parse", "--short=8", "HEAD"]
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout.strip()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=Path, help="the checkout to compare with")
    parser.add_argument("--turns", type=int, default=2)
    parser.add_argument("--only", default="", help="work whose name has this word; its rows are replaced")
    given = parser.parse_args()
    if (ROOT / "boostrun" / "compiled").exists():
        parser.error("boostrun/compiled has the kernels of a wheel, which a first fit would use: remove it")
    path = ROOT / "results" / "bench" / "before_after.csv"
    fields = ("work", "code", "commit", "calls", "least_s", "median_s")
    rows = {}
    if path.exists():
        with open(path, newline="", encoding="utf-8") as file:
            rows = {(row["work"], row["code"]): row for row in csv.DictReader(file)}
    checkouts = {"before": given.before.resolve(), "after": ROOT}
    commits = {code: commit_of(checkout) for code, checkout in checkouts.items()}
    for name, work in WORK.items():
        if given.only not in name:
            continue
        found: dict[str, list[float]] = {code: [] for code in checkouts}
        with tempfile.TemporaryDirectory() as folder:
            empty = itertools.count()
            for turn, (code, checkout) in itertools.product(range(-1, given.turns), checkouts.items()):
                if turn >= 0 or isinstance(work, list):  # a process is run once before it counts
                    each = seconds(checkout, work, f"{folder}/{code}", f"{folder}/{next(empty)}")
                    found[code] += each if turn >= 0 else []
        for code, each in found.items():
            least, median = f"{min(each):.4g}", f"{statistics.median(each):.4g}"
            rows[name, code] = dict(zip(fields, (name, code, commits[code], len(each), least, median)))
        print(f"{name}: {min(found['before']):.4g} s before, {min(found['after']):.4g} s now", flush=True)
        with open(path, "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, fields, lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows[key] for key in itertools.product(WORK, ("before", "after")) if key in rows)


if __name__ == "__main__":
    main()
