"""Trials on a cluster, with a mock engine: tasks that are sent, and sent again, and files that machines must share."""

import importlib.util
import os
import shutil
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from run_clusters import run_group
from run_toys import Toy, assert_whole, expected, figures, quick, record, threads, trials

from boostrun.config import check_run
from boostrun.digest import source_digest
from boostrun.errors import BoostrunError
from boostrun.runner import cluster
from boostrun.runner.cluster import Lost, Site, in_batches, ship, site
from boostrun.runner.engines import Slurm
from boostrun.runner.queue import run_trials


class InProcess:
    """Runs tasks here, one a call; loses those that ``lose`` names before or while they run their last trial."""

    def __init__(self, width=3, lives=3, size=1, lose=lambda task: ""):
        self.width, self.lives, self.size, self.lose = width, lives, size, lose
        self.out, self.most, self.sizes, self.cancelled = [], 0, [], False

    def batch(self, trials):
        return self.size

    def send(self, tasks):
        self.out += tasks
        self.sizes += [len(sent.trials) for sent in tasks]
        self.most = max(self.most, len(self.out))

    def receive(self):
        sent = self.out.pop(0)
        lost = self.lose(sent)
        if lost == "before":
            return [(sent, Lost("no memory"))]
        if lost == "during":
            for number, _ in sent.trials:
                sent.site.begin(sent.name, number)
            return [(sent, Lost("SIGKILL"))]
        answer = sent()
        return [(sent, Lost("after its record was written") if lost == "after" else answer)]

    def cancel(self):
        self.cancelled = True


def go(list_of_trials, execute, store, engine, **options):
    return run_trials(list_of_trials, execute, store, engine=engine, provenance={"command": ["x"]}, **options)


@pytest.mark.parametrize("width, size", [(1, 1), (3, 1), (2, 4), (9, 100)])
def test_every_trial_is_done_once_and_no_more_tasks_are_out_than_allowed(store, tmp_path, width, size):
    engine = InProcess(width=width, size=size)
    out = go(trials(11), Toy(str(tmp_path)), store, engine)
    assert [made["seed"] for made in out.done] == list(range(11)) and figures(store) == expected(11)
    assert sorted(Toy(str(tmp_path)).executions()) == list(range(11))
    assert engine.most <= width and max(engine.sizes) <= size and sum(engine.sizes) == 11
    assert not engine.cancelled and not [path for path in store.root.iterdir() if path.name.startswith(".run-")]
    assert go(trials(11), Toy(str(tmp_path)), store, InProcess()).cached == 11


def test_a_lost_task_is_sent_again_without_what_it_had_recorded(store, tmp_path):
    lost = []

    def once(sent):
        if len(lost) < 3:
            lost.append(sent.name)
            return ("during", "after", "before")[len(lost) - 1]
        return ""

    out = go(trials(12), Toy(str(tmp_path)), store, InProcess(size=3, lose=once))
    assert len(out.done) == 12 and not out.failed and figures(store) == expected(12)
    assert sorted(Toy(str(tmp_path)).executions()) == list(range(12))


@pytest.mark.parametrize("lives", [1, 2, 3])
def test_a_trial_that_loses_its_worker_too_often_is_recorded_as_the_cause(store, tmp_path, lives):
    def deadly(sent):
        return "during" if any(trial.seed == 4 for _, trial in sent.trials) and len(sent.trials) == 1 else ""

    engine = InProcess(lives=lives, lose=deadly)
    out = go(trials(6), Toy(str(tmp_path)), store, engine)
    assert [made["seed"] for made in out.failed] == [4] and len(out.done) == 5
    assert out.failed[0]["error"]["type"] == "WorkerDied" and "SIGKILL" in out.failed[0]["error"]["message"]
    assert len(engine.sizes) == 5 + lives


def test_of_a_batch_only_the_trial_that_had_begun_is_blamed(store, tmp_path):
    out = go(
        trials(6), Toy(str(tmp_path)), store,
        InProcess(size=3, lives=2, lose=lambda sent: "during" if sent.trials[-1][1].seed == 4 else ""),
    )  # fmt: skip
    assert [made["seed"] for made in out.failed] == [4] and len(out.done) == 5


def test_workers_that_die_before_any_trial_begins_end_the_run_with_one_sentence(store):
    engine = InProcess(lose=lambda sent: "before")
    with pytest.raises(BoostrunError, match=r"3 times in a row workers died \(no memory\) before any trial began"):
        go(trials(9), quick, store, engine)
    assert engine.cancelled and not assert_whole(store.root)


def test_a_record_that_failed_in_an_earlier_run_is_not_taken_for_this_one(store):
    failed = record(0, status="failed", metrics={}, error={"type": "X", "message": "old", "traceback": ""})
    store.put(failed)
    lost = iter(["during"])
    out = go(trials(1), quick, store, InProcess(lose=lambda sent: next(lost, "")))
    assert len(out.done) == 1 and not out.failed


def test_threads_are_pinned_and_recorded_and_the_machine_is_that_of_the_worker(store, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "4")
    (made,) = go(trials(1), threads, store, InProcess()).done
    assert made["metrics"] == {"widest": 1, "numba": 1}
    assert set(made["provenance"]["threads"]["pools"].values()) == {1}
    assert {"cpu", "platform", "python", "versions", "command"} <= set(made["provenance"])


def test_a_worker_that_does_not_see_the_store_ends_the_run(store, monkeypatch):
    cluster._problem.cache_clear()
    monkeypatch.setattr(cluster.Path, "is_dir", lambda path: ".run-" not in path.name)
    with pytest.raises(BoostrunError, match="does not see the store"):
        go(trials(3), quick, store, InProcess())
    assert not assert_whole(store.root)


def test_a_worker_with_other_code_ends_the_run(store):
    modules = ("boostrun.store.cell",)
    assert len(go(trials(2), quick, store, InProcess(), sources=[(modules, source_digest(modules))]).done) == 2
    with pytest.raises(BoostrunError, match=r"another version .*boostrun\.store\.cell differs"):
        go(trials(2, r=1), quick, store, InProcess(), sources=[(modules, "0" * 64)])


def test_what_goes_wrong_while_a_site_lasts_is_put_down_to_the_store_only_where_it_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(BoostrunError, match="cannot write in the store"), site(tmp_path / "file" / "s"):
        raise AssertionError
    with pytest.raises(ConnectionError, match="lost"), site(tmp_path / "s"):
        raise ConnectionError("lost")
    assert not list((tmp_path / "s").iterdir())


@pytest.mark.skipif(sys.platform == "win32", reason="a shell script")
def test_a_job_that_slurm_does_not_list_is_lost_without_accounting(tmp_path, monkeypatch):
    squeue = tmp_path / "squeue"
    squeue.write_text("#!/bin/sh\ncat answer || exit 1\n")
    squeue.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.chdir(tmp_path)
    engine = object.__new__(Slurm)
    engine.where, engine.looked = "slurm", -60.0 + time.monotonic()
    engine.out = [(SimpleNamespace(job_id=f"5_{k}"), None) for k in range(3)]
    assert engine._gone() == set()  # squeue fails
    (tmp_path / "answer").write_text("5_1\n6_0\n")
    assert engine._gone() == set()  # too soon
    engine.looked = -60.0 + time.monotonic()
    assert engine._gone() == {"5_0", "5_2"}


def test_marks_of_what_has_begun(tmp_path):
    with site(tmp_path / "s") as here:
        assert here.begun("1") is None
        here.begin("1", 7)
        here.begin("1", 8)
        assert here.begun("1") == 8
        here.forget("1")
        assert here.begun("1") is None
    here.begin("1", 7)  # the folder is gone: a worker that goes on after its run must not fall over it
    assert not Path(here.folder).exists() and here == Site(here.folder)


@pytest.mark.parametrize("n, size", [(0, 3), (1, 1), (7, 1), (7, 3), (8, 4), (9, 100)])
def test_batches_hold_every_number_once_and_none_is_much_smaller(n, size):
    batches = in_batches(range(n), size)
    assert sorted(number for batch in batches for number in batch) == list(range(n))
    assert all(1 <= len(batch) <= size for batch in batches)
    assert not batches or max(map(len, batches)) - min(map(len, batches)) <= 1


# -- banks --------------------------------------------------------------------------------------------------------


class Nodes:
    """Machines whose disks are folders: a path there is this one's, moved."""

    def __init__(self, root, **disks):
        self.root, self.disks, self.sent = root, disks, 0

    def nodes(self):
        return sorted(self.disks)

    def ask(self, node, function, *arguments):
        self.sent += sum(len(value) for value in arguments if isinstance(value, bytes))
        moved = [self._moved(node, value) for value in arguments]
        return function(*moved)

    def _moved(self, node, value):
        inside = isinstance(value, str) and value.startswith(str(self.root))
        return value.replace(str(self.root), str(self.disks[node])) if inside else value


@pytest.fixture
def bank(tmp_path):
    folder = tmp_path / "here" / "banks" / "k"
    folder.mkdir(parents=True)
    (folder / "meta.json").write_text("{}")
    (folder / "codes.npy").write_bytes(bytes(range(256)) * 5)
    (folder / "empty.npy").write_bytes(b"")
    return folder


@pytest.mark.parametrize("piece", [100, 1280, 5000])
def test_a_bank_is_sent_once_to_each_disk_that_lacks_it_and_is_the_same_there(bank, tmp_path, piece):
    here = tmp_path / "here"
    nodes = Nodes(here, a=tmp_path / "a", b=tmp_path / "b", b2=tmp_path / "b", shared=here)
    assert ship(nodes, [bank], piece) == nodes.sent == 2 * (1280 + 2)
    for disk in ("a", "b"):
        there = tmp_path / disk / "banks" / "k"
        assert {path.name: path.read_bytes() for path in there.iterdir()} == {
            path.name: path.read_bytes() for path in bank.iterdir()
        }
        assert [path.name for path in there.parent.iterdir()] == ["k"]
    assert ship(nodes, [bank], piece) == 0


def test_a_node_that_can_keep_no_bank_is_one_sentence(bank, tmp_path):
    (tmp_path / "a").write_text("in the way")
    with pytest.raises(BoostrunError, match=r"node a does not see the feature bank.*cache_root="):
        ship(Nodes(tmp_path / "here", a=tmp_path / "a"), [bank])


def test_a_copy_that_somebody_else_finished_meanwhile_stays(bank, tmp_path):
    there = tmp_path / "a" / "banks" / "k"
    nodes = Nodes(tmp_path / "here", a=tmp_path / "a")
    ask = nodes.ask

    def late(node, function, *arguments):
        if function.__name__ == "finish":
            shutil.copytree(bank, there, dirs_exist_ok=True)
            (there / "codes.npy").write_bytes(b"theirs")
        return ask(node, function, *arguments)

    nodes.ask = late
    ship(nodes, [bank])
    assert (there / "codes.npy").read_bytes() == b"theirs" and [path.name for path in there.parent.iterdir()] == ["k"]


# -- settings -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("changes, n_jobs, sentence", [
    ({"backend": "dask"}, -1, "needs run.scheduler=tcp"),
    ({"backend": "loky", "scheduler": "tcp://h:1"}, -1, "run.backend=loky does not take run.scheduler=tcp://h:1"),
    ({"backend": "sequential", "batch": 3}, 1, "does not take run.batch=3"),
    ({"backend": "ray", "partition": "cpu"}, -1, r"does not take run.partition=cpu \(it is for slurm\)"),
    ({"backend": "slurm"}, -1, "needs n_jobs="),
    ({"backend": "slurm", "scheduler": "tcp://h:1"}, 4, "SLURM is found without an address"),
])  # fmt: skip
def test_what_a_backend_lacks_or_has_no_use_for_is_one_sentence(changes, n_jobs, sentence):
    with pytest.raises(BoostrunError, match=sentence):
        check_run(run_group(**changes), n_jobs)


@pytest.mark.parametrize("name", cluster.NAMES)
def test_an_extra_that_is_not_installed_is_one_sentence(name, tmp_path, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda package: None)
    with pytest.raises(BoostrunError, match=rf"needs the extra {name}: pip install 'boostrun\[{name}\]'"):
        cluster.connect(run_group(backend=name, scheduler="x"), 2, tmp_path)
