"""dataset=stream: files read in chunks by the command, and errors for files and settings that do not fit."""

import json
import re

import numpy as np
import pandas as pd
import pytest

from boostrun.data.stream_set import open_set
from boostrun.digest import reached
from boostrun.report.entry import value
from boostrun.runner.plan import cell_of, compose_one
from boostrun.store.code import code_of
from tests.marks import slow_after, slow_but

FILES = "dataset=stream dataset.path=x.npy dataset.label=y.npy dataset.test_path=xt.npy dataset.test_label=yt.npy"
SMALL = f"{FILES} r=30 T=20 trials=2 n_jobs=1"
CSV = "dataset=stream dataset.path=train.csv dataset.label=kind dataset.test_path=test.csv r=30 T=20 trials=2 n_jobs=1"


def samples(n, seed, width=6, classes=3):
    """(n, width) uint8 and labels that the first two columns give away."""
    values = np.random.default_rng(seed).integers(0, 256, (n, width), dtype=np.uint8)
    return values, ((values[:, 0].astype(int) + values[:, 1]) * classes // 511).astype(np.int16)


def write_npy(folder, n=2000, **options):
    for suffix, rows, seed in (("", n, 0), ("t", 500, 1)):
        values, labels = samples(rows, seed, **options)
        np.save(folder / f"x{suffix}.npy", values)
        np.save(folder / f"y{suffix}.npy", labels)


def write_csv(folder):
    for name, rows, seed in (("train", 2000, 0), ("test", 500, 1)):
        values, labels = samples(rows, seed, classes=2)
        frame = pd.DataFrame(values / 3, columns=list("abcdef"))
        frame.insert(2, "kind", np.where(labels > 0, "up", "down"))
        frame.to_csv(folder / f"{name}.csv", index=False)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_times_in_milliseconds_are_compared_in_double_precision(command, workplace, kind):
    for name, rows, seed in (("train", 2000, 0), ("test", 500, 1)):
        rng = np.random.default_rng(seed)
        frame = pd.DataFrame({"ms": rng.integers(0, 60_000, rows), "noise": rng.normal(size=rows)})
        frame["kind"] = np.where(frame["ms"] < 30_000, "up", "down")
        for ms, file in ((frame["ms"], f"plain_{name}"), (frame["ms"] + 1_700_000_000_000, name)):
            frame = frame.assign(ms=ms)
            frame.to_csv(f"{file}.csv", index=False) if kind == "csv" else frame.to_parquet(f"{file}.parquet")
    code, _, err = command(f"algo=geem {CSV.replace('csv', kind)}")
    assert code == 0, err
    assert all(record["metrics"]["test_accuracy_pct"] > 98 for record in records(workplace / "results"))
    for begins, dtype in (("", "<f8"), ("plain_", "<f4")):
        paths = {"path": f"{begins}train.{kind}", "test_path": f"{begins}test.{kind}"}
        found = open_set({**paths, "label": "kind", "test_label": None, "chunk_rows": 4096}, workplace)
        assert np.dtype(found.train_facts.dtype) == np.dtype(found.test_facts.dtype) == dtype


def records(folder):
    found = [json.loads(path.read_text()) for path in folder.rglob("*.json")]
    return sorted(found, key=lambda record: (record["cell_key"], record["seed"]))


def results(folder):
    return [(r["cell_key"], r["seed"], r["metrics"], r["curve"]["test_accuracy_pct"]) for r in records(folder)]


@pytest.mark.slow
def test_a_file_far_larger_than_the_limit_is_trained_on_and_the_workers_change_nothing(command, workplace):
    write_npy(workplace, n=1_200_000, width=40, classes=3)  # 46 MiB, and buffers of 16 MiB in all, one for each class
    line = f"algo=geem {FILES} run.memory_limit=16 r=100 T=60 trials=2"
    code, out, err = command(f"{line} n_jobs=1 store=one")
    assert code == 0 and "Traceback" not in err
    assert float(re.search(r"geem +(\d+\.\d+) \(", out).group(1)) > 80
    assert command(f"{line} n_jobs=2 store=two")[0] == 0
    assert results(workplace / "one") == results(workplace / "two")
    for record in records(workplace / "one"):
        assert record["cell"]["dataset"]["memory_limit"] == 16
        assert record["cost"]["buffer_rows"] * 40 * 3 < 16 * 2**20 and record["cost"]["buffer_rows"] < 1_200_000 / 8
        assert record["cost"]["peak_samples_held"] == 200 and record["cost"]["reservoirs"] == 3
        assert value(record, "peak_samples_held") == 200 + 3 * record["cost"]["buffer_rows"]
        assert record["cost"]["samples_drawn"] == 3 * (200 + 60 * 100)
        assert record["cost"]["samples_drawn_per_problem"] == 200 + 60 * 100
        assert {"train_seconds", "test_seconds", "seconds", "peak_memory_mb"} <= set(record["cost"])
        assert record["curve"]["T"][-1] == 60 and len(record["curve"]["samples_drawn"]) == len(record["curve"]["T"])
        accuracy = record["metrics"]["test_accuracy_pct"]
        assert accuracy == record["curve"]["test_accuracy_pct"][-1] == 100 - record["metrics"]["test_error_pct"]
    assert not (workplace / "datasets").exists()  # no bank, and nothing copied


@pytest.mark.slow
def test_workers_that_served_another_folder_find_the_files_of_this_one(command, workplace, monkeypatch):
    for folder in ("first", "second"):
        (workplace / folder).mkdir()
        monkeypatch.chdir(workplace / folder)
        write_npy(workplace / folder)
        code, _, err = command(f"algo=wsam {SMALL} n_jobs=2")
        assert code == 0, err
        (workplace / folder / "x.npy").unlink()


def test_done_trials_do_not_run_twice_plan_knows_them_and_changed_files_are_stale(command, workplace):
    write_npy(workplace)
    line = f"algo=wsam {SMALL}"
    assert "2 to run (time unknown)" in command(f"plan {line}")[1]
    code, out, _ = command(line)
    assert code == 0
    before = {path: path.stat().st_mtime_ns for path in (workplace / "results" / "runs").rglob("*.json")}
    assert command(line)[1] == out and command(f"{line} trials=3")[0] == 0
    assert all(path.stat().st_mtime_ns == time for path, time in before.items())
    assert "3 cached, 0 stale, 0 to run" in command(f"plan {line} trials=3")[1]
    values, labels = samples(2000, seed=5)
    np.save(workplace / "x.npy", values)
    np.save(workplace / "y.npy", labels)
    assert "2 stale (changed: data or features)" in command(f"plan {line}")[1]


def test_a_record_is_named_by_the_code_that_streamed_it_and_the_limit_by_streamed_cells_alone(command, workplace):
    found = reached(code_of(cell_of(compose_one(FILES.split()))).roots).definitions
    modules = {label.rpartition(".")[0] for label in found}
    for part in ("data.stream", "data.stream_set", "data.stream_readers", "inputs.bank"):
        assert f"boostrun.{part}" in modules
    assert "boostrun.data.keys" not in modules  # a new key elsewhere makes no record stale
    write_npy(workplace)
    code, out, _ = command(f"-m algo=wsam {SMALL} run.memory_limit=16,32")
    assert code == 0 and "run.memory_limit  test" in out and "wsam  16 " in out and "wsam  32 " in out
    assert len(records(workplace / "results" / "runs")) == 4
    assert cell_of(compose_one(["run.memory_limit=16"])) == cell_of(compose_one([]))


@pytest.mark.parametrize(
    "algo",
    slow_after(1, [
        "rand", "fix", "oza", "geem algo.shared=true", "max", "window", "geem_lattice swap", "geem_active",
        "filterboost", "bisc", "geem_chen", "rand algo.balanced=true", "wsam algo.stump_search=exact",
    ]),
)  # fmt: skip
def test_every_algorithm_that_draws_learns_from_a_stream(algo, command, workplace):
    write_csv(workplace)
    algo = algo.replace(" swap", " algo.swap_rounds=1")
    line = CSV if algo.split()[0] not in ("oza", "bisc") else CSV.replace("r=30 ", "")
    code, out, err = command(f"algo={algo} {line} trials=1")
    assert code == 0, err
    assert float(re.search(rf"{algo.split()[0]} +(\d+\.\d+)", out).group(1)) > 50


@pytest.mark.parametrize("algo", ["sgd", "lightgbm algo.samples_held=200", "forest_chunks"])
def test_rivals_learn_from_a_stream_too(algo, command, workplace):
    write_csv(workplace)
    line = CSV.replace("r=30 ", "").replace("T=20 ", "T=20 " if "held" in algo else "q=100 algo.epochs=3 ")
    code, out, err = command(f"algo={algo} {line} trials=1")
    assert code == 0, err
    assert float(re.search(rf"{algo.split()[0]} +(\d+\.\d+)", out).group(1)) > 50


def test_a_rival_that_would_hold_all_rows_is_one_sentence(command, workplace):
    write_csv(workplace)
    code, _, err = command(f"algo=random_forest {CSV.replace('r=30 ', '')} trials=1")
    assert code == 2 and "algo.samples_held=1000" in err


def test_a_csv_file_teaches_as_much_as_its_table_in_memory(command, workplace):
    write_csv(workplace)
    found = {}
    for dataset in ("csv", "stream"):
        code, out, err = command(f"algo=wsam {CSV.replace('dataset=stream', f'dataset={dataset}')} r=60 T=60 trials=3")
        assert code == 0, err
        found[dataset] = float(re.search(r"wsam +(\d+\.\d+) \(", out).group(1))
    assert found["stream"] > 85 and abs(found["stream"] - found["csv"]) < 5


@pytest.mark.slow
def test_labels_may_stand_in_a_column_and_values_be_real_or_big_endian(command, workplace):
    line = "dataset=stream dataset.path=x.npy dataset.test_path=xt.npy r=60 T=40 trials=2 n_jobs=1 algo=wsam"
    rows = []
    for column, words in ((2, "dataset.label=2"), (6, "")):
        for suffix, n, seed in (("", 2000, 0), ("t", 500, 1)):
            values, labels = samples(n, seed)
            np.save(workplace / f"x{suffix}.npy", np.insert(values, column, labels, axis=1).astype(">f4"))
        code, out, err = command(f"{line} features.bins=32 {words}")
        assert code == 0, err
        rows.append(float(re.search(r"wsam +(\d+\.\d+) \(", out).group(1)))
    assert rows[0] == rows[1] > 80


@pytest.mark.slow
def test_the_data_verb_says_what_is_there_or_which_keys_are_needed(command, workplace):
    write_npy(workplace)
    code, out, _ = command(f"data stream {FILES.replace('dataset=stream ', '')}")
    assert code == 0
    assert "4 files" in out and "2000 training and 500 test samples of 6 features (uint8), 3 classes" in out
    code, _, err = command("data stream")
    assert code == 2 and "dataset.path must be given" in err
    assert "larger than memory" in command("ls dataset")[1] and "stream: yours to name" in command("doctor")[1]


def test_files_are_looked_through_once(command, workplace, monkeypatch):
    from boostrun.data.stream_set import SetPart

    write_csv(workplace)
    assert command(f"algo=wsam {CSV}")[0] == 0
    monkeypatch.setattr(SetPart, "look", lambda self: pytest.fail("looked through again"))
    assert command(f"algo=rand {CSV}")[0] == 0


def test_a_file_that_changes_while_it_is_read_fails_its_trial(command, workplace, monkeypatch):
    from boostrun.runner import worker as streamed

    write_npy(workplace)
    working = streamed.train_and_test

    def train_and_change(*arguments):
        out = working(*arguments)
        write_npy(workplace, n=2100)
        return out

    monkeypatch.setattr(streamed, "train_and_test", train_and_change)
    code, _, err = command(f"algo=wsam {SMALL} trials=1")
    assert code == 1 and "were changed while they were read" in err
    again = re.search(r"again: boostrun (.*)", err).group(1)
    assert "run.memory_limit=512" in again and "dataset.memory_limit" not in again
    monkeypatch.setattr(streamed, "train_and_test", working)
    assert command(f"{again} n_jobs=1")[0] == 0


SETTINGS = {
    "algo=wss": "algo 'wss' needs all samples in memory", "algo=mada": "algo 'mada' needs all samples in memory",
    "algo=logitboost": "algo 'logitboost' does not take r=30",
    "algo=geem_split": "algo 'geem_split' gives each part row groups of its own",
    "features=hog": "features=raw is the only choice", "features=coates_ng": "features=raw is the only choice",
    "features.bin_samples=500": "does not take features.bin_samples=500",
    "features.bins=64": "8-bit values, which are their own bins", "holdout=0.2": "does not take holdout=0.2",
    "run.memory_limit=15": "run.memory_limit=15: a whole number of at least 16 is needed",
    "run.memory_limit=16.5": "run.memory_limit=16.5: a whole number",
    "dataset.chunk_rows=0": "dataset.chunk_rows=0: a whole number of at least 1", "dataset.chunk_row=9": "did you mean",
    "r=1500": "r + q must be at most 2000", "r=2": "r must be at least 3",
    "dataset.path=absent.npy": "no file absent.npy (dataset.path",
    "dataset.label=absent.npy": "no file absent.npy (dataset.label",
    "dataset.test_path=absent.npy": "no file absent.npy (dataset.test_path",
    "dataset.test_label=absent.npy": "no file absent.npy (dataset.test_label",
    "dataset.test_label=null": "dataset.test_label=... must name that of the test part",
    "dataset.label=null": "dataset.test_label=yt.npy cannot be used",
    "dataset.label=9 dataset.test_label=null": "labels=9 is none of them",
    "dataset.path=.": "neither .parquet nor .arrow nor .csv",
    "dataset.path=mine.bin": "neither .npy nor .csv", "dataset.test_path=test.csv": "x.npy is .npy but test.csv is CSV",
    "dataset.label=yt.npy": "yt.npy has the shape (500,); (2000,) is expected",
    "dataset.test_label=y.npy": "y.npy has the shape (2000,); (500,) is expected",
    "dataset.path=objects.npy": "objects.npy holds Python objects, not numbers",
    "dataset.path=torn.npy": "torn.npy ends early: its header says 2000 rows",
    "dataset.path=mess.npy": "mess.npy cannot be read as .npy",
    "dataset.path=columns.npy": "is stored column by column",
    "dataset.path=nan.npy": "nan.npy holds values that are NaN, first in row 1700, feature 3",
    "dataset.path=floats.npy": "holds values of type uint8, but floats.npy of type float32",
    "dataset.path=narrow.npy": "has 6 features a sample, but narrow.npy has 4",
    "dataset.label=constant.npy": "have the same label",
    "dataset.label=halves.npy": "labels that are no whole numbers (first: 0.5)",
    "dataset.label=nanlabels.npy": "labels that are NaN", "dataset.label=ids.npy": "more than 10000 different labels",
    "dataset.label=objectlabels.npy": "holds Python objects",
    "dataset.label=two.npy": "label 2, which no training sample has",
    "dataset.label=words.npy": "numbers in one, text in one",
}  # fmt: skip


@pytest.fixture
def bad_files(workplace, monkeypatch):
    from boostrun.data import stream_set as stream_parts

    write_npy(workplace)
    write_csv(workplace)
    values, labels = np.load("x.npy"), np.load("y.npy")
    floats = values.astype(np.float32)
    np.save("floats.npy", floats)
    floats[1700, 3] = np.nan
    np.save("nan.npy", floats)
    np.save("objects.npy", values.astype(object), allow_pickle=True)
    np.save("columns.npy", np.asfortranarray(values))
    np.save("narrow.npy", values[:, :4])
    (workplace / "torn.npy").write_bytes((workplace / "x.npy").read_bytes()[:-50])
    (workplace / "mess.npy").write_bytes(b"PK nonsense")
    (workplace / "mine.bin").write_bytes(b"")
    np.save("constant.npy", 0 * labels)
    np.save("halves.npy", labels / 2)
    np.save("nanlabels.npy", np.where(labels > 1, np.nan, labels))
    np.save("objectlabels.npy", labels.astype(object), allow_pickle=True)
    np.save("two.npy", np.minimum(labels, 1))
    np.save("words.npy", labels.astype(str))
    np.save("ids.npy", np.arange(2000))
    monkeypatch.setattr(stream_parts, "_LOOK_BYTES", 4096)  # so that files are looked through in many chunks
    return workplace


def assert_one_sentence(answer, words, workplace):
    code, out, err = answer
    assert code == 2 and words in err, err
    said = [text for text in err.splitlines() if not text.startswith("boostrun 0.")]
    assert len(said) == 1 and said[0].startswith("boostrun: ") and "Traceback" not in err + out
    assert not (workplace / "results").exists() and not (workplace / "datasets").exists()


@pytest.mark.parametrize("words", slow_but(list(SETTINGS)[::3], SETTINGS))
def test_a_setting_or_a_file_that_does_not_fit_is_one_sentence(words, bad_files, command, monkeypatch):
    from boostrun.data import stream_set as stream_parts

    monkeypatch.setattr(stream_parts, "MOST_CLASSES", 10 if "ids" in words else 10_000)
    expected = SETTINGS[words].replace("10000", "10") if "ids" in words else SETTINGS[words]
    assert_one_sentence(command(f"{SMALL} {words}"), expected, bad_files)


CSV_FILES = {
    "a column that is not there": ("a,b,kind\n1,2,x\n3,4,y\n", "dataset.label=z", "has no column 'z'"),
    "another column": ("a,b,c,kind\n1,2,3,x\n", "", "has other columns than train.csv: it also has 'c'"),
    "a column too few": ("a,kind\n1,x\n", "", "has other columns than train.csv: it lacks 'b'"),
    "another order": ("b,a,kind\n1,2,x\n", "", "their order differs"),
    "an unknown class": ("a,b,kind\n1,2,x\n3,4,w\n", "", "label w, which no training sample has"),
    "text for a number": ("a,b,kind\n1,2,x\n3,u,y\n", "", "text in the column b"),
    "a missing value": ("a,b,kind\n1,2,x\n3,,y\n", "", "NaN, first in row 1, feature 1 (counted from 0); fill"),
    "beyond float32": ("a,b,kind\n1,2,x\n3,1e300,y\n", "", "values that are infinite"),
    "a missing label": ("a,b,kind\n1,2,x\n3,4,\n", "", "without a label"),
    "no names": ("1,2,x\n3,4,y\n", "", "no column 'kind'"),
    "no samples": ("a,b,kind\n", "", "holds no rows"),
    "nothing": ("", "", "is empty"),
    "a label file": ("a,b,kind\n1,2,x\n", "dataset.test_label=b", "dataset.test_label=b cannot be used"),
}


@pytest.mark.parametrize("what", CSV_FILES)
def test_a_test_table_that_does_not_fit_is_one_sentence(what, command, workplace):
    text, words, expected = CSV_FILES[what]
    (workplace / "train.csv").write_text("a,b,kind\n" + "1,2,x\n3,4,y\n" * 60)
    (workplace / "test.csv").write_text(text)
    assert_one_sentence(command(f"{CSV} {words}"), expected, workplace)


def test_a_torn_archive_is_one_sentence(command, workplace):
    import gzip

    write_csv(workplace)
    whole = gzip.compress((workplace / "train.csv").read_bytes())
    (workplace / "train.csv.gz").write_bytes(whole)
    assert command(f"algo=wsam {CSV} dataset.path=train.csv.gz store=elsewhere results=there")[0] == 0
    (workplace / "train.csv.gz").write_bytes(whole[: len(whole) // 2])
    assert_one_sentence(command(f"{CSV} dataset.path=train.csv.gz"), "train.csv.gz cannot be read", workplace)


def test_a_limit_too_small_for_the_reservoir_or_for_one_row_is_one_sentence(command, workplace):
    values, labels = samples(700, 0, width=4, classes=10)
    wide = np.repeat(values.astype(np.float64), 200, axis=1)  # rows of 6.25 KiB, ten classes
    for suffix in ("", "t"):
        np.save(f"x{suffix}.npy", wide)
        np.save(f"y{suffix}.npy", labels)
    words = "each of the 10 buffers (one a class) has room for"
    exact = "algo.stump_search=exact"  # on values, not on codes
    assert_one_sentence(command(f"{FILES} run.memory_limit=16 r=320 T=2 {exact}"), words, workplace)
    elsewhere = "trials=1 n_jobs=1 results=there store=there"
    for more in ("16", f"64 {exact}"):
        assert command(f"algo=rand {FILES} r=320 T=2 {elsewhere} run.memory_limit={more}")[0] == 0
    for suffix in ("", "t"):
        np.save(f"x{suffix}.npy", np.zeros((30, 300_000), np.uint8))
        np.save(f"y{suffix}.npy", np.arange(30) % 10)
    assert_one_sentence(command(f"{FILES} run.memory_limit=16 r=12 T=2"), "is too little for each of the 10", workplace)
