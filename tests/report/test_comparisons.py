"""Comparisons within a table: differences by seed, contests of methods, targets."""

from __future__ import annotations

import csv

import pytest

from boostrun.report.entry import Entry
from boostrun.report.layout import render_markdown, render_text
from boostrun.report.reference import check_targets
from boostrun.report.table import TableSpec, build, contests, differences, write_differences


def entry(row, values, column="sea", setting=""):
    records = [{"seed": seed, "metrics": {"test_accuracy_pct": value}} for seed, value in values.items()]
    return Entry(row, (column,), {}, len(values), records, setting=setting)


def table(*entries):
    return build(TableSpec("x", "", "", "test_accuracy_pct", True, ("dataset",)), list(entries))


def test_trials_are_paired_by_seed_with_a_base_of_their_own_column_and_setting(tmp_path):
    base = entry("iboost", {0: 90.0, 1: 80.0, 2: 70.0})
    (one,) = differences(table(base, entry("ocb", {2: 69.0, 0: 88.0, 7: 0.0})), "iboost")
    assert (one.row, one.n, one.mean) == ("ocb", 2, pytest.approx(-1.5))
    assert one.low < one.mean < one.high
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


MANY = TableSpec("Many", "", "", "test_accuracy_pct", True, ("dataset", "r"))


def test_methods_compete_over_five_data_sets_or_else_over_seeds_of_each_and_that_is_said(make_entry):
    entries = [
        make_entry(row, data, values=[better + place, better + place + 0.1], expected=2)
        for better, row in enumerate(("rand", "wsam", "geem"))
        for place, data in enumerate("pqrst")
    ]
    held, remark = contests(build(MANY, entries))
    assert [contest.ranks.methods for contest in held] == [("geem", "wsam", "rand")] and not remark
    assert held[0].over == "5 data sets: p, q, r, s, t" and held[0].ranks.mean_ranks == (1.0, 2.0, 3.0)
    entries = [
        make_entry(row, data, values=[better + seed / 8 for seed in range(6)], expected=6)
        for better, row in enumerate(("rand", "wsam", "geem"))
        for data in ("p", "q")
    ]
    held, remark = contests(build(MANY, entries))
    assert [(contest.dataset, contest.over) for contest in held] == [("p", "6 seeds"), ("q", "6 seeds")]
    assert "test accuracy % r=100: 2" in remark
    assert contests(build(MANY, entries[:4])) == ([], "")  # two methods hold no contest


# -- targets -------------------------------------------------------------------------------------------------------

MEANS = {  # row -> metric -> by M
    "iboost": {"test_accuracy_pct": (95.0, 97.0, 96.95), "time_s": (1.0, 2.0, 4.0)},
    "adaboost": {"test_accuracy_pct": (90.0, 93.0, 95.0), "time_s": (3.0, 2.0, 5.0)},
}
M = ["M=20", "M=50", "M=100"]


def cells():
    entries = [
        Entry(row, (metric, label), {}, 1, [{"seed": 0, "metrics": {metric: value}}], metric=metric)
        for row, metrics in MEANS.items() for metric, values in metrics.items() for label, value in zip(M, values)
    ]  # fmt: skip
    return build(TableSpec("x", "", "", "test_accuracy_pct", True, ("metric", "M")), entries).cells


@pytest.mark.parametrize("metric, target, verdict", [
    ("test_accuracy_pct", {"rising": ["iboost", "adaboost"], "slack": 0.1}, "met"),
    ("test_accuracy_pct", {"rising": ["adaboost"]}, "met"),
    ("test_accuracy_pct", {"rising": ["iboost"]}, "not met"),  # a step of 0.05 down
    ("test_accuracy_pct", {"falling": ["iboost"], "slack": 9.0}, "not met"),  # its end is above its start
    ("test_accuracy_pct", {"falling": [["iboost", "adaboost"]]}, "met"),  # the lead: 5, 4, 1.95
    ("test_accuracy_pct", {"rising": [["iboost", "adaboost"]], "slack": 9.0}, "not met"),
    ("test_accuracy_pct", {"kept": ["adaboost"], "within": 0.1}, "met"),  # better is no loss
    ("test_accuracy_pct", {"rising": ["iboost", "ocb"], "slack": 0.1}, "open"),
    ("time_s", {"rising": ["adaboost"]}, "not met"),  # less time is better, in a table of accuracies too
    ("time_s", {"rising": ["adaboost"], "slack": 1.0}, "met"),
    ("time_s", {"kept": ["adaboost"], "within": 1.0}, "not met"),  # 2 s more
    ("time_s", {"kept": ["iboost"], "within": 3.0}, "met"),
])  # fmt: skip
def test_trends(metric, target, verdict):
    (line,) = check_targets([{"metric": metric, "along": M, **target}], cells(), True)
    assert line.startswith(f"target {verdict}: {'time s' if metric == 'time_s' else 'test accuracy %'} M=20 to M=100")


def test_a_target_near_a_figure_that_the_paper_does_not_print_is_open():
    target = {"metric": "time_s", "columns": ["M=20"], "rows": ["iboost"], "within": 0.03}
    assert check_targets([target], cells(), True) == [
        "target open: time s M=20: iboost within 0.03 of the paper (no figures: iboost)"
    ]


def test_orders_look_at_the_good_end_of_each_metric_and_targets_may_speak_of_one_setting():
    order = {"columns": ["M=20"], "order": ["iboost", "adaboost"]}
    lines = check_targets([{"metric": metric, **order} for metric in ("test_accuracy_pct", "time_s")], cells(), True)
    assert lines == [
        "target met: test accuracy % M=20: iboost > adaboost", "target met: time s M=20: iboost < adaboost",
    ]  # fmt: skip
    best = {(cell.metric, cell.column[1]): cell.row for cell in cells() if cell.rank == "best"}
    assert best["test_accuracy_pct", "M=20"] == best["time_s", "M=20"] == "iboost"
    made = table(*(entry(row, {0: value}, setting=setting) for row, setting, value in (
        ("a", "paper", 2.0), ("b", "paper", 1.0), ("a", "other", 0.0), ("b", "other", 1.0))))  # fmt: skip
    order = {"metric": "test_accuracy_pct", "columns": ["sea"], "order": ["a", "b"]}
    verdicts = [check_targets([{**order, "setting": setting}], made.cells, True)[0] for setting in ("paper", "other")]
    assert [line.split(":")[0] for line in verdicts] == ["target met", "target not met"]


def test_targets_are_met_missed_or_left_open():
    def lossy(row, mean, column=("log10 loss", "T=100")):
        records = [{"seed": seed, "metrics": {"log10_loss": mean}} for seed in range(2)]
        where = {"dataset": "mnist", "method": row, "T": "100"}
        return Entry(row, column, where, 2, records, metric="log10_loss")

    targets = (
        {"metric": "log10_loss", "columns": ["T=100"], "rows": ["uniform_naive", "uniform_1q"], "within": 0.03},
        {"metric": "log10_loss", "columns": ["T=100"], "rows": ["uniform_1q"], "within_pct": 15},
        {"metric": "log10_loss", "columns": ["T=100"], "order": ["laminating", ["uniform_naive", "ucb"], "uniform_1q"]},
        {"metric": "log10_loss", "columns": ["T=100"], "order": ["uniform_1q", "laminating"], "slack": 0.01},
        {"metric": "log10_loss", "columns": [["mnist", "T=100"]], "order": ["laminating", "uniform_1q"]},
    )
    spec = TableSpec("x", "adaptive_sampling", "1", "log10_loss", False, ("metric", "T"), targets=targets)
    means = {"laminating": -1.05, "uniform_naive": -0.86, "uniform_1q": -0.70}  # the paper has -0.85 and -0.75
    table = build(spec, [lossy(row, mean) for row, mean in means.items()])
    lines = [line.split(":")[0] for line in render_markdown(table).splitlines() if line.startswith("- target")]
    assert lines == [f"- target {verdict}" for verdict in ("not met", "met", "open", "not met", "open")]
    assert "uniform_1q -0.700, paper -0.75" in render_text(table, 200)
