"""Maximum adaptive sampling: pilots, models, counted evaluations, and the order of methods on tiny data."""

from types import SimpleNamespace

import numpy as np
import pytest

from boostrun.data.source import ArraySource
from boostrun.errors import BoostrunError
from boostrun.papers.adaptive.adaboost_mh import Board, one_column_a_class, signed_weights
from boostrun.papers.adaptive.classifier import AdaBoostMHClassifier
from boostrun.papers.adaptive.policies import MAS1Q, MASQ1, MASNaive, MASQ1Whole
from boostrun.papers.adaptive.policies.mas import Plan

NAMES = ("mas_naive", "mas_1q", "mas_q1", "mas_q1_whole")


def planted(seed, n=1500, d=600, classes=4, good=60, noise=40.0):
    """Codes in which the last ``good`` features of d tell a class from the others, the more the later."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, n)
    X = rng.normal(128, 40, (n, d))
    for place, f in enumerate(range(d - good, d)):
        X[:, f] += (y == f % classes) * 1.2 * noise * (place + 1) / good
    return np.clip(X, 0, 255).astype(np.uint8), y


class Source(ArraySource):
    families = (("empty", 0, 200), ("dull", 200, 540), ("good", 540, 600))


def train(policy, rounds=25, seed=0, data=None, **parameters):
    source = Source(*(data or planted(seed)), 0)
    return AdaBoostMHClassifier(policy, n_estimators=rounds, random_state=seed, **parameters).fit_source(source)


def board_of(n=500, d=60, classes=3, sampling="weight", budget=None, seed=0, families=None, samples=True):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 256, (d, n)).astype(np.uint8)
    labels = one_column_a_class(rng.integers(0, classes, n), np.arange(classes))
    by_sample = np.ascontiguousarray(codes.T) if samples else None
    board = Board(codes, families or [("all", 0, d)], budget or 10 * n, sampling, rng, by_sample)
    board.begin_step(signed_weights(labels, rng.normal(size=labels.shape), "uniform"))
    return board


@pytest.mark.parametrize(("n", "families", "features", "samples"), [
    (60_000, 19, 24, 131), (50_000, 19, 24, 109), (14_608, 19, 24, 32), (1_515, 33, 6, 7),
])  # fmt: skip
def test_the_pilot_has_the_sizes_of_the_specification(n, families, features, samples):
    board = SimpleNamespace(budget=10 * n, n=n, families=[(str(k), 9 * k, 9 * k + 9) for k in range(families)])
    for policy in (MAS1Q(), MASQ1()):
        policy.start(board)
        assert (policy.pilot_features, policy.pilot_samples) == (features, samples)


@pytest.mark.parametrize("name", NAMES)
def test_a_pilot_is_booked_as_such_and_costs_its_share(name):
    n = 1500
    ledger = train(name).ledger_
    assert (ledger["selection"] + ledger["pilot"] <= 10 * n).all() and (ledger["selection"] > 0).all()
    assert ledger["pilot"][0] == (100 * 15 if name == "mas_naive" else 3 * 22 * 22)
    piloted = ledger["pilot"] > 0
    assert (ledger["selection"][piloted] <= 0.9 * 10 * n).all()
    assert piloted.all() if name != "mas_naive" else not piloted[2:].all()


def test_the_naive_model_is_that_of_the_step_before_unless_its_edges_were_few_or_equal():
    board = board_of(d=300, n=1000)
    for refit_below, kept in ((1, True), (10**6, False)):
        policy = MASNaive(refit_below=refit_below)
        policy.start(board)
        for _ in range(2):
            board.begin_step(board.signed)
            policy.choose(board)
        assert (policy.model is not None) == kept
        assert [step["pilot"] for step in board.ledger[-2:]] == [1000, 0 if kept else 1000]
    equal = train("mas_naive", rounds=4, data=(np.full((300, 600), 7, np.uint8), np.arange(300) % 3))
    assert (equal.ledger_["pilot"] > 0).all() and equal.ensemble_.constant.all()


@pytest.mark.parametrize("policy", [MAS1Q(), MASQ1(), MASQ1Whole()])
def test_what_the_plan_says_is_what_is_looked_at(policy, monkeypatch):
    board = board_of(families=[("a", 0, 10), ("b", 10, 40), ("c", 40, 60)])
    policy.start(board)
    plans, looked = [], []
    plan_for, edges = policy.plan, board.sampled_edges
    monkeypatch.setattr(policy, "plan", lambda *a, **k: plans.append(plan_for(*a, **k)) or plans[-1])
    monkeypatch.setattr(board, "sampled_edges", lambda f, s, *a: looked.append((f, s.size, a)) or edges(f, s, *a))
    for _ in range(20):
        board.begin_step(board.signed)
        chosen = policy.choose(board)
        (pilot, _, account), (features, size, _) = looked[-2:]
        plan = plans[-1]
        assert isinstance(plan, Plan) and size == plan.size and chosen in features
        assert account == ("pilot",) and len(np.unique(pilot)) == len(pilot) <= 3 * policy.pilot_features
        counts = [np.count_nonzero((features >= start) & (features < stop)) for _, start, stop in board.families]
        assert (counts == plan.counts).all() and len(np.unique(features)) == len(features)
        assert isinstance(policy, MASQ1) or np.count_nonzero(counts) == 1
        assert type(policy) is not MASQ1Whole or sum(counts) == min(4500 // size, 60)


def test_the_two_noise_models_are_one_for_two_classes_and_differ_for_more():
    X, y = planted(1)
    for data, equal in (((X, y > 1), True), ((X, y), False)):
        kappa, paper = (train(MASNaive(noise=noise), data=data) for noise in ("kappa", "paper"))
        assert np.array_equal(kappa.ledger_["selection"], paper.ledger_["selection"]) == equal
    board = board_of(classes=2)
    assert board.kappa == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize("sampling", ["weight", "uniform"])
def test_kappa_is_s_times_the_variance_of_an_edge_with_random_votes(sampling):
    board = board_of(n=400, classes=3, sampling=sampling)
    rng, size, found = np.random.default_rng(1), 50, []
    phi = np.where(rng.random(400) < 0.5, 1.0, -1.0)
    for _ in range(4000):
        votes = np.where(rng.random(3) < 0.5, 1.0, -1.0)
        sample, true = board.sample(size), phi @ board.signed[:, :3].astype(float) @ votes
        found.append(float(phi[sample.rows] @ sample.signed[:, :3].astype(float) @ votes) - true)
    assert size * np.var(found) == pytest.approx(board.kappa, rel=0.1)
    assert board.kappa == board.kappa and board.kappa >= 1 / 3
    if sampling == "weight":
        assert board.kappa <= 1.0


def test_deconvolution_narrows_the_model():
    board = board_of(n=2000, d=300, classes=3, budget=10**6)
    edges = board.sampled_edges(np.arange(300), board.sample(200))
    noise = board.kappa / 200
    with_noise, without = (MASNaive(deconvolve=d).fit(board, edges, [300], 200) for d in (False, True))
    np.testing.assert_allclose(without.variances, np.maximum(with_noise.variances - noise, 1e-8))
    exact = MASNaive().fit(board, edges, [300], board.n)
    np.testing.assert_allclose(exact.variances, with_noise.variances)  # all samples: no noise


@pytest.mark.parametrize("q", [1, 40, 60])
def test_sampled_edges_are_the_same_with_and_without_samples_as_rows(q):
    one, other = (board_of(n=3000, budget=10**6, samples=rows) for rows in (True, False))
    features = np.sort(np.random.default_rng(0).permutation(60)[:q])
    for size in (5, 30, 500, 3000):
        sample = one.sample(size)
        np.testing.assert_array_equal(one.sampled_edges(features, sample), other.sampled_edges(features, sample))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("families", [None, (("a", 0, 1), ("b", 1, 2), ("c", 2, 600))])
def test_small_and_single_families_are_no_trouble(name, families):
    X, y = planted(0, n=200)
    model = AdaBoostMHClassifier(name, n_estimators=12, random_state=0, families=families)
    model.fit_source(ArraySource(X, y, 0))
    assert np.isfinite(model.staged_log10_loss_).all() and (model.ledger_["selection"] <= 2000).all()


@pytest.mark.parametrize(("policy", "multiplier", "words"), [
    ("mas_naive", 0.5, "a budget of 750 a step is too small for M.A.S.: its pilot looks at 100 features"),
    ("mas_1q", 0.01, "its pilot looks at 12 features with a share of 0.1 of it; raise budget_multiplier"),
    ("mas_q1", 0.01, "too small for M.A.S."),
    (MAS1Q(q0_min=9, q0_max=5), 10.0, "q0_min=9 is above q0_max=5"),
])  # fmt: skip
def test_a_pilot_that_cannot_be_gets_a_sentence(policy, multiplier, words):
    with pytest.raises(BoostrunError, match=words):
        train(policy, budget_multiplier=multiplier)
