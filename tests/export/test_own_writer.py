"""A paper from outside declares a kind of saved model, and functions that write its predictor in C and in ONNX."""

import dataclasses
import importlib

import numpy as np
import pytest

from boostrun import extend
from boostrun.config import catalogue
from boostrun.conformance import Failed
from boostrun.conformance.paper import declaration_checks
from boostrun.errors import BoostrunError
from boostrun.export import onnx as onnx_model
from boostrun.export import read
from boostrun.methods.paper import Paper, SavedModel
from tests.export.compiled import Compiled
from tests.export.operators_in_numpy import run

MODEL = '''
import numpy as np
from boostrun.export.parts import OnnxParts, Operators, X
from boostrun.export.parts import ProgramParts
from boostrun.export.c import block, table
from boostrun.methods import archive
KIND = "theirs.NearestCentre/1"
class NearestCentre:
    """s_k(x) = -||x - c_k||^2."""
    def __init__(self, centres): self.centres = centres
    def scores(self, samples): return -np.square(samples[:, None] - self.centres).sum(axis=2)
    def save(self, path, **extra): return archive.save(path, KIND, {"centres": self.centres} | extra)
    @classmethod
    def load(cls, path):
        (centres,), extra = archive.load(path, KIND, ("centres",))
        return cls(centres), extra
_SCORES = """
    void scores(const double *x, double *out)
    {
        for (int k = 0; k < @k@; k++) {
            out[k] = 0.0;
            for (int i = 0; i < @d@; i++)
                out[k] -= (x[i] - centre[k][i]) * (x[i] - centre[k][i]);
        }
    }
"""
def write(saved):
    k, d = saved.model.centres.shape
    code = table("centre", saved.model.centres) + "\\n\\n" + block(_SCORES, k=k, d=d)
    return ProgramParts("nearest centres", "double", d, "attributes", k, code, k * d, k * d, "squares only")
def operators(saved):
    k, d = saved.model.centres.shape
    graph = Operators()
    apart = graph.add("Sub", graph.add("Unsqueeze", X, np.array([1])), saved.model.centres)
    squared = graph.add("ReduceSum", graph.add("Mul", apart, apart), np.array([2]), keepdims=0)
    scores = graph.add("Mul", squared, np.array(-1.0))
    return OnnxParts("nearest centres", np.dtype(float), d, "attributes", k, graph, scores)
'''
PAPER = """
from boostrun.methods.paper import Paper, SavedModel
MODEL = SavedModel("their_model:NearestCentre", "their_model:write", onnx="their_model:operators")
PAPER = Paper("theirs", models={"theirs.NearestCentre/1": MODEL})
"""


@pytest.fixture
def theirs(workplace, monkeypatch):
    """A folder with their paper, and their saved model beside it."""
    folder = workplace / "theirs"
    folder.mkdir()
    (folder / "their_model.py").write_text(MODEL)
    (folder / "their_paper.py").write_text(PAPER)
    (folder / "papers.yaml").write_text("theirs: their_paper:PAPER\n")
    monkeypatch.syspath_prepend(str(folder))
    model = importlib.import_module("their_model").NearestCentre(np.array([[0.0, 0.0], [3.0, 0.0], [0.0, 4.0]]))
    model.save(workplace / "model.npz", classes=np.array(["a", "b", "c"]), n_features_in=np.array(2))
    yield model
    extend.forget()


def test_their_operators_give_its_scores_and_without_them_onnx_is_refused(theirs, monkeypatch):
    known, kind = catalogue.models(), "theirs.NearestCentre/1"
    model = importlib.import_module("their_paper").MODEL
    monkeypatch.setattr(catalogue, "models", lambda: {**known, kind: model})
    saved, samples = read("model.npz"), np.random.default_rng(0).normal(1.0, 2.0, (50, 2))
    label, scores = run(onnx_model.predictor(saved), samples)
    np.testing.assert_allclose(scores, theirs.scores(samples), rtol=1e-12)
    np.testing.assert_array_equal(label, np.array(["a", "b", "c"])[theirs.scores(samples).argmax(axis=1)])
    model = dataclasses.replace(model, onnx="")
    with pytest.raises(BoostrunError, match=r"NearestCentre/1 cannot be written as ONNX \(boostrun\.StumpEnsemble/1, "):
        onnx_model.predictor(saved)


def test_the_predictor_of_a_model_from_outside_gives_its_scores_and_without_the_paper_is_refused(
    theirs, command, workplace
):
    code, _, err = command("export model.npz")
    assert code == 2 and "model.npz holds theirs.NearestCentre/1, which is no model that can be exported" in err
    code, out, err = command("export --config-dir theirs model.npz -o theirs.c")
    assert code == 0 and "nearest centres" in out, err
    samples = np.random.default_rng(0).normal(1.0, 2.0, (50, 2))
    numbers, scores = Compiled((workplace / "theirs.c").read_text(), workplace / "c")(samples)
    np.testing.assert_allclose(scores, theirs.scores(samples), rtol=1e-12)
    assert set(numbers) == {0, 1, 2} and (numbers == theirs.scores(samples).argmax(axis=1)).all()


def test_two_papers_cannot_bring_one_kind_of_model_and_a_check_names_a_writer_that_is_not_there(monkeypatch):
    twice = Paper("theirs", models=catalogue.papers()[""].models)
    with pytest.raises(BoostrunError, match=r"both boostrun and theirs bring a 'boostrun\.StumpEnsemble/1'"):
        catalogue._refuse_shared_names({**catalogue.papers(), "theirs": twice})
    paper = Paper("theirs", models={"theirs.Tree/1": SavedModel("boostrun.methods.stumps:StumpEnsemble", "json:wrote")})
    known = catalogue.papers()
    monkeypatch.setattr(catalogue, "papers", lambda: {**known, "theirs": paper})
    (named,) = [check for check in declaration_checks("theirs", "theirs:PAPER") if check.name.startswith("everything")]
    with pytest.raises(Failed, match=r"saved model theirs\.Tree/1: json:wrote"):
        named.hold()
