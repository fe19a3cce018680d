"""The HTML page: its numbers are those of the tables, nothing of a record becomes markup, nothing is fetched."""

from __future__ import annotations

import itertools
import json
import math
import re
import xml.etree.ElementTree as ET
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from boostrun.report import Entry, TableSpec, build
from boostrun.report.entry import done
from boostrun.report.layout import layout
from boostrun.report.page import Records, Section, render
from boostrun.report.page.axis import axis_over
from boostrun.report.page.chart import HEIGHT, WIDTH, Line, Look, line_chart
from boostrun.report.page.plots import Extras, plots, sweep_plot
from boostrun.report.page.rank_chart import rank_chart
from boostrun.report.page.section import Picture, section
from boostrun.report.ranks import rank_methods

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
    assert "@import" not in text and "url(" not in text and "fetch(" not in text


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
        extra = Section(f"paper{word}/item{word}", word, word, word, **texts)
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


@given(st.lists(st.floats(-1e6, 1e6, allow_subnormal=False), min_size=1, max_size=6), st.booleans())
def test_ticks_lie_in_order_on_their_axis(values, log):
    values = [abs(value) + 0.5 for value in values] if log else values
    axis = axis_over(values, 10.0, 400.0, log)
    ticks = axis.ticks()
    assert ticks == sorted(ticks) and len(ticks) <= 12
    assert all(10.0 - 1e-6 <= axis.at(value) <= 400.0 + 1e-6 for value in (*ticks, *values))


def lines_of(svg):
    return [part for part in ET.fromstring(svg).iter() if part.get("class", "").startswith("line ")]


def test_a_chart_holds_its_lines_and_they_stay_inside():
    points = [(10.0**power, 5.0 * power, 1.0 if power else math.nan) for power in range(5)]
    svg = line_chart([Line(HOSTILE, HOSTILE, Look(0), points), Line("b", "b", Look(9, 2), points[:1])], "t", "x", "y")
    first, second = lines_of(svg)
    assert first.get("data-algo") == HOSTILE and HOSTILE in first[0].text
    numbers = re.findall(r"[\d.]+", first.find("path[@class='l']").get("d"))
    places = list(zip(map(float, numbers[::2]), map(float, numbers[1::2])))
    assert len(places) == 5 and all(0 <= x <= WIDTH and 0 <= y <= HEIGHT for x, y in places)
    steps = [after[0] - before[0] for before, after in itertools.pairwise(places)]
    assert max(steps) - min(steps) < 0.3  # powers of ten are evenly spread: the axis is logarithmic
    assert second.find("path[@class='l']").get("stroke-dasharray")


def test_long_lines_are_thinned_and_keep_their_ends():
    points = [(float(x), math.sin(x), math.nan) for x in range(5000)]
    svg = line_chart([Line("a", "a", Look(0), points)], "", "x", "y")
    assert len(svg) < 6000 and "sin" not in svg
    assert lines_of(svg)[0][0].text == f"a: {points[-1][1]:.4g} at the end"


def test_a_stream_is_drawn_against_examples_with_its_changes_of_concept():
    record = {
        "seed": 0, "cell": {"algo": {"name": "iboost"}, "dataset": {"name": "sea"}},
        "curve": {"examples": [100, 200, 300], "test_accuracy_pct": [70, 80, 90], "changes": [150, 250],
                  "stream": {"concepts": ["p", "<q>", "r"], "bayes_accuracy_pct": 95.0}},
    }  # fmt: skip
    entry = Entry("iboost", ("sea",), {}, 1, [record])
    (plot,), why = plots([entry], ["test_accuracy_pct"], Extras())
    assert plot.name == "test accuracy % against examples seen" and not why and plot.panels[0].dataset == "sea"
    marks = [part for part in ET.fromstring(plot.panels[0].chart).iter() if part.get("class") == "change"]
    assert [mark[0].text for mark in marks] == [
        "the concept changes after 150 examples to <q>", "the concept changes after 250 examples to r"
    ]  # fmt: skip
    assert [key.label for key in plot.legend] == ["iboost", "the best possible: 95.0"]


def test_a_plot_for_each_cost_that_the_curves_tell(make_entry):
    records = Records()
    _, (made,) = sections(make_entry, records)
    assert [plot.name for plot in made.plots] == [
        "test accuracy % against weak learners T", "test accuracy % against samples drawn"
    ]  # fmt: skip
    assert [key.algo for key in made.plots[0].legend] == ["rand", "wsam", "geem"]
    assert len(lines_of(made.plots[0].panels[0].chart)) == 3
    assert len(made.diagrams) == 1 and "6 seeds" in made.diagrams[0].caption and ": 1" in made.ranks_remark


def test_differences_by_seed_are_a_table_of_their_own(make_entry):
    records = Records()
    _, (made,) = sections(make_entry, records, differences_to="rand")
    assert made.plain[1] == ["wsam", "mnist", "r=100", "test accuracy %", "6", "+1.00", "+1.00", "+1.00"]
    page = render([made], records, "1")
    assert "less that of rand" in page and page.count("<details") == page.count("</details>")
    assert not sections(make_entry, Records())[1][0].plain


def test_rows_without_trials_take_no_colour(make_entry):
    entries = [make_entry(f"none{number}") for number in range(7)] + [make_entry(name, values=[1.0]) for name in "ab"]
    for entry in entries[7:]:
        entry.records[0]["curve"] = curve(0)
    drawn, _ = plots(entries, ["test_accuracy_pct"], Extras())
    assert [line.get("class") for line in lines_of(drawn[0].panels[0].chart)] == ["line c0", "line c1"]


def test_too_many_lines_for_a_chart_are_said(make_entry):
    entries = [make_entry(f"m{number}", values=[1.0]) for number in range(30)]
    for entry in entries:
        done(entry.records)[0]["curve"] = curve(0)
    drawn, why = plots(entries, ["test_accuracy_pct"], Extras())
    assert not drawn and "more than 24 lines" in why
    assert plots([make_entry()], ["test_accuracy_pct"], Extras()) == ([], "")


def test_a_table_against_one_of_its_columns(make_entry):
    entries = [make_entry("geem", r=r, values=[1.0 + r], expected=1, metric="test_accuracy_pct") for r in (2, 4, 8)]
    plot = sweep_plot(entries, 1, "r")
    assert plot.name == "against r" and len(lines_of(plot.panels[0].chart)) == 1
    assert sweep_plot([make_entry(metric="test_accuracy_pct")], 1, "r") is None


@pytest.mark.parametrize("k", [3, 13])
def test_a_rank_diagram_names_every_method_once(k):
    values = {f"method {method} <": [method + block % 3 for block in range(6)] for method in range(k)}
    ranks = rank_methods(values, True)
    parts = list(ET.fromstring(rank_chart(ranks, "t")).iter())
    texts = [part.text for part in parts if part.text]
    assert all(sum(method in text for text in texts) == 1 for method in values)
    assert len([part for part in parts if part.get("class") == "tied"]) == len(ranks.groups)
