"""The HTML page: its numbers are those of the tables, no record becomes markup, and it fetches only its own files."""

from __future__ import annotations

import base64
import json
import math
import re
import zlib
from dataclasses import replace
from html.parser import HTMLParser
from importlib import resources
from types import SimpleNamespace

import pytest

from boostrun.report.layout import layout
from boostrun.report.page import PageSection, Records, files_of, render
from boostrun.report.page.beside import Picture
from boostrun.report.page.records import Best, best_of, bests, section
from boostrun.report.table import TableSpec, build
from boostrun.runner.naming import OwnRun, own_runs

HOSTILE = "\"><script>alert(1)</script><img src=x onerror=alert(2)>'&"


VOID = {"meta", "link", "input", "img", "br", "hr"}


class Page(HTMLParser):
    """Elements in order, (tag, attributes, those that it lies in, texts); raises if one is not closed."""

    def __init__(self, text):
        super().__init__()
        self.open, self.found, self.texts, self.scripts = [], [], [], []
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs), list(self.open), []))
        if tag not in VOID:
            self.open.append(self.found[-1])

    def handle_startendtag(self, tag, attrs):
        self.found.append((tag, dict(attrs), list(self.open), []))

    def handle_endtag(self, tag):
        assert self.open[-1][0] == tag, (tag, self.open[-1][:2])
        self.open.pop()

    def handle_data(self, data):
        for part in self.open:
            part[3].append(data)
        if self.open and self.open[-1][0] == "script":
            self.scripts.append(data)
        elif data.strip():
            self.texts.append(data.strip())

    @property
    def tags(self):
        return [(tag, attrs) for tag, attrs, _, _ in self.found]

    def by_id(self, name):
        (found,) = [part for part in self.found if part[1].get("id") == name]
        return found

    @staticmethod
    def text(part):
        return " ".join(" ".join(part[3]).split())


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
    page = Page(render(made, "1.2", folder="some files"))
    laid = layout(table)
    for block in laid.blocks:
        for line in block.lines()[1:]:
            assert all(text in page.texts for text in line if text)
    assert "6/7" in " ".join(page.texts) and any("84.66 (0.30)" in text for text in page.texts)
    values = [float(attrs["data-v"]) for tag, attrs in page.tags if tag == "td" and "data-v" in attrs]
    assert set(values) >= {cell.mean for cell in table.cells}


def unpacked(script):
    """(file name, content) of a file beside the page, as the page's script reads it."""
    name, packed = re.fullmatch(r'boostrun\("([^"]*)", "([A-Za-z0-9+/=]*)"\);\n', script).groups()
    return name, json.loads(zlib.decompress(base64.b64decode(packed)))


def test_the_page_fetches_nothing_but_the_files_beside_it(make_entry):
    _, made = sections(make_entry, Records(), pictures=[Picture("reservoir/table3", "families", b"png")])
    text = render(made, "1.2", folder="some files")
    assert list(files_of(made)) == [made[0].pictures[0].file, made[0].details.file]
    for tag, attrs in Page(text).tags:
        assert tag not in ("iframe", "object", "embed", "base") and (tag != "link" or attrs["href"] == "data:,")
        for name in ("href", "action", "data"):
            assert attrs.get(name, "#").startswith(("#", "data:")), (tag, attrs)
        assert attrs.get("src", "") in ("", f"some%20files/{made[0].pictures[0].file}")
        assert attrs.get("data-file", made[0].details.file) == made[0].details.file
    charts = " ".join(svg for _, svg in made[0].details.content["charts"])
    assert "@import" not in text and "url(" not in text and "fetch(" not in text
    assert set(re.findall(r"url\((.)", charts)) == {"#"} and "<image" not in charts


def test_charts_diagrams_and_trials_are_in_the_file_of_their_section_and_not_in_the_page(make_entry):
    records = Records()
    table, (made,) = sections(make_entry, records)
    text = render([made], "1.2", folder="files")
    name, content = unpacked(files_of([made])[made.details.file]().decode())
    assert name == made.details.file and content["trials"] == json.loads(json.dumps(records.summary()))
    assert len(content["charts"]) == 2 and all("<path" in svg for _, svg in content["charts"])
    ((caption, dataset, diagram),) = content["ranks"]
    assert "6 seeds" in caption and dataset == "mnist" and all(cell.row in diagram for cell in table.cells)
    assert "<path" not in text and records.summary()["records"][0][0] not in text
    cells = [cell for block in made.blocks for row in block.rows for cell in row.cells if cell.records]
    assert len(cells) == 3 and all(len(content["trials"]["records"]) > int(cell.records.split()[-1]) for cell in cells)


def test_a_page_without_a_folder_has_everything_in_it(make_entry):
    _, made = sections(make_entry, Records(), pictures=[Picture("reservoir/table3", "families", b"png")])
    page = Page(render(made, "1.2"))
    *_, inside = page.scripts
    assert unpacked(inside.strip() + "\n")[0] == made[0].details.file
    (image,) = [attrs for tag, attrs in page.tags if tag == "img"]
    assert image["src"] == "data:image/png;base64,cG5n"


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
        made = [replace(made[0], details=replace(made[0].details, trials=records.summary())), extra]
        page, content = Page(render(made, word, word, folder=word)), made[0].details.content
        charts = Page("".join(svg for *_, svg in content["charts"] + content["ranks"]))
        assert trial == "0" and len([tag for tag, _ in page.tags if tag == "script"]) == 1
        tags = [*page.tags, *charts.tags]
        return [tag for tag, _ in tags], [sorted(attrs) for _, attrs in tags], page, content["trials"]

    harmless, attributes, _, _ = tags_of("harmless")
    found, hostile_attributes, page, summary = tags_of(HOSTILE)
    assert found == harmless and hostile_attributes == attributes
    assert summary["records"][-1][1] == HOSTILE and list(summary["records"][-1][4]) == [HOSTILE]
    assert any(HOSTILE in text for text in page.texts)


def test_a_record_is_kept_once_without_its_machine(make_record):
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


def test_differences_by_seed_are_a_table_of_their_own(make_entry):
    records = Records()
    _, (made,) = sections(make_entry, records, differences_to="rand")
    assert made.plain[1] == ["wsam", "mnist", "r=100", "test accuracy %", "6", "+1.00", "+1.00", "+1.00"]
    page = render([made], "1")
    assert "less that of rand" in page and page.count("<details") == page.count("</details>")
    assert not sections(make_entry, Records())[1][0].plain


# -- the first screen -----------------------------------------------------------------------------------------------


def trial(make_record, algo, seed, accuracy, command, time, **cell):
    made = make_record(seed, accuracy, algo, cell.pop("dataset", "digits"), cell.pop("r", 20))
    made["key"] = f"{abs(hash((algo, seed, command))):016x}".ljust(64, "0")
    made["cell"]["features"] = {"name": "raw"}
    made["cell"]["algo"] |= cell
    made["cell_key"] += str(sorted(cell.items()))
    made["provenance"] = {"command": command.split(), "time": time, "git": None, "versions": {}, "python": "3"}
    return made


def own_section(run, number=1):
    entries, names, records = run.entries(), {}, Records()
    for entry in entries:
        names[entry.row, entry.setting, entry.column] = (entry.row, entry.column[0])
        for record in entry.records:
            records.put(record, "algo=x")
    spec = TableSpec(run.name, "", "", run.metric, True, ("data", "cell"))
    table = build(spec, entries)
    return section(
        f"own/{number}", run.command, table, entries, entries, [run.metric], names, records, when=run.last
    )  # fmt: skip


@pytest.fixture
def page(make_record, make_entry, spec):
    old = [trial(make_record, a, s, 80 + s + 5 * (a == "geem"), "boostrun -m algo=geem,rand", "2026-01-01T10:00:00")
           for a in ("geem", "rand") for s in (0, 1)]  # fmt: skip
    new = [trial(make_record, "rand", s, 70.0, "boostrun algo=rand", "2026-02-01T10:00:00") for s in (0, 1)]
    runs = [OwnRun("algo=rand", "boostrun algo=rand", "2026-02-01", new),
            OwnRun("algo=geem,rand", "boostrun -m algo=geem,rand", "2026-01-01", old)]  # fmt: skip
    own = [own_section(run, number) for number, run in enumerate(runs, 1)]
    entries = [make_entry(values=(84.0, 85.0), expected=2)]
    names = {("geem", "", ("mnist", "r=100")): ("geem", "mnist")}
    papers = [
        section("reservoir/table3", "", build(spec, entries), entries, [], ["test_accuracy_pct"], names, Records())
    ]
    return render([*own, *papers], "1.0", folder="files")


def test_own_runs_come_first_and_the_first_screen_names_the_best_and_all_that_is_looked_for(page):
    tree = Page(page)
    items = [part for part in tree.found if part[0] == "details" and part[1].get("class") == "item"]
    assert [part[1]["id"] for part in items] == ["own-1", "own-2", "reservoir-table3"]
    assert ["open" in part[1] for part in items[:2]] == [True, False]
    (paper,) = [part for part in tree.found if part[1].get("class") == "paper"]
    assert "open" not in paper[1] and paper in items[2][2]
    tree = Page(page)
    (header,) = [part for part in tree.found if part[0] == "header"]
    assert "6 own trials in 2 runs" in tree.text(header) and "1 of 1 items of the papers have some" in tree.text(header)
    assert page.index('id="own-1"') < page.index('id="best"') < page.index('class="paper"')
    best = tree.text(tree.by_id("best"))
    assert "digits geem 14.50 (0.71) 2 algo=geem,rand" in best and "mnist geem r=100 15.50 (0.71) 2" in best
    assert best.index("digits") < best.index("mnist")  # data sets of the user's own runs come first
    links = [part[1]["href"].removeprefix("#") for part in tree.found if part[0] == "a"]
    ids = {part[1]["id"] for part in tree.found if "id" in part[1]}
    assert links and set(links) <= ids
    tree = Page(page)
    fields = {part[1]["name"] for part in tree.found if part[0] in ("input", "select") and "name" in part[1]}
    script = resources.files("boostrun.report.page").joinpath("page.js").read_text()
    asked = set(re.findall(r"form\.elements\.(\w+)", script)) | {"paper", "dataset", "algo"}
    assert asked == fields
    assert "fetch(" not in script and "import " not in script and not re.search(r"https?://", script)
    tables = [part for part in tree.found if part[0] == "table"]  # a wide table scrolls in its box
    assert len(tables) >= 4 and all(any("box" in box[1].get("class", "") for box in part[2]) for part in tables)


def test_cells_on_a_part_of_the_data_or_unfinished_ones_are_never_the_best(make_record, make_entry, spec):
    whole = make_entry(values=(80.0, 81.0), expected=2)
    part = make_entry("rand", values=(99.0, 99.0), expected=2)
    for record in part.records:
        record["cell"]["dataset"]["holdout"] = 0.2
    few = make_entry("max", values=(99.0,), expected=2)
    entries = [whole, part, few]
    names = {(one.row, "", one.column): (one.row, "mnist") for one in entries}
    (best,) = best_of(build(spec, entries), entries, "a", "A", names)
    assert (best.method, best.error) == ("geem r=100", 19.5)
    assert best_of(build(spec, []), [], "a", "A", {}) == []


def test_the_best_is_called_by_its_method_and_of_several_the_lowest_stays(make_entry):
    spec = TableSpec("Figure", "", "", "test_accuracy_pct", True, ("dataset", "metric"))
    entry = replace(make_entry("reg tuned", values=(80.0, 81.0), expected=2), column=("mnist", "test accuracy %"))
    names = {("reg tuned", "", entry.column): ("shareboost", "mnist")}
    (best,) = best_of(build(spec, [entry]), [entry], "a", "A", names)
    assert best.method == "shareboost: reg tuned"
    one = Best("mnist", "geem", 3.0, 0.1, 10, "own-1", "mine")
    found = bests([one, one._replace(error=2.0, anchor="adaptive-table1"), one._replace(dataset="a", anchor="x")])
    assert [(best.dataset, best.error) for best in found] == [("mnist", 2.0), ("a", 3.0)]


# -- own runs --------------------------------------------------------------------------------------------------------


def test_own_runs_are_what_no_published_table_holds_newest_first(make_record, monkeypatch, tmp_path):
    made = [
        trial(make_record, "rand", 0, 70.0, "boostrun algo=rand store=/x", "2026-01-01T10:00:00"),
        trial(make_record, "geem", 0, 80.0, "boostrun -m algo=geem --name mine", "2026-02-01T10:00:00"),
        trial(make_record, "wsam", 0, 75.0, "boostrun reproduce reservoir/table3", "2026-03-01T10:00:00"),
    ]

    class Kept:
        def __init__(self, root):
            self.root = root

        def records(self):
            return iter(made)

    monkeypatch.setattr("boostrun.runner.naming.Store", Kept)
    store = SimpleNamespace(root=tmp_path, packed_keys=lambda: {made[2]["key"]})
    assert [(run.name, len(run.records)) for run in own_runs(store)] == [("mine", 1), ("algo=rand", 1)]


def test_cells_of_a_run_are_told_apart_by_what_differs_within_a_method(make_record):
    made = [trial(make_record, algo, 0, 80.0, "boostrun", "2026", r=r, shrinkage=0.1 if algo == "rand" else 0.5)
            for r in (100, 20) for algo in ("rand", "geem")]  # fmt: skip
    entries = OwnRun("x", "boostrun", "2026", made).entries()
    assert [(entry.row, *entry.column) for entry in entries] == [
        ("geem", "digits", "r=20"), ("rand", "digits", "r=20"), ("geem", "digits", "r=100"), ("rand", "digits", "r=100")
    ]  # fmt: skip
    failed = {**made[0], "status": "failed", "metrics": {}}
    (entry,) = OwnRun("x", "boostrun", "2026", [failed]).entries()
    assert entry.failed == 1 and not entry.records
