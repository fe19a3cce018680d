"""Committees on a window with regressions, trees or objects as members: loops, fits, refused bases."""

import pickle

import numpy as np
import pytest

from boostrun.errors import BoostrunError
from boostrun.kernels import hoeffding
from boostrun.papers.iboost import fitted_members
from boostrun.papers.iboost import window_committees as ocb
from boostrun.papers.iboost.iboost import IBoostClassifier
from boostrun.papers.iboost.iboost_fitted import IBoostFittedClassifier
from boostrun.papers.iboost.kernels import bases
from boostrun.papers.iboost.kernels.committee import start_order
from boostrun.papers.iboost.window_committees import AdaBoostWindowClassifier, FLBClassifier, OCBClassifier
from tests.marks import slow_but
from tests.papers.iboost.learners import TreeAsked, small_tree
from tests.reference import fitted_committees as twins

COMMITTEES = {"adaboost": AdaBoostWindowClassifier, "flb": FLBClassifier, "ocb": OCBClassifier}
every_committee = pytest.mark.parametrize("name", slow_but(["flb"], COMMITTEES))  # others take seconds to compile


def turning(n, n_classes=2, seed=0):
    """Classes by two of three features, with a concept that turns round in the middle."""
    X = np.random.default_rng(seed).uniform(0, 10, (n, 3))
    y = (X[:, 0] + X[:, 1] > 8).astype(int) + (n_classes > 2) * (X[:, 0] + X[:, 1] > 12)
    y[n // 2 :] = n_classes - 1 - y[n // 2 :]
    return X, y


def made(name, base, **more):
    own = {"n_window": 40, "budget": 6, "base": base} | ({"period": 7} if name == "adaboost" else {}) | more
    return COMMITTEES[name](**own)


def fit_bayes(X, y, weights):
    from sklearn.naive_bayes import GaussianNB

    return GaussianNB().fit(X, y, sample_weight=len(y) * weights).predict


@pytest.mark.parametrize("n_classes", [2, 3])
@every_committee
def test_committees_of_objects_are_the_plain_loops(name, n_classes):
    """With a base that has no ties, which the last digit of a weight could break."""
    from sklearn.naive_bayes import GaussianNB

    X, y = turning(240, n_classes)
    said = made(name, GaussianNB(), n_window=20, budget=3).test_then_train(X, y, np.arange(n_classes))
    if name == "adaboost":
        expected = twins.retrained(fit_bayes, X, y, 20, 3, 7, n_classes)
    elif name == "flb":
        expected = twins.fast_and_light(fit_bayes, X, y, 20, 3, 2.33, n_classes)
    else:
        update = lambda m, *sums: ocb.update(m, *sums, len(m), 1, 0.5 * np.log(n_classes - 1.0))  # noqa: E731
        expected = twins.coordinates(fit_bayes, X, y, 20, 3, 1, 0.5, n_classes, update)
    assert len(set(said)) == n_classes
    np.testing.assert_array_equal(said, expected)


class Stump:
    """Our stump behind scikit-learn's methods."""

    def get_params(self, deep=True):
        return {}

    def fit(self, X, y, sample_weight):
        columns, order = np.ascontiguousarray(X.T), np.zeros(X.T.shape, np.int32)
        start_order(columns, order)
        self.model = np.zeros(4)
        bases.fit_stump(columns, order, y, sample_weight / sample_weight.sum(), self.model)
        return self

    def predict(self, X):
        out = np.empty(len(X), np.int64)
        bases.respond_window(bases.STUMP, self.model, np.ascontiguousarray(X.T), 2, out)
        return out


@pytest.mark.parametrize("name", slow_but(["flb"], COMMITTEES))
def test_a_loop_as_python_is_the_compiled_one(name):
    X, y = turning(700)
    compiled, objects = made(name, "stump"), made(name, Stump())
    said = compiled.test_then_train(X, y)
    np.testing.assert_array_equal(objects.test_then_train(X, y), said)
    np.testing.assert_allclose(objects.betas_, compiled.betas_, rtol=1e-9)
    assert (said[100:350] == y[100:350]).mean() > 0.8


def squares(n, seed=0):
    """Three classes, of which the two rarer lie beyond lines, in features of different sizes."""
    X = np.random.default_rng(seed).normal(size=(n, 3)) * [1.0, 100.0, 0.01]
    return X, (X[:, 0] > 0.5).astype(int) + (X[:, 1] > 80.0) * (X[:, 0] > 0.5)


BASES = ["logistic", pytest.param("hoeffding", marks=pytest.mark.slow), "object"]


@pytest.mark.parametrize("base", BASES)
@every_committee
def test_a_cut_stream_or_a_kept_model_goes_on_the_same(name, base, tmp_path):
    X, y = squares(500)
    base = small_tree() if base == "object" else base
    whole, part = made(name, base), made(name, base)
    said = whole.test_then_train(X, y, classes=[0, 1, 2])
    assert (said[250:] == y[250:]).mean() > 0.7
    first = [
        part.test_then_train(X[a:b], y[a:b], classes=[0, 1, 2])
        for a, b in ((0, 39), (39, 41), (41, 130), (130, 131), (131, 301))
    ]
    kept = [pickle.loads(pickle.dumps(part))]
    if isinstance(base, str):
        part.save(tmp_path / "model.npz")
        kept.append(type(part).load(tmp_path / "model.npz"))
    else:
        with pytest.raises(BoostrunError, match="cannot be saved: its _fitted is"):
            part.save(tmp_path / "model.npz")
    for other in kept:
        np.testing.assert_array_equal(np.concatenate([*first, other.test_then_train(X[301:], y[301:])]), said)
        np.testing.assert_array_equal(other.predict(X), whole.predict(X))


@pytest.mark.parametrize("base", BASES)
@every_committee
def test_a_hold_out_is_predicted_as_the_learner_does_and_members_are_asked_once(name, base):
    X, y = turning(300)
    model = made(name, small_tree() if base == "object" else base, budget=3)
    answers = model.answers_on(X[200:])  # before there is a committee, as an evaluation asks
    for a in range(0, 300, 35):
        model.partial_fit(X[a : a + 35], y[a : a + 35])
        np.testing.assert_array_equal(answers(), model.predict(X[200:]))


@pytest.mark.parametrize("base", BASES)
@every_committee
def test_new_classes_and_new_features_come_later(name, base):
    """Members ignore a new feature; a new class starts a new committee, except for OCB after its window."""
    X, y = squares(400)
    model = made(name, small_tree() if base == "object" else base)
    for i in range(90):
        model.learn_one(dict(zip("ab", X[i])), int(y[i] > 0))
    before = [model.predict_one(dict(zip("ab", x))) for x in X[:50]]
    model.learn_one(dict(zip("abc", X[90])), int(y[90] > 0))
    if name == "flb":  # its block is not full
        assert before == [model.predict_one(dict(zip("abc", [*x, 5.0]))) for x in X[:50, :2]]
    for i in range(91, 400):
        model.learn_one(dict(zip("abc", X[i])), int(y[i]))
    said = model.predict(X)
    assert set(said) == ({0, 1} if name == "ocb" else {0, 1, 2}) and (said == y)[y < 2].mean() > 0.7


def test_a_regression_is_its_lines_in_the_units_of_the_features():
    X, y = squares(60)
    weights = np.random.default_rng(1).uniform(size=60)
    weights /= weights.sum()
    columns, said = np.ascontiguousarray(X.T), np.empty(60, np.int64)
    for n_classes in (2, 3):
        labels = np.minimum(y, n_classes - 1)
        model = np.empty(bases.width(bases.GNB, 3, n_classes))
        fitted_members.fit_logistic(X, labels, weights, n_classes, 4, 0.5, model)
        scores = twins.logistic(X, labels, weights, n_classes, 4, 0.5)
        rows = model.reshape(-1, 7)
        ours = rows[:, 0] + X @ rows[:, 1:4].T
        np.testing.assert_allclose(ours, scores if n_classes == 3 else scores[:, 1:] - scores[:, :1], atol=1e-9)
        bases.respond_window(bases.GNB, model, columns, n_classes, said)
        np.testing.assert_array_equal(said, scores.argmax(axis=1))
        assert (said == labels).mean() > 0.9


def test_a_regression_ignores_a_constant_and_examples_without_weight_and_knows_one_class_alone():
    X, y = squares(60)
    X[:, 2] = 0.1
    y = np.minimum(y, 1)
    for n_classes, size in ((2, 7), (3, 21)):
        model, fewer = np.empty(size), np.empty(size)
        weights = np.where(np.arange(60) < 40, 1 / 40, 0.0)
        fitted_members.fit_logistic(X, y, weights, n_classes, 2, 0.5, model)
        wild, labels = X.copy(), y.copy()
        wild[40:], labels[40:] = 1e9, 1 - y[40:]
        fitted_members.fit_logistic(wild, labels, weights, n_classes, 2, 0.5, fewer)
        np.testing.assert_array_equal(model, fewer)
        assert not model.reshape(-1, 7)[:, 3].any()
        fitted_members.fit_logistic(X, np.ones(60, np.int64), weights, n_classes, 2, 0.5, model)
        said = np.empty(60, np.int64)
        bases.respond_window(bases.GNB, model, np.ascontiguousarray(wild.T), n_classes, said)
        assert (said == 1).all()


@pytest.mark.slow
@every_committee
def test_a_tree_is_one_pass_over_the_window_and_rivers_objects_learn_it_so(name):
    X, y = turning(500)
    trees, objects = made(name, "hoeffding", grace_period=15), made(name, TreeAsked(2, hoeffding.Rules(15.0, 1e-2)))
    np.testing.assert_array_equal(trees.test_then_train(X, y), objects.test_then_train(X, y))
    np.testing.assert_array_equal(trees.betas_, objects.betas_)


@pytest.mark.parametrize("name", slow_but(["flb"], [*COMMITTEES, "iboost_fitted"]))
def test_what_cannot_be_a_member_is_one_sentence(name):
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.tree import DecisionTreeRegressor

    kind, (X, y) = {**COMMITTEES, "iboost_fitted": IBoostFittedClassifier}[name], turning(50)
    for base, words in (
        ("oak", "base='oak': one of"), (object(), "base=.*: one of"), (small_tree, "base=.*: one of"),
        (KNeighborsClassifier(), "KNeighborsClassifier takes no weights"),
        (DecisionTreeRegressor(max_depth=1), "base=.*: it must be a classifier"),
    ):  # fmt: skip
        with pytest.raises(BoostrunError, match=words):
            kind(n_window=10, base=base).partial_fit(X, y)
    if name in COMMITTEES:
        with pytest.raises(BoostrunError, match="base='oak': one of"):
            kind(base="oak").answers_on(X)


class Scaled:
    """A pipeline of river's kind: it hands on to its last step what learn_one is given."""

    def __init__(self):
        self.steps = {"scale": None, "tree": TreeAsked(2, hoeffding.Rules(15.0, 1e-2))}

    def clone(self):
        return Scaled()

    def learn_one(self, x, y, **more):
        self.steps["tree"].learn_one({name: value / 8 for name, value in x.items()}, y, **more)

    def predict_one(self, x):
        return self.steps["tree"].predict_one({name: value / 8 for name, value in x.items()})


def test_a_pipelines_last_step_has_the_weights():
    from sklearn.naive_bayes import GaussianNB
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer

    X, y = turning(200)
    piped = made("flb", make_pipeline(FunctionTransformer(), make_pipeline(FunctionTransformer(), GaussianNB())))
    np.testing.assert_array_equal(piped.test_then_train(X, y), made("flb", GaussianNB()).test_then_train(X, y))
    with pytest.raises(BoostrunError, match="KNeighborsClassifier takes no weights"):
        made("flb", make_pipeline(FunctionTransformer(), KNeighborsClassifier())).partial_fit(X, y)


@pytest.mark.slow
def test_a_pipeline_of_rivers_kind_learns_with_weights():
    X, y = turning(200)
    scaled, plain = made("flb", Scaled()), made("flb", TreeAsked(2, hoeffding.Rules(15.0, 1e-2)))
    np.testing.assert_array_equal(scaled.test_then_train(8 * X, y), plain.test_then_train(X, y))


def test_iboost_names_its_method_of_trees_where_they_are_asked_for(command):
    X, y = turning(50)
    for kind in (IBoostClassifier, IBoostFittedClassifier):
        with pytest.raises(BoostrunError, match=r"base='hoeffding': .* iboost_trees"):
            kind(base="hoeffding").partial_fit(X, y)
    code, _, err = command("algo=iboost_batch algo.base=hoeffding dataset=sea")
    assert code == 2 and "algo.base=hoeffding: one of stump, gnb, bnb is needed; " in err and "iboost_trees" in err


@every_committee
def test_a_window_of_one_class_is_answered_without_the_object(name):
    from sklearn.linear_model import LogisticRegression

    X, _ = turning(100)
    given = LogisticRegression()
    model = made(name, given).partial_fit(X[:45], np.zeros(45, int), classes=[0, 1])
    assert (model.predict(X) == 0).all() and not hasattr(given, "coef_")
