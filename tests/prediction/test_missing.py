"""Missing values in a user's table: used in training and prediction, or refused by row and column."""

import io

import numpy as np
import pandas as pd
import pytest

from boostrun.prediction import load, samples
from boostrun.runner.execute import train_one
from boostrun.runner.plan import compose_one


def rows(n, seed):
    """Two columns whose missing values tell the label, each on another side; one of text; one without any."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    x = rng.normal(size=n) + y
    colour = np.array(["red", "green", "blue"], object)[(2 * y + rng.integers(0, 2, n)) % 3]
    return pd.DataFrame({
        "of_yes": np.where((y == 1) & (rng.random(n) < 0.6), np.nan, x),
        "of_no": np.where((y == 0) & (rng.random(n) < 0.6), np.nan, x),
        "colour": np.where(rng.random(n) < 0.2, None, colour),
        "whole": rng.integers(0, 5, n),
        "label": np.array(["no", "yes"])[y],
    })  # fmt: skip


@pytest.fixture
def csv(workplace):
    rows(400, 0).to_csv("train.csv", index=False)
    rows(300, 1).to_csv("test.csv", index=False)
    return "dataset=csv dataset.path=train.csv n_jobs=1"


@pytest.fixture
def trained(workplace, csv):
    def model(*words):
        words = ["algo=laminating", "T=12", *csv.split(), "dataset.test_path=test.csv", *words]
        return train_one(compose_one(words), workplace / "model.npz")

    return model


def predictions(out):
    return pd.read_csv(io.StringIO(out), dtype=str)["prediction"]


@pytest.mark.slow
def test_the_command_predicts_rows_with_missing_values_from_any_file(trained, command, monkeypatch):
    path = trained()
    new = rows(300, 1)
    model = load(path)
    code, out, err = command(f"predict {path} test.csv")
    assert code == 0, err
    assert (predictions(out) == new["label"]).mean() > 0.8
    assert predictions(out).tolist() == model.predict(new[["of_yes", "of_no", "colour", "whole"]]).tolist()
    monkeypatch.setattr(samples, "_MOST_ROWS", 16)
    new.to_parquet("test.parquet")
    assert command(f"predict {path} test.parquet")[1] == out


def test_training_learns_on_which_side_missing_values_go(trained):
    model = load(trained())
    assert model._preparation().missing.tolist() == [0, 1, 2]
    one = {"of_yes": [0.5], "of_no": [0.5], "colour": ["blue"], "whole": [2]}
    scores = [
        model.decision_function(pd.DataFrame({**one, **change}))[0]
        for change in ({}, {"of_yes": [np.nan]}, {"of_no": [np.nan]})
    ]
    assert scores[1] > scores[0] > scores[2]


def test_a_column_that_was_whole_in_training_may_lack_values_which_count_as_below_all(trained):
    model = load(trained())
    frame = rows(50, 2).drop(columns="label")
    lowest = model.decision_function(frame.assign(whole=-1e9))
    assert (model.decision_function(frame.assign(whole=np.nan)) == lowest).all()


def test_refused_missing_values_are_named_by_row_and_column(csv, trained, command):
    row = int(rows(400, 0)[["of_yes", "of_no", "colour"]].isna().any(axis=1).to_numpy().argmax())
    column = rows(400, 0).columns[rows(400, 0).iloc[row].isna().to_numpy().argmax()]
    code, out, err = command(f"algo=wsam r=20 T=2 trials=1 {csv} dataset.missing=error")
    assert (code, out) == (2, "") and f"train.csv: row {row + 1} has no value in column '{column}'" in err
    rows(400, 0).dropna().to_csv("train.csv", index=False)
    rows(300, 1).dropna().to_csv("test.csv", index=False)
    path = trained("dataset.missing=error")
    rows(3, 1).assign(of_yes=[1.0, None, 1.0], of_no=1.0, colour="red").to_csv("new.csv", index=False)
    code, out, err = command(f"predict {path} new.csv")
    assert (code, out) == (2, "") and "new.csv: row 2 has no value in column 'of_yes'" in err


@pytest.mark.parametrize("column", ["label", "person"])
def test_labels_and_groups_that_are_missing_stay_refused(csv, command, column):
    frame = rows(400, 0).assign(person=np.arange(400) % 40)
    frame[[*frame.columns.drop("label"), "label"]].assign(**{column: frame[column].where(frame.index > 3)}).to_csv(
        "train.csv", index=False
    )
    code, out, err = command(f"algo=wsam r=20 T=2 trials=1 {csv} dataset.split=groups dataset.group=person")
    assert (code, out) == (2, "") and "train.csv has 4 rows without a " in err


@pytest.mark.slow
def test_accuracy_is_near_that_of_trees_that_learn_the_side(csv, command):
    from sklearn.ensemble import HistGradientBoostingClassifier

    train, test = (rows(n, seed).drop(columns="colour") for n, seed in ((400, 0), (300, 1)))
    train.to_csv("train.csv", index=False)
    test.to_csv("test.csv", index=False)
    trees = HistGradientBoostingClassifier(max_iter=30, random_state=0).fit(train.drop(columns="label"), train["label"])
    theirs = trees.score(test.drop(columns="label"), test["label"])
    for words in ("algo=logitboost T=30", "algo=shareboost features=linear T=7"):
        path = train_one(compose_one([*words.split(), *csv.split(), "dataset.test_path=test.csv"]), "model.npz")
        assert (predictions(command(f"predict {path} test.csv")[1]) == test["label"]).mean() > theirs - 0.04
