"""Measure the loss of integer predictors: test accuracy and changed labels at 8 and 16 bits, and bytes of flash.

``python scripts/integer.py`` trains five models on each table (seed 0), calibrates them on their training rows, and
prints the table of docs/howto/chips.md. Bytes are measured with avr-gcc -Os if it is installed, and counted by
``size_of``, which may not be less.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from boostrun import AdaBoostMHClassifier, FullDataClassifier, ShareBoostClassifier
from boostrun.config import defaults
from boostrun.data import load
from boostrun.export import read
from boostrun.export.chip import size_of
from boostrun.export.integer import quantised
from boostrun.export.proof import lacking, proof_codes, prove
from boostrun.rivals.boosted_trees import LightGBMClassifier
from boostrun.rivals.kept import kept

TABLES = ("digits", "pendigits", "statlog", "segment", "spam")  # the last two from datasets/tables/NAME.csv
MODELS = {
    "few_features T=30": lambda: AdaBoostMHClassifier("few_features", n_estimators=30, random_state=0),
    "logitboost T=100": lambda: FullDataClassifier("all", n_estimators=100, random_state=0),
    "trees of depth 3, T=30": lambda: FullDataClassifier(
        "all", weak_learner="tree", depth=3, n_estimators=30, random_state=0
    ),
    "shareboost T=12": lambda: ShareBoostClassifier(12, reg=1e-3),
    "LightGBM, 30 rounds of 8 leaves": lambda: LightGBMClassifier(n_estimators=30, leaves=8, random_state=0),
}
BITS = ((8, 8), (8, 16), (16, 8), (16, 16))


def main(tables: Sequence[str]) -> None:
    """Print a line for each table and model."""
    print("| Table | Model | Test accuracy % | 8/8 | 8/16 | 16/8 | 16/16 | chosen (lost) | Flash | Counted |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for table in tables:
        path = Path("datasets/tables", f"{table}.csv")
        own = {"path": str(path.resolve()), "label": "target", "test_fraction": 0.3} if path.exists() else {}
        name = "csv" if own else table
        data = load({"name": name, **defaults("dataset", name), **own}, Path("datasets"))
        X, X_test = (np.asarray(x.reshape(len(x), -1), np.float64) for x in (data.x_train, data.x_test))
        for name, make in MODELS.items():
            clf = make().fit(X, data.y_train)
            clf = kept(clf) if "LightGBM" in name else clf
            with tempfile.TemporaryDirectory() as folder:
                saved = read(clf.save(Path(folder) / "m.npz"))
            labels, tests = (np.searchsorted(clf.classes_, clf.predict(x)) for x in (X, X_test))
            true = np.searchsorted(clf.classes_, data.y_test)
            cells = [f"{100 * (tests == true).mean():.2f}"]
            for bits in BITS:
                said = (one := quantised(saved, X, labels, bits=bits)).predict(one.codes(X_test))
                cells.append(f"{100 * (said == true).mean():.2f} ({(said != tests).sum()})")
            best = quantised(saved, X, labels)
            cells.append(f"{best.codes.bits}/{best.leaf_bits} ({best.lost} of {best.rows_seen})")
            measured, counted = "—", size_of(saved, X, (best.codes.bits, best.leaf_bits)).flash
            if not lacking("avr"):
                (proof,) = prove(best, proof_codes(best, X_test), "avr")
                assert not proof.different and proof.flash <= counted
                measured = f"{proof.flash}"
            print("|", " | ".join([table, name, *cells, measured, f"{counted}"]), "|", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:] or TABLES)
