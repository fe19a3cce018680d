"""Paired differences: by seed, with Student's interval."""

import csv

import numpy as np
import pytest
from scipy import stats

from boostrun.report import Entry, TableSpec, build
from boostrun.report.statistics import interval
from boostrun.report.table import differences, write_differences


def entry(row, values, column="sea", setting=""):
    records = [{"seed": seed, "metrics": {"test_accuracy_pct": value}} for seed, value in values.items()]
    return Entry(row, (column,), {}, len(values), records, setting=setting)


def table(*entries):
    return build(TableSpec("x", "", "", "test_accuracy_pct", True, ("dataset",)), list(entries))


def test_the_interval_is_that_of_a_t_test():
    values = np.random.default_rng(0).normal(1.0, 2.0, 7)
    mean, low, high = interval(values)
    expected = stats.ttest_1samp(values, 0.0).confidence_interval(0.95)
    assert mean == pytest.approx(values.mean()) and (low, high) == pytest.approx(tuple(expected))


def test_trials_are_paired_by_seed_and_others_left_out():
    base = entry("iboost", {0: 90.0, 1: 80.0, 2: 70.0})
    (one,) = differences(table(base, entry("ocb", {2: 69.0, 0: 88.0, 7: 0.0})), "iboost")
    assert (one.row, one.n, one.mean) == ("ocb", 2, pytest.approx(-1.5))
    assert one.low < one.mean < one.high


def test_a_base_counts_in_its_own_column_and_setting_only(tmp_path):
    made = table(
        entry("iboost", {0: 90.0}, setting="a"), entry("ocb", {0: 80.0}, setting="a"),
        entry("iboost", {0: 50.0}, setting="b"), entry("ocb", {0: 49.0}, setting="b"),
        entry("ocb", {0: 10.0}, column="led", setting="a"),
    )  # fmt: skip
    assert [(one.row, one.mean) for one in differences(made, "iboost")] == [("ocb (a)", -10.0), ("ocb (b)", -1.0)]
    page, plain = write_differences(made, "iboost", tmp_path)
    rows = list(csv.DictReader(plain.open()))
    assert [row["difference"] for row in rows] == ["-10", "-1"] and rows[0]["low"] == "nan"
    assert "|ocb(a)|sea|testaccuracy%|1|-10.00|—|—|" in page.read_text().replace(" ", "")
