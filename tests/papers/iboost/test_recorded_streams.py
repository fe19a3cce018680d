"""Santa Fe, electricity and weather: small files in their formats, and the real ones if present."""

import os
from pathlib import Path

import numpy as np
import pytest

from boostrun.data.streams import draw
from boostrun.errors import BoostrunError, DataMissingError
from boostrun.papers.iboost.streams import SANTAFE_THRESHOLDS, standardised

REAL = Path(os.environ.get("BOOSTRUN_DATA") or "datasets")


@pytest.fixture
def series(tmp_path):
    """A root with a made-up laser series of 10,093 whole numbers, and the series."""
    values = np.random.default_rng(0).integers(0, 256, 10_093)
    (tmp_path / "santafe").mkdir()
    np.save(tmp_path / "santafe" / "santafe_laser.npy", values[:, None])
    return tmp_path, standardised(values.astype(float))


def test_santafe_predicts_whether_the_next_value_is_at_most_the_threshold(series):
    root, s = series
    stream = draw({"name": "santafe"}, root)
    assert stream.x.shape == (10_000, 9) and stream.changes.tolist() == [3334, 6668] and len(stream.holdouts) == 3
    for k in (0, 3333, 3334, 6667, 6668, 9999):
        np.testing.assert_array_equal(stream.x[k], s[k : k + 9])
        assert stream.y[k] == (s[k + 9] <= SANTAFE_THRESHOLDS[(k >= 3334) + (k >= 6668)])


def test_no_holdout_point_was_trained_on_with_the_label_it_is_tested_with(series):
    root, s = series
    stream = draw({"name": "santafe"}, root, 0, 4)
    where = {tuple(s[k : k + 9]): k for k in range(len(s) - 9)}
    for concept, (held, (a, b)) in enumerate(zip(stream.holdouts, ((0, 3334), (3334, 6668), (6668, 10_000)))):
        places = [where[tuple(row)] for row in held.x]
        assert len(set(places)) == 825 and not any(a <= place < b for place in places)
        np.testing.assert_array_equal(held.y, [s[place + 9] <= SANTAFE_THRESHOLDS[concept] for place in places])


def test_the_disjoint_holdout_is_never_in_the_stream(series):
    root, _ = series
    stream = draw({"name": "santafe", "holdout": "disjoint"}, root, 0, 4)
    assert len(stream) == 10_084 - 2475 and stream.changes.tolist() == [2537, 5074]
    seen = {tuple(row) for row in stream.x}
    for held in stream.holdouts:
        assert len(held.y) == 2475 and not any(tuple(row) in seen for row in held.x)
    assert (stream.holdouts[0].y <= stream.holdouts[1].y).all()  # the threshold rises, the points stay
    other = draw({"name": "santafe", "holdout": "disjoint"}, root, 1, 4)
    np.testing.assert_array_equal(stream.x, other.x)


def test_the_ramp_softens_the_change(series):
    root, _ = series
    hard, soft = (draw({"name": "santafe", "ramp": ramp}, root) for ramp in (0, 500))
    differ = np.flatnonzero(hard.y != soft.y)
    assert differ.size and all(3334 <= k < 3834 or 6668 <= k < 7168 for k in differ)


def test_a_text_file_of_the_series_is_read_too(series):
    root, _ = series
    before = draw({"name": "santafe"}, root)
    path = root / "santafe" / "santafe_laser.npy"
    np.savetxt(root / "santafe" / "A.dat", np.load(path), fmt="%d")
    path.unlink()
    np.testing.assert_array_equal(draw({"name": "santafe"}, root).x, before.x)


def test_a_bad_series_is_refused_in_one_sentence(tmp_path, series):
    root, _ = series
    path = root / "santafe" / "santafe_laser.npy"
    for options, said in (({"holdout": "all"}, "segments, disjoint"), ({"holdout_per_concept": 9999}, "are free for")):
        with pytest.raises(BoostrunError, match=said):
            draw({"name": "santafe", **options}, root)
    np.save(path, np.arange(100))
    with pytest.raises(BoostrunError, match="holds 100 values; dataset=santafe needs 10009"):
        draw({"name": "santafe"}, root)
    np.save(path, np.full(20_000, np.nan))
    with pytest.raises(BoostrunError, match="finite number"):
        draw({"name": "santafe"}, root)
    path.write_bytes(b"nothing")
    with pytest.raises(BoostrunError, match="cannot be read as a series of numbers"):
        draw({"name": "santafe"}, root)
    path.unlink()
    with pytest.raises(DataMissingError, match=r"santafe_laser\.npy"):
        draw({"name": "santafe"}, root)


@pytest.fixture
def recorded(tmp_path):
    """Three rows of electricity and of weather in their formats."""
    folder = tmp_path / "streams"
    folder.mkdir()
    (folder / "electricity_openml.csv").write_text(
        ",date,day,period,nswprice,nswdemand,vicprice,vicdemand,transfer,class\n"
        "0,0.0,2,0.0,0.1,0.2,0.3,0.4,0.5,UP\n1,0.0,2,0.02,0.1,0.2,0.3,0.4,0.5,DOWN\n2,0.0,2,0.04,1,2,3,4,5,UP\n"
    )
    (folder / "NEweather_data.csv").write_text("".join(f"{i},2,3,4,5,6,7,8\n" for i in range(3)))
    (folder / "NEweather_class.csv").write_text("0\n1\n0\n")
    return tmp_path


def test_recorded_streams_keep_the_order_of_their_rows(recorded):
    power, rain = draw({"name": "electricity"}, recorded), draw({"name": "weather"}, recorded)
    assert power.y.tolist() == [1, 0, 1] and power.classes == ("DOWN", "UP")
    assert power.x[2].tolist()[3:] == [1, 2, 3, 4, 5]
    assert rain.y.tolist() == [0, 1, 0] and rain.x[:, 0].tolist() == [0, 1, 2] and not rain.holdouts
    assert power.changes.size == rain.changes.size == 0


@pytest.mark.parametrize("file, old, new, said", [
    ("electricity_openml.csv", "UP", "UPWARDS", "class 'UPWARDS' is none of DOWN, UP"),
    ("electricity_openml.csv", "transfer", "transit", "no column 'transfer'"),
    ("electricity_openml.csv", "0.04", "nought", "text in column period"),
    ("electricity_openml.csv", "0.04", "", "finite number"), ("NEweather_data.csv", ",8\n", "\n", "has 7 columns"),
    ("NEweather_class.csv", "1\n", "", "3 rows, and there are 2 labels"),
])  # fmt: skip
def test_a_damaged_table_is_refused_in_one_sentence(recorded, file, old, new, said):
    path = recorded / "streams" / file
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(BoostrunError, match=said):
        draw({"name": "electricity" if "elec" in file else "weather"}, recorded)


@pytest.mark.parametrize("name, file", [("electricity", "electricity_openml.csv"), ("weather", "NEweather_class.csv")])
def test_an_absent_table_is_said_to_belong_somewhere(recorded, name, file):
    (recorded / "streams" / file).unlink()
    with pytest.raises(DataMissingError, match=f"{file}.*belongs at"):
        draw({"name": name}, recorded)


@pytest.mark.parametrize("name, file, shape, share", [("santafe", "santafe/santafe_laser.npy", (10_000, 9), None), (
    "electricity", "streams/electricity_openml.csv", (45_312, 8), 0.4245,
), ("weather", "streams/NEweather_data.csv", (18_159, 8), 0.3138)])  # fmt: skip
def test_the_real_streams_have_their_published_sizes(name, file, shape, share):
    if not (REAL / file).is_file():
        pytest.skip(f"no {file}")
    stream = draw({"name": name}, REAL)
    assert stream.x.shape == shape
    if share is not None:
        assert stream.y.mean() == pytest.approx(share, abs=1e-4)
    else:
        assert [round(100 * held.y.mean()) for held in stream.holdouts] == pytest.approx([41, 61, 83], abs=4)
