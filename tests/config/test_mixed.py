"""In a sweep of several methods a key applies to those that have it; one that none has is refused."""

import pytest

from boostrun.config.compose import compose_all, expand
from boostrun.errors import BoostrunError


def test_a_budget_goes_to_the_methods_that_have_it_and_each_cell_is_there_once():
    found = compose_all(["algo=geem,logitboost,laminating,knn", "dataset=digits", "r=20,30", "T=7", "algo.k=3"])
    assert [(one.algo["name"], dict(one.budget)) for one in found] == [
        ("geem", {"r": 20, "q": 20, "T": 7}), ("geem", {"r": 30, "q": 30, "T": 7}),
        ("logitboost", {"T": 7}), ("laminating", {"T": 7}), ("knn", {}),
    ]  # fmt: skip
    assert found[-1].algo["k"] == 3 and "k" not in found[0].algo


def test_keys_of_data_sets_and_features_go_to_those_that_have_them():
    words = ["algo=majority", "dataset=digits,pendigits", "dataset.split=1,2", "features=raw,hog", "features.cell=4"]
    assert expand(words) == [
        ["algo=majority", "dataset=digits", "features=raw"],
        ["algo=majority", "dataset=digits", "features=hog", "features.cell=4"],
        ["algo=majority", "dataset=pendigits", "dataset.split=1", "features=raw"],
        ["algo=majority", "dataset=pendigits", "dataset.split=1", "features=hog", "features.cell=4"],
        ["algo=majority", "dataset=pendigits", "dataset.split=2", "features=raw"],
        ["algo=majority", "dataset=pendigits", "dataset.split=2", "features=hog", "features.cell=4"],
    ]


@pytest.mark.parametrize(("line", "says"), [
    ("algo=geem,logitboost M=5,6", r"none of algo=geem,logitboost has a use for M=5,6 \(geem takes r, q, T; logit"),
    ("algo=knn,logitboost algo.shrinkag=1", "none of algo=knn,logitboost has a key 'shrinkag'; did you mean 'algo.sh"),
    ("algo=knn,majority T=5", "knn takes no budget; majority takes no budget"),
    ("algo=geem,logitboost r=abc T=5", "r=abc: a whole number"),
    ("algo=geem,gem r=20", "no algo 'gem'; did you mean 'geem'"),
    ("algo=geem Q=10", "algo 'geem' has no use for Q=10"),
])  # fmt: skip
def test_a_key_that_none_has_stays_an_error(line, says):
    with pytest.raises(BoostrunError, match=says):
        compose_all([*line.split(), "dataset=digits"])
