"""The charts of a page: what they show, their markup, and when they are drawn again."""

from __future__ import annotations

import copy
import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest

from boostrun.report import Entry, build
from boostrun.report import figures as drawings
from boostrun.report.canvas import svg
from boostrun.report.figures import NO_EXTRAS, Extras, curve_figures, draw_curves
from boostrun.report.page import Records
from boostrun.report.page import records as page
from boostrun.report.page.records import rank_chart, section
from boostrun.report.statistics import rank_methods

from .test_page import HOSTILE, Page, curve, sections


def parts_of(svg, name):
    """The values of an attribute of a chart's parts, in order."""
    return [part.get(name) for part in ET.fromstring(svg).iter() if part.get(name) is not None]


def texts_of(svg):
    return [part.text for part in ET.fromstring(svg).iter() if part.text and part.text.strip()]


@pytest.mark.parametrize("name", [HOSTILE, "$x^$", "it's \"both\" 'quotes'", "a -- b -->"])
def test_a_chart_names_its_data_set_and_lines_whatever_they_are_called(make_entry, name):
    entries = [make_entry(name, name, values=[80.0, 82.0])]
    for record in entries[0].records:
        record["curve"] = curve(record["seed"])
    chart = svg(draw_curves(entries, "test_accuracy_pct", "samples_drawn"), name)
    assert parts_of(chart, "data-dataset") == [name] and parts_of(chart, "data-algo") == [name, name]  # line and band
    page = Page(chart)
    assert {"script", "img"}.isdisjoint(tag for tag, _ in page.tags) and name in texts_of(chart)


def test_equal_charts_are_equal_and_no_two_of_a_page_share_an_id(make_entry):
    def charts():
        _, (made,) = sections(make_entry, Records())
        return [plot.chart for plot in made.plots]

    first, second = charts()
    assert charts() == [first, second]
    ids = [*parts_of(first, "id"), *parts_of(second, "id")]
    assert len(ids) == len(set(ids)) > 4
    for chart in (first, second):
        clips = re.findall(r"#(\w+)\)", " ".join(parts_of(chart, "clip-path")))
        used = [at.removeprefix("#") for at in parts_of(chart, "{http://www.w3.org/1999/xlink}href")]
        assert set(clips) | set(used) == set(parts_of(chart, "id"))


def test_a_stream_is_drawn_against_examples_with_its_changes_of_concept():
    def trial(seed, changes):
        return {
            "seed": seed, "cell": {"algo": {"name": "iboost"}, "dataset": {"name": "sea"}},
            "curve": {"examples": [100, 200, 300], "test_accuracy_pct": [70, 80, 90], "changes": changes,
                      "stream": {"concepts": ["p", "<q>", "r"], "bayes_accuracy_pct": 95.0}},
        }  # fmt: skip

    entry = Entry("iboost", ("sea",), {}, 1, [trial(0, [150, 250])])
    (shown,) = curve_figures([], [entry], ["test_accuracy_pct"], Extras())
    assert shown.title == "test accuracy % against examples seen" and shown.stem == "curve_test_accuracy_pct_examples"
    chart = svg(shown.figure, "a")
    assert parts_of(chart, "data-dataset") == ["sea"]
    assert {"p", "<q>", "r", "iboost", "best possible 95.0"} <= set(texts_of(chart))
    differing = [trial(0, [150, 250]), trial(1, [120, 260])]
    (shown,) = curve_figures([], [replace(entry, records=differing)], ["test_accuracy_pct"], Extras())
    lines = shown.figure.axes[0].get_lines()
    assert not [line for line in lines if line.get_linestyle() == "--"]  # changes that are not those of all trials


def test_long_curves_are_thinned_on_the_page_and_keep_their_ends():
    marks = list(range(1, 5001))
    trials = [{"seed": seed, "curve": {"T": marks, "loss": [seed + t % 7 for t in marks]}} for seed in (0, 1)]
    entry = Entry("a", ("x",), {}, 2, trials)
    whole, few = (draw_curves([entry], "loss", "T", most=most) for most in (None, 200))
    x = [figure.axes[0].get_lines()[0].get_xdata() for figure in (whole, few)]
    assert len(x[0]) == 5000 and len(x[1]) == 200 and x[1][0] == 1 and x[1][-1] == 5000
    assert len(svg(few, "a")) < 40_000 < len(svg(whole, "a"))


def test_a_plot_for_each_cost_that_the_curves_tell(make_entry):
    records = Records()
    _, (made,) = sections(make_entry, records)
    assert [plot.title for plot in made.plots] == [
        "test accuracy % against weak learners", "test accuracy % against samples drawn"
    ]  # fmt: skip
    assert list(dict.fromkeys(parts_of(made.plots[0].chart, "data-algo"))) == ["rand", "wsam", "geem"]
    assert {"rand", "wsam", "geem", "mnist"} <= set(texts_of(made.plots[0].chart))
    assert len(made.diagrams) == 1 and "6 seeds" in made.diagrams[0].caption and ": 1" in made.ranks_remark


def test_a_table_against_one_of_its_columns_and_too_many_lines(make_entry, spec):
    entries = [make_entry(f"m{number}", values=[1.0]) for number in range(30)]
    for entry in entries:
        entry.records[0]["curve"] = curve(0)
    made = section("a/b", "", build(spec, entries), entries, entries, ["test_accuracy_pct"], {}, Records())
    assert not made.plots and "more than 24 lines" in made.plots_remark
    assert not list(curve_figures([], [make_entry()], ["test_accuracy_pct"], Extras()))
    entries = [make_entry("geem", r=r, values=[1.0 + r], expected=1, metric="test_accuracy_pct") for r in (2, 4, 8)]
    (shown,) = curve_figures(entries, [], ["test_accuracy_pct"], Extras(sweep=(1, "r")))
    assert (shown.stem, shown.title) == ("curve_r", "against r")
    assert set(parts_of(svg(shown.figure, "a"), "data-algo")) == {"geem"}
    assert not list(curve_figures([make_entry(metric="test_accuracy_pct")], [], [], Extras(sweep=(1, "r"))))


@pytest.mark.parametrize("k", [3, 13])
def test_a_rank_diagram_names_every_method_once(k):
    values = {f"method {method} <": [method + block % 3 for block in range(6)] for method in range(k)}
    ranks = rank_methods(values, True)
    parts = list(ET.fromstring(rank_chart(ranks, "t")).iter())
    texts = [part.text for part in parts if part.text]
    assert all(sum(method in text for text in texts) == 1 for method in values)
    assert len([part for part in parts if part.get("class") == "tied"]) == len(ranks.groups)


# -- plots of an earlier page --------------------------------------------------------------------------------------

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
    monkeypatch.setattr(page, "svg", lambda figure, name: found.append(name) or f"<svg>{len(found)}</svg>")
    return found


def plots(entries, folder, metrics=("test_accuracy_pct",), name="a/b"):
    return page.plots_of(name, entries, entries, metrics, NO_EXTRAS, [folder / "drawn"])


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
    monkeypatch.setattr(drawings, "_drawing_code", lambda: "edited")
    plots([entry], tmp_path)
    assert len(count) == 5 and len(list((tmp_path / "drawn").iterdir())) == 1


def test_a_damaged_or_missing_memory_costs_time_alone(entries, count, tmp_path):
    first = plots(entries, tmp_path)
    (kept,) = (tmp_path / "drawn").iterdir()
    kept.write_bytes(kept.read_bytes()[:-3])
    again = plots(entries, tmp_path)
    assert [one.title for one in again] == [one.title for one in first] and len(count) == 2
    assert len(page.plots_of("a/b", entries, entries, ("test_accuracy_pct",), NO_EXTRAS)) == 1
