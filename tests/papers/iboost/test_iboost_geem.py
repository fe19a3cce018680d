"""IBoost on a memory that GEEM chooses: against its twin, and what the memory holds."""

import pickle

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from boostrun import IBoostGeemClassifier
from boostrun.errors import BoostrunError
from tests.papers.iboost.test_iboost_adwin import jumps
from tests.reference.iboost import IBoostGeem

pytestmark = pytest.mark.slow  # kernels that take long to compile; other tests ask what all learners must do

SMALL = {"n_window": 20, "budget": 6, "n_steps": 2, "batch_size": 5, "half_life": 30}


@pytest.mark.parametrize(
    ("keys", "words"), [({}, {}), ({"update": "batch", "period": 3}, {"batch": True, "eta": 1e-3, "p": 3})]
)
def test_it_is_its_twin(keys, words):
    X, y = jumps(160, 60)
    twin = IBoostGeem(**({"n": 20, "M": 6, "p": 1, "b": 2, "q": 5, "half_life": 30} | words))
    model = IBoostGeemClassifier(**(SMALL | keys))
    assert (model.test_then_train(X, y) == [twin.learn(x, t) for x, t in zip(X, y)]).all()
    np.testing.assert_allclose(model.betas_, [b for b, _, _ in twin.members], rtol=1e-8)
    np.testing.assert_allclose(model._state.mass, twin.mass)


@pytest.mark.parametrize("classes", [2, 3])
def test_it_holds_n_examples_of_the_stream_and_newcomers(classes):
    """Whatever the chunks: they make no difference, nor does a copy that goes on."""
    X, y = jumps(300, 100, classes=classes)
    whole, parts = (IBoostGeemClassifier(**SMALL) for _ in range(2))
    said = whole.test_then_train(X, y)
    pieces = []
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
    """A concept that is gone leaves the memory; without fading some of its examples stay, and count in full."""
    X, y = jumps(1500, 10_000)
    y[500:] = 1 - y[500:]
    fading, lasting = (
        IBoostGeemClassifier(**(SMALL | {"half_life": half})).partial_fit(X, y) for half in (20, 1e300)
    )  # fmt: skip
    oldest = []
    for state in (fading._state, lasting._state):
        held = state.columns.T[state.mass > 0]
        oldest.append(min(np.flatnonzero((x == X).all(axis=1))[0] for x in held))
    assert oldest[0] >= 500 > oldest[1] and set(lasting._state.mass) == {0.0, 1.0}
    assert (fading.test_then_train(X[500:], y[500:]) == y[500:]).mean() > 0.85


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"batch_size": 0}, "batch_size=0"),
        ({"half_life": 0.0}, "half_life=0.0"),
        ({"ridge": 0.0}, "ridge=0.0"),
        ({"covariance_dims": "some"}, "covariance_dims='some'"),
    ],
)
def test_bad_parameters_get_a_sentence(parameters, words):
    with pytest.raises(BoostrunError, match=words):
        IBoostGeemClassifier(**parameters).fit(*jumps(30, 30))


@pytest.mark.slow
@parametrize_with_checks([IBoostGeemClassifier(**SMALL), IBoostGeemClassifier(base="gnb", **SMALL)])
def test_scikit_learns_checks(estimator, check):
    check(estimator)
