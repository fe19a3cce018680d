"""The settings of iboost/tuned are those that streams of other seeds ask for, and nothing else chose them."""

from pathlib import Path

import pandas
import pytest
import yaml

ROOT = Path(__file__).parents[3]


def item(name):
    return yaml.safe_load((ROOT / f"conf/paper/iboost/{name}.yaml").read_text(encoding="utf-8"))


CHOSEN = [
    (block["sweep"]["algo"][0], block["sweep"]["dataset"][0], block["settings"]["tuned"])
    for block in item("tuned")["blocks"]
]


@pytest.mark.parametrize(("algo", "data", "words"), CHOSEN)
def test_every_method_has_the_first_of_the_best_of_its_six_settings(algo, data, words):
    (settings,) = [block["settings"] for block in item("tuning")["blocks"] if algo in block["sweep"]["algo"]]
    table = pandas.read_csv(ROOT / "results/iboost/tuning/table.csv").dropna(subset=["mean"])
    tried = table[(table["algo"] == algo) & (table["dataset"] == data)]
    assert len(tried) == len(settings) == 6 and (tried["n"] == 10).all()
    means = tried.set_index("row")["mean"]
    assert words == settings[next(name for name in settings if means[name] == means.max())]


def test_the_search_looked_at_other_streams():
    assert "seed=1000" in item("tuning")["overrides"] and "trials=10" in item("tuning")["overrides"]
    assert not any(word.startswith("seed=") for word in item("tuned")["overrides"])
