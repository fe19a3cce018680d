"""IBoost of several classes: against a twin in plain Python, its slopes against finite differences, two classes."""

import math

import numpy as np
import pytest

from boostrun import IBoostClassifier
from boostrun.papers.iboost import iboost as two_classes
from boostrun.papers.iboost.kernels import bases, iboost_mm
from boostrun.papers.iboost.kernels import committee as order
from boostrun.papers.iboost.kernels.bases import fit_stump_of_gains
from tests.reference import iboost as twins
from tests.reference.iboost_mm import IBoostMM

pytestmark = pytest.mark.slow  # kernels that take long to compile; other tests ask what all learners must do


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


def test_steps_on_the_newest_example_in_one_are_the_steps_one_by_one():
    model = trained()
    state, start, slot = model._state, model.betas_, 5
    model._settings = model._settings._replace(eta=0.05, n_steps=4)
    said, label = state.said[: len(start), slot].copy(), state.labels[slot]
    iboost_mm.step(slot, state, model._settings, np.empty(state.votes.shape))
    expected = start.copy()
    for _ in range(4):
        votes = np.bincount(said, expected, 6)
        wrong = np.where(np.arange(6) == label, 0.0, np.exp(votes - votes[label]))
        g = min(wrong.sum(), 1.0)
        expected += 0.05 * g * np.where(said == label, 1.0, -wrong[said] / wrong.sum())
    np.testing.assert_allclose(model.betas_, expected, rtol=1e-12)


@pytest.mark.parametrize("base", ["stump", "gnb", "bnb"])
@pytest.mark.parametrize("update", ["stochastic", "batch"])
def test_of_two_classes_it_is_iboost(base, update):
    """The kernel for several classes, run with two: the same predictions, classifiers and coefficients. Of two classes
    the learner itself never runs it: there loss has no part, to the bit."""
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
