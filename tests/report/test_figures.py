"""Figures of tables, curves, streams, sweeps, trade-offs and predictions: their panels and lines."""

from __future__ import annotations

import dataclasses
import itertools
import struct

import numpy as np
import pytest

from boostrun.evaluation.measures import Calibration
from boostrun.papers.iboost.figures import drift_types_figure
from boostrun.report import canvas, figures
from boostrun.report.canvas import svg, write_png
from boostrun.report.confusion import Reliability, draw_reliability
from boostrun.report.entry import Entry, curve_points, family_shares, sweep_points
from boostrun.report.figures import Extras, Tradeoff, draw_curves, draw_stream, draw_sweep, draw_table
from boostrun.report.markup import axis_name
from boostrun.report.table import TableSpec, build

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


def shared(row, curve, metrics, column=("mnist",)):
    record = {"seed": 0, "status": "done", "metrics": metrics, "curve": curve}
    return Entry(row, column, {}, 1, [record])


def texts(axes, of="name"):
    return {text.get_text() for text in axes.texts if text.get_gid() == of}


# -- tables ------------------------------------------------------------------------------------------------------


def test_table_figures_are_1200_pixels_wide_and_equal_tables_give_equal_bytes(make_entry, tmp_path):
    entries = [make_entry("geem", values=TEN), make_entry("rand", r=250, values=TEN[:1]), make_entry("max")]
    first = write_png(draw_table(build(SPEC, entries)), tmp_path / "new" / "a.png")
    turned = [dataclasses.replace(entry, records=entry.records[::-1]) for entry in entries]
    second = write_png(draw_table(build(SPEC, turned)), tmp_path / "b.png")
    assert size(first)[0] == 1200
    assert first.read_bytes() == second.read_bytes() and b"Software" not in first.read_bytes()


def test_the_users_matplotlib_is_neither_used_nor_changed(make_entry, tmp_path):
    import matplotlib

    table = build(SPEC, [make_entry(values=TEN)])
    plain = write_png(draw_table(table), tmp_path / "a.png").read_bytes()
    with matplotlib.rc_context({"font.size": 30, "axes.grid": True, "savefig.dpi": 40}):
        before, backend = dict(matplotlib.rcParams), matplotlib.rcParams._get("backend")
        assert write_png(draw_table(table), tmp_path / "b.png").read_bytes() == plain
        assert dict(matplotlib.rcParams) == before
        assert matplotlib.rcParams._get("backend") == backend


def test_tables_name_their_rows_once_and_span_decades_alike(make_entry):
    entries = [
        make_entry(row, dataset, values=(value,))
        for dataset, low in (("digits", 0.5), ("mnist", 40.0))
        for row, value in (("geem", low), ("rand", 90.0))
    ]
    seen = draw_table(build(SPEC, entries)).axes
    assert [axes.get_xscale() for axes in seen[:2]] == ["log", "linear"]
    labels = [[label.get_text() for label in axes.get_yticklabels()] for axes in seen[:2]]
    assert labels[0] == ["geem", "rand"] and not any(labels[1])


def test_an_empty_figure_is_none(make_entry):
    bare = dataclasses.replace(make_entry(), where={})
    assert draw_table(build(SPEC, [bare])) is None
    assert draw_curves([make_entry(values=TEN)], "test_accuracy_pct", "T") is None
    assert draw_stream([make_entry(values=TEN)], "test_accuracy_pct") is None
    assert figures.draw_families([shared("geem", {"T": [1]}, {})]) is None
    assert figures.draw_tradeoff([make_entry(values=TEN)], Tradeoff("a", "b", 1)) is None


# -- curves ------------------------------------------------------------------------------------------------------


def test_a_path_of_points_is_drawn_at_its_points_and_other_checkpoints_where_they_agree(make_entry):
    long = with_curves(make_entry(values=[80.0, 82.0]))
    short = with_curves(make_entry(values=[80.0, 82.0]), ts=(10, 20))
    mixed = dataclasses.replace(long, records=[long.records[0], short.records[1]])
    points = curve_points(mixed, "test_accuracy_pct", "T")
    assert [point[0] for point in points] == [10, 20]
    assert points[0][1:] == pytest.approx((71.0, 2**0.5))
    path = {"columns": [0, 2, 2, 7], "error": [90.0, 50.0, 40.0, 10.0]}
    entry = shared("mixed_norm", {"T": [1, 2, 3], "error": [90, 40, 40], "path": path}, {})
    assert [point[:2] for point in curve_points(entry, "error", "T")] == [(2, 50.0), (2, 40.0), (7, 10.0)]
    plain = shared("shareboost", {"T": [1, 2], "error": [90, 40]}, {})
    assert [point[:2] for point in curve_points(plain, "error", "T")] == [(1, 90), (2, 40)]


def test_levels_points_of_the_paper_and_what_t_is_called_are_drawn():
    curve = shared("shareboost", {"T": [1, 2], "error": [9, 4]}, {})
    svm = shared("svm", {"misclassified": []}, {"error": 1.5, "support_vectors": 8912})
    draw = lambda **more: svg(draw_curves([curve, svm], "error", "T", Extras(**more)), "a")  # noqa: E731
    point = figures.PaperPoint("mnist", 2, 3.0, "recalled")
    drawn = [
        draw(), draw(t_name="features used"), draw(levels={"svm": "support_vectors"}), draw(levels={"svm": "nothing"}),
        draw(paper={"error": [point]}), draw(paper={"error": [point._replace(note="")]}),
    ]  # fmt: skip
    assert len(set(drawn)) == len(drawn)
    assert draw(paper={"error": [point._replace(panel="other")]}) == draw()
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


@pytest.mark.parametrize("methods, kinds, settings", [(13, 1, 1), (8, 3, 2), (1, 7, 1)])
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
        for text in axes.texts:
            if text.get_gid() == "name":
                hues.setdefault(text.get_text(), set()).add(text.get_color())
        setting = "paper" if "paper" in axes.get_title() else "tuned"
        drawn = [line for line in axes.get_lines() if line.get_gid() != "leader"]
        dashes.setdefault(setting, set()).update(line.get_linestyle() for line in drawn)
    assert len(hues) == 9 and all(len(one) == 1 for one in hues.values()) and len(set.union(*hues.values())) == 9
    assert all(len(one) == 1 for one in dashes.values()) and dashes["paper"] != dashes["tuned"]
    assert len({canvas.hue(place) for place in range(30)}) == 30


def test_names_at_the_ends_of_lines_do_not_overlap_and_stay_inside_the_picture():
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    figure = draw_curves(many(12), "test_error_pct", "T")
    FigureCanvasAgg(figure).draw()
    whole = figure.bbox
    for axes in figure.axes:
        names = [text.get_window_extent() for text in axes.texts if text.get_gid() == "name"]
        names.sort(key=lambda box: box.y0)
        assert len(names) == 6 and all(below.y1 <= above.y0 + 1 for below, above in itertools.pairwise(names))
        assert all(box.x1 <= whole.x1 and box.y1 <= whole.y1 and box.y0 >= 0 for box in names)


def test_no_axis_of_a_curve_is_called_by_a_variable():
    curve = {"T": [1, 2], "train_seconds": [0.1, 0.2], "samples_drawn": [5, 9], "evaluations": [1, 2], "loss": [2, 1]}
    entry = shared("geem", curve, {})
    labels = [draw_curves([entry], "loss", against).axes[0].get_xlabel() for against in curve if against != "loss"]
    assert labels == ["weak learners", "training time (s)", "samples drawn", "evaluations of a feature on a sample"]
    metrics = ("test_accuracy_pct", "log10_loss", "time_s", "select_seconds", "peak_memory_mb", "n_features_used")
    assert not any("_" in axis_name(metric) for metric in metrics)


# -- streams -----------------------------------------------------------------------------------------------------

CURVES = ((90.0, 92.0, 80.0, 91.0), (92.0, 94.0, 84.0, 93.0))


def streamed(row, curves=CURVES, examples=(200, 400, 600, 800), column="sea"):
    stream = {"concepts": ["x1 + x2 <= 8", "x1 + x2 <= 9"], "bayes_accuracy_pct": 95.0}
    records = [
        {
            "seed": seed, "metrics": {"test_accuracy_pct": sum(curve) / len(curve)},
            "curve": {"examples": list(examples), "test_accuracy_pct": list(curve), "changes": [500], "stream": stream},
        } for seed, curve in enumerate(curves)
    ]  # fmt: skip
    return Entry(row, (column,), {}, len(records), records, metric="")


def test_streams_have_a_panel_each_with_changes_as_dashed_lines_and_levels_as_figures():
    (axis,) = draw_stream([streamed("iboost"), streamed("ocb")], "test_accuracy_pct").axes
    lines = axis.get_lines()
    assert lines[0].get_ydata().tolist() == [91.0, 93.0, 82.0, 92.0]
    dashed = [line.get_xdata()[0] for line in lines if line.get_linestyle() == "--" and len(line.get_xdata()) == 2]
    assert dashed == [500]
    names = {text.get_text(): text.get_position()[0] for text in axis.texts if "x1" in text.get_text()}
    assert names == {"x1 + x2 <= 8": 250, "x1 + x2 <= 9": 650}
    assert any(line.get_linestyle() == ":" and line.get_ydata()[0] == 95.0 for line in lines)
    assert len(axis.collections) == 2  # a band each
    made = [
        streamed("iboost"), streamed("no_change", ((50.0, 60.0, 50.0, 60.0),)), streamed("iboost", column="led")
    ]  # fmt: skip
    sea, led = draw_stream(made, "test_accuracy_pct", Extras(levels={"no_change": ""})).axes
    assert (sea.get_title(), led.get_title()) == ("sea", "led")
    assert "no_change: 55.00" in texts(sea, None) and len(sea.collections) == 1 and sea.get_ylim()[0] > 60.0
    assert not any("no_change" in text for text in texts(led, None))


# -- sweeps, trade-offs, families ----------------------------------------------------------------------------------


def test_a_sweep_is_drawn_where_all_trials_got_there_and_a_trade_off_has_a_point_for_each_window(tmp_path):
    entries = [
        dataclasses.replace(shared(row, {}, {"needed": needed}, (head, f"classes={k}")), metric="needed")
        for head in ("to 20", "to 8") for row in ("a", "b") for k, needed in ((2, 1), (10, 6 if row == "a" else None))
    ]  # fmt: skip
    assert size(write_png(draw_sweep(entries, 1, "classes"), tmp_path / "a.png"))[0] == 1200
    assert sweep_points(entries[2:4], 1)[0][:2] == (2.0, 1.0) and len(sweep_points(entries[2:4], 1)) == 1
    assert draw_sweep(entries[3:4], 1, "classes") is None

    def of(metric, n, values):
        records = [{"seed": seed, "metrics": {metric: value}} for seed, value in enumerate(values)]
        return Entry("iboost", (metric, f"n={n}"), {}, 2, records, metric=metric)

    made = [of("tail_accuracy_pct", 100, (90.0, 92.0)), of("recovery_pct", 100, (80.0, 82.0)),
            of("tail_accuracy_pct", 500, (95.0, 95.0)), of("recovery_pct", 500, (70.0, 70.0)),
            of("recovery_pct", 900, (60.0,))]  # fmt: skip
    (axis,) = figures.draw_tradeoff(made, Tradeoff("tail_accuracy_pct", "recovery_pct", 1)).axes
    assert axis.get_lines()[0].get_xdata().tolist() == [91.0, 95.0]
    assert axis.get_lines()[0].get_ydata().tolist() == [81.0, 70.0]
    assert [text.get_text() for text in axis.texts] == ["n=100", "n=500"]


def test_shares_are_those_between_checkpoints():
    def record(seed, first):
        steps = {"hog": [0, first, 8], "lbp": [1, 2 - first, 2]}
        return {"seed": seed, "status": "done", "curve": {"T": [1, 2, 10], "family_steps": steps}}

    entry = Entry("ucb", ("mnist",), {}, 2, [record(0, 1), record(1, 0)])
    edges, shares = family_shares(entry)
    assert edges == [0.8, 1, 2, 10]
    assert shares["hog"] == pytest.approx([0.0, 0.5, 7.5 / 8]) and shares["lbp"] == pytest.approx([1.0, 0.5, 0.5 / 8])
    found = list(figures.curve_figures([], [entry], [], Extras()))
    assert [one.stem for one in found] == ["families"] and len(found[0].figure.axes[0].collections) == 2


def test_the_kinds_of_drift_are_drawn(tmp_path):
    first = drift_types_figure(tmp_path / "a.png").read_bytes()
    assert first[:8] == b"\x89PNG\r\n\x1a\n" and first == drift_types_figure(tmp_path / "b.png").read_bytes()


# -- how sure methods are ------------------------------------------------------------------------------------------


def reliability(methods):
    bins = np.zeros((3, 10))
    bins[:, 9], bins[:, 4] = (50, 48, 40), (9, 4, 4)
    return [Reliability(Entry(name, ("digits", ""), {}, 1, []), Calibration(np.ones(2), bins)) for name in methods]


def test_reliability_is_a_line_a_method_in_panels_of_six_with_no_point_of_few_samples():
    upper, lower = draw_reliability(reliability(["geem", "rand"]), "digits", ["wsam", "geem", "rand"]).axes
    lines = [line for line in upper.get_lines() if line.get_marker() == "o"]
    assert [line.get_xydata().tolist() for line in lines] == [[[96.0, 80.0]]] * 2
    assert texts(upper) == {"geem", "rand"}
    assert lines[0].get_color() == "#D55E00"  # the hue of its place in the run, as in every other picture
    heights = sorted(bar.get_height() for bar in lower.patches)
    assert len(heights) == 20 and [round(height) for height in heights[-4:]] == [15, 15, 85, 85]
    names = [f"m{number}" for number in range(8)]
    drawn = draw_reliability(reliability(names), "digits", names).axes
    counts = [sum(line.get_marker() == "o" for line in axis.get_lines()) for axis in drawn]
    assert [count for count in counts if count] == [4, 4]


def test_intervals_of_percentages_end_at_0_and_100(make_entry):
    entries = [
        make_entry("geem", "digits", values=[99.9, 99.0, 100.0]),
        make_entry("rand", "digits", values=[0.1, 0.0, 1.0]),
    ]
    axis, *_ = draw_table(build(SPEC, entries)).axes
    ends = [x for line in axis.lines for x in line.get_xdata()]
    ends += [x for part in axis.collections for segment in part.get_segments() for x, _ in segment]
    assert ends and min(ends) >= 0.0 and max(ends) == 100.0
