"""The reservoir loop: bounded memory, carried scores, strategies' distributions, continuation."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from boostrun.data.source import ArraySource
from boostrun.errors import BoostrunError
from boostrun.methods.stumps import StumpEnsemble, StumpLearner
from boostrun.methods.weak_learner import LOSSES
from boostrun.papers.reservoir import PAPER
from boostrun.papers.reservoir.classifier import LIMIT, RULES, Reservoir, ReservoirClassifier
from boostrun.papers.reservoir.strategies import Batch, Max, Rand, Window, WSam
from tests.reference.full_data import boosted_scores


def toy(n=300, d=12, classes=3, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, n)
    samples = np.clip(rng.normal(100 + 25 * y[:, None] * (np.arange(d) % 2), 40, (n, d)), 0, 255).astype(np.uint8)
    return samples, y


def batch_of(weights, arrived=None):
    n = len(weights)
    arrived = np.arange(n) if arrived is None else arrived
    return Batch(np.zeros((n, 1), np.uint8), np.ones(n), np.array(weights, float), arrived)


@pytest.mark.parametrize("strategy", PAPER.strategies)
def test_the_learner_never_holds_more_than_r_plus_q_samples_nor_sees_more_than_it_counts(strategy):
    samples, y = toy()
    r, q, rounds = 15, 7, 20
    seen = []

    class Spy(ArraySource):
        def open(self, capacity, stream=0):
            assert capacity == r + q and not any(f.held for f in seen)  # of all classes together
            filter_ = super().open(capacity, stream)
            seen.append(filter_)
            return filter_

    clf = ReservoirClassifier(strategy, reservoir_size=r, batch_size=q, n_estimators=rounds, random_state=0)
    clf.fit_source(Spy(samples, y, 1))
    assert clf.peak_samples_held_ == r + q
    assert [f.drawn for f in seen] == clf.samples_drawn_per_problem_ == [r + q + rounds * q] * 3
    assert [(f.held, f.peak_held) for f in seen] == [(0, r + q)] * 3
    clf.set_params(warm_start=True).fit(samples, y)
    assert clf.peak_samples_held_ == 3 * (r + q)  # which goes on with all of them


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("strategy", ["wsam", "geem"])
def test_carried_scores_equal_scores_recomputed_from_the_ensemble_to_the_last_bit(strategy, loss):
    samples, y = toy()
    clf = ReservoirClassifier(strategy, reservoir_size=20, n_estimators=25, loss=loss, warm_start=True, random_state=3)
    clf.fit(samples, y)
    for k, (reservoir, *_) in enumerate(clf._problems):
        recomputed = StumpEnsemble.of([reservoir.members.learners]).decision(reservoir.samples)[0]
        assert (reservoir.scores == recomputed).all(), k


@pytest.mark.parametrize(
    ("strategy", "keys"),
    [*((name, {}) for name in PAPER.strategies), ("geem", {"shared": True}), ("wsam", {"weak_learner": "tree"})],
)
def test_fitting_T_rounds_and_T_more_equals_fitting_2T(strategy, keys):
    samples, y = toy()
    parameters = {"reservoir_size": 20, "random_state": 5, **keys}
    once = ReservoirClassifier(strategy, n_estimators=16, **parameters).fit(samples, y)
    twice = ReservoirClassifier(strategy, n_estimators=8, warm_start=True, **parameters).fit(samples, y)
    twice.set_params(n_estimators=16).fit(samples, y)
    for name, array in arrays_of(once).items():
        assert (array == arrays_of(twice)[name]).all()
    with pytest.raises(BoostrunError, match="cannot take back"):
        twice.set_params(n_estimators=3).fit(samples, y)


def test_methods_with_one_filter_seed_draw_the_same_samples():
    samples, y = toy()
    draws = []
    for strategy in ("rand", "geem"):
        source = ArraySource(samples, y, 4)
        clf = ReservoirClassifier(strategy, reservoir_size=10, n_estimators=3, warm_start=True, random_state=1)
        clf.fit_source(source)
        again = source.open(10**6, stream=1)
        draws.append(again.draw(50)[0])
    assert (draws[0] == draws[1]).all()


@given(st.integers(0, 10**6), st.integers(1, 400))
@settings(max_examples=50, deadline=None)
def test_a_filter_hands_out_every_sample_once_a_pass(seed, n):
    source = ArraySource(np.arange(40)[:, None], np.arange(40) % 3, seed)
    filter_ = source.open(capacity=n)
    drawn = filter_.draw(n)[0][:, 0]
    assert filter_.drawn == filter_.peak_held == n
    for start in range(0, n - 39, 40):
        assert sorted(drawn[start : start + 40]) == list(range(40))


@given(st.integers(0, 10**6), st.integers(1, 60), st.integers(1, 4))
@settings(max_examples=50, deadline=None)
def test_a_balanced_draw_is_half_positive_and_counts_what_it_passed_over(seed, n, batches):
    y = (np.arange(50) < 5).astype(int)
    filter_ = ArraySource(np.arange(50)[:, None], y, seed).open(capacity=n * batches)
    plain = ArraySource(np.arange(50)[:, None], y, seed).open(capacity=10**9)
    taken = np.concatenate([filter_.draw_balanced(n, 1)[1] for _ in range(batches)])
    assert taken.sum() == batches * ((n + 1) // 2) and len(taken) == n * batches
    # the last sample counted is the one that filled the last place
    stream = plain.draw(filter_.drawn)[1]
    assert filter_.drawn >= n * batches and (stream == 1).sum() >= taken.sum()


def test_a_balanced_filter_without_a_positive_sample_says_so():
    filter_ = ArraySource(np.zeros((9, 1)), np.zeros(9, int), 0).open(capacity=4)
    with pytest.raises(BoostrunError, match="inside and outside class 1"):
        filter_.draw_balanced(4, 1)


def test_wsam_includes_samples_as_often_as_successive_sampling_does():
    weights, r, n = np.array([0.5, 0.1, 0.25, 0.15, 0.0]), 2, 40000
    expected = np.zeros(5)
    for first, second in itertools.permutations(range(5), 2):  # exact enumeration of both draws
        p = weights[first] * weights[second] / (1 - weights[first])
        expected[[first, second]] += p
    rng = np.random.default_rng(0)
    counts = np.zeros(5)
    for _ in range(n):
        counts[WSam()(batch_of(weights), r, rng)[0]] += 1
    np.testing.assert_allclose(counts / n, expected, atol=4 * np.sqrt(0.25 / n))
    assert counts[4] == 0


def test_wsam_keeps_r_samples_when_all_weights_are_zero():
    kept, weights = WSam("w")(batch_of(np.zeros(6)), 3, np.random.default_rng(0))
    assert len(set(kept)) == 3 and weights.tolist() == [0.0] * 3


def test_max_keeps_the_largest_and_window_the_newest_and_rand_each_alike():
    weights = [0.3, 0.9, 0.1, 0.9, 0.5]
    assert Max()(batch_of(weights), 2, None)[0].tolist() == [1, 3]
    arrived = np.array([0, 3, 1, 0, 2])
    assert Window()(batch_of(weights, arrived), 2, None)[0].tolist() == [1, 4]
    rng = np.random.default_rng(0)
    counts = np.bincount(np.concatenate([Rand()(batch_of(weights), 2, rng)[0] for _ in range(5000)]), minlength=5)
    np.testing.assert_allclose(counts / 5000, 0.4, atol=0.03)


@pytest.mark.parametrize("rule", RULES)
@given(seed=st.integers(0, 10**6))
@settings(max_examples=40, deadline=None)
def test_steps_are_finite_and_bounded_and_point_along_the_edge(rule, seed):
    rng = np.random.default_rng(seed)
    agreement = rng.choice([-1.0, 1.0], 20)
    margins, weights = rng.normal(0, 3, 20), rng.random(20)
    step = RULES[rule](agreement, margins, weights, LOSSES["logistic"])
    assert abs(step) <= LIMIT + 1e-12
    edge = float(agreement @ weights)
    assert step * edge >= 0.0 or rule == "line_search"


def test_line_search_minimises_the_corrected_loss():
    rng = np.random.default_rng(0)
    loss = LOSSES["logistic"]
    agreement, margins = rng.choice([-1.0, 1.0], 50, p=[0.3, 0.7]), rng.normal(0, 1, 50)
    weights = loss.weights(margins) * rng.random(50)
    step = RULES["line_search"](agreement, margins, weights, loss)
    stands_for = weights / loss.weights(margins)

    def objective(a):
        return float(stands_for @ loss.value(margins + a * agreement))

    grid = np.linspace(-3, 3, 2001)
    assert objective(step) <= min(map(objective, grid)) + 1e-9


def test_log_odds_is_the_exponential_losss_line_search():
    rng = np.random.default_rng(1)
    agreement, margins = rng.choice([-1.0, 1.0], 30), rng.normal(size=30)
    loss = LOSSES["exponential"]
    weights = loss.weights(margins)
    a = RULES["log_odds"](agreement, margins, weights, loss)
    assert RULES["line_search"](agreement, margins, weights, loss) == pytest.approx(a, abs=1e-6)


@pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
def test_weights_and_curvature_are_the_losss_derivatives(loss):
    margins, h = np.linspace(-4, 4, 17), 1e-5
    slope = (loss.value(margins + h) - loss.value(margins - h)) / (2 * h)
    np.testing.assert_allclose(loss.weights(margins), -slope, rtol=1e-6)
    bend = (loss.weights(margins - h) - loss.weights(margins + h)) / (2 * h)
    np.testing.assert_allclose(loss.bend(margins) * loss.weights(margins), bend, rtol=1e-6)
    moved = margins[::-1]
    np.testing.assert_allclose(loss.weight_ratio(margins, moved), loss.weights(moved) / loss.weights(margins))
    extreme = np.array([-1e6, 1e6])
    assert np.isfinite(loss.value(extreme)).all() and np.isfinite(loss.weights(extreme)).all()


def test_masses_sum_to_r_and_fresh_samples_weigh_one():
    samples, y = toy()
    clf = ReservoirClassifier("geem", reservoir_size=20, batch_size=10, n_estimators=9, warm_start=True, random_state=0)
    clf.fit(samples, (y == 1).astype(int))
    reservoir: Reservoir = clf._problems[0][0]
    fresh = reservoir.arrived == 9
    assert fresh.sum() == 10 and (reservoir.masses[fresh] == 1.0).all()
    assert reservoir.masses[~fresh].sum() == pytest.approx(20)


def test_a_small_case_of_the_loop_by_hand():
    """Two rounds with r = 2, q = 1 and the strategy Max, every number worked out from the definitions."""
    stream = iter([([[10], [20], [30]], [-1.0, 1.0, 1.0]), ([[40]], [-1.0]), ([[5]], [-1.0])])
    released = []

    class Draws:
        drawn = 0
        release = staticmethod(released.append)

        def draw(self, n):
            samples, labels = next(stream)
            assert len(labels) == n
            self.drawn += n
            return np.array(samples, np.uint8), np.array(labels)

    reservoir = Reservoir(Draws(), 2, 1, LOSSES["logistic"], StumpLearner())
    reservoir.boost(2, Max(), RULES["log_odds"], 1.0, np.random.default_rng(0))
    (first, step1), (second, step2) = reservoir.members.learners
    # all weights are 1/2: the first two samples stay; the stump at 15 tells them apart without error
    assert first == (0, 15.0, 1) and step1 == pytest.approx(LIMIT)
    # now 10 and 20 have the margin L = 3.45 and the fresh 40 (label -1, score L) has -L: 40 and 10 stay, the first of
    # the two equal ones; no threshold serves both, so the lighter one is wrong: the odds are exp(L), the step L / 2
    assert reservoir.drawn == [4, 5] and len(reservoir.seconds) == 2
    assert second == (0, 25.0, -1) and step2 == pytest.approx(LIMIT / 2) and released == [1, 1]


def arrays_of(model):
    """All that was learnt."""
    return {name: value for name, value in vars(model.ensemble_).items() if isinstance(value, np.ndarray)}


def test_histogram_and_exact_search_give_the_same_ensemble_on_8_bit_data():
    one, other = (
        ReservoirClassifier("wsam", stump_search=search, reservoir_size=30, n_estimators=10, random_state=2).fit(*toy())
        for search in ("histogram", "exact")
    )
    assert all((array == arrays_of(other)[name]).all() for name, array in arrays_of(one).items())


def test_the_method_is_adaboost_when_the_reservoir_holds_everything():
    """A window over whole passes, the exponential loss and full steps: Freund and Schapire's algorithm, to rounding."""
    rng = np.random.default_rng(0)
    X, test = (rng.integers(0, 256, (n, 4)).astype(np.float64) for n in (60, 40))
    y = (X[:, 0] + X[:, 1] > 256).astype(int)
    ours = ReservoirClassifier(
        "window", reservoir_size=60, batch_size=60, n_estimators=12, loss="exponential", shrinkage=1.0,
        stump_search="exact", random_state=0,
    ).fit(X, y)  # fmt: skip
    expected = boosted_scores(X, 2 * y - 1, 12, test, "exponential", 1.0)
    np.testing.assert_allclose(ours.decision_function(test), expected, rtol=1e-9)


def test_balanced_draws_help_rare_classes(digits):
    X, y = digits
    source = ArraySource(X, (y == 3).astype(int), 0)
    plain, balanced = (
        ReservoirClassifier("rand", balanced=b, reservoir_size=30, n_estimators=10, random_state=0).fit_source(source)
        for b in (False, True)
    )
    assert plain.samples_drawn_ == 30 + 30 + 10 * 30 < balanced.samples_drawn_
    found = [clf.ensemble_.decision(X)[0][y == 3] > 0 for clf in (plain, balanced)]
    assert found[1].mean() > found[0].mean()


@pytest.mark.slow
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("rule", RULES)
def test_many_rounds_on_separable_data_stay_finite(loss, rule):
    X, y = np.repeat(np.array([[0], [255]], np.uint8), 30, axis=0), np.repeat([0, 1], 30)
    for strategy in PAPER.strategies:
        clf = ReservoirClassifier(
            strategy, reservoir_size=10, n_estimators=400, loss=loss, coefficient=rule, shrinkage=1.0, random_state=0
        ).fit(X, y)
        assert np.isfinite(clf.ensemble_.coefficients).all() and clf.score(X, y) == 1.0


def test_a_damaged_or_pickled_model_is_one_sentence(tmp_path):
    (tmp_path / "torn.npz").write_bytes(b"PK\x03\x04 nonsense")
    np.savez(tmp_path / "evil.npz", format=np.array([object()], dtype=object))
    np.savez(tmp_path / "other.npz", a=np.zeros(3))
    for name in ("torn", "evil", "other"):
        with pytest.raises(BoostrunError, match="not an ensemble"):
            ReservoirClassifier.load(tmp_path / f"{name}.npz")
    with pytest.raises(BoostrunError, match="no ensemble at"):
        StumpEnsemble.load(tmp_path / "absent.npz")
    with pytest.raises(BoostrunError, match="cannot write"):
        StumpEnsemble.of([]).save(tmp_path / "no" / "folder.npz")
