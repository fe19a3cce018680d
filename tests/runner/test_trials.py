"""Inputs and outputs of a trial: its seeds, compiled code before its clock starts, the bytes of its model."""

import os
import re
import tempfile
from types import SimpleNamespace

import numpy as np
import pytest
from run_toys import Grows, trials

import boostrun
from boostrun.config import catalogue, defaults
from boostrun.errors import BoostrunError
from boostrun.evaluation.measures import TrialSeeds, spawn
from boostrun.inputs import Places
from boostrun.inputs.bank import StreamInput
from boostrun.runner import worker
from boostrun.runner.execute import shared_seeds
from boostrun.runner.plan import cell_of, compose_one
from boostrun.runner.predictions import model_bytes


def first(sequence):
    return np.random.default_rng(sequence).integers(2**63)


def test_axes_and_seeds_are_all_different_and_stored_records_rely_on_their_states():
    drawn = {int(first(sequence)) for seed in range(200) for sequence in spawn(seed)}
    assert len(drawn) == 600
    assert [int(s.generate_state(1)[0]) for s in spawn(0)] == [3757552657, 673228719, 3241444873]
    assert TrialSeeds._fields == ("split", "filter", "algorithm")
    one, two = spawn(1), spawn(1)
    np.random.default_rng(one.algorithm).random(1000)
    one.algorithm.spawn(5)
    assert first(one.filter) == first(two.filter)


@pytest.mark.parametrize("seed", [-1, 0.5, None, "a", True])
def test_a_bad_seed_is_refused(seed):
    with pytest.raises(BoostrunError, match="seed must be"):
        spawn(seed)


@pytest.mark.parametrize(
    ("words", "rehearsed"),
    [
        (["", "algo.base=logistic", "algo.base=hoeffding", "algo.vote=proba", "algo.base=logistic"], 4),
        (["M=7", "M=8", "algo.var_floor=0.01"], 1),  # numbers need no other code
    ],
)
def test_each_code_that_a_word_chooses_is_rehearsed_once(words, rehearsed, monkeypatch, workplace):
    monkeypatch.setattr(worker, "_compiled", set())
    made = []
    evaluation = SimpleNamespace(warm_up=lambda small, data: made.append(small))
    for word in words:
        cell = cell_of(compose_one(["algo=onlineboost", "dataset=sea", *word.split()]))
        worker._compile(cell, catalogue.method(cell.algo), evaluation, SimpleNamespace(kind="stream"))
    assert len(made) == rehearsed


def test_a_worker_compiles_for_itself_when_another_keeps_the_lock(monkeypatch, tmp_path, workplace):
    made = []
    monkeypatch.setattr(worker, "_compiled", set())
    monkeypatch.setattr(worker, "_PATIENCE", 0.05)
    monkeypatch.setattr(tempfile, "gettempdir", lambda: str(tmp_path))
    cell = cell_of(compose_one(["algo=onlineboost", "dataset=sea"]))
    evaluation = SimpleNamespace(warm_up=lambda small, data: made.append(small))
    fcntl = pytest.importorskip("fcntl")
    with open(tmp_path / f"boostrun-compile-{os.getuid()}.lock", "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        worker._compile(cell, catalogue.method(cell.algo), evaluation, SimpleNamespace(kind="stream"))
    assert len(made) == 1


def drawn(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(120, 5))
    return X, (X[:, 0] > 0).astype(int) + (X[:, 1] > 1)


def test_a_stump_takes_its_feature_threshold_polarity_and_coefficient(tmp_path):
    X, y = drawn()
    model = boostrun.ReservoirClassifier(n_estimators=7, reservoir_size=40, random_state=0).fit(X, y)
    assert model_bytes(model) == 7 * 3 * (4 + 8 + 1 + 8)
    model.save(tmp_path / "model")
    assert model_bytes(model) < (tmp_path / "model.npz").stat().st_size


@pytest.mark.parametrize("here", [True, False])
def test_the_size_of_a_model_waits_for_no_disk_where_files_in_memory_are_known(here, monkeypatch):
    class Own:
        def save(self, path):
            np.savez(path, a=np.zeros(3))  # adds the ending, so that it cannot be in memory
            return f"{path}.npz"

    model = boostrun.ReservoirClassifier(n_estimators=7, reservoir_size=40, random_state=0).fit(*drawn())
    waits, sync = [], os.fsync
    monkeypatch.setattr(os, "fsync", lambda file: waits.append(sync(file)))
    if not here:
        monkeypatch.delattr(os, "memfd_create", raising=False)
    elif not hasattr(os, "memfd_create"):
        pytest.skip("this system has no files in memory")
    before = len(os.listdir("/proc/self/fd")) if here else 0
    assert model_bytes(model) == 7 * 3 * (4 + 8 + 1 + 8) and bool(waits) is not here
    assert model_bytes(SimpleNamespace(_model=Own())) == 24
    assert not here or len(os.listdir("/proc/self/fd")) == before


@pytest.mark.slow  # compiles trees
def test_more_trees_take_more():
    X, y = drawn()
    sizes = [
        model_bytes(boostrun.ReservoirClassifier(n_estimators=T, reservoir_size=40, weak_learner="tree",
                                                 random_state=0).fit(X, y))
        for T in (2, 4)
    ]  # fmt: skip
    assert sizes[1] == 2 * sizes[0] > 0


@pytest.mark.parametrize("model", [object(), boostrun.ReservoirClassifier()])
def test_what_cannot_be_saved_has_no_size(model):
    assert model_bytes(model) is None


def test_what_is_put_together_as_it_is_asked_for_and_cannot_be_has_no_size():
    class Unsaved:
        @property
        def _model(self):
            raise BoostrunError("its model_ is a tree of someone else's, not an array")

    assert model_bytes(Unsaved()) is None


def test_what_is_prepared_is_what_a_trial_opens_so_that_an_evaluation_can_look_at_it_before(tmp_path):
    dataset = {"name": "sea", **defaults("dataset", "sea"), "n_samples": 400}
    prepared = StreamInput().prepare(dataset, {"name": "raw"}, Places(tmp_path, tmp_path), False)
    assert prepared.kind == "stream" and len(prepared.stream) == 400 and prepared.eval_every == dataset["eval_every"]


def test_seeds_that_the_default_has_too_are_named():
    asked = ["algo=geem", "dataset=digits", "r=20"]
    assert not any(shared_seeds([compose_one([*asked, *more])]) for more in ([], ["seed=10"], ["seed=2", "trials=1"]))
    line = shared_seeds([compose_one([*asked, "seed=2"])])
    assert "seeds 2 to 11, and 8 of them are those of seed=0 too: take seed=10 for 10 others" in line


@pytest.mark.skipif(not worker.knows_memory(), reason="the system does not say what a process takes")
@pytest.mark.parametrize(("most", "loads", "takes", "said"), [
    (None, 0, 200, ""), (400, 100, 200, ""), (None, 0, 500, ""),
    (400, 10, 500, r"it would take more than run.memory_mb=400 \(MiB\): libraries .* take \d+, so run.memory_mb=\d+"),
    (400, 500, 10, r"run.memory_mb=400 is too little: libraries .* take 5\d\d, so run.memory_mb=\d+ is the least"),
])  # fmt: skip
def test_a_trial_in_its_own_process_is_measured_and_ended_beyond_its_memory(most, loads, takes, said):
    (trial,) = trials(1)
    record = worker.in_own_process(trial, Grows(most, loads, takes), {})
    if said:
        assert record["status"] == "failed" and not record["metrics"] and re.match(said, record["error"]["message"])
    else:
        assert record["status"] == "done" and record["metrics"] == {"x": takes}
        assert max(loads, takes) < record["cost"]["memory_mib"] < loads + takes + 150
        assert record["cost"]["peak_memory_mb"] * 1e6 / 2**20 - record["cost"]["memory_mib"] < 20


@pytest.mark.slow
@pytest.mark.skipif(not worker.knows_memory(), reason="the system does not say what a process takes")
@pytest.mark.parametrize("most", [400, None])
def test_what_compiling_takes_is_not_counted_once_the_kernels_are_kept(most, tmp_path):
    (trial,) = trials(1)
    record = worker.in_own_process(trial, Grows(most, 0, 50, str(tmp_path / "kernels")), {})
    assert record["status"] == "done" and record["cost"]["memory_mib"] < 250
