"""Beyond the paper: a budget on features, a reservoir for all classes, labels asked for, data split in parts."""

from types import SimpleNamespace

import numpy as np
import pytest

from boostrun.data.source import ArraySource
from boostrun.errors import BoostrunError
from boostrun.inputs.bank import Table
from boostrun.methods.stumps import StumpEnsemble
from boostrun.methods.weak_learner import LOSSES
from boostrun.papers.adaptive import POLICIES
from boostrun.papers.adaptive.policies import Tasting1Q
from boostrun.papers.reservoir.budgeted import BudgetedReservoirClassifier, BudgetedStaged, SplitReservoirClassifier
from boostrun.papers.reservoir.classifier import ActiveReservoir, ActiveReservoirClassifier, ReservoirClassifier
from tests.marks import slow_but
from tests.papers.reservoir.test_loop import toy

SIZES = {"reservoir_size": 64, "n_estimators": 12, "random_state": 0}


def source(classes=3):
    rng = np.random.default_rng(1)
    samples = rng.integers(0, 256, (500, 20)).astype(np.uint8)
    noise = rng.normal(0.0, 30.0, 500)
    labels = np.digitize(samples[:, 3] + samples[:, 11] + noise, [170, 340]) if classes == 3 else samples[:, 3] > 99
    return ArraySource(samples, labels, seed=0)


@pytest.mark.parametrize("strategy", ["rand", "wsam", "geem"])
def test_all_features_of_the_budget_are_the_search_of_all_features(strategy):
    """64 equal weights are exact in single precision: ties of the first round fall alike."""
    budgeted = BudgetedReservoirClassifier(strategy, policy="uniform_naive", Q=20, budget_multiplier=20.0, **SIZES)
    free = ReservoirClassifier(strategy, **SIZES)
    budgeted, free = (model.fit_source(source()).ensemble_ for model in (budgeted, free))
    for name in ("features", "thresholds", "polarities", "coefficients"):
        np.testing.assert_array_equal(getattr(budgeted, name), getattr(free, name))


@pytest.mark.parametrize("policy", slow_but(("uniform_naive", "tasting_1q"), POLICIES))
def test_no_policy_exceeds_the_budget_and_all_learn(policy):
    rounds = 40 if policy == "few_features" else 12  # a feature every few rounds, the best of four that are drawn
    model = BudgetedReservoirClassifier("wsam", policy=policy, Q=4, budget_multiplier=4.0, **SIZES)
    model.set_params(n_estimators=rounds).families = [("some", 0, 5), ("others", 5, 20)]
    model.fit_source(source(classes=2))
    charged = model.ledger_["selection"] + model.ledger_["pilot"]
    assert charged.shape == (rounds,) and 0 < charged.max() <= 4 * 64
    assert model.evaluations_ == charged.sum() and (model.ledger_["refit"] == 64).all()
    test = source(classes=2)
    accuracy = np.mean((model.ensemble_.decision(test.samples)[0] >= 0) == test.labels)
    assert accuracy > (0.7 if policy != "best_family" else 0.6)


@pytest.mark.parametrize(("parameters", "message"), [
    ({"policy": "laminated"}, "laminating"), ({"shared": True}, "reservoir for each class"),
    ({"budget_multiplier": 0}, "above 0"), ({"Q": 20}, "budget"),
])  # fmt: skip
def test_bad_parameters_have_their_sentence(parameters, message):
    with pytest.raises(BoostrunError, match=message):
        BudgetedReservoirClassifier("geem", **{"budget_multiplier": 10.0, **SIZES, **parameters}).fit_source(source())


SEEDS = SimpleNamespace(filter=np.random.SeedSequence(0))


class Bank:
    """120 samples of two families of features, for training and for testing."""

    families = (("some", 0, 5), ("others", 5, 12))
    classes, meta = ("0", "1", "2"), {}

    def samples(self, part):
        return np.random.default_rng(0).integers(0, 256, (120, 12)).astype(np.uint8)

    def codes(self, part):
        return np.ascontiguousarray(self.samples(part).T)

    def labels(self, part):
        return self.samples(part)[:, 3] // 100


def test_a_curve_counts_evaluations_over_all_problems_and_the_policy_sees_both_families():
    sizes = {"reservoir_size": 20, "n_estimators": 3, "random_state": 0}
    model = BudgetedReservoirClassifier("rand", policy="tasting_1q", Q=2, **sizes)
    result = BudgetedStaged().run(model, Table(Bank()), SEEDS)
    watched = min(Tasting1Q().R, 5) + min(Tasting1Q().R, 7)
    assert result["curve"]["evaluations"] == [3 * 2 * 20 * t for t in (1, 2, 3)]  # three classes
    assert result["curve"]["all_evaluations"] == [3 * (2 + watched) * 20 * t for t in (1, 2, 3)]
    assert result["cost"]["evaluations"] == model.evaluations_ == result["curve"]["evaluations"][-1]
    assert result["cost"]["evaluations_tasting"] == model.ledger_["tasting"].sum() > 0
    assert result["metrics"]["test_accuracy_pct"] == result["curve"]["test_accuracy_pct"][-1]


SHARED = ("rand", "max", "window", "wsam", "geem")


def ensembles_equal(one, other):
    names = ("features", "thresholds", "polarities", "coefficients")
    return all((getattr(one, name) == getattr(other, name)).all() for name in names)


@pytest.mark.parametrize("strategy", SHARED)
def test_a_shared_reservoir_holds_and_draws_for_all_classes_at_once_and_carries_its_scores(strategy):
    samples, y = toy(classes=4)
    parameters = {"reservoir_size": 20, "batch_size": 11, "n_estimators": 15, "warm_start": True, "random_state": 3}
    model = ReservoirClassifier(strategy, shared=True, **parameters).fit_source(ArraySource(samples, y, 1))
    assert model.samples_drawn_ == 31 + 15 * 11 and model.peak_samples_held_ == 31
    assert model.ensemble_.features.shape == (4, 15)
    (reservoir, *_) = model._problems[0]
    assert (reservoir.scores == model.ensemble_.decision(reservoir.samples)).all()


@pytest.mark.parametrize("strategy", SHARED)
def test_a_shared_reservoir_of_a_single_problem_is_the_reservoir_of_that_problem(strategy):
    samples, y = toy(classes=2)
    models = [ReservoirClassifier(
        strategy, shared=shared, reservoir_size=20, n_estimators=25, random_state=3,
    ).fit_source(ArraySource(samples, y, 1)) for shared in (False, True)]  # fmt: skip
    assert (models[0].ensemble_.features == models[1].ensemble_.features).all()
    np.testing.assert_allclose(models[0].ensemble_.coefficients, models[1].ensemble_.coefficients, rtol=1e-9)


@pytest.mark.parametrize(("parameters", "words"), [({"balanced": True}, "cannot be balanced for each"), (
    {"strategy": "geem_lattice"}, "cannot share a reservoir",
), ({"swap_rounds": 3}, "cannot share a reservoir")])  # fmt: skip
def test_what_a_shared_reservoir_cannot_do_is_said(parameters, words):
    samples, y = toy()
    model = ReservoirClassifier(**{"strategy": "geem", "shared": True, "random_state": 0, **parameters})
    with pytest.raises(BoostrunError, match=words):
        model.fit_source(ArraySource(samples, y, 1))


@pytest.mark.parametrize("strategy", ["rand", "max", "wsam", "geem"])
def test_labels_that_were_not_asked_for_may_be_anything(strategy, monkeypatch):
    samples, y = toy(n=2000, classes=2)
    samples[:, 0], samples[:, 1] = np.divmod(np.arange(2000), 256)  # who is who
    r, rounds, asked = 15, 20, []
    select = ActiveReservoir._select

    def watched(self, *arguments):
        unknown = ~self.known | (self.arrived >= len(self.asked))
        kept, corrected = select(self, *arguments)
        asked.extend(self.samples[kept[unknown[kept]], :2].astype(int) @ [256, 1])
        return kept, corrected

    monkeypatch.setattr(ActiveReservoir, "_select", watched)

    def train(labels):
        asked.clear()
        model = ActiveReservoirClassifier(strategy, reservoir_size=r, n_estimators=rounds, random_state=0)
        return model.fit_source(ArraySource(samples, labels, 1))

    model = train(y)
    assert len(asked) == len(set(asked)) == model.labels_asked_ < model.samples_drawn_
    assert model.staged_labels_asked_[0] == r and (np.diff(model.staged_labels_asked_) <= r).all()
    lied = y.copy()
    others = np.setdiff1d(np.arange(2000), asked)
    lied[others] = 1 - lied[others]
    assert ensembles_equal(train(lied).ensemble_, model.ensemble_)


def test_active_learning_cannot_balance_or_share():
    samples, y = toy()
    for key in ("balanced", "shared"):
        with pytest.raises(BoostrunError, match="balanced and shared"):
            ActiveReservoirClassifier("geem", random_state=0, **{key: True}).fit_source(ArraySource(samples, y, 1))


def test_parts_are_disjoint_and_cover_the_source_and_know_nothing_of_the_rest():
    source = ArraySource(np.arange(103)[:, None], np.arange(103) % 2, 5)
    parts = source.split(4)
    drawn = [part.open(30).draw(len(part.labels)) for part in parts]
    assert sorted(np.concatenate([values[:, 0] for values, _ in drawn])) == list(range(103))
    assert sorted(len(part.labels) for part in parts) == [25, 26, 26, 26]
    assert all((values[:, 0] % 2 == labels).all() for values, labels in drawn)
    assert [part.n_features for part in parts] == [1] * 4
    with pytest.raises(BoostrunError, match="cannot be split into 104"):
        source.split(104)
    with pytest.raises(BoostrunError, match="lacks samples"):
        source.split(50)


@pytest.mark.parametrize("seed", range(20))
def test_parts_are_drawn_again_until_each_has_samples_of_a_rare_class(seed):
    labels = np.repeat([0, 1], [17, 3])
    source = ArraySource(np.arange(20)[:, None], labels, seed)
    parts = source.split(3)
    assert all(set(part.labels) == {0, 1} for part in parts)
    assert sorted(np.concatenate([part.open(7).draw(len(part.labels))[0][:, 0] for part in parts])) == list(range(20))


def test_scores_of_an_average_are_the_mean_of_the_scores():
    samples, y = toy()
    ensembles = [
        ReservoirClassifier("rand", reservoir_size=20, n_estimators=5, random_state=seed)
        .fit_source(ArraySource(samples, y, seed)).ensemble_
        for seed in range(3)
    ]  # fmt: skip
    expected = np.mean([ensemble.decision(samples) for ensemble in ensembles], axis=0)
    average = StumpEnsemble.average(ensembles)
    np.testing.assert_allclose(average.decision(samples), expected, atol=1e-12)
    assert average.n_rounds == 15
    assert (average.features[:, :3] == [[e.features[k, 0] for e in ensembles] for k in range(3)]).all()


def test_a_split_learner_has_workers_that_never_meet():
    samples, y = toy(n=600)
    model = SplitReservoirClassifier("wsam", parts=3, reservoir_size=20, n_estimators=8, random_state=0)
    model.fit_source(ArraySource(samples, y, 1))
    assert model.ensemble_.features.shape == (3, 24) and model.peak_samples_held_ == 40
    assert model.samples_drawn_ == 3 * 3 * (40 + 8 * 20) == model.staged_samples_drawn_[-1]
    assert len(model.staged_samples_drawn_) == len(model.staged_train_seconds_) == 24
    with pytest.raises(BoostrunError, match="cannot be split"):
        model.fit_source(SimpleNamespace(n_features=12, class_labels=lambda: np.arange(3)))


def test_there_are_no_more_parts_than_samples_of_the_rarest_class():
    samples, y = toy(n=60)
    y = np.where(np.arange(60) < 2, 1, 0)
    few = {"reservoir_size": 10, "n_estimators": 3, "random_state": 0}
    with pytest.warns(UserWarning, match="the rarest class has 2 samples: the data are split into 2"):
        model = SplitReservoirClassifier("rand", parts=4, **few).fit(samples, y)
    two = SplitReservoirClassifier("rand", parts=2, **few).fit(samples, y)
    assert model.ensemble_.n_rounds == len(model.staged_samples_drawn_) == 6
    np.testing.assert_array_equal(model.decision_function(samples), two.decision_function(samples))


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("strategy", SHARED)
def test_weights_that_are_all_zero_give_a_finite_model(strategy, shared, monkeypatch):
    samples, y = toy()
    loss = LOSSES["logistic"]
    monkeypatch.setattr(type(loss), "weights", lambda self, margins: np.zeros_like(margins))
    model = ReservoirClassifier(strategy, shared=shared, reservoir_size=15, n_estimators=6, random_state=0)
    ensemble = model.fit_source(ArraySource(samples, y, 1)).ensemble_
    assert np.isfinite(ensemble.coefficients).all() and np.isfinite(ensemble.thresholds).all()
