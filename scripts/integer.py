"""Measure the loss of integer predictors: test accuracy and changed labels at 8 and 16 bits, and bytes of flash.

``python scripts/integer.py`` trains five models on each table (seed 0), calibrates them on their training rows, and
prints the table of docs/howto/chips.md. Bytes are measured with avr-gcc -Os if it is installed, and counted by
``size_of``, which may not be less. ``python scripts/integer.py programs`` prints the page's table of whole programs.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from boostrun import AdaBoostMHClassifier, FullDataClassifier, ShareBoostClassifier
from boostrun.config import defaults
from boostrun.data import load
from boostrun.export import read
from boostrun.export.c import c_source
from boostrun.export.chip import size_of, source
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


def programs() -> None:
    """Print bytes of whole programs for digits with one prediction: real numbers and whole ones, on an ATmega328P."""
    data = load({"name": "digits", **defaults("dataset", "digits")}, Path("datasets"))
    X = np.asarray(data.x_train.reshape(len(data.x_train), -1), np.float64)
    print("| Model | Flash before | RAM before | Flash, `--integer` | RAM | Stack |")
    print("|---|---|---|---|---|---|")
    for name in list(MODELS)[:3]:
        with tempfile.TemporaryDirectory() as folder:
            saved = read(MODELS[name]().fit(X, data.y_train).save(Path(folder) / "m.npz"))
            model = quantised(saved, X)
            (proof,) = prove(model, proof_codes(model, X[:50]), "avr")
            sizes = [linked(c_source(saved), f"double x[{X.shape[1]}]", Path(folder))]
            sizes.append(linked(source(model, "avr"), f"boostrun_x x[{X.shape[1]}]", Path(folder)))
        cells = [f"{size:,}" for pair in sizes for size in pair]
        print("|", " | ".join([name, *cells, f"{proof.stack}"]), "|", flush=True)


def linked(text: str, sample: str, folder: Path) -> tuple[int, int]:
    """(bytes of flash, bytes of static RAM) of a program with one prediction; more than the chip has is linked too."""
    main = f"{text}\n{sample};\nvolatile int out;\nint main(void) {{ out = predict(x); return 0; }}\n"
    (folder / "program.c").write_text(main, encoding="ascii")
    room = ["-Wl,--defsym=__TEXT_REGION_LENGTH__=1M,--defsym=__DATA_REGION_LENGTH__=64K"]
    compiler = ["avr-gcc", "-mmcu=atmega328p", "-Os", "-std=c99", *room, "-o", str(folder / "program.elf")]
    subprocess.run([*compiler, str(folder / "program.c"), "-lm"], check=True)
    said = subprocess.run(["avr-size", str(folder / "program.elf")], check=True, capture_output=True, text=True).stdout
    code, data, bss = map(int, said.splitlines()[1].split()[:3])
    return code + data, data + bss


if __name__ == "__main__":
    if sys.argv[1:] == ["programs"]:
        programs()
    else:
        main(sys.argv[1:] or TABLES)
