"""``boostrun predict`` says of raw rows what the trained model says, whatever model and whatever file."""

import gzip
import io
import json
import os
import re
import sys
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from boostrun import IBoostClassifier, ReservoirClassifier
from boostrun.cli import main
from boostrun.config import catalogue
from boostrun.export import read
from boostrun.features import open_bank
from boostrun.inputs.bank import Table
from boostrun.methods import archive
from boostrun.papers.shareboost.evaluations import samples_of
from boostrun.prediction import load, samples
from boostrun.runner.execute import train_one
from boostrun.runner.plan import compose_one
from tests.export.test_runs import HOG, TEMPLATES
from tests.export.test_saved_models import CLASSIFIERS, LABELS, SAVED, answers, table
from tests.marks import slow_but


def rows(n, seed, colours=("red", "green", "blue", "navy")):
    """A table with text, whole numbers and bools among its columns, and a label of text."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    return pd.DataFrame({
        "size": rng.normal(size=n) + 2 * y,
        "colour": np.array(colours)[(y + rng.integers(0, 2, n)) % len(colours)],
        "count": rng.integers(0, 5, n) * (y + 1),
        "old": rng.random(n) < 0.3 + 0.2 * y,
        "code": np.char.add("00", (y + rng.integers(0, 3, n)).astype(str)) if seed % 2 else np.array(list("qrs"))[y],
        "kind": np.array(["yes", "no", "perhaps"])[y],
    })  # fmt: skip


@pytest.fixture
def folder(workplace):
    """Files of three kinds of samples, each with a test part: a table with text, arrays, images."""
    rows(120, 0).to_csv("train.csv", index=False)
    test = rows(200, 2, ("red", "green", "mauve", "navy"))  # mauve is unknown, blue is missing
    test.to_csv("test.csv", index=False)
    rng = np.random.default_rng(0)
    y = np.arange(150) % 3
    numbers = (rng.normal(size=(150, 5)) + y[:, None]).astype(np.float32)
    np.savez("numbers.npz", x_train=numbers[:90], y_train=y[:90] + 5, x_test=numbers[90:], y_test=y[90:] + 5)
    images = rng.integers(0, 60, (150, 12, 10)).astype(np.uint8)
    for image, label in zip(images, y):
        image[3 * label : 3 * label + 4, 2:7] += 150
    np.savez("images.npz", x_train=images[:90], y_train=y[:90] + 5, x_test=images[90:], y_test=y[90:] + 5)
    return workplace


def trained(folder, line):
    """(file of the model, its classes, the place of the class that the trained one says of each test sample)."""
    settings, root = compose_one([*line.split(), "n_jobs=1"]), folder / "datasets"
    written = train_one(settings, folder / "model.npz")
    saved = read(written)
    bank = Table(
        open_bank(settings.dataset, settings.features, root, root), catalogue.pipeline(settings.features).gives
    )
    if (decision := getattr(saved.model, "decision", None)) is None:
        return written, saved.classes, saved.model.scores(samples_of(bank, "test")).argmax(axis=1)
    scores = decision(bank.samples("test"))
    scores = scores if getattr(saved.model, "subsets", None) is not None else scores.T
    return written, saved.classes, scores.argmax(axis=1)


CSV = "dataset=csv dataset.path=train.csv dataset.test_path=test.csv"
NPZ = "dataset=npz dataset.path=numbers.npz"
IMAGES = "dataset=npz dataset.path=images.npz"
RUNS = [
    f"algo=geem features=raw r=20 T=20 {CSV}", f"algo=laminating features=raw T=9 {CSV}",
    f"algo=jointboost features=stumps T=9 {CSV}", f"algo=shareboost features=linear T=4 {CSV}",
    f"algo=shareboost features=anchors features.anchors=6 features.radii=3 T=3 {CSV}",
    f"algo=ovr_greedy features=products T=3 {CSV}", f"algo=mixed_norm features=linear T=4 algo.n_lambdas=6 {CSV}",
    f"algo=geem features=raw features.bins=16 r=20 T=9 {NPZ}", f"algo=oza features=raw T=9 {NPZ}",
    f"algo=shareboost features=products T=6 {NPZ}",
    f"algo=wsam features=raw r=20 T=9 {IMAGES}", f"algo=geem {HOG} r=20 T=9 {IMAGES}",
    f"algo=shareboost {TEMPLATES} T=9 {IMAGES}",
]  # fmt: skip


@pytest.mark.parametrize("line", slow_but([RUNS[i] for i in (0, 3, 4, 7, 10, 11, 12)], RUNS))
def test_the_command_says_what_the_trained_model_says(folder, command, line):
    written, classes, numbers = trained(folder, line)
    path = line.rpartition("=")[2]
    code, out, err = command(f"predict {written} {path} -o out.csv")
    assert (code, out) == (0, "") and err.splitlines()[-1].startswith(f"{len(numbers)} samples: ")
    said = pd.read_csv("out.csv", dtype=str)
    assert said["prediction"].tolist() == [classes[number] for number in numbers] and len(set(numbers)) == 3
    if path == "test.csv":
        assert said["kind"].tolist() == pd.read_csv(path)["kind"].tolist()
    elif path == "images.npz":
        with np.load(path) as arrays:
            np.save("flat.npy", arrays["x_test"].reshape(len(numbers), -1).astype(float))
        assert command(f"predict {written} flat.npy -o again.csv")[0] == 0
        assert (folder / "again.csv").read_bytes() == (folder / "out.csv").read_bytes()


@pytest.mark.parametrize("name", slow_but(SAVED, CLASSIFIERS))
def test_every_classifier_that_is_saved_is_found_by_its_file(name, workplace, command):
    X, y = table(LABELS["str"])
    clf = clone(CLASSIFIERS[name]).fit(X, y)
    path = clf.save("model")
    X[X.columns[::-1]].assign(id=[f"{i:05d}" for i in range(len(X))]).to_csv("new.csv", index=False)
    X.to_parquet("new.parquet")
    np.savez("new.npz", X.to_numpy())
    of_text = pd.read_csv("new.csv", dtype={"id": str})
    expected = {"new.csv": clf.predict(of_text[X.columns]), "new.parquet": clf.predict(X), "new.npz": clf.predict(X)}
    for file, labels in expected.items():
        code, out, err = command(f"predict {path} {file}")
        assert code == 0, err
        said = pd.read_csv(io.StringIO(out), dtype=str)
        assert said["prediction"].tolist() == labels.tolist()
        assert list(said) == (["id", "prediction"] if file == "new.csv" else ["prediction"])
    loaded = load(path)
    assert type(loaded) is type(clf)
    np.testing.assert_array_equal(answers(loaded, X), answers(clf, X))


def test_labels_are_written_as_their_type_has_them(workplace, command):
    texts = {"int": {"3", "-7", "11"}, "float": {"4.0", "2.0", "-1.0"}, "bool": {"True", "False"}}
    for kind, expected in {**texts, "str": {"b", "a", "ç"}, "object": {"b", "a", "c"}}.items():
        X, y = table(LABELS[kind])
        path = clone(CLASSIFIERS["reservoir"]).fit(X.to_numpy(), y).save("model")
        np.save("new.npy", X)
        assert set(command(f"predict {path} new.npy")[1].splitlines()[1:]) == expected


def of_run(folder, path, *words):
    words = ["algo=geem", "features=raw", "r=20", "T=9", "dataset=csv", f"dataset.path={path}", "n_jobs=1", *words]
    return train_one(compose_one(words), folder / "model.npz")


def test_labels_that_are_numbers_in_a_table_stay_numbers(workplace):
    frame = rows(160, 0)
    frame.assign(kind=frame["kind"].map({"yes": 20, "no": 3, "perhaps": -1})).to_csv("train.csv", index=False)
    assert load(of_run(workplace, "train.csv")).classes_.tolist() == [-1, 3, 20]


@pytest.fixture
def model(workplace):
    """A saved model of the table of :func:`rows`, trained by a run that splits it itself."""
    rows(160, 1).to_csv("train.csv", index=False)
    return of_run(workplace, "train.csv", "dataset.missing=error")


def predictions(out):
    return pd.read_csv(io.StringIO(out), dtype=str)["prediction"].tolist()


def test_columns_go_by_name_and_others_are_handed_on(model, command):
    new = rows(50, 3)
    new.to_csv("new.csv", index=False)
    expected = predictions(command(f"predict {model} new.csv")[1])
    new.assign(kind="never seen").to_csv("unknown.csv", index=False)
    assert predictions(command(f"predict {model} unknown.csv")[1]) == expected
    other = new[["old", "code", "size", "count", "colour"]]
    other.insert(2, "id", ["007", "NA", ""] + ["x"] * 47)
    other.assign(prediction="old").to_csv("other.csv", index=False, sep=";")
    code, out, _ = command(f"predict {model} other.csv")
    assert code == 0 and predictions(out) == expected and len(set(expected)) > 1
    assert [line.partition(",")[0] for line in out.splitlines()[:4]] == ["id", "007", "NA", ""]
    assert out.startswith("id,prediction_given,prediction\n")


def test_a_learner_of_dicts_finds_its_columns_by_name(workplace, command):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"x": rng.normal(size=300), "z": rng.normal(size=300)})
    model = IBoostClassifier(n_window=50, budget=5)
    for row, label in zip(X.to_dict("records"), X.x > 0):
        model.learn_one(row, bool(label))
    model.save(workplace / "m.npz")
    X.to_csv("xz.csv", index=False)
    X[["z", "x"]].assign(more=1).to_csv("zx.csv", index=False)
    first, second = ([line.rpartition(",")[2] for line in command(f"predict m.npz {name}")[1].splitlines()]
                     for name in ("xz.csv", "zx.csv"))  # fmt: skip
    assert first == second and len(first) == 301


def test_whole_numbers_beside_gaps_are_handed_on_as_they_are(model, command):
    import pyarrow as pa
    from pyarrow import parquet

    new = rows(3, 3).drop(columns="kind", errors="ignore")
    beside = {"id": [9007199254740993, None, 7], "prediction": ["a", "b", "c"], "prediction_given": ["d", "e", "f"]}
    given = pa.Table.from_pandas(new, preserve_index=False)
    for name, values in beside.items():
        given = given.append_column(name, pa.array(values, pa.int64() if name == "id" else pa.string()))
    parquet.write_table(given.replace_schema_metadata(), "new.parquet")
    code, out, _ = command(f"predict {model} new.parquet")
    table = pd.read_csv(io.StringIO(out), dtype=str, keep_default_na=False)
    assert code == 0 and table["id"].tolist() == ["9007199254740993", "", "7"]
    assert {"prediction_given", "prediction_given_given", "prediction"} <= set(table.columns)


WRITTEN = {  # key -> how a file is written that its first rows do not tell
    "sep=~": lambda new, path: new.to_csv(path, sep="~", index=False),
    "decimal=comma": lambda new, path: new.to_csv(path, sep=";", decimal=",", index=False),
    "na=[-]": lambda new, path: new.to_csv(path, na_rep="-", index=False),
    "encoding=cp437": lambda new, path: new.to_csv(path, encoding="cp437", index=False),
    "types={day:date_mdy}": lambda new, path: new.to_csv(path, date_format="%m/%d/%Y", index=False),
    "header=true": lambda new, path: new.to_csv(path, index=False),
}  # fmt: skip


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "parquet"])
@pytest.mark.parametrize("key", WRITTEN)
def test_keys_say_how_new_rows_are_written(key, ending, workplace, command):
    rng = np.random.default_rng(0)
    new = pd.DataFrame({"größe": rng.integers(1001, 1999, 90) / 1000, "day": pd.Timestamp("2024-01-02"), "1987": "7"})
    new["day"] += pd.to_timedelta(rng.integers(0, 2, 90) * 31, unit="D")
    new["kind"] = np.where((new["größe"] > 1.5) ^ (new["day"].dt.month > 1), "a", "b")
    new.loc[::5, "größe"] = np.nan
    new.to_csv("train.csv", index=False)
    written = of_run(workplace, "train.csv")
    new.to_csv("plain.csv", index=False)
    expected = predictions(command(f"predict {written} plain.csv")[1])
    WRITTEN[key](new, f"new.{ending.replace('parquet', 'csv')}")
    if ending == "parquet":
        if key.partition("=")[0] in ("sep", "encoding", "header"):
            return
        pd.read_csv("new.csv", dtype=str, keep_default_na=False, sep=None, engine="python").to_parquet("new.parquet")
    code, out, err = command(f"predict {written} new.{ending} dataset.{key}")
    assert code == 0 and predictions(out) == expected and len(set(expected)) == 2, err
    if key != "header=true":
        code, out, err = command(f"predict {written} new.{ending}")
        assert code == 2 and err.count("\n") <= 2


def test_points_after_decimal_commas_are_taken_only_where_they_leave_no_doubt(workplace, command):
    new = pd.DataFrame({"size": [0.25, 1.5, 0.125, 1.75] * 18, "kind": ["a", "b"] * 36})
    new.to_csv("train.csv", sep=";", decimal=",", index=False)
    written = of_run(workplace, "train.csv")
    expected = predictions(command(f"predict {written} train.csv")[1])
    new.to_csv("points.csv", sep=";", index=False)
    assert predictions(command(f"predict {written} points.csv")[1]) == expected
    new.loc[3, "size"] = 1.234
    for separator, code in {",": 0, ";": 2}.items():
        new.to_csv("doubt.csv", sep=separator, index=False)
        found = command(f"predict {written} doubt.csv")
        assert found[0] == code and (code == 0 or "row 4 has '1.234' in column 'size'" in found[2])
    assert command(f"predict {written} doubt.csv dataset.decimal=point")[0] == 0


def test_a_key_of_new_rows_is_checked_as_in_a_run(model, command):
    new = rows(30, 3)
    new.insert(0, "id", range(30))
    new.to_csv("new.csv", index=False)
    np.save("new.npy", np.zeros((3, 5)))
    assert command(f"predict {model} new.csv dataset.drop=[id,kind]")[1].startswith("prediction\n")
    for words, sentence in {
        "new.csv dataset.decimal=komma": "dataset.decimal=komma: one of point, comma is needed",
        "new.csv dataset.drop=[size]": "dataset.drop leaves out 'size', which the model takes",
        "new.csv dataset.drop=[sizes]": "has no column 'sizes' (dataset.drop); did you mean 'size'?",
        "new.csv dataset.types={size:date}": "dataset.types says that 'size' is a date, and the model takes a number",
        "new.csv delimiter=;": "predict has no key 'delimiter'; the separator of the columns is dataset.sep",
        "new.npy dataset.decimal=comma": "dataset.decimal is for tables, and new.npy holds no table",
    }.items():
        code, out, err = command(f"predict {model} {words}")
        assert (code, out) == (2, "") and sentence in err and err.count("\n") == 1, err


def test_standard_input_and_packed_files_are_read(model, command, monkeypatch):
    new = rows(50, 3).drop(columns="kind").to_csv(index=False).encode()
    with open("new.csv", "wb") as file, gzip.open("new.csv.gz", "wb") as packed:
        file.write(b"\xef\xbb\xbf\n" + new)
        packed.write(new)
    out = command(f"predict {model} new.csv")[1]
    assert out.count("\n") == 51 and command(f"predict {model} new.csv.gz")[1] == out
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(new)))
    assert command(f"predict {model} -")[1] == out


def test_a_frame_with_text_is_taken_by_the_loaded_model(model, command):
    new = rows(50, 3).drop(columns="kind")
    new.to_csv("new.csv", index=False)
    out = command(f"predict {model} new.csv")[1]
    frame = pd.read_csv("new.csv", dtype={"code": str})
    assert ReservoirClassifier.load(model).predict(frame).tolist() == predictions(out)
    again = ReservoirClassifier.load(model).save("again.npz")
    assert command(f"predict {again} new.csv")[1] == out


def test_what_does_not_depend_on_the_size_of_a_piece(model, command, monkeypatch):
    rows(300, 5).to_csv("new.csv", index=False)
    rows(300, 5).to_parquet("new.parquet")
    whole = [command(f"predict {model} {name}")[1] for name in ("new.csv", "new.parquet")]
    monkeypatch.setattr(samples, "_MOST_ROWS", 7)
    assert [command(f"predict {model} {name}")[1] for name in ("new.csv", "new.parquet")] == whole
    assert whole[0].count("\n") == 301 and predictions(whole[0]) == predictions(whole[1])


@pytest.mark.slow
def test_memory_does_not_grow_with_the_file(workplace, command):
    X, y = table(LABELS["int"])
    path = clone(CLASSIFIERS["reservoir"]).fit(X.to_numpy(), y).save("model")
    np.savez("new.npz", x=np.random.default_rng(0).normal(size=(400_000, 5)))
    command(f"predict {path} new.npz -o out.csv")
    tracemalloc.start()
    assert command(f"predict {path} new.npz -o out.csv")[0] == 0
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert os.path.getsize("new.npz") == pytest.approx(16e6, rel=0.01) and peak < 12e6
    with open("out.csv") as lines:
        assert sum(1 for _ in lines) == 400_001


def test_tables_without_names_go_by_place(workplace, command):
    frame = rows(160, 1)
    frame[["kind", *frame.columns[:-1]]].to_csv("train.csv", index=False, header=False)
    path = of_run(workplace, "train.csv", "dataset.label=0")
    new = rows(50, 3)
    new[["kind", *new.columns[:-1]]].to_csv("labelled.csv", index=False, header=False)
    new[new.columns[:-1]].to_csv("new.csv", index=False, header=False)
    code, out, err = command(f"predict {path} labelled.csv")
    assert code == 0, err
    assert out.startswith("0,prediction\n") and len(set(predictions(out))) > 1
    assert predictions(command(f"predict {path} new.csv")[1]) == predictions(out)
    new[new.columns[1:-1]].to_csv("narrow.csv", index=False, header=False)
    code, _, err = command(f"predict {path} narrow.csv")
    assert code == 2 and "narrow.csv has 4 columns and the model, which knows no names of columns, takes 5" in err


def test_a_model_of_a_parquet_table_knows_its_categories(workplace, command):
    frame = rows(160, 1).astype({"colour": "category", "count": "Int64"})
    frame["code"] = frame["code"].astype(int).astype(object).map(str)  # numbers that are kept as text
    frame.to_parquet("train.parquet")
    words = "algo=laminating features=raw T=9 dataset=parquet dataset.path=train.parquet dataset.label=kind n_jobs=1"
    path = train_one(compose_one(words.split()), workplace / "model.npz")
    assert samples.known_table(load(path)).categories == {"colour": ("blue", "green", "navy", "red")}
    new = rows(80, 3).astype({"code": int})
    new.to_parquet("new.parquet")
    new.to_csv("new.csv", index=False)
    outs = [predictions(command(f"predict {path} {name}")[1]) for name in ("new.parquet", "new.csv")]
    assert outs[0] == outs[1] and len(set(outs[0])) > 1
    new["count"] = new["count"].where(new.index != 5).astype("Int64")
    new["colour"] = new["colour"].where(new.index != 7)
    new.to_parquet("new.parquet")
    new.to_csv("new.csv", index=False)
    outs = [predictions(command(f"predict {path} {name}")[1]) for name in ("new.parquet", "new.csv")]
    assert outs[0] == outs[1] and len(outs[0]) == 80


def test_images_of_a_folder_are_answered_in_the_order_of_their_names(workplace, command):
    from PIL import Image

    rng = np.random.default_rng(0)
    for kind, level in (("dark", 40), ("light", 180)):
        os.makedirs(f"photos/{kind}")
        for i in range(12):
            Image.fromarray(rng.integers(level, level + 60, (20, 16, 3), dtype=np.uint8)).save(f"photos/{kind}/{i}.png")
    words = "algo=geem features=raw r=6 T=5 dataset=image_folder dataset.path=photos dataset.size=8 n_jobs=1"
    path = train_one(compose_one(words.split()), workplace / "model.npz")
    code, out, err = command(f"predict {path} photos")
    lines = out.splitlines()
    assert code == 0, err
    assert lines[0] == "file,prediction" and lines[1] == "dark/0.png,dark" and lines[2] == "dark/1.png,dark"
    assert all(line.partition("/")[0] == line.rpartition(",")[2] for line in lines[1:]) and len(lines) == 25
    assert command(f"predict {path} photos/light/3.png")[1] == "file,prediction\n3.png,light\n"
    os.mkdir("none")
    (workplace / "bad.png").write_bytes(b"no image")
    for place, sentence in (("none", "none holds no images"), ("bad.png", "bad.png cannot be read as an image")):
        code, out, err = command(f"predict {path} {place}")
        assert (code, out) == (2, "") and sentence in err


NAMES = "size,colour,count,old,code"
BAD = {
    "empty.csv": ("", "empty.csv is empty"),
    "header.csv": (f"{NAMES}\n", "header.csv holds no rows"),
    "other.csv": (f"sizes{NAMES[4:]}\n1,red,2,True,001\n",
                  "no column 'size', which the model takes; did you mean 'sizes'?"),
    "few.csv": ("a,b\n1,2\n", "few.csv has no column 'size' and 4 more, which the model takes (its columns: a, b)"),
    "text.csv": (f"{NAMES}\n1,red,2,True,001\nbig,red,2,True,001\n",
                 "text.csv: row 2 has 'big' in column 'size', where the model takes a number"),
    "nan.csv": (f"{NAMES}\n1,red,2,True,001\n1,red,,True,001\n", "row 2 has no value in column 'count'"),
    "no_text.csv": (f"{NAMES}\n1,NA,2,True,001\n", "row 1 has no value in column 'colour'"),
    "inf.csv": (f"{NAMES}\n1e39,red,2,True,001\n", "row 1 has 1e+39 in column 'size': infinite or beyond float32"),
    "short.csv": (f"{NAMES}\n1,red,2,True\n", "row 1 has no value in column 'code'"),
    "long.csv": (f"{NAMES}\n1,red,2,True,001\n1,red,2,True,001,9,9\n", "7 values in row 2 and 5 columns"),
    "wide.csv": (f"{NAMES}\n1,red,2,True,001,9,9\n", "7 values in row 1 and 5 columns"),
    "nameless.csv": ("1,red,2,True,001\n2,red,2,True,001\n",
                     "has no line of names, and the model takes its columns by name: size, colour"),
    "binary.csv": ("\0\1\2\ufffd", "binary.csv"),
    "x.npz": ("no archive", "column 'colour' holds text, which an array cannot hold; give a table"),
    "x.parquet": ("no table", "x.parquet cannot be read as a Parquet file"),
    "absent.csv": (None, "no file or folder absent.csv"),
}  # fmt: skip


def test_bad_files_are_one_sentence_and_nothing_is_written(model, command, workplace):
    for name, (content, sentence) in BAD.items():
        if content is not None:
            (workplace / name).write_text(content)
        (workplace / "out.csv").write_text("before")
        code, out, err = command(f"predict {model} {name} -o out.csv")
        assert (code, out) == (2, "") and err.startswith("boostrun: ") and err.count("\n") == 1, name
        assert sentence in err
        assert (workplace / "out.csv").read_text() == "before" and not list(workplace.glob(".*.tmp"))
        assert command(f"predict {model} {name}")[:2] == (2, "")


def test_a_bad_row_far_down_is_named_and_nothing_is_written(model, command, monkeypatch, workplace):
    monkeypatch.setattr(samples, "_MOST_ROWS", 16)
    new = rows(100, 3).astype({"count": object})
    new.loc[90, "count"] = "?"
    new.to_csv("new.csv", index=False)
    code, out, err = command(f"predict {model} new.csv")
    assert (code, out) == (2, "") and "new.csv: row 91 has '?' in column 'count', where the model takes a number" in err
    assert command(f"predict {model} new.csv -o out.csv")[0] == 2 and not (workplace / "out.csv").exists()


def test_arrays_that_do_not_fit_are_one_sentence(workplace, command):
    X, y = table(LABELS["int"])
    path = clone(CLASSIFIERS["reservoir"]).fit(X.to_numpy(), y).save("model")
    for arrays, sentence in (
        ({"x": np.zeros((3, 4))}, "samples of the shape (4,), and the model takes (5,)"),
        ({"a": np.zeros((3, 5)), "b": np.zeros((3, 5))}, "has the arrays a, b; the samples are to be 'x'"),
        ({"x": np.zeros(5)}, "has the shape (5,)"), ({"x": np.zeros((0, 5))}, "holds no sample"),
        ({"x": np.array([["a"] * 5])}, "numbers are expected"),
        ({"x": np.array([[None] * 5])}, "holds values of the type object"),
        ({"x": np.array([[0.0] * 5, [0, 0, np.nan, 0, 0]])}, "row 2 has no value in column '2'"),
    ):  # fmt: skip
        np.savez("new.npz", **arrays)
        code, out, err = command(f"predict {path} new.npz")
        assert (code, out) == (2, "") and sentence in err and err.count("\n") == 1, sentence


def test_other_models_and_files_that_are_none_are_one_sentence(workplace, command):
    X, y = table(LABELS["int"])
    path = clone(CLASSIFIERS["reservoir"]).fit(X, y).save("model")
    with np.load(path) as found:
        arrays = {name: array for name, array in found.items() if name != "format"}
    X.to_csv("new.csv", index=False)
    good = command(f"predict {path} new.csv")[1]
    archive.save("next.npz", "boostrun.StumpEnsemble/2", arrays)
    facts = json.loads(str(arrays["facts"])) | {"written_by": ["Strange"]}
    archive.save("strange.npz", "boostrun.StumpEnsemble/1", {**arrays, "facts": np.array(json.dumps(facts))})
    archive.save("old.npz", "boostrun.StumpEnsemble/1", {k: v for k, v in arrays.items() if k != "facts"})
    (workplace / "text.npz").write_text("no model")
    assert command("predict old.npz new.csv")[1] == good
    for file, sentence in {
        "next.npz": "holds boostrun.StumpEnsemble/2, which boostrun .* does not know: it was written by another",
        "strange.npz": "holds a model of Strange, which is none of the classifiers of boostrun",
        "text.npz": "text.npz is not an ensemble saved by boostrun", "new.csv": "new.csv is not an ensemble",
        "absent.npz": "no ensemble at absent.npz",
    }.items():  # fmt: skip
        code, out, err = command(f"predict {file} new.csv")
        assert (code, out) == (2, "") and re.search(sentence, err)


def test_a_damaged_table_in_a_model_is_one_sentence(model, command):
    with np.load(model) as found:
        arrays = {name: array for name, array in found.items() if name != "format"}
    for damaged in ("[]", "[[], 1, {}]", '[["a"], "", {}]', '[["a", "a", "b", "c", "d"], "", {}]',
                    '[["a", "b", "c", "d", "e"], "", {"a": ["z", "b"]}]', "[" * 99999, "{"):  # fmt: skip
        archive.save("bad.npz", "boostrun.StumpEnsemble/1", {**arrays, "input_table": np.array(damaged)})
        code, _, err = command("predict bad.npz train.csv")
        assert code == 2 and "bad.npz is not" in err and err.count("\n") == 1, damaged[:40]


def test_probabilities_are_columns_where_the_model_has_them(workplace, command, monkeypatch):
    X, y = table(LABELS["str"])
    X.to_csv("new.csv", index=False)
    X.to_parquet("new.parquet")
    np.savez("new.npz", X.to_numpy())
    clf = clone(CLASSIFIERS["reservoir"]).fit(X, y)
    path, expected = clf.save("model"), clf.predict_proba(X)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(X.to_csv(index=False).encode())))
    for file in ("new.csv", "new.parquet", "new.npz", "-"):
        code, out, err = command(f"predict {path} {file} --proba")
        assert code == 0, err
        said = pd.read_csv(io.StringIO(out))
        assert list(said) == ["prediction", "probability_a", "probability_b", "probability_ç"]
        found = said.filter(like="probability").to_numpy()
        np.testing.assert_allclose(found, expected, rtol=1e-12)
        assert np.array(["a", "b", "ç"])[found.argmax(axis=1)].tolist() == said["prediction"].tolist()


def test_a_model_without_probabilities_says_why_and_writes_nothing(workplace, command):
    X, y = table(LABELS["str"])
    X.to_csv("new.csv", index=False)
    path = clone(CLASSIFIERS["online"]).fit(X, y).save("model")
    code, out, err = command(f"predict {path} new.csv --proba -o out.csv")
    assert (code, out) == (2, "") and not (workplace / "out.csv").exists()
    assert err == (
        "boostrun: --proba: OnlineRivalClassifier with these parameters has no probabilities: the votes of "
        "method='osboost' minimise no loss that tells them; leave --proba out\n"
    )


def test_bad_words_are_one_sentence(model, command):
    for line, sentence in {
        "predict": "predict needs a model and a file", "predict model.npz": "predict needs a model and a file",
        "predict model.npz a.csv r=3": "predict has no key 'r'",
        "predict model.npz a.csv b.csv": "cannot read 'b.csv'",
        "predict model.npz train.csv -o nowhere/out.csv": "there is no such folder",
        "predict model.npz train.csv -o train.csv": "train.csv is also the input",
        "predict model.npz train.csv -o out.parquet": "-o out.parquet: predictions are written as csv",
        "predict model.npz train.csv --to c": "--to is an option of export only",
    }.items():  # fmt: skip
        code, out, err = command(line)
        assert (code, out) == (2, "") and sentence in err and err.count("\n") == 1, line


def test_a_full_disk_leaves_nothing(model, capsys):
    if not os.path.exists("/dev/full"):
        pytest.skip("no device that is always full")
    assert main(["predict", str(model), "train.csv", "-o", "/dev/full"]) == 2
    assert "No space left" in capsys.readouterr().err
