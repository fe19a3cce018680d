from __future__ import annotations

import ast
import dataclasses
import subprocess
import sys

from boostrun.report import summary

TEN = (84.1, 84.9, 84.4, 84.3, 84.8, 84.6, 84.5, 84.2, 84.7, 84.65)


def test_a_run_prints_its_figure_its_costs_and_the_papers_figure(make_entry):
    head, row = summary([make_entry(values=TEN)], "test_accuracy_pct").splitlines()
    assert head.split("  ")[-1].strip() == "fit s"
    assert " ".join(row.split()) == "geem 84.52 (0.26) n=10 200 63 000 0.25 paper 84.66 (0.30) diff -0.15"


def test_no_paper_no_comparison(make_entry):
    own = dataclasses.replace(make_entry(values=TEN), where={})
    assert "paper" not in summary([own], "test_accuracy_pct")
    unknown = make_entry(dataset="digits", values=TEN)
    assert "paper" not in summary([unknown], "test_accuracy_pct")


def test_a_lookup_that_fits_several_figures_shows_none(make_entry):
    vague = dataclasses.replace(make_entry(values=TEN), where={"dataset": "mnist", "method": "geem"})
    assert "84.66" not in summary([vague], "test_accuracy_pct", paper="reservoir")


def test_rows_of_a_sweep_are_told_apart_by_what_varies(make_entry):
    lines = summary([make_entry(r=100, values=TEN), make_entry(r=250, values=TEN)], "test_accuracy_pct").splitlines()
    assert [line.split("  ")[0] for line in lines[1:3]] == ["geem · r=100", "geem · r=250"]


def test_missing_trials_stale_trials_and_reasons_are_seen(make_entry):
    text = summary(
        [make_entry(values=TEN[:7], failed=3, stale=2), make_entry("max", reason="no data")], "test_accuracy_pct"
    )
    assert "7/10 †" in text
    assert "geem: † 2 of 7 trials made by other code or data than today's" in text
    assert "geem: 3 trials failed" in text
    assert "— 0/10" in text
    assert "max: no data" in text


def test_significant_differences_are_explained(make_entry):
    text = summary([make_entry(values=[v + 3 for v in TEN])], "test_accuracy_pct")
    assert "diff +2.86 ≠" in text
    assert "assumed to be of 10 trials" in text


def test_costs_that_no_record_has_are_left_out(make_entry):
    text = summary([make_entry(values=TEN)], "test_accuracy_pct", costs=("peak_memory_mb", "samples_drawn"))
    assert "memory" not in text
    assert "63 000" in text


def test_importing_the_report_loads_nothing_heavy_and_no_other_part():
    code = (
        "import sys, boostrun.report, boostrun.report.diff, boostrun.report.statistics;"
        "bad = [m for m in sys.modules if m.split('.')[0] in ('pandas', 'scipy', 'matplotlib', 'numba', 'hydra')];"
        "own = [m for m in sys.modules if m.startswith('boostrun.') and not m.startswith('boostrun.report')];"
        "print(bad, own)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    bad, own = (ast.literal_eval(text + "]") for text in done.stdout.strip().rstrip("]").split("] "))
    # the catalogue of what there is, and no paper
    light = tuple(
        f"boostrun.{name}"
        for name in ("errors", "files", "fresh_import", "plugins", "when_imported", "config", "methods")
    )
    assert not bad and not [name for name in own if not name.startswith(light)]
