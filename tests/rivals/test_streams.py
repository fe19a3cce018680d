"""Rivals on a stream: as their library has them, the same for the same seed, told of when not there."""

import json
import sys
import types

import numpy as np
import pytest

from boostrun.cli import main
from boostrun.config import catalogue
from boostrun.errors import BoostrunError

METHODS = {
    name: method for name, method in catalogue.methods().items()
    if method.paper == "rivals" and method.inputs == {"stream"}
}  # fmt: skip
RIVERS = [name for name, method in METHODS.items() if method.search and "capymoa" not in name]
CAPYMOAS = [name for name in METHODS if "capymoa" in name]
SEEDED = sorted(set(RIVERS) - {"hoeffding_tree"})
RNG = np.random.default_rng(0)
X = RNG.normal(size=(240, 3))
Y = (X[:, 0] + X[:, 1] > 0).astype(int)


def made(name, seed=0, **keys):
    """A small one."""
    pytest.importorskip("river")
    method = METHODS[name]
    few = {"grace_period": 20, "delta": 0.01} if "grace_period" in method.fields else {}
    return method.make({**few, **keys}, dict.fromkeys(method.budget, 3), {"random_state": seed})


@pytest.mark.parametrize("name", RIVERS)
def test_something_is_learnt_and_the_same_seed_says_the_same(name):
    model = made(name, seed=1)
    said = model.test_then_train(X, Y, [0, 1])
    assert np.mean(said[160:] == Y[160:]) > 0.7
    assert np.array_equal(said, made(name, seed=1).test_then_train(X, Y, [0, 1]))
    found = model.predict_proba(X[:20])
    assert found.shape == (20, 2) and np.allclose(found.sum(axis=1), 1.0)
    assert np.array_equal(model.predict(X[:20]), found.argmax(axis=1))


@pytest.mark.parametrize("name", SEEDED)
def test_another_seed_draws_otherwise(name):
    found = [made(name, seed).partial_fit(X[:150], Y[:150]).predict_proba(X) for seed in (1, 2)]
    assert not np.array_equal(*found)


def test_the_accuracy_is_that_which_river_measures_on_the_same_stream():
    evaluate, forest = (pytest.importorskip(f"river.{name}") for name in ("evaluate", "forest"))
    from river import metrics

    from boostrun.evaluation.prequential import prequential

    examples = [(dict(enumerate(x)), y) for x, y in zip(X.tolist(), Y.tolist())]
    theirs = evaluate.progressive_val_score(examples, forest.ARFClassifier(n_models=3, seed=5), metrics.Accuracy())
    rival = METHODS["arf"].make({}, {"M": 3}, {"random_state": 5})
    score, _ = prequential(rival, [(X[:1], Y[:1]), (X[1:], Y[1:])], [0, 1])
    first = made("arf").test_then_train(X[:1], Y[:1], [0, 1])[0] == Y[0]  # which river does not count
    assert score.n_seen == 240
    assert round(score.accuracy_pct * 2.4) - first == round(theirs.get() * 239)


def test_a_class_of_rivers_is_named_on_the_command_line_and_stands_beside_ours(tmp_path, capsys):
    pytest.importorskip("river")
    places = [f"store={tmp_path}/runs", f"cache_root={tmp_path}", f"results={tmp_path}", "n_jobs=1"]
    words = ["-m", "algo=no_change,estimator", "algo.class=river.tree:ExtremelyFastDecisionTreeClassifier"]
    assert main([*words, "algo.grace_period=50", "dataset=rbf", "dataset.n_samples=300", "trials=2", *places]) == 0
    records = [json.loads(path.read_text()) for path in tmp_path.glob("runs/**/*.json")]
    theirs = [one for one in records if ":" in one["cell"]["algo"]["name"]]
    assert len(records) == 4 and [one["cell"]["algo"]["grace_period"] for one in theirs] == [50, 50]
    assert all(one["cost"]["peak_memory_mb"] > 0 and one["cost"]["time_s"] > 0 for one in records)
    assert "ExtremelyFastDecisionTreeClassifier" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("where", "why"),
    [
        ("river.linear_model:LinearRegression", "LinearRegression of river is not a classifier"),
        ("river.linear_model:LogisticRegression", "LogisticRegression of river tells two classes apart"),
    ],
)
def test_a_class_that_cannot_tell_the_classes_apart_is_refused(where, why):
    pytest.importorskip("river")
    from boostrun.methods.declaration import obtain

    estimator = METHODS["stream_estimator"].make({}, {}, {"random_state": 0}).set_params(estimator=obtain(where)())
    with pytest.raises(BoostrunError, match=f"^{why}"):
        estimator.partial_fit(X[:9], np.arange(9) % 3)


def test_a_class_without_a_seed_of_its_own_is_given_the_trials():
    forest = pytest.importorskip("river.forest")
    for given, seed in ((None, 8), (3, 3)):
        rival = METHODS["stream_estimator"].make({}, {}, {"random_state": 8})
        model = rival.set_params(estimator=forest.ARFClassifier(seed=given)).partial_fit(X[:9], Y[:9])
        assert model.model_.seed == seed and model.estimator.seed == given


def test_without_river_the_command_that_installs_it_is_told(monkeypatch, tmp_path, capsys):
    monkeypatch.setitem(sys.modules, "river", None)
    places = [f"store={tmp_path}/runs", f"cache_root={tmp_path}", f"results={tmp_path}", "n_jobs=1"]
    assert main(["-m", "algo=no_change,arf", "dataset=rbf", "dataset.n_samples=200", *places]) == 2
    assert "river is not installed: pip install 'boostrun[streams]'" in capsys.readouterr().err
    assert not list(tmp_path.glob("runs/**/*.json"))


class Capy:
    """What is used of CapyMOA, as its documentation has it: a learner that says the label of the nearest mean."""

    def __init__(self, schema, random_seed=1, **keys):
        self.schema, self.keys, self.sums = schema, keys, {}

    def train(self, instance):
        assert instance.schema is self.schema
        total, count = self.sums.get(instance.y_index, (0.0, 0))
        self.sums[instance.y_index] = total + instance.x, count + 1

    def predict_proba(self, instance):
        assert not hasattr(instance, "y_index")
        if not self.sums:
            return None
        near = {code: -np.sum((instance.x - total / count) ** 2) for code, (total, count) in self.sums.items()}
        return np.eye(len(self.schema.categories["label"]))[max(near, key=near.get)]

    def predict(self, instance):
        found = self.predict_proba(instance)
        return None if found is None else int(np.argmax(found))


@pytest.fixture
def capymoa(monkeypatch):
    """A CapyMOA without Java."""

    def of(*names):
        return types.SimpleNamespace(from_array=lambda *given: types.SimpleNamespace(**dict(zip(names, given))))

    schema = types.SimpleNamespace(
        from_custom=lambda features, target, categories=None, name="unnamed": types.SimpleNamespace(
            features=features, categories=categories
        )
    )
    learners = dict.fromkeys(
        ("AdaptiveRandomForestClassifier", "StreamingRandomPatches", "HoeffdingAdaptiveTree", "LeveragingBagging",
         "StreamingGradientBoostedTrees"), Capy,
    )  # fmt: skip
    for name, inside in {
        "capymoa": {}, "capymoa.classifier": learners, "capymoa.stream": {"Schema": schema},
        "capymoa.core": {"Instance": of("schema", "x"), "LabeledInstance": of("schema", "x", "y_index")},
    }.items():  # fmt: skip
        module = types.ModuleType(name)
        vars(module).update(inside)
        monkeypatch.setitem(sys.modules, name, module)
    sys.modules["capymoa"].classifier = sys.modules["capymoa.classifier"]


@pytest.mark.parametrize("name", CAPYMOAS)
def test_a_learner_of_moa_is_made_and_fed_as_capymoa_documents(name, capymoa):
    method = METHODS[name]
    model = method.make({}, dict.fromkeys(method.budget, 3), {"random_state": 0})
    said = model.test_then_train(X, Y, [0, 1])
    assert np.mean(said[160:] == Y[160:]) > 0.7
    assert np.array_equal(model.predict(X[:9]), model.predict_proba(X[:9]).argmax(axis=1))
    given = model.model_.learner.keys
    assert (3 in given.values()) == ("M" in method.budget)
    assert {key for key in method.search} <= given.keys()
    with pytest.raises(BoostrunError, match="all classes from the start"):
        method.make({}, {}, {"random_state": 0}).partial_fit(X[:9], Y[:9]).partial_fit(X[:3], [0, 1, 2])


def test_without_capymoa_or_java_it_is_told_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "capymoa", None)
    rival = METHODS["capymoa_arf"].make({}, {}, {})
    with pytest.raises(BoostrunError, match=r"^capymoa is not installed: pip install 'boostrun\[capymoa\]'"):
        rival.installed()

    def failing(name):
        raise RuntimeError("Java not found. See\nthe site")

    monkeypatch.setattr("importlib.import_module", failing)
    with pytest.raises(BoostrunError, match=r"^CapyMOA needs Java, which did not start \(Java not found. See the site"):
        rival.installed()
