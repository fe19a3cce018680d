"""``n_jobs`` of classifiers: threads of fit and predictions, which change nothing but the time."""

import inspect
import pickle

import numpy as np
import pytest
from sklearn.base import clone

from boostrun import AdaBoostMHClassifier, BoostrunError, FullDataClassifier, ReservoirClassifier, kernels
from boostrun.kernels import Team
from boostrun.papers.reservoir.classifier import ActiveReservoirClassifier
from boostrun.papers.reservoir.online_classifier import RandomStumpsClassifier
from boostrun.papers.reservoir.variants import SplitReservoirClassifier
from tests.marks import slow_but

SMALL = {"n_estimators": 5, "random_state": 0}
TREES = {"weak_learner": "tree", "depth": 3, **SMALL}
MODELS = [
    *(FullDataClassifier(method, reservoir_size=60, **SMALL) for method in ("all", "fix", "mada")),
    *(FullDataClassifier(method, reservoir_size=60, **TREES) for method in ("all", "fix", "wss", "filterboost")),
    FullDataClassifier("all", stump_search="exact", **SMALL),
    ReservoirClassifier("wsam", reservoir_size=40, **TREES), ReservoirClassifier(reservoir_size=40, **SMALL),
    ActiveReservoirClassifier("wsam", reservoir_size=40, **SMALL),
    AdaBoostMHClassifier("uniform_naive", **SMALL), AdaBoostMHClassifier("uniform_naive", depth=2, **SMALL),
    RandomStumpsClassifier(random_state=0),
]  # fmt: skip


@pytest.fixture
def shared(monkeypatch):
    """How often work is shared, however little there is of it."""
    rounds, each = [], Team.each
    monkeypatch.setattr(kernels, "_FEW", 1)
    monkeypatch.setattr(Team, "each", lambda self, work, spans: rounds.append(self.threads) or each(self, work, spans))
    return rounds


def data(real):
    rng = np.random.default_rng(1)
    X = rng.integers(0, 256, (333, 11)).astype(np.uint8)
    y = (X[:, 3] > 90).astype(int) + (X[:, 7] > 120)
    return (X + rng.random(X.shape) if real else X), y


def facts(model):
    """All that a model has learned, as bytes."""
    arrays = dict(vars(model._model))
    if "classes" in arrays or not all(isinstance(each, np.ndarray) for each in arrays.values()):
        arrays = {name: np.asarray(each) for name, each in arrays.items() if isinstance(each, (np.ndarray, list))}
    return {name: each.tobytes() for name, each in arrays.items()}


@pytest.mark.parametrize("model", MODELS, ids=lambda model: f"{type(model).__name__}")
@pytest.mark.parametrize("real", slow_but([True], [False, True]), ids=["codes", "values"])
def test_models_and_predictions_are_the_same_to_the_bit(model, real, shared):
    X, y = data(real)
    one = clone(model).fit(X, y)
    scores = one.decision_function(X)
    assert not shared
    for n_jobs in (2, 3):
        several = clone(model).set_params(n_jobs=n_jobs).fit(X, y)
        assert facts(several) == facts(one) and facts(one)
        assert several.decision_function(X).tobytes() == scores.tobytes()
        assert shared and {*shared} == {n_jobs}
        shared.clear()
    np.testing.assert_array_equal(one.set_params(n_jobs=2).predict(X), one.set_params(n_jobs=None).predict(X))


def test_weights_missing_values_and_early_stopping_are_the_same_too(shared):
    X, y = data(True)
    X[::7, 2] = np.nan
    models = [
        FullDataClassifier("all", class_weight="balanced", early_stopping=True, n_jobs=n_jobs, **TREES).fit(X, y)
        for n_jobs in (1, 2)
    ]
    assert facts(models[0]) == facts(models[1]) and shared
    assert models[0].predict_proba(X).tobytes() == models[1].predict_proba(X).tobytes()


def test_it_is_a_parameter_like_others_that_a_saved_model_does_not_keep(tmp_path):
    X, y = data(False)
    model = FullDataClassifier("all", n_jobs=2, **SMALL).fit(X, y)
    assert clone(model).n_jobs == model.get_params()["n_jobs"] == 2 and "n_jobs=2" in repr(model)
    assert "n_jobs : int or None" in inspect.getdoc(FullDataClassifier)
    assert list(inspect.signature(FullDataClassifier).parameters)[-1] == "n_jobs"
    assert FullDataClassifier.load(model.save(tmp_path / "two.npz")).n_jobs is None
    with_one = model.set_params(n_jobs=None).save(tmp_path / "one.npz")
    assert with_one.read_bytes() == (tmp_path / "two.npz").read_bytes()
    state = pickle.loads(pickle.dumps(model))
    del state.__dict__["n_jobs"]  # of a version without it
    assert state.get_params()["n_jobs"] is None and (state.predict(X) == model.predict(X)).all()


@pytest.mark.parametrize("n_jobs", [0, -2, 1.5, True, "two"])
def test_a_wrong_number_of_threads_is_one_sentence(n_jobs):
    with pytest.raises(BoostrunError, match=r"^n_jobs=.*: a whole number of at least 1, or -1 for all cores, is need"):
        FullDataClassifier("all", n_jobs=n_jobs, **SMALL).fit(*data(False))


def test_all_cores_are_minus_one():
    from joblib import cpu_count

    from boostrun.methods.fitting import threads_of

    assert threads_of(FullDataClassifier(n_jobs=-1)) == cpu_count() and threads_of(FullDataClassifier()) is None
    assert threads_of(FullDataClassifier(n_jobs=np.int64(3))) == 3


def test_where_it_has_another_meaning_it_keeps_it(shared):
    """The processes of parts."""
    X, y = data(False)
    model = SplitReservoirClassifier("wsam", parts=2, n_jobs=1, reservoir_size=20, **SMALL).fit(X, y)
    assert model.set_params(n_jobs=2).predict(X).shape == y.shape and not shared
