"""IBoost that asks for labels, with ADWIN, without outliers, and with GEEM: twins, plain IBoost, and benefits."""

import pickle
from types import SimpleNamespace

import numpy as np
import pytest

from boostrun import (
    IBoostActiveClassifier,
    IBoostAdwinClassifier,
    IBoostClassifier,
    IBoostGeemClassifier,
    IBoostOutliersClassifier,
)
from boostrun.config import catalogue
from boostrun.data.streams.drift_stream import DriftStream, Holdout
from boostrun.methods.declaration import obtain
from tests.papers.iboost.learners import jumps
from tests.reference import iboost as twins

pytestmark = pytest.mark.slow  # kernels that take long to compile; other tests ask what all learners must do
BATCH = {"update": "batch"}, {"batch": True, "eta": 1e-3}
LOG = {**BATCH[0], "gradient": "log", "eta": 0.02}, {"batch": True, "log": True, "eta": 0.02}
BAYES = {"base": "gnb", "eps_min": 0.137}, {"fit": twins.gaussian, "eps_min": 0.137}
THREE = {"n_steps": 0, "eps_min": 0.137}, {"n_classes": 3, "b": 0, "eps_min": 0.137}
PLAIN = [
    pytest.param({}, id="newest"), pytest.param({"update": "batch", "period": 5}, id="batch"),
    pytest.param({"example": "random"}, id="random"), pytest.param({"base": "gnb"}, id="gnb"),
]  # fmt: skip
GEEM = {"n_window": 20, "budget": 6, "n_steps": 2, "batch_size": 5, "half_life": 30}


def wrongly_labelled(y, share=0.1):
    return np.where(np.random.default_rng(7).random(len(y)) < share, y.max() - y, y)


def same_as(twin, model, X, y):
    """Both give the same predictions and end with the same coefficients."""
    assert (model.test_then_train(X, y, classes=np.unique(y)) == [twin.learn(x, t) for x, t in zip(X, y)]).all()
    np.testing.assert_allclose(model.betas_, [b for b, _, _ in twin.members], rtol=1e-8)


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({}, {}), ({**BATCH[0], "period": 5}, {**BATCH[1], "p": 5}), LOG,
        ({**THREE[0], "delta": 0.9}, {**THREE[1], "delta": 0.9}),
    ],
    ids=["stochastic", "batch", "log", "three classes"],
)  # fmt: skip
def test_with_adwin_the_kernel_is_its_twin(keys, words):
    X, y = jumps(200, 1000, classes=words.get("n_classes", 2))
    y[110:] = y.max() - y[110:]
    twin = twins.IBoostAdwin(**({"n": 50, "M": 5, "p": 1, "b": 2, "n_least": 20, "delta": 0.2} | words))
    model = IBoostAdwinClassifier(
        **{"n_window": 50, "n_least": 20, "budget": 5, "n_steps": 2, "delta": 0.2} | keys
    )  # fmt: skip
    same_as(twin, model, X, y)
    assert (model._state.mass == twin.mass).all() and model.n_active_ == twin.mass.sum()
    assert model.n_removed_wrong_ == twin.pruned > 0 and model.n_detections_ > 0


def test_without_a_detection_adwin_is_plain_iboost():
    X, y = jumps(1500, 10_000)
    plain, adaptive = (cls(150, 20).partial_fit(X, y) for cls in (IBoostClassifier, IBoostAdwinClassifier))
    assert adaptive.n_detections_ == 0 and (plain.betas_ == adaptive.betas_).all()
    assert adaptive.n_active_ == 150


@pytest.mark.parametrize(
    ("keys", "words"), [({}, {}), ({"ask": "random"}, {"uncertain": False}), BAYES, THREE],
    ids=["uncertain", "random", "naive Bayes", "three classes"],
)  # fmt: skip
def test_asking_for_labels_the_kernel_is_its_twin(keys, words):
    X, y = jumps(400, 200, classes=words.get("n_classes", 2))
    twin = twins.IBoostActive(**({"n": 30, "M": 5, "p": 1, "b": 2, "share": 0.4, "seed": 5} | words))
    model = IBoostActiveClassifier(
        **{"n_window": 30, "budget": 5, "n_steps": 2, "label_budget": 0.4, "random_state": 5} | keys
    )  # fmt: skip
    same_as(twin, model, X, y)
    assert 30 < model.n_asked_ == twin.seen < 30 + 0.4 * 370 + 1 and model.n_seen_ == 400


@pytest.mark.parametrize("keys", PLAIN)
def test_with_all_labels_or_without_outliers_it_is_plain_iboost_to_the_bit(keys):
    X, y = jumps(700, 350)
    y = wrongly_labelled(y)
    plain = IBoostClassifier(100, 20, random_state=3, **keys)
    said = plain.test_then_train(X, y)
    ask = "random" if "base" in keys else "uncertain"
    active = IBoostActiveClassifier(100, 20, random_state=3, label_budget=1.0, ask=ask, **keys)
    wary = [IBoostOutliersClassifier(100, 20, random_state=3, outlier_margin=limit, **keys) for limit in (None, 1e300)]
    for model in (active, *wary):
        assert (model.test_then_train(X, y) == said).all() and (model.betas_ == plain.betas_).all()
    assert active.n_asked_ == active.n_seen_ == 700 and wary[0].n_outliers_ == wary[1].n_outliers_ == 0


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
    ("keys", "words"), [({}, {}), BATCH, BAYES, THREE], ids=["stochastic", "batch", "naive Bayes", "three classes"]
)
def test_without_outliers_the_kernel_is_its_twin(keys, words):
    X, y = jumps(260, 1000, classes=words.get("n_classes", 2))
    y = wrongly_labelled(y)
    y[180:] = y.max() - y[180:]  # the concept turns around
    twin = twins.IBoostOutliers(**({"n": 40, "M": 5, "p": 1, "b": 2, "limit": 0.25, "most": 0.3} | words))
    model = IBoostOutliersClassifier(**{"n_window": 40, "budget": 5, "n_steps": 2} | keys)
    same_as(twin, model, X, y)
    assert (model._state.mass == twin.mass).all() and model.n_outliers_ == twin.outliers > 0 and twin.taken_back > 0


@pytest.mark.parametrize(("keys", "words"), [({}, {}), ({**BATCH[0], "period": 3}, {**BATCH[1], "p": 3})])
def test_with_geem_it_is_its_twin(keys, words):
    X, y = jumps(160, 60)
    twin = twins.IBoostGeem(**({"n": 20, "M": 6, "p": 1, "b": 2, "q": 5, "half_life": 30} | words))
    model = IBoostGeemClassifier(**(GEEM | keys))
    same_as(twin, model, X, y)
    np.testing.assert_allclose(model._state.mass, twin.mass)


@pytest.mark.parametrize("classes", [2, 3])
def test_geem_holds_n_examples_of_the_stream_and_newcomers(classes):
    """Whatever the chunks: they make no difference, nor does a copy that goes on."""
    X, y = jumps(300, 100, classes=classes)
    whole, parts = (IBoostGeemClassifier(**GEEM) for _ in range(2))
    said, pieces = whole.test_then_train(X, y), []
    for i in range(0, 300, 7):
        pieces.append(parts.test_then_train(X[i : i + 7], y[i : i + 7], classes=range(classes)))
        state, seen = parts._state, min(i + 7, 300)
        used = state.mass > 0
        assert used.sum() == (seen if seen < 25 else 20 + (seen - 20) % 5)
        for x, label in zip(state.columns.T[used], state.labels[used]):
            assert y[:seen][(X[:seen] == x).all(axis=1)] == label
        parts = pickle.loads(pickle.dumps(parts)) if i == 140 else parts
    assert (np.concatenate(pieces) == said).all() and (whole.betas_ == parts.betas_).all()
    assert (said[150:] == y[150:]).mean() > 0.6


def test_what_is_old_fades_away():
    """A past concept leaves the memory; without fading some of its examples stay, and count in full."""
    X, y = jumps(1500, 10_000)
    y[500:] = 1 - y[500:]
    fading, lasting = (IBoostGeemClassifier(**(GEEM | {"half_life": half})).partial_fit(X, y) for half in (20, 1e300))
    oldest = []
    for state in (fading._state, lasting._state):
        held = state.columns.T[state.mass > 0]
        oldest.append(min(np.flatnonzero((x == X).all(axis=1))[0] for x in held))
    assert oldest[0] >= 500 > oldest[1] and set(lasting._state.mass) == {0.0, 1.0}
    assert (fading.test_then_train(X[500:], y[500:]) == y[500:]).mean() > 0.85
