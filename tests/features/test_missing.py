"""Missing values in a bank: a bin of their own at either end, so that a stump learns on which side they go."""

import itertools

import numpy as np
import pytest

from boostrun.data import load
from boostrun.errors import BoostrunError
from boostrun.features import open_bank
from boostrun.methods.stumps import find_stump

NAN = np.nan


@pytest.fixture
def bank(tmp_path):
    """The bank of arrays, made of features with these keys."""

    def made(features="raw", **arrays):
        np.savez(tmp_path / "t.npz", **arrays)
        options = {"scale": "standard"} if features == "linear" else {}
        keys = {"bins": arrays["bins"]} if "bins" in arrays else {}
        data = {"name": "npz", "path": str(tmp_path / "t.npz")}
        return open_bank(data, {"name": features, **options, **keys}, tmp_path, tmp_path / "cache")

    return made


def parts(x, y=None, test=None):
    y = np.arange(len(x)) % 2 if y is None else y
    test = x if test is None else test
    return {"x_train": x, "y_train": y, "x_test": test, "y_test": np.arange(len(test)) % 2}


def test_missing_goes_to_numbers_below_and_above_and_a_column_without_values_is_one_bin(bank):
    x = np.array([[5.0, 1.0], [NAN, 2.0], [7.0, 3.0], [6.0, 4.0]])
    found = bank(**parts(x, test=np.array([[-3e38, NAN], [NAN, 9.0], [3e38, 0.0]])))
    assert found.n_features == 3 and found.meta["missing"] == {"columns": [0]}
    assert found.codes("train").tolist() == [[1, 0, 3, 2], [0, 1, 2, 3], [0, 255, 2, 1]]
    assert found.codes("test").tolist() == [[1, 0, 3], [0, 3, 0], [0, 255, 2]]  # the second column has no missing bin
    x = np.array([[1.0, NAN], [2.0, NAN], [3.0, NAN], [4.0, NAN]])
    assert bank(**parts(x)).codes("train").tolist() == [[0, 1, 2, 3], [0] * 4, [255] * 4]
    assert np.isfinite(bank("linear", **parts(x)).values("train")).all()


@pytest.mark.parametrize("bins", [2, 16, 256])
def test_bins_are_quantiles_of_what_is_there_whatever_is_missing(bank, bins):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(400, 1))
    whole = bank(**parts(x), bins=max(2, bins - 1)).edges[0]
    both = np.concatenate([x, np.full((600, 1), NAN)])[rng.permutation(1000)]
    found = bank(**parts(both), bins=bins)
    low, high = found.edges
    assert low[0] == np.finfo(np.float32).min and high[-1] == np.inf
    np.testing.assert_array_equal(low[1:], whole[: bins - 2])
    np.testing.assert_array_equal(high[:-1], whole[: bins - 2])
    codes = found.codes("train")
    assert ((codes[0] == 0) == np.isnan(both[:, 0])).all() and ((codes[1] == bins - 1) == np.isnan(both[:, 0])).all()


def best_by_trying(x, weights):
    """The largest edge of a stump on one of few columns with missing values on either side."""
    found = [abs(weights.sum())]
    for column, threshold, missing in itertools.product(x.T, [-np.inf, *range(6), np.inf], [False, True]):
        above = np.where(np.isnan(column), missing, column >= threshold)
        found.append(abs((weights * np.where(above, 1, -1)).sum()))
    return max(found)


def test_the_stump_is_the_best_of_both_sides(bank):
    rng = np.random.default_rng(0)
    x = rng.integers(0, 6, (300, 3)).astype(float)
    x[rng.random(x.shape) < 0.3] = NAN
    samples = np.array(bank(**parts(x)).samples("train"))
    for rows in np.arange(len(x)).reshape(20, 15):
        weights = rng.normal(size=len(rows))
        assert find_stump(samples, weights, rows)[1] == pytest.approx(best_by_trying(x[rows], weights))


@pytest.mark.parametrize("high", [False, True])
def test_missing_goes_to_the_side_of_the_labels_that_it_has(bank, high):
    x = np.repeat([1.0, 2.0, 3.0, 4.0, NAN], 20)[:, None]
    signs = np.repeat([-1.0, -1.0, 1.0, 1.0, 1.0 if high else -1.0], 20)
    found = bank(**parts(x))
    stump, edge = find_stump(np.array(found.samples("train")), signs)
    assert stump.feature == int(high) and edge == len(x) and (stump(found.samples("train")) == signs).all()


def test_numbers_become_the_mean_and_a_column_that_says_where(bank):
    x = np.array([[1.0, 10.0], [3.0, NAN], [NAN, 30.0], [2.0, 20.0]])
    found = bank("linear", **parts(x, test=np.array([[NAN, NAN], [1.0, 10.0]])))
    assert found.meta["missing"] == {"columns": [0, 1], "means": [2.0, 20.0]}
    where = np.array([[0, 0], [0, 1], [1, 0], [0, 0]])
    whole = np.concatenate([np.where(np.isnan(x), [2.0, 20.0], x), where], axis=1)
    np.testing.assert_allclose(found.values("train"), (whole - whole.mean(axis=0)) / whole.std(axis=0))
    assert found.values("test")[0].round(6).tolist() == [0, 0, *np.round(np.sqrt([3, 3]), 6)]


def test_features_of_complete_samples_refuse_missing_values(bank, tmp_path, monkeypatch):
    from boostrun.features import columns

    monkeypatch.setattr(columns, "MISSING", False)
    bank(**parts(np.eye(4)))
    with pytest.raises(BoostrunError, match="the test part of npz has missing values, first in column 2; fill or"):
        bank(**parts(np.eye(4), test=np.array([[0, 0, NAN, 0.0]] * 2)))


def test_missing_values_that_are_refused_are_named_by_row_and_column(tmp_path):
    x = np.ones((6, 2))
    x[4, 1] = NAN
    np.savez(tmp_path / "t.npz", **parts(x))
    with pytest.raises(BoostrunError, match=r"x_train of npz has no value \(NaN\) in row 5, column 1"):
        load({"name": "npz", "path": str(tmp_path / "t.npz"), "missing": "error"}, tmp_path)
