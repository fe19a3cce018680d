"""IBoost by labels asked for: against its twin, against plain IBoost, its budget, and what it is for."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from boostrun import IBoostActiveClassifier, IBoostClassifier
from boostrun.config import catalogue
from boostrun.data.streams.drift_stream import DriftStream, Holdout
from boostrun.errors import BoostrunError
from boostrun.methods.declaration import obtain
from tests.papers.iboost.test_iboost_adwin import jumps
from tests.reference.iboost import IBoostActive, gaussian

pytestmark = pytest.mark.slow  # the kernel takes seconds to compile
SWITCHES = {
    "uncertain": ({}, {}),
    "random": ({"ask": "random"}, {"uncertain": False}),
    "naive Bayes": ({"base": "gnb", "eps_min": 0.137}, {"fit": gaussian, "eps_min": 0.137}),
    "three classes": ({"n_steps": 0, "eps_min": 0.137}, {"n_classes": 3, "b": 0, "eps_min": 0.137}),
}


@pytest.mark.parametrize("switch", SWITCHES)
def test_the_kernel_is_its_twin(switch):
    keys, words = SWITCHES[switch]
    X, y = jumps(400, 200, classes=words.get("n_classes", 2))
    ours = {"n_window": 30, "budget": 5, "n_steps": 2, "label_budget": 0.4, "random_state": 5} | keys
    twin = IBoostActive(**({"n": 30, "M": 5, "p": 1, "b": 2, "share": 0.4, "seed": 5} | words))
    model = IBoostActiveClassifier(**ours)
    assert (model.test_then_train(X, y, classes=np.unique(y)) == [twin.learn(x, t) for x, t in zip(X, y)]).all()
    np.testing.assert_allclose(model.betas_, [b for b, _, _ in twin.members], rtol=1e-8)
    assert 30 < model.n_asked_ == twin.seen < 30 + 0.4 * 370 + 1 and model.n_seen_ == 400


@pytest.mark.parametrize(
    "keys", [{}, {"update": "batch", "period": 5}, {"example": "random"}, {"ask": "random", "base": "gnb"}],
    ids=["newest", "batch", "random", "gnb"],
)  # fmt: skip
def test_with_all_labels_it_is_plain_iboost_to_the_bit(keys):
    X, y = jumps(700, 350)
    plain = IBoostClassifier(100, 20, random_state=3, **{key: keys[key] for key in keys if key != "ask"})
    active = IBoostActiveClassifier(100, 20, random_state=3, label_budget=1.0, **keys)
    assert (active.test_then_train(X, y) == plain.test_then_train(X, y)).all()
    assert (active.betas_ == plain.betas_).all() and active.n_asked_ == active.n_seen_ == 700


@pytest.mark.parametrize("ask", ["uncertain", "random"])
@pytest.mark.parametrize("share", [0.05, 0.3, 0.6])
def test_the_budget_is_never_exceeded_and_spent(ask, share):
    X, y = jumps(2000, 500)
    model = IBoostActiveClassifier(100, 10, label_budget=share, ask=ask, random_state=0)
    for end in range(50, 2001, 50):
        model.partial_fit(X[end - 50 : end], y[end - 50 : end])
        assert model.n_seen_ == end and model.n_asked_ <= min(end, 100 + share * max(end - 100, 0) + 1)
    assert model.n_asked_ > 100 + 0.8 * share * 1900


def test_labels_that_are_not_asked_for_do_not_matter():
    X, y = jumps(600, 300)
    model, other = (IBoostActiveClassifier(50, 10, label_budget=0.2, random_state=0) for _ in range(2))
    for x, t in zip(X, y):
        before = model.n_asked_ if hasattr(model, "classes_") else 0
        model.partial_fit(x[None], [t], [0, 1])
        other.partial_fit(x[None], [t if model.n_asked_ > before else 1 - t], [0, 1])
    assert (model.betas_ == other.betas_).all() and model.n_asked_ == other.n_asked_ < 200


def test_it_asks_near_the_border_and_random_questions_do_not():
    X, y = jumps(3000, 10_000)
    near = {}
    for ask in ("uncertain", "random"):
        model = IBoostActiveClassifier(200, 50, label_budget=0.2, ask=ask, random_state=0).fit(X, y)
        near[ask] = np.abs(model._state.columns[:2].sum(axis=0) - 8).mean()
    assert near["uncertain"] < 0.6 * near["random"]


def test_the_record_says_how_many_labels_were_asked_for():
    X, y = jumps(400, 200)
    evaluation = obtain(catalogue.methods()["iboost_active"].evaluation)()
    model = IBoostActiveClassifier(50, 10, label_budget=0.2, random_state=0)
    stream = DriftStream("jumps", X, y, ("0", "1"), np.array([200]), (Holdout(X, y), Holdout(X, y)), {})
    data = SimpleNamespace(stream=stream, delay=0, eval_every=100, first=100, measures="accuracy")
    result = evaluation.run(model, data, None)
    assert result["cost"]["labels_asked"] == model.n_asked_ and result["metrics"]["test_accuracy_pct"] > 50
    assert 20 < result["metrics"]["labels_pct"] == 100 * model.n_asked_ / 400 <= 100 * (50 + 0.2 * 350 + 1) / 400


@pytest.mark.parametrize(
    ("parameters", "words"), [({"label_budget": 0.0}, "label_budget=0.0"), ({"ask": "never"}, "ask='never'")]
)
def test_bad_parameters_get_a_sentence(parameters, words):
    with pytest.raises(BoostrunError, match=words):
        IBoostActiveClassifier(**parameters).fit(*jumps(30, 30))


@parametrize_with_checks([IBoostActiveClassifier(20, 10), IBoostActiveClassifier(20, 10, base="gnb")])
def test_scikit_learns_checks(estimator, check):
    check(estimator)
