"""The charts of a page: their content, their markup, and when they are drawn again."""

from __future__ import annotations

import copy
import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest

from boostrun.errors import BoostrunError
from boostrun.report.canvas import svg
from boostrun.report.entry import Entry
from boostrun.report.figures import Extras, curve_figures, draw_curves
from boostrun.report.markup import write_bytes
from boostrun.report.page import Records, beside, files_of
from boostrun.report.page.beside import rank_chart
from boostrun.report.page.records import section
from boostrun.report.statistics import rank_methods
from boostrun.report.table import build

from .test_page import HOSTILE, Page, curve, sections


def parts_of(svg, name):
    """The values of an attribute of a chart's parts, in order."""
    return [part.get(name) for part in ET.fromstring(svg).iter() if part.get(name) is not None]


def texts_of(svg):
    return [part.text for part in ET.fromstring(svg).iter() if part.text and part.text.strip()]


@pytest.mark.filterwarnings("error")
def test_long_settings_leave_room_for_their_lines(make_entry):
    entries = [make_entry("lightgbm", "semi.csv", "algo.learning_rate=0.1 " * 6 + f"T={T}", values=[80.0, 82.0])
               for T in range(16)]  # fmt: skip
    for one in (record for entry in entries for record in entry.records):
        one["curve"] = curve(one["seed"])
    chart = svg(draw_curves(entries, "test_accuracy_pct", "samples_drawn"), "a")
    assert max(len(text) for text in texts_of(chart) if text.startswith("lightgbm")) == 30


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
        return [chart for _, chart in made.details.content["charts"]]

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
    assert shown.title == "test accuracy (%) against examples seen" and shown.stem == "curve_test_accuracy_pct_examples"
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
    content = made.details.content
    chart = content["charts"][0][1]
    assert [title for title, _ in content["charts"]] == [
        "test error (%) against weak learners", "test error (%) against samples drawn"
    ]  # fmt: skip
    assert list(dict.fromkeys(parts_of(chart, "data-algo"))) == ["rand", "wsam", "geem"]
    assert {"rand", "wsam", "geem", "mnist"} <= set(texts_of(chart))
    assert len(content["ranks"]) == 1 and "6 seeds" in content["ranks"][0][0] and ": 1" in content["remark"]


def test_a_table_against_one_of_its_columns_and_too_many_lines(make_entry, spec):
    entries = [make_entry(f"m{number}", values=[1.0]) for number in range(30)]
    for entry in entries:
        entry.records[0]["curve"] = curve(0)
    made = section("a/b", "", build(spec, entries), entries, entries, ["test_accuracy_pct"], {}, of(entries))
    assert not made.details.content["charts"] and "more than 24 lines" in made.plots_remark
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


# -- files of an earlier page ----------------------------------------------------------------------------------------

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
    monkeypatch.setattr(beside, "svg", lambda figure, name: found.append(name) or f"<svg>{len(found)}</svg>")
    return found


def of(entries):
    records = Records()
    for record in (record for entry in entries for record in entry.records):
        records.put(record, "algo=x")
    return records


def files(entries, folder, spec, name="a/b"):
    """Write the files beside a page of some sections of that name; returns them."""
    table = build(replace(spec, paper=""), entries)
    made = [section(name, "", table, entries, entries, ["test_accuracy_pct"], {}, of(entries))]
    contents = files_of(made)
    for file, content in contents.items():
        if not (folder / file).is_file():
            write_bytes(folder / file, content())
    beside.tidy(folder, contents)
    return sorted(path.name for path in folder.iterdir())


def test_what_has_not_changed_is_drawn_once(entries, count, tmp_path, spec):
    (first,) = files(entries, tmp_path, spec)
    assert files(copy.deepcopy(entries), tmp_path, spec) == [first] and len(count) == 1
    assert first.startswith("a-b.") and files(entries, tmp_path, spec, "a/c")[0].startswith("a-c.")
    assert len(count) == 2  # ids within a chart are made of its section's name


def test_whatever_a_file_says_makes_a_new_one_in_the_place_of_the_old(entries, count, tmp_path, spec, monkeypatch):
    (entry,) = entries
    (tmp_path / "mine.js").write_text("")
    other = copy.deepcopy(entry)
    other.records[0] |= {"key": "f" * 64, "curve": {**CURVE, "test_accuracy_pct": [9.0, 9.0, 9.0]}}
    again = copy.deepcopy(entry)
    again.records[0]["provenance"]["time"] = "2026-11-01T10:00:00"
    seen = set()
    for number, one in enumerate([entry, other, again, replace(entry, row="other"), replace(entry, setting="x")], 1):
        found = files([one], tmp_path, spec)
        assert len(count) == number and len(found) == 2 and "mine.js" in found
        seen |= set(found)
    monkeypatch.setattr(beside, "drawing_code", lambda: "edited")
    assert len({*seen, *files([entry], tmp_path, spec)}) == 7


def test_a_file_that_cannot_be_written_is_one_sentence(entries, count, tmp_path, spec):
    (tmp_path / "file").write_text("")
    with pytest.raises(BoostrunError, match=r"cannot write .*a-b\.[0-9a-f]+\.js: "):
        files(entries, tmp_path / "file", spec)
