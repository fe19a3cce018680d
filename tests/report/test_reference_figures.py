from __future__ import annotations

import math

import pytest

from boostrun.errors import BoostrunError
from boostrun.report.reference import lookup, papers, reference


def test_every_packaged_paper_reads_in_one_shape():
    assert papers() == ["adaptive_sampling", "iboost", "reservoir", "shareboost"]
    for paper in papers():
        frame = reference(paper)
        assert {"paper", "table", "dataset", "method", "metric", "mean", "std", "note"} <= set(frame.columns)
        assert frame["mean"].dtype == frame["std"].dtype == float
        assert len(frame) > 50


@pytest.mark.parametrize("paper", ["adaptive_sampling", "iboost", "reservoir", "shareboost"])
def test_every_figure_is_found_again_by_its_own_columns(paper):
    frame = reference(paper)
    keys = [name for name in frame.columns if name not in ("mean", "std", "value", "note", "source", "metric")]
    for row in frame[frame["mean"].notna()].to_dict("records"):
        assert lookup(frame, row["metric"], {name: row[name] for name in keys})[0] == row["mean"]


def test_numbers_agree_by_value():
    frame = reference("reservoir", "table3")
    for r in (100, 100.0, "100", "100.0"):
        found = lookup(frame, "test_accuracy_pct", {"dataset": "mnist", "method": "geem", "r": r})
        assert found == (84.66, 0.30, "")


def test_a_blank_of_the_paper_agrees_with_any_value():
    where = {"dataset": "mnist", "method": "oza", "r": "250"}
    mean, std, note = lookup(reference("reservoir", "table4"), "test_accuracy_pct", where)
    assert (mean, std) == (84.85, 0.54)
    assert "column heads" in note


def test_what_the_paper_does_not_give_is_none():
    frame = reference("reservoir", "table3")
    assert lookup(frame, "test_accuracy_pct", {"dataset": "digits", "method": "geem", "r": "100"}) is None
    assert lookup(frame, "no_such_metric", {"dataset": "mnist", "method": "geem", "r": "100"}) is None
    assert lookup(frame, "test_accuracy_pct", {"dataset": "mnist", "method": "geem", "nonesuch": "1"}) is None


def test_a_lookup_that_fits_several_figures_says_what_to_add():
    with pytest.raises(BoostrunError, match="give r as well"):
        lookup(reference("reservoir", "table3"), "test_accuracy_pct", {"dataset": "mnist", "method": "geem"})


def test_a_paper_without_deviations_has_nan():
    where = {"dataset": "mnist", "method": "laminating", "T": 100}
    mean, std, _ = lookup(reference("adaptive_sampling"), "log10_loss", where)
    assert mean < 0
    assert math.isnan(std)


def test_recalled_and_printed_figures_say_so():
    frame = reference("shareboost")
    assert frame[frame["source"] == "recalled"]["note"].str.contains("not checked").all()
    assert (frame[frame["source"] == "seed"]["note"] == "printed in the paper").all()


def test_unknown_names_say_what_there_is():
    with pytest.raises(BoostrunError, match="did you mean 'reservoir'"):
        reference("resevoir")
    with pytest.raises(BoostrunError, match="did you mean 'table3'"):
        reference("reservoir", "tabel3")
