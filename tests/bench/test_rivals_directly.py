"""Accuracy of rivals in a run, on codes and on numbers, and of their libraries called directly on the same splits."""

import importlib.util

import numpy as np
import pytest

from boostrun.config import defaults
from boostrun.data import load
from tests.bench.timing import show
from tests.conftest import REAL_DATA
from tests.rivals.directly import METHODS, directly, in_a_run

pytestmark = pytest.mark.bench

SPLITS = range(5)
TABLES = ("wine", "breast_cancer", "segment", "spam")


def milliseconds(seed):
    """Two classes that overlap by an eighth of a minute, and noise."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, 2000)
    times = 1.7e12 + np.where(y, rng.integers(28_000, 60_000, 2000), rng.integers(0, 32_000, 2000))
    x = np.column_stack([times, rng.normal(size=2000).round(2)])
    return x[:1500], y[:1500], x[1500:], y[1500:]


def table(name, seed):
    path = REAL_DATA / "tables" / f"{name}.csv"
    if not path.is_file():
        pytest.skip(f"there is no {path}")
    data = load({**defaults("dataset", "csv"), "name": "csv", "path": str(path), "split_seed": seed}, REAL_DATA)
    return data.x_train, data.y_train, data.x_test, data.y_test


@pytest.mark.parametrize("name", ["milliseconds", *TABLES])
def test_rivals_in_a_run_and_their_libraries(name, tmp_path):
    rows = []
    for rival in METHODS:
        if rival == "catboost" and importlib.util.find_spec("catboost") is None:
            continue
        found = []
        for seed in SPLITS:
            parts = milliseconds(seed) if name == "milliseconds" else table(name, seed)
            said = [in_a_run(rival, tmp_path, parts)[0], in_a_run(rival, tmp_path, parts, "linear")[0]]
            said.append(directly(rival, parts))
            found.append([*(100 * np.mean(labels == parts[3]) for labels in said),
                          *(100 * np.mean(labels == said[2]) for labels in said[:2])])  # fmt: skip
        codes, numbers, direct, same_codes, same_numbers = np.mean(found, axis=0)
        assert numbers > direct - 3, f"{rival} on {name}: {numbers:.2f} % in a run, {direct:.2f} directly"
        rows.append((rival, f"raw {codes:.2f}, linear {numbers:.2f}, directly {direct:.2f} %; "
                            f"equal labels {same_codes:.1f} and {same_numbers:.1f} %"))  # fmt: skip
    show(f"{name}: means of {len(SPLITS)} splits", rows)
