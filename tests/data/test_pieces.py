"""Tables read in pieces give the same data set as the whole table in memory."""

import csv
import gzip
import random
import subprocess
import sys

import numpy as np
import pandas
import pytest

from boostrun.data import load, table
from boostrun.data.csv import CsvPieces
from boostrun.data.dataset import Rows, finish, named
from boostrun.data.parquet import ParquetPieces
from boostrun.errors import BoostrunError
from tests.marks import slow_after
from tests.reference import frames

OPTIONS = {"name": "it", "label": None, "test_fraction": 0.3, "split_seed": 3}
PIECE = 40  # bytes of text


def outcome(make, name="it"):
    """The data set that comes out, or the sentence."""
    try:
        return finish(name, named(make(), name), "", missing="data")
    except BoostrunError as error:
        return str(error)


def in_pieces(path, test=None, memory_mb=64, **options):
    def make():
        tables = [CsvPieces(each, memory_mb, PIECE) for each in (path, test) if each]
        return table.parts_of(tables[0], tables[1] if test else None, {**OPTIONS, **options}, memory_mb)

    return outcome(make)


def at_once(path, test=None, **options):
    def make():
        given = {**OPTIONS, "test_path": str(test), **options}
        return frames.parts_of(frames.read_frame(path), test and frames.read_frame(test), given, str(path))

    return outcome(make)


def same(one, two):
    if isinstance(one, str) or isinstance(two, str):
        assert one == two
        return
    assert one.classes == two.classes
    for name in ("x_train", "y_train", "x_test", "y_test"):
        found, expected = getattr(one, name), getattr(two, name)
        assert found.dtype == expected.dtype and found.shape == expected.shape and found.tobytes() == expected.tobytes()


WORDS = {
    "whole": ["1", "-7", "+3", "007", "9007199254740993", " 12 ", "-9223372036854775808"],
    "wide": ["9223372036854775808", "18446744073709551615"],
    "beyond": ["18446744073709551616", "123456789012345678901234567890", "-9223372036854775809"],
    "fraction": ["1.5", "-0.1", "1e5", ".5", "2.", "0.30000000000000004", "123456789.123456789", "-1e-5"],
    "flag": ["True", "FALSE", "true"],
    "text": ["u", "low", "ä", "a,b", 'say "no"', "two\nlines", "-x", " y", "1_0"],
    "missing": ["", "NA", "nan"],
}


def column(rng, rows):
    """Words of up to four kinds, the rarer ones somewhere."""
    kinds = rng.sample([*WORDS, "whole", "fraction", "whole"], rng.choice([1, 1, 2, 2, 3, 4]))
    if rng.random() < 0.3 and "missing" in kinds and len(kinds) > 1:
        kinds.remove("missing")
    found = [rng.choice(WORDS[kinds[0]]) for _ in range(rows)]
    for kind in kinds[1:]:
        for _ in range(rng.choice([1, 2, rows // 2])):
            found[rng.randrange(rows)] = rng.choice(WORDS[kind])
    return found


def written(path, rng, names, rows, label):
    columns = [column(rng, rows) for _ in names[1:]] + [[rng.choice(label) for _ in range(rows)]]
    with open(path, "w", newline="", encoding="utf-8") as stream:
        out = csv.writer(stream, quoting=rng.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]))
        out.writerow(names)
        out.writerows(zip(*columns))
    return path


@pytest.mark.parametrize("seed", slow_after(15, range(60)))
def test_odd_columns_come_out_of_pieces_as_at_once(tmp_path, capsys, seed):
    rng = random.Random(seed)
    names = ["a", "b", "a", "long name", "kind"][: rng.choice([3, 5])]
    label = rng.choice([["0", "1"], ["u", "v", "w x"], ["1", "01", "2.0"], ["18446744073709551615", "5"], ["1", "v"]])
    first = written(tmp_path / "t.csv", rng, names, rng.choice([12, 40]), label)
    test = written(tmp_path / "u.csv", rng, names, 9, label) if rng.random() < 0.4 else None
    expected, said = at_once(first, test), capsys.readouterr().err
    same(in_pieces(first, test), expected)
    assert sorted(capsys.readouterr().err.splitlines()) == sorted(said.splitlines()) or isinstance(expected, str)


NUMBERS = "".join(f"{i % 7}.5,{i},{'xyz'[i % 3]}\n" for i in range(60))


@pytest.mark.parametrize(
    "text",
    [
        "a,b,c\n" + NUMBERS,
        NUMBERS,
        "\ufeffa,b,c\r\n" + NUMBERS.replace("\n", "\r\n"),
        "\n\n a, b, c\n\n" + NUMBERS.replace(",", ",  "),
        "a;b;c\n" + NUMBERS.replace(",", ";"),
        NUMBERS.replace(",", "\t"),
        "a b c\n" + NUMBERS.replace(",", "  "),
        "a,b,c\n" + NUMBERS + "1,2,3,4\n",
        "a,b,c\n" + NUMBERS + "1\n" + NUMBERS,
        "a,b,c\n" + NUMBERS + "1,2,\n",
        "a,b,c\n" + NUMBERS + '"1,2,x\n',
        "a,b,c\n",
        "a,b,c\n" + NUMBERS + f"{'9' * 300},2,x\n",
    ],
)
@pytest.mark.parametrize("packed", [False, True])
def test_forms_of_a_file_come_out_of_pieces_as_at_once(tmp_path, text, packed):
    path = tmp_path / ("t.csv.gz" if packed else "t.csv")
    path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    for label in (None, "a", "0"):
        found, expected = in_pieces(path, label=label), at_once(path, label=label)
        if isinstance(found, str) and "no column '0'" in found:  # said before the rest is read
            assert isinstance(expected, str)
        else:
            same(found, expected)


def test_rows_that_grow_longer_are_read_in_smaller_pieces(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "1,0\n2,1\n" * 1000 + f"1,{'0' * 100_000}\n2,1\n" * 200)
    found = in_pieces(path)
    assert len(found.x_train) + len(found.x_test) == 2400
    same(found, at_once(path))


def test_what_memory_does_not_hold_is_in_a_file_and_the_same(tmp_path):
    rng = np.random.default_rng(0)
    path = tmp_path / "t.csv"
    pandas.DataFrame(rng.normal(size=(20_000, 20))).assign(y=rng.integers(0, 3, 20_000)).to_csv(path, index=False)
    (tmp_path / "scratch").mkdir()
    found = load({"name": "csv", "path": str(path)}, tmp_path, 4, tmp_path / "scratch")
    expected = load({"name": "csv", "path": str(path)}, tmp_path)
    assert isinstance(found.x_train, Rows) and not isinstance(expected.x_train, Rows)
    assert type(found.x_train[:5]) is np.ndarray and not list((tmp_path / "scratch").iterdir())
    same(found, expected)
    assert (found.x_train.mean(axis=0) == expected.x_train.mean(axis=0)).all() and found.x_train[3, 2].shape == ()


@pytest.mark.parametrize("apart", [False, True], ids=["all columns", "a column after the other"])
@pytest.mark.parametrize("label", [None, "i", "group", "nullable"])
def test_parquet_in_pieces_is_what_it_is_at_once(tmp_path, monkeypatch, label, apart):
    rng, rows = np.random.default_rng(0), 3000
    frame = pandas.DataFrame(
        {
            "n": rng.normal(size=rows),
            "i": rng.integers(-5, 5, rows),
            "flag": rng.random(rows) < 0.5,
            "nullable": pandas.array(rng.integers(0, 9, rows), dtype="Int16"),
            "text": rng.choice(["u", "v", "ö"], rows),
            "group": pandas.Categorical(rng.choice(["b", "a"], rows)),
            "day": pandas.Timestamp("2020-01-01") + pandas.to_timedelta(rng.integers(0, 99, rows), unit="h"),
            "y": rng.choice(["yes", "no"], rows),
        },
        index=rng.permutation(rows),
    )
    frame.to_parquet(tmp_path / "t.parquet", row_group_size=1000)
    monkeypatch.setattr("boostrun.data.parquet._MOST_BYTES", 4096)
    if apart:
        monkeypatch.setattr("boostrun.data.parquet._SIDE_BY_SIDE", 1 << 30)
    assert len(list(ParquetPieces(tmp_path / "t.parquet", 64).frames("y", {}))) > 9
    options = {**OPTIONS, "label": label}
    found = outcome(lambda: table.parts_of(ParquetPieces(tmp_path / "t.parquet", 64), None, options, 64))
    same(found, outcome(lambda: frames.parts_of(pandas.read_parquet(tmp_path / "t.parquet"), None, options, "it")))


def test_what_there_is_no_room_for_is_a_sentence(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "".join(f"word {i},{i % 2}\n" for i in range(20_000)))
    with pytest.raises(BoostrunError, match=r"column 'a' of .* more different texts than fit into 1 MiB"):
        load({"name": "csv", "path": str(path)}, tmp_path, 4)
    path.write_text(",".join(f"c{i}" for i in range(5000)) + "\n" + ",".join("1" * 5000) + "\n")
    with pytest.raises(BoostrunError, match=r"has 5000 columns, more than run\.memory_mb=4 allows; 20 would do"):
        load({"name": "csv", "path": str(path)}, tmp_path, 4)
    pandas.DataFrame(np.zeros((1, 2000)), columns=[f"c{i}" for i in range(2000)]).to_parquet(tmp_path / "t.parquet")
    with pytest.raises(BoostrunError, match=r"their description takes .* run\.memory_mb=4 allows; [0-9]+ would do"):
        ParquetPieces(tmp_path / "t.parquet", 4)


PEAK = """
import sys
from pathlib import Path
from boostrun.cli import main
from boostrun.data import load

small, large, *words = sys.argv[1:]

def held(key):
    return next(int(line.split()[1]) // 1024 for line in open("/proc/self/status") if line.startswith(key))

def use(path):
    if words:
        assert main([*words, f"dataset.path={path}"]) == 0
    else:
        load({"name": "parquet", "path": path}, Path(), 64, Path())

use(small)  # imports and compiles
open("/proc/self/clear_refs", "w").write("5")  # the peak is measured from here
base = held("VmRSS:")
use(large)
print("MiB over the base:", held("VmHWM:") - base, file=sys.stderr)
"""


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize(("kind", "rows", "width"), [("parquet", 20_000, 500), ("parquet", 200_000, 50),
                                                     ("csv", 120_000, 50)])  # fmt: skip
def test_a_large_file_takes_no_more_than_memory_mb_and_a_half_of_it(tmp_path, kind, rows, width):
    frame = pandas.DataFrame(np.random.default_rng(0).normal(size=(rows, width))).rename(columns="c{}".format)
    frame["y"] = (frame["c0"] > 0).map({True: "yes", False: "no"})
    paths = [tmp_path / f"{name}.{kind}" for name in ("small", "large")]
    for part, path in zip((frame[:60], frame), paths):
        part.to_parquet(path) if kind == "parquet" else part.to_csv(path, index=False)
    words = [
        "algo=geem", "dataset=csv", "r=20", "T=2", "trials=1", "n_jobs=1", "run.memory_mb=64",
        *(f"{key}={tmp_path / key}" for key in ("cache_root", "store", "results")),
    ]  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-c", PEAK, *paths, *(words if kind == "csv" else [])],
        capture_output=True, text=True, check=False, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert int(done.stderr.rsplit(":", 1)[1]) < 96
