"""A file of the user's stands for its data set: the ending of its name says how it is read, for every verb."""

import re

import numpy as np
import pytest
from PIL import Image

from boostrun import run
from boostrun.cli.arguments import parse
from boostrun.config import catalogue
from boostrun.errors import BoostrunError
from boostrun.runner.plan import compose_all, compose_one

RUN = "r=10 T=3 trials=1 n_jobs=1"
FILES = ("a.csv", "a.tsv", "a.txt", "a.data", "a.csv.gz", "a.parquet", "a.pq", "a.npz", "a.npy", "folder/a.CSV")


@pytest.fixture
def files(workplace):
    """The same table under every name of FILES."""
    import pandas

    rng = np.random.default_rng(0)
    table = pandas.DataFrame({"one": rng.normal(size=60), "two": rng.normal(size=60), "kind": np.arange(60) % 2})
    table["one"] += 3 * table["kind"]
    (workplace / "folder").mkdir()
    for name in FILES:
        if name.endswith(("parquet", "pq")):
            table.to_parquet(name)
        elif name.endswith("npz"):
            np.savez(name, x=table[["one", "two"]].to_numpy(), y=table["kind"].to_numpy())
        elif name.endswith("npy"):
            np.save(name, table.to_numpy())
        else:
            table.to_csv(name, index=False, sep={"a.tsv": "\t", "a.txt": " "}.get(name, ","))
    return workplace


def row(out):
    return next(line for line in out.splitlines() if line.startswith("rand ")).partition(" n=1 ")[0]


def test_every_kind_of_file_is_read_by_its_ending_and_gives_the_same_figure(files, command):
    rows = set()
    for name in FILES:
        for line in (f"{name} algo=rand {RUN}", f"run algo=rand dataset={files / name} {RUN}"):
            code, out, err = command(line)
            assert code == 0, err
            rows.add(row(out))
    assert len(rows) == 1


def test_a_file_stands_for_its_data_set_after_every_verb_that_reads_one(files, command):
    for line in (f"plan a.csv {RUN}", "tune algo=rand a.csv r=10 T=3 n_jobs=1 tune.trials=2", "data a.csv",
                 "frontier a.csv budget=samples_held at=10 algo=rand tuning=0 T=3 trials=2 n_jobs=1",
                 "export a.csv algo=rand r=10 T=3 n_jobs=1 -o m.c", "predict m.npz a.csv"):  # fmt: skip
        code, out, err = command(line)
        assert code == 0 and out, (line, err)
    assert re.search(r"\d+ samples, \d+ of them for tests; \d+ features; classes: ", command("data a.csv")[1])
    code, _, err = command("data a.csv dataset.label=knd")
    assert code == 2 and "has no column 'knd'" in err
    made = compose_one(["dataset=a.pq", "dataset.label=one"])
    assert (made.dataset["name"], made.dataset["path"], made.dataset["label"]) == ("parquet", "a.pq", "one")
    swept = compose_all(["algo=rand,vfdt", "dataset=a.csv,a.npz"])
    assert [one.dataset["name"] for one in swept] == ["csv", "npz", "file_stream", "file_stream"]


@pytest.mark.parametrize(
    "name", ["two words.csv", "copy (1).csv", "a=b.csv", "it's.csv", "größe.csv", "a,b.csv", "1_0.csv"]
)
def test_any_name_of_a_file_is_taken_as_it_is(files, name, capsys):
    from boostrun.cli import main

    (files / "a.csv").rename(files / name)
    for words in ([name], [str(files / name)], ["plan", "algo=rand", name]):
        assert main([*words, *RUN.split()]) == 0, capsys.readouterr().err
    if "," not in name and "'" not in name:
        assert main([f"dataset={name}", *RUN.split()]) == 0
    assert main(["data", name]) == 0 and name in capsys.readouterr().out


def test_names_of_data_sets_verbs_items_and_models_come_before_files(workplace):
    for name in ("digits", "data", "reservoir/table3", "summary"):
        (workplace / name).mkdir(parents=True)
    assert compose_one(["dataset=digits"]).dataset["name"] == "digits" and parse(["data"]).verb == "data"
    assert parse(["plan", "reservoir/table3"]).names == ["reservoir/table3"]
    assert parse(["frontier", "summary"]).names == ["summary"]
    assert parse(["export", "m.npz"]).names == ["m.npz"] and parse(["m.npz"]).overrides == ["dataset=m.npz"]


def test_a_folder_is_a_folder_of_images(workplace, command):
    rng = np.random.default_rng(0)
    for kind in ("dark", "light"):
        (workplace / "photos" / kind).mkdir(parents=True)
        for number in range(12):
            pixels = rng.integers(0, 100, (8, 8, 3), dtype=np.uint8) + 150 * (kind == "light")
            Image.fromarray(pixels.astype(np.uint8)).save(workplace / "photos" / kind / f"{number}.png")
    code, out, err = command(f"photos algo=rand dataset.size=8 {RUN.replace('10', '5')}")
    assert code == 0 and row(out) == "rand  100.00", err
    assert command("nowhere/")[0] == 2


def test_a_file_that_cannot_be_read_is_a_sentence(workplace, command):
    (workplace / "mine.xyz").write_text("a,b\n1,2\n")
    np.save(workplace / "flat.npy", np.zeros(9))
    for line, says in {
        "dataset=mine.xyz": "no dataset 'mine.xyz'; its ending does not say how it is read",
        "flat.npy": "flat.npy has the shape (9,)", "absent.csv": "no file absent.csv",
    }.items():  # fmt: skip
        code, _, err = command(line)
        assert code == 2 and says in err and "Traceback" not in err


def test_endings_are_declared_once_and_each_is_read(files):
    assert catalogue.readers("x.xlsx") == {"table": "table"} and catalogue.readers("x.xyz") == {}
    declared = [ending for one in catalogue.datasets().values() for ending in one.endings if one.gives == "table"]
    assert len(declared) == len(set(declared))


def test_a_small_table_is_held_by_a_smaller_reservoir_unless_its_size_was_typed(files, command):
    code, out, err = command("a.csv T=3 trials=1 n_jobs=1")
    assert code == 0 and "geem" in out and "the table is small, so r=" in err
    code, _, err = command("a.csv T=3 trials=1 n_jobs=1 r=100000")
    assert code == 2 and "r + q must be at most" in err.splitlines()[-1]


def test_plan_the_report_and_the_library_know_the_reservoir_that_a_small_table_gets(files, command):
    line = "a.csv T=3 trials=1 n_jobs=1"
    assert command(line)[0] == 0
    code, out, _ = command(f"plan {line}")
    assert code == 0 and "geem · csv · raw · r=24 q=24 T=3: 1 cached" in out
    assert command(f"plan {line} r=100")[0] == 2
    assert command("report -o own.html")[0] == 0
    page = (files / "own.html").read_text()
    assert f"boostrun {line} r=24 q=24" in page and "1 of 1 figures stored" in page and "250" not in page
    assert run("dataset=a.csv", T=3, trials=1, n_jobs=1)["r"].tolist() == [24]
    with pytest.raises(BoostrunError, match="r=100 and q=100: together more samples than the 48"):
        run("dataset=a.csv", r=100, T=3, trials=1, n_jobs=1)


def test_values_that_say_the_same_are_one_cell(files, command):
    code, out, err = command("-m a.csv algo=rand r=10,10.0,1e1 T=3 trials=1 n_jobs=1")
    assert code == 0 and "· 1 trial ·" in err and out.count("rand ") == 1
