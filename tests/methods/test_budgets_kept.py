"""Declarations of budgets: the words are keys of the method, and with them it keeps the budget."""

import numpy as np
import pytest

from boostrun.config import catalogue
from boostrun.data.source import ArraySource
from boostrun.errors import BoostrunError
from boostrun.methods.declaration import obtain
from boostrun.methods.stumps import FIELDS

FACTS = {"n_samples": 600, "n_features": 8, "n_classes": 3}
ALL = [(name, kind) for name, method in catalogue.methods().items() for kind in method.keeps]
HOLDING = ["wsam", "geem", "rand", "fix", "filterboost", "oza", "logitboost"]


def told(name, kind, budget):
    return obtain(catalogue.methods()[name].keeps[kind])(budget, FACTS)


@pytest.mark.parametrize(("name", "kind"), ALL)
def test_what_keeps_a_budget_are_keys_of_the_method(name, kind):
    method = catalogue.methods()[name]
    known = {*method.budget, *(f"algo.{key}" for key in method.fields)}
    assert told(name, kind, 1_000_000).keys() <= known


@pytest.mark.parametrize(("name", "kind"), ALL)
def test_a_budget_of_nothing_is_refused(name, kind):
    with pytest.raises(BoostrunError):
        told(name, kind, 0.5)


@pytest.mark.parametrize("budget", [301, 600])
@pytest.mark.parametrize("name", HOLDING)
def test_no_more_samples_are_held_than_the_budget(name, budget):
    method = catalogue.methods()[name]
    if name == "logitboost" and budget < FACTS["n_samples"]:
        with pytest.raises(BoostrunError, match="holds all"):
            told(name, "samples_held", budget)
        return
    words = told(name, "samples_held", budget)
    sizes = {key: value for key, value in words.items() if "." not in key}
    values = {key.partition(".")[2]: value for key, value in words.items() if "." in key}
    codes = np.random.default_rng(0).integers(0, 256, (FACTS["n_samples"], FACTS["n_features"]), dtype=np.uint8)
    if "r" in sizes:
        sizes = {"q": sizes["r"], **sizes} if "q" in method.budget else sizes
    defaults = {key: field.default for key, field in method.fields.items()}
    model = method.make({**defaults, **values}, {"T": 2, **sizes}, {"random_state": 0})
    model.fit_source(ArraySource(codes, np.arange(len(codes)) % 3, np.random.SeedSequence(0), columns=codes.T.copy()))
    assert 0 < model.peak_samples_held_ <= budget


@pytest.mark.parametrize("name", [name for name, kind in ALL if kind == "model_bytes" and name in HOLDING])
def test_the_arrays_of_a_saved_model_are_no_larger_than_its_budget_and_one_more_round_would_be(name):
    method = catalogue.methods()[name]
    words = told(name, "model_bytes", 500)
    model = method.make({"weak_learner": words["algo.weak_learner"]}, {"T": words["T"]}, {"random_state": 0})
    codes = np.random.default_rng(0).integers(0, 256, (FACTS["n_samples"], FACTS["n_features"]), dtype=np.uint8)
    ensemble = model.fit(codes, np.arange(len(codes)) % 3).ensemble_
    size = sum(getattr(ensemble, field).nbytes for field in FIELDS)
    assert size <= 500 < size * (words["T"] + 1) / words["T"]
