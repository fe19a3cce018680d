"""Ensembles whose members are regressions, trees or objects: they learn, are saved, and run one loop for all."""

import numpy as np
import pytest

from boostrun.kernels import hoeffding
from boostrun.papers.iboost import members
from boostrun.papers.iboost import onlineboost as online_boost
from boostrun.papers.iboost.kernels import incremental
from boostrun.papers.iboost.keys import IncrementalKeys
from boostrun.papers.iboost.online_ensembles import SmoothBoostClassifier
from boostrun.papers.iboost.onlineboost import OnlineBoostClassifier
from tests.papers.iboost.learners import METHODS, TreeAsked, class_of

pytestmark = pytest.mark.slow  # kernels that take long to compile

ENSEMBLES = [name for name, method in METHODS.items() if issubclass(method.keys, IncrementalKeys)]


def squares(n, seed=0):
    """Two features tell three classes, side by side in squares: no line does."""
    X = np.random.default_rng(seed).normal(size=(n, 3))
    return X, (X[:, 0] * X[:, 1] > 0).astype(int) + (X[:, 0] > 1.0)


def made(name, base, **more):
    own = {"budget": 3, "base": base, "random_state": 0, "n_window": 50} | more
    known = METHODS[name].keys.__dataclass_fields__
    return class_of(name)(**{key: value for key, value in own.items() if key in known})


@pytest.mark.parametrize(("base", "rules"), [(
    "hoeffding", hoeffding.Rules(40.0, 1e-2),
), ("stump", hoeffding.Rules(40.0, 1e-2, leaf=hoeffding.MAJORITY, max_depth=1))])  # fmt: skip
@pytest.mark.parametrize("name", ENSEMBLES)
def test_a_loop_as_python_is_the_compiled_one(name, base, rules):
    X, y = squares(300)
    trees = made(name, base, grace_period=40, split_delta=1e-2)
    objects = made(name, TreeAsked(3, rules))
    said = trees.test_then_train(X, y, classes=[0, 1, 2])
    np.testing.assert_array_equal(said, objects.test_then_train(X, y, classes=[0, 1, 2]))
    np.testing.assert_array_equal(trees.predict(X), objects.predict(X))


def test_a_stump_has_one_split():
    X = np.random.default_rng(0).normal(size=(600, 3))
    y = (X[:, 1] > 0.2).astype(int)
    model = made("onlineboost", "stump", grace_period=40, split_delta=1e-2).partial_fit(X, y)
    trees = model.learners_
    left, right = trees.nodes[trees.roots, :2].T
    split = left >= 0
    assert split.any() and (trees.nodes[left[split], 0] < 0).all() and (trees.nodes[right[split], 0] < 0).all()
    assert np.mean(model.predict(X) == y) > 0.95


def test_other_members_leave_naive_bayes_its_own_loop():
    loop = online_boost.online_boost
    assert members.members_of(OnlineBoostClassifier()).loop(loop) is loop
    other = members.members_of(OnlineBoostClassifier(base="hoeffding")).loop(loop)
    assert other is not loop and online_boost.bayes is incremental
    assert other is members.members_of(OnlineBoostClassifier(base="hoeffding", budget=3)).loop(loop)


@pytest.mark.parametrize("weighted", [True, False])
def test_scikit_learns_objects_are_copied_and_learn(weighted):
    from sklearn.linear_model import Perceptron
    from sklearn.naive_bayes import GaussianNB

    X, y = squares(60)
    given = GaussianNB() if weighted else Perceptron()
    model = OnlineBoostClassifier(budget=2, base=given, random_state=0)
    model.test_then_train(X, y > 0, classes=[False, True])
    assert not hasattr(given, "classes_") and set(model.predict(X)) <= {False, True}
    assert model.learners_.weight.sum() > 60


@pytest.mark.parametrize("coefficients", ["uniform", "convex"])
def test_smooth_boosting_is_its_lines(coefficients):
    X, y = squares(200)
    model = SmoothBoostClassifier(budget=4, base="gnb", coefficients=coefficients)
    said = model.test_then_train(X, y, classes=[0, 1, 2])
    members = [OnlineBoostClassifier(budget=1, base="gnb") for _ in range(4)]
    for member in members:
        member._begin(3, 3)
    a, theta = np.full(4, 0.25), 0.1 / 2.1
    for i, (x, label) in enumerate(zip(X, y)):
        for member in members:
            incremental.see.py_func(member.spread_, x, 1e-3)
        answers = [incremental.answer(member.learners_, 0, x, True) for member in members]
        votes = np.bincount(answers, weights=a, minlength=3)
        assert said[i] == votes.argmax()
        z, w, margins = 0.0, 1.0, np.where(np.array(answers) == label, 1.0, -1.0)
        for member, m in zip(members, margins):
            incremental.train(member.learners_, 0, x, label, w, member.spread_.floor, True)
            z += m - theta
            w = 1.0 if z <= 0 else 0.9 ** (z / 2)
        if coefficients == "convex" and a @ margins < theta:
            a = a + np.sqrt(2 / (4 * (i + 1))) * margins
            shift = np.sort(a)[::-1].cumsum() - 1
            kept = np.flatnonzero(np.sort(a)[::-1] > shift / np.arange(1, 5))[-1]
            a = np.maximum(a - shift[kept] / (kept + 1), 0.0)
    assert model.betas_ == pytest.approx(a)


@pytest.mark.parametrize("base", ["logistic", "hoeffding", "stump"])
@pytest.mark.parametrize("name", ENSEMBLES)
def test_members_learn(name, base):
    X, y = squares(900)
    said = made(name, base, grace_period=40, split_delta=1e-2).test_then_train(X, y, classes=[0, 1, 2])
    assert np.mean(said[450:] == y[450:]) > (0.6 if base == "hoeffding" else 0.45)
