"""Claims over a row of columns: what rises, falls, is kept, and by how much one method leads."""

import pytest

from boostrun.report import Entry, TableSpec, build
from boostrun.report.targets import check

MEANS = {  # row -> metric -> by M
    "iboost": {"test_accuracy_pct": (95.0, 97.0, 96.95), "time_s": (1.0, 2.0, 4.0)},
    "adaboost": {"test_accuracy_pct": (90.0, 93.0, 95.0), "time_s": (3.0, 2.0, 5.0)},
}
M = ["M=20", "M=50", "M=100"]


def cells():
    entries = [
        Entry(row, (metric, label), {}, 1, [{"seed": 0, "metrics": {metric: value}}], metric=metric)
        for row, metrics in MEANS.items()
        for metric, values in metrics.items()
        for label, value in zip(M, values)
    ]
    return build(TableSpec("x", "", "", "test_accuracy_pct", True, ("metric", "M")), entries).cells


@pytest.mark.parametrize("target, verdict", [
    ({"rising": ["iboost", "adaboost"], "slack": 0.1}, "met"),
    ({"rising": ["adaboost"]}, "met"),
    ({"rising": ["iboost"]}, "not met"),  # a step of 0.05 down
    ({"falling": ["iboost"], "slack": 9.0}, "not met"),  # its end is above its start
    ({"falling": [["iboost", "adaboost"]]}, "met"),  # the lead: 5, 4, 1.95
    ({"rising": [["iboost", "adaboost"]], "slack": 9.0}, "not met"),
    ({"kept": ["adaboost"], "within": 0.1}, "met"),  # better is no loss
    ({"rising": ["iboost", "ocb"], "slack": 0.1}, "open"),
])  # fmt: skip
def test_trends_of_accuracy(target, verdict):
    (line,) = check([{"metric": "test_accuracy_pct", "along": M, **target}], cells(), True)
    assert line.startswith(f"target {verdict}: test accuracy % M=20 to M=100")


@pytest.mark.parametrize("target, verdict", [
    ({"rising": ["iboost"]}, "met"),
    ({"rising": ["adaboost"]}, "not met"),
    ({"rising": ["adaboost"], "slack": 1.0}, "met"),
    ({"kept": ["adaboost"], "within": 1.0}, "not met"),  # 2 s more
    ({"kept": ["iboost"], "within": 3.0}, "met"),
])  # fmt: skip
def test_less_time_is_better_in_a_table_of_accuracies(target, verdict):
    (line,) = check([{"metric": "time_s", "along": M, **target}], cells(), True)
    assert line.startswith(f"target {verdict}: time s")


def test_orders_look_at_the_good_end_of_each_metric():
    order = {"columns": ["M=20"], "order": ["iboost", "adaboost"]}
    lines = check([{"metric": metric, **order} for metric in ("test_accuracy_pct", "time_s")], cells(), True)
    assert lines == [
        "target met: test accuracy % M=20: iboost > adaboost", "target met: time s M=20: iboost < adaboost",
    ]  # fmt: skip


def test_the_best_of_a_column_is_by_its_metric():
    best = {(cell.metric, cell.column[1]): cell.row for cell in cells() if cell.rank == "best"}
    assert best["test_accuracy_pct", "M=20"] == best["time_s", "M=20"] == "iboost"


def test_a_target_may_speak_of_one_setting():
    def entry(row, setting, value):
        record = {"seed": 0, "metrics": {"test_accuracy_pct": value}}
        return Entry(row, ("sea",), {}, 1, [record], setting=setting)

    entries = [entry("a", "paper", 2.0), entry("b", "paper", 1.0), entry("a", "other", 0.0), entry("b", "other", 1.0)]
    table = build(TableSpec("x", "", "", "test_accuracy_pct", True, ("dataset",)), entries)
    order = {"metric": "test_accuracy_pct", "columns": ["sea"], "order": ["a", "b"]}
    verdicts = [check([{**order, "setting": setting}], table.cells, True)[0] for setting in ("paper", "other")]
    assert [line.split(":")[0] for line in verdicts] == ["target met", "target not met"]
