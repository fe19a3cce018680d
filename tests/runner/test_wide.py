"""Arrays with very many columns: the best are those of a brute-force search, and no row for comparison is looked at."""

import json
import zipfile

import numpy as np
import pandas as pd
import pytest
from pyarrow.parquet import read_schema, read_table
from scipy.stats import rankdata

import boostrun
from boostrun import BoostrunError
from boostrun.cli import main
from boostrun.data.dataset import stratified
from boostrun.inputs.bank import Table
from boostrun.prediction import load
from boostrun.runner import wide
from boostrun.runner.plan import composer, table_of
from boostrun.runner.search import HOLDOUT
from boostrun.runner.wide import Request, best_columns, narrowed, rank_statistics
from tests.marks import slow_but

COLUMNS = 20_000
PLACES = "n_jobs=1 store=runs results=results cache_root=cache"


def twin(column, y):
    """The statistic of Kruskal and Wallis from average ranks."""
    ranks = rankdata(np.where(np.isnan(column), -np.inf, column))
    n, variance = len(y), ranks.var(ddof=1)
    if variance == 0.0:
        return 0.0
    of_classes = [ranks[y == k] for k in np.unique(y)]
    return sum(len(each) * (each.mean() - (n + 1) / 2) ** 2 for each in of_classes) / variance


def samples(rows=200, columns=COLUMNS, seed=0):
    """Labels that columns 7, 900 and the last one decide, with noise."""
    generator = np.random.default_rng(seed)
    x = generator.standard_normal((rows, columns)).astype(np.float32)
    score = 2 * x[:, 7] + 1.5 * x[:, 900] - x[:, -1]
    return x, np.where(score + 0.3 * generator.standard_normal(rows) > 0, "yes", "no")


@pytest.mark.parametrize("classes", [2, 4])
def test_statistics_are_those_of_average_ranks(classes):
    generator = np.random.default_rng(classes)
    x = generator.standard_normal((60, 30)).round(1).astype(np.float32)
    x[:, 3], x[:5, 4], x[5:9, 4] = 1.0, 0.0, -0.0
    x[generator.random(x.shape) < 0.1] = np.nan
    x[:, 5], x[:, 6] = 2.0, generator.integers(0, 2, 60)
    y = generator.integers(0, classes, 60)
    assert np.allclose(rank_statistics(x, y), [twin(column, y) for column in x.T.astype(float)])


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", slow_but([np.float32], [np.float16, np.float32, ">f8", np.uint8]))
def test_the_choice_is_that_of_a_search_of_all_columns(tmp_path, monkeypatch, order, dtype):
    monkeypatch.setattr(wide, "_BYTES", 1 << 20)
    monkeypatch.setattr(wide, "_COLUMNS", 512)
    x, labels = samples(80, 3000)
    x = (x * 40 + 120).clip(0, 255).astype(dtype) if dtype == np.uint8 else x.astype(dtype)
    y, rows = (labels == "yes").astype(int), np.arange(5, 75)
    np.save(tmp_path / "x.npy", np.asarray(x, order=order))
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    statistics = np.array([twin(column, y[rows]) for column in x[rows].T.astype(float)]).round(9)
    best = best_columns(mapped, y, rows, 40)
    found = np.delete(statistics, best)
    assert len(best) == 40 and (np.diff(best) > 0).all() and {7, 900} <= {*best}
    assert statistics[best].min() >= found.max() - 1e-9
    assert np.array_equal(wide._taken(mapped, best), x[:, best])
    wide._write(tmp_path / "m.parquet", x[:, best], labels, [*map(str, best)], "label")
    assert np.array_equal(read_table(tmp_path / "m.parquet").to_pandas()[[*map(str, best)]], x[:, best])


def request_of(folder, **more):
    return Request([], (), {"features": 5.0}, folder / "m.npz", **more)


def settings_of(path, *words):
    return composer(None)([f"dataset={path}", "algo=few_features", *words])


def test_rows_for_tests_and_for_comparison_change_nothing_and_are_those_of_the_search(workplace):
    x, y = samples()
    train = stratified(np.unique(y, return_inverse=True)[1], 0.2, 0)[0]
    np.savez("a.npz", x=x, y=y)
    first = narrowed(request_of(workplace), settings_of("a.npz"))
    words = [*first.words, "algo=few_features", "dataset.split_seed=0", "cache_root=cache"]
    table = table_of(composer(None)(words), progress=False)
    assert table.labels("train").tolist() == (y[train] == "yes").tolist()
    part = Table(table.bank).held_out(HOLDOUT)
    seen = train[part.rows["train"]]
    assert first.screened["rows"] == len(seen) == 128
    names = [*map(int, _names(workplace / "m.columns.parquet"))]
    y_seen = np.unique(y, return_inverse=True)[1]
    assert names == best_columns(x, y_seen, seen, 1000).tolist() and {7, 900} <= {*names}
    unseen = np.setdiff1d(np.arange(200), seen)
    x[unseen] = np.random.default_rng(5).standard_normal((len(unseen), COLUMNS)) * 50
    np.savez("b.npz", x=x, y=y)
    narrowed(request_of(workplace), settings_of("b.npz"))
    assert [*map(int, _names(workplace / "m.columns.parquet"))] == names


def _names(path):
    return [name for name in read_schema(path).names if name != "label"]


@pytest.mark.slow
def test_all_files_of_arrays_have_the_same_columns(workplace):
    x, y = samples()
    y = (y == "yes").astype(np.float32)
    np.savez("a.npz", x=x, y=y)
    np.savez_compressed("b.npz", x=x, y=y)
    np.savez("c.npz", x=np.asfortranarray(x), y=y)
    np.save("d.npy", np.column_stack([x, y]))
    found = []
    for path in ("a.npz", "b.npz", "c.npz", "d.npy"):
        request = narrowed(request_of(workplace), settings_of(path, "cache_root=."))
        table = str(workplace / "m.columns.parquet")
        assert request.screened == {"kept": 1000, "of": COLUMNS, "rows": 128, "tables": [table]}
        found.append((workplace / "m.columns.parquet").read_bytes())
    request = narrowed(request_of(workplace, arrays=(x, y)), settings_of("none.npz"))
    found.append((workplace / "m.columns.parquet").read_bytes())
    assert len({*found}) == 1 and request.arrays is None
    np.savez("e.npz", x_train=x[:150], y_train=y[:150], x_test=x[150:], y_test=y[150:])
    parted = narrowed(request_of(workplace), settings_of("e.npz"))
    assert parted.screened["rows"] == 120 and parted.words[-1].startswith("dataset.test_path=")
    assert _names("m.columns.test.parquet") == _names("m.columns.parquet")


def frame_of(x, y):
    return pd.DataFrame(x, columns=[f"gene {place}" for place in range(x.shape[1])]).assign(label=y)


def test_a_table_keeps_the_columns_that_its_array_keeps(workplace, monkeypatch):
    monkeypatch.setattr(wide, "_LEAST", 100)
    monkeypatch.setattr(wide, "_EACH", 20)
    x, y = samples(200, 1200)
    x[3, 7], x = np.nan, x.round(3)
    np.savez("a.npz", x=x, y=y)
    narrowed(request_of(workplace), settings_of("a.npz"))
    best = _names("m.columns.parquet")
    frame_of(x, y).to_csv("a.csv", index=False)
    frame_of(x, y).to_parquet("a.parquet")
    frame_of(x[:150], y[:150]).to_parquet("train.parquet")
    frame_of(x[150:], y[150:]).to_parquet("test.parquet")
    tests = np.setdiff1d(np.arange(200), stratified(np.unique(y, return_inverse=True)[1], 0.2, 0)[0])
    for words, there in (
        (["a.csv"], tests), (["a.parquet", "dataset.label=label"], tests),
        (["train.parquet", "dataset.test_path=test.parquet"], np.arange(150, 200)),
    ):  # fmt: skip
        request = Request([f"dataset={words[0]}", *words[1:], "n_jobs=1"], (), {"features": 5.0}, workplace / "m.npz")
        found = narrowed(request, settings_of(*words))
        assert found.words[0] == "n_jobs=1" and found.words[2] == "dataset.label=label"
        kept = _names("m.columns.parquet")
        if there is tests:
            assert kept == [f"gene {place}" for place in best]
        test = read_table("m.columns.test.parquet").to_pandas()
        assert np.allclose(test[kept], frame_of(x, y).loc[there, kept], equal_nan=True)
        assert test["label"].tolist() == y[there].tolist()
        table = table_of(composer(None)([*found.words, "algo=few_features", "cache_root=cache"]), progress=False)
        assert table.bank.n_features == 100 and len(table.labels("test")) == len(there)


def test_tables_of_words_and_of_groups_are_left_as_they_are(workplace, monkeypatch):
    monkeypatch.setattr(wide, "_LEAST", 100)
    x, y = samples(60, 1500)
    frame_of(x, y).to_parquet("a.parquet")
    frame_of(x, y).assign(colour=["red", "blue"] * 30).to_parquet("b.parquet")
    grouped = ["a.parquet", "dataset.split=groups", "dataset.group='gene 3'"]
    for words in (grouped, ["b.parquet", "dataset.label=label"]):
        request = request_of(workplace)
        assert narrowed(request, settings_of(*words)) is request


@pytest.mark.slow
def test_a_model_of_a_wide_table_takes_the_whole_table_and_frames(command, workplace):
    x, y = samples(240, 10_000)
    frame_of(x, y).to_csv("a.csv", index=False)
    code, out, err = command(f"fit a.csv --within features=5,seconds=100 algo=few_features {PLACES}")
    assert code == 0, err
    assert "columns: 1,000 of 10,000" in out and "model.columns.test.parquet" in out.splitlines()[-1]
    new, labels = samples(300, 10_000, seed=4)
    frame_of(new, labels).drop(columns="label").to_parquet("new.parquet")
    assert command("predict model.npz new.parquet -o said.csv")[0] == 0
    answers = [line.rpartition(",")[2] for line in (workplace / "said.csv").read_text().split("\n")[1:-1]]
    assert np.mean(np.array(answers) == labels) > 0.8
    frame_of(x, np.unique(y, return_inverse=True)[1]).to_csv("n.csv", index=False)  # labels 0 and 1
    assert command(f"fit n.csv --within features=5,seconds=30 algo=few_features {PLACES} -o n.npz")[0] == 0
    (workplace / "n.npz").rename("n.columns.parquet")
    code, _, err = command(f"fit n.columns.parquet --within features=5 algo=few_features {PLACES} -o n.npz")
    assert code == 2 and err.count("\n") == 1
    frame = frame_of(x, y).drop(columns="label")
    clf = boostrun.fit(frame, y, {"features": 5, "seconds": 60}, "algo=few_features", "n_jobs=1")
    own = frame_of(new, labels)[clf.feature_names_in_]
    assert np.mean(clf.predict(own) == labels) > 0.8 and clf.certificate_["columns"]["of"] == 10_000


def test_other_files_are_left_as_they_are(workplace):
    x, y = samples(40, 901)
    np.savez("few.npz", x=x, y=y)
    with zipfile.ZipFile("no.npz", "w") as archive:
        archive.writestr("x.npy", b"nothing")
    (workplace / "broken.npz").write_bytes(b"PK\x03\x04 and no more")
    for path in ("few.npz", "no.npz", "broken.npz"):
        request = request_of(workplace)
        assert narrowed(request, settings_of(path)) is request
    wide_samples = samples()
    np.savez("a.npz", x=wide_samples[0], y=wide_samples[1])
    request = Request([], (), {"seconds": 5.0}, workplace / "m.npz")
    assert narrowed(request, settings_of("a.npz")) is request and not (workplace / "m.columns.parquet").exists()


def test_bad_values_are_one_sentence(workplace):
    x, y = samples()
    rows = np.arange(100)
    x[30, 12] = np.inf
    with pytest.raises(BoostrunError, match="X has inf in row 31, column 12: infinite or beyond float32"):
        best_columns(x, (y == "yes").astype(int), rows, 10)
    with pytest.raises(BoostrunError, match="X has 200 rows and 3 labels"):
        narrowed(request_of(workplace, arrays=(x, y[:3])), settings_of("none.npz"))


def test_a_budget_of_evaluations_below_the_number_of_features_is_said(workplace, capsys):
    x, y = samples(40, 901)
    np.savez("a.npz", x=x, y=y)
    assert main(f"algo=laminating dataset=a.npz T=3 trials=1 {PLACES}".split()) == 0
    said = "a step of laminating may evaluate 320 (feature, sample) pairs, and there are 901 features"
    assert said in capsys.readouterr().err
    assert main(f"algo=laminating algo.budget_multiplier=50 dataset=a.npz T=3 trials=1 {PLACES}".split()) == 0
    assert "most are never looked at" not in capsys.readouterr().err


@pytest.mark.slow
def test_fit_screens_and_the_model_takes_all_columns(command, workplace):
    x, y = samples(240)
    np.savez("a.npz", x=x, y=y)
    line = f"fit a.npz --within features=5,seconds=100 algo=few_features,shareboost {PLACES}"
    code, out, err = command(line)
    assert code == 0, err
    assert "columns: 1,000 of 20,000, those with the largest rank statistic (Kruskal-Wallis) on" in out
    facts = json.loads((workplace / "model.certificate.json").read_text())
    assert facts["budgets"]["features"]["spent"] <= 5 and facts["columns"]["kept"] == 1000
    new, labels = samples(300, seed=4)
    np.save("new.npy", new)
    assert command("predict model.npz new.npy -o said.csv")[0] == 0
    model = load("model.npz")
    answers = model.predict(new)
    assert np.mean(answers == labels) > 0.8
    assert (workplace / "said.csv").read_text().split()[1:] == [str(each) for each in answers]
    kept = [*map(int, _names("model.columns.parquet"))]
    assert np.array_equal(model.predict(new[:, kept]), answers)
    clf = boostrun.fit(x, y, {"features": 5, "seconds": 60}, "algo=few_features", "n_jobs=1")
    assert np.mean(clf.predict(new) == labels) > 0.8 and clf.certificate_["columns"]["of"] == COLUMNS
