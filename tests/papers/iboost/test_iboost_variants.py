"""IBoost of several classes, and IBoost that asks for labels, with ADWIN, without outliers, with GEEM: twins."""

import math
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
from boostrun.papers.iboost import iboost as two_classes
from boostrun.papers.iboost.kernels import bases, iboost_mm
from boostrun.papers.iboost.kernels import committee as order
from boostrun.papers.iboost.kernels.bases import fit_stump_of_gains
from tests.papers.iboost.learners import jumps
from tests.reference import iboost as twins
from tests.reference.iboost_mm import IBoostMM

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


def stream(count, classes, seed=0, change=60):
    """Classes are clouds, which change places after every ``change`` examples."""
    rng = np.random.default_rng(seed)
    places, y = rng.normal(0, 3, (classes, 3)), rng.integers(0, classes, count)
    return places[(y + np.arange(count) // change) % classes] + rng.normal(size=(count, 3)), y


SWITCHES = {
    "stumps": ({}, {}),
    "seven examples apart": ({"period": 7}, {"p": 7}),
    "batch": ({"update": "batch"}, {"batch": True, "eta": 1e-3}),
    "log": ({"update": "batch", "gradient": "log", "eta": 0.02}, {"batch": True, "log": True, "eta": 0.02}),
    "no cap": ({"grad_cap": None, "eta": 1e-4}, {"cap": math.inf, "eta": 1e-4}),
    "an example drawn": ({"example": "random"}, {"draw": twins.splitmix}),
    "Gaussian": ({"base": "gnb"}, {"fit": twins.gaussian}),
    "large steps": ({"base": "gnb", "eta": 0.2}, {"fit": twins.gaussian, "eta": 0.2}),
}


@pytest.mark.parametrize("switch", SWITCHES)
def test_the_kernel_is_its_twin(switch):
    """Same predictions, same classifiers, same coefficients, through changes of concept. Errors that all count as a
    larger least one would make votes equal up to rounding."""
    keys, words = SWITCHES[switch]
    X, y = stream(160, 5)
    twin = IBoostMM(**({"n": 30, "M": 6, "p": 1, "b": 3, "n_classes": 5, "eta": 1e-2, "eps_min": 0.05} | words))
    twin.draw = twin.draw and twin.draw(0)
    model = IBoostClassifier(**({"n_window": 30, "budget": 6, "n_steps": 3, "eps_min": 0.05, "random_state": 0} | keys))
    expected = [twin.learn(x, t) for x, t in zip(X, y)]
    assert (model.test_then_train(X, y, classes=np.arange(5)) == expected).all()
    assert len(twin.removed) == model.n_removed_negative_ + model.n_removed_budget_ > 0
    assert [born for _, born, _ in twin.members] == model._state.born[: len(twin.members)].tolist()
    np.testing.assert_allclose(model.betas_, [b for b, _, _ in twin.members], rtol=1e-8)


def trained(classes=6, **keys):
    X, y = stream(120, classes, 3)
    model = IBoostClassifier(n_window=40, budget=6, base="gnb", random_state=0, **keys)
    model.partial_fit(X, y, classes=np.arange(classes))
    model._refresh()
    return model


def loss(coefficients, said, labels, cap, log):
    """The loss of the window, from its definition."""
    votes = np.zeros((said.shape[1], 1 + max(said.max(), labels.max())))
    for b, row in zip(coefficients, said):
        votes[np.arange(len(row)), row] += b
    slots = np.arange(len(labels))
    u = np.exp(votes - votes[slots, labels][:, None]).sum(axis=1) - 1.0
    if log:
        return np.log(u.sum())
    return sum(each if each <= cap else cap * (1.0 + math.log(each / cap)) for each in u)


@pytest.mark.parametrize(("cap", "log"), [(1.0, False), (7.0, False), (np.inf, False), (1.0, True)])
def test_a_step_on_the_window_follows_the_gradient_of_the_loss(cap, log):
    """Finite differences of the loss, coefficient by coefficient."""
    model = trained()
    model._settings = model._settings._replace(batch=True, eta=1.0, n_steps=1, cap=cap, log_gradient=log)
    state, before = model._state, model.betas_
    said = state.said[: len(before)].copy()
    iboost_mm.step(0, state, model._settings, np.empty(state.votes.shape))
    moved = model.betas_ - before
    assert np.abs(moved).max() > 1e-3
    for j in range(len(before)):
        away = np.zeros(len(before))
        away[j] = 1e-6
        up, down = (loss(b, said, state.labels, cap, log) for b in (before + away, before - away))
        assert moved[j] == pytest.approx((down - up) / 2e-6, rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("base", ["stump", "gnb", "bnb"])
@pytest.mark.parametrize("update", ["stochastic", "batch"])
def test_of_two_classes_it_is_iboost(base, update):
    """The kernel for several classes, run with two: the same predictions, classifiers and coefficients. The
    learner itself never runs it for two classes: there the loss makes no difference, to the bit."""
    X, y = stream(250, 2, 1)
    keys = {"n_window": 30, "budget": 6, "base": base, "update": update, "grad_cap": None, "eta": 1e-3}
    plain, model = IBoostClassifier(**keys, loss="samme"), IBoostClassifier(**keys)
    said = plain.test_then_train(X, y)
    assert (model.test_then_train(X, y) == said).all() and (model.betas_ == plain.betas_).all()
    empty = IBoostClassifier(**keys)
    empty._begin(3, 2)
    state, out = iboost_mm.begun(empty._state, 2), np.empty(len(y), np.int64)
    iboost_mm.test_then_train(X, y, np.arange(len(y)) % 30, state, empty._settings, np.inf, out)
    assert (out == said).all() and plain.n_removed_budget_ == state.counts[two_classes.BUDGET] > 0
    np.testing.assert_allclose(state.coefficients[: state.counts[two_classes.SIZE]], plain.betas_, rtol=1e-9)


def test_the_stump_of_gains_is_the_best_of_all():
    """Every threshold, every pair of answers; and of two classes it is the stump of signs."""
    for seed in range(30):
        rng = np.random.default_rng(seed)
        columns, gains, model = np.round(rng.normal(size=(2, 12)), 1), rng.normal(size=(12, 4)), np.empty(4)
        ranks = np.empty((2, 12), np.int32)
        order.start_order(columns, ranks)
        fit_stump_of_gains(columns, ranks, gains, model)
        said = np.empty(12, np.int64)
        bases.respond_window(bases.STUMP, model, columns, 4, said)
        best = max(
            gains[row <= t].sum(axis=0).max() + gains[row > t].sum(axis=0).max()
            for row in columns for t in [-np.inf, *row]
        )  # fmt: skip
        assert gains[np.arange(12), said].sum() == pytest.approx(best)
        y, w, two, signs = rng.integers(0, 2, 12), rng.dirichlet(np.ones(12)), np.empty(4), np.empty(4)
        fit_stump_of_gains(columns, ranks, np.where(np.eye(2)[y] > 0, w[:, None], -w[:, None]), two)
        bases.fit_stump(columns, ranks, y, w, signs)
        assert (two == signs).all()


def test_a_window_too_short_for_its_classes_is_told_once():
    X, y = stream(200, 8)
    with pytest.warns(UserWarning, match="n_window=20 is short for 5 classes: .* n_window=25") as told:
        model = IBoostClassifier(n_window=20, budget=4)
        for i in range(8):
            model.partial_fit(X[y == i][:2], y[y == i][:2])
    assert len(told) == 1 and len(model.classes_) == 8


@pytest.mark.parametrize("base", ["stump", "gnb", "bnb"])
def test_classes_may_come_one_by_one(base):
    X, y = stream(200, 4, 2)
    y = np.minimum(y, np.arange(200) // 40)  # a new class every 40 examples
    late = IBoostClassifier(n_window=30, budget=6, base=base)
    for i in range(0, 200, 20):
        late.partial_fit(X[i : i + 20], y[i : i + 20])
    state = late._state
    answers = np.empty(30, np.int64)
    for j in range(len(late.betas_)):
        bases.respond_window(late._settings.family, state.models[j], state.columns, 4, answers)
        assert (answers == state.said[j]).all()
