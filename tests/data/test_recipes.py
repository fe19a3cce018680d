"""The rows of scripts/lakes.py are those that its recipes promise."""

import numpy as np
import pyarrow.parquet as pq
import pytest

from scripts import lakes
from tests.conftest import REAL_DATA


def made(name, folder, rows=4000, part=2000, group=500):
    """(samples, labels) of the train parts in order, and of the test file, written below ``folder``."""
    lakes.write(name, folder, rows, REAL_DATA, part, group)
    places = [sorted((folder / name / "train").glob("*.parquet")), folder / name / "test.parquet"]
    tables = [pq.read_table(places[0]), pq.read_table(places[1])]
    return [(np.array(table.drop(["label"]).to_pandas()), np.array(table["label"])) for table in tables]


def test_a_part_does_not_depend_on_those_beside_it(tmp_path):
    (x, y), _ = made("spheres", tmp_path / "long")
    (first, labels), _ = made("spheres", tmp_path / "short", rows=2000)
    np.testing.assert_array_equal(first, x[:2000])
    np.testing.assert_array_equal(labels, y[:2000])
    assert pq.read_metadata(tmp_path / "long/spheres/train/part-0001.parquet").num_row_groups == 4


def test_a_fifth_of_the_labels_of_spheres_is_wrong(tmp_path):
    (x, y), _ = made("spheres", tmp_path)
    right = (np.square(x[:, :10]).sum(axis=1) > 9.34) == y
    assert 0.77 < right.mean() < 0.83 and 0.45 < y.mean() < 0.55


def test_old_rows_of_rotating_mislead(tmp_path):
    (x, y), (x_test, y_test) = made("rotating", tmp_path)
    side = np.linalg.lstsq(x[:500] - 0.5, 2.0 * y[:500] - 1, rcond=None)[0]  # of the oldest rows
    newest = np.linalg.lstsq(x[-500:] - 0.5, 2.0 * y[-500:] - 1, rcond=None)[0]
    right = [(((x_test - 0.5) @ each > 0) == y_test).mean() for each in (side, newest)]
    assert right[0] < 0.2 and right[1] > 0.8


def test_mixture_has_the_shares_of_covertype(tmp_path):
    (x, y), _ = made("mixture", tmp_path)
    assert x.shape == (4000, 54)
    np.testing.assert_allclose(np.bincount(y, minlength=7) / 4000, lakes.COVERTYPE, atol=0.03)


def test_counts_are_those_of_texts(tmp_path):
    (x, y), _ = made("counts", tmp_path)
    assert x.dtype == np.uint8 and x.shape == (4000, 1000) and 48 < x.sum(axis=1).mean() < 52 and set(y) == {*range(10)}
    assert (x == 0).mean() > 0.9


@pytest.mark.slow
def test_digits_are_distorted_and_the_test_rows_are_those_of_mnist(tmp_path):
    if not (REAL_DATA / "MNIST").exists():
        pytest.skip("MNIST is not there")
    (x, _), (x_test, y_test) = made("digits", tmp_path, rows=200, part=100, group=50)
    assert x.shape == (200, 784) and x.dtype == np.uint8 and len(np.unique(x, axis=0)) == 200
    assert x_test.shape == (10_000, 784) and y_test[:3].tolist() == [7, 2, 1]
