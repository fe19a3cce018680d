"""What a page says first: how much there is, own runs, verdicts, the best of each data set; and what stays folded."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from importlib import resources
from types import SimpleNamespace

import pytest

from boostrun.report import TableSpec, build
from boostrun.report.page import Records, render
from boostrun.report.page.records import Best, best_of, bests, section
from boostrun.runner.naming import OwnRun, own_runs

VOID = {"meta", "link", "input", "img", "br", "hr"}


class Tree(HTMLParser):
    """Elements in order, each with the elements that it lies in; raises where one is not closed."""

    def __init__(self, text):
        super().__init__()
        self.open, self.found = [], []
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

    def by_id(self, name):
        (found,) = [part for part in self.found if part[1].get("id") == name]
        return found

    @staticmethod
    def text(part):
        return " ".join(" ".join(part[3]).split())


def trial(make_record, algo, seed, accuracy, command, time, **cell):
    made = make_record(seed, accuracy, algo, cell.pop("dataset", "digits"), cell.pop("r", 20))
    made["key"] = f"{abs(hash((algo, seed, command))):064x}"
    made["cell"]["features"] = {"name": "raw"}
    made["cell"]["algo"] |= cell
    made["cell_key"] += str(sorted(cell.items()))
    made["provenance"] = {"command": command.split(), "time": time, "git": None, "versions": {}, "python": "3"}
    return made


def own_section(run, records, number=1):
    entries, names = run.entries(), {}
    for entry in entries:
        names[entry.row, entry.setting, entry.column] = (entry.row, entry.column[0])
        for record in entry.records:
            records.put(record, "algo=x")
    spec = TableSpec(run.name, "", "", run.metric, True, ("data", "cell"))
    return section(
        f"own/{number}",
        run.command,
        build(spec, entries),
        entries,
        entries,
        [run.metric],
        names,
        records,
        when=run.last,
    )


@pytest.fixture
def page(make_record, make_entry, spec):
    old = [trial(make_record, a, s, 80 + s + 5 * (a == "geem"), "boostrun -m algo=geem,rand", "2026-01-01T10:00:00")
           for a in ("geem", "rand") for s in (0, 1)]  # fmt: skip
    new = [trial(make_record, "rand", s, 70.0, "boostrun algo=rand", "2026-02-01T10:00:00") for s in (0, 1)]
    records = Records()
    runs = [OwnRun("algo=rand", "boostrun algo=rand", "2026-02-01", new),
            OwnRun("algo=geem,rand", "boostrun -m algo=geem,rand", "2026-01-01", old)]  # fmt: skip
    own = [own_section(run, records, number) for number, run in enumerate(runs, 1)]
    entries = [make_entry(values=(84.0, 85.0), expected=2)]
    names = {("geem", "", ("mnist", "r=100")): ("geem", "mnist")}
    papers = [section("reservoir/table3", "", build(spec, entries), entries, [], ["test_accuracy_pct"], names, records)]
    return render([*own, *papers], records, "1.0")


def test_own_runs_come_first_and_only_the_newest_is_unfolded(page):
    tree = Tree(page)
    items = [part for part in tree.found if part[0] == "details" and part[1].get("class") == "item"]
    assert [part[1]["id"] for part in items] == ["own-1", "own-2", "reservoir-table3"]
    assert ["open" in part[1] for part in items[:2]] == [True, False]
    (paper,) = [part for part in tree.found if part[1].get("class") == "paper"]
    assert "open" not in paper[1] and paper in items[2][2]


def test_the_first_screen_counts_what_is_stored_and_names_the_best_of_each_data_set(page):
    tree = Tree(page)
    (header,) = [part for part in tree.found if part[0] == "header"]
    assert "6 own trials in 2 runs" in tree.text(header) and "1 of 1 items of the papers have some" in tree.text(header)
    best = tree.text(tree.by_id("best"))
    assert "digits geem 14.50 (0.71) 2 algo=geem,rand" in best and "mnist geem r=100 15.50 (0.71) 2" in best
    assert best.index("digits") < best.index("mnist")  # what one's own runs have comes first
    links = [part[1]["href"].removeprefix("#") for part in tree.found if part[0] == "a"]
    ids = {part[1]["id"] for part in tree.found if "id" in part[1]}
    assert links and set(links) <= ids


def test_everything_that_is_looked_for_is_named_in_the_form_and_works_without_a_server(page):
    tree = Tree(page)
    fields = {part[1]["name"] for part in tree.found if part[0] in ("input", "select") and "name" in part[1]}
    script = resources.files("boostrun.report.page").joinpath("page.js").read_text()
    asked = set(re.findall(r"form\.elements\.(\w+)", script)) | {"paper", "dataset", "algo"}
    assert asked == fields
    assert "fetch(" not in script and "import " not in script and not re.search(r"https?://", script)


def test_a_wide_table_scrolls_within_its_box_and_says_that_there_is_more():
    folder = resources.files("boostrun.report.page")
    style, script = (folder.joinpath(f"page.{kind}").read_text() for kind in ("css", "js"))
    box = re.search(r"^\.box \{([^}]*)\}", style, re.M)[1]
    assert "overflow-x: auto" in box and "max-width: 100%" in box
    assert ".box.more" in style and ".cue" in style and "more column" in script and "ResizeObserver" in script
    widths = [float(size) for size in re.findall(r"min-width: ([\d.]+)rem", style)]
    assert all(15 * size <= 1280 for size in widths)
    assert re.search(r"\.plots figure \{[^}]*overflow-x: auto", style)  # what is wider than a phone scrolls by itself
    assert re.search(r"body \{[^}]*max-width: 84rem", style) and "@media (max-width: 40rem)" in style


def test_every_table_of_a_page_lies_in_a_box(page):
    tree = Tree(page)
    tables = [part for part in tree.found if part[0] == "table"]
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


def test_the_best_is_called_by_its_method_where_its_row_has_another_name(make_entry):
    spec = TableSpec("Figure", "", "", "test_accuracy_pct", True, ("dataset", "metric"))
    entry = replace(make_entry("reg tuned", values=(80.0, 81.0), expected=2), column=("mnist", "test accuracy %"))
    names = {("reg tuned", "", entry.column): ("shareboost", "mnist")}
    (best,) = best_of(build(spec, [entry]), [entry], "a", "A", names)
    assert best.method == "shareboost: reg tuned"


def test_of_several_bests_the_lowest_stays():
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
