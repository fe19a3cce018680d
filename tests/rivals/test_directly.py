"""A rival in a run answers as its library called directly with the same parameters on the same split."""

import numpy as np
import pytest

from tests.marks import slow_but
from tests.rivals.directly import CALLS, CHUNKS, METHODS, directly, in_a_run

QUICK = ("lightgbm", "random_forest", "sgd", "xgboost_external")
# libraries that read float64
DOUBLE = ("lightgbm", "lightgbm_goss", "lightgbm_penalty", "lightgbm_reuse", "hist_gradient_boosting")


def parts(shift=0.0):
    """1,500 training and 500 test samples of three whole numbers from 0 to 9, of which each is there, and ``shift``."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 2000)
    x = np.column_stack(
        [(rng.integers(0, 7, 2000) + 2 * y) % 10, rng.integers(0, 10, 2000), rng.integers(0, 8, 2000) + y]
    )
    x = x + shift
    return x[:1500], y[:1500], x[1500:], y[1500:]


def test_each_rival_of_a_library_is_compared():
    assert {*CALLS, *CHUNKS} == {*METHODS}


@pytest.mark.parametrize("name", slow_but(QUICK, METHODS))
def test_on_few_distinct_values_it_is_the_library(name, tmp_path):
    labels, accuracy = in_a_run(name, tmp_path, parts())
    expected = directly(name, parts())
    assert np.array_equal(labels, expected)
    assert accuracy == pytest.approx(100 * np.mean(expected == parts()[3])) and accuracy > 40


@pytest.mark.parametrize("name", slow_but(QUICK, METHODS))
def test_on_milliseconds_it_is_the_library_on_milliseconds_since_the_first(name, tmp_path):
    labels, _ = in_a_run(name, tmp_path, parts(1.7e12))
    assert np.array_equal(labels, directly(name, parts()))
    if name in DOUBLE:
        assert np.array_equal(labels, directly(name, parts(1.7e12)))


@pytest.mark.parametrize("name", ["hist_gradient_boosting", "random_forest", "extra_trees", "logistic", "xgboost"])
def test_on_columns_as_numbers_it_is_the_library_whatever_the_values(name, tmp_path):
    rng = np.random.default_rng(1)
    y = rng.integers(0, 3, 1000)
    x = np.rint(1000 * (rng.normal(size=(1000, 4)) + y[:, None] * [0.8, 0.5, 0, -0.6])) / 1024
    continuous = x[:700], y[:700], x[700:], y[700:]
    labels, _ = in_a_run(name, tmp_path, continuous, "linear")
    assert np.mean(labels == directly(name, continuous)) > 0.99
