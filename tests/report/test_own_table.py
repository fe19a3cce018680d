"""The table of your own runs and the lines that a run prints."""

from __future__ import annotations

import csv
import dataclasses

import pytest

from boostrun.report.entry import Entry
from boostrun.report.own_table import own_table, summary

COST = {"peak_samples_held": 40, "samples_drawn": 600, "train_seconds": 0.5}
METRIC = "test_accuracy_pct"
TEN = (84.1, 84.9, 84.4, 84.3, 84.8, 84.6, 84.5, 84.2, 84.7, 84.65)


def entry(name, values, cost=COST, expected=None, dataset="mine"):
    trials = [
        {"seed": seed, "metrics": {METRIC: value}, "cost": cost, "key": f"{name}{seed}",
         "cell": {"algo": {"name": name}, "dataset": {"name": dataset}}}
        for seed, value in enumerate(values)
    ]  # fmt: skip
    return Entry(name, (), {}, len(values) if expected is None else expected, trials)


@pytest.fixture
def mixed():
    entries = [
        entry("geem", [90, 91, 92, 93, 94, 95]),
        entry("laminating", [80, 81, 82, 83, 84, 85], {"evaluations": 7000, "train_seconds": 2.0}),
        entry("logitboost", [70] * 6, COST | {"samples_drawn": 900}),
    ]
    keys = [{"dataset": "csv", "r": "20", "T": "9"}, {"dataset": "csv", "T": "9"}, {"dataset": "csv", "T": "9"}]
    return entries, keys


def test_a_method_that_lacks_a_budget_or_a_cost_has_a_dash_and_copies_of_one_trial_no_deviation(mixed):
    head, *rows = own_table("mine", *mixed, METRIC).lines()
    assert head == ["method", "r", "test accuracy %", "samples held", "drawn", "evaluations", "fit s"]
    assert [row[1] for row in rows] == ["20", "—", "—"]
    assert [row[3:6] for row in rows] == [["40", "600", "—"], ["—", "—", "7 000"], ["40", "900", "—"]]
    printed = summary(mixed[0], METRIC, keys=mixed[1])
    assert "70.00 n=6" in printed and "logitboost: every trial gave the same" in printed
    assert "92.50 (1.87) n=6" in printed


def test_copies_of_two_figures_are_not_tested():
    made = own_table("mine", [entry("dwm", [83] * 10), entry("no_change", [86] * 10)], [{}, {}], METRIC)
    assert [cell.rank for cell in made.cells] == ["untested", "best"] and not any("less" in one for one in made.remarks)


def test_trials_with_a_split_each_are_compared_by_the_corrected_test_and_those_on_one_by_its_rows_too():
    first = [90 + x for x in (0, 1, 2, 0, 1, 2, 0, 1, 2, 0)]
    second = [89 + x for x in (0, 1, 0, 1, 0, 1, 0, 1, 0, 1)]
    split = {"name": "csv", "test_fraction": 0.2, "split_seed": None}

    def table(dataset, rows=None, right=(None, None)):
        made = [dataclasses.replace(entry(name, values), right=share)
                for name, values, share in zip(("geem", "rand"), (first, second), right)]  # fmt: skip
        for record in (record for one in made for record in one.records):
            record["cell"]["dataset"] = dataset
            record["inputs"] = {"data": f"bank {record['seed'] if dataset is split else 0}"}
            record["metrics"] |= {"test_rows": 50, "majority_pct": 50.0} if rows else {}
        return own_table("mine", made, [{}, {}], METRIC)

    resplit, one_split, counted = table(split), table({"name": "csv"}), table({"name": "csv"}, rows=True)
    assert [one.cells[1].rank for one in (resplit, one_split, counted)] == ["not worse", "worse", "worse"]
    assert "Nadeau & Bengio" in resplit.markdown() and "Nadeau" not in one_split.markdown()
    lead = [next(line for line in one.remarks if "less rand" in line) for one in (resplit, one_split, counted)]
    assert "over the splits, which overlap, -0.04 to" in lead[0] and lead[0].endswith("level")
    assert "over the trials +0." in lead[1] and lead[1].endswith("ahead") and "rows" not in lead[1]
    assert "over the 50 test rows -" in lead[2] and lead[2].endswith("level over the test rows")
    shares = (1.0,) * 45 + (0.0,) * 4 + (0.9,), (0.0,) * 4 + (1.0,) * 45 + (0.0,)  # who errs, errs on other rows
    kept = table({"name": "csv"}, True, shares)
    assert kept.cells[1].rank == "not worse" and any("by a bootstrap): level" in line for line in kept.remarks)


def test_a_method_without_randomness_competes_with_its_one_figure_at_every_seed():
    fixed = dataclasses.replace(entry("jointboost", [86.0]), fixed=True)
    made = own_table("mine", [entry("wsam", TEN), fixed, entry("lucky", [99.0], expected=10)], [{}] * 3, METRIC)
    assert [cell.rank for cell in made.cells] == ["worse", "best", "untested"]
    assert [row[1].rpartition(" ")[2] for row in made.lines()[1:]] == ["n=10", "★", "?"]
    assert any("? not tested" in note for note in made.notes()) and made.remarks[0].endswith("ahead")


def test_rows_of_one_name_are_told_apart_in_notes():
    entries = [entry("wsam", [92.0] * 6), entry("wsam", [91.0, 92.0, 93.0], expected=6)]
    notes = "\n".join(own_table("mine", entries, [{"r": "20"}, {"r": "50"}], METRIC).notes())
    assert "wsam r=20: every trial" in notes and "wsam r=50: 3 of 6 trials" in notes


def test_scores_of_probabilities_have_columns_with_a_dash_for_methods_without(mixed):
    scores = [{"log loss": [0.3, 0.31], "Brier": [0.1]}, {"log loss": [], "Brier": []}, {"log loss": [0.5]}]
    table = own_table("mine", *mixed, METRIC, scores=scores)
    head, *rows = table.lines()
    assert head[2:5] == ["test accuracy %", "log loss", "Brier"]
    assert [row[3:5] for row in rows] == [["0.305 (0.007)", "0.100"], ["—", "—"], ["0.500", "—"]]
    assert any("lower is better" in note and "no probabilities" in note for note in table.notes())
    first = next(csv.DictReader(table.csv().splitlines()))
    assert first["log loss"] == "0.305" and float(first["log loss std"]) == pytest.approx(0.00707, abs=1e-5)
    assert "log loss" in summary(mixed[0], METRIC, keys=mixed[1], scores=scores).splitlines()[0]


def test_what_is_the_same_in_every_row_is_no_column_but_a_line():
    entries = [entry("rand", [90, 91]), entry("geem", [92, 93], COST | {"train_seconds": 0.7})]
    table = own_table("mine", entries, [{"r": "20"}] * 2, METRIC)
    assert table.lines()[0] == ["method", "test accuracy %", "fit s"]
    assert table.alike_in_words() == "in every row: samples held 40, drawn 600"
    assert "in every row: samples held 40" in summary(entries, METRIC)
    assert "drawn" in summary(entries[:1], METRIC).splitlines()[0]


def test_rows_compete_on_one_data_set_alone():
    rows = {"geem": "mine", "wsam": "mine", "max": "mine", "rand": "other"}
    entries = [entry(name, range(80 - i, 90 - i), dataset=data) for i, (name, data) in enumerate(rows.items())]
    marks = [cell.rank for cell in own_table("mine", entries, [{}] * 4, METRIC).cells]
    assert marks == ["best", "worse", "worse", ""]


def test_the_three_files_say_what_was_run_and_what_is_missing(mixed, tmp_path):
    entries = [*mixed[0], entry("rand", [60.0], expected=6)]
    keys = [*mixed[1], {"T": "9", "dataset": "csv"}]
    own_table("mine & yours", entries, keys, METRIC, ["dataset=csv T=9", "six splits"]).write(tmp_path)
    page, tex = ((tmp_path / name).read_text() for name in ("table.md", "table.tex"))
    assert page.startswith("# mine & yours\n") and "- dataset=csv T=9\n- six splits\n" in page
    assert "rand: 1 of 6 trials: not run yet" in page and "**92.50 (1.87) n=6 ★**" in page
    assert r"\caption{mine \& yours}" in tex and "six splits" in tex
    rows = list(csv.DictReader((tmp_path / "table.csv").open()))
    assert [row["r"] for row in rows] == ["20", "", "", ""] and rows[1]["evaluations"] == "7000"
    assert [row["n"] for row in rows] == ["6", "6", "6", "1"]
    of_windows = own_table("mine", mixed[0][:2], [{"n": "100"}, {"n": "200"}], METRIC)
    rows = list(csv.DictReader(of_windows.csv().splitlines()))
    assert [(row["budget.n"], row["n"]) for row in rows] == [("100", "6"), ("200", "6")]


# -- beside the papers' figures --------------------------------------------------------------------------------------


def test_a_run_prints_its_figure_its_costs_and_the_papers_figure_where_there_is_one(make_entry):
    head, row = summary([make_entry(values=TEN)], METRIC).splitlines()
    assert head.split("  ")[-1].strip() == "fit s"
    assert " ".join(row.split()) == "geem 84.52 (0.26) n=10 200 63 000 0.25 paper 84.66 (0.30) diff -0.15"
    far = summary([make_entry(values=[v + 3 for v in TEN])], METRIC)
    assert "diff +2.86 ≠" in far and "assumed to be of 10 trials" in far
    whole = make_entry(values=TEN)
    assert "paper" not in summary([dataclasses.replace(whole, where={})], METRIC)
    assert "paper" not in summary([make_entry(dataset="digits", values=TEN)], METRIC)
    vague = dataclasses.replace(whole, where={"dataset": "mnist", "method": "geem"})
    assert "84.66" not in summary([vague], METRIC)


def test_what_varies_tells_rows_apart_and_missing_and_stale_trials_are_seen(make_entry):
    text = summary([make_entry(r=100, values=TEN), make_entry(r=250, values=TEN)], METRIC)
    assert [line.split("  ")[0] for line in text.splitlines()[1:3]] == ["geem · r=100", "geem · r=250"]
    assert "memory" not in text and "63 000" in text
    text = summary([make_entry(values=TEN[:7], failed=3, stale=2), make_entry("max", reason="no data")], METRIC)
    for line in ("7/10 †", "geem: † 2 of 7 trials made by other code or data than today's", "geem: 3 trials failed",
                 "— 0/10", "max: no data"):  # fmt: skip
        assert line in text
