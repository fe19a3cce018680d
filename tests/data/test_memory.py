"""A table keeps its limit of memory; data that do not fit are kept in a file, or are an error."""

import errno
import io
import subprocess
import sys

import numpy as np
import pandas
import pytest

from boostrun.data import load
from boostrun.data.dataset import Rows
from boostrun.data.parquet import ParquetPieces
from boostrun.errors import BoostrunError


def test_what_memory_does_not_hold_is_in_a_file_and_the_same(tmp_path):
    rng = np.random.default_rng(0)
    path = tmp_path / "t.csv"
    pandas.DataFrame(rng.normal(size=(20_000, 20))).assign(y=rng.integers(0, 3, 20_000)).to_csv(path, index=False)
    (tmp_path / "scratch").mkdir()
    found = load({"name": "csv", "path": str(path)}, tmp_path, 4, tmp_path / "scratch")
    expected = load({"name": "csv", "path": str(path)}, tmp_path)
    assert isinstance(found.x_train, Rows) and not isinstance(expected.x_train, Rows)
    assert type(found.x_train[:5]) is np.ndarray and not list((tmp_path / "scratch").iterdir())
    for name in ("x_train", "y_train", "x_test", "y_test"):
        assert np.array_equal(getattr(found, name), getattr(expected, name))


def test_rows_that_grow_longer_are_read(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "1,0\n2,1\n" * 1000 + f"1,{'0' * 100_000}\n2,1\n" * 200)
    found = load({"name": "csv", "path": str(path), "label": "a"}, tmp_path, 64)
    assert len(found.x_train) + len(found.x_test) == 2400


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


def test_a_full_disk_is_no_damage_of_the_file_that_is_read(tmp_path, monkeypatch):
    class FullDisk(io.BytesIO):
        def write(self, _):
            raise OSError(errno.ENOSPC, "No space left on device")

    values = np.random.default_rng(0).normal(size=(20_000, 40))
    pandas.DataFrame(values, columns=[f"c{i}" for i in range(40)]).to_parquet(tmp_path / "t.parquet")
    monkeypatch.setattr("tempfile.TemporaryFile", lambda **_: FullDisk())
    with pytest.raises(BoostrunError, match=r"^the disk is full: reading .* lays columns aside in a file"):
        list(ParquetPieces(tmp_path / "t.parquet", 1).pieces())


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
