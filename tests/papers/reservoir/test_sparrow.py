"""Sparrow: the size that counts, acceptance in proportion to weight, when a sample is replaced, and its plain loop."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from boostrun.data.source import ArraySource
from boostrun.errors import BoostrunError
from boostrun.methods.stumps import find_stump
from boostrun.methods.weak_learner import LOSSES
from boostrun.papers.reservoir.sparrow import SparrowClassifier, effective, systematic

SIZES = {"reservoir_size": 60, "n_estimators": 30, "random_state": 0}
# none so small that its square is no normal number
WEIGHTS = arrays(float, st.integers(1, 40), elements=st.one_of(st.just(0.0), st.floats(1e-100, 5.0)))


def source(classes=2):
    rng = np.random.default_rng(1)
    samples = rng.integers(0, 256, (600, 8)).astype(np.uint8)
    value = samples[:, 1] + samples[:, 5] + rng.normal(0.0, 20.0, 600)
    labels = np.digitize(value, [255] if classes == 2 else [180, 330])
    return ArraySource(samples, labels, seed=0)


@given(WEIGHTS, st.floats(0.01, 100.0))
def test_the_effective_size_is_that_of_equal_weights_and_knows_no_scale(weights, scale):
    size = effective(weights)
    assert 0.0 <= size <= len(weights) * (1 + 1e-12)
    assert effective(scale * weights) == pytest.approx(size)
    assert effective(np.ones(len(weights))) == len(weights)


@given(WEIGHTS, st.floats(0.0, 1.0, exclude_max=True), st.integers(0, 40))
def test_counts_differ_from_chances_by_less_than_one_and_do_not_depend_on_batches(chances, start, cut):
    copies, then = systematic(chances, start)
    assert (np.abs(copies - chances) < 1.0 + 1e-9).all() and abs(copies.sum() - chances.sum()) < 1.0 + 1e-9
    first, middle = systematic(chances[:cut], start)
    second, end = systematic(chances[cut:], middle)
    sums = start + np.cumsum(chances)
    if (np.abs(sums - np.round(sums)) > 1e-6).all():  # else a rounding may move a count to the next sample
        np.testing.assert_array_equal(np.concatenate([first, second]), copies)
        assert end == pytest.approx(then, abs=1e-9)


def test_a_sample_is_accepted_as_often_as_its_chance_says():
    chances, rng = np.array([0.05, 0.7, 1.3, 0.2]), np.random.default_rng(0)
    counts = np.mean([systematic(chances, rng.random())[0] for _ in range(4000)], axis=0)
    np.testing.assert_allclose(counts, chances, atol=0.03)


def plain(model, source, entropy_of):
    """The loop for two classes in few lines; every sample accepted is drawn and scored by the whole ensemble."""
    r, q = model.reservoir_size, model.batch_size or model.reservoir_size
    draws = source.open(capacity=r + q, stream=0)
    rng = np.random.default_rng(np.random.SeedSequence(entropy_of).spawn(2)[1].spawn(1)[0])
    loss, learned, numbers = LOSSES[model.loss], [], []
    X, y, at = np.empty((0, 8)), np.empty(0), np.empty(0)
    score = lambda samples: sum((a * h(samples) for h, a in learned), np.zeros(len(samples)))  # noqa: E731
    for _ in range(model.n_estimators):
        v = loss.weights(y * score(X)) / at
        if not len(X) or v.sum() ** 2 < model.ess * len(v) * (v @ v):
            draws.release(len(set(numbers)))
            rows, position, top, batches = [], rng.random(), None, 0
            while len(rows) < r:
                fresh, labels = draws.draw(q)
                signs = np.where(labels == 1, 1.0, -1.0)
                w = loss.weights(signs * score(fresh))
                top = top or w.max()
                for i in range(q):
                    position += w[i] / top
                    while position >= 1.0:
                        rows.append((fresh[i], signs[i], w[i], (batches, i)))
                        position -= 1.0
                batches += 1
                draws.release(q - len({row[3] for row in rows[:r] if row[3][0] == batches - 1}))
            X, y, at, numbers = (list(part) for part in zip(*rows[:r]))
            X, y, at = np.array(X), np.array(y), np.array(at)
            v = loss.weights(y * score(X)) / at
        stump, _ = find_stump(X, v * y)
        error = v[stump(X) != y].sum() / v.sum()
        error = min(max(error, 1e-3), 1 - 1e-3)
        learned.append((stump, model.shrinkage * 0.5 * np.log((1 - error) / error)))
    return learned, draws.drawn


@pytest.mark.parametrize("loss", ["logistic", "exponential"])
@pytest.mark.parametrize("ess", [0.3, 0.9, 1.0])
def test_it_is_the_plain_loop(loss, ess):
    model = SparrowClassifier(ess=ess, loss=loss, **SIZES).fit_source(source())
    learned, drawn = plain(model, source(), model._entropy())
    ensemble = model.ensemble_
    assert ensemble.features[0].tolist() == [stump.feature for stump, _ in learned]
    np.testing.assert_allclose(ensemble.coefficients[0] * ensemble.polarities[0],
                               [step * stump.polarity for stump, step in learned], rtol=1e-9)  # fmt: skip
    assert model.samples_drawn_ == drawn and model.peak_samples_held_ <= 120


@pytest.mark.parametrize("learner", ["stump", "tree"])
@pytest.mark.parametrize("classes", [2, 3])
def test_it_draws_less_the_smaller_a_sample_may_count(classes, learner):
    counts = []
    for ess in (0.1, 0.8, 1.0):
        model = SparrowClassifier(ess=ess, weak_learner=learner, **SIZES).fit_source(source(classes))
        counts.append((model.replacements_, model.samples_drawn_))
        assert model.staged_samples_drawn_[-1] == model.samples_drawn_ and model.peak_samples_held_ <= 120
        assert len(np.unique(model.staged_samples_drawn_)) == model.replacements_
    assert counts == sorted(counts) and counts[-1][0] == 30


def test_a_replacement_ends_at_the_limit_with_fewer_samples():
    model = SparrowClassifier(ess=1.0, max_rejections=1, loss="exponential", **SIZES).fit_source(source())
    assert model.samples_drawn_ <= 30 * 3 * 60


def test_labels_of_weight_zero_change_nothing():
    samples, labels = source().samples.astype(float), source().labels
    weights = (samples[:, 2] < 128).astype(float)
    one, other = (
        SparrowClassifier(**SIZES).fit(samples, np.where(weights > 0.0, labels, given), weights).ensemble_
        for given in (labels, 1 - labels)
    )
    np.testing.assert_array_equal(one.coefficients, other.coefficients)
    np.testing.assert_array_equal(one.features, other.features)


def test_more_rounds_go_on_from_the_sample():
    whole = SparrowClassifier(**SIZES).fit_source(source())
    parts = SparrowClassifier(warm_start=True, **{**SIZES, "n_estimators": 12}).fit_source(source())
    parts.set_params(n_estimators=30).fit_source(source())
    np.testing.assert_array_equal(parts.ensemble_.coefficients, whole.ensemble_.coefficients)


def test_a_share_that_is_none_is_refused():
    with pytest.raises(BoostrunError, match="ess"):
        SparrowClassifier(ess=1.5).fit(np.ones((9, 2)), np.arange(9) % 2)
