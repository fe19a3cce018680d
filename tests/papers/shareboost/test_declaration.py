"""The declaration of the paper: keys of published cells, estimators, tuning, scores on digits, refused parameters."""

import inspect

import numpy as np
import pytest
from sklearn.base import clone

from boostrun.config.fields import MISSING, kind_of
from boostrun.errors import BoostrunError
from boostrun.methods.declaration import obtain
from boostrun.papers.shareboost import PAPER
from boostrun.papers.shareboost.classifier import ShareBoostClassifier
from boostrun.papers.shareboost.jointboost import JointBoostClassifier
from boostrun.papers.shareboost.keys import KernelSVMKeys
from boostrun.papers.shareboost.mixed_norm import MixedNormClassifier
from boostrun.papers.shareboost.neighbours import KernelSVMClassifier, KNNClassifier
from boostrun.papers.shareboost.ovr_greedy import OneVsRestGreedyClassifier
from boostrun.papers.shareboost.pools import ColumnStumps, Groups
from tests.marks import slow_but

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
    found = {key: field.default for key, field in method.fields.items() if kind_of(field).absent == MISSING}
    assert list(found.items()) == list(CELLS[name].items())
    assert [type(value) for value in found.values()] == [type(value) for value in CELLS[name].values()]
    assert method.budget_defaults == BUDGETS.get(name, {}) and not method.random


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
    own = [field for key, field in method.fields.items() if key != "flash_bytes"]  # a key of runs
    assert all(field.metadata["kind"].help in text for field in own)


def test_what_is_tuned_is_the_weight_by_the_error_on_held_out_data():
    assert [name for name, method in METHODS.items() if method.tuning] == ["shareboost", "ovr_greedy"]
    tuning = METHODS["shareboost"].tuning
    assert (tuning.key, tuning.by, tuning.holdout, len(tuning.values)) == ("reg", "test_error_pct", 0.2, 8)
    with pytest.raises(BoostrunError, match="reg='tuned'"):
        ShareBoostClassifier(reg="tuned").fit(np.eye(4), [0, 1, 0, 1])


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

    np.testing.assert_array_equal(fitted(int).predict(X), fitted(float).predict(X))


@pytest.mark.parametrize("value", [0.0, [], [1.0, -1.0], "scale", [1.0, None]])
def test_a_kernels_parameter_is_a_number_or_a_list_of_them(value):
    kind = KernelSVMKeys.__dataclass_fields__["C"].metadata["kind"]
    assert kind.read(value) is None and kind.read((1, 10.0)) == [1, 10.0] and kind.read(2) == 2.0


BAD = {
    ShareBoostClassifier: [
        ({"rule": "gradiant"}, "did you mean 'gradient'"), ({"features": "stump"}, "did you mean 'stumps'"),
        ({"features": ColumnStumps}, "an object of boostrun.papers.shareboost.pools"),
        ({"n_features": 0}, "n_features=0"), ({"reg": -1.0}, "reg=-1.0"), ({"beta": 0.0}, "beta=0.0"),
        ({"n_classes": 3}, "y holds 10 classes"), ({"scoring": "lazy", "rule": "full"}, "works with rule='gradient'"),
        ({"features": "codes"}, "uint8"), ({"features": "piecewise", "bias": "free"}, "bias='free'"),
    ],
    OneVsRestGreedyClassifier: [
        ({"n_features": 0}, "n_features=0"), ({"reg": -1.0}, "reg="), ({"solver": "newton"}, "solver='newton'"),
        ({"features": "stump"}, "did you mean 'stumps'"), ({"features": Groups([[0, 1], [2, 3]])}, "groups of columns"),
    ],
    MixedNormClassifier: [
        ({"n_lambdas": 0}, "n_lambdas=0"), ({"lambda_min_ratio": 0.0}, "lambda_min_ratio=0.0"), ({"gap": 0.0}, "gap="),
        ({"margin": -1.0}, "margin=-1.0"), ({"max_columns": 0}, "max_columns=0"), ({"n_classes": 3}, "y holds 10"),
        ({"features": "raws"}, "did you mean 'raw'"), ({"max_iterations": 0}, "max_iterations=0"),
        ({"features": Groups([[0, 1], [2, 3]])}, "groups of columns"),
    ],
    JointBoostClassifier: [
        ({"rounds": 0}, "rounds=0"), ({"search": "best"}, "did you mean 'best_first'"), ({"beam": 0}, "beam=0"),
        ({"max_bins": 1}, "max_bins=1"), ({"search": "exhaustive"}, "at most 8 classes; y has 10"),
    ],
    KNNClassifier: [({"k": 0}, "k=0"), ({"k": 2000}, "has n_samples=1797"), ({"tie": "near"}, "nearest")],
    KernelSVMClassifier: [
        ({"C": 0.0}, "C=0.0"), ({"C": 1.0, "gamma": "scale"}, "gamma='scale'"), ({"C": []}, "C=\\[\\]"),
        ({"validation": 0.0}, "validation=0.0"), ({"search_samples": 1}, "search_samples=1"),
    ],
}  # fmt: skip


@pytest.mark.parametrize("kind", BAD)
def test_bad_parameters_get_one_sentence(kind, digits):
    X, y = digits[0] / 16.0, digits[1]
    for parameters, words in BAD[kind]:
        with pytest.raises(BoostrunError, match=words):
            kind(**parameters).fit(X, y)


RIVALS = {  # scores that this code gives; a change here is a change of results
    "jointboost": (JointBoostClassifier(60), 88.2),
    "mixed_norm": (MixedNormClassifier(20, lambda_min_ratio=0.05), 86.6),
    "ovr_greedy": (OneVsRestGreedyClassifier(8, reg=1e-4), 85.1),
    "knn": (KNNClassifier(3), 96.5),
    "kernel_svm": (KernelSVMClassifier(random_state=0), 97.0),
}


@pytest.mark.parametrize("name", slow_but(("jointboost", "ovr_greedy", "knn"), RIVALS))
def test_score_on_digits(name, digits):
    (X, y), (model, expected) = digits, RIVALS[name]
    fitted = clone(model).fit(X[:1400] / 16, y[:1400])
    assert 100 * fitted.score(X[1400:] / 16, y[1400:]) == pytest.approx(expected, abs=1.0)
