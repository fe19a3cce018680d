from __future__ import annotations

import dataclasses
import itertools
import struct

import pytest

from boostrun.errors import BoostrunError
from boostrun.report import Entry, TableSpec, build, draw_curves, figures, share_figure, table_figure
from boostrun.report import canvas as looks
from boostrun.report.canvas import svg, write_png
from boostrun.report.curves import curve_points
from boostrun.report.drift_figure import draw_sweep, points_of
from boostrun.report.formats import axis_name
from boostrun.report.tuning import _shares

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


@pytest.mark.parametrize("metric, last, scale", [
    ("error", 9.0, "log"), ("error", 1.0, "log"), ("error", 0.0, "linear"), ("loss", 9.0, "linear"),
    ("loss", 1.0, "log"), ("test_accuracy_pct", 10.0, "log"),
])  # fmt: skip
def test_axes_of_errors_and_of_what_spans_decades_are_logarithmic_from_the_best_on(metric, last, scale):
    axes = draw_curves([shared("shareboost", {"T": [1, 2], metric: [90.0, last]}, {})], metric, "T").axes[0]
    assert axes.get_yscale() == scale
    assert scale == "linear" or 0 < axes.get_ylim()[0] < last < 90 < axes.get_ylim()[1] < 110
    assert scale == "linear" or axes.get_ylim()[0] > 0.8 * min(last, 90)


def many(methods, kinds=("r=100",), settings=("",), marks=(1, 10, 100)):
    return [
        Entry(f"method_{number}", ("mnist", kind), {}, 1, [{"seed": 0, "curve": {
            "T": list(marks), "test_error_pct": [90 - number, 30 + number / 9, 5 + number / 50]}}], setting=setting)
        for number in range(methods) for kind in kinds for setting in settings
    ]  # fmt: skip


@pytest.mark.parametrize("methods, kinds, settings", [(13, 1, 1), (4, 2, 2), (8, 3, 2), (3, 2, 1), (1, 7, 1)])
def test_a_panel_has_at_most_six_lines_and_all_are_drawn_once(methods, kinds, settings):
    entries = many(methods, [f"r={number}" for number in range(kinds)], ["", "tuned"][:settings])
    shown = [axes for axes in draw_curves(entries, "test_error_pct", "T").axes if axes.get_visible()]
    lines = [[line for line in axes.get_lines() if line.get_gid() != "leader"] for axes in shown]
    assert sum(map(len, lines)) == len(entries) and all(1 <= len(drawn) <= 6 for drawn in lines)
    assert len({axes.get_ylim() for axes in shown}) == 1  # to be compared by eye


def test_a_method_has_one_hue_and_a_setting_one_dash_in_all_panels():
    entries = many(9, ["r=1", "r=2"], ["paper", "tuned"])
    hues, dashes = {}, {}
    for axes in draw_curves(entries, "test_error_pct", "T").axes:
        texts = {text.get_text(): text.get_color() for text in axes.texts if text.get_gid() == "name"}
        for name, colour in texts.items():
            hues.setdefault(name, set()).add(colour)
        setting = "paper" if "paper" in axes.get_title() else "tuned"
        drawn = [line for line in axes.get_lines() if line.get_gid() != "leader"]
        dashes.setdefault(setting, set()).update(line.get_linestyle() for line in drawn)
    assert len(hues) == 9 and all(len(one) == 1 for one in hues.values()) and len(set.union(*hues.values())) == 9
    assert all(len(one) == 1 for one in dashes.values()) and dashes["paper"] != dashes["tuned"]


def test_thirty_methods_have_thirty_hues():
    assert len({looks.hue(place) for place in range(30)}) == 30


def test_names_at_the_ends_of_lines_do_not_overlap_and_stay_inside_the_picture():
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    figure = draw_curves(many(12), "test_error_pct", "T")
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    whole = figure.bbox
    for axes in figure.axes:
        names = [text.get_window_extent() for text in axes.texts if text.get_gid() == "name"]
        names.sort(key=lambda box: box.y0)
        assert len(names) == 6 and all(below.y1 <= above.y0 + 1 for below, above in itertools.pairwise(names))
        assert all(box.x1 <= whole.x1 and box.y1 <= whole.y1 and box.y0 >= 0 for box in names)


def test_no_axis_of_a_curve_is_called_by_a_variable():
    curve = {"T": [1, 2], "train_seconds": [0.1, 0.2], "samples_drawn": [5, 9], "evaluations": [1, 2], "loss": [2, 1]}
    entry = shared("geem", curve, {})
    told = [draw_curves([entry], "loss", against).axes[0].get_xlabel() for against in curve if against != "loss"]
    assert told == ["weak learners", "training time (s)", "samples drawn", "evaluations of a feature on a sample"]
    metrics = ("test_accuracy_pct", "log10_loss", "time_s", "select_seconds", "peak_memory_mb", "n_features_used")
    assert not any("_" in axis_name(metric) for metric in metrics)


def test_tables_name_their_rows_once_and_span_decades_alike(make_entry):
    entries = [
        make_entry(row, dataset, values=(value,))
        for dataset, low in (("digits", 0.5), ("mnist", 40.0))
        for row, value in (("geem", low), ("rand", 90.0))
    ]
    seen = figures.draw_table(build(SPEC, entries)).axes
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
