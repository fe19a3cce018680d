"""Compare forests as our C of whole numbers with the same forests as emlearn's C: bytes of flash, and test accuracy.

    pip install emlearn
    python scripts/emlearn_forests.py [TABLE ...]

A forest of scikit-learn is trained on columns scaled to whole numbers of 15 bits, which emlearn takes. Then both
convert the same forest. Bytes of ours are those of a chip, code included. emlearn's are the sections ``text`` and
``data`` of its inline code, compiled with ``cc -Os`` on this machine, and the arrays of its loadable form without the
code that walks them. It votes by classes (``leaf_bits=0``), or adds up shares of 8 bits. Prints a line for each forest.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from boostrun.config import defaults
from boostrun.data import load
from boostrun.export.chip import laid_out, sizes
from boostrun.export.integer import quantised
from boostrun.export.parts import Saved
from boostrun.rivals.forests import RivalForestClassifier
from boostrun.rivals.kept import kept

TABLES = ("digits", "pendigits", "statlog", "segment", "spam")  # the last two from datasets/tables/NAME.csv
FORESTS = ((5, 8), (10, 16), (30, 32))  # trees, and leaves of each
_MOST = 2**15 - 1
_NODE, _ROOT = 8, 4  # bytes of emlearn's structs


def data_of(table: str) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Rows (n, d) of whole numbers of 15 bits and class numbers (n,), for training and for testing."""
    path = Path("datasets/tables", f"{table}.csv")
    own = {"path": str(path.resolve()), "label": "target", "test_fraction": 0.3} if path.exists() else {}
    name = "csv" if own else table
    data = load({"name": name, **defaults("dataset", name), **own}, Path("datasets"))
    parts = [np.asarray(x.reshape(len(x), -1), np.float64) for x in (data.x_train, data.x_test)]
    low, high = parts[0].min(axis=0), parts[0].max(axis=0)
    scale = _MOST / np.where(high > low, high - low, 1.0)  # whole numbers too: emlearn cuts thresholds to whole numbers
    scaled = [np.clip(np.floor((x - low) * scale), 0, _MOST) for x in parts]
    return scaled[0], np.asarray(data.y_train), scaled[1], np.asarray(data.y_test)


def compiled(code: str) -> int:
    """Bytes of the sections text and data of C, by ``cc -Os``."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "forest.c"
        path.write_text(code, encoding="utf-8")
        subprocess.run(["cc", "-Os", "-c", str(path), "-o", f"{path}.o"], check=True)
        lines = subprocess.run(["size", f"{path}.o"], check=True, capture_output=True, text=True).stdout.splitlines()
        return sum(map(int, lines[1].split()[:2]))


def by_emlearn(forest: Any, bits: int, X: np.ndarray) -> tuple[np.ndarray, int, int]:
    """Labels (n,) that emlearn's C gives rows ``X``, bytes of the code compiled, and of its loadable arrays."""
    import emlearn

    one = emlearn.convert(forest, method="inline", dtype="int16_t", leaf_bits=bits)
    nodes, roots, leaves = one.forest_
    arrays = _NODE * len(nodes) + _ROOT * len(roots) + np.asarray(leaves, np.uint8).size
    here = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:  # it compiles in the working directory
        os.chdir(folder)
        try:
            labels = one.predict(X)
        finally:
            os.chdir(here)
    return labels, compiled(one.save(name="forest", include_proba=False)), arrays


def main(tables: Sequence[str]) -> None:
    """Print a line for each table and forest."""
    heads = ["Table", "Trees x leaves", "Test accuracy %", "Ours", "bytes"]
    for how in ("votes", "shares"):
        heads += [f"emlearn, {how}", "inline", "arrays"]
    print("|", " | ".join(heads), "|\n" + "|---" * len(heads) + "|")
    for table in tables:
        X, y, X_test, y_test = data_of(table)
        for trees, leaves in FORESTS:
            clf = RivalForestClassifier(n_estimators=trees, leaves=leaves, random_state=0).fit(X, y)
            model = kept(clf)._model
            saved = Saved(model, [str(each) for each in clf.classes_], X.shape[1], {}, "boostrun.BranchingTrees/1")
            chip = quantised(saved, X)
            said = clf.classes_[chip.predict(chip.codes(X_test))]
            shares = [clf.predict(X_test), said]
            cells = [f"{100 * np.mean(each == y_test):.2f}" for each in shares]
            cells.append(f"{sizes(chip, laid_out(chip)).flash:,}")
            for bits in (0, 8):
                numbers, inline, arrays = by_emlearn(clf.forest_, bits, X_test)
                found = clf.classes_[np.asarray(numbers, np.int64)]
                cells += [f"{100 * np.mean(found == y_test):.2f}", f"{inline:,}", f"{arrays:,}"]
            print("|", " | ".join([table, f"{trees} x {leaves}", *cells]), "|", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:] or TABLES)
