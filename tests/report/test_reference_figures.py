from __future__ import annotations

import math

import pytest

from boostrun.errors import BoostrunError
from boostrun.report.reference import figures, lookup, papers


def test_every_packaged_paper_reads_in_one_shape():
    assert papers() == ["adaptive_sampling", "iboost", "reservoir", "shareboost"]
    for paper in papers():
        rows = figures(paper)
        for row in rows:
            assert {"paper", "table", "dataset", "method", "metric", "mean", "std", "note"} <= row.keys()
            assert type(row["mean"]) is type(row["std"]) is float
        assert len(rows) > 50


@pytest.mark.parametrize("paper", ["adaptive_sampling", "iboost", "reservoir", "shareboost"])
def test_every_figure_is_found_again_by_its_own_columns(paper):
    rows = [row for row in figures(paper) if not math.isnan(row["mean"])]
    keys = [name for name in rows[0] if name not in ("mean", "std", "value", "note", "source", "metric")]
    for row in rows[::5]:
        assert lookup(rows, row["metric"], {name: row[name] for name in keys})[0] == row["mean"]


def found(table, metric="test_accuracy_pct", **where):
    return lookup(figures(*table.split("/")), metric, where)


def test_a_lookup_compares_numbers_by_value_and_what_the_paper_does_not_give_is_none():
    for r in (100, 100.0, "100", "100.0"):
        assert found("reservoir/table3", dataset="mnist", method="geem", r=r) == (84.66, 0.30, "")
    mean, std, note = found("reservoir/table4", dataset="mnist", method="oza", r="250")
    assert (mean, std) == (84.85, 0.54) and "column heads" in note
    mean, std, _ = found("adaptive_sampling", "log10_loss", dataset="mnist", method="laminating", T=100)
    assert mean < 0 and math.isnan(std)  # this paper gives no deviations
    assert found("reservoir/table3", dataset="digits", method="geem", r="100") is None
    assert found("reservoir/table3", "no_such_metric", dataset="mnist", method="geem", r="100") is None
    assert found("reservoir/table3", dataset="mnist", method="geem", nonesuch="1") is None
    with pytest.raises(BoostrunError, match="give r as well"):
        found("reservoir/table3", dataset="mnist", method="geem")


def test_recalled_and_printed_figures_say_so_and_unknown_names_what_there_is():
    notes = {row["source"]: row["note"] for row in figures("shareboost")}
    assert "not checked" in notes["recalled"] and notes["seed"] == "printed in the paper"
    for names, said in ((["resevoir"], "did you mean 'reservoir'"), (["reservoir", "tabel3"], "did you mean 'table3'")):
        with pytest.raises(BoostrunError, match=said):
            figures(*names)
