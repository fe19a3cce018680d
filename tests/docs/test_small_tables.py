"""The small tables of published frontiers are written from scikit-learn's and from the files that are there."""

import runpy
from pathlib import Path

import pandas as pd

SCRIPT = Path(__file__).parents[2] / "scripts/small_tables.py"


def test_small_tables_have_a_column_target_and_no_number_of_the_row(tmp_path, capsys):
    (tmp_path / "uci").mkdir()
    (tmp_path / "uci/segment.dat").write_text("164.0 49.0 9 2\n37.0 104.0 9 3\n")
    (tmp_path / "streams").mkdir()
    (tmp_path / "streams/electricity_openml.csv").write_text(",date,class\n0,0.5,UP\n1,0.25,DOWN\n")
    runpy.run_path(str(SCRIPT))["main"](tmp_path)
    tables = {path.stem: pd.read_csv(path) for path in (tmp_path / "tables").glob("*.csv")}
    assert {name: table.shape for name, table in tables.items()} == {
        "breast_cancer": (569, 31), "wine": (178, 14), "segment": (2, 4), "electricity": (2, 2),
    }  # fmt: skip
    assert tables["segment"]["target"].tolist() == [2, 3] and tables["electricity"]["target"].tolist() == ["UP", "DOWN"]
    assert "wine.csv: 178 rows, 13 features, 3 classes" in capsys.readouterr().out
