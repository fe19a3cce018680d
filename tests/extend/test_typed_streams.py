"""A function that a command line names as a stream: all that it may yield, and errors if that is no stream."""

import json
import sys

import numpy as np
import pytest

from boostrun import extend
from boostrun.data import checksum
from boostrun.data.streams import draw
from boostrun.errors import BoostrunError
from boostrun.extend import stream
from boostrun.runner.plan import compose_all, compose_one, open_store, own_choices, plan

MINE = """
    \"\"\"Streams of mine.\"\"\"
    import numpy as np

    X = np.random.default_rng(0).random((60, 2))
    Y = np.where(X[:, 0] > 0.5, "high", "low")

    def rows(n: int = 60):
        \"\"\"One example after the other.\"\"\"
        yield from zip(X[:n].tolist(), Y[:n].tolist())

    def dicts():
        yield from (({"b": b, "a": a}, y) for (a, b), y in zip(X.tolist(), Y.tolist()))

    def blocks():
        for start in range(0, 60, 25):
            yield X[start : start + 25], Y[start : start + 25]

    def arrays():
        return X, Y

    class Walked:
        def __init__(self, n: int = 60):
            self.n = n

        def __iter__(self):
            return rows(self.n)

    def endless():
        i = 0
        while True:
            i += 1
            yield [i % 7, i % 3], i % 7 > 3

    def coming():
        yield {"a": 1.0}, 0
        yield {"a": None, "b": 2.0}, 1
        yield {"b": 3.0}, 1
        yield {"a": 4.0, "c": 5.0}, 0

    def numbers(): return 3
    def nothing(): return []
    def singles(): return [1, 2]
    def ragged(): return [([1, 2], 0), ([1], 1)]
    def text(): return [(["x"], 0), (["y"], 1)]
    def alike(): return [([1], 0), ([2], 0)]
    def nameless(): return [([1], 0), ([2], None)]
    def halves(): return [([1], 0.5), ([2], 1.5)]
    def broken():
        yield [1], 0
        raise RuntimeError("gone")
    def uneven(): return np.zeros((3, 2)), np.zeros(2)
    def holes(): return [([float("nan")], 0), ([2], 1)]
"""


@pytest.fixture
def drawn(mine, monkeypatch, workplace):
    mine("mine.py", MINE)
    monkeypatch.chdir(workplace / "mine")
    stream._held.cache_clear()

    def draw_it(name, **keys):
        where = f"mine:{name}"
        extend.allow(where, str(workplace / "mine"))
        extend.take_stream(where)
        return draw({"name": where, **keys}, workplace)

    yield draw_it
    stream._held.cache_clear()


@pytest.mark.parametrize("name", ["rows", "dicts", "blocks", "arrays", "Walked"])
def test_whatever_form_examples_have_they_are_the_same_stream(drawn, name):
    found = drawn(name)
    here = sys.modules["mine"]
    columns = here.X[:, ::-1] if name == "dicts" else here.X  # the features' order is that in which they came
    np.testing.assert_array_equal(found.x, columns)
    assert found.classes == ("high", "low") and found.x.dtype == np.float64 and found.y.dtype == np.int64
    np.testing.assert_array_equal(found.y, (here.Y == "low").astype(int))


def test_parameters_are_keys_and_features_that_come_and_go_are_missing_where_they_are_not(drawn):
    assert len(drawn("rows", n=20)) == 20 and len(drawn("Walked", n=9)) == 9
    assert len(drawn("endless", first=123)) == 123 and len(drawn("blocks", first=30)) == 30
    with pytest.raises(BoostrunError, match="has no key 'm'"):
        drawn("rows", m=20)
    with pytest.raises(BoostrunError, match="values that are NaN, first in row 0, feature 1"):
        drawn("coming")
    found = drawn("coming", missing="last")
    assert found.x.tolist() == [[1, 0, 0], [1, 2, 0], [1, 3, 0], [4, 3, 5]] and found.classes == ("0", "1")


def test_an_endless_stream_and_a_method_that_follows_none_are_said(drawn, monkeypatch):
    monkeypatch.setattr(stream, "_MOST", 1 << 17)
    with pytest.raises(BoostrunError, match="mine:endless had not ended after 20,000 examples"):
        drawn("endless")
    with pytest.raises(BoostrunError, match="algo 'geem' cannot follow the stream dataset=mine:rows"):
        compose_one(["dataset=mine:rows", "algo=geem"])


@pytest.mark.parametrize("name, said", [
    ("numbers", "must yield examples .* not int"), ("nothing", "gave no examples"), ("singles", "pairs .* not int"),
    ("ragged", "rows of several lengths"), ("text", "no row of numbers"), ("alike", "all 2 examples have the label 0"),
    ("nameless", "without a label"), ("halves", "no whole numbers"), ("broken", "RuntimeError: gone"),
    ("uneven", "3 examples with 2 labels"), ("holes", "NaN, first in row 0.*missing=last"), ("absent", "no class or f"),
])  # fmt: skip
def test_what_is_no_stream_is_one_sentence(drawn, name, said):
    with pytest.raises(BoostrunError, match=said):
        drawn(name)


def test_what_came_identifies_it_and_how_it_is_measured_does_too(drawn, workplace):
    def key(name, **keys):
        drawn(name, **keys)
        return checksum({"name": f"mine:{name}", **keys}, workplace)

    assert key("rows") == key("rows", n=60) == key("arrays")
    assert len({key("rows"), key("rows", n=50), key("rows", delay=3)}) == 3


def test_a_worker_is_told_of_the_function(drawn):
    (settings,) = compose_all(["dataset=mine:rows", "algo=no_change"])
    told = own_choices([settings])
    extend.forget()
    extend.admit(told)
    assert len(draw(settings.dataset, settings.root["store"])) == 60
    assert [(one.group, one.name) for one in told] == [("stream", "mine:rows")]


@pytest.mark.slow
def test_a_run_is_a_record_like_any_other(drawn, command):
    line = "algo=majority_so_far dataset=mine:rows trials=1 n_jobs=1"
    code, out, _ = command(line)
    assert code == 0 and "kappa temporal" in out
    settings = compose_one(line.split())
    (cell,) = plan([settings], open_store(settings))
    (record,) = cell.done
    assert record["metrics"]["kappa_majority"] == 0.0 and len(record["curve"]["examples"]) == 60
    json.dumps(record, allow_nan=False)
