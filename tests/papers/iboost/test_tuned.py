"""The settings of iboost/tuned are those that streams of other seeds ask for, and nothing else chose them."""

import pytest

from tests.papers.items import item, searched

CHOSEN = [
    (block["sweep"]["algo"][0], block["sweep"]["dataset"][0], block["settings"]["tuned"])
    for block in item("iboost", "tuned")["blocks"]
]


@pytest.mark.parametrize(("algo", "data", "words"), CHOSEN)
def test_every_method_has_the_first_of_the_best_of_its_six_settings(algo, data, words):
    (settings,) = [block["settings"] for block in item("iboost", "tuning")["blocks"] if algo in block["sweep"]["algo"]]
    table = searched("iboost", "tuning")
    means = table[(table["algo"] == algo) & (table["dataset"] == data)].set_index("row")["mean"]
    assert len(means) == len(settings) == 6
    assert words == settings[next(name for name in settings if means[name] == means.max())]


def test_the_search_looked_at_other_streams():
    asked = item("iboost", "tuning")["overrides"]
    assert "seed=1000" in asked and "trials=10" in asked
    assert not any(word.startswith("seed=") for word in item("iboost", "tuned")["overrides"])
