from __future__ import annotations

import csv
import dataclasses
import io
import math
import re
import shutil
import subprocess
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from boostrun.errors import BoostrunError
from boostrun.report import markup
from boostrun.report.entry import Entry
from boostrun.report.layout import render_latex, render_markdown, render_text, write
from boostrun.report.markup import escape_latex
from boostrun.report.table import TableSpec, build, write_differences

SPEC = TableSpec("Strategies", "reservoir", "table3", "test_accuracy_pct", True, ("dataset", "r"))
TEN = (84.1, 84.9, 84.4, 84.3, 84.8, 84.6, 84.5, 84.2, 84.7, 84.65)


def cells_of(markdown, row):
    line = next(line for line in markdown.splitlines() if line.startswith(f"| {row} "))
    return [cell.strip() for cell in line.strip("|").split("|")][1:]


def page(*entries, spec=SPEC):
    return render_markdown(build(spec, list(entries)))


def test_a_cell_shows_ours_the_papers_figure_and_the_signed_difference(make_entry):
    shown = page(make_entry(values=TEN))
    assert cells_of(shown, "geem") == ["84.52 (0.26)", "84.66 (0.30)", "-0.15"]
    assert "n = 10 trials" in shown and "10 assumed" in shown
    low = build(SPEC, [make_entry(values=[v - 2 for v in TEN])])
    assert cells_of(render_markdown(low), "geem")[2] == "-2.15 ≠" and bool(low.lines()[0]["differs"])
    one = build(SPEC, [make_entry(values=[10.0], expected=1)])  # neither a deviation nor a test
    assert cells_of(render_markdown(one), "geem") == ["10.00", "84.66 (0.30)", "-74.66"]
    assert not one.lines()[0]["differs"] and math.isnan(one.lines()[0]["std"])


def test_counts_have_no_decimals_and_lower_may_be_better(make_entry):
    spec = TableSpec("Errors", "", "", "test_errors", False, ("dataset", "r"))
    whole = [make_entry(row, values=[{"test_errors": n}]) for row, n in (("geem", 74), ("rand", 1153))]
    assert cells_of(page(*whole, spec=spec), "rand")[0].startswith("1\u202f153 1/10")
    mixed = [*whole, make_entry("wsam", values=[{"test_errors": n} for n in (1, 2)])]
    assert cells_of(page(*mixed, spec=spec), "geem")[0].startswith("74.00")
    assert cells_of(page(make_entry("geem", values=[75.0])), "geem")[0].startswith("75.00")  # no count
    spec = dataclasses.replace(SPEC, metric="test_error_pct", higher_is_better=False)
    rows = [make_entry(row, values=[{"test_error_pct": v + up} for v in TEN]) for row, up in (("geem", 5), ("rand", 0))]
    assert [line["rank"] for line in build(spec, rows).lines()] == ["worse", "best"]
    shown = page(*rows, spec=spec)
    assert cells_of(shown, "rand") == ["**84.52 (0.26) ★**"] and "lower is better" in shown


def test_incomplete_missing_and_stale_cells_are_seen_with_their_reasons(make_entry):
    table = build(SPEC, [
        make_entry("geem", values=TEN, stale=4), make_entry("rand", values=TEN[:7], failed=3),
        make_entry("max", reason="no data: datasets/mnist not found"), make_entry("wsam"),
    ])  # fmt: skip
    shown = render_markdown(table)
    assert "†" in cells_of(shown, "geem")[0] and "7/10" in cells_of(shown, "rand")[0]
    assert cells_of(shown, "max")[0] == "— [2]"
    for line in ("- [1] 3 trials failed", "- [2] no data: datasets/mnist not found", "- [3] not run yet",
                 "geem mnist r=100: 4 of 10", "Of 4 cells 2 are missing (—) and 1 incomplete"):  # fmt: skip
        assert line in shown
    assert table.missing == [
        ("rand · mnist r=100", "7 of 10 trials: 3 trials failed"),
        ("max · mnist r=100", "no data: datasets/mnist not found"),
        ("wsam · mnist r=100", "not run yet"),
    ]
    assert build(SPEC, [make_entry(values=TEN)]).missing == []


def test_records_that_are_no_trials_and_trials_that_several_cells_show_are_counted_as_such(make_entry, make_record):
    table = build(SPEC, [make_entry(values=[84.0, None, math.nan, 85.0], expected=4)])
    assert table.lines()[0]["n"] == 2
    assert table.missing[0][1] == "2 of 4 trials: test_accuracy_pct absent or not finite in 2 records"
    twice = dataclasses.replace(make_entry(expected=2), records=[make_record(0, 80.0), make_record(0, 90.0, key="z")])
    table = build(SPEC, [twice])
    assert (table.cells[0].n, table.cells[0].mean) == (1, 80.0) and "same seeds" in table.missing[0][1]
    failed = make_record(1, {}, status="failed", error={"type": "MemoryError"})
    table = build(SPEC, [dataclasses.replace(make_entry(expected=2), records=[make_record(0), failed])])
    assert (table.cells[0].n, table.cells[0].failed) == (1, 1) and "1 trial failed" in table.missing[0][1]
    whole = make_entry("geem", values=TEN)
    keys = frozenset(record["key"] for record in whole.records[:3])
    entries = [dataclasses.replace(whole, column=("mnist", f"r={r}"), sampled=keys) for r in (100, 250)]
    shown = render_markdown(build(SPEC, entries))
    assert "‡ 3 of 10 trials were made by code that has changed since" in shown
    assert "‡" not in render_markdown(build(SPEC, [whole]))


def test_who_learns_nothing_is_compared_with_no_method_and_who_is_untested_is_said_to_be(make_entry):
    rows = [make_entry("geem", values=TEN), make_entry("wsam", values=[v - 2 for v in TEN]),
            make_entry("last_label", values=[v + 5 for v in TEN])]  # fmt: skip
    spec = dataclasses.replace(SPEC, naught=("last_label",))
    assert [cell.rank for cell in build(spec, rows).cells] == ["best", "worse", ""]
    assert [cell.rank for cell in build(SPEC, rows).cells][-1] == "best"
    assert "Compared with no method: last_label." in page(*rows, spec=spec)
    assert "Compared with no method" not in page(*rows[:2], spec=spec)
    quick = dataclasses.replace(SPEC, quick="quick: 2 trials, T=50")
    few = page(*(make_entry(row, values=[v, v + 1], expected=2) for row, v in (("geem", 80), ("rand", 70))), spec=quick)
    assert "[quick: 2 trials, T=50]" in few.splitlines()[0] and "The others are not tested against it" in few
    mixed = [make_entry("geem", values=TEN), make_entry("rand", values=TEN), make_entry("max", values=TEN[:3])]
    assert "The others are not tested" in page(*mixed)  # two best of equal means, and three seeds of the third
    mixed[1] = make_entry("rand", values=[v - 1 for v in TEN])
    assert "3/10 ?" in page(*mixed)


def test_each_data_set_is_a_block_and_settings_become_rows_of_methods_that_compete_within_one(make_entry):
    entries = [
        make_entry(row, values=[v + up for v in TEN], setting=setting)
        for row, up, setting in (("geem", 1, "paper"), ("rand", 0, "paper"), ("geem", 3, "tuned"), ("rand", 5, "tuned"))
    ]
    frame = pd.DataFrame(build(SPEC, entries).lines())
    assert frame["row"].tolist() == ["geem (paper)", "rand (paper)", "geem (tuned)", "rand (tuned)"]
    assert frame["rank"].tolist() == ["best", "worse", "worse", "best"]
    assert [line["row"] for line in build(SPEC, entries[:2]).lines()] == ["geem", "rand"]
    shown = page(*(make_entry(row, data, r, TEN) for row, data, r in (
        ("geem", "mnist", 100), ("wsam", "mnist", 250), ("geem", "inria", 100))))  # fmt: skip
    assert shown.index("## mnist") < shown.index("## inria")
    assert cells_of(shown, "wsam")[:3] == ["", "", ""]


def test_notes_of_the_paper_are_numbered_and_a_cost_can_be_the_metric(make_entry):
    spec = dataclasses.replace(SPEC, table="table4", columns=("dataset",))
    where = {"dataset": "mnist", "method": "oza"}
    shown = page(Entry("oza", ("mnist",), where, 10, make_entry(values=TEN).records), spec=spec)
    assert cells_of(shown, "oza")[1] == "84.85 (0.54) [1]"
    assert "- [1] the source lost this table's column heads" in shown
    alone = page(make_entry(values=TEN), spec=dataclasses.replace(SPEC, paper="", table=""))
    assert cells_of(alone, "geem") == ["84.52 (0.26)"] and "paper" not in alone
    spec = TableSpec("Time", "reservoir", "text_timing", "train_seconds", False, ("r",))
    records = [{"seed": s, "status": "done", "metrics": {}, "cost": {"train_seconds": 2.0 + s}} for s in range(3)]
    shown = page(Entry("geem", ("r=250",), {"dataset": "inria", "method": "geem", "r": 250}, 3, records), spec=spec)
    assert cells_of(shown, "geem") == ["3.00 (1.00)", "320.00 [1]", "-317.00"]
    assert "No test where the paper gives no deviation" in shown


def test_wide_tables_are_split_into_parts_that_fit(make_entry):
    table = build(SPEC, [make_entry("geem", "mnist", r, TEN) for r in (10, 20, 30, 40, 50, 60)])
    assert sum(line.startswith("| method") for line in render_markdown(table).splitlines()) == 2
    for width in (30, 60, 100, 200):
        lines = render_text(table, width).splitlines()
        assert max(map(len, lines)) <= width
        assert all(any(f"r={r}" in line for line in lines) for r in (10, 20, 30, 40, 50, 60))
    assert len(render_text(table, 30).splitlines()) > len(render_text(table, 200).splitlines())


def test_the_csv_holds_the_lines_and_an_empty_table_is_still_a_table(make_entry):
    table = build(SPEC, [make_entry(values=TEN), make_entry("rand", reason='a "reason", with commas')])
    frame = pd.DataFrame(table.lines())
    back = pd.read_csv(io.StringIO(table.csv()), keep_default_na=False)
    assert list(back.columns) == list(frame.columns)
    assert table.csv() == frame.to_csv(index=False, float_format="%.10g", lineterminator="\n")
    assert back["missing"][1] == 'a "reason", with commas'
    assert float(back["mean"][0]) == pytest.approx(frame["mean"][0], rel=1e-9)
    table = build(SPEC, [])
    assert table.missing == []
    assert render_markdown(table).startswith("# Strategies")
    assert render_text(table, 40) and table.csv() is not None and render_latex(table)


def test_a_window_of_n_examples_and_the_number_of_trials_have_a_column_each(make_entry, tmp_path):
    spec = dataclasses.replace(SPEC, columns=("dataset", "n"))
    table = build(spec, [make_entry(row, r=n, values=TEN) for row in ("geem", "rand") for n in (100, 200)])
    assert [(line["budget.n"], line["n"]) for line in csv.DictReader(io.StringIO(table.csv()))] == [
        ("r=100", "10"), ("r=200", "10")] * 2  # fmt: skip
    write_differences(table, "geem", tmp_path)
    heads = (tmp_path / "differences.csv").read_text().splitlines()[0].split(",")
    assert heads.count("budget.n") == heads.count("n") == 1


def test_one_figure_without_randomness_is_said_to_be_tested_if_it_is(make_entry):
    fixed = dataclasses.replace(make_entry("3nn", values=[80.0], expected=1), fixed=True)
    table = build(SPEC, [make_entry(values=TEN), fixed])
    assert [line["rank"] for line in table.lines()] == ["best", "worse"]
    assert "no test where n = 1, except for 3nn: nothing there is random" in render_markdown(table)
    plain = render_markdown(build(SPEC, [make_entry(values=TEN), dataclasses.replace(fixed, fixed=False)]))
    assert "no test where n = 1." in plain


def test_markdown_text_breaks_no_table(make_entry):
    nasty = dataclasses.replace(make_entry(values=TEN), row="a|b", reason="x | <b> *y*\nz", failed=1)
    shown = render_markdown(build(SPEC, [nasty]))
    rows = [line for line in shown.splitlines() if line.startswith("| ")]
    assert len({len(re.findall(r"(?<!\\)\|", line)) for line in rows}) == 1
    assert r"x \| &lt;b> \*y\* z" in shown


@given(st.text(max_size=30), st.text(max_size=30))
@settings(max_examples=60, deadline=None)
def test_latex_is_escaped_and_balanced_whatever_the_names(row, reason):
    table = build(SPEC, [Entry(row or "x", ("mnist", "r=100"), {}, 2, [], reason=reason)])
    tex = render_latex(table)
    assert tex.isascii()
    bare = re.sub(r"\\[\\{}$&#%_]", "", tex.partition("\n")[2])
    depth = [0]
    for sign in bare:
        depth.append(depth[-1] + (sign == "{") - (sign == "}"))
    assert min(depth) == 0 == depth[-1]
    assert bare.count("$") % 2 == 0
    assert not set("#%~^") & set(bare)
    assert sorted(re.findall(r"\\begin{(\w+)}", tex)) == sorted(re.findall(r"\\end{(\w+)}", tex))


def test_latex_has_each_sign_of_a_table_and_as_many_cells_as_columns(make_entry):
    signs = {markup.BEST, markup.NOT_WORSE, markup.DIFFERS, markup.STALE, markup.SAMPLED, markup.MISSING}
    shown = [escape_latex(sign) for sign in signs]
    assert all("U+" not in text for text in shown) and len(set(shown)) == len(signs)
    tex = render_latex(build(SPEC, [make_entry("uniform_1q & co", values=TEN), make_entry("rand", r=250)]))
    columns = len(re.search(r"begin{tabular}{(l r*)|begin{tabular}{(lr*)}", tex)[2])
    rows = [line for line in tex.splitlines() if line.endswith(r" \\")]
    assert {len(re.findall(r"(?<!\\)&", row)) + 1 for row in rows} == {columns}
    assert r"uniform\_1q \& co" in tex


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs pdflatex")
def test_latex_compiles(make_entry, tmp_path):
    tex = render_latex(
        build(SPEC, [make_entry("a_b^c~d\\e", values=TEN, stale=1), make_entry("rand", reason="50 % [x] {y}")])
    )
    body = f"\\documentclass{{article}}\\usepackage{{booktabs}}\\begin{{document}}{tex}\\end{{document}}"
    (tmp_path / "t.tex").write_text(body)
    subprocess.run(["pdflatex", "-halt-on-error", "t.tex"], cwd=tmp_path, check=True, stdout=subprocess.DEVNULL)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs pdflatex")
def test_every_published_table_compiles(tmp_path):
    tables = sorted((Path(__file__).parents[2] / "results").rglob("table.tex"))
    if not tables:
        pytest.skip("this copy comes without published tables")
    for number, table in enumerate(tables):
        shutil.copy(table, tmp_path / f"{number}.tex")
    body = "".join(f"\\input{{{number}.tex}}\\clearpage\n" for number in range(len(tables)))
    head = "\\documentclass{article}\\usepackage{booktabs}\\begin{document}\n"
    (tmp_path / "all.tex").write_text(f"{head}{body}\\end{{document}}")
    done = subprocess.run(
        ["pdflatex", "-halt-on-error", "all.tex"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-2000:]
    assert (tmp_path / "all.pdf").stat().st_size > 10_000


rows_of_trials = st.dictionaries(
    st.tuples(st.sampled_from(["geem", "rand", "max"]), st.sampled_from([100, 250])),
    st.dictionaries(st.integers(0, 9), st.floats(0, 100), max_size=10),
    min_size=1,
)


def shown(trials, order, seconds, expected=4):
    entries = []
    for (row, r), values in trials.items():
        records = [
            {"key": f"{row}{r}{seed}", "seed": seed, "status": "done"}
            | {
                "metrics": {"test_accuracy_pct": value},
                "cost": {"train_seconds": seconds},
                "provenance": {"cpu": str(seconds)},
            }
            for seed, value in values.items()
        ]
        where = {"dataset": "mnist", "method": row, "r": r}
        entries.append(Entry(row, ("mnist", f"r={r}"), where, expected, order.sample(records, len(records))))
    table = build(SPEC, entries)
    return table, (render_markdown(table), table.csv(), render_latex(table), render_text(table, 80))


@given(rows_of_trials, st.randoms(), st.randoms())
@settings(max_examples=30, deadline=None)
def test_neither_the_order_of_records_nor_times_nor_machines_change_a_byte(trials, one, other):
    assert shown(trials, one, 1.0)[1] == shown(trials, other, 2.0)[1]


@given(rows_of_trials, st.randoms())
@settings(max_examples=30, deadline=None)
def test_missing_and_complete_cells_are_all_cells(trials, order):
    table, _ = shown(trials, order, 1.0)
    complete = {f"{row} · mnist r={r}" for (row, r), values in trials.items() if len(values) >= 4}
    missing = {label for label, _ in table.missing}
    assert complete | missing == {f"{row} · mnist r={r}" for row, r in trials}
    assert not complete & missing
    assert all(reason for _, reason in table.missing)
    assert sum(line["missing"] != "" for line in table.lines()) == len(missing)


def test_written_files_are_the_table_and_writing_again_changes_no_byte(make_entry, tmp_path):
    entry = make_entry(values=TEN)
    paths = write(build(SPEC, [entry]), tmp_path / "new" / "table3")
    assert [path.name for path in paths] == ["table.md", "table.csv", "table.tex"]
    before = [path.read_bytes() for path in paths]
    again = dataclasses.replace(entry, records=entry.records[::-1])
    assert [p.read_bytes() for p in write(build(SPEC, [again]), tmp_path / "new" / "table3")] == before
    assert sorted(p.name for p in (tmp_path / "new" / "table3").iterdir()) == sorted(p.name for p in paths)


def test_a_rename_that_fails_leaves_the_old_file_and_nothing_else(make_entry, tmp_path, monkeypatch):
    write(build(SPEC, [make_entry(values=TEN)]), tmp_path)
    before = (tmp_path / "table.md").read_bytes()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    with pytest.raises(BoostrunError, match="No space left"):
        write(build(SPEC, [make_entry()]), tmp_path)
    assert (tmp_path / "table.md").read_bytes() == before
    assert len(list(tmp_path.iterdir())) == 3


def test_mistakes_in_the_list_of_cells_are_errors_in_words(make_entry):
    with pytest.raises(BoostrunError, match="two entries"):
        build(SPEC, [make_entry(), make_entry()])
    with pytest.raises(BoostrunError, match="column labels"):
        build(dataclasses.replace(SPEC, columns=("dataset",)), [make_entry()])
    with pytest.raises(BoostrunError, match="did you mean 'reservoir'"):
        build(dataclasses.replace(SPEC, paper="resevoir"), [make_entry()])
