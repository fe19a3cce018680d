"""The paper's declaration: one default for command and library, estimators of all methods, nothing heavy imported."""

import inspect

import numpy as np
import pytest

from boostrun.errors import BoostrunError
from boostrun.evaluation import Evaluation
from boostrun.methods.declaration import obtain
from boostrun.papers.shareboost import PAPER
from boostrun.papers.shareboost.keys import KernelSVMKeys

METHODS = PAPER.methods
CELLS = {  # keys of published cells, in this order
    "shareboost": {
        "rule": "gradient", "shortlist": 50, "reg": 0.0, "reg_kind": "frobenius", "beta": 100.0, "margin": 1.0,
        "solver": "lbfgs", "inner_rtol": 1e-3, "inner_maxiter": 300, "stop_loss": 1e-6, "bias": "auto",
        "n_classes": None, "scoring": "full",
    },
    "ovr_greedy": {"reg": 0.0, "solver": "lbfgs", "inner_rtol": 1e-3, "inner_maxiter": 300, "stop_loss": 1e-6},
    "mixed_norm": {
        "n_lambdas": 60, "lambda_min_ratio": 1e-3, "gap": 1e-3, "debias": False, "margin": 1.0, "n_classes": None,
    },
    "jointboost": {"search": "best_first", "beam": 1},
    "knn": {"k": 3, "tie": "nearest"},
    "kernel_svm": {"C": None, "gamma": None, "validation": 0.2, "search_samples": None},
}  # fmt: skip
BUDGETS = {"shareboost": {"T": 100}, "ovr_greedy": {"T": 40}, "mixed_norm": {"T": 200}, "jointboost": {"T": 150}}


@pytest.mark.parametrize("name", METHODS)
def test_the_keys_of_a_cell_and_their_defaults_are_those_of_published_records(name):
    method = METHODS[name]
    found = {key: field.default for key, field in method.fields.items()}
    assert list(found.items()) == list(CELLS[name].items())
    assert [type(value) for value in found.values()] == [type(value) for value in CELLS[name].values()]
    assert method.budget_defaults == BUDGETS.get(name, {}) and not method.random


@pytest.mark.parametrize("name", METHODS)
def test_the_constructors_defaults_are_the_declared_ones(name):
    method = METHODS[name]
    cls = obtain(method.target)
    of_command = method.make({}, method.budget_defaults, {}).get_params()
    assert of_command == cls().get_params()
    declared = {parameter.name: parameter.default for parameter in inspect.signature(method.keys).parameters.values()}
    assert cls().get_params() == declared


@pytest.mark.parametrize("name", METHODS)
def test_an_estimator_gets_what_the_runner_has_for_it_and_a_small_one_is_small(name):
    method = METHODS[name]
    given = {"random_state": 3, "n_jobs": 2, "checkpoint": "folder"}
    made = method.make({}, method.budget_defaults, given).get_params()
    assert {key for key in given if made.get(key) is not None} == method.given
    assert method.given == {key for key in given if key in made}
    small = method.make_small(CELLS[name], method.budget_defaults).get_params()
    assert all(small[parameter] == 1 for parameter in method.budget.values())
    assert small.get("inner_maxiter", 1) == small.get("n_lambdas", 1) == 1


@pytest.mark.parametrize("name", METHODS)
def test_every_parameter_stands_in_the_docstring_with_its_meaning(name):
    method = METHODS[name]
    text = obtain(method.target).__doc__
    assert "{parameters}" not in text
    for parameter in inspect.signature(method.keys).parameters:
        assert f"\n    {parameter} : " in text
    assert all(field.metadata["kind"].help in text for field in method.fields.values())


def test_all_that_is_named_is_there():
    for method in METHODS.values():
        assert Evaluation in obtain(method.evaluation).__mro__
    for where in (*PAPER.drawings.values(), *PAPER.pictures.values()):
        assert callable(obtain(where))
    for name, module in PAPER.public.items():
        assert obtain(f"{module}:{name}").__name__ == name
    assert PAPER.reference.is_file()


def test_what_is_tuned_is_the_weight_by_the_error_on_held_out_data():
    assert [name for name, method in METHODS.items() if method.tuning] == ["shareboost", "ovr_greedy"]
    tuning = METHODS["shareboost"].tuning
    assert (tuning.key, tuning.by, tuning.holdout, len(tuning.values)) == ("reg", "test_error_pct", 0.2, 8)
    with pytest.raises(BoostrunError, match="reg='tuned'"):
        obtain(METHODS["shareboost"].target)(reg="tuned").fit(np.eye(4), [0, 1, 0, 1])


@pytest.mark.parametrize("name", METHODS)
def test_whole_numbers_may_be_written_as_floats(name):
    method, rng = METHODS[name], np.random.default_rng(0)
    X, y = rng.normal(size=(60, 4)), np.arange(60) % 3
    whole = {"inner_maxiter": 20, "n_lambdas": 3, "beam": 2, "k": 2, "search_samples": 30, "n_classes": 4}
    keys = {key: value for key, value in whole.items() if key in method.fields}
    budget = dict.fromkeys(method.budget, 3)

    def fitted(kind):
        as_kind = [{key: kind(value) for key, value in each.items()} for each in (keys, budget)]
        return method.make(*as_kind, {"random_state": 0}).fit(X, y)

    one, other = fitted(int), fitted(float)
    np.testing.assert_array_equal(one.predict(X), other.predict(X))


@pytest.mark.parametrize("value", [0.0, [], [1.0, -1.0], "scale", [1.0, None]])
def test_a_kernels_parameter_is_a_number_or_a_list_of_them(value):
    kind = KernelSVMKeys.__dataclass_fields__["C"].metadata["kind"]
    assert kind.read(value) is None and kind.read((1, 10.0)) == [1, 10.0] and kind.read(2) == 2.0
