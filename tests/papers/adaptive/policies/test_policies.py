"""Each policy against its definition: on a board of known edges, where what it must choose can be counted out."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from boostrun.data.source import ArraySource
from boostrun.errors import BoostrunError
from boostrun.methods.declaration import obtain
from boostrun.papers.adaptive import POLICIES
from boostrun.papers.adaptive.adaboost_mh import Board
from boostrun.papers.adaptive.classifier import AdaBoostMHClassifier
from boostrun.papers.adaptive.policies import (
    UCB,
    BestFamily,
    EpsGreedy,
    Exp3P,
    FixedSample,
    Tasting1Q,
    TastingQ1,
    Uniform1Q,
    UniformNaive,
    random_argmax,
)
from boostrun.papers.adaptive.policies.laminating import laminate
from boostrun.papers.adaptive.policies.tasting import rank_weights

NAMES = ("left", "middle", "right")


class KnownBoard(Board):
    """100 samples, and features whose edges are known: given ones, family by family."""

    def __init__(self, edges, seed=0, budget=10**6):
        self.known = np.concatenate(edges)
        stops = np.cumsum([len(family) for family in edges])
        families = [(name, int(stop) - len(family), int(stop)) for name, family, stop in zip(NAMES, edges, stops)]
        places = np.arange(len(self.known), dtype=np.uint8)
        super().__init__(np.repeat(places[:, None], 100, 1), families, budget, "weight", np.random.default_rng(seed))
        self.begin_step(np.zeros((100, 1), np.float32))
        self.looked: list[int] = []

    def edges(self, features, account="selection", codes=None):
        self.charge(account, len(features) * self.n)
        own = features if codes is None else codes[features, 0]
        if account == "selection":
            self.looked += list(own)
        return self.known[own], np.zeros(len(own), np.int64)

    def family_of(self, feature):
        return next(k for k, (_, start, stop) in enumerate(self.families) if start <= feature < stop)


def three_families(seed=0, size=40):
    rng = np.random.default_rng(seed)
    return [rng.uniform(0.0, 0.1, size), rng.uniform(0.1, 0.4, size), rng.uniform(0.0, 0.3, size)]


def play(policy, board, rounds):
    """Families of the features chosen, if the policy is given the edge."""
    chosen = []
    for _ in range(rounds):
        board.begin_step(board.signed)
        feature = policy.choose(board)
        if hasattr(policy, "learn"):
            policy.learn(board.known[feature])
        chosen.append(board.family_of(feature))
    return np.array(chosen)


def started(policy, board):
    policy.start(board)
    return policy


# --- best family ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("family", ["middle", 1])
def test_one_family_alone_is_looked_at_whether_named_or_counted(family):
    board = KnownBoard(three_families())
    assert (play(started(BestFamily(Q=5, family=family), board), board, 20) == 1).all()
    assert all(40 <= feature < 80 for feature in board.looked) and len(board.looked) == 100


@pytest.mark.parametrize(
    ("family", "words"),
    [("midle", "family=midle: .* one of left, middle, right is needed; did you mean 'middle'"), (3, "from 0 to 2")],
)
def test_a_family_that_is_not_there_is_one_sentence(family, words):
    with pytest.raises(BoostrunError, match=words):
        BestFamily(family=family).start(KnownBoard(three_families()))


# --- bandits --------------------------------------------------------------------------------------------------------


def test_the_reward_is_minus_the_log_of_z_scaled_and_at_most_one():
    board = KnownBoard(three_families())
    for edge, scale in itertools.product((0.0, 0.07, 0.5, 1 - 1e-6), (0, 5, 11)):
        policy = started(UCB(scale=scale), board)
        policy.choose(board)
        policy.learn(edge)
        expected = min(1.0, 2**scale * min(1.0, -np.log(np.sqrt(1 - edge**2))))
        assert policy.rewards[policy.arm] == pytest.approx(expected, abs=1e-12)
        assert policy.plays.sum() == 1 and policy.means[policy.arm] == policy.rewards[policy.arm]
    assert -np.log(np.sqrt(1 - 0.07**2)) == pytest.approx(0.0025, abs=1e-4)  # the specification's example


def test_ucb_plays_each_arm_once_in_a_random_order_and_then_by_its_bound():
    orders = set()
    for seed in range(30):
        board = KnownBoard(three_families(), seed)
        policy = started(UCB(Q=4, scale=3), board)
        first = play(policy, board, 3)
        assert sorted(first) == [0, 1, 2]
        orders.add(tuple(first))
        for t in range(4, 60):
            bound = policy.rewards / policy.plays + np.sqrt(2 * np.log(t) / policy.plays)
            assert bound[play(policy, board, 1)[0]] == bound.max()
    assert len(orders) == 6


@pytest.mark.parametrize("update", ["all", "played"])
def test_exp3p_is_its_definition_with_plain_weights(update):
    arms, eta, mixing, horizon = 3, 0.3, 0.15, 10_000
    board = KnownBoard(three_families())
    policy = started(Exp3P(Q=4, update=update, scale=4), board)
    weights = np.full(arms, np.exp(eta * mixing / 3 * np.sqrt(horizon / arms)))
    for _ in range(200):
        p = (1 - mixing) * weights / weights.sum() + mixing / arms
        np.testing.assert_allclose(policy.probabilities(), p, rtol=1e-9)
        before = policy.rewards.copy()
        play(policy, board, 1)
        j = policy.arm
        gained = np.zeros(arms)
        gained[j] = (policy.rewards - before)[j] / p[j]
        grown = weights * np.exp(mixing / (3 * arms) * (gained + eta / (p * np.sqrt(arms * horizon))))
        weights = grown if update == "all" else np.where(np.arange(arms) == j, grown, weights)
    assert policy.plays.sum() == 200


def test_exp3p_stays_a_distribution_over_its_whole_horizon_with_the_largest_rewards():
    board = KnownBoard([np.zeros(3), np.ones(3) - 1e-6, np.zeros(3)])
    policy = started(Exp3P(Q=1, scale=11), board)
    for _ in range(10_000):
        policy.candidates(board)
        policy.learn(board.known[3 * policy.arm])
        assert policy.p.sum() == pytest.approx(1.0, abs=1e-12) and (policy.p >= 0.15 / 3 - 1e-15).all()
    assert np.isfinite(policy.log_weights).all() and policy.p[1] == pytest.approx(0.9, abs=1e-3)


@given(st.integers(0, 11), st.integers(1, 60_000))
def test_eps_is_one_until_the_arms_times_the_ratio_and_falls_as_one_over_t(scale, t):
    policy = EpsGreedy(scale=scale)
    policy.start(KnownBoard(three_families()))
    policy.t = t
    assert policy.epsilon() == (1.0 if t <= 3 * 2**scale else 3 * 2**scale / t)


def test_eps_greedy_explores_uniformly_and_then_takes_the_best_mean():
    board = KnownBoard(three_families(), seed=1)
    policy = started(EpsGreedy(Q=4, scale=5), board)
    early = np.bincount(play(policy, board, 96), minlength=3)  # eps = 1
    assert early.min() > 15
    policy.t = 10**9  # eps = 0
    assert (play(policy, board, 20) == policy.means.argmax()).all() and policy.means.argmax() == 1


def test_rewards_of_eps_greedy_are_not_scaled():
    board = KnownBoard(three_families())
    policy = started(EpsGreedy(scale=11), board)
    policy.choose(board)
    policy.learn(0.07)
    assert policy.rewards.sum() == pytest.approx(0.002456, abs=1e-6)


# --- tasting --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("r", "q"), [(1, 1), (2, 3), (5, 2), (10, 10)])
def test_rank_weights_are_those_of_the_largest_of_q_draws(r, q):
    weights = rank_weights(r, q)
    assert weights.sum() == pytest.approx(1.0, abs=1e-15) and (np.diff(weights) >= 0).all()
    if r**q <= 10**4:
        largest = [max(draws) for draws in itertools.product(range(r), repeat=q)]
        np.testing.assert_allclose(weights, np.bincount(largest, minlength=r) / r**q, atol=1e-15)
    rng = np.random.default_rng(0)
    drawn = np.bincount(rng.integers(r, size=(200_000, q)).max(axis=1), minlength=r) / 200_000
    assert np.abs(drawn - weights).max() < 4 * 0.5 / np.sqrt(200_000)


def test_tasting_1q_takes_q_features_of_the_family_whose_best_of_q_is_expected_largest():
    steady, spread, low = np.full(4, 0.5), np.array([0.6, 0.0, 0.6, 0.0]), np.full(4, 0.1)
    for q, expected in ((1, 0), (8, 1)):  # mean 0.5 against 0.3; largest of many 0.5 against 0.6
        board = KnownBoard([steady, spread, low])
        policy = started(Tasting1Q(Q=q, R=4), board)
        assert (play(policy, board, 10) == expected).all()
        assert board.ledger[-1]["tasting"] == 12 * 100 and board.ledger[-1]["selection"] == min(q, 4) * 100
    brute = [np.mean([max(d) for d in itertools.product(f, repeat=3)]) for f in (steady, spread, low)]
    board = KnownBoard([steady, spread, low])
    policy = started(Tasting1Q(Q=3, R=4), board)
    ascending = [np.sort(family) @ rank_weights(4, 3) for family in (steady, spread, low)]
    np.testing.assert_allclose(ascending, brute, rtol=1e-12)
    assert play(policy, board, 1)[0] == int(np.argmax(brute))


def test_tasting_q1_raises_the_best_edge_greedily_feature_by_feature():
    edges = [np.full(6, 0.5), np.array([0.0, 0.0, 0.0, 0.0, 0.9, 0.9]), np.full(6, 0.1)]
    for seed in range(20):
        board = KnownBoard(edges, seed)
        policy = started(TastingQ1(Q=4, R=6), board)
        chosen = policy.choose(board)
        assert len(set(board.looked)) == 4 and board.known[chosen] == max(board.known[board.looked])
        best = 0.0
        for feature in board.looked:  # e* = 0: means .5 .3 .1; e* = .5: .5 .63 .5; e* = .9: all level
            means = [np.mean(np.maximum(best, family)) for family in edges]
            assert means[board.family_of(feature)] == pytest.approx(max(means), abs=1e-6)
            best = max(best, board.known[feature])
    assert board.looked[0] < 6 <= board.looked[1] < 12


def test_families_smaller_than_what_is_asked_are_watched_and_used_whole():
    edges = [np.array([0.3]), np.array([0.2, 0.1]), np.linspace(0, 0.05, 30)]
    board = KnownBoard(edges)
    policy = started(TastingQ1(Q=5, R=10), board)
    assert policy.sizes.tolist() == [1, 2, 10]
    assert policy.choose(board) == 0 and len(set(board.looked)) == 5
    few = KnownBoard(edges[:2])
    assert started(TastingQ1(Q=5, R=10), few).choose(few) == 0 and sorted(few.looked) == [0, 1, 2]
    assert started(Tasting1Q(Q=5, R=10), board).choose(board) == 0


@pytest.mark.parametrize("tasting", [Tasting1Q, TastingQ1])
def test_families_that_are_level_are_chosen_at_random(tasting):
    edges = [np.full(5, 0.8) + 1e-8 * k for k in range(3)]  # as at the first step, where all stumps are constant
    counts = np.zeros(15)
    for seed in range(300):
        board = KnownBoard(edges, seed)
        started(tasting(Q=1 if tasting is Tasting1Q else 5), board).choose(board)
        counts[board.looked[0]] += 1
    assert counts.min() > 5  # of about 20 each: within a family, features are random too


@pytest.mark.parametrize("tasting", [Tasting1Q, TastingQ1])
def test_with_one_family_tasting_looks_at_features_drawn_uniformly(tasting):
    board = KnownBoard([np.linspace(0, 0.5, 12)])
    policy = started(tasting(Q=3, R=5), board)
    counts = np.zeros(12)
    for _ in range(600):
        board.looked = []
        policy.choose(board)
        assert len(set(board.looked)) == 3
        counts[board.looked] += 1
    assert np.abs(counts - 150).max() < 4 * np.sqrt(600 * 0.25 * 0.75)
    if tasting is Tasting1Q:  # with the same random numbers: the same features
        tasted, uniform = (started(policy, KnownBoard(board_edges, 3)) for policy, board_edges in (
            (Tasting1Q(Q=3, R=12), [board.known]), (Uniform1Q(Q=3), [board.known])))  # fmt: skip
        for _ in range(20):
            one, other = KnownBoard([board.known], 5), KnownBoard([board.known], 5)
            assert tasted.candidates(one).tolist() == uniform.candidates(other).tolist()


@pytest.mark.parametrize("tasting", [Tasting1Q, TastingQ1])
def test_charged_tasting_pays_from_the_budget(tasting):
    board = KnownBoard(three_families(), budget=1900)
    policy = started(tasting(Q=10, R=4, charge=True), board)
    assert policy.Q == 7 and tasting(Q=10).Q == 10
    policy.choose(board)
    assert board.ledger[-1] == {"selection": 700, "pilot": 1200, "tasting": 0, "refit": 0, "update": 0}
    with pytest.raises(BoostrunError, match=r"charge=True: 120 watched features .* lower R=40"):
        tasting(R=40, charge=True).start(board)


# --- all ------------------------------------------------------------------------------------------------------------


def test_a_random_argmax_is_one_of_the_largest():
    rng = np.random.default_rng(0)
    assert {random_argmax(np.array([1.0, 3.0, 3.0, 2.0]), rng) for _ in range(50)} == {1, 2}
    assert {random_argmax(np.array([1.0, 3.0 - 1e-9]), rng, 1e-6) for _ in range(9)} == {1}


@pytest.mark.parametrize(
    "name", ["best_family", "ucb", "exp3p", "eps_greedy", "tasting_1q", "tasting_q1", "tasting_ucb"]
)
def test_q_features_that_the_budget_cannot_bear_are_refused_before_the_first_step(name):
    with pytest.raises(BoostrunError, match=r"Q=4 features on all 100 samples cost 400 .* its budget is 399"):
        obtain(POLICIES[name])(Q=4).start(KnownBoard(three_families(), budget=399))
    board = KnownBoard([np.array([0.1, 0.2])], budget=399)
    obtain(POLICIES[name])(Q=4).start(board)  # there are but two to look at
    assert play(started(obtain(POLICIES[name])(Q=4), board), board, 3).tolist() == [0, 0, 0]


def test_edge_gaps_are_what_the_choice_loses_to_the_best_of_all_features():
    """Nothing, when all features are looked at on all samples; else as much as brute force says."""
    rng = np.random.default_rng(4)
    samples, labels = rng.integers(0, 9, (200, 6)).astype(np.uint8), rng.integers(0, 3, 200)
    for policy, none in ((UniformNaive(Q=6), True), (FixedSample(Q=6), False)):
        model = AdaBoostMHClassifier(
            policy, n_estimators=10, edge_gaps=True, random_state=0, budget_multiplier=6 if none else 0.5
        )
        gaps = model.fit_source(ArraySource(samples, labels, seed=0)).staged_edge_gap_
        assert gaps.shape == (10,) and (gaps >= -1e-6).all() and (np.abs(gaps).max() < 1e-6) == none
        signs, scores = np.where(labels[:, None] == np.arange(3), 1.0, -1.0), np.zeros((200, 3))
        for t, (feature, threshold) in enumerate(zip(model.ensemble_.features, model.ensemble_.thresholds)):
            signed = signs * np.exp(-signs * scores)
            signed /= np.abs(signed).sum()
            edges = [
                max(np.abs(np.where(samples[:, [f]] >= b, 1.0, -1.0).T @ signed).sum() for b in range(9))
                for f in range(6)
            ]
            assert gaps[t] == pytest.approx(max(edges) - edges[feature], abs=1e-5)
            side = np.where(samples[:, feature] >= threshold, 1.0, -1.0)
            scores += side[:, None] * (model.ensemble_.alphas[t] * model.ensemble_.votes[t])


def laminated(edges):
    return SimpleNamespace(sample=lambda size: size, sampled_edges=lambda features, size: edges[features])


def test_of_equal_edges_the_first_wins_on_every_processor():
    rng = np.random.default_rng(0)
    for q in (2, 8, 64, 1024):
        features = np.sort(rng.permutation(4 * q)[:q])
        assert laminate(laminated(np.zeros(4 * q)), features, 8) == features[0]
        few = rng.integers(3, size=4 * q) / 2.0  # as edges of small samples of codes are
        assert laminate(laminated(few), features, 8) == features[few[features].argmax()]


def test_the_best_edge_wins_where_edges_stay_what_they_are():
    edges = np.random.default_rng(1).random(256)
    assert laminate(laminated(edges), np.arange(256), 4) == edges.argmax()
