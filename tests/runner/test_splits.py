"""Trials on data without a test part: each has its own, the same for every method, by class, by groups or by time."""

import json
import shlex

import numpy as np
import pandas as pd
import pytest

from boostrun.data.dataset import last, parts_of_rows, whole_groups
from boostrun.data.options import splits_anew
from boostrun.errors import BoostrunError
from boostrun.features.bank import Bank
from boostrun.runner.naming import cell_words
from boostrun.runner.plan import PlannedCell, compose_all, compose_one, open_store, plan, table_of

N = 60


@pytest.fixture
def tables(workplace):
    """Sixty rows, three in four of class a; twenty persons of three rows each; a column that counts the rows."""
    rng = np.random.default_rng(0)
    kind = np.where(np.arange(N) % 4 == 0, "b", "a")
    frame = pd.DataFrame({"row": np.arange(N), "x": rng.normal(size=N) + (kind == "b"), "person": np.arange(N) // 3})
    frame["kind"] = kind
    frame.to_csv("own.csv", index=False)
    frame.to_parquet("own.parquet")
    frame.assign(kind=[*kind[:-2], "c", "c"]).to_csv("late.csv", index=False)
    return workplace


def planned(*words) -> list[PlannedCell]:
    settings = compose_all(["trials=4", "T=2", "n_jobs=1", "dataset.path=own.csv", *words])
    return plan(settings, open_store(settings[0]))


def rows_of(*words, seed=0):
    """Which rows one trial is tested on, and the labels of both parts."""
    table = table_of(compose_one(["algo=majority", "dataset.path=own.csv", f"seed={seed}", *words]), progress=False)
    both = [table.labels(part) for part in ("train", "test")]
    column = table.bank.samples("test")[:, 0]
    return np.asarray(column).tolist(), both


def test_every_trial_has_a_split_of_its_own_and_all_methods_have_the_same(tables):
    cells = planned("algo=geem,logitboost,knn", "dataset=csv", "r=4", "features.bins=256")
    data = [[trial.inputs.data for trial in cell.to_run] for cell in cells]
    assert len(set(data[0])) == 4 and data[0] == data[1] == data[2]
    assert [len(cell.settings.seeds) for cell in cells] == [4, 4, 4]  # nothing is random in knn but the split
    fixed = planned("algo=geem,knn", "dataset=csv", "r=4", "dataset.split_seed=2")
    assert [[trial.inputs.data for trial in cell.to_run] for cell in fixed] == [[data[0][2]] * 4, [data[0][2]]]


def test_a_split_is_by_class_and_parquet_has_that_of_csv(tables):
    for seed in (0, 1):
        rows, (train, test) = rows_of("dataset=csv", f"dataset.split_seed={seed}")
        assert len(test) == 12 and np.bincount(test).tolist() == [9, 3] and np.bincount(train).tolist() == [36, 12]
        assert rows_of("dataset=csv", seed=seed)[0] == rows
        assert rows_of("dataset=parquet", "dataset.path=own.parquet", seed=seed)[0] == rows
    assert rows_of("dataset=csv", seed=0)[0] != rows_of("dataset=csv", seed=1)[0]


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_no_group_is_torn_and_its_column_is_no_feature(tables, kind):
    words = (f"dataset={kind}", f"dataset.path=own.{kind}", "dataset.split=groups", "dataset.group=person")
    for seed in range(3):
        table = table_of(compose_one(["algo=majority", f"seed={seed}", *words]), progress=False)
        assert isinstance(table.bank, Bank) and table.bank.n_features == 2
    same = [parts_of_rows({"test_fraction": 0.2, "split_seed": seed}, np.arange(N) % 3)[1] for seed in (None, 0)]
    assert np.array_equal(*same)
    options = {"split": "groups", "test_fraction": 0.2, "split_seed": 0}
    labels, groups = np.arange(N) % 4 == 0, np.arange(N) // 3
    for seed in range(20):
        train, test = parts_of_rows(options | {"split_seed": seed}, labels, groups)
        assert not set(groups[train]) & set(groups[test]) and len(train) + len(test) == N
        assert 0.1 < len(test) / N < 0.3 and len(set(labels[test])) == len(set(labels[train])) == 2


def test_settings_are_chosen_on_held_out_groups_and_on_the_last_training_rows(tables):
    labels, groups = np.arange(N) % 4 == 0, np.arange(N) // 3
    options = {"split": "groups", "test_fraction": 0.2, "split_seed": 3}
    whole, test = parts_of_rows(options, labels, groups)
    train, held_out = parts_of_rows(options | {"held_out": 0.25}, labels, groups)
    assert sorted([*train, *held_out]) == whole.tolist() and not set(groups[train]) & set(groups[held_out])
    assert 0.15 < len(held_out) / len(whole) < 0.35 and not set(groups[test]) & set(groups[whole])
    options = {"split": "time", "test_fraction": 0.2, "split_seed": None, "held_out": 0.25}
    assert [part.tolist() for part in parts_of_rows(options, labels[:20])] == [[*range(12)], [*range(12, 16)]]
    late = "mine: dataset.split=time leaves the last 4 rows to choose settings on, and 2 of these have labels that no"
    with pytest.raises(BoostrunError, match=late):
        parts_of_rows(options | {"name": "mine"}, np.arange(20) > 13)
    for words in (["dataset.split=groups", "dataset.group=person"], ["dataset.split=time"]):
        part = ["dataset=csv", *words, "holdout=0.25", "features.bins=256"]
        train, held_out = rows_of(*part)[1]
        assert (len(train), len(held_out)) == (36, 12) and set(train) == set(held_out) == {0, 1}
        (cell,) = planned("algo=logitboost", *part)
        assert cell.cell.dataset["held_out"] == 0.25 and "holdout=0.25" in shlex.split(cell_words(cell.cell.config()))


def test_a_class_of_one_group_is_never_lost_to_training():
    labels, groups = np.repeat([0, 1, 2], 4), np.array([0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 4, 4])
    for seed in range(20):
        train, test = whole_groups(labels, groups, 0.3, seed)
        assert set(labels[train]) == {0, 1, 2} and 4 not in groups[test] and len(test)
    with pytest.raises(BoostrunError, match="each of the 2 groups holds all samples of some class"):
        whole_groups(np.array([0, 0, 1, 1]), np.array([0, 0, 1, 1]), 0.5, 0)


def test_the_last_rows_are_tested_on_where_time_splits(tables):
    rows, (train, _) = rows_of("dataset=csv", "dataset.split=time", "dataset.test_fraction=0.25")
    assert len(train) == 45 and rows == sorted(rows)
    assert [part.tolist() for part in last(4, 0.9)] == [[0], [1, 2, 3]]
    assert [len(cell.settings.seeds) for cell in planned("algo=geem,knn", "dataset=csv", "dataset.split=time")] == [
        4,
        1,
    ]


def test_data_with_a_test_part_have_one_split(tables):
    frame = pd.read_csv("own.csv")
    frame.to_csv("test.csv", index=False)
    x, y = frame[["row", "x"]].to_numpy(), (frame["kind"] == "b").to_numpy().astype(int)
    np.savez("whole.npz", x=x, y=y)
    np.savez("split.npz", x_train=x, y_train=y, x_test=x, y_test=y)
    for words, splits in (
        (["dataset=csv", "dataset.test_path=test.csv"], False),
        (["dataset=npz", "dataset.path=split.npz"], False),
        (["dataset=npz", "dataset.path=whole.npz"], True),
    ):
        random, fixed = planned("algo=geem,knn", *words)
        assert len({trial.inputs.data for trial in random.to_run}) == (4 if splits else 1), words
        assert (random.settings.splits, len(fixed.to_run)) == (splits, 4 if splits else 1)


def test_folders_named_train_and_test_are_one_split(workplace):
    for folder in ("whole/cat", "split/train/cat", "split/test/cat"):
        (workplace / folder).mkdir(parents=True)
    found = {
        name: splits_anew({"name": "image_folder", "path": name, "split_seed": None}, workplace)
        for name in ("whole", "split", "absent")
    }
    assert found == {"whole": True, "split": False, "absent": True}


def test_published_sets_keep_their_split(workplace):
    settings = compose_one(["algo=geem", "dataset=digits", "trials=3"])
    assert not settings.splits and settings.dataset == {"name": "digits", "test_fraction": 0.2, "split_seed": 0}
    (cell,) = plan([settings], open_store(settings))
    assert len({trial.inputs.data for trial in cell.to_run}) == 1


def test_the_table_says_which_splits_there_were_and_records_know_their_data(command, tables):
    line = "-m algo=majority,knn dataset=csv dataset.path=own.csv trials=3 n_jobs=1"
    code, out, _ = command(line)
    assert code == 0 and "three splits, the same ones for every row" in out
    records = [json.loads(path.read_text()) for path in (tables / "results" / "runs").rglob("*.json")]
    by_seed = {seed: {r["inputs"]["data"] for r in records if r["seed"] == seed} for seed in range(3)}
    assert [len(data) for data in by_seed.values()] == [1, 1, 1] and len(set.union(*by_seed.values())) == 3
    code, out, _ = command(f"plan {line}")
    assert "6 cached, 0 stale, 0 to run; three splits, the same ones for every row" in out
    code, out, err = command(f"{line} dataset.test_path=own.csv".replace("trials=3", "trials=2"))
    assert code == 0 and "one split, two seeds (majority); one split, one run (knn)" in out
    assert "nothing is random in knn: 1 trial, not 2" in err


@pytest.mark.parametrize(("words", "says"), [
    ("dataset.split=groups", "needs dataset.group=COLUMN"),
    ("dataset.group=person", "dataset.group=person is for dataset.split=groups"),
    ("dataset.split=groups dataset.group=persn", "no column 'persn' (dataset.group); did you mean 'person'?"),
    ("dataset.split=groups dataset.group=kind", "dataset.group=kind is the label"),
    ("dataset.split=time dataset.test_path=own.csv", "dataset.split=time splits one file, and dataset.test_path"),
    ("dataset.split=time dataset.path=late.csv", "the last 12 rows to test on, and 2 of these have labels that no"),
    ("dataset.split=tim", "one of random, groups, time is needed; did you mean 'time'?"),
])  # fmt: skip
def test_splits_that_cannot_be_are_refused_in_one_sentence(command, tables, words, says):
    code, out, err = command(f"algo=majority dataset=csv dataset.path=own.csv n_jobs=1 {words}")
    assert (code, out) == (2, "") and says in err and err.count("boostrun: ") == 1
    assert not list((tables / "results").rglob("*.json"))


def test_rows_without_a_group_are_counted(command, tables):
    frame = pd.read_csv("own.csv").astype({"person": object})
    frame.loc[3:5, "person"] = None
    frame.to_csv("gaps.csv", index=False)
    words = "algo=majority dataset=csv dataset.path=gaps.csv dataset.split=groups dataset.group=person"
    assert "gaps.csv has 3 rows without a group (column 'person')" in command(words)[2]


@pytest.mark.parametrize("split", ["dataset.split=groups dataset.group=person", "dataset.split=time", ""])
def test_a_saved_model_knows_the_text_of_its_own_training_part(command, tables, split):
    frame = pd.read_csv("own.csv")
    frame["colour"] = np.where(np.arange(N) % 7 == 0, "red", "blue")
    frame.loc[N - 1, "colour"] = "last"
    frame[["colour", "x", "person", "kind"]].to_csv("text.csv", index=False)
    code, _, err = command(
        f"export algo=logitboost T=2 dataset=csv dataset.path=text.csv seed=1 --to npz -o model.npz {split} n_jobs=1"
    )
    assert code == 0, err
    assert command("predict model.npz text.csv -o out.csv")[0] == 0
