"""The adaptive random forest: its rule step by step, a single tree, drift, and agreement with river's."""

import numpy as np
import pytest

from boostrun import BoostrunError, StreamForestClassifier
from boostrun.kernels import hoeffding
from boostrun.methods.archive import Damaged
from boostrun.papers.iboost.baselines import HoeffdingTreeClassifier
from boostrun.papers.iboost.kernels import adwin
from boostrun.papers.iboost.onlineboost import poisson
from boostrun.papers.iboost.trained import check_forest
from tests.papers.iboost.learners import jumps

pytestmark = pytest.mark.slow  # kernels that take long to compile; other tests ask what all learners must do

NEVER = {"warning_delta": 1e-300, "drift_delta": 1e-300}  # no ADWIN is cut


class Member:
    """A tree and its background tree, by their numbers in a pool."""

    def __init__(self, tree, background):
        self.tree, self.background, self.grows = tree, background, False
        self.begin()

    def begin(self):
        self.met = self.right = 0
        self.warning, self.drift = adwin.Adwins.empty(1), adwin.Adwins.empty(1)


def rises(window, error, delta):
    before = adwin.estimate(window, 0)
    return adwin.add(window, 0, error, delta, False) and adwin.estimate(window, 0) > before


def forest(X, y, classes, members, trees, rules, rng, weighted):
    """Predictions of the published rule, and warnings, drifts and exchanges."""
    forest, said, counts = [Member(j, members + j) for j in range(members)], [], [0, 0, 0]
    for x, label in zip(X, y):
        votes, own = np.zeros(classes), []
        for member in forest:
            shares = np.zeros(classes)
            hoeffding.probabilities(trees, member.tree, x, rules, shares)
            votes += shares * (member.right / member.met if weighted and member.right else 1.0)
            own.append(int(shares.argmax()))
        said.append(int(votes[1] >= votes[0]) if classes == 2 else int(votes.argmax()))
        for member, answer in zip(forest, own):
            member.met, member.right = member.met + 1, member.right + (answer == label)
            count = poisson(rng, 6.0)
            if not count:
                continue
            for tree in (member.tree, member.background) if member.grows else (member.tree,):
                hoeffding.learn(trees, tree, x, label, float(count), rules)
            error = float(answer != label)
            if rises(member.warning, error, 0.01):
                counts[0] += 1
                hoeffding.forget(trees, member.background)
                member.grows, member.warning = True, adwin.Adwins.empty(1)
            if rises(member.drift, error, 0.001):
                counts[1], counts[2] = counts[1] + 1, counts[2] + member.grows
                hoeffding.forget(trees, member.tree)
                if member.grows:
                    member.tree, member.background = member.background, member.tree
                member.grows = False
                member.begin()
    return said, counts


@pytest.mark.parametrize(("classes", "vote"), [(2, "weighted"), (3, "proba")])
def test_it_is_the_published_rule(classes, vote):
    X, y = jumps(1600, 500, classes=classes)
    model = StreamForestClassifier(budget=4, vote=vote, random_state=3)
    ours = model.test_then_train(X, y, classes=range(classes))
    grown, drawn = np.random.SeedSequence(3).spawn(2)
    seed = int(grown.generate_state(1, np.uint64)[0])
    trees = hoeffding.HoeffdingTrees.fresh(8, classes, 3, 3, seed).roomy(4000)
    rules = hoeffding.Rules(50.0, 0.01, 0.05)
    theirs, counts = forest(X, y, classes, 4, trees, rules, np.random.default_rng(drawn), vote == "weighted")
    np.testing.assert_array_equal(ours, theirs)
    assert [model.n_warnings_, model.n_drifts_, model.n_exchanged_] == counts
    assert min(counts) > 0


def test_one_tree_on_all_features_without_change_is_the_tree_of_the_same_weights():
    X, y = jumps(1500, 1500)
    keys = {"grace_period": 50, "tie": 0.05}
    model = StreamForestClassifier(
        budget=1, feature_fraction=1.0, split_delta=1e-7, random_state=0, **NEVER, **keys
    ).partial_fit(X, y)
    rng = np.random.default_rng(np.random.SeedSequence(0).spawn(2)[1])
    tree = hoeffding.HoeffdingTrees.fresh(1, 2, 3).roomy(2000)
    for x, label in zip(X, y):
        hoeffding.learn(tree, 0, x, label, float(poisson(rng, 6.0)), hoeffding.Rules(50.0, 1e-7, 0.05))
    found = np.empty(len(X), np.int64)
    hoeffding.answers(tree, X, hoeffding.Rules(50.0, 1e-7, 0.05), found)
    np.testing.assert_array_equal(model.predict(X), found)
    assert model.n_warnings_ == model.n_drifts_ == 0
    probabilities = model.predict_proba(X)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    np.testing.assert_array_equal(probabilities.argmax(axis=1), model.predict(X))


def test_after_a_drift_it_recovers_where_a_tree_does_not():
    X, y = jumps(6000, 2000)
    found = StreamForestClassifier(random_state=0).test_then_train(X, y) == y
    alone = HoeffdingTreeClassifier().test_then_train(X, y) == y
    stays = StreamForestClassifier(random_state=0, **NEVER).test_then_train(X, y) == y
    last = slice(5000, None)
    assert found[last].mean() > stays[last].mean() + 0.02
    assert found[last].mean() > alone[last].mean() + 0.02


@pytest.mark.parametrize(("share", "expected"), [(None, 4), (0.6, 5), (1.0, 9), (0.01, 1)])
def test_a_leaf_looks_at_its_share_of_the_features(share, expected):
    rng = np.random.default_rng(0)
    model = StreamForestClassifier(budget=3, feature_fraction=share, random_state=0)
    looks = model.partial_fit(rng.normal(size=(50, 9)), rng.integers(0, 2, 50)).learners_.looks
    assert looks.shape[1] == expected


def test_it_is_as_accurate_as_rivers():
    """Ten drifting streams: mean prequential accuracy no more than a point below river's."""
    forest = pytest.importorskip("river.forest")
    apart = []
    for seed in range(10):
        X, y = jumps(3000, 1000, seed=seed)
        ours = (StreamForestClassifier(random_state=seed).test_then_train(X, y) == y).mean()
        river, right = forest.ARFClassifier(n_models=10, seed=seed), 0
        for row, label in zip(X.tolist(), y.tolist()):
            x = dict(enumerate(row))
            right += river.predict_one(x) == label
            river.learn_one(x, label)
        apart.append(ours - right / len(y))
    assert np.mean(apart) > -0.01, apart


def test_a_saved_forest_goes_on_and_a_damaged_one_is_refused(tmp_path):
    X, y = jumps(2400, 600)
    model = StreamForestClassifier(budget=3, random_state=0).partial_fit(X[:1500], y[:1500])
    again = StreamForestClassifier.load(model.save(tmp_path / "model"))
    np.testing.assert_array_equal(again.test_then_train(X[1500:], y[1500:]), model.test_then_train(X[1500:], y[1500:]))
    assert again.n_drifts_ == model.n_drifts_ > 0
    again._forest.places[0] = again._forest.places[1]
    with pytest.raises(Damaged, match="every tree in one place"):
        check_forest(again, 2)


@pytest.mark.parametrize(("first", "later"), [(3, 4), (9, 20)])  # leaves observe all features; four of nine
def test_a_forest_whose_features_came_late_is_loaded(first, later, tmp_path):
    generator = np.random.default_rng(0)
    model = StreamForestClassifier(budget=3, random_state=0)
    for i in range(80):
        x = dict(enumerate(generator.normal(size=later if i > 40 else first).tolist()))
        model.learn_one(x, "up" if x[0] > 0.0 else "down")
    again = StreamForestClassifier.load(model.save(tmp_path / "model"))
    assert again.feature_fraction is None
    for row in generator.normal(size=(60, later)).tolist():
        x = dict(enumerate(row))
        assert again.predict_proba_one(x) == model.predict_proba_one(x)
        again.learn_one(x, "up")
        model.learn_one(x, "up")


@pytest.mark.parametrize("shape", [None, (), (96, 0), (96, 9)])
def test_a_forest_with_damaged_looks_is_refused(shape, tmp_path):
    X, y = jumps(60, 30)
    looks = None if shape is None else np.zeros(shape, np.int64)
    path = StreamForestClassifier(budget=3, random_state=0).partial_fit(X, y).save(tmp_path / "model")
    with np.load(path) as file:
        arrays = {name: file[name] for name in file.files if looks is not None or name != "state_learners_.5"}
    np.savez(path, **(arrays if looks is None else arrays | {"state_learners_.5": looks}))
    with pytest.raises(BoostrunError, match="not a model saved by boostrun"):
        StreamForestClassifier.load(path)
