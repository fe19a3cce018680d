"""A file as a drifting stream: every kind of file gives the same stream; a bad file is one sentence."""

import gzip
import json

import numpy as np
import pandas
import pytest

from boostrun.config import catalogue
from boostrun.data.streams import draw
from boostrun.errors import BoostrunError
from boostrun.evaluation.measures import spawn
from boostrun.evaluation.prequential import OnStream, prequential
from boostrun.inputs.bank import open_stream
from boostrun.papers.iboost.iboost import IBoostClassifier
from boostrun.runner.plan import compose_one, open_store, plan
from tests.marks import slow_but

RNG = np.random.default_rng(0)
X = RNG.integers(0, 80, (300, 3)) / 8.0
Y = np.where(X[:, 0] + X[:, 1] <= np.where(np.arange(300) < 150, 8, 12), "in", "out")


def csv_lines():
    return ["a,b,what,c"] + [f"{a},{b},{y},{c}" for (a, b, c), y in zip(X, Y)]


def write(folder, kind):
    """The same stream in a file of a kind; returns the overrides of the data set."""
    path = folder / f"data.{kind}"
    if kind == "csv":
        path.write_text("\n".join(csv_lines()))
    elif kind == "csv.gz":
        path.write_bytes(gzip.compress("\n".join(csv_lines()).encode()))
    elif kind == "npy":
        np.save(path, X)
        np.save(folder / "y.npy", Y)
        return {"path": str(path), "label": str(folder / "y.npy")}
    elif kind == "npz":
        np.savez_compressed(path, x=X, y=Y)
        return {"path": str(path), "label": None}
    else:
        pandas.DataFrame({"a": X[:, 0], "b": X[:, 1], "what": Y, "c": X[:, 2]}).to_parquet(path)
    return {"path": str(path), "label": "what"}


@pytest.fixture
def opened(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return lambda **keys: draw({"name": "file_stream", **keys}, tmp_path)


@pytest.mark.parametrize("size", [7, 1000])
@pytest.mark.parametrize("kind", ["csv", "csv.gz", "npy", "npz", "parquet"])
def test_every_kind_of_file_gives_the_same_examples_in_their_order(tmp_path, opened, kind, size):
    stream = opened(**write(tmp_path, kind))
    assert (stream.classes, len(stream), stream.holdouts, len(stream.changes)) == (("in", "out"), 300, (), 0)
    for _ in range(2):  # it can be read again
        blocks = list(stream.blocks(size))
        assert all(len(x) == len(y) <= size and x.dtype == np.float64 for x, y in blocks)
        np.testing.assert_array_equal(np.concatenate([x for x, _ in blocks]), X)
        np.testing.assert_array_equal(np.concatenate([y for _, y in blocks]), (Y == "out").astype(int))


@pytest.mark.parametrize("how, said", [
    ("1.0,,in,2.0", "NaN, first in row 199, feature 1"),
    ("1.0,2.0,in,3,5", "5 values in row 200"),
    ("1.0,2.0,in", "NaN, first in row 199, feature 2"),
    ("one class", "all 300 rows have the same label"), ("no names", "no column 'c'"), ("no rows", "holds no rows"),
])  # fmt: skip
def test_what_cannot_be_learnt_from_is_one_sentence(tmp_path, opened, how, said):
    lines = csv_lines()
    if how == "one class":
        lines = [line.replace("out", "in") for line in lines]
    elif how == "no names":
        del lines[0]
    elif how == "no rows":
        del lines[1:]
    else:
        lines[200] = how
    (tmp_path / "data.csv").write_text("\n".join(lines))
    with pytest.raises(BoostrunError, match=said):
        opened(path=str(tmp_path / "data.csv"), label="c" if how == "no names" else "what")


def test_wrong_keys_and_files_are_one_sentence(tmp_path, opened):
    (tmp_path / "data.xyz").write_text("x")
    csv, npz = write(tmp_path, "csv"), write(tmp_path, "npz")
    np.savez(tmp_path / "names.npz", x=X, z=Y)
    np.savez(tmp_path / "short.npz", x=X, y=Y[:9])
    for keys, said in (
        ({"path": str(tmp_path / "data.xyz")}, "ends in none of"),
        ({"path": "nowhere.csv"}, "no file nowhere"),
        ({**npz, "label": "what"}, "cannot be used"),
        ({"path": str(tmp_path / "names.npz")}, "has the arrays x, z; a stream needs x and y"),
        ({"path": str(tmp_path / "short.npz")}, r"y of \(9,\)"),
        ({**csv, "label": "nothing"}, "has no column 'nothing'"),
    ):
        with pytest.raises(BoostrunError, match=said):
            opened(**keys)


def test_a_file_that_changes_after_the_look_is_said(tmp_path, opened):
    keys = write(tmp_path, "csv")
    stream = opened(**keys)
    (tmp_path / "data.csv").write_text("\n".join(csv_lines()).replace(",out,", ",off,"))
    with pytest.raises(BoostrunError, match="was changed while it was read"):
        list(stream.blocks(100))


LINE = ("algo=iboost_stochastic dataset=file_stream dataset.path=data.csv dataset.label=what M=5 n=50 trials=1 "
        "n_jobs=1")  # fmt: skip


def run(command, words):
    """The record of a run on the file, and which of its predictions should be right."""
    assert command(f"{LINE} {words}")[0] == 0
    settings = compose_one(f"{LINE} {words}".split())
    (record,) = plan([settings], open_store(settings))[0].done
    json.dumps(record, allow_nan=False)
    classes = (Y == "out").astype(int)
    return record, IBoostClassifier(50, 5, random_state=0).test_then_train(X, classes, [0, 1]) == classes


def test_a_run_over_a_file_is_a_record_and_known_changes_are_measured_like_those_of_a_named_stream(command, workplace):
    write(workplace, "csv")
    record, right = run(command, "dataset.window=100 dataset.curve_every=100")
    assert record["metrics"]["test_accuracy_pct"] == pytest.approx(100 * right.mean())
    assert record["curve"]["examples"] == [100, 200, 300]
    record, right = run(command, "dataset.changes_at=[100,200] dataset.first=250")
    assert record["curve"]["changes"] == [100, 200]
    expected = np.mean([right[100:250].mean(), right[200:250].mean()])  # up to 600 examples after each
    assert record["metrics"]["recovery_pct"] == pytest.approx(100 * expected)
    for wrong, sentence in (
        ("300", "the stream has only 300 examples"),
        ("[200,100]", "a list of rising whole"),
    ):
        code, _, said = command(f"{LINE} dataset.changes_at={wrong}")
        assert code == 2 and sentence in said


def test_an_iterator_is_followed_in_constant_memory_and_its_faults_are_said():
    def blocks(*odd):
        for start in range(0, 300, 20):
            yield X[start : start + 20], Y[start : start + 20]
        yield from odd

    model = IBoostClassifier(50, 5)
    score, _ = prequential(model, blocks(), ["in", "out"])
    expected = IBoostClassifier(50, 5).test_then_train(X, Y, ["in", "out"]) == Y
    assert score.accuracy_pct == pytest.approx(100 * expected.mean())
    with pytest.raises(ValueError, match="2 features, but IBoostClassifier is expecting 3"):
        prequential(IBoostClassifier(50, 5), blocks((X[:9, :2], Y[:9])), ["in", "out"])
    with pytest.raises(ValueError, match="NaN"):
        prequential(IBoostClassifier(50, 5), blocks((X[:9] * np.nan, Y[:9])), ["in", "out"])
    with pytest.raises(BoostrunError, match="the label 'off' is none of the classes"):
        prequential(IBoostClassifier(50, 5), blocks((X[:1], ["off"])), ["in", "out"])


@pytest.mark.parametrize("kind", ["csv", "npy", "npz", "parquet"])
def test_what_is_missing_is_the_last_value_of_its_column_where_that_is_asked_for(tmp_path, opened, monkeypatch, kind):
    holes = X.copy()
    holes[:3, 1] = np.nan  # comes late
    holes[40:90, 2] = np.nan  # goes and comes again
    holes[::7, 0] = np.nan
    monkeypatch.setattr("tests.data.streams.test_file_stream.X", holes)
    keys = write(tmp_path, kind)
    if kind == "csv":
        (tmp_path / "data.csv").write_text((tmp_path / "data.csv").read_text().replace("nan", ""))
    expected, last = holes.copy(), np.zeros(3)
    for row in expected:
        row[np.isnan(row)] = last[np.isnan(row)]
        last = row
    with pytest.raises(BoostrunError, match="NaN, first in row 0, feature"):
        opened(**keys)
    stream = opened(**keys, missing="last")
    for size in (7, 1000):
        np.testing.assert_array_equal(np.concatenate([x for x, _ in stream.blocks(size)]), expected)
    np.savez(tmp_path / "inf.npz", x=np.where(X > 5, np.inf, X), y=Y)
    with pytest.raises(BoostrunError, match="that are infinite, first in row 3"):
        opened(path=str(tmp_path / "inf.npz"), missing="last")


def test_the_first_examples_alone_are_those_of_the_whole_and_more_than_there_are_are_all(tmp_path, opened):
    keys = write(tmp_path, "csv")
    for first, n in ((1, 1), (60, 60), (300, 300), (10**9, 300)):
        stream = opened(**keys, first=first)
        assert (len(stream), stream.classes, len(stream.holdouts)) == (n, ("in", "out"), 0)
        for size in (7, 1000):
            blocks = list(stream.blocks(size))
            np.testing.assert_array_equal(np.concatenate([x for x, _ in blocks]), X[:n])
            assert all(0 < len(y) <= size for _, y in blocks)


def awkward():
    """Constant columns, one empty from end to end, and a class whose only example comes last."""
    x = np.column_stack([np.full(300, 3.0), np.full(300, np.nan), X[:, 0], np.zeros(300)])
    return x, np.where(np.arange(300) == 299, "rare", Y)


@pytest.mark.parametrize("name", slow_but(["iboost_stochastic"], ["iboost_stochastic", "ocb", "dwm", "adwinbag"]))
def test_constant_and_empty_columns_and_a_class_that_comes_last_leave_every_figure_a_number(tmp_path, opened, name):
    x, y = awkward()
    np.savez(tmp_path / "odd.npz", x=x, y=y)
    keys = {"name": "file_stream", "path": str(tmp_path / "odd.npz"), "missing": "last", "measures": "all"}
    followed = open_stream(draw, {"fading": 0.99, **keys}, tmp_path, None, {})
    method = catalogue.methods()[name]
    budget = {symbol: min(value, 20) for symbol, value in method.budget_defaults.items() if isinstance(value, int)}
    given = {"random_state": 0} if "random_state" in method.given else {}
    base = {"base": "gnb"} if "base" in method.fields else {}
    model = method.make({"name": name, **base}, budget, given)
    result = OnStream().run(model, followed, spawn(0))
    assert followed.stream.classes == ("in", "out", "rare")
    assert result["metrics"]["test_accuracy_pct"] > 40
    json.dumps(result, allow_nan=False)
