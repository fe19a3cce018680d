"""IBoost with ADWIN: against its twin, against plain IBoost, and what it is for."""

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from boostrun import IBoostAdwinClassifier, IBoostClassifier
from boostrun.errors import BoostrunError
from tests.reference.iboost import IBoostAdwin


def jumps(count, every, seed=0, classes=2):
    """Examples of one threshold, then of one far away, and back again, ``every`` examples each."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(0, 10, (count, 3))
    y = (X[:, 0] + X[:, 1] > np.where(np.arange(count) // every % 2 == 0, 8.0, 13.0)).astype(int)
    return X, y if classes == 2 else y + (X[:, 0] > 6)


SWITCHES = {
    "stochastic": ({}, {}),
    "batch": ({"update": "batch", "period": 5}, {"batch": True, "eta": 1e-3, "p": 5}),
    "log": ({"update": "batch", "gradient": "log", "eta": 0.02}, {"batch": True, "log": True, "eta": 0.02}),
    "three classes": (
        {"n_steps": 0, "eps_min": 0.137, "delta": 0.9},
        {"n_classes": 3, "b": 0, "eps_min": 0.137, "delta": 0.9},
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("switch", SWITCHES)
def test_the_kernel_is_its_twin(switch):
    keys, words = SWITCHES[switch]
    X, y = jumps(200, 1000, classes=words.get("n_classes", 2))
    y[110:] = y.max() - y[110:]
    ours = {"n_window": 50, "n_least": 20, "budget": 5, "n_steps": 2, "delta": 0.2} | keys
    twin = IBoostAdwin(**({"n": 50, "M": 5, "p": 1, "b": 2, "n_least": 20, "delta": 0.2} | words))
    model = IBoostAdwinClassifier(**ours)
    assert (model.test_then_train(X, y, classes=np.unique(y)) == [twin.learn(x, t) for x, t in zip(X, y)]).all()
    np.testing.assert_allclose(model.betas_, [b for b, _, _ in twin.members], rtol=1e-8)
    assert (model._state.mass == twin.mass).all() and model.n_active_ == twin.mass.sum()
    assert model.n_removed_wrong_ == twin.pruned > 0 and model.n_detections_ > 0


def test_without_a_detection_it_is_plain_iboost():
    X, y = jumps(1500, 10_000)
    plain, adaptive = (cls(150, 20).partial_fit(X, y) for cls in (IBoostClassifier, IBoostAdwinClassifier))
    assert adaptive.n_detections_ == 0 and (plain.betas_ == adaptive.betas_).all()
    assert adaptive.n_active_ == 150


@pytest.mark.parametrize("update", ["stochastic", "batch"])
def test_after_a_jump_it_recovers_faster_and_without_one_it_loses_nothing(update):
    """Over several streams; the window holds 600 examples, as many as the paper gives for a recovery."""
    keys = {"n_window": 600, "budget": 20, "period": 10, "update": update}
    gains, losses = [], []
    for seed in range(2):
        X, y = jumps(3200, 1600, seed)
        plain, adaptive = (
            cls(**keys).test_then_train(X, y) == y for cls in (IBoostClassifier, IBoostAdwinClassifier)
        )  # fmt: skip
        gains.append(adaptive[1600:2200].mean() - plain[1600:2200].mean())
        losses.append(plain[600:1600].mean() - adaptive[600:1600].mean())
    assert np.mean(gains) > 0.02 and max(losses) < 0.01


def test_the_window_shrinks_and_grows_again():
    X, y = jumps(3000, 1500)
    model = IBoostAdwinClassifier(500, 20, n_least=30).partial_fit(X[:1500], y[:1500])
    assert model.n_active_ == 500
    active = [model.partial_fit(X[i : i + 10], y[i : i + 10]).n_active_ for i in range(1500, 3000, 10)]
    steps = np.diff(active)
    assert min(active) < 250 and active[-1] == 500 and set(steps[(steps > 0) & (np.array(active[1:]) < 500)]) == {10}


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"n_least": 0}, "n_least=0"),
        ({"delta": 1.0}, "delta=1.0"),
        ({"eta": -1.0}, "eta=-1.0"),
    ],
)
def test_bad_parameters_get_a_sentence(parameters, words):
    with pytest.raises(BoostrunError, match=words):
        IBoostAdwinClassifier(**parameters).fit(*jumps(30, 30))


@pytest.mark.slow
@parametrize_with_checks([
    IBoostAdwinClassifier(20, 10, n_least=5), IBoostAdwinClassifier(20, 10, n_least=5, base="gnb"),
])  # fmt: skip
def test_scikit_learns_checks(estimator, check):
    check(estimator)
