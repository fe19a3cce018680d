from __future__ import annotations

import dataclasses
import struct

import pytest

from boostrun.errors import BoostrunError
from boostrun.report import Entry, TableSpec, build, draw_curves, figures, share_figure, table_figure
from boostrun.report.canvas import svg, write_png
from boostrun.report.curves import curve_points
from boostrun.report.shares import _shares
from boostrun.report.sweep_figure import draw_sweep, points_of

SPEC = TableSpec("Strategies", "reservoir", "table3", "test_accuracy_pct", True, ("dataset", "r"))
TEN = (84.1, 84.9, 84.4, 84.3, 84.8, 84.6, 84.5, 84.2, 84.7, 84.65)


def size(path):
    content = path.read_bytes()
    assert content[:8] == b"\x89PNG\r\n\x1a\n"
    return struct.unpack(">II", content[16:24])


def with_curves(entry, ts=(10, 20, 40)):
    def curve(record):
        level, seconds = record["metrics"].get("test_accuracy_pct", 50), 0.01 * (1 + record["seed"])
        accuracy = [level - 100 / t for t in ts]
        return {"T": list(ts), "test_accuracy_pct": accuracy, "train_seconds": [seconds * t**2 for t in ts]}

    return dataclasses.replace(entry, records=[{**r, "curve": curve(r)} for r in entry.records])


def test_table_figures_are_1200_pixels_wide_and_equal_tables_give_equal_bytes(make_entry, tmp_path):
    entries = [make_entry("geem", values=TEN), make_entry("rand", r=250, values=TEN[:1]), make_entry("max")]
    first = table_figure(build(SPEC, entries), tmp_path / "new" / "a.png")
    turned = [dataclasses.replace(entry, records=entry.records[::-1]) for entry in entries]
    second = table_figure(build(SPEC, turned), tmp_path / "b.png")
    assert size(first)[0] == 1200
    assert first.read_bytes() == second.read_bytes()
    assert b"Software" not in first.read_bytes()


@pytest.mark.parametrize("against", ["T", "train_seconds"])
def test_curves_are_drawn_against_learners_and_costs(make_entry, tmp_path, against):
    entries = [
        with_curves(make_entry("geem", values=TEN)),
        with_curves(make_entry("rand", values=TEN[:1])),
        make_entry(),
    ]
    path = write_png(draw_curves(entries, "test_accuracy_pct", against), tmp_path / "c.png")
    assert size(path)[0] == 1200


def test_curves_with_other_checkpoints_share_what_they_have_in_common(make_entry):
    long = with_curves(make_entry(values=[80.0, 82.0]))
    short = with_curves(make_entry(values=[80.0, 82.0]), ts=(10, 20))
    mixed = dataclasses.replace(long, records=[long.records[0], short.records[1]])
    points = curve_points(mixed, "test_accuracy_pct", "T")
    assert [point[0] for point in points] == [10, 20]
    assert points[0][1] == pytest.approx(71.0)
    assert points[0][2] == pytest.approx(2**0.5)


def test_the_users_matplotlib_is_neither_used_nor_changed(make_entry, tmp_path):
    import matplotlib

    table = build(SPEC, [make_entry(values=TEN)])
    plain = table_figure(table, tmp_path / "a.png").read_bytes()
    with matplotlib.rc_context({"font.size": 30, "axes.grid": True, "savefig.dpi": 40}):
        before, backend = dict(matplotlib.rcParams), matplotlib.rcParams._get("backend")
        assert table_figure(table, tmp_path / "b.png").read_bytes() == plain
        assert dict(matplotlib.rcParams) == before
        assert matplotlib.rcParams._get("backend") == backend


def test_nothing_to_draw_is_an_error_in_words(make_entry, tmp_path):
    with pytest.raises(BoostrunError, match="nothing to draw"):
        table_figure(build(SPEC, [dataclasses.replace(make_entry(), where={})]), tmp_path / "a.png")
    with pytest.raises(BoostrunError, match="no record has a curve of test_accuracy_pct against T"):
        draw_curves([make_entry(values=TEN)], "test_accuracy_pct", "T")
    assert not list(tmp_path.iterdir())


def test_shares_are_those_between_checkpoints(tmp_path):
    def record(seed, first):
        steps = {"hog": [0, first, 8], "lbp": [1, 2 - first, 2]}
        return {"seed": seed, "status": "done", "curve": {"T": [1, 2, 10], "family_steps": steps}}

    entry = Entry("ucb", ("mnist",), {}, 2, [record(0, 1), record(1, 0)])
    edges, shares = _shares(entry)
    assert edges == [0.8, 1, 2, 10]
    assert shares["hog"] == pytest.approx([0.0, 0.5, 7.5 / 8]) and shares["lbp"] == pytest.approx([1.0, 0.5, 0.5 / 8])
    assert (
        share_figure([entry], tmp_path / "a.png").read_bytes() == share_figure([entry], tmp_path / "b.png").read_bytes()
    )
    with pytest.raises(BoostrunError, match="families"):
        share_figure([Entry("geem", ("mnist",), {}, 1, [{"seed": 0, "curve": {"T": [1]}}])], tmp_path / "c.png")


def shared(row, curve, metrics, column=("mnist",)):
    record = {"seed": 0, "status": "done", "metrics": metrics, "curve": curve}
    return Entry(row, column, {}, 1, [record])


def test_a_path_of_points_is_drawn_at_its_points_not_at_every_t():
    path = {"columns": [0, 2, 2, 7], "error": [90.0, 50.0, 40.0, 10.0]}
    entry = shared("mixed_norm", {"T": [1, 2, 3], "error": [90, 40, 40], "path": path}, {})
    assert [point[:2] for point in curve_points(entry, "error", "T")] == [(2, 50.0), (2, 40.0), (7, 10.0)]
    plain = shared("shareboost", {"T": [1, 2], "error": [90, 40]}, {})
    assert [point[:2] for point in curve_points(plain, "error", "T")] == [(1, 90), (2, 40)]


def test_levels_points_of_the_paper_and_what_t_is_called_are_drawn():
    curve = shared("shareboost", {"T": [1, 2], "error": [9, 4]}, {})
    svm = shared("svm", {"misclassified": []}, {"error": 1.5, "support_vectors": 8912})
    draw = lambda **more: svg(draw_curves([curve, svm], "error", "T", **more), "a")  # noqa: E731
    point = figures.PaperPoint("mnist", 2, 3.0, "recalled")
    drawn = [
        draw(), draw(t_name="features used"), draw(levels={"svm": "support_vectors"}), draw(levels={"svm": "nothing"}),
        draw(paper=[point]), draw(paper=[point._replace(note="")]),
    ]  # fmt: skip
    assert len(set(drawn)) == len(drawn)
    assert draw(paper=[point._replace(panel="other")]) == draw()
    assert figures.level_entries([curve, svm], {"svm": ""}, "error", "other") == []


def test_figures_that_span_decades_have_a_logarithmic_axis():
    scales = []
    for last in (1.0, 9.0, 0.0):
        curve = shared("shareboost", {"T": [1, 2], "error": [90.0, last]}, {})
        scales.append(draw_curves([curve], "error", "T").axes[0].get_yscale())
    assert scales == ["log", "linear", "linear"]


def test_tables_name_their_rows_once_and_span_decades_alike(make_entry, tmp_path, monkeypatch):
    seen = []
    monkeypatch.setattr(figures, "save", lambda figure, *_: seen.extend(figure.axes))
    entries = [
        make_entry(row, dataset, values=(value,))
        for dataset, low in (("digits", 0.5), ("mnist", 40.0))
        for row, value in (("geem", low), ("rand", 90.0))
    ]
    table_figure(build(SPEC, entries), tmp_path / "a.png")
    assert [axes.get_xscale() for axes in seen[:2]] == ["log", "linear"]
    labels = [[label.get_text() for label in axes.get_yticklabels()] for axes in seen[:2]]
    assert labels[0] == ["geem", "rand"] and not any(labels[1])


def test_a_sweep_is_drawn_where_all_trials_got_there(tmp_path):
    entries = [
        dataclasses.replace(shared(row, {}, {"needed": needed}, (head, f"classes={k}")), metric="needed")
        for head in ("to 20", "to 8") for row in ("a", "b") for k, needed in ((2, 1), (10, 6 if row == "a" else None))
    ]  # fmt: skip
    path = write_png(draw_sweep(entries, 1, "classes"), tmp_path / "a.png")
    assert size(path)[0] == 1200
    assert points_of(entries[2:4], 1)[0][:2] == (2.0, 1.0) and len(points_of(entries[2:4], 1)) == 1
    with pytest.raises(BoostrunError, match="nothing to draw: no complete cell against classes"):
        draw_sweep(entries[3:4], 1, "classes")
