"""Beyond the paper: a budget on features, a reservoir for all classes, labels asked for, data split in parts."""

import pickle
import sys
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
from boostrun.papers.reservoir.classifier import ActiveReservoir, ActiveReservoirClassifier, ReservoirClassifier
from boostrun.papers.reservoir.strategies import Batch, Mvs, MvsMass
from boostrun.papers.reservoir.variants import (
    BudgetedReservoirClassifier,
    BudgetedStaged,
    LearnerReservoirClassifier,
    LearnerStaged,
    SplitReservoirClassifier,
    softmax_gradients,
    training_weights,
)
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


# -- minimal variance sampling


def batch_of(weights):
    weights = np.asarray(weights, float)
    return Batch(np.zeros((len(weights), 1)), np.ones(len(weights)), weights, np.zeros(len(weights), int))


def chances(weights, r):
    """min(1, w / mu) that sum to r, with mu by bisection."""
    low, high = 0.0, weights.sum() + 1.0
    for _ in range(200):
        mu = (low + high) / 2.0
        low, high = (mu, high) if np.minimum(1.0, weights / mu).sum() > r else (low, mu)
    return np.minimum(1.0, weights / high)


MANY = {
    "uniform": np.random.default_rng(0).random(40), "heavy": np.random.default_rng(1).pareto(0.7, 40),
    "one of all": np.r_[1e6, np.random.default_rng(2).random(39)], "equal": np.ones(40),
    "some of 0": np.r_[np.zeros(15), np.random.default_rng(3).random(25)],
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", slow_but(["one of all"], MANY))
def test_mvs_keeps_each_sample_with_the_chance_that_bisection_finds(name):
    weights, r, rng = MANY[name], 15, np.random.default_rng(0)
    expected, times, total = chances(weights, r), np.zeros(40), np.zeros(40)
    for _ in range(4000):
        kept, corrected = Mvs()(batch_of(weights), r, rng)
        assert len(np.unique(kept)) == r and (np.diff(kept) > 0).all()
        np.testing.assert_allclose(corrected, weights[kept] / expected[kept], rtol=1e-6)
        times[kept] += 1
        total[kept] += corrected
        assert np.isclose(corrected.sum(), weights.sum())
    off = np.abs(times / 4000 - expected)
    assert (off <= 4.5 * np.sqrt(expected * (1 - expected) / 4000) + 1e-12).all()
    assert np.allclose(total / 4000, weights, atol=0.1 * weights[weights < 1e5].max())  # each weight is unbiased


def test_mvs_with_too_few_weights_keeps_those_and_others_at_random():
    weights, times = np.r_[np.zeros(20), 1.0, 2.0], np.zeros(22)
    for seed in range(400):
        kept, corrected = Mvs()(batch_of(weights), 5, np.random.default_rng(seed))
        assert corrected.tolist() == [0.0, 0.0, 0.0, 1.0, 2.0]
        times[kept] += 1
    assert (times[20:] == 400).all() and (times[:20] > 25).all()
    for weights in (np.zeros(9), np.full(9, 1e-300), np.r_[1e300, np.zeros(8)]):
        for r in (1, 4, 9):
            kept, corrected = Mvs()(batch_of(weights), r, np.random.default_rng(0))
            assert len(np.unique(kept)) == r and np.isfinite(corrected).all()
            assert np.isclose(corrected.sum(), weights.sum())


def test_mass_of_mvs_stands_for_those_that_were_dropped():
    samples, y = toy(n=400, classes=2)
    model = ReservoirClassifier(MvsMass(), reservoir_size=20, n_estimators=30, random_state=0, warm_start=True)
    (reservoir, _, _) = model.fit(samples, y)._problems[0]
    old = reservoir.arrived < reservoir.arrived.max()
    assert np.isclose(reservoir.masses[old].sum(), 20.0) and np.ptp(reservoir.masses[old]) > 0.0


# -- a reservoir that feeds a learner


FEW = {"reservoir_size": 40, "batch_size": 30, "n_estimators": 13, "random_state": 3}
LEARNERS = ("tree", "stump", "mlp", "lightgbm", "sklearn.naive_bayes:GaussianNB")


def learner(strategy, name, **more):
    if name == "lightgbm":
        pytest.importorskip("lightgbm")
    return LearnerReservoirClassifier(strategy, learner=name, **{**FEW, **more})


class Prototypes:
    """The mean of each class; takes no weights and has no probabilities."""

    def __init__(self):
        self.seen = []

    def partial_fit(self, X, y, classes):
        self.seen.append((X, y))
        self.sums = getattr(self, "sums", np.zeros((len(classes), X.shape[1])))
        self.counts = getattr(self, "counts", np.full(len(classes), 1e-9))
        np.add.at(self.sums, y, X)
        np.add.at(self.counts, y, 1.0)
        return self

    def decision_function(self, X):
        means = self.sums / self.counts[:, None]
        scores = -((X[:, None] - means) ** 2).sum(axis=2)
        return scores[:, 1] - scores[:, 0] if len(means) == 2 else scores


def test_gradients_are_those_of_the_softmax():
    rng = np.random.default_rng(0)
    scores, y = rng.normal(size=(4, 30)), rng.integers(0, 4, 30)
    signs = np.where(y[:, None] == np.arange(4), 1.0, -1.0)
    p = np.exp(scores.T) / np.exp(scores.T).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(softmax_gradients(scores, signs), np.abs(p - np.eye(4)[y]), atol=1e-12)
    difference = (scores[1] - scores[0])[None]  # two classes
    both = softmax_gradients(scores[:2], np.where((y % 2)[:, None] == [0, 1], 1.0, -1.0))
    one = softmax_gradients(difference, np.where(y % 2 == 1, 1.0, -1.0)[:, None])
    np.testing.assert_allclose(one[:, 0], both[:, 0], atol=1e-12)


def test_weights_for_training_have_mean_one_and_bounds():
    assert np.allclose(training_weights(np.array([0.3, 0.1, 0.2]), np.array([0.3, 0.1, 0.2])), 1.0)
    assert np.allclose(training_weights(np.zeros(3), np.ones(3)), 1.0)
    weights = training_weights(np.array([1.0, 1.0, -1.0, 1.0]), np.array([1e-30, 1.0, 1.0, 0.0]))
    assert np.isclose(weights.mean(), 1.0) and weights.max() / weights.min() <= 400.0


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("name", LEARNERS)
def test_a_learner_gets_samples_as_a_shared_reservoir_draws_them_and_its_stages_end_in_the_model(name, classes):
    samples, y = toy(classes=classes)
    shared = ReservoirClassifier("rand", shared=True, **FEW).fit_source(ArraySource(samples, y, 1))
    for strategy in ("mvs_mass", "wsam"):
        model = learner(strategy, name).fit_source(ArraySource(samples, y, 1))
        assert model.samples_drawn_ == shared.samples_drawn_ == 70 + 13 * 30 and model.peak_samples_held_ == 70
        assert (model.staged_samples_drawn_ == shared.staged_samples_drawn_).all()
        scores = [each.copy() for each in model.ensemble_.staged_decision(samples.T, range(1, 14))]
        np.testing.assert_array_equal(scores[-1], model.ensemble_.decision(samples))
        assert scores[0].shape == (1 if classes == 2 else 4, len(samples)) and (scores[0] != scores[-1]).any()
        probabilities = model.predict_proba(samples)
        assert np.allclose(probabilities.sum(axis=1), 1.0)
        assert (model.classes_[probabilities.argmax(axis=1)] == model.predict(samples)).all()
        same = pickle.loads(pickle.dumps(model))
        np.testing.assert_array_equal(same.predict_proba(samples), probabilities)


@pytest.mark.parametrize("name", LEARNERS)
def test_one_row_or_all_of_them_have_the_same_scores_and_rounds_added_later_are_rounds(name):
    samples, y = toy(classes=3)
    model = learner("mvs", name, warm_start=True, n_estimators=6).fit_source(ArraySource(samples, y, 1))
    early = model.decision_function(samples)
    model.set_params(n_estimators=13).fit_source(ArraySource(samples, y, 1))
    whole = learner("mvs", name).fit_source(ArraySource(samples, y, 1))
    np.testing.assert_array_equal(model.decision_function(samples), whole.decision_function(samples))
    assert (early != whole.decision_function(samples)).any()
    rows = np.concatenate([whole.decision_function(samples[i : i + 1]) for i in range(50)])
    np.testing.assert_allclose(rows, whole.decision_function(samples)[:50], rtol=1e-7, atol=1e-9)


def test_an_object_is_copied_and_gets_samples_by_their_weights_where_it_takes_none():
    samples, y = toy(classes=3)
    for strategy, again in (("rand", False), ("mvs", True)):
        own = Prototypes()
        model = learner(strategy, own, warm_start=True).fit_source(ArraySource(samples, y, 1))
        assert own.seen == [] and model.score(samples, y) > 0.5
        seen = model._problems[0][0].learner.model.estimator.seen
        assert [len(labels) for _, labels in seen] == [40] * 13
        assert (len(np.unique(seen[-1][0], axis=0)) < 40) == again


def test_the_evaluation_has_a_curve_and_the_bytes_of_the_model():
    for name in ("stump", "mlp"):
        result = LearnerStaged().run(learner("mvs", name), Table(Bank()), SEEDS)
        assert result["curve"]["T"] == [1, 2, 3, 5, 7, 10, 13] and result["cost"]["model_bytes"] > 100
        assert result["curve"]["samples_drawn"][-1] == result["cost"]["samples_drawn"] == 70 + 13 * 30


@pytest.mark.parametrize(("parameters", "words"), [
    ({"learner": "mpl"}, "learner='mpl': one of tree, stump, mlp, lightgbm, sklearn.module:Class, or"),
    ({"learner": "os:system"}, "is needed"), ({"learner": "sklearn.svm:SVC"}, "no such class with partial_fit"),
    ({"learner": "sklearn.none:Nobody"}, "not installed"), ({"shared": False}, "one reservoir"),
    ({"strategy": "geem", "learner": "mlp"}, "chooses samples for stumps"), ({"learner": Prototypes}, "is needed"),
])  # fmt: skip
def test_what_a_learner_cannot_be_is_said(parameters, words):
    samples, y = toy()
    with pytest.raises(BoostrunError, match=words):
        LearnerReservoirClassifier(**{**FEW, **parameters}).fit_source(ArraySource(samples, y, 1))


def test_a_missing_library_is_said_before_anything_runs(monkeypatch):
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    with pytest.raises(BoostrunError, match="lightgbm is not installed: pip install"):
        LearnerStaged().check(LearnerReservoirClassifier(learner="lightgbm"), None)


def test_a_learner_is_not_saved_as_arrays(tmp_path):
    samples, y = toy()
    with pytest.raises(BoostrunError, match="use pickle"):
        learner("mvs", "mlp").fit(samples, y).save(tmp_path / "model.npz")
    trees = learner("mvs", "tree").fit(samples, y)
    same = LearnerReservoirClassifier.load(trees.save(tmp_path / "model.npz"))
    np.testing.assert_array_equal(same.decision_function(samples), trees.decision_function(samples))
