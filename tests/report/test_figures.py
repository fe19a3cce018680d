from __future__ import annotations

import dataclasses
import struct

import pytest

from boostrun.errors import BoostrunError
from boostrun.report import Entry, TableSpec, build, curve_figure, share_figure, table_figure
from boostrun.report.shares import _shares

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
    path = curve_figure(entries, "test_accuracy_pct", against, tmp_path / "c.png")
    assert size(path)[0] == 1200


def test_curves_with_other_checkpoints_share_what_they_have_in_common(make_entry):
    from boostrun.report.figures import _curve

    long = with_curves(make_entry(values=[80.0, 82.0]))
    short = with_curves(make_entry(values=[80.0, 82.0]), ts=(10, 20))
    mixed = dataclasses.replace(long, records=[long.records[0], short.records[1]])
    points = _curve(mixed, "test_accuracy_pct", "T")
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
        curve_figure([make_entry(values=TEN)], "test_accuracy_pct", "T", tmp_path / "a.png")
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
