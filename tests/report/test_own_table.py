"""The table of one's own runs: a dash where a method lacks a budget, a column for what differs."""

import csv

import pytest

from boostrun.report import Entry, summary
from boostrun.report.own_table import own_table

COST = {"peak_samples_held": 40, "samples_drawn": 600, "train_seconds": 0.5}


def trials(name, values, cost=COST, dataset="mine"):
    return [
        {"seed": seed, "metrics": {"test_accuracy_pct": value}, "cost": cost, "key": f"{name}{seed}",
         "cell": {"algo": {"name": name}, "dataset": {"name": dataset}}}
        for seed, value in enumerate(values)
    ]  # fmt: skip


def entry(name, values, cost=COST, expected=None, dataset="mine"):
    return Entry(name, (), {}, len(values) if expected is None else expected, trials(name, values, cost, dataset))


@pytest.fixture
def mixed():
    entries = [
        entry("geem", [90, 91, 92, 93, 94, 95]),
        entry("laminating", [80, 81, 82, 83, 84, 85], {"evaluations": 7000, "train_seconds": 2.0}),
        entry("logitboost", [70] * 6, COST | {"samples_drawn": 900}),
    ]
    keys = [{"dataset": "csv", "r": "20", "T": "9"}, {"dataset": "csv", "T": "9"}, {"dataset": "csv", "T": "9"}]
    return entries, keys


def test_a_method_that_lacks_a_budget_or_a_cost_has_a_dash_there(mixed):
    head, *rows = own_table("mine", *mixed, "test_accuracy_pct").lines()
    assert head == ["method", "r", "test accuracy %", "samples held", "drawn", "evaluations", "fit s"]
    assert [row[1] for row in rows] == ["20", "—", "—"]
    assert [row[3:6] for row in rows] == [["40", "600", "—"], ["—", "—", "7 000"], ["40", "900", "—"]]


def test_scores_of_probabilities_stand_beside_the_metric_with_a_dash_where_there_are_none(mixed):
    scores = [{"log loss": [0.3, 0.31], "Brier": [0.1]}, {"log loss": [], "Brier": []}, {"log loss": [0.5]}]
    table = own_table("mine", *mixed, "test_accuracy_pct", scores=scores)
    head, *rows = table.lines()
    assert head[2:5] == ["test accuracy %", "log loss", "Brier"]
    assert [row[3:5] for row in rows] == [["0.305 (0.007)", "0.100"], ["—", "—"], ["0.500", "—"]]
    assert any("lower is better" in note and "no probabilities" in note for note in table.notes())
    first = next(csv.DictReader(table.csv().splitlines()))
    assert first["log loss"] == "0.305" and float(first["log loss std"]) == pytest.approx(0.00707, abs=1e-5)
    assert "log loss" in summary(mixed[0], "test_accuracy_pct", keys=mixed[1], scores=scores).splitlines()[0]


def test_what_is_the_same_in_every_row_is_no_column_but_a_line():
    entries = [entry("rand", [90, 91]), entry("geem", [92, 93], COST | {"train_seconds": 0.7})]
    table = own_table("mine", entries, [{"r": "20"}] * 2, "test_accuracy_pct")
    assert table.lines()[0] == ["method", "test accuracy %", "fit s"]
    assert table.alike_in_words() == "in every row: samples held 40, drawn 600"
    assert "in every row: samples held 40" in summary(entries, "test_accuracy_pct")
    assert "drawn" in summary(entries[:1], "test_accuracy_pct").splitlines()[0]


def test_copies_of_one_trial_have_no_deviation_and_the_table_says_why(mixed):
    printed = summary(mixed[0], "test_accuracy_pct", keys=mixed[1])
    assert "70.00 n=6" in printed and "logitboost: every trial gave the same" in printed
    assert "92.50 (1.87) n=6" in printed


def test_rows_compete_on_one_data_set_alone(mixed):
    rows = {"geem": "mine", "wsam": "mine", "max": "mine", "rand": "other"}
    entries = [entry(name, range(80 - i, 90 - i), dataset=data) for i, (name, data) in enumerate(rows.items())]
    marks = [cell.rank for cell in own_table("mine", entries, [{}] * 4, "test_accuracy_pct").cells]
    assert marks == ["best", "worse", "worse", ""]


def test_the_three_files_say_what_was_run_and_what_is_missing(mixed, tmp_path):
    entries = [*mixed[0], entry("rand", [60.0], expected=6)]
    keys = [*mixed[1], {"T": "9", "dataset": "csv"}]
    table = own_table("mine & yours", entries, keys, "test_accuracy_pct", ["dataset=csv T=9", "six splits"])
    table.write(tmp_path)
    page, tex = ((tmp_path / name).read_text() for name in ("table.md", "table.tex"))
    assert page.startswith("# mine & yours\n") and "- dataset=csv T=9\n- six splits\n" in page
    assert "rand: 1 of 6 trials: not run yet" in page and "**92.50 (1.87) n=6 ★**" in page
    assert r"\caption{mine \& yours}" in tex and "six splits" in tex
    rows = list(csv.DictReader((tmp_path / "table.csv").open()))
    assert [row["r"] for row in rows] == ["20", "", "", ""] and rows[1]["evaluations"] == "7000"
    assert [row["n"] for row in rows] == ["6", "6", "6", "1"]
