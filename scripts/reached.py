"""Test source digests: compare the code that runs call and read with the code that their digests count.

    python scripts/reached.py
    python scripts/reached.py --constants 200 --seed 0 --methods geem,ucb

Each method is run once on a small data set, by the function that runs trials. The script records each function of
boostrun that is called, and each name of a module that these functions read; then the names that are read by the
statements that bind them, and so on. For a compiled kernel it records all names in its code. ``traced.py`` resolves
names itself and does not use the code that computes digests. Definitions that the run uses and its digests do not
count are printed as overlooked, except for those in ``traced.ON_PURPOSE``.

Then some of the constants that runs read are edited in the source that the digest sees, one at a time. Exactly the
digests that count the constant must change. The exit code is 1 if a definition is overlooked or a digest is wrong.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import multiprocessing
import random
import sys

from traced import run, tree

from boostrun import digest, source

LITTLE = {
    "codes": "dataset=digits train_samples=200",
    "values": "dataset=digits train_samples=200 features=linear",
    "stream": "dataset=sea dataset.n_samples=120 dataset.holdout_per_concept=10 dataset.eval_every=40",
    "chunks": "dataset=stream dataset.path=x.npy dataset.label=y.npy dataset.test_path=x.npy dataset.test_label=y.npy",
}
BUDGET = {"r": 20, "q": 10, "T": 2, "Q": 8, "S": 8, "M": 3, "n": 30, "p": 10, "b": 2}
CLASSES = {"estimator": "sklearn.naive_bayes:GaussianNB", "stream_estimator": "river.naive_bayes:GaussianNB"}
MORE = (
    "algo=geem dataset=digits T=2 r=20 q=10 algo.weak_learner=tree train_samples=60",
    "algo=shareboost dataset=digits features=anchors features.anchors=10 features.radii=3 features.pca=5 T=2",
    "algo=shareboost dataset=digits features=products T=2 train_samples=60",
    "algo=majority dataset=digits features=families19 features.bins=4 train_samples=60",
)


def overlooked(found: dict) -> list[str]:
    """The definitions that a run calls or reads and its digests do not count."""
    return sorted(f"{kind} {place}" for kind in ("calls", "reads") for place in found[kind]
                  if not _is_counted(place, found["counted"]))  # fmt: skip


def _is_counted(place: str, counted: set[str]) -> bool:
    module, _, name = place.partition(":")
    return bool({f"{module}.{name.partition('.')[0]}", f"{module}.*"} & counted)


def constants(runs: list[dict]) -> list[str]:
    """``module:name`` of each constant that some run reads and that one plain assignment of a module binds."""
    return [place for place in sorted(set().union(*(each["reads"] for each in runs))) if _constant(place) is not None]


def _constant(place: str) -> ast.expr | None:
    module, _, name = place.partition(":")
    importlib.import_module(module)
    found = [each for each in tree(module) if name in source.names_bound([each])]
    value = found[0].value if len(found) == 1 and isinstance(found[0], (ast.Assign, ast.AnnAssign)) else None
    return None if isinstance(value, ast.Name) else value


def digests(asked: tuple[list[tuple[str, ...]], str]) -> list[str]:
    """The digests of some roots after one constant is edited in the source that they see; "" edits nothing."""
    roots, place = asked
    edited, _, constant = place.partition(":")

    def parsed(path, name):
        found = whole(path, name)
        if name == edited:
            found = ast.parse(path.read_text("utf-8"))
            (one,) = (each for each in source.inner(found.body) if constant in source.names_bound([each]))
            one.value = ast.Tuple([one.value, ast.Constant("edited")], ast.Load())
        return found

    whole, source.parsed = source.parsed, parsed
    for cached in (digest._digest, digest._reach, digest.code_below):
        cached.cache_clear()
    try:
        return [digest.source_digest(each) for each in roots]
    finally:
        source.parsed = whole


# -- the command -------------------------------------------------------------------------------------------------------


def lines(names: list[str]) -> list[str]:
    """The command lines: each method on the first kind of data that it takes, and some with other settings."""
    from boostrun.config import catalogue

    found = []
    for name, method in catalogue.methods().items():
        kind = next(kind for kind in LITTLE if kind in method.inputs)
        budget = [f"{key}={BUDGET[key]}" for key in method.budget]
        words = [f"algo={name}", LITTLE[kind], *budget, *([f"algo.class={CLASSES[name]}"] if name in CLASSES else [])]
        found.append(" ".join(words))
        if "chunks" in method.inputs:
            found.append(" ".join([f"algo={name}", LITTLE["chunks"], *budget]))
    return [line for line in (*found, *MORE) if not names or line.partition(" ")[0].removeprefix("algo=") in names]


def main() -> int:
    """Print the overlooked definitions and a table of counts; returns the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--constants", type=int, default=200, help="number of constants to edit (default: 200)")
    parser.add_argument("--seed", type=int, default=0, help="seed by which they are drawn (default: 0)")
    parser.add_argument("--methods", default="", help="names separated by commas (default: all)")
    given = parser.parse_args()
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["numpy", "numba", "scipy.optimize", "sklearn.ensemble", "hydra"])
    with context.Pool(2, maxtasksperchild=1) as pool:
        commands = pool.apply(lines, ([*filter(None, given.methods.split(","))],))
        runs, failed = [], []
        for found in pool.imap(run, commands):
            (failed if "failed" in found else runs).append(found)
    for found in failed:
        print(f"failed: {found['line']}\n    {found['failed'].splitlines()[-1]}")
    missed: dict[str, str] = {}
    for found in runs:
        for each in overlooked(found):
            missed.setdefault(each, found["line"].partition(" ")[0])
    for each, line in missed.items():
        print(f"overlooked: {each} ({line})")
    known = constants(runs)
    chosen = random.Random(given.seed).sample(known, min(given.constants, len(known)))
    roots = [each["roots"] for each in runs]
    with context.Pool(2) as pool:
        before, *after = pool.imap(digests, [(roots, ""), *((roots, place) for place in chosen)])
    pairs, read, wrong = 0, 0, 0
    for place, now in zip(chosen, after):
        for found, old, new in zip(runs, before, now):
            counts = _is_counted(place, found["counted"])
            if counts != (old != new):
                wrong += 1
                print(f"{place}: counted {counts}, digest changed {old != new} ({found['line']})")
            pairs += counts
            read += counts and place in found["reads"]
    called, asked = ({place for each in runs for place in each[kind]} for kind in ("calls", "reads"))
    rows = {
        "runs, methods": f"{len(runs)}, {len({each['line'].split()[0] for each in runs})}",
        "failed": len(failed),
        "functions called": len(called),
        "names read": len(asked),
        "overlooked": len(missed),
        "constants read, edited": f"{len(known)}, {len(chosen)}",
        "pairs of a constant and a digest with it": pairs,
        "of these, read in the run": read,
        "of these, not read in the run": pairs - read,
        "wrong digests": wrong,
    }
    for name, value in rows.items():
        print(f"{name:<45}{value:>12}")
    return 1 if missed or wrong else 0


if __name__ == "__main__":
    sys.exit(main())
