"""The HTML page: its numbers are those of the tables, nothing of a record becomes markup, nothing is fetched."""

from __future__ import annotations

import base64
import json
import math
import re
import xml.etree.ElementTree as ET
import zlib
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from boostrun.report import Entry, TableSpec, build
from boostrun.report.canvas import svg
from boostrun.report.entry import done
from boostrun.report.figures import Extras, curve_figures, draw_curves
from boostrun.report.layout import layout
from boostrun.report.page import PageSection, Records, render
from boostrun.report.page.records import Picture, rank_chart, section
from boostrun.report.statistics import rank_methods

HOSTILE = "\"><script>alert(1)</script><img src=x onerror=alert(2)>'&"


class Page(HTMLParser):
    """Tags, attributes and the texts of cells of a page."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.texts, self.scripts = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        if self.tags and self.tags[-1][0] == "script":
            self.scripts.append(data)
        elif data.strip():
            self.texts.append(data.strip())


def curve(seed, shift=0.0):
    T = [1, 10, 100]
    return {"T": T, "test_accuracy_pct": [50 + shift + seed, 60 + shift, 70 + shift], "samples_drawn": [10, 100, 900]}


def sections(make_entry, records, row="geem", dataset="mnist", **more):
    spec = TableSpec("Strategies", "reservoir", "table3", "test_accuracy_pct", True, ("dataset", "r"))
    entries = [
        make_entry(name, dataset, values=[place + 80 + seed / 8 for seed in range(6)], expected=7)
        for place, name in enumerate(("rand", "wsam", row))
    ]
    for place, entry in enumerate(entries):
        for record in entry.records:
            record["curve"] = curve(record["seed"], place)
            records.put(record, f"algo={entry.row}")
    names = {(entry.row, entry.setting, entry.column): (entry.row, dataset) for entry in entries}
    table = build(spec, entries)
    made = section(
        "reservoir/table3", "boostrun reproduce", table, entries, entries, [spec.metric], names, records, **more
    )  # fmt: skip
    return table, [made]


def test_every_text_of_the_table_is_on_the_page_with_its_marks(make_entry):
    records = Records()
    table, made = sections(make_entry, records)
    page = Page(render(made, records, "1.2"))
    laid = layout(table)
    for block in laid.blocks:
        for line in block.lines()[1:]:
            assert all(text in page.texts for text in line if text)
    assert "6/7" in " ".join(page.texts) and any("84.66 (0.30)" in text for text in page.texts)
    values = [float(attrs["data-v"]) for tag, attrs in page.tags if tag == "td" and "data-v" in attrs]
    assert set(values) >= {cell.mean for cell in table.cells}


def test_the_page_fetches_nothing(make_entry):
    records = Records()
    _, made = sections(make_entry, records, pictures=[Picture("families", b"png")])
    text = render(made, records, "1.2")
    for tag, attrs in Page(text).tags:
        assert tag not in ("iframe", "object", "embed", "base") and (tag != "link" or attrs["href"] == "data:,")
        for name in ("src", "href", "action", "data"):
            assert attrs.get(name, "#").startswith(("#", "data:")), (tag, attrs)
    charts = " ".join(unpacked(text))
    assert "@import" not in text and "url(" not in text and "fetch(" not in text
    assert set(re.findall(r"url\((.)", charts)) == {"#"} and "<image" not in charts


def unpacked(page):
    """The charts of all items of a page, as its script unpacks them."""
    packed = re.findall(r'data-packed="([^"]*)"', page)
    return [chart for each in packed for chart in json.loads(zlib.decompress(base64.b64decode(each)))]


def test_charts_lie_packed_in_the_page_and_come_out_as_they_were_drawn(make_entry):
    records = Records()
    _, made = sections(make_entry, records)
    text = render(made, records, "1.2")
    assert unpacked(text) == [str(plot.chart) for plot in made[0].plots] and made[0].plots
    assert "<path" not in text.replace(str(made[0].diagrams[0].chart), "")
    assert len(made[0].packed) < 0.6 * sum(len(plot.chart) for plot in made[0].plots)


def test_nothing_of_a_hostile_record_becomes_markup(make_entry):
    def tags_of(word):
        records = Records()
        _, made = sections(make_entry, records, row=f"row{word}", dataset=f"set{word}")
        trial = made[0].blocks[0].rows[0].cells[0].records.split()[0]
        record = {
            "key": "k" + word, "seed": word, "metrics": {word: 1.0, "bad": math.nan}, "cost": {},
            "provenance": {"command": [word], "git": word, "versions": {"numpy": word}, "time": word},
        }  # fmt: skip
        records.put(record, word, word)
        texts = {"plain": [[word], [word]], "footer": [word], "notes": [word], "targets": [word]}
        extra = PageSection(f"paper{word}/item{word}", word, word, word, **texts)
        page = Page(render([*made, extra], records, word, word))
        assert trial == "0" and len([tag for tag, _ in page.tags if tag == "script"]) == 2
        return [tag for tag, _ in page.tags], [sorted(attrs) for _, attrs in page.tags], page

    harmless, attributes, _ = tags_of("harmless")
    found, hostile_attributes, page = tags_of(HOSTILE)
    assert found == harmless and hostile_attributes == attributes
    summary = json.loads(page.scripts[0])
    assert summary["records"][-1][1] == HOSTILE and list(summary["records"][-1][4]) == [HOSTILE]
    assert any(HOSTILE in text for text in page.texts)


def test_a_record_is_kept_once_and_without_what_names_or_measures_a_machine(make_record):
    records = Records()
    record = make_record(3, cost={"samples_drawn": 63000, "train_seconds": 1.25, "peak_memory_mb": 99.5})
    record["provenance"] = {
        "git": {"revision": "abc", "dirty": True}, "command": ["boostrun", "algo=geem"], "python": "3.11.7",
        "cpu": {"model": "somebody's processor"}, "platform": "somebody's kernel",
        "time": "2026-01-01T10:00:00.5+00:00", "versions": {"boostrun": "0.1", "torch": "2"}, "threads": {"numba": 1},
    }  # fmt: skip
    assert [records.put(record, "algo=geem"), records.put(record, "algo=geem")] == [0, 0]
    summary = records.summary()
    ((key, seed, command, origin, metrics, counts, time, stale),) = summary["records"]
    assert (key, seed, summary["commands"][command], stale) == (record["key"][:16], 3, "algo=geem", "")
    assert metrics == record["metrics"] and counts == {"samples_drawn": 63000} and time == "2026-01-01T10:00:00"
    assert summary["origins"][origin]["commit"] == "abc" and summary["origins"][origin]["dirty"]
    assert "somebody" not in json.dumps(summary)
    assert records.find([record, make_record(4)]) == [0]


# -- charts ------------------------------------------------------------------------------------------------------


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


def test_differences_by_seed_are_a_table_of_their_own(make_entry):
    records = Records()
    _, (made,) = sections(make_entry, records, differences_to="rand")
    assert made.plain[1] == ["wsam", "mnist", "r=100", "test accuracy %", "6", "+1.00", "+1.00", "+1.00"]
    page = render([made], records, "1")
    assert "less that of rand" in page and page.count("<details") == page.count("</details>")
    assert not sections(make_entry, Records())[1][0].plain


def test_too_many_lines_for_a_chart_are_said(make_entry, spec):
    entries = [make_entry(f"m{number}", values=[1.0]) for number in range(30)]
    for entry in entries:
        done(entry.records)[0]["curve"] = curve(0)
    made = section("a/b", "", build(spec, entries), entries, entries, ["test_accuracy_pct"], {}, Records())
    assert not made.plots and "more than 24 lines" in made.plots_remark
    assert not list(curve_figures([], [make_entry()], ["test_accuracy_pct"], Extras()))


def test_a_table_against_one_of_its_columns(make_entry):
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
