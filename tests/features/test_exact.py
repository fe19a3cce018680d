"""Columns that float32 would change, such as times in milliseconds: exact codes, and all others as before."""

import numpy as np
import pytest
from sklearn.base import clone

from boostrun.config import catalogue, defaults
from boostrun.data import load
from boostrun.data.keys import OwnDatasetKeys
from boostrun.errors import BoostrunError
from boostrun.features import key_of, open_bank
from boostrun.features.bank import Bank
from boostrun.features.build import build
from boostrun.features.columns import Raw
from boostrun.methods.preparation import Preparation, bank_inputs, edges_of
from boostrun.prediction import load as load_model
from boostrun.runner.execute import train_one
from boostrun.runner.plan import compose_one

RNG = np.random.default_rng(0)
COLUMNS = {  # 200 values each, at most 100 of them distinct, which float32 would merge
    "milliseconds": 1_700_000_000_000 + RNG.integers(0, 100, 200).astype(float),
    "YYYYMMDDhhmm": 1e8 * RNG.integers(2020, 2025, 200) + 1e6 + 1e4 * RNG.integers(1, 20, 200),
    "near 2**53": 2.0**53 - RNG.integers(0, 100, 200),
    "ids of 17 digits": 12345678901234560 + 16.0 * RNG.integers(0, 100, 200),
    "negative": -1e15 - RNG.integers(0, 100, 200),
    "both signs": RNG.choice([-1.0, 1.0], 200) * (1e9 + RNG.integers(0, 50, 200)),
    "large": 1e30 * (1 + 1e-12 * RNG.integers(0, 100, 200)),
    "small": 1e-60 * RNG.integers(0, 100, 200),
}  # fmt: skip


@pytest.fixture
def bank(tmp_path):
    """The bank of training and test samples."""

    def made(train, test, **keys):
        y = {"y_train": np.arange(len(train)) % 2, "y_test": np.arange(len(test)) % 2}
        np.savez(tmp_path / "t.npz", x_train=train, x_test=test, **y)
        return open_bank(data(tmp_path), {"name": "raw", **keys}, tmp_path, tmp_path / "cache")

    return made


def data(folder):
    return {**defaults("dataset", "npz"), "name": "npz", "path": str(folder / "t.npz")}


@pytest.mark.parametrize("name", COLUMNS)
def test_each_distinct_value_has_its_own_code(bank, name):
    column = COLUMNS[name]
    values, ranks = np.unique(column, return_inverse=True)
    assert len(np.unique(column.astype(np.float32))) < len(values)
    found = bank(column[:, None], column[:50, None])
    assert np.array_equal(found.codes("train")[0], ranks) and np.array_equal(found.codes("test")[0], ranks[:50])


@pytest.mark.parametrize("name", COLUMNS)
def test_missing_values_of_such_a_column_are_on_both_sides_of_it(bank, name):
    column = np.where(RNG.random(200) < 0.3, np.nan, COLUMNS[name])
    there = ~np.isnan(column)
    ranks = np.unique(column[there], return_inverse=True)[1]
    low, high = bank(column[:, None], column[:, None]).codes("test")
    assert np.array_equal(low[there], ranks + 1) and not low[~there].any()
    assert np.array_equal(high[there], ranks) and (high[~there] == 255).all()


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("bins", [3, 16, 256])
def test_a_saved_model_makes_the_codes_of_the_bank_from_new_values(bank, bins, missing):
    x = np.column_stack([*COLUMNS.values(), RNG.normal(size=200), RNG.integers(0, 9, 200) / 10])
    if missing:
        x[RNG.random(x.shape) < 0.2] = np.nan
    train, test = x[:120], np.concatenate([x[120:], x[120:] + np.spacing(x[120:])])
    found = bank(train, test, bins=bins)
    inputs = {name.removeprefix("input_"): array for name, array in bank_inputs(found).items()}
    assert inputs["edges"].dtype == np.float64
    assert np.array_equal(Preparation(inputs, found.n_features)(test), found.samples("test"))
    assert np.array_equal(Preparation(inputs, found.n_features)(train), found.samples("train"))


@pytest.mark.parametrize("missing", [False, True])
def test_codes_of_the_other_columns_are_those_without_such_a_column(bank, missing):
    x = np.column_stack([RNG.normal(size=300), RNG.integers(0, 40, 300) / 10, RNG.integers(0, 3, 300)])
    if missing:
        x[RNG.random(x.shape) < 0.2] = np.nan
    before = bank(x[:200], x[200:])
    assert before.fitted() == {} and edges_of(before).dtype == np.float32
    found = bank(*np.split(np.insert(x, 1, np.resize(COLUMNS["milliseconds"], 300), axis=1), [200]))
    others = np.delete(np.arange(found.n_features), 1)
    assert found.fitted()["columns"].tolist() == [1]
    for split in ("train", "test"):
        assert np.array_equal(found.codes(split)[others], before.codes(split))
    # at the edges of float32 and around them, the edges of float64 say the same
    at = np.where(np.abs(before.edges) < 1e30, before.edges, 0.0).T
    steps = np.spacing(at.astype(np.float32)).astype(float)[None] * np.linspace(-2, 2, 33)[:, None, None]
    around = (at + steps).reshape(-1, at.shape[1])
    narrow, wide = ((values[:, :, None] >= edges).sum(axis=2) for values, edges in (
        (around.astype(np.float32), before.edges), (around, edges_of(found)[others]),
    ))  # fmt: skip
    assert np.array_equal(narrow, wide)


def test_a_table_without_such_a_column_has_the_bank_of_before_byte_for_byte(bank, tmp_path):
    x = np.column_stack([RNG.normal(size=300), RNG.integers(0, 40, 300) / 10, 2.0**24 - RNG.integers(0, 99, 300)])
    found = bank(x[:200], x[200:])
    build(load(data(tmp_path), tmp_path), Raw({}), found.meta["features"], tmp_path / "plain", key=found.key)
    plain = Bank(tmp_path / "plain")
    assert plain.checksum == found.checksum and plain.meta["files"] == found.meta["files"]
    assert {path.name for path in found.folder.iterdir()} - {"seal.json"} == {p.name for p in plain.folder.iterdir()}


def test_a_killed_build_resumes_with_the_same_codes(bank, tmp_path, monkeypatch):
    x = np.column_stack([COLUMNS["milliseconds"], RNG.normal(size=200)])
    whole = bank(x, x)
    expected = whole.checksum, edges_of(whole)
    monkeypatch.setattr("boostrun.features.build._MOST_ROWS", 16)
    calls, call = [], Raw.__call__

    def killed(self, images):
        calls.append(1)
        if len(calls) == 20:
            raise KeyboardInterrupt
        return call(self, images)

    monkeypatch.setattr(Raw, "__call__", killed)
    with pytest.raises(KeyboardInterrupt):
        open_bank(data(tmp_path), {"name": "raw"}, tmp_path, tmp_path / "other")
    found = open_bank(data(tmp_path), {"name": "raw"}, tmp_path, tmp_path / "other")
    assert found.checksum == expected[0] and np.array_equal(edges_of(found), expected[1])


def test_numbers_beyond_float32_are_refused_in_one_sentence(bank):
    with pytest.raises(BoostrunError, match="holds 8 values that are infinite or beyond float32"):
        bank(np.arange(8.0)[:, None] * 1e300 + 1e300, np.zeros((2, 1)))


def test_keys_of_bundled_data_sets_do_not_depend_on_exact_codes(monkeypatch):
    keys = lambda: {  # noqa: E731
        (name, pipeline): key_of({"name": name}, {"name": pipeline}, "data")
        for name, found in catalogue.datasets().items() if found.gives == "table"
        for pipeline in ("raw", "stumps", "linear")
    }  # fmt: skip
    before = keys()
    monkeypatch.setattr("boostrun.features._BUILD_EXACT", ())
    changed = {name for name, key in keys().items() if key != before[name]}
    assert {(name, kind) for name in ("csv", "npz", "openml", "parquet") for kind in ("raw", "stumps")} <= changed
    own = {name for name, found in catalogue.datasets().items() if issubclass(found.keys, OwnDatasetKeys)}
    assert {name for name, _ in changed} <= own and not {"digits", "mnist", "letter", "cifar10"} & own


@pytest.mark.parametrize("line", ["algo=logitboost T=20", "algo=fix T=20", "algo=uniform_1q T=20"])
def test_the_command_gives_the_model_that_fit_gives(line, tmp_path, workplace):
    y = np.arange(400) % 3
    times = 1.7e12 + 10_000 * y + RNG.integers(0, 14_000, 400), 1.7e12 + 20 * y + RNG.integers(0, 60, 400)
    x = np.column_stack([*times, RNG.integers(0, 5, 400)])
    np.savez("t.npz", x_train=x[:250], y_train=y[:250], x_test=x[250:], y_test=y[250:])
    settings = compose_one([*line.split(), "dataset=npz", "dataset.path=t.npz", "n_jobs=1"])
    of_run = load_model(train_one(settings, tmp_path / "model.npz"))
    fitted = clone(of_run).fit(x[:250], y[:250])
    assert np.array_equal(of_run.decision_function(x[250:]), fitted.decision_function(x[250:]))
    assert np.mean(of_run.predict(x[250:]) == y[250:]) > 0.8
