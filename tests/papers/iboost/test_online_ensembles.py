"""AdWin Bagging, dynamic weighted majority, and drift detectors of river's in the place of ADWIN."""

import pickle

import numpy as np
import pytest

from boostrun.errors import BoostrunError
from boostrun.papers.iboost.kernels import adwin
from boostrun.papers.iboost.keys import DETECTORS
from boostrun.papers.iboost.online_ensembles import AdwinBaggingClassifier, DWMClassifier
from boostrun.papers.iboost.onlineboost import poisson
from tests.papers.iboost.learners import flipping, make
from tests.reference import drift_rivals as twins

pytestmark = pytest.mark.slow  # kernels that take long to compile; other tests ask what all learners must do


@pytest.mark.parametrize(
    ("monitor", "after", "lam"), [("error", "keep", 1), ("correct", "reset", 1), ("error", "keep", 6)]
)
def test_bagging_is_the_published_rule(monitor, after, lam):
    X, y = flipping(400, 0, 250, 1.0)
    model = AdwinBaggingClassifier(budget=3, random_state=4, monitor=monitor, after=after, lam=lam)
    ours = model.test_then_train(X, y)
    rng = np.random.default_rng(np.random.SeedSequence(4))
    members, adwins, theirs, replaced = [twins.NaiveBayes(2) for _ in range(3)], adwin.Adwins.empty(3), [], 0
    for i, (x, label) in enumerate(zip(X, y)):
        votes = [member.answer(x) for member in members if any(member.met)]
        theirs.append(twins.winner(np.bincount(votes, minlength=2)))
        change = False
        for j, member in enumerate(members):
            count = poisson(rng, float(lam))
            if count:
                member.train(x, label, count, twins.floor(X[: i + 1], 1e-3))
            right, before = member.answer(x) == label, adwin.estimate(adwins, j)
            item = float(right if monitor == "correct" else not right)
            cut = adwin.add(adwins, j, item, 0.002, after == "reset")
            change |= cut and adwin.estimate(adwins, j) > before
        if change:
            worst = int(np.argmax([adwin.estimate(adwins, j) for j in range(3)]))
            members[worst] = twins.NaiveBayes(2)
            adwin.forget(adwins, worst)
            replaced += 1
    np.testing.assert_array_equal(ours, theirs)
    assert model.n_replaced_ == replaced
    assert replaced or monitor == "correct"


def test_fed_with_correctness_it_is_rivers_and_errors_are_better():
    """SEA with its four concepts, 20 seeds: mean prequential accuracy within two standard errors of river's class, and
    above it with ``monitor="error"``."""
    ensemble, naive_bayes = pytest.importorskip("river.ensemble"), pytest.importorskip("river.naive_bayes")
    apart, gained = [], []
    for seed in range(20):
        X = np.random.default_rng(seed).uniform(0, 10, (5000, 3))
        y = (X[:, 0] + X[:, 1] <= np.repeat([8, 9, 7, 9.5], 1250)).astype(int)
        same = {"budget": 5, "vote": "proba", "var_floor": 0.0, "random_state": seed}
        rivers = AdwinBaggingClassifier(monitor="correct", after="reset", **same).test_then_train(X, y) == y
        errors = AdwinBaggingClassifier(monitor="error", after="keep", **same).test_then_train(X, y) == y
        river, right = ensemble.ADWINBaggingClassifier(naive_bayes.GaussianNB(), n_models=5, seed=seed), 0
        for x, label in zip(X.tolist(), y.tolist()):
            row = dict(enumerate(x))
            right += river.predict_one(row) == label
            river.learn_one(row, label)
        apart.append(rivers.mean() - right / len(y))
        gained.append(errors.mean() - right / len(y))
    deviation = np.std([apart, gained], axis=1, ddof=1) / np.sqrt(20)
    assert abs(np.mean(apart)) < 2 * deviation[0]
    assert np.mean(gained) > 2 * deviation[1]


def published_majority(X, y, budget, period, beta=0.5, theta=0.01):
    experts, out = [[twins.NaiveBayes(2), 1.0]], []
    for t in range(1, len(y) + 1):
        x, label = X[t - 1], y[t - 1]
        said = np.array([expert.answer(x) for expert, _ in experts])
        weigh = lambda: twins.winner(np.bincount(said, [w for _, w in experts], 2))  # noqa: B023, E731
        out.append(weigh())
        if t % period == 0:
            for row, s in zip(experts, said):
                row[1] *= 1.0 if s == label else beta
            wrong = weigh() != label
            most = max(w for _, w in experts)
            experts = [[e, w / most] for e, w in experts if w / most >= theta]
            if wrong:
                if len(experts) == budget:
                    experts.pop(int(np.argmin([w for _, w in experts])))
                experts.append([twins.NaiveBayes(2), 1.0])
        for expert, _ in experts:
            expert.train(x, label, 1, twins.floor(X[:t], 1e-3))
    return out, [w for _, w in experts]


@pytest.mark.parametrize(("budget", "period", "theta"), [(3, 1, 0.01), (4, 7, 0.01), (1, 2, 0.01), (3, 1, 0.4)])
def test_weighted_majority_is_the_published_rule(budget, period, theta):
    rng = np.random.default_rng(budget)
    y = rng.integers(0, 2, 120)
    X = rng.normal(y[:, None] * np.where(np.arange(120) < 60, 1.5, -1.5)[:, None], 1.0, (120, 2))
    model = DWMClassifier(budget=budget, period=period, theta=theta)
    ours = model.test_then_train(X, y, classes=[0, 1])
    theirs, weights = published_majority(X, y, budget, period, theta=theta)
    np.testing.assert_array_equal(ours, theirs)
    np.testing.assert_allclose(model.betas_, weights)
    assert model.n_added_ - model.n_removed_ == len(weights) and model.n_added_ > 1


drift = pytest.importorskip("river.drift")
with_detector = pytest.mark.parametrize("name", ["adwinbag", "flc", "iboost_adwin"])


def turned(n=240):
    """Two classes far apart, which change places half way."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n)
    X = rng.normal(size=(n, 2)) + 4.0 * y[:, None]
    return X, np.where(np.arange(n) < n // 2, y, 1 - y)


def changes(model):
    """How often something was done about a change."""
    return model.n_detections_ if hasattr(model, "n_detections_") else model.n_replaced_


@with_detector
def test_one_that_finds_nothing_leaves_the_method_as_it_is_without_changes(name):
    """To the bit, of ADWINs so sure of themselves that they are never cut."""
    X, y = turned()
    plain, quiet = make(name, delta=1e-300), make(name, detector=drift.NoDrift())
    np.testing.assert_array_equal(plain.test_then_train(X, y), quiet.test_then_train(X, y))
    assert changes(plain) == changes(quiet) == 0


@with_detector
def test_a_change_is_acted_upon_and_the_stream_may_be_cut_anywhere(name):
    X, y = turned()
    whole, parts = make(name, detector="ddm"), make(name, detector="ddm")
    said = whole.test_then_train(X, y, classes=[0, 1])
    cut = [parts.test_then_train(X[a:b], y[a:b], classes=[0, 1]) for a, b in ((0, 7), (7, 130), (130, 240))]
    np.testing.assert_array_equal(said, np.concatenate(cut))
    assert changes(whole) == changes(parts) > 0


@pytest.mark.parametrize("detector", DETECTORS)
def test_every_detector_is_found_by_its_name(detector):
    model = AdwinBaggingClassifier(budget=2, random_state=0, detector=detector).partial_fit(*turned(12))
    assert type(model._detectors[0]).__name__ == DETECTORS[detector]
    assert model._detectors[0] is not model._detectors[1]


def test_an_object_is_copied_for_each_member_and_stays_as_it_was():
    given = drift.ADWIN(delta=0.3)
    model = make("flc", detector=given)
    X, y = turned()
    model.partial_fit(X, y)
    assert given.width == 0 and changes(model) > 0 and {type(d) for d in model._detectors} == {drift.ADWIN}
    assert model.clone().detector is not given and model.clone()._get_params()["detector"][1]["delta"] == 0.3
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.test_then_train(X, y), model.test_then_train(X, y))


def test_what_is_no_detector_and_what_a_file_cannot_hold_get_a_sentence(tmp_path):
    X, y = turned(30)
    for bad in ("adwim", drift.ADWIN, 3):
        with pytest.raises(BoostrunError, match=r"detector=.*one of adwin, page_hinkley.* is needed"):
            make("flc", detector=bad).partial_fit(X, y)
    with pytest.raises(BoostrunError, match=r"cannot be saved: its _detectors\.0 is a DDM"):
        make("flc", detector="ddm").partial_fit(X, y).save(tmp_path / "model.npz")
