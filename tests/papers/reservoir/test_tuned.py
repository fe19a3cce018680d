"""The tuned rows of tables 3 to 5 have the settings that held-out training data ask for, ten seeds of each."""

from pathlib import Path

import pandas
import pytest
import yaml

ROOT = Path(__file__).parents[3]
SEARCHED_IN = {
    "table3": {"calibration": ["max", "rand", "wsam", "geem"]},
    "table4": {
        "calibration": ["geem"],
        "calibration_online": ["oza", "chen", "ocp", "bisc", "leistner", "geem_oza", "geem_chen"],
    },
    "table5": {"calibration": ["geem"], "calibration_full": ["wss", "mada", "filterboost", "fix"]},
}
CASES = [
    (table, search, algo)
    for table, searches in SEARCHED_IN.items()
    for search, algos in searches.items()
    for algo in algos
]


def item(name):
    return yaml.safe_load((ROOT / f"conf/paper/reservoir/{name}.yaml").read_text(encoding="utf-8"))


def of_algo(name, algo):
    """(name, words) of every setting of an algorithm in an item."""
    return [
        (name, frozenset(words) - {"algo.ridge=1"})  # GEEM's by default
        for block in item(name)["blocks"] if algo in block["sweep"]["algo"]
        for name, words in block["settings"].items()
    ]  # fmt: skip


@pytest.mark.parametrize(("table", "search", "algo"), CASES)
def test_the_tuned_row_has_the_best_mean_of_the_search(table, search, algo):
    ((_, chosen),) = [each for each in of_algo(table, algo) if each[0] == "tuned"]
    found = pandas.read_csv(ROOT / f"results/reservoir/{search}/table.csv").dropna(subset=["mean"])
    found = found[found["algo"] == algo]
    assert (found["n"] == 10).all()
    cells = found.pivot_table(index="row", columns=["dataset", "r"] if "r" in found else ["dataset"], values="mean")
    everywhere = cells.drop(columns="cifar10", errors="ignore").dropna().mean(axis=1)
    words = dict(of_algo(search, algo))
    assert len(everywhere) > 2 and chosen == words[everywhere.idxmax()]
