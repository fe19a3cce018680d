"""Bisc and Leistner: selectors over a shared pool of learners."""

import numpy as np
import pytest

from boostrun.errors import BoostrunError
from boostrun.papers.reservoir.online import Bisc, Leistner
from tests.marks import slow_after
from tests.reference.online import Selectors

pytestmark = pytest.mark.slow  # kernels that take long to compile

METHODS = {"bisc": Bisc, "leistner": Leistner}


def toy(n=250, d=30, seed=0, dtype=np.float64):
    rng = np.random.default_rng(seed)
    labels = np.where(rng.random(n) < 0.4, 1.0, -1.0)
    samples = rng.normal(100, 20, (n, d)) + 15 * labels[:, None] * (np.arange(d) % 3 == 0)
    return samples.clip(0, 255).astype(dtype), labels


@pytest.mark.parametrize(("dtype", "slack"), slow_after(1, [(np.float64, 1e-12), (np.float32, 1e-4)]))
@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize(("selectors", "pool", "every"), slow_after(1, [(5, 11, 1), (4, 4, 1), (30, 64, 3), (1, 1, 1)]))
def test_selectors_are_the_published_ones(name, selectors, pool, every, dtype, slack):
    samples, labels = toy(n=120)
    ours = METHODS[name](30, selectors, pool, rng=3, replace_every=every, dtype=dtype)
    twin = Selectors(ours.features, selectors, name == "leistner", slack)
    for x, y in zip(samples, labels):
        ours.partial_fit(x[None], [y])
        replaced = next(iter(np.flatnonzero(ours.counts.sum(0) == 0)), None)  # its counts start again
        assert (replaced is not None) == (pool > selectors and ours.seen % every == 0)
        fresh = None if replaced is None else ours.features[replaced]
        twin.learn(x, y, fresh, ours.chosen.tolist(), replaced)
        np.testing.assert_allclose(ours.errors, twin.errors, rtol=slack)
    assert (ours.features == twin.features).all()
    for (stump, coefficient), m, error in zip(ours.learners(), ours.chosen, ours.errors):
        assert coefficient == pytest.approx(max(0.0, 0.5 * np.log((1 - error) / error)), abs=1e-12)
        low, high = (np.mean(values) for values in twin.seen[m])
        assert stump.feature == twin.features[m] and stump.polarity == (1 if high > low else -1)
        assert stump.threshold == pytest.approx((low + high) / 2, rel=1e-12)


@pytest.mark.parametrize("name", METHODS)
def test_no_learner_serves_two_selectors_and_errors_and_coefficients_stay_in_range(name):
    samples, labels = toy(n=400, dtype=np.uint8)
    booster = METHODS[name](30, 20, rng=0)
    for part in np.split(np.arange(400), 80):
        booster.partial_fit(samples[part], labels[part])
        assert len(set(booster.chosen.tolist())) == 20
        assert ((booster.errors >= 0) & (booster.errors <= 1)).all()
        assert (booster.coefficients >= 0).all() and np.isfinite(booster.coefficients).all()
    assert (np.abs(booster._pooled[0] - booster._wrong[:, :40].sum(0, np.float64)) < 1e-2).all()
    assert (np.abs(booster._pooled[1] - booster._base[:, :40].sum(0, np.float64)) < 1e-2).all()


@pytest.mark.parametrize("name", METHODS)
def test_a_stream_cut_in_pieces_teaches_the_same_and_so_does_the_same_seed(name):
    samples, labels = toy()
    runs = []
    for cuts in ([], [], [0, 1, 3, 100, 101]):
        booster = METHODS[name](30, 10, rng=7)
        for part in np.split(np.arange(len(labels)), cuts):
            booster.partial_fit(samples[part], labels[part])
        runs.append(booster.learners())
    assert runs[0] == runs[1] == runs[2]
    assert runs[0] != METHODS[name](30, 10, rng=8).partial_fit(samples, labels).learners()


@pytest.mark.parametrize("name", METHODS)
def test_before_any_sample_and_on_a_single_class_nothing_is_claimed(name):
    booster = METHODS[name](3, 2, rng=0)
    assert [coefficient for _, coefficient in booster.learners()] == [0.0, 0.0]
    booster.partial_fit(np.arange(12).reshape(4, 3), np.ones(4))
    assert [coefficient for _, coefficient in booster.learners()] == [0.0, 0.0]
    constant = METHODS[name](3, 2, rng=0).partial_fit(np.zeros((6, 3), np.uint8), [1, -1] * 3)
    assert [coefficient for _, coefficient in constant.learners()] == [0.0, 0.0]


def test_fresh_features_find_what_the_pool_did_not_have():
    rng = np.random.default_rng(0)
    samples = rng.integers(0, 256, (6000, 300), dtype=np.uint8)
    samples[:, 17] = 0
    pools_without_it = (seed for seed in range(50) if 17 not in Bisc(300, 2, 6, rng=seed).features)
    samples[::2, 17] = 255
    labels = np.where(np.arange(6000) % 2 == 0, 1, -1)
    booster = Bisc(300, 2, 6, rng=next(pools_without_it)).partial_fit(samples, labels)
    assert 17 in [stump.feature for stump, _ in booster.learners()]


@pytest.mark.parametrize(("call", "words"), [
    (lambda: Bisc(5, 0), "n_selectors=0"), (lambda: Bisc(5, 4, 3), "pool_size=3"),
    (lambda: Bisc(5, 4, replace_every=0), "replace_every=0"),
    (lambda: Leistner(5, 2).partial_fit(np.zeros((2, 4)), [1, -1]), "4 features; the learners look at 5"),
    (lambda: Leistner(5, 2).partial_fit(np.zeros((2, 5)), [1, 2]), "-1 or \\+1"),
    (lambda: Bisc(1, 1).partial_fit(np.array([[np.inf]]), [1]), "finite"),
])  # fmt: skip
def test_bad_input_gets_a_sentence(call, words):
    with pytest.raises(BoostrunError, match=words):
        call()
