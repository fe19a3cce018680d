"""The meaning of sample weights: only ratios count; 1 for all equals none; 0 removes a sample; 2 repeats it."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from boostrun import AdaBoostMHClassifier, ArraySource, BoostrunError, ReservoirClassifier
from boostrun.config import catalogue
from boostrun.data.source import WeightedSource, weighted_source
from boostrun.papers.adaptive.policies import UniformNaive
from boostrun.papers.reservoir.classifier import ActiveReservoirClassifier
from boostrun.papers.reservoir.full_data_classifier import FullDataClassifier
from boostrun.papers.reservoir.online_classifier import OnlineRivalClassifier
from boostrun.papers.reservoir.variants import SplitReservoirClassifier

SMALL = {"reservoir_size": 30, "n_estimators": 6, "random_state": 0}
FULL = ("wss", "mada", "fix", "all", "filterboost")


def everyone(**more):
    """Every feature is looked at in each step: nothing is drawn."""
    return AdaBoostMHClassifier(UniformNaive(Q=64), n_estimators=6, budget_multiplier=64, random_state=0, **more)


MADE = {
    "geem": lambda: ReservoirClassifier("geem", **SMALL),
    "wsam_mass": lambda: ReservoirClassifier("wsam_mass", **SMALL),
    "balanced": lambda: ReservoirClassifier("wsam", balanced=True, **SMALL),
    "shared": lambda: ReservoirClassifier("wsam", shared=True, **SMALL),
    "active": lambda: ActiveReservoirClassifier("wsam", **SMALL),
    "split": lambda: SplitReservoirClassifier("wsam", parts=2, **SMALL),
    "adaboost_mh": everyone,
    "adaboost_mh_trees": lambda: everyone(weak_learner="tree", depth=2),
    "all_trees": lambda: FullDataClassifier("all", weak_learner="tree", **SMALL),
    "geem_trees": lambda: ReservoirClassifier("geem", weak_learner="tree", **SMALL),
    **{name: (lambda name=name: FullDataClassifier(name, **SMALL)) for name in FULL},
}


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:500].astype(np.uint8), y[:500] % 3


def plain(model):
    """All that was learnt."""
    return {name: value for name, value in vars(model.ensemble_).items() if isinstance(value, np.ndarray)}


def same(one, other):
    one, other = plain(one), plain(other)
    return one.keys() == other.keys() and all(np.array_equal(one[name], other[name]) for name in one)


@pytest.mark.parametrize("name", MADE)
def test_one_weight_for_all_is_no_weight_to_the_bit(name, digits):
    without = MADE[name]().fit(*digits)
    assert same(without, MADE[name]().fit(*digits, sample_weight=np.ones(500)))
    assert same(without, MADE[name]().fit(*digits, sample_weight=np.full(500, 0.3)))


@pytest.mark.parametrize("name, kind", [*((name, np.uint8) for name in MADE), ("all", float), ("geem", float)])
def test_a_weight_of_zero_is_a_sample_that_is_not_there(name, kind, digits):
    X, y = digits[0].astype(kind), digits[1]
    weights = np.random.default_rng(0).integers(0, 3, 500).astype(float)
    some = weights > 0
    assert same(MADE[name]().fit(X, y, weights), MADE[name]().fit(X[some], y[some], weights[some]))
    assert not same(MADE[name]().fit(X, y, weights), MADE[name]().fit(X[some], y[some]))


@pytest.mark.parametrize("name", ["all", "adaboost_mh", "adaboost_mh_trees"])
def test_a_weight_of_two_is_the_sample_twice_where_all_samples_are_looked_at(name, digits):
    X, y = digits
    weights = np.random.default_rng(1).integers(1, 3, 500)
    one = MADE[name]().fit(X, y, sample_weight=weights)
    other = MADE[name]().fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    for part, value in plain(one).items():
        assert np.allclose(value, plain(other)[part], rtol=1e-4), part


@pytest.mark.parametrize("init", ["uniform", "balanced"])
def test_initial_weights_of_adaboost_mh_are_those_of_repeated_samples(init):
    from boostrun.papers.adaptive.adaboost_mh import one_column_a_class, signed_weights

    labels = one_column_a_class(np.array([0, 1, 2, 0]), np.arange(3))
    times = np.array([1, 2, 1, 3])
    few = signed_weights(labels, np.zeros(labels.shape), init, times / times.mean())
    many = signed_weights(np.repeat(labels, times, axis=0), np.zeros((7, 3)), init)
    starts = np.cumsum(times) - times
    assert np.allclose(few, np.add.reduceat(many, starts, axis=0))


def test_a_filter_tells_the_weights_of_what_it_handed_out_last():
    weights = np.arange(1.0, 41.0)
    source = weighted_source(np.arange(40)[:, None], np.arange(40) % 2, weights, np.random.SeedSequence(3))
    assert isinstance(source, WeightedSource) and np.isclose(source.weights.mean(), 1.0)
    filter_, usual = source.open(capacity=60), ArraySource(source.samples, source.labels, 3).open(capacity=60)
    for draw in ("draw", "draw_balanced"):
        words = (10,) if draw == "draw" else (10, 1)
        samples, labels = getattr(filter_, draw)(*words)
        assert np.array_equal(samples, getattr(usual, draw)(*words)[0]) and np.array_equal(labels, samples[:, 0] % 2)
        assert np.allclose(filter_.weights * weights.mean(), samples[:, 0] + 1.0)
    assert filter_.drawn == usual.drawn and filter_.peak_held == 20
    for part in source.split(3):
        rows = part.samples[np.arange(len(part.labels))][:, 0]
        assert np.allclose(part.weights * weights.mean(), rows + 1.0)


@pytest.mark.parametrize("weights, sentence", [
    (np.zeros(500), "at least one non-zero"),
    (np.r_[-1.0, np.ones(499)], "Negative values"),
    (np.r_[np.nan, np.ones(499)], "NaN"),
    (np.r_[np.inf, np.ones(499)], "infinity"),
    (np.ones(499), r"shape == \(499,\)"),
    (np.ones((500, 2)), "must be 1D"),
])  # fmt: skip
def test_weights_that_are_none_get_scikit_learns_sentence(weights, sentence, digits):
    for name in ("geem", "all", "adaboost_mh"):
        with pytest.raises(ValueError, match=sentence):
            MADE[name]().fit(*digits, sample_weight=weights)


def test_weights_of_very_different_sizes_are_no_trouble(digits):
    weights = np.full(500, 1e308)
    weights[::2] = 1e-300
    for make in MADE.values():
        assert np.isfinite(make().fit(*digits, sample_weight=weights).decision_function(digits[0])).all()


def test_methods_without_a_meaning_for_weights_refuse_them_with_the_reason(digits):
    with pytest.raises(BoostrunError, match="sample_weight: fit takes X and y alone, for an online method"):
        OnlineRivalClassifier("oza", n_estimators=3).fit(*digits, sample_weight=np.ones(500))


def test_going_on_with_other_weights_is_refused(digits):
    model = AdaBoostMHClassifier(UniformNaive(Q=4), n_estimators=2, warm_start=True, random_state=0)
    weights = np.arange(1.0, 501.0)
    model.fit(*digits, sample_weight=weights).set_params(n_estimators=3).fit(*digits, sample_weight=weights)
    with pytest.raises(BoostrunError, match="these are others"):
        model.set_params(n_estimators=4).fit(*digits)


def test_whoever_takes_weights_says_so_to_scikit_learn():
    from boostrun import ShareBoostClassifier

    takes = {make().__class__ for make in MADE.values()}
    assert all("sample_weight" in inspect.signature(one.fit).parameters for one in takes)
    for one in (OnlineRivalClassifier, ShareBoostClassifier):
        assert "sample_weight" not in inspect.signature(one.fit).parameters


WEIGHED = sorted(MADE.keys() - {"balanced", "split"})  # these two need samples of every class


@pytest.mark.parametrize("name", WEIGHED)
def test_a_class_of_weight_zero_keeps_its_place_and_is_hardly_predicted(name, digits):
    X, y = digits
    for classes in (3, 2):
        some = y < classes
        model = MADE[name]().fit(X[some], y[some], sample_weight=(y[some] != classes - 1) * 2.0)
        assert model.classes_.tolist() == [*range(classes)] and np.mean(model.predict(X) == classes - 1) < 0.05
        assert model.predict_proba(X)[:, -1].mean() < 0.25


@pytest.mark.parametrize("name", ["balanced", "split"])
def test_a_class_of_weight_zero_is_a_sentence_where_every_class_is_needed(name, digits):
    with pytest.raises(BoostrunError, match="needs samples"):
        MADE[name]().fit(*digits, sample_weight=digits[1] != 2)


@pytest.mark.parametrize("name", MADE)
def test_weights_of_classes_are_weights_of_their_samples(name, digits):
    X, y = digits
    by_class = {0: 1.0, 1: 5.0, 2: 0.5}
    weights = np.array([by_class[label] for label in y])
    model = MADE[name]().set_params(class_weight=by_class)
    assert same(model.fit(X, y), MADE[name]().fit(X, y, weights))
    assert same(model.fit(X, y, weights), MADE[name]().fit(X, y, weights**2))
    balanced = 500 / (3 * np.bincount(y))[y]
    assert same(model.set_params(class_weight="balanced").fit(X, y), MADE[name]().fit(X, y, balanced))


def test_parts_of_the_data_are_not_weighed_by_class_again(digits):
    X, y = digits[0], digits[1] % 3
    model = SplitReservoirClassifier(reservoir_size=40, n_estimators=4, random_state=0)
    both = clone(model).set_params(class_weight={0: 4}).fit(X, y, sample_weight=np.where(y == 0, 0.25, 1.0))
    np.testing.assert_array_equal(both.decision_function(X), model.fit(X, y).decision_function(X))
    with pytest.raises(ValueError, match=r"sample_weight\.shape"):
        ReservoirClassifier(class_weight="balanced").fit(X, y, sample_weight=[2.0])


@pytest.mark.parametrize("name", ["all", "geem", "adaboost_mh"])
def test_a_source_is_weighed_by_class(name, digits):
    X, y = digits
    by_class = {0: 1.0, 1: 5.0, 2: 0.5}
    source = ArraySource(X, y, 7, columns=np.ascontiguousarray(X.T))
    weighed = weighted_source(X, y, [by_class[label] for label in y], np.random.SeedSequence(7))
    assert same(MADE[name]().set_params(class_weight=by_class).fit_source(source), MADE[name]().fit_source(weighed))


def test_weights_of_classes_are_a_word_or_a_dict(digits):
    with pytest.raises(BoostrunError, match="class_weight='heavy': null, balanced, or"):
        MADE["geem"]().set_params(class_weight="heavy").fit(*digits)


def test_the_command_makes_methods_with_weights_of_classes():
    for name in ("geem", "wss", "laminating"):
        method = catalogue.methods()[name]
        budget = {symbol: 3 for symbol in method.budget}
        assert method.make({"name": name, "class_weight": "balanced"}, budget, {}).class_weight == "balanced"
        assert method.make({"name": name}, budget, {}).class_weight is None


def test_weights_are_routed_through_a_pipeline(digits):
    X, y = digits
    weights = np.where(y == 1, 9.0, 1.0)
    with config_context(enable_metadata_routing=True):
        last = MADE["all"]().set_fit_request(sample_weight=True)
        pipe = make_pipeline(MinMaxScaler().set_output(transform="pandas"), last).fit(X, y, sample_weight=weights)
    assert same(pipe[-1], MADE["all"]().fit(MinMaxScaler().fit_transform(X), y, weights))
