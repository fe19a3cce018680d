"""Oza, OSBoost and OCP: coefficients of stumps that are given."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from boostrun.errors import BoostrunError
from boostrun.methods.stumps import Stump
from boostrun.papers.reservoir.online import OCP, OSBoost, Oza
from tests.reference import online as twins

BOOSTERS = {"oza": Oza, "osboost": OSBoost, "ocp": OCP}


def toy(n=300, d=8, stumps=12, seed=0, dtype=np.uint8):
    rng = np.random.default_rng(seed)
    samples = rng.integers(0, 256, (n, d)).astype(dtype)
    labels = np.where(samples[:, :3].sum(1) + rng.normal(0, 60, n) > 380, 1.0, -1.0)
    some = [Stump(int(rng.integers(d)), float(rng.integers(1, 255)), int(rng.choice((-1, 1)))) for _ in range(stumps)]
    return samples, labels, some, np.column_stack([stump(samples) for stump in some])


@pytest.mark.parametrize("dtype", [np.uint8, np.float32, np.float64])
def test_ozas_counts_are_the_published_ones(dtype):
    samples, labels, stumps, votes = toy(dtype=dtype)
    booster = Oza(stumps).partial_fit(samples, labels)
    right, wrong = twins.oza(votes, labels)
    np.testing.assert_allclose(booster.right, right, rtol=1e-12)
    np.testing.assert_allclose(booster.wrong, wrong, rtol=1e-12)
    errors = (wrong / (right + wrong)).clip(1e-3, 1 - 1e-3)
    np.testing.assert_allclose(booster.coefficients, 0.5 * np.log((1 - errors) / errors), rtol=1e-12, atol=1e-12)


def test_oza_keeps_the_weights_that_river_keeps():
    """River's counts are ours. Its vote differs: log-odds twice ours, but 1 where e is 0 or above 1/2; we keep the sign
    of the log-odds there, as the paper's vote has it."""
    ensemble = pytest.importorskip("river.ensemble")
    base = pytest.importorskip("river.base")
    samples, labels, stumps, _ = toy(n=200)
    queue = iter(stumps)

    class Given(base.Classifier):
        """Each copy that river makes takes the next stump."""

        def __init__(self):
            self.stump = next(queue, None)

        def learn_one(self, x, y):
            pass

        def predict_proba_one(self, x):
            positive = (1 if x[self.stump.feature] >= self.stump.threshold else -1) == self.stump.polarity
            return {1: float(positive), -1: float(not positive)}

    river = ensemble.AdaBoostClassifier(Given(), n_models=len(stumps), seed=0)
    order = [model.stump for model in river]
    assert None not in order[:-1]
    for model, stump in zip(river, stumps):
        model.stump = stump
    for x, y in zip(samples, labels):
        river.learn_one(dict(enumerate(x.tolist())), int(y))
    booster = Oza(stumps).partial_fit(samples, labels)
    np.testing.assert_allclose(booster.right, [river.correct_weight[t] for t in range(len(stumps))], rtol=1e-12)
    np.testing.assert_allclose(booster.wrong, [river.wrong_weight[t] for t in range(len(stumps))], rtol=1e-12)


@given(st.integers(1, 400), st.booleans())
@settings(max_examples=20, deadline=None)
def test_ozas_coefficients_are_finite_even_where_weights_underflow(repeats, right):
    samples = np.full((3, 1), 9, np.uint8)
    stumps = [Stump(0, 5.0, 1 if right else -1)] * repeats * 4
    coefficients = Oza(stumps).partial_fit(samples, np.ones(3)).coefficients
    assert np.isfinite(coefficients).all()
    assert (coefficients[:50] > 0).all() == right


@given(st.floats(0.01, 0.9), st.integers(0, 10**6))
@settings(max_examples=25, deadline=None)
def test_osboosts_weights_are_the_published_ones_and_lie_in_0_1(gamma, seed):
    samples, labels, stumps, votes = toy(n=40, seed=seed)
    booster = OSBoost(stumps, gamma).partial_fit(samples, labels)
    weights = twins.osboost_weights(votes, labels, gamma)
    assert (weights > 0).all() and (weights <= 1).all() and (weights[:, 0] == 1).all()
    np.testing.assert_allclose(booster.met, weights.sum(0), rtol=1e-12)
    np.testing.assert_allclose(booster.edges, (weights * votes * labels[:, None]).sum(0), rtol=1e-10, atol=1e-12)
    assert (booster.coefficients == 1).all()


@pytest.mark.parametrize("rate", [0.1, 1.0, 10.0])
def test_ocps_coefficients_are_projected_gradient_steps_and_stay_on_the_simplex(rate):
    samples, labels, stumps, votes = toy()
    booster = OCP(stumps, learning_rate=rate)
    for part in np.array_split(np.arange(len(labels)), 7):
        booster.partial_fit(samples[part], labels[part])
        assert booster.coefficients.sum() == pytest.approx(1.0, abs=1e-12) and (booster.coefficients >= 0).all()
    np.testing.assert_allclose(booster.coefficients, twins.ocp(votes, labels, 0.1 / 2.1, rate), atol=1e-12)


@pytest.mark.parametrize("name", BOOSTERS)
def test_a_stream_cut_in_pieces_teaches_the_same(name):
    samples, labels, stumps, _ = toy()
    whole = BOOSTERS[name](stumps).partial_fit(samples, labels)
    pieces = BOOSTERS[name](stumps)
    for part in np.split(np.arange(len(labels)), [0, 1, 17, 200]):
        pieces.partial_fit(samples[part], labels[part])
    assert whole.learners() == pieces.learners() and whole.seen == pieces.seen == len(labels)


@pytest.mark.parametrize(("call", "words"), [
    (lambda: Oza([]), "at least one stump"), (lambda: OSBoost([Stump(0, 1.0, 1)], gamma=0.0), "gamma=0.0"),
    (lambda: OCP([Stump(0, 1.0, 1)], learning_rate=-1), "learning_rate=-1"),
    (lambda: Oza([Stump(3, 1.0, 1)]).partial_fit(np.zeros((2, 3)), [1, -1]), "3 features; the learners look at 4"),
    (lambda: Oza([Stump(0, 1.0, 1)]).partial_fit(np.zeros((2, 3)), [1, 0]), "-1 or \\+1"),
    (lambda: Oza([Stump(0, 1.0, 1)]).partial_fit(np.zeros((2, 3)), [1]), "\\(2, 3\\) and \\(1,\\)"),
    (lambda: Oza([Stump(0, 1.0, 1)]).partial_fit(np.full((1, 1), np.nan), [1]), "finite"),
])  # fmt: skip
def test_bad_input_gets_a_sentence(call, words):
    with pytest.raises(BoostrunError, match=words):
        call()
