"""``partial_fit`` of reservoirs and online methods: the model of ``fit``, however the samples are cut into calls."""

import itertools
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.utils import estimator_checks

from boostrun import (
    ActiveReservoirClassifier,
    BoostrunError,
    BudgetedReservoirClassifier,
    FullDataClassifier,
    OnlineRivalClassifier,
    RandomStumpsClassifier,
    ReservoirClassifier,
    ShareBoostClassifier,
    SplitReservoirClassifier,
)
from boostrun.data.source import ArraySource

X, DIGIT = load_digits(return_X_y=True)
ODD = DIGIT % 2
R, Q, T = 20, 30, 6
DRAWN = R + Q + T * Q
SMALL = {"reservoir_size": R, "batch_size": Q, "n_estimators": T, "random_state": 0}
RIVAL = {"n_estimators": T, "subset_size": 60, "samples_seen": 150, "reservoir_size": R, "random_state": 0}
RESERVOIRS = {
    "geem": ReservoirClassifier("geem", **SMALL), "wsam": ReservoirClassifier("wsam", **SMALL),
    "rand": ReservoirClassifier("rand", **SMALL), "max": ReservoirClassifier("max", **SMALL),
    "shared": ReservoirClassifier("geem", shared=True, **SMALL),
    "balanced": ReservoirClassifier("wsam", balanced=True, **SMALL),
    "trees": ReservoirClassifier("wsam", weak_learner="tree", depth=2, **SMALL),
    "exact": ReservoirClassifier("wsam", stump_search="exact", **SMALL),
    "active": ActiveReservoirClassifier("max", **SMALL), "budgeted": BudgetedReservoirClassifier("geem", Q=5, **SMALL),
}  # fmt: skip
ONLINE = {
    **{name: OnlineRivalClassifier(name, **RIVAL) for name in ("oza", "osboost", "ocp", "bisc", "leistner")},
    "geem_oza": OnlineRivalClassifier("geem_oza", **RIVAL), "random": RandomStumpsClassifier("oza", **RIVAL),
}  # fmt: skip
SPLIT = {"split": SplitReservoirClassifier("wsam", parts=2, **SMALL)}
EVERY = RESERVOIRS | ONLINE | SPLIT


def drawn(y, n):
    """The rows that the Filter of a first problem hands out."""
    source = ArraySource(np.arange(len(y))[:, None], y, np.random.SeedSequence(0).spawn(2)[0])
    return source.open(capacity=n).draw(n)[0][:, 0]


def fed(model, X, y, sizes, **given):
    """The model after calls with so many rows each, again and again."""
    ends = np.cumsum(np.tile(sizes, len(y)))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "all .* rounds of n_estimators are done")
        for first, end in itertools.pairwise([0, *ends[ends < len(y)], len(y)]):
            model.partial_fit(X[first:end], y[first:end], **given)
    return model


def same(one, other):
    return all(np.array_equal(value, vars(other.ensemble_)[name]) for name, value in vars(one.ensemble_).items())


@pytest.mark.parametrize("values", [np.float64, np.uint8])
@pytest.mark.parametrize("name", RESERVOIRS)
def test_a_reservoir_is_that_of_fit_on_the_same_samples_in_the_same_order(name, values):
    samples, model = X.astype(values), RESERVOIRS[name]
    fitted = clone(model).fit(samples, ODD)
    rows = drawn(ODD, fitted.samples_drawn_)
    partly = fed(clone(model), samples[rows], ODD[rows], [7, 1, 90, 13], classes=[0, 1])
    assert same(partly, fitted) and np.array_equal(partly.predict(samples), fitted.predict(samples))
    assert partly.peak_samples_held_ == fitted.peak_samples_held_ == R + Q
    assert partly.staged_samples_drawn_[1:].tolist() == fitted.staged_samples_drawn_[:-1].tolist()


@pytest.mark.parametrize("shared", [False, True])
def test_each_class_has_the_reservoir_of_fit_on_one_order_of_samples(shared):
    class OneOrder(ArraySource):
        def open(self, capacity, stream=0):
            return super().open(capacity, 0)

    seed = np.random.SeedSequence(0).spawn(2)[0]
    fitted = ReservoirClassifier("geem", shared=shared, **SMALL).fit_source(OneOrder(X, DIGIT, seed))
    rows = drawn(DIGIT, DRAWN)
    partly = fed(ReservoirClassifier("geem", shared=shared, **SMALL), X[rows], DIGIT[rows], [3, 77], classes=range(10))
    assert same(partly, fitted) and partly.peak_samples_held_ == (R + Q) * (1 if shared else 10)


@pytest.mark.parametrize("name", ONLINE)
def test_an_online_method_is_that_of_fit_on_one_pass(name):
    model = ONLINE[name]
    before = {"bisc": 0, "leistner": 0, "geem_oza": 2 * R + T * R}.get(name, 60)
    rows = drawn(ODD, before + 150)
    if name == "geem_oza":  # fit draws a last batch that GEEM does not look at
        rows = np.delete(rows, np.arange(before - R, before))
    fitted = clone(model).fit(X, ODD)
    partly = fed(clone(model), X[rows], ODD[rows], [7, 1, 90, 13], classes=[0, 1])
    assert same(partly, fitted) and partly.peak_samples_held_ <= fitted.peak_samples_held_


@pytest.mark.parametrize("name", EVERY)
def test_calls_of_any_size_and_a_pickle_between_them_change_nothing(name):
    y = ODD if name in SPLIT else DIGIT % 3
    weights = {} if name in ONLINE else {"class_weight": "balanced"}
    whole = fed(clone(EVERY[name]).set_params(**weights), X[:400], y[:400], [400], classes=np.unique(y))
    partly = clone(EVERY[name]).set_params(**weights)
    for first in range(0, 400, 133):
        part = slice(first, min(first + 133, 400))
        partly = fed(pickle.loads(pickle.dumps(partly)), X[part], y[part], [23, 57], classes=np.unique(y))
        assert set(partly.predict(X[:50])) <= set(y)
    assert same(partly, whole)


@pytest.mark.parametrize("name", EVERY)
def test_before_the_first_round_nothing_is_known(name):
    model = clone(EVERY[name]).set_params(**({"n_estimators": 40} if name == "geem_oza" else {}))
    model.partial_fit(X[:1], DIGIT[:1], classes=range(10))
    assert model.classes_.tolist() == [*range(10)] and (name in ONLINE or not model.decision_function(X).any())


@pytest.mark.parametrize("name", ["active", "budgeted", "split", "bisc", "geem_oza", "random"])  # others have the suite
@pytest.mark.parametrize("check", [
    "check_partial_fit_n_features", "check_estimators_partial_fit_n_features", "check_n_features_in_after_fitting",
    "check_dataframe_column_names_consistency",
])  # fmt: skip
def test_scikit_learns_checks(name, check):
    if (found := getattr(estimator_checks, check, None)) is not None:
        found(type(EVERY[name]).__name__, EVERY[name])


FRAME = pd.DataFrame({
    "size": X[:400, 10], "word": np.array(["low", "mid", "high"])[(X[:400, 20] // 6).astype(int)],
    "on": X[:400, 30] > 8, "far": X[:400, 40],
})  # fmt: skip
CODED = FRAME.assign(word=FRAME.word.map({"high": 0, "low": 1, "mid": 2})).to_numpy(float)


@pytest.mark.parametrize("name", ["geem", "trees", "oza", "bisc", "split"])
def test_frames_gaps_and_sparse_matrices_are_the_numbers_coded_by_hand(name, tmp_path):
    def after(samples):
        return fed(clone(EVERY[name]), samples, ODD[:400], [100, 30])

    by_hand = after(CODED)
    model = after(FRAME)
    assert np.array_equal(model.decision_function(FRAME), by_hand.decision_function(CODED))
    assert np.array_equal(
        after(scipy.sparse.csr_array(CODED)).decision_function(CODED), by_hand.decision_function(CODED)
    )
    loaded = type(model).load(model.save(tmp_path / "model.npz"))
    assert np.array_equal(loaded.decision_function(FRAME), model.decision_function(FRAME))
    with pytest.warns(UserWarning, match="fit and load keep nothing that partial_fit could go on from"):
        loaded.partial_fit(FRAME, ODD[:400])
    assert same(loaded, model)
    gaps = FRAME.mask(np.random.default_rng(0).random(FRAME.shape) < 0.2)
    model = after(gaps)
    assert model.n_features_in_ == 4 and np.array_equal(model.predict(gaps.iloc[::-1])[::-1], model.predict(gaps))
    new = FRAME.assign(word="new")
    assert fed(model, new.iloc[:40], ODD[:40], [40]).predict(new).shape == (400,)


def test_a_gap_that_comes_later_is_below_all_or_refused():
    gaps = X.copy()
    gaps[200:, 10] = np.where(X[200:, 10] > 8, np.nan, X[200:, 10])
    below = np.where(np.isnan(gaps), -1e300, gaps)
    for name in ("wsam", "oza"):
        models = [fed(clone(EVERY[name]), samples[:400], ODD[:400], [200]) for samples in (gaps, below)]
        assert same(*models)
    with pytest.raises(BoostrunError, match="column 10 of X has a missing value"):
        fed(clone(EVERY["bisc"]), gaps, ODD, [200])


def test_weights_are_masses_and_0_skips_a_sample():
    model, some = ReservoirClassifier("geem", **SMALL), np.arange(400) % 3 > 0
    weights = np.where(some, 1.0, 0.0)
    skipped = fed(clone(model), X[:400][some], ODD[:400][some], [50])
    plain = fed(clone(model), X[:200], ODD[:200], [50])
    assert same(clone(model).partial_fit(X[:200], ODD[:200], sample_weight=np.ones(200)), plain)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert same(clone(model).partial_fit(X[:400], ODD[:400], sample_weight=weights), skipped)
        nothing = clone(model).partial_fit(X[:9], ODD[:9], sample_weight=np.zeros(9))
        assert same(nothing.partial_fit(X[:400], ODD[:400], sample_weight=weights), skipped)
        heavier = clone(model).partial_fit(X[:400], ODD[:400], sample_weight=1.0 + 9.0 * ODD[:400])
        by_class = clone(model).set_params(class_weight={1: 10.0}).partial_fit(X[:400], ODD[:400])
    assert same(heavier, by_class) and heavier.predict(X).mean() > skipped.predict(X).mean()
    with pytest.raises(BoostrunError, match="an online method meets every sample as one example of weight 1"):
        clone(EVERY["oza"]).partial_fit(X, ODD, sample_weight=np.ones(len(X)))


def test_rounds_end_at_n_estimators_and_go_on_when_it_is_raised():
    model = ReservoirClassifier("wsam", **SMALL)
    with pytest.warns(UserWarning, match=f"all {T} rounds of n_estimators are done: 30 samples of this call were not"):
        model.partial_fit(X[:DRAWN], ODD[:DRAWN])
    assert model.ensemble_.n_rounds == T and model.samples_drawn_ == DRAWN - Q
    model.set_params(n_estimators=T + 2)
    more = slice(DRAWN - Q, DRAWN + Q)
    longer = fed(ReservoirClassifier("wsam", **SMALL | {"n_estimators": T + 2}), X[: DRAWN + Q], ODD[: DRAWN + Q], [50])
    assert same(model.partial_fit(X[more], ODD[more]), longer)


def test_bad_calls_are_a_sentence_and_teach_nothing():
    model = ReservoirClassifier("wsam", **SMALL)
    for given, said in [
        ((X[:1], ODD[:1]), "hold only one class"),
        ((X[:9], ODD[:9], []), "the first labels have no class"),
        ((X[:9], ODD[:9], [1, 2]), "the label 0, which is none of the classes"),
        ((np.full((9, 2), "red"), ODD[:9]), "red"),
        ((X[:9], ODD[:8]), "inconsistent numbers of samples"),
    ]:
        with pytest.raises(ValueError, match=said):
            clone(model).partial_fit(*given)
    begun = clone(model).partial_fit(X[:100].astype(np.uint8), ODD[:100])
    before = pickle.dumps(begun.ensemble_)
    for given, said in [
        ((X[:9], DIGIT[:9]), "name all of them in the first call"),
        ((X[:9], ODD[:9].astype(str)), "the label '0'"),
        ((X[:9], ODD[:9], [0, 1, 2]), "classes has 2"),
        ((X[:9] + 0.5, ODD[:9]), "uint8 in the first call"),
    ]:
        with pytest.raises(BoostrunError, match=said):
            begun.partial_fit(*given)
    assert pickle.dumps(begun.ensemble_) == before and begun.partial_fit(X[100:200], ODD[100:200], [0, 1])
    fitted = begun.fit(X[:200], ODD[:200])
    before = pickle.dumps(fitted.ensemble_)
    with pytest.warns(UserWarning, match="a clone of it begins again"):
        fitted.partial_fit(X[:9], ODD[:9])
    assert pickle.dumps(fitted.ensemble_) == before
    with pytest.raises(BoostrunError, match="early_stopping=True"):
        clone(model).set_params(early_stopping=True).partial_fit(X, ODD)
    for other in (ShareBoostClassifier(3), FullDataClassifier()):
        assert not hasattr(other, "partial_fit")
