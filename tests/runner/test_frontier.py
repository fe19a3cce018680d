"""A frontier takes what a search found best, of what fits all training data."""

from types import SimpleNamespace

import pytest

from boostrun.errors import BoostrunError
from boostrun.runner import frontier


def test_values_that_do_not_fit_all_training_data_give_way_to_the_next_best(monkeypatch):
    def fit(cell, table):
        if cell["Q"] > table:
            raise BoostrunError("too many")

    monkeypatch.setattr(frontier, "with_values", lambda settings, values: settings | values)
    monkeypatch.setattr(frontier, "cell_of", lambda settings: settings)
    monkeypatch.setattr(frontier, "fit", fit)
    errors = {8: 5.0, 256: 1.0, 32: 2.0, 16: 2.0, 64: None}
    rows = [{"values": {"Q": q}, "test_error_pct": error} for q, error in errors.items()]
    assert frontier._best(rows, {"T": 3}, 100) == (rows[2], {"T": 3, "Q": 32})  # the first of equals
    assert frontier._best(rows, {"T": 3}, 1000)[1] == {"T": 3, "Q": 256}
    assert frontier._best(rows, {"T": 3}, 1) is None


@pytest.mark.parametrize("held_out", [None, 80])
def test_facts_tell_the_training_samples_before_some_were_held_out(held_out):
    from boostrun.runner.frontier import facts_of

    class Part:
        classes, families = (0, 1), ()

        def __init__(self, n):
            self.shape = (n, 5)

        def inputs(self, part):
            return self

        def labels(self, part):
            return range(self.shape[0])

    facts = facts_of(Part(held_out or 100), Part(100) if held_out else None)
    assert (facts["n_samples"], facts["n_training"], facts["n_families"]) == (held_out or 100, 100, 1)


@pytest.mark.parametrize(("dataset", "words", "called"), [
    ({"name": "mnist"}, [], "mnist"),
    ({"name": "mnist"}, ["features=families19", "features.bins=64"], "mnist (families19)"),
    ({"name": "csv", "path": "here/own.csv"}, ["features.bins=64"], "own"),
])  # fmt: skip
def test_a_frontier_is_called_by_its_data_and_by_features_that_are_asked_for(dataset, words, called):
    settings = SimpleNamespace(dataset=dataset, features={"name": "families19" if "(" in called else "raw"})
    assert frontier._title(settings, words) == called
