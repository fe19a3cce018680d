"""Write six small tables as csv, the label in a column `target`: `python scripts/small_tables.py DATA_ROOT`.

Breast cancer and wine ship with scikit-learn (UCI; Wolberg et al. 1995, Aeberhard & Forina 1991); segment and spam are
UCI's files; electricity and weather are the streams (Harries 1999; Elwell & Polikar 2011) without their order: the
number of the row is left out.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pandas as pd
from sklearn.datasets import load_breast_cancer, load_wine


def main(root: Path) -> None:
    """Write each table whose source file exists."""
    tables = {
        name: load(as_frame=True).frame for name, load in (("breast_cancer", load_breast_cancer), ("wine", load_wine))
    }
    for name, path in (("segment", root / "uci/segment.dat"), ("spam", root / "uci/spam.data")):
        if path.exists():
            table = pd.read_csv(path, sep=r"\s+", header=None).add_prefix("x")
            tables[name] = table.rename(columns={table.columns[-1]: "target"})
    path = root / "streams/electricity_openml.csv"
    if path.exists():
        tables["electricity"] = pd.read_csv(path, index_col=0).rename(columns={"class": "target"})
    path = root / "streams/NEweather_data.csv"
    if path.exists():
        labels = pd.read_csv(path.with_name("NEweather_class.csv"), header=None)[0]
        tables["weather"] = pd.read_csv(path, header=None).add_prefix("x").assign(target=labels)
    folder = root / "tables"
    folder.mkdir(parents=True, exist_ok=True)
    for name, table in tables.items():
        table.to_csv(folder / f"{name}.csv", index=False)
        n, d, k = len(table), table.shape[1] - 1, table["target"].nunique()
        print(f"{folder / name}.csv: {n} rows, {d} features, {k} classes")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
