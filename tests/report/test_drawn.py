"""Plots that were drawn for an earlier page: taken where all that they show is the same, else drawn anew."""

from __future__ import annotations

import copy
from dataclasses import replace

import pytest

from boostrun.report import pictures
from boostrun.report.figures import Extras
from boostrun.report.page import records as drawn

CURVE = {"T": [1, 10, 100], "test_accuracy_pct": [50.0, 60.0, 70.0]}


@pytest.fixture
def entries(make_entry):
    entry = make_entry(values=(84.0, 85.0), expected=2)
    for record in entry.records:
        record["curve"] = copy.deepcopy(CURVE)
    return [entry]


@pytest.fixture
def count(monkeypatch):
    """How many figures have been drawn."""
    found = []
    monkeypatch.setattr(drawn, "svg", lambda figure, name: found.append(name) or f"<svg>{len(found)}</svg>")
    return found


def plots(entries, folder, metrics=("test_accuracy_pct",), name="a/b"):
    return drawn.plots_of(name, entries, entries, metrics, Extras(), [folder / "drawn"])


def test_what_has_not_changed_is_drawn_once(entries, count, tmp_path):
    first = plots(entries, tmp_path)
    assert plots(copy.deepcopy(entries), tmp_path) == first and len(count) == 1
    assert plots(entries, tmp_path, name="a/c") != first  # ids within a chart are made of its section's name
    assert len(list((tmp_path / "drawn").iterdir())) == 2


def test_whatever_a_plot_tells_makes_a_new_one_in_the_place_of_the_old(entries, count, tmp_path, monkeypatch):
    (entry,) = entries

    def changed(part):
        other = copy.deepcopy(entry)
        other.records[0][part] = {**other.records[0][part], **{key: [9.0, 9.0, 9.0] for key in CURVE if key != "T"}}
        return other

    for number, one in enumerate(
        [entry, changed("curve"), replace(entry, row="other"), replace(entry, setting="x")], 1
    ):
        plots([one], tmp_path)
        assert len(count) == number
    monkeypatch.setattr(pictures, "_drawing_code", lambda: "edited")
    plots([entry], tmp_path)
    assert len(count) == 5 and len(list((tmp_path / "drawn").iterdir())) == 1


def test_a_damaged_or_missing_memory_costs_time_alone(entries, count, tmp_path):
    first = plots(entries, tmp_path)
    (kept,) = (tmp_path / "drawn").iterdir()
    kept.write_bytes(kept.read_bytes()[:-3])
    again = plots(entries, tmp_path)
    assert [one.title for one in again] == [one.title for one in first] and len(count) == 2
    assert len(drawn.plots_of("a/b", entries, entries, ("test_accuracy_pct",), Extras())) == 1
