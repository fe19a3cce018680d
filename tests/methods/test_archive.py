"""A saved model is whole or absent; whatever its arrays hold, it is refused in one sentence, or answers."""

import io
import os
import subprocess
import sys
import zipfile
from typing import NamedTuple

import numpy as np
import pytest

from boostrun import (
    AdaBoostMHClassifier,
    BoostrunError,
    IBoostAdwinClassifier,
    ReservoirClassifier,
    StumpEnsemble,
    VoteEnsemble,
)
from boostrun.cli import main
from boostrun.export import Saved, c_source
from boostrun.methods import archive
from boostrun.methods.hypothesis_ensemble import HypothesisEnsemble
from boostrun.methods.stream_state import StreamState
from boostrun.methods.tree import TreeEnsemble
from boostrun.methods.weak_learner import WeakLearner
from boostrun.papers.shareboost.jointboost import SharedStumps
from tests.methods.damages import arrays_of, write


@pytest.mark.slow
def test_a_damaged_model_is_refused_or_answers(tmp_path):
    command = [sys.executable, "-X", "utf8", "-m", "tests.methods.damages", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", errors="replace", timeout=3600, check=False)
    *cases, last = done.stdout.split("\n")
    assert done.returncode == 0 and not last, f"exit code {done.returncode} at {last}: {done.stderr[-800:]}"
    wrong = [case for case in cases if not case.endswith(("\trefused", "\tanswered"))]
    assert not wrong, "\n".join(wrong)
    whole = [case for case in cases if ": whole\t" in case]
    assert len(cases) >= 16_000 and len(whole) >= 38
    assert all(case.endswith("\tanswered") for case in whole)


def test_what_is_saved_is_on_the_disk_before_it_has_its_name(tmp_path, monkeypatch):
    order = []
    fsync, replace = os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda file: (order.append(f"fsync {os.fstat(file).st_size > 0}"), fsync(file)))
    monkeypatch.setattr(os, "replace", lambda *names: (order.append("rename"), replace(*names)))
    path = archive.save(tmp_path / "it", "kind/1", {"a": np.ones(3)})
    assert order[:2] == ["fsync True", "rename"] and archive.load(path, "kind/1", ("a",))[0][0].sum() == 3


def data():
    X = np.random.default_rng(0).normal(size=(60, 4))
    return X, X[:, 0] > 0


@pytest.fixture
def saved(tmp_path):
    """A saved reservoir model of four columns and two classes."""
    model = ReservoirClassifier("rand", reservoir_size=20, n_estimators=3, random_state=0).fit(*data())
    return model.save(tmp_path / "model")


@pytest.mark.parametrize(("name", "value", "words"), [
    ("features", np.array([[0, 10**9, 1]], np.int32), r"features holds 1000000000, which is not below d = 4"),
    ("features", np.array([[0, -5, 1]], np.int32), "features holds -5, which is less than 0"),
    ("features", np.array([[0, 4, 1]], np.int32), "features holds 4, which is not below d = 4"),
    ("thresholds", np.array([[0.0, np.nan, 1.0]]), "thresholds holds NaN"),
    ("coefficients", np.array([[0.0, np.inf, 1.0]]), "coefficients holds infinity"),
    ("coefficients", np.full((1, 3), 1e308), "coefficients adds up to infinity"),
    ("polarities", np.ones((1, 2), np.int8), r"polarities has the shape \(1, 2\) where T = 3 is needed"),
    ("features", np.zeros((1, 3)), "features is of float64 where int32 is needed"),
    ("n_features_in", np.array(0), "n_features_in holds 0, which is less than 1"),
    ("classes", np.array(["a", "b", "c"]), "scores for 1 problems and 3 classes"),
    ("features", (10**12,), r"features claims the shape \(1000000000000,\) of float64, and has 800 bytes"),
    ("features", (), "it has no features"),
])  # fmt: skip
def test_the_sentence_names_the_file_and_the_array(name, value, words, saved):
    write(saved, arrays_of(saved) | {name: value})
    with pytest.raises(BoostrunError, match=f"model.npz is not an ensemble saved by boostrun .*{words}"):
        ReservoirClassifier.load(saved)


def test_the_state_of_an_unknown_learner_is_handed_on_unchanged(tmp_path):
    state = StreamState({"_own.0": np.array([-7.5])}, {"_seen": 3})
    loaded, extra = StreamState.load(state.save(tmp_path / "state", classes=np.array([0, 1])))
    assert loaded.arrays["_own.0"].tolist() == [-7.5] and loaded.numbers == {"_seen": 3}
    assert extra["classes"].tolist() == [0, 1]


def test_numbers_of_another_size_or_byte_order_are_the_same_numbers(saved, tmp_path):
    arrays = arrays_of(saved)
    before = ReservoirClassifier.load(saved).ensemble_
    other = {"features": arrays["features"].astype(">i8"), "thresholds": arrays["thresholds"].astype(">f8")}
    write(saved, arrays | other)
    after = ReservoirClassifier.load(saved).ensemble_
    for name, array in vars(before).items():
        assert getattr(after, name).dtype == array.dtype and np.array_equal(getattr(after, name), array)


@pytest.mark.slow  # takes seconds to compile
def test_so_are_those_of_the_state_of_a_stream_learner(tmp_path):
    X, y = data()
    stream = IBoostAdwinClassifier(20, 5).fit(X, y)
    arrays = arrays_of(stream.save(tmp_path / "stream"))
    counts, columns = arrays["state__states.0.9"].astype(np.int32), arrays["state__states.0.0"].astype(">f8")
    write(tmp_path / "stream.npz", arrays | {"state__states.0.9": counts, "state__states.0.0": columns})
    assert (IBoostAdwinClassifier.load(tmp_path / "stream.npz").predict(X) == stream.predict(X)).all()


def test_a_bomb_takes_no_memory(saved):
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"descr": "|u1", "fortran_order": False, "shape": (1 << 27,)})
    with zipfile.ZipFile(saved, "a", zipfile.ZIP_DEFLATED) as bomb:
        bomb.writestr("extra.npy", file.getvalue() + bytes(1 << 27))
    assert saved.stat().st_size < 1 << 20
    for read in (ReservoirClassifier.load, archive.kind_of):
        with pytest.raises(BoostrunError, match="its arrays would take more than 64 MiB"):
            read(saved)


@pytest.mark.slow
@pytest.mark.parametrize(("before", "after", "words"), [
    ('"n_least": 5', '"n_least": 1e308', r"facts has n_least = 1e\+308, which is no whole number of 64 bits"),
    ('"budget": 5', '"budget": 1000000000', "facts has budget = 1000000000, and the state has room for"),
])  # fmt: skip
def test_parameters_that_the_state_cannot_have_are_one_sentence(before, after, words, tmp_path):
    path = IBoostAdwinClassifier(20, 5, n_least=5).fit(*data()).save(tmp_path / "model")
    arrays = arrays_of(path)
    write(path, arrays | {"facts": np.array(str(arrays["facts"]).replace(before, after))})
    with pytest.raises(BoostrunError, match=words):
        IBoostAdwinClassifier.load(path)


class Sum(NamedTuple):
    """Votes by the sum of some columns."""

    features: np.ndarray

    def __call__(self, samples):
        return np.where(samples[:, self.features].sum(axis=1) > 99, 1.0, -1.0)


class FirstColumns(WeakLearner):
    """Always the same hypothesis."""

    def find(self, samples, signed_weights):
        return Sum(np.array([0, 1]))


@pytest.mark.parametrize(("odd", "words"), [(-1, "holds -1, which is less than 0"), (4, "holds 4, which is not below")])
def test_columns_of_a_hypothesis_are_among_those_of_the_samples(odd, words, tmp_path):
    X, y = data()
    model = ReservoirClassifier("rand", reservoir_size=20, n_estimators=3, weak_learner=FirstColumns(), random_state=0)
    path = model.fit(X, y).save(tmp_path / "model")
    arrays = arrays_of(path)
    assert ReservoirClassifier.load(path).predict(X).shape == (60,)
    columns = np.array(arrays["hypothesis_features"])
    columns[0, 1, 1] = odd
    write(path, arrays | {"hypothesis_features": columns})
    with pytest.raises(BoostrunError, match=f"hypothesis_features {words}"):
        ReservoirClassifier.load(path)


@pytest.mark.parametrize("name", ["feature", "columns", "left_column", "root_feature"])
def test_fields_with_names_of_columns_are_checked_as_columns(name, tmp_path):
    given = {"n_features_in": 4, "kind": "m:C", "coefficients": np.ones((1, 2)), "hypothesis_sign": [[-1, 1]]}
    for columns, words in (([0, 3], "is not there: import m first"), ([0, 4], "holds 4"), ([0, -1], "holds -1")):
        arrays = {key: np.array(value) for key, value in given.items()} | {f"hypothesis_{name}": np.array([columns])}
        path = archive.save(tmp_path / "it", "boostrun.HypothesisEnsemble/1", arrays)
        with pytest.raises(BoostrunError, match=words):
            HypothesisEnsemble.load(path)


STUMPS = np.array([[9]], np.int32), np.zeros((1, 1)), np.ones((1, 1), np.int8), np.ones((1, 1))
HAND_MADE = {
    "stumps": StumpEnsemble(*STUMPS),
    "votes": VoteEnsemble(np.array([9], np.int32), np.zeros(1), np.ones((1, 2), np.int8), np.ones(1)),
    "negative": VoteEnsemble(np.array([-1], np.int32), np.zeros(1), np.ones((1, 2), np.int8), np.ones(1)),
    "trees": TreeEnsemble(np.array([[[9]]], np.int32), np.zeros((1, 1, 1)), np.ones((1, 1, 2))),
    "shared": SharedStumps(
        np.array([9], np.int32), np.zeros(1), np.ones((1, 2), bool), np.ones(1), np.ones(1), np.zeros((1, 2))
    ),
}


@pytest.mark.parametrize("kind", HAND_MADE)
def test_an_ensemble_made_by_hand_looks_at_no_absent_feature(kind):
    samples, model = np.zeros((5, 4)), HAND_MADE[kind]
    with pytest.raises(BoostrunError, match=r"the model looks at feature (9|-1) of samples that have 4"):
        model.decision(samples)
    with pytest.raises(BoostrunError, match=r"the model looks at feature (9|-1) of samples that have 4"):
        list(model.staged_decision(samples) if kind == "shared" else model.staged_decision(samples.T, [1]))


def test_what_c_cannot_say_is_one_sentence():
    model = StumpEnsemble(np.zeros((1, 1), np.int32), np.full((1, 1), np.nan), STUMPS[2], STUMPS[3])
    with pytest.raises(BoostrunError, match="the model's threshold holds NaN, which cannot be written in C"):
        c_source(Saved(model, ["a", "b"], 4, {}, "boostrun.StumpEnsemble/1"))
    model.thresholds[:] = -np.inf
    assert "{-INFINITY}" in c_source(Saved(model, ["a", "b"], 4, {}, "boostrun.StumpEnsemble/1"))


@pytest.mark.parametrize(("name", "value"), [
    ("features", np.array([[0, 10**9, 1]], np.int32)), ("polarities", np.array(1)), ("coefficients", np.array("x")),
    ("classes", np.array(3)), ("facts", np.array("[[")), ("n_features_in", np.array([1, 2])), ("format", np.array("x")),
])  # fmt: skip
def test_export_of_a_damaged_model_is_exit_code_2_and_one_sentence(name, value, saved, capsys):
    write(saved, arrays_of(saved) | {name: value})
    before = sorted(saved.parent.iterdir())
    assert main(["export", str(saved), "--to", "c", "-o", str(saved.parent / "out.c")]) == 2
    said = capsys.readouterr()
    assert said.err.startswith("boostrun: ") and said.err.count("\n") == 1 and "model.npz" in said.err
    assert sorted(saved.parent.iterdir()) == before


def test_votes_are_checked_against_the_samples_that_a_preparation_makes(tmp_path):
    X, y = data()
    model = AdaBoostMHClassifier("laminating", n_estimators=3, random_state=0).fit(X, y)
    arrays = arrays_of(model.save(tmp_path / "model"))
    edges = np.sort(X.T[:, :9].astype(np.float32), axis=1)
    for odd, words in ((edges[:, ::-1], "input_edges is not in rising order"), (edges[:3], "where d = 4 is needed")):
        write(tmp_path / "model.npz", arrays | {"input_kind": np.array("edges"), "input_edges": odd})
        with pytest.raises(BoostrunError, match=words):
            AdaBoostMHClassifier.load(tmp_path / "model.npz")
