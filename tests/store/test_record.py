"""The schema of records: files that do not fit are set aside, and figures that are no numbers fail a trial."""

import copy
import json
import random
from pathlib import Path

import pytest
from run_toys import cell, record, trials

from boostrun.errors import BoostrunError
from boostrun.runner.worker import perform
from boostrun.store import Store, packs_below, unpack
from boostrun.store.cell import NotARecordError, check_record, check_whole, read, set_aside, set_aside_line

CURVE = {"T": [1, 2], "test_accuracy_pct": [10.0, 90.5], "weights": [[1.0], [2.0]], "family_steps": {"hog": [1, 2]}}
PUBLISHED = packs_below(Path(__file__).parents[2] / "results")


@pytest.fixture(autouse=True)
def nothing_set_aside():
    set_aside_line()


def text(changed: dict) -> bytes:
    return json.dumps(changed).encode()


def changed(place: str, value: object) -> dict:
    """A record with another value at a place that is written with dots; one that is Ellipsis takes it away."""
    made = copy.deepcopy(record(curve=CURVE))
    *parents, last = place.split(".")
    inner = made
    for name in parents:
        inner = inner[name]
    if value is ...:
        del inner[last]
    else:
        inner[last] = value
    return made


def nested(depth: int) -> object:
    value: object = 1
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ("schema", 2), ("schema", True), ("schema", None), ("key", ["a"]), ("key", {}), ("key", 7), ("key", "x"),
        ("key", ...), ("cell", {}), ("cell", []), ("cell.algo", "wsam"), ("cell.algo", {}), ("cell.algo.name", ["a"]),
        ("cell.dataset", None), ("cell.features.name", ...), ("cell.budget", [1]), ("cell.budget", {"r": [1]}),
        ("cell.budget", {"r": "1"}), ("cell.budget", {"r": 10**400}), ("cell.more", {}), ("cell.algo.x", nested(100)),
        ("cell.algo.x", float("nan")), ("cell_key", None), ("cell_key", [1]), ("seed", -1), ("seed", 1.5),
        ("seed", True), ("seed", "0"), ("seed", 10**400), ("status", "running"), ("status", ["done"]),
        ("status", "failed"), ("inputs", {}), ("inputs.data", None), ("inputs.source", ["x"]), ("inputs.more", "x"),
        ("metrics", []), ("metrics", None), ("metrics.x", "1"), ("metrics.x", None), ("metrics.x", True),
        ("metrics.x", [1.0]), ("cost", []), ("cost.seconds", [1]), ("cost.seconds", "1"), ("cost.seconds", True),
        ("curve", [1]), ("curve.T", 1), ("curve.T", [2, 1]), ("curve.T", [1, 1]), ("curve.T", ["1", "2"]),
        ("curve.T", [[1], [2]]), ("curve.T", {"1": 1}), ("curve.T", [-1, 2]), ("curve.T", ...),
        ("curve.examples", "all"), ("curve.changes", [[1]]), ("curve.family_steps", [1, 2]),
        ("curve.family_steps", {"hog": [1]}), ("curve.family_steps", {"hog": ["a", "b"]}), ("curve.path", [1]),
        ("curve.path", {"columns": 1}), ("curve.stream", []), ("curve.stream", {"concepts": "x"}),
        ("curve.stream", {"bayes_accuracy_pct": "x"}), ("curve.x", nested(100)), ("provenance", None),
        ("provenance", nested(2)), ("provenance.command", "boostrun"), ("provenance.command", [1]),
        ("provenance.x", nested(100)), ("error", {}), ("error", "x"), ("more", 1),
    ],
)  # fmt: skip
def test_what_does_not_fit_the_schema_is_neither_read_nor_written(place, value):
    odd = changed(place, value)
    with pytest.raises(NotARecordError, match="record"):
        read(text(odd))
    with pytest.raises(BoostrunError):
        check_record(odd)


@pytest.mark.parametrize(
    "odd", [b"", b"{", b"[]", b"null", b"\xff\xfe", b"[" * 100_000, b'{"a":' * 100_000, b"9" * 5000]
)
def test_what_is_no_json_of_a_record_is_one_sentence(odd):
    with pytest.raises(NotARecordError):
        read(odd)


def test_a_whole_record_is_read_as_it_was_written_and_settings_may_be_as_large_as_a_float():
    made = record(curve=CURVE)
    assert read(text(made)) == made == check_record(made)
    made = record(cell=cell(r=10))
    made["provenance"]["half_life"] = 1e300
    assert read(text(made)) == made


@pytest.mark.parametrize("figure", [float("nan"), float("inf"), -float("inf"), 1e308, -1e308, 10**400])
@pytest.mark.parametrize("place", ["metrics.test_accuracy_pct", "cost.seconds", "curve.test_accuracy_pct", "curve.x"])
def test_a_figure_that_is_no_number_makes_a_failed_trial_of_the_record_that_holds_it(place, figure, tmp_path):
    odd = changed(place, figure if not place.startswith("curve") else [figure, 1.0])
    found = read(text(odd))
    assert found["status"] == "failed" and place in found["error"]["message"]
    assert found["metrics"] == found["cost"] == found["curve"] == {} and found["key"] == odd["key"]
    store = Store(tmp_path)
    path = store.path(odd["key"])
    path.parent.mkdir()
    path.write_bytes(text(odd))
    assert store.get(odd["key"])["status"] == "failed" and store.done(odd["key"]) is None and not set_aside_line()
    with pytest.raises(BoostrunError):
        store.put(odd)


@pytest.mark.parametrize("figure", [float("nan"), float("inf"), 1e308, 10**400])
@pytest.mark.parametrize("part", ["metrics", "cost", "curve"])
def test_a_trial_that_ends_in_no_number_is_recorded_as_failed(part, figure, tmp_path):
    parts = {"metrics": {"test_accuracy_pct": 50.0}, "cost": {}, "curve": {}}
    parts[part] = {"test_accuracy_pct": [figure] if part == "curve" else figure}
    made = perform(trials(1)[0], lambda trial: parts, {})
    assert made["status"] == "failed" and made["metrics"] == {} and "test_accuracy_pct" in made["error"]["message"]
    Store(tmp_path).put(made)
    assert Store(tmp_path).done(made["key"]) is None


@pytest.mark.slow
@pytest.mark.parametrize("path", PUBLISHED, ids=lambda path: "-".join(path.parts[-3:-1]))
def test_every_published_record_fits(path):
    for one in unpack(path):
        check_whole({**one, "curve": dict(one["curve"])})
    assert not set_aside_line()


@pytest.mark.parametrize("odd", ["NaN", "-Infinity", "1e999", '"\\ud800"', "9" * 400])
def test_what_one_parser_refuses_is_read_by_the_other(odd):
    made = text(record(curve=CURVE)).replace(b'"error": null', b'"error": ' + odd.encode())
    with pytest.raises(NotARecordError, match=r"^record\.error is not null"):
        read(made)


def test_any_value_at_any_place_is_a_record_or_one_sentence():
    rng, made, outcomes = random.Random(0), record(curve=CURVE), set()
    values = [None, True, -1, 1e308, float("nan"), 10**400, "", "\ud800", [], [1], [[]], {}, {"a": 1}, nested(40)]
    for _ in range(3000):
        odd = copy.deepcopy(made)
        place = odd
        while True:
            key = rng.choice(sorted(place))
            if not (isinstance(place[key], dict) and place[key]) or rng.random() < 0.3:
                place[key] = rng.choice(values)
                break
            place = place[key]
        try:
            outcomes.add(read(text(odd))["status"])
        except NotARecordError as error:
            outcomes.add("odd")
            assert str(error) and "\n" not in str(error)
    assert outcomes == {"done", "failed", "odd"}


def test_what_was_set_aside_is_told_once_in_one_line_with_the_first_names():
    assert not set_aside_line()
    for number in range(20):
        set_aside(f"\udcff{number}", "why")
        set_aside(f"\udcff{number}", "again")
    line = set_aside_line()
    assert "20 records" in line and "\\udcff0 (why)" in line and "17 more" in line and "\n" not in line
    line.encode()
    assert not set_aside_line()
