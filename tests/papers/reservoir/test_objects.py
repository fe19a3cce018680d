"""Strategies, weak learners and policies of a user: passed as objects, as functions, by name."""

import pickle
import sys
from typing import NamedTuple

import numpy as np
import pytest
from sklearn.base import clone

from boostrun.config import catalogue
from boostrun.data.source import ArraySource
from boostrun.errors import BoostrunError
from boostrun.methods.hypothesis_ensemble import HypothesisEnsemble
from boostrun.methods.paper import Paper
from boostrun.methods.stumps import Stump, StumpLearner, find_stump
from boostrun.methods.weak_learner import WeakLearner
from boostrun.papers.reservoir import PAPER
from boostrun.papers.reservoir.classifier import ActiveReservoirClassifier, ReservoirClassifier
from boostrun.papers.reservoir.geem import Geem, GeemLattice, GeemLikely, GeemMean, GeemThin, GeemTrees
from boostrun.papers.reservoir.geem_single import GeemSingle
from boostrun.papers.reservoir.strategies import Max, Mvs, MvsMass, Rand, Strategy, Window, WSam, WSamMass
from boostrun.papers.reservoir.variants import BudgetedReservoirClassifier, SplitReservoirClassifier
from tests.papers.reservoir.test_loop import toy

SMALL = {"reservoir_size": 20, "batch_size": 10, "n_estimators": 8, "random_state": 3}
ARRAYS = ("features", "thresholds", "polarities", "coefficients")
OBJECTS = {
    "rand": Rand(), "max": Max(), "window": Window(), "wsam": WSam(), "wsam_mass": WSamMass(), "mvs": Mvs(),
    "mvs_mass": MvsMass(),
    "geem": Geem(), "geem_lattice": GeemLattice(), "geem_likely": GeemLikely(),
    "geem_mean": GeemMean(), "geem_trees": GeemTrees(), "geem_thin": GeemThin(),
    "geem_single": GeemSingle(),
}  # fmt: skip


def same(one, other):
    return all((getattr(one, name) == getattr(other, name)).all() for name in ARRAYS)


class Tree(NamedTuple):
    """A stump that says which of two others votes."""

    stumps: np.ndarray  # (3, 3): feature, threshold, polarity

    def __call__(self, samples):
        above = [samples[:, int(feature)] >= threshold for feature, threshold, _ in self.stumps]
        below, over = (np.where(above[k], 1.0, -1.0) * self.stumps[k, 2] for k in (1, 2))
        return np.where(above[0], over, below)


class Depth2(WeakLearner):
    """A tree of depth 2."""

    def find(self, samples, signed_weights):
        root, _ = find_stump(samples, signed_weights)
        above = samples[:, root.feature] >= root.threshold
        halves = (find_stump(samples, signed_weights * half)[0] for half in (~above, above))
        return Tree(np.array([root, *halves], float))


class PlainDepth2:
    """The same without a base class."""

    find = Depth2.find


class GenericStump(WeakLearner):
    """The stump, by nothing but the protocol."""

    def find(self, samples, signed_weights):
        return find_stump(samples, signed_weights)[0]


@pytest.mark.parametrize("name", PAPER.strategies)
def test_an_object_is_the_strategy_of_its_name_and_stays_as_it_was(name):
    samples, y = toy()
    given = OBJECTS[name]
    before = dict(vars(given))
    one = ReservoirClassifier(given, **SMALL).fit(samples, y)
    assert same(one.ensemble_, ReservoirClassifier(name, **SMALL).fit(samples, y).ensemble_)
    assert vars(given) == before and one.strategy is given
    assert same(clone(one).fit(samples, y).ensemble_, one.ensemble_)


def test_an_objects_own_parameters_count_and_are_checked():
    samples, y = toy()
    by_keys = ReservoirClassifier("geem", ridge=0.3, covariance_dims=4, **SMALL).fit(samples, y)
    by_object = ReservoirClassifier(Geem(ridge=0.3, covariance_dims=4), ridge=7.0, **SMALL).fit(samples, y)
    assert same(by_keys.ensemble_, by_object.ensemble_)
    with pytest.raises(BoostrunError, match=r"ridge=-1"):
        ReservoirClassifier(Geem(ridge=-1.0), **SMALL).fit(samples, y)
    with pytest.raises(BoostrunError, match="cannot share a reservoir"):
        ReservoirClassifier(GeemLattice(), shared=True, **SMALL).fit(samples, y)


@pytest.mark.parametrize("cls", [ReservoirClassifier, ActiveReservoirClassifier, SplitReservoirClassifier])
def test_a_function_is_a_strategy_wherever_there_is_a_reservoir(cls):
    samples, y = toy(n=600)

    def rand(batch, r, rng):
        kept = np.sort(rng.permutation(len(batch.weights))[:r])
        return kept, batch.weights[kept]

    assert same(cls(rand, **SMALL).fit(samples, y).ensemble_, cls("rand", **SMALL).fit(samples, y).ensemble_)


@pytest.mark.parametrize("shared", [False, True])
def test_a_batch_shows_scores_and_masses_that_make_its_weights(shared):
    samples, y = toy()
    seen = []

    class Watch(Geem):
        def __call__(self, batch, r, rng):
            seen.append(batch)
            expected = batch.masses / (1.0 + np.exp(batch.labels * batch.scores))
            np.testing.assert_allclose(batch.weights, expected, rtol=1e-12)
            return super().__call__(batch, r, rng)

        def for_all_classes(self, batch, r, rng):
            seen.append(batch)
            assert batch.scores.shape == batch.masses.shape == batch.labels.shape == (30, 3)
            expected = batch.masses / (1.0 + np.exp(batch.labels * batch.scores))
            np.testing.assert_allclose(batch.weights, expected, rtol=1e-12)
            return super().for_all_classes(batch, r, rng)

    ReservoirClassifier(Watch(), shared=shared, **SMALL).fit(samples, y)
    assert len(seen) == 8 * (1 if shared else 3) and np.abs(seen[-1].scores).max() > 0.1


@pytest.mark.parametrize(("answer", "words"), [
    (lambda b, r: (np.zeros(r, int), np.ones(r)), "different places"),
    (lambda b, r: (np.arange(r) + 25, np.ones(r)), "different places"),
    (lambda b, r: (np.arange(r - 1), np.ones(r - 1)), "must give the 20 places"),
    (lambda b, r: (np.arange(r), np.ones(r - 1)), "must give the 20 places"),
    (lambda b, r: np.arange(r), "must give the 20 places"),
])  # fmt: skip
@pytest.mark.parametrize("shared", [False, True])
def test_a_strategy_that_does_not_keep_its_word_has_its_sentence(answer, words, shared):
    with pytest.raises(BoostrunError, match=words):
        ReservoirClassifier(lambda batch, r, rng: answer(batch, r), shared=shared, **SMALL).fit(*toy())


def test_a_plug_ins_strategy_is_found_by_name_and_takes_what_it_has_too(monkeypatch):
    class Mine(Geem):
        """GEEM on two dimensions."""

        made: list = []  # noqa: RUF012

        def __call__(self, batch, r, rng):
            self.made.append((self.ridge, self.swap_rounds))
            return super().__call__(batch, r, rng)

    module = sys.modules[__name__]
    monkeypatch.setattr(module, "Mine", Mine, raising=False)
    monkeypatch.setattr(module, "newest", Window(), raising=False)
    plug_in = Paper("mine", strategies={"mine": f"{__name__}:Mine", "newest": f"{__name__}:newest"})
    known = {**catalogue.papers(), "mine": plug_in}
    everything = lambda room: {name: found for paper in known.values() for name, found in getattr(paper, room).items()}  # noqa: E731
    monkeypatch.setattr(catalogue, "_all", everything)
    samples, y = toy()
    PAPER.methods["geem"].make({"strategy": "mine", "ridge": 0.4}, SMALL_BUDGET, {"random_state": 0}).fit(samples, y)
    assert set(Mine.made) == {(0.4, 0)}
    newest = ReservoirClassifier("newest", **SMALL).fit(samples, y)
    assert same(newest.ensemble_, ReservoirClassifier("window", **SMALL).fit(samples, y).ensemble_)
    with pytest.raises(BoostrunError, match="did you mean 'mine'"):
        ReservoirClassifier("mines", **SMALL).fit(samples, y)


SMALL_BUDGET = {"r": 20, "q": 10, "T": 4}


@pytest.mark.parametrize("shared", [False, True])
def test_the_stump_by_the_protocol_alone_is_the_stump_to_the_last_bit(shared):
    samples, y = toy()
    ours = ReservoirClassifier("geem", shared=shared, **SMALL).fit(samples, y).ensemble_
    generic = ReservoirClassifier("geem", shared=shared, weak_learner=GenericStump(), **SMALL).fit(samples, y).ensemble_
    assert isinstance(generic, HypothesisEnsemble) and generic.kind is Stump
    for name, own in (("feature", "features"), ("threshold", "thresholds"), ("polarity", "polarities")):
        assert (generic.arrays[name] == getattr(ours, own)).all()
    assert (generic.coefficients == ours.coefficients).all()
    assert (generic.decision(samples) == ours.decision(samples)).all()
    staged = [ensemble.staged_decision(samples.T, [1, 5, 8]) for ensemble in (ours, generic)]
    assert all((one == other).all() for one, other in zip(*staged))


@pytest.mark.parametrize("learner", [Depth2(), PlainDepth2()])
def test_a_tree_learns_what_stumps_cannot_and_is_saved_without_pickle(learner, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 4))
    y = np.where((X[:, 0] > 0) ^ (X[:, 2] > 0), "odd", "even")
    sizes = {"reservoir_size": 80, "n_estimators": 40, "random_state": 0}
    stumps = ReservoirClassifier(**sizes).fit(X[:600], y[:600]).score(X[600:], y[600:])
    model = ReservoirClassifier(weak_learner=learner, **sizes).fit(X[:600], y[:600])
    assert stumps < 0.65 and model.score(X[600:], y[600:]) > 0.85
    assert (list(model.staged_predict(X))[-1] == model.predict(X)).all()
    again = ReservoirClassifier.load(model.save(tmp_path / "tree"))
    assert (again.decision_function(X) == model.decision_function(X)).all()
    assert (again.predict(X) == model.predict(X)).all()
    assert (pickle.loads(pickle.dumps(model)).predict(X) == model.predict(X)).all()


def test_trees_go_on_where_they_stopped_and_carry_their_scores():
    samples, y = toy()
    parameters = {**SMALL, "weak_learner": Depth2(), "warm_start": True}
    once = ReservoirClassifier("wsam", **parameters).fit(samples, y)
    twice = ReservoirClassifier("wsam", **{**parameters, "n_estimators": 5}).fit(samples, y)
    twice.set_params(n_estimators=8).fit(samples, y)
    assert (twice.ensemble_.arrays["stumps"] == once.ensemble_.arrays["stumps"]).all()
    for k, (reservoir, *_) in enumerate(once._problems):
        assert (reservoir.scores == once.ensemble_.decision(reservoir.samples)[k]).all()


@pytest.mark.parametrize("cls", [ActiveReservoirClassifier, SplitReservoirClassifier])
def test_trees_in_the_other_reservoirs(cls):
    samples, y = toy(n=900)
    model = cls("wsam", weak_learner=Depth2(), **{**SMALL, "n_estimators": 20}).fit(samples, y)
    assert model.score(samples, y) > 0.6 and isinstance(model.ensemble_, HypothesisEnsemble)


def test_an_average_with_bins_of_its_own_is_refused():
    samples, y = toy()
    with pytest.raises(BoostrunError, match="bins of their own"):
        SplitReservoirClassifier("wsam", weak_learner=Depth2(), parts=2, **SMALL).fit(samples * 1.5, y)


def test_a_weak_learner_may_ask_for_values_as_they_are():
    class Values(Depth2):
        codes = False

        def find(self, samples, signed_weights):
            root, _ = find_stump(samples, signed_weights, search="exact")
            return Tree(np.array([root] * 3, float))

    samples, y = toy()
    model = ReservoirClassifier("wsam", weak_learner=Values(), **SMALL).fit(samples * 1.5, y)
    assert model.ensemble_.binner is None and model.ensemble_.arrays["stumps"][..., 1].max() > 100


def test_what_is_no_weak_learner_has_its_sentence(tmp_path):
    samples, y = toy()

    class NoHypothesis(WeakLearner):
        def find(self, samples, signed_weights):
            return lambda samples: np.ones(len(samples))

    class Shapeless(WeakLearner):
        def find(self, samples, signed_weights):
            return Ragged(np.zeros(len(np.unique(samples[:, 0]))))

    for learner, words in (
        (object(), r"an object with find\(\) is needed"), (Depth2, r"an object with find\(\) is needed"),
        ("forest", "there is no 'forest' among the weak_learners"), (NoHypothesis(), "is a NamedTuple"),
        (Shapeless(), "of the same shape"),
    ):  # fmt: skip
        with pytest.raises(BoostrunError, match=words):
            ReservoirClassifier("rand", weak_learner=learner, **SMALL).fit(samples, y)


class Ragged(NamedTuple):
    """Of another shape each time."""

    numbers: np.ndarray

    def __call__(self, samples):
        return np.ones(len(samples))


def test_a_file_whose_hypotheses_nobody_knows_imports_nothing(tmp_path, monkeypatch):
    samples, y = toy()
    path = ReservoirClassifier("rand", weak_learner=Depth2(), **SMALL).fit(samples, y).save(tmp_path / "tree")
    monkeypatch.delitem(sys.modules, __name__)
    with pytest.raises(BoostrunError, match=f"import {__name__} first"):
        ReservoirClassifier.load(path)
    assert __name__ not in sys.modules


class OfFamilies:
    """A policy of a stranger's that takes turns among the families."""

    needs_families = True

    def start(self, board):
        self.names, self.turn = [name for name, *_ in board.families], 0

    def choose(self, board):
        self.turn = (self.turn + 1) % len(self.names)
        features = board.draw(2, family=self.turn)
        return int(features[board.edges(features)[0].argmax()])


def test_a_policy_of_ones_own_sees_all_families_of_the_source_or_those_given():
    samples, y = toy(n=400, d=19)
    families = [(f"family {k}", k, k + 1) for k in range(19)]
    source = ArraySource(samples, y, 0)
    policy = OfFamilies()
    model = BudgetedReservoirClassifier("rand", policy=policy, warm_start=True, **SMALL)
    with pytest.raises(BoostrunError, match="OfFamilies chooses among families of features: give"):
        model.fit_source(source)
    source.families = families
    model.fit_source(source)
    assert [len(reservoir.policy.names) for reservoir, *_ in model._problems] == [19] * 3
    assert not vars(policy)
    given = BudgetedReservoirClassifier("rand", policy=policy, families=families[:4], **SMALL).fit(samples, y)
    assert given.ensemble_.features.max() < 4
    with pytest.raises(BoostrunError, match="is one for stumps"):
        BudgetedReservoirClassifier("rand", weak_learner=Depth2(), **SMALL).fit(samples, y)
    assert BudgetedReservoirClassifier("rand", weak_learner=StumpLearner(), **SMALL).fit(samples, y).evaluations_


def test_a_strategy_without_a_form_for_all_classes_chooses_by_their_summed_weights():
    samples, y = toy()

    class Mine(Strategy):
        def __call__(self, batch, r, rng):
            assert batch.weights.ndim == 1 and batch.labels.ndim == 2
            return Max()(batch, r, rng)

    one, other = (ReservoirClassifier(s, shared=True, **SMALL).fit(samples, y).ensemble_ for s in (Mine(), "max"))
    assert same(one, other)
