"""Tasting inside Laminating, and Tasting that looks at few families a step, against their definitions."""

import itertools
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from boostrun.errors import BoostrunError
from boostrun.papers.adaptive.adaboost_mh import Sample
from boostrun.papers.adaptive.policies import Tasting1Q, TastingLaminating, TastingUCB
from boostrun.papers.adaptive.policies.tasting import promises
from tests.papers.adaptive.policies.test_policies import KnownBoard, started, three_families

RNG = np.random.default_rng(0)


class SampledBoard(KnownBoard):
    """Estimates are the known edges; the evaluated features are kept, round by round."""

    def __init__(self, edges, seed=0, budget=10**5):
        super().__init__(edges, seed, budget)
        self.rounds: list[tuple[str, np.ndarray, int]] = []

    def sample(self, size):
        size = min(size, self.n)
        return Sample(np.zeros(size, np.int64), self.signed, size)

    def sampled_edges(self, features, sample, account="selection"):
        self.charge(account, len(features) * sample.size)
        self.rounds.append((account, features, sample.size))
        return self.known[features]

    def step(self, policy):
        self.begin_step(self.signed)
        self.rounds.clear()
        self.looked.clear()
        return policy.choose(self)


# --- Tasting inside Laminating --------------------------------------------------------------------------------------


@given(st.lists(st.integers(0, 4), min_size=1, max_size=5), st.integers(1, 4), st.integers(0, 99))
def test_a_family_promises_the_share_of_draws_whose_best_is_its_own(owners, best_of, seed):
    families = sorted(set(owners))
    owners = np.array([families.index(k) for k in owners])
    edges = np.random.default_rng(seed).permutation(len(owners)) / 10
    best = [owners[max(draw, key=lambda w: edges[w])] for draw in itertools.product(range(len(owners)), repeat=best_of)]
    expected = np.bincount(best, minlength=len(families)) / len(best)
    np.testing.assert_allclose(promises(edges, owners, best_of, RNG), expected, atol=1e-12)


def test_one_draw_counts_features_and_many_find_the_best():
    owners, edges = np.array([0, 0, 0, 1]), np.array([0.1, 0.2, 0.3, 0.25])
    np.testing.assert_allclose(promises(edges, owners, 1, RNG), [0.75, 0.25])
    np.testing.assert_allclose(promises(edges, owners, 10_000, RNG), [1.0, 0.0], atol=1e-12)
    level = np.mean([promises(np.zeros(4), owners, 3, RNG) for _ in range(500)], axis=0)
    np.testing.assert_allclose(level, [0.75, 0.25], atol=0.05)  # ties are broken at random, not by place


def test_laminating_begins_with_families_in_proportion_to_their_promise():
    edges = [np.linspace(low, low + 0.2, 200) for low in (0.0, 0.1, 0.15)]
    board = SampledBoard(edges, budget=20_000)
    policy = started(TastingLaminating(Q=64, R=10), board)
    shares = promises(board.known[policy.watched], policy.owners, 10, RNG)
    counts, chosen = np.zeros(3), []
    for _ in range(200):
        feature = board.step(policy)
        (account, watched, size), (_, drawn, _), *_ = board.rounds
        assert account == "pilot" and (watched == policy.watched).all() and size == 0.1 * 20_000 // 30
        assert len(drawn) == len(set(drawn)) == 64
        assert board.known[feature] == board.known[drawn].max()  # estimates are exact, so that the best survives
        counts += np.bincount([board.family_of(f) for f in drawn], minlength=3)
        chosen.append(board.family_of(feature))
    np.testing.assert_allclose(counts / counts.sum(), shares, atol=4 * 0.5 / np.sqrt(counts.sum()))
    assert (np.array(chosen) == 2).mean() > 0.8 and shares[2] > shares[1] > shares[0]


@pytest.mark.parametrize("sizes", [(1, 1, 1), (2, 300, 5), (40, 1, 400), (3,)])
@pytest.mark.parametrize("multiplier", [2, 10, 77])
def test_the_watched_and_the_halved_features_share_the_budget(sizes, multiplier):
    """Also where families are smaller than their part, so that fewer features are left for more samples."""
    board = SampledBoard([RNG.random(size) / 9 for size in sizes], budget=multiplier * 100)
    policy = started(TastingLaminating(R=3, best_of=50), board)
    for _ in range(30):
        board.step(policy)
        spent = board.ledger[-1]
        assert 0 < spent["pilot"] <= 0.1 * board.budget and spent["selection"] + spent["pilot"] <= board.budget
        drawn = [features for account, features, _ in board.rounds if account == "selection"]
        assert all(len(half) == len(whole) // 2 for whole, half in pairwise(drawn))


def test_fewer_features_are_looked_at_on_more_samples():
    few, many = ([np.full(n, 0.5) + RNG.random(n) / 99, np.zeros(500)] for n in (8, 500))
    sizes = []
    for edges in (few, many):
        board = SampledBoard(edges, budget=2000)
        board.step(started(TastingLaminating(Q=64, best_of=1000), board))
        sizes.append(next((len(features), size) for account, features, size in board.rounds if account == "selection"))
    assert sizes[0] == (8, 1802 // (8 * 3)) and sizes[1] == (64, 1800 // (64 * 6))  # 18 watched, and 20


def test_a_budget_too_small_to_watch_and_laminate_is_one_sentence():
    edges = three_families()
    for parameters in ({"R": 30}, {"Q": 8, "pilot_share": 0.9}):
        with pytest.raises(BoostrunError, match=r"budget of 40 a step is too small .* watched .* lower R"):
            TastingLaminating(**{"Q": 4, **parameters}).start(KnownBoard(edges, budget=40))
    TastingLaminating(Q=4, R=1).start(KnownBoard(edges, budget=40))


# --- few families a step --------------------------------------------------------------------------------------------


class AgeingBoard(SampledBoard):
    """Edges change with every step, and the families that Tasting looked at are kept."""

    def __init__(self, edges, seed=0, drift=0.02):
        super().__init__(edges, seed, budget=10**6)
        self.drift, self.moves, self.tasted = drift, np.random.default_rng(seed + 1), []

    def edges(self, features, account="selection", codes=None):
        if codes is not None:
            self.tasted.append(self.family_of(codes[features[0], 0]))
        return super().edges(features, account, codes)

    def step(self, policy):
        for _, start, stop in self.families:
            self.known[start:stop] += self.moves.normal(0, self.drift)
        self.tasted.clear()
        return super().step(policy)


def promise(board, policy, k):
    """Largest of Q draws from the watched features of a family, counted out."""
    watched = np.sort(board.known[policy.watched[policy.owners == k]])
    return np.mean([max(draw) for draw in itertools.product(watched, repeat=policy.Q)])


@pytest.mark.parametrize(("looks", "age_weight"), [(1, 1.0), (2, 0.0), (2, 1.0), (2, 5.0), (3, 0.3)])
def test_families_are_looked_at_by_promise_and_age_and_the_best_seen_is_used(looks, age_weight):
    """Against the formula from the whole history of looks."""
    board = AgeingBoard([np.random.default_rng(k).random(6) / 5 + 0.3 for k in range(3)])
    policy = started(TastingUCB(Q=3, R=3, looks=looks, age_weight=age_weight), board)
    history = {k: [] for k in range(3)}  # (step, promise) of each look
    for t in range(1, 60):
        feature = board.step(policy)
        changes = [(a[1] - b[1]) ** 2 / (a[0] - b[0]) for *_, b, a in (h for h in history.values() if len(h) > 1)]
        s = np.sqrt(sum(changes) / 3)
        bounds = {k: h[-1][1] + age_weight * s * np.sqrt(t - h[-1][0]) if h else np.inf for k, h in history.items()}
        seen = {k: promise(board, policy, k) for k in board.tasted}
        for place, k in enumerate(board.tasted):
            before = board.tasted[:place]
            assert bounds[k] == max(bounds[j] for j in bounds if j not in before)
            assert all(seen[j] < bounds[k] for j in before)  # none seen promised as much as this one might
        rest = [bounds[k] for k in bounds if k not in seen]
        assert len(seen) == len(board.tasted) <= looks
        assert len(seen) == looks or not rest or max(rest) <= max(seen.values())
        assert board.family_of(feature) == max(seen, key=seen.get)
        assert {board.family_of(f) for f in board.looked} == {board.family_of(feature)} and len(board.looked) == 3
        for k, value in seen.items():
            history[k].append((t, value))
    assert all(history.values())


def test_looking_at_every_family_is_tasting_1q():
    for seed in range(3):
        one, other = (AgeingBoard(three_families(seed), seed) for _ in range(2))
        few = started(TastingUCB(Q=4, looks=3, age_weight=1e6), one)
        all_ = started(Tasting1Q(Q=4), other)
        assert (few.watched == all_.watched).all()
        for t in range(40):
            same = one.family_of(one.step(few)) == other.family_of(other.step(all_))
            assert same or 0 < t < 3  # with one look at each no change is known, and none is thought possible
        assert len(one.tasted) == 3


def test_looks_cost_at_most_their_families_and_can_be_charged():
    board = AgeingBoard([RNG.random(size) for size in (1, 30, 4)])
    policy = started(TastingUCB(Q=5, R=10, looks=2), board)
    assert policy.most_tasted() == 14 and started(TastingUCB(R=10, looks=7), board).most_tasted() == 15
    for _ in range(20):
        board.step(policy)
        assert 0 < board.ledger[-1]["tasting"] <= 14 * board.n and board.ledger[-1]["selection"] <= 5 * board.n
    paid = KnownBoard(three_families(), budget=1900)
    policy = started(TastingUCB(Q=10, R=6, looks=2, charge=True), paid)
    policy.choose(paid)
    assert policy.Q == 7 and paid.ledger[-1]["pilot"] == 1200 and paid.ledger[-1]["selection"] == 700
    with pytest.raises(BoostrunError, match=r"charge=True: 20 watched features .* lower R=10"):
        TastingUCB(charge=True).start(paid)


# --- both -----------------------------------------------------------------------------------------------------------
