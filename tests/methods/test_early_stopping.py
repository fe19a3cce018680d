"""Early stopping: samples held out of those given to fit choose the rounds, and nothing else does."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.utils.estimator_checks import parametrize_with_checks

from boostrun import (
    AdaBoostMHClassifier,
    ArraySource,
    BoostrunError,
    JointBoostClassifier,
    ReservoirClassifier,
    ShareBoostClassifier,
)
from boostrun.config import catalogue
from boostrun.evaluation.measures import spawn
from boostrun.inputs.bank import Table
from boostrun.methods.declaration import obtain
from boostrun.methods.early_stopping import _until_no_better
from boostrun.methods.saved import Saveable
from boostrun.papers.reservoir.classifier import Reservoir
from boostrun.papers.reservoir.full_data_classifier import FullDataClassifier
from boostrun.papers.reservoir.variants import SplitReservoirClassifier
from boostrun.papers.shareboost.ovr_greedy import OneVsRestGreedyClassifier

SOON = {"early_stopping": True, "n_iter_no_change": 4}
SMALL = {"reservoir_size": 30, "shrinkage": 1.0, "random_state": 3}
MADE = {
    "geem": lambda: ReservoirClassifier("geem", n_estimators=25, **SMALL, **SOON),
    "trees": lambda: ReservoirClassifier("wsam", n_estimators=25, weak_learner="tree", **SMALL, **SOON),
    "split": lambda: SplitReservoirClassifier("wsam", parts=2, n_estimators=25, **SMALL, **SOON),
    "all": lambda: FullDataClassifier("all", n_estimators=40, **SMALL, **SOON),
    "adaboost_mh": lambda: AdaBoostMHClassifier(n_estimators=40, random_state=3, **SOON),
    "balanced": lambda: AdaBoostMHClassifier(n_estimators=40, init="balanced", random_state=3, **SOON),
    "shareboost": lambda: ShareBoostClassifier(20, random_state=3, **SOON),
    "ovr_greedy": lambda: OneVsRestGreedyClassifier(20, **SOON),
    "jointboost": lambda: JointBoostClassifier(60, **SOON),
}


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:400].astype(np.uint8), np.array(["one", "two", "three"])[y[:400] % 3]


def by_hand(model, X, y, weights=None):
    """The scores after each round of a model of the inner part, and its scores of all samples after each."""
    inner, held = train_test_split(
        np.arange(len(y)), test_size=model.validation_fraction, stratify=y,
        random_state=getattr(model, "random_state", 0),
    )  # fmt: skip
    some = (None, None) if weights is None else (weights[inner], weights[held])
    plain = clone(model).set_params(early_stopping=False)
    plain.fit(X[inner], y[inner], *(() if weights is None else some[:1]))
    step = 2 if isinstance(model, SplitReservoirClassifier) else 1
    staged = [*plain.staged_decision_function(X)][step - 1 :: step]
    if hasattr(plain, "predict_proba"):
        chances = [plain._link().of(scores[held]) for scores in staged]
        return [-log_loss(y[held], each, labels=plain.classes_, sample_weight=some[1]) for each in chances], staged
    return [np.mean(plain.classes_[scores[held].argmax(axis=1)] == y[held]) for scores in staged], staged


def first_best(scores, patience):
    """The round that a loop keeps, counted from 1, and the number of rounds that it looks at."""
    best = 0
    for t, score in enumerate(scores):
        best = t if score > scores[best] else best
        if t - best >= patience:
            break
    return best + 1, t + 1


@pytest.mark.parametrize("name", MADE)
def test_the_round_is_the_best_of_a_loop_by_hand_and_the_model_that_of_the_loop(name, digits):
    X, y = digits
    model = MADE[name]().fit(X, y)
    scores, staged = by_hand(model, X, y)
    kept, looked_at = first_best(scores, 4)
    assert (model.n_iter_, len(model.validation_score_)) == (kept, looked_at)
    assert np.allclose(model.validation_score_, scores[:looked_at], rtol=1e-6)
    assert np.allclose(model.decision_function(X), staged[kept - 1], rtol=1e-6)
    assert model.early_stopping is True and getattr(model, model._rounds) == MADE[name]().get_params()[model._rounds]


def test_some_of_them_stop_before_their_last_round(digits):
    assert sum(MADE[name]().fit(*digits).n_iter_ < 20 for name in ("all", "balanced", "shareboost")) >= 2


def test_weights_count_in_training_and_in_the_score(digits):
    X, y = digits
    weights = np.random.default_rng(0).integers(0, 4, len(y)).astype(float)
    model = MADE["all"]().fit(X, y, sample_weight=weights)
    scores = by_hand(model, X, y, weights)[0]
    assert model.n_iter_ == first_best(scores, 4)[0]
    assert np.allclose(model.validation_score_, scores[: len(model.validation_score_)])
    by_class = {"one": 1.0, "two": 7.0, "three": 0.5}
    weighed = clone(model).set_params(class_weight=by_class).fit(X, y)
    given = clone(model).fit(X, y, np.array([by_class[label] for label in y]))
    assert np.allclose(weighed.validation_score_, given.validation_score_)
    with pytest.raises(BoostrunError, match="held out have the weight 0"):
        held = train_test_split(np.arange(len(y)), test_size=0.1, stratify=y, random_state=3)[1]
        MADE["all"]().fit(X, y, np.isin(np.arange(len(y)), held, invert=True) * 1.0)


def test_random_state_decides_all(digits):
    one, other = (MADE["all"]().fit(*digits) for _ in range(2))
    assert np.array_equal(one.validation_score_, other.validation_score_)
    moved = MADE["all"]().set_params(random_state=4).fit(*digits)
    assert not np.array_equal(one.validation_score_, moved.validation_score_)
    drawn = [MADE["all"]().set_params(random_state=np.random.RandomState(5)).fit(*digits) for _ in range(2)]
    assert np.array_equal(drawn[0].validation_score_, drawn[1].validation_score_)


def test_a_model_is_copied_pickled_saved_and_trained_again(digits, tmp_path):
    X, y = digits
    model = MADE["all"]().fit(X, y)
    assert clone(model).get_params() == model.get_params() and not hasattr(clone(model), "n_iter_")
    again = pickle.loads(pickle.dumps(model))
    assert again.n_iter_ == model.n_iter_ and np.array_equal(again.predict_proba(X), model.predict_proba(X))
    loaded = FullDataClassifier.load(model.save(tmp_path / "model"))
    assert loaded.get_params() == model.get_params() and loaded.ensemble_.n_rounds == model.n_iter_
    assert np.array_equal(loaded.decision_function(X), model.decision_function(X))
    model.set_params(early_stopping=False).fit(X, y)
    assert model.ensemble_.n_rounds == 40


def test_frames_with_words_and_missing_values_are_held_out_as_they_are():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"word": rng.choice(["a", "b", "c"], 300), "size": np.where(rng.random(300) < 0.1, np.nan, 1.0)})
    X["size"] *= rng.random(300)
    model = MADE["geem"]().fit(X, (X["word"] == "b").to_list())
    assert model.score(X, X["word"] == "b") > 0.95 and model.feature_names_in_.tolist() == ["word", "size"]


@pytest.mark.parametrize("change, sentence", [
    ({"early_stopping": "yes"}, "early_stopping='yes': true or false is needed"),
    ({"validation_fraction": 1.0}, "validation_fraction=1.0: a number above 0 and below 1 is needed"),
    ({"n_iter_no_change": 0}, "n_iter_no_change=0: a whole number of at least 1 is needed"),
    ({"validation_fraction": 0.999}, "n_samples=400: early_stopping=True holds out 400 of them"),
    ({"warm_start": True}, "early_stopping and warm_start"),
])  # fmt: skip
def test_what_does_not_fit_is_a_sentence(change, sentence, digits):
    with pytest.raises(BoostrunError, match=sentence):
        MADE["geem"]().set_params(**change).fit(*digits)


def test_a_class_of_one_sample_and_a_source_are_refused(digits):
    X, y = digits
    with pytest.raises(BoostrunError, match="the rarest class has 1"):
        MADE["geem"]().fit(X, np.r_[["four"], y[1:]])
    with pytest.raises(BoostrunError, match=r"samples of fit\(X, y\), and fit_source has none"):
        MADE["geem"]().fit_source(ArraySource(X, y, 0))


class Bank:
    """The first 400 digits to train on, and 100 to test on, as a bank of codes."""

    classes, families, meta, n_features = ("0", "1", "2"), [], {}, 64

    def __init__(self):
        X, y = load_digits(return_X_y=True)
        self._samples, self._labels = X.astype(np.uint8), y % 3

    def _part(self, split):
        return slice(400) if split == "train" else slice(400, 500)

    def samples(self, split):
        return self._samples[self._part(split)]

    def codes(self, split):
        return np.ascontiguousarray(self.samples(split).T)

    def labels(self, split):
        return self._labels[self._part(split)]

    def fitted(self):
        return {}


@pytest.mark.parametrize("name", ["geem", "geem_split", "logitboost", "uniform_naive", "shareboost", "jointboost"])
def test_a_run_keeps_the_rounds_of_a_loop_by_hand_on_a_part_of_its_training_part(name, tmp_path):
    method, table, seeds = catalogue.methods()[name], Table(Bank()), spawn(0)
    values = {"early_stopping": True, "n_iter_no_change": 3}
    budget = {key: value for key, value in {"T": 40, "r": 30, "q": 30}.items() if key in method.budget_defaults}
    given = {"random_state": 5, "n_jobs": 1, "checkpoint": tmp_path / "rounds"}
    model, evaluation = method.make(values, budget, given), method.evaluator(values)
    evaluation.check(model, table)
    result = evaluation.run(model, table, seeds)
    cost = result["cost"]

    y = table.labels("train")
    inner, held = train_test_split(
        np.arange(400), test_size=0.1, stratify=y, random_state=getattr(model, "random_state", 0)
    )
    plain, own = method.make({}, budget, given | {"checkpoint": None}), obtain(method.evaluation)()
    own.run(plain, Table(table.bank, rows={"train": inner}), seeds)
    plain.classes_ = np.arange(3)
    step = max(1, plain._model.n_rounds // 40)
    staged = [*plain.staged_decision_function(table.samples("train")[held])][step - 1 :: step]
    if hasattr(plain, "predict_proba"):
        scores = [-log_loss(y[held], plain._link().of(each), labels=plain.classes_) for each in staged]
    else:
        scores = [np.mean(each.argmax(axis=1) == y[held]) for each in staged]
    assert (cost["rounds_kept"], cost["rounds_scored"]) == first_best(scores, 3) and model.n_iter_ < 40
    assert np.allclose(model.validation_score_, scores[: cost["rounds_scored"]], rtol=1e-6)
    fewer = method.make({}, budget | {"T": cost["rounds_kept"]}, given | {"checkpoint": None})
    assert own.run(fewer, Table(table.bank, rows={"train": inner}), seeds)["metrics"] == result["metrics"]


def test_rounds_without_a_model_of_their_own_do_not_count():
    scores = [0.1, 0.2, 0.3, 0.3, 0.3, 0.3, 0.5, 0.4, 0.4, 0.4]
    assert len(_until_no_better(iter(scores), 3, range(1, 11))) == 6
    assert len(_until_no_better(iter(scores), 3, (1, 2, 3, 7, 8))) == 10


def test_every_method_with_the_key_has_stages():
    for method in catalogue.methods().values():
        if method.stops_early({"early_stopping": True}):
            assert issubclass(obtain(method.target), Saveable) and hasattr(
                obtain(method.target), "staged_decision_function"
            )


def test_it_stops_soon_after_the_round_that_it_keeps(digits, monkeypatch):
    asked, boost = [], Reservoir.boost

    def counted(self, rounds, *more):
        asked.append(rounds)
        boost(self, rounds, *more)

    monkeypatch.setattr(Reservoir, "boost", counted)
    model = MADE["geem"]().set_params(n_estimators=10_000, shrinkage=1.0, n_iter_no_change=2).fit(*digits)
    assert sum(asked) / 3 <= 2 * len(model.validation_score_) + 4 + model.n_iter_


@pytest.mark.slow
@parametrize_with_checks([ShareBoostClassifier(10, early_stopping=True, random_state=0)])
def test_scikit_learns_checks(estimator, check):
    check(estimator)
