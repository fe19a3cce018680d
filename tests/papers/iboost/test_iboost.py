"""IBoost against its twin, the invariants of section 14, and answers that are kept for a hold-out."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from boostrun import IBoostClassifier
from boostrun.data.streams import draw
from boostrun.errors import BoostrunError
from boostrun.evaluation.prequential import follow
from boostrun.papers.iboost import iboost as drift_iboost
from boostrun.papers.iboost.kernels import bases as drift_bases
from boostrun.papers.iboost.kernels import committee
from boostrun.papers.iboost.kernels.committee import CommitteeMembers, HeldOut
from boostrun.papers.iboost.onlineboost import OnlineBoostClassifier
from boostrun.papers.iboost.window_committees import AdaBoostWindowClassifier, FLBClassifier, OCBClassifier
from tests.reference import iboost as twins


def sea(count, seed=0, classes=2, change=600):
    """A stream whose concept changes every ``change`` examples."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(0, 10, (count, 3))
    thresholds = np.array([8.0, 9.0, 7.0, 9.5])[np.arange(count) // change % 4]
    y = (X[:, 0] + X[:, 1] <= thresholds).astype(int)
    return X, y if classes == 2 else y + (X[:, 0] > 6)


def answers(model):
    """f_j(x_i) of every classifier on every slot, afresh."""
    state, options = model._state, model._settings
    out = np.empty((len(model.betas_), len(state.labels)), np.int64)
    for j, row in enumerate(out):
        drift_bases.respond_window(options.family, state.models[j], state.columns, options.n_classes, row)
    return out


def codes_of(model):
    """q_ji as the state keeps it."""
    K = model._settings.n_classes
    return np.where(model._state.right[: len(model.betas_)] > 0, 1 / (K - 1), -1 / (K - 1) ** 2)


SWITCHES = {
    "stochastic": ({}, {}),
    "seven examples apart": ({"period": 7}, {"p": 7}),
    "steps at additions": ({"period": 7, "update_every": "p"}, {"p": 7, "every_p": True}),
    # not 0.2: some errors are 0.2 up to rounding
    "no steps": ({"n_steps": 0, "eps_min": 0.137}, {"b": 0, "eps_min": 0.137}),
    "batch": ({"update": "batch"}, {"batch": True, "eta": 1e-3}),
    "log": ({"update": "batch", "gradient": "log", "eta": 0.02}, {"batch": True, "log": True, "eta": 0.02}),
    "no shrinkage": ({"eps_min": 0.05, "grad_cap": 3.0}, {"eps_min": 0.05, "cap": 3.0}),
    "literal": ({"scale": "literal"}, {"scale": 2}),
    "oldest": ({"remove": "oldest"}, {"oldest": True}),
    "large steps": ({"eta": 0.3}, {"eta": 0.3}),
    "three classes": ({"loss": "samme"}, {"n_classes": 3}),
    "three classes, batch": ({"update": "batch", "loss": "samme"}, {"n_classes": 3, "batch": True, "eta": 1e-3}),
    "an example drawn": ({"example": "random"}, {"draw": twins.splitmix}),
    "two at a time": ({"adds_per_event": 2, "period": 4}, {"adds": 2, "p": 4}),
    "Gaussian": ({"base": "gnb"}, {"fit": twins.gaussian, "eps_min": 0.3}),
    "Gaussian, three classes": (
        {"base": "gnb", "loss": "samme"},
        {"fit": twins.gaussian, "eps_min": 0.3, "n_classes": 3},
    ),
    "Bernoulli": ({"base": "bnb"}, {"fit": twins.bernoulli, "eps_min": 0.3}),
}


@pytest.mark.parametrize("count", [200, pytest.param(3000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("switch", SWITCHES)
def test_the_kernel_is_its_twin(switch, count):
    """Same predictions, same classifiers removed, same coefficients, through changes of concept."""
    keys, words = SWITCHES[switch]
    X, y = sea(count, classes=words.get("n_classes", 2), change=60 if count == 200 else 600)
    X -= 5.0  # a sign for the Bernoulli
    twin = twins.IBoost(**({"n": 30, "M": 8, "p": 1, "b": 3} | words))
    twin.draw = twin.draw and twin.draw(0)
    model = IBoostClassifier(**({"n_window": 30, "budget": 8, "n_steps": 3, "random_state": 0} | keys))
    expected = [twin.learn(x, t) for x, t in zip(X, y)]
    assert (model.test_then_train(X, y, classes=np.unique(y)) == expected).all()
    assert len(twin.removed) == model.n_removed_negative_ + model.n_removed_budget_ > 0
    assert [born for _, born, _ in twin.members] == model._state.born[: len(twin.members)].tolist()
    np.testing.assert_allclose(model.betas_, [b for b, _, _ in twin.members], rtol=1e-8)


@settings(max_examples=25)
@given(
    keys=st.fixed_dictionaries({
        "n_window": st.integers(1, 40), "budget": st.integers(1, 12), "period": st.integers(1, 5),
        "n_steps": st.integers(0, 4), "update": st.sampled_from(["stochastic", "batch"]),
        "base": st.sampled_from(["stump", "gnb", "bnb"]), "example": st.sampled_from(["newest", "random"]),
        "eta": st.sampled_from([None, 0.5]), "random_state": st.integers(0, 9), "loss": st.just("samme"),
    }),
    classes=st.sampled_from([2, 3]), chunks=st.lists(st.integers(1, 60), min_size=1, max_size=12),
)  # fmt: skip
def test_what_is_kept_is_what_would_be_computed(keys, classes, chunks):
    """Invariant 1: agreements exactly, margins to 1e-9, at most M classifiers, none with a negative coefficient; and
    chunks do not matter."""
    X, y = sea(sum(chunks), 1, classes, change=50)
    X = np.round(X - 5)  # ties, and a sign for the Bernoulli
    model, first = IBoostClassifier(**keys), 0
    for size in chunks:
        part = slice(first, first + size)
        model.partial_fit(X[part], y[part], classes=np.arange(classes))
        first += size
        state, n = model._state, keys["n_window"]
        if first < n:
            assert not len(model.betas_)
            continue
        newest = np.roll(np.arange(first - n, first), first % n)  # the example in each slot
        assert (X[newest] == state.columns.T).all() and (state.labels == y[newest]).all()
        if keys["base"] == "stump":
            assert (state.order == np.argsort(state.columns, axis=1, kind="stable")).all()
        assert ((answers(model) == state.labels) == (state.right[: len(model.betas_)] > 0)).all()
        assert len(model.betas_) <= keys["budget"] and (model.betas_ >= 0).all()
        if not state.counts[drift_iboost.DIRTY]:
            np.testing.assert_allclose(state.margins, model.betas_ @ codes_of(model), rtol=1e-9, atol=1e-9)
    assert (model.betas_ == IBoostClassifier(**keys).partial_fit(X, y, classes=np.arange(classes)).betas_).all()


def trained(classes=2, **keys):
    """A model in the middle of a stream, its margins up to date."""
    X, y = sea(300, 3, classes, change=100)
    model = IBoostClassifier(n_window=40, budget=6, loss="samme", **keys)
    model.partial_fit(X, y, classes=np.arange(classes))
    model._refresh()
    return model


def step_batch(model):
    """Steps (8) with the model's settings."""
    state, options = model._state, model._settings
    committee.step_batch(
        state.right, state.coefficients, state.counts[drift_iboost.SIZE], state.mass, options.middle, options.half,
        options.n_steps, options.eta, options.cap, options.log_gradient, np.empty(len(state.labels)),
    )  # fmt: skip


def tail_loss(margins, cap):
    """exp(-z) up to the weight ``cap``, its tangent beyond; log of the sum for ``cap=None``."""
    if cap is None:
        return np.log(np.exp(-margins).sum())
    knee = -np.log(cap)
    return np.where(margins >= knee, np.exp(-margins), cap * (1 + knee - margins)).sum()


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("cap", [1.0, 1e300, None])
def test_batch_steps_follow_the_gradient(classes, cap):
    model = trained(classes, update="batch")
    model._settings = model._settings._replace(
        eta=(classes - 1.0) ** 2, n_steps=1, cap=cap or np.inf, log_gradient=cap is None
    )
    codes, before = codes_of(model), model.betas_
    step_batch(model)
    moved = (model.betas_ - before) / (classes - 1) ** 2
    for j in range(len(before)):
        step = np.zeros(len(before))
        step[j] = 1e-6
        slope = (tail_loss((before + step) @ codes, cap) - tail_loss((before - step) @ codes, cap)) / 2e-6
        assert moved[j] == pytest.approx(-slope, rel=1e-6, abs=1e-7)


@pytest.mark.parametrize("base", ["stump", "gnb", "bnb"])
@pytest.mark.parametrize("classes", [2, 3])
def test_a_window_that_stands_still_is_adaboost_bit_for_bit(base, classes):
    rng = np.random.default_rng(6)
    X, y = rng.normal(size=(80, 4)), rng.integers(0, classes, 80)
    model = IBoostClassifier(80, 20, n_steps=0, eps_min=0.0, adds_per_event=20, base=base, loss="samme")
    model.partial_fit(X, y)
    adaboost = AdaBoostWindowClassifier(n_window=80, budget=20, base=base).partial_fit(X, y)
    m = len(adaboost.betas_)
    assert m > 2 and (model.betas_ == adaboost.betas_).all()
    assert (model._state.models[:m] == adaboost._models[:m]).all()


@pytest.mark.parametrize("base", ["stump", "gnb", "bnb"])
def test_degenerate_streams(base):
    """One class for long, duplicate rows, constant features, n = 1, M = 1, p beyond the end, a stream too short."""
    ones, zeros = np.ones((300, 2)), np.zeros(300, int)
    assert (IBoostClassifier(20, 5, base=base).fit(ones, zeros).predict(ones) == 0).all()
    late = np.r_[zeros, np.ones(100, int)]
    model = IBoostClassifier(20, 5, base=base).partial_fit(np.ones((400, 2)), late, classes=[0, 1])
    assert (model.predict(ones) == 1).all()
    X, y = sea(200)
    for keys in ({"n_window": 1}, {"budget": 1}, {"period": 1000}, {"n_window": 200}):
        model = IBoostClassifier(**({"n_window": 20, "budget": 5, "base": base} | keys)).partial_fit(X, y)
        assert np.isfinite(model.decision_function(X)).all() and len(model.betas_) >= 1
    short = IBoostClassifier(201, 5, base=base)
    assert (short.test_then_train(X, y) == 1).all() and not len(short.betas_)


@pytest.mark.parametrize("update", ["stochastic", "batch"])
def test_steps_without_bound_stay_finite_or_are_an_error_never_nan(update):
    X, y = sea(3000, change=300)
    literal = {"n_window": 50, "budget": 20, "grad_cap": None, "eps_min": 0.0, "update": update}
    model = IBoostClassifier(eta=1e-3, **literal).partial_fit(X, y)
    assert model.betas_.max() > 1e12 and np.isfinite(model.decision_function(X)).all()
    with pytest.raises(BoostrunError, match="no longer finite"):
        IBoostClassifier(eta=1e6, **literal).partial_fit(X, y)


@pytest.mark.slow
def test_levels_on_sea():
    """SEA without noise, M = n = 200, p = 1, b = 5, stumps: accuracies on the hold-outs as when the method was
    specified, where AdaBoost, which has no free choices, was measured at 94.7 and, for recovery, 93.0."""
    stream = draw({"name": "sea"}, Path("."), 0, 1)
    found = {
        name: follow(model, stream, every=20, first=200)
        for name, model in (
            ("stochastic", IBoostClassifier(200, 200)),
            ("batch", IBoostClassifier(200, 200, update="batch")),
            ("adaboost", AdaBoostWindowClassifier(200, 200, lazy=True)),  # exact at the checkpoints
        )
    }
    accuracy = {name: curve.stream_accuracy_pct() for name, curve in found.items()}
    assert accuracy["adaboost"] == pytest.approx(94.7, abs=1.0)
    assert accuracy["stochastic"] >= 96.5 and accuracy["batch"] >= 97.0
    assert min(accuracy["stochastic"], accuracy["batch"]) >= accuracy["adaboost"] + 1.5
    assert found["stochastic"].recovery_pct() > found["adaboost"].recovery_pct()


def test_a_naive_bayes_worse_than_chance_enters_with_its_answers_exchanged():
    """The second addition is to the weights after a naive Bayes: there the next errs on more than half of it."""
    rng = np.random.default_rng(2)
    X = np.round(rng.normal(size=(40, 2)))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    for base in ("gnb", "bnb"):
        keys = {"n_window": 40, "budget": 30, "base": base, "adds_per_event": 30, "eps_min": 0.0, "n_steps": 0}
        without = IBoostClassifier(**keys).partial_fit(X, y)
        flipped = IBoostClassifier(flip_bad=True, **keys).partial_fit(X, y)
        assert flipped.n_added_ > without.n_added_
        assert ((answers(flipped) == y) == (flipped._state.right[: len(flipped.betas_)] > 0)).all()
        assert (flipped.betas_ > 0).all() and (flipped.predict(X) == y).mean() >= (without.predict(X) == y).mean()


def test_one_vs_rest_is_an_iboost_of_two_classes_for_each():
    X, y = sea(500, classes=3, change=200)
    keys = {"n_window": 40, "budget": 10, "n_steps": 2}
    model = IBoostClassifier(multiclass="ovr", **keys)
    said = model.test_then_train(X, y, classes=[0, 1, 2])
    singles = [IBoostClassifier(**keys).partial_fit(X, (y == c).astype(int), classes=[0, 1]) for c in range(3)]
    scores = np.column_stack([single.decision_function(X) for single in singles])
    assert (model.decision_function(X) == scores).all() and (model.predict(X) == scores.argmax(axis=1)).all()
    assert (model.betas_ == np.concatenate([single.betas_ for single in singles])).all()
    assert (said[:40] == 0).all() and (said[100:200] == y[100:200]).mean() > 0.8
    two = IBoostClassifier(multiclass="ovr", **keys).partial_fit(X, y > 0)
    assert (two.betas_ == IBoostClassifier(**keys).partial_fit(X, y > 0).betas_).all()


def test_one_vs_rest_with_classes_that_come_later():
    """The window is kept: the next classifiers are fitted to all of it."""
    X, y = sea(400, classes=3, change=1000)
    late = IBoostClassifier(n_window=40, budget=10, multiclass="ovr").partial_fit(X[:200], np.minimum(y[:200], 1))
    late.partial_fit(X[200:201], [2]).partial_fit(X[201:202], [3])
    assert len(late._states) == 4 and (late.n_added_, late.n_seen_) == (3 + 4, 202)
    newest = np.concatenate([np.minimum(y[162:200], 1), [2, 3]])
    for c, state in enumerate(late._states):
        assert (np.roll(state.labels, -(202 % 40)) == (newest == c)).all()
    assert (late.test_then_train(X[202:], y[202:])[100:] == y[302:]).mean() > 0.8


COMMITTEES = [
    IBoostClassifier(30, 9, 1, 5),
    IBoostClassifier(30, 9, 2, 1, update="batch", base="gnb"),
    IBoostClassifier(30, 9, 1, 5, eta=0.3),  # loses members to negative coefficients
    pytest.param(AdaBoostWindowClassifier(30, 9), marks=pytest.mark.slow),
    FLBClassifier(30, 4),  # ties of an even vote
    pytest.param(OCBClassifier(30, 9), marks=pytest.mark.slow),
]


def drifting(n_classes, n=400, d=3):
    """Attributes with few values, so that stumps and scores are often equal, and a concept that turns round."""
    rng = np.random.default_rng(n_classes)
    X = rng.integers(0, 7, (n, d)).astype(float)
    y = (X[:, 0] + X[:, 1] > 6).astype(int) + (n_classes > 2) * (X[:, 2] > 3)
    y[n // 2 :] = n_classes - 1 - y[n // 2 :]
    return X, y, rng.integers(0, 7, (60, d)).astype(float)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("model", COMMITTEES, ids=lambda model: type(model).__name__)
def test_predictions_are_the_learners_own(model, n_classes):
    X, y, held = drifting(n_classes)
    learner, seen = type(model)(**model.get_params()), set()
    kept = learner.answers_on(held)
    for start in range(0, len(y), 5):
        learner.test_then_train(X[start : start + 5], y[start : start + 5], np.arange(n_classes))
        predicted = kept()
        np.testing.assert_array_equal(predicted, learner.predict(held))
        seen.add(tuple(predicted))
    assert len(seen) > 2


def test_a_score_of_zero_is_the_second_class_and_sums_keep_their_order():
    """1e16 - 1 - 1e16 is 0 from the left, and -1 in another order."""

    class Fixed:
        classes_ = np.array(["no", "yes"])

        def members(self):
            models = np.array([[0.0, -np.inf, c, c] for c in self.said])
            return CommitteeMembers(0, models, np.array([1e16, 1.0, 1e16]), 3, 2, True)

    fixed = Fixed()
    kept = HeldOut(fixed, np.zeros((1, 1)))
    for said, expected in ([1, 1, 0], "yes"), ([0, 0, 1], "yes"), ([0, 0, 0], "no"), ([1, 0, 0], "yes"):
        fixed.said = said
        assert (fixed.said, kept().tolist()) == (said, [expected])


def test_a_member_is_asked_once_wherever_it_moves(monkeypatch):
    asked = []
    respond = committee.respond_window
    monkeypatch.setattr(committee, "respond_window", lambda *given: (asked.append(1), respond(*given)))
    X, y, held = drifting(2)
    learner = IBoostClassifier(50, 9, 1, 5)
    kept = learner.answers_on(held)
    for start in range(len(y)):
        learner.test_then_train(X[start : start + 1], y[start : start + 1], [0, 1])
        kept()
    assert learner.n_removed_budget_ > 50  # each time the last member takes the row of the one that goes
    assert sum(asked) <= learner.n_added_


def test_a_learner_without_fixed_members_predicts_by_itself():
    class Unfixed(OnlineBoostClassifier):
        def members(self):
            return None

    X, y, held = drifting(2)
    learner = Unfixed(3, random_state=0).partial_fit(X, y)
    np.testing.assert_array_equal(HeldOut(learner, held)(), learner.predict(held))
