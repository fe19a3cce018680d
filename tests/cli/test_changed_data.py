"""A record's checksum is that of the data used for training, even if files are written meanwhile."""

import json
import time

import numpy as np
import pytest

from boostrun.runner import worker
from tests.cli.test_stream_command import records, write_npy
from tests.marks import slow_after

SET = (
    "dataset=stream dataset.path={0}/x.npy dataset.label={0}/y.npy "
    "dataset.test_path={0}/xt.npy dataset.test_label={0}/yt.npy"
)
LINE = f"algo=wsam {SET} r=30 T=20 trials=1 n_jobs=1 run.backend=sequential"


def done(workplace):
    return [record for record in records(workplace / "results") if record["status"] == "done"]


def test_labels_written_through_an_open_map_are_other_data(command, workplace, anywhere, quiet_soon):
    write_npy(anywhere)
    labels = np.lib.format.open_memmap(anywhere / "y.npy", mode="r+")
    labels[0] = labels[0]
    time.sleep(0.05)
    assert command(LINE.format(anywhere))[0] == 0
    (before,) = done(workplace)
    labels[:] = np.roll(labels, 7)
    time.sleep(0.05)
    assert "1 to run" in command(f"plan {LINE.format(anywhere)}")[1]
    assert command(LINE.format(anywhere))[0] == 0
    first, second = sorted(done(workplace), key=lambda record: record["key"] != before["key"])
    assert first == before and first["inputs"]["data"] != second["inputs"]["data"]
    assert second["metrics"]["test_accuracy_pct"] < first["metrics"]["test_accuracy_pct"] - 10


@pytest.mark.parametrize("part", slow_after(2, ["x", "yt", "y", "xt"]))
@pytest.mark.usefixtures("quiet_soon")
def test_a_map_written_through_while_a_trial_reads_fails_it(command, workplace, anywhere, monkeypatch, part):
    write_npy(anywhere)
    written = np.lib.format.open_memmap(anywhere / f"{part}.npy", mode="r+")
    written[-1] = written[-1]
    time.sleep(0.05)
    working = worker.train_and_test

    def train_and_write(*arguments):
        result = working(*arguments)
        written[-1] = written[-1] + 1
        return result

    monkeypatch.setattr(worker, "train_and_test", train_and_write)
    code, _, err = command(LINE.format(anywhere))
    assert code == 1 and "were changed while they were read; run it again" in err and "Traceback" not in err
    assert not done(workplace)
    monkeypatch.setattr(worker, "train_and_test", working)
    assert command(LINE.format(anywhere))[0] == 0 and len(done(workplace)) == 1


@pytest.mark.parametrize("kind", ["csv", "npy"])
def test_a_stream_from_a_file_that_changes_while_it_is_followed_fails_its_trial(command, workplace, monkeypatch, kind):
    x = np.random.default_rng(0).random((300, 3))
    y = (x[:, 0] > 0.5).astype(int)

    def write():
        if kind == "npy":
            np.save(workplace / "x.npy", x)
            np.save(workplace / "y.npy", y)
        else:
            lines = [",".join(map(str, [*row, label])) for row, label in zip(x, y)]
            (workplace / "x.csv").write_text("\n".join(["a,b,c,label", *lines]))

    write()
    label = " dataset.label=y.npy" if kind == "npy" else ""
    line = f"algo=majority_so_far dataset=file_stream dataset.path=x.{kind}{label} trials=1 n_jobs=1"
    working = worker.train_and_test

    def train_and_write(*arguments):
        result = working(*arguments)
        y[0] = 1 - y[0]
        write()
        return result

    monkeypatch.setattr(worker, "train_and_test", train_and_write)
    code, _, err = command(f"{line} run.backend=sequential")
    assert code == 1 and "the files of dataset=file_stream were changed while they were read; run it again" in err
    monkeypatch.setattr(worker, "train_and_test", working)
    assert command(f"{line} run.backend=sequential")[0] == 0 and len(done(workplace)) == 1


def test_a_table_that_changes_between_plan_and_build_fails_its_trial(command, workplace, monkeypatch):
    from boostrun.runner import execute

    def write(shift):
        lines = [f"{(i * 7 + shift) % 50},{i % 2}" for i in range(100)]
        (workplace / "t.csv").write_text("\n".join(["a,label", *lines]))

    write(0)
    planned, calls = execute.plan, []

    def plan_and_write(*given):
        found = planned(*given)
        if not calls:
            write(1)
        calls.append(given)
        return found

    monkeypatch.setattr(execute, "plan", plan_and_write)
    line = "algo=majority dataset=csv dataset.path=t.csv dataset.split_seed=0 trials=1 n_jobs=1 run.backend=sequential"
    code, _, err = command(line)
    assert code == 1 and "the files of dataset=csv were changed while they were read; run it again" in err
    assert not done(workplace)
    assert command(line)[0] == 0 and len(done(workplace)) == 1


@pytest.mark.parametrize("line", ["", "plan ", "data digits "])
def test_with_a_cache_root_nothing_is_written_into_the_data_root(command, workplace, line, local):
    root = workplace / "datasets"
    root.mkdir()
    write_npy(root)
    time.sleep(0.05)
    (workplace / "elsewhere").mkdir()
    before = sorted(root.rglob("*"))
    keys = "" if line.startswith("data") else f"algo=wsam {SET.format(root)} r=30 T=20 trials=1 n_jobs=1"
    assert command(f"{line}{keys} cache_root=elsewhere")[0] == 0
    assert sorted(root.rglob("*")) == before
    assert line or json.loads((workplace / "elsewhere" / ".checksums" / "digests.json").read_text())["files"]
