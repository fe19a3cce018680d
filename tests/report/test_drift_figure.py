"""Curves along a stream: what is drawn where."""

import pytest

from boostrun.errors import BoostrunError
from boostrun.papers.iboost.figures import drift_types_figure
from boostrun.report import Entry
from boostrun.report import drift_figure as figures
from boostrun.report.canvas import write_png
from boostrun.report.curves import curve_points

CURVES = ((90.0, 92.0, 80.0, 91.0), (92.0, 94.0, 84.0, 93.0))


def entry(row, curves=CURVES, examples=(200, 400, 600, 800), column="sea"):
    stream = {"concepts": ["x1 + x2 <= 8", "x1 + x2 <= 9"], "bayes_accuracy_pct": 95.0}
    records = [
        {
            "seed": seed, "metrics": {"test_accuracy_pct": sum(curve) / len(curve)},
            "curve": {"examples": list(examples), "test_accuracy_pct": list(curve), "changes": [500], "stream": stream},
        } for seed, curve in enumerate(curves)
    ]  # fmt: skip
    return Entry(row, (column,), {}, len(records), records, metric="")


@pytest.fixture
def drawn(monkeypatch):
    """The axes of the figures that are saved."""
    found = []
    save = figures.save
    monkeypatch.setattr(figures, "save", lambda figure, *given: (found.extend(figure.axes), save(figure, *given))[1])
    return found


def test_means_and_deviations_at_the_checkpoints_that_all_trials_have():
    short = entry("a", CURVES[:1], (200, 400, 600, 800)).records + entry("a", [(92.0, 94.0)], (400, 800)).records
    points = curve_points(Entry("a", ("sea",), {}, 2, short), "test_accuracy_pct", "examples")
    examples, mean, std = map(list, zip(*points))
    assert (examples, mean) == ([400, 800], [92.0, 92.5]) and std == pytest.approx([0.0, 1.5 * 2**0.5])


def test_changes_are_dashed_lines_with_the_concepts_names():
    (axis,) = figures.draw_drift([entry("iboost"), entry("ocb")], "test_accuracy_pct").axes
    lines = axis.get_lines()
    assert lines[0].get_ydata().tolist() == [91.0, 93.0, 82.0, 92.0]
    dashed = [line.get_xdata()[0] for line in lines if line.get_linestyle() == "--" and len(line.get_xdata()) == 2]
    assert dashed == [500]
    names = {text.get_text(): text.get_position()[0] for text in axis.texts if "x1" in text.get_text()}
    assert names == {"x1 + x2 <= 8": 250, "x1 + x2 <= 9": 650}
    assert any(line.get_linestyle() == ":" and line.get_ydata()[0] == 95.0 for line in lines)
    assert len(axis.collections) == 2  # a band each


def test_each_data_set_has_a_panel_and_equal_figures_are_equal_files(tmp_path):
    made = [entry("a"), entry("a", column="led")]
    one, two = (figures.draw_drift(made, "test_accuracy_pct") for _ in range(2))
    assert [axis.get_title() for axis in one.axes] == ["sea", "led"]
    assert write_png(one, tmp_path / "a.png").read_bytes() == write_png(two, tmp_path / "b.png").read_bytes()
    with pytest.raises(BoostrunError, match="no record has a curve of recovery_pct"):
        figures.draw_drift(made, "recovery_pct")


def test_rows_that_are_levels_are_figures_in_their_panel_and_no_lines():
    made = [entry("iboost"), entry("no_change", ((50.0, 60.0, 50.0, 60.0),)), entry("iboost", column="led")]
    sea, led = figures.draw_drift(made, "test_accuracy_pct", levels={"no_change": ""}).axes
    assert "no_change: 55.00" in [text.get_text() for text in sea.texts]
    assert not any("no_change" in text.get_text() for text in led.texts) and len(sea.collections) == 1
    assert sea.get_ylim()[0] > 60.0


def test_a_trade_off_has_a_point_for_each_window(tmp_path, drawn):
    def of(metric, n, values):
        records = [{"seed": seed, "metrics": {metric: value}} for seed, value in enumerate(values)]
        return Entry("iboost", (metric, f"n={n}"), {}, 2, records, metric=metric)

    made = [of("tail_accuracy_pct", 100, (90.0, 92.0)), of("recovery_pct", 100, (80.0, 82.0)),
            of("tail_accuracy_pct", 500, (95.0, 95.0)), of("recovery_pct", 500, (70.0, 70.0)),
            of("recovery_pct", 900, (60.0,))]  # fmt: skip
    figures.tradeoff_figure(made, "tail_accuracy_pct", "recovery_pct", 1, tmp_path / "a.png")
    (axis,) = drawn
    assert axis.get_lines()[0].get_xdata().tolist() == [91.0, 95.0]
    assert axis.get_lines()[0].get_ydata().tolist() == [81.0, 70.0]
    assert [text.get_text() for text in axis.texts] == ["n=100", "n=500"]
    with pytest.raises(BoostrunError, match="no row has both"):
        figures.tradeoff_figure(made[-1:], "tail_accuracy_pct", "recovery_pct", 1, tmp_path / "b.png")


def test_the_kinds_of_drift_are_drawn(tmp_path):
    first = drift_types_figure(tmp_path / "a.png").read_bytes()
    assert first[:8] == b"\x89PNG\r\n\x1a\n" and first == drift_types_figure(tmp_path / "b.png").read_bytes()
