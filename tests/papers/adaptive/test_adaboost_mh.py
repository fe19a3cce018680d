"""AdaBoost.MH and its policies: the invariants of the specification, scikit-learn's checks, budgets."""

import copy

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from boostrun.conformance.method import not_of_draws
from boostrun.data.source import ArraySource
from boostrun.errors import BoostrunError
from boostrun.methods.declaration import obtain
from boostrun.papers.adaptive import POLICIES
from boostrun.papers.adaptive.adaboost_mh import Board, TrainingRun, one_column_a_class, signed_weights
from boostrun.papers.adaptive.classifier import AdaBoostMHClassifier
from boostrun.papers.adaptive.policies import (
    MAS1Q,
    MASQ1,
    UCB,
    BestFamily,
    Exp3P,
    Laminating,
    MASNaive,
    Tasting1Q,
    TastingLaminating,
    TastingQ1,
    TastingUCB,
    Uniform1Q,
    UniformNaive,
    UniformQ1,
)  # fmt: skip
from tests.marks import slow_after


@parametrize_with_checks([AdaBoostMHClassifier(Laminating(), n_estimators=10)], expected_failed_checks=not_of_draws)
def test_scikit_learns_checks(estimator, check):
    """Every policy is a method of the catalogue, whose slow test asks the same."""
    check(estimator)


class Source(ArraySource):
    families = (("top", 0, 20), ("middle", 20, 50), ("bottom", 50, 64))


def train(digits, policy, rounds=40, seed=0, source=Source, **parameters):
    model = AdaBoostMHClassifier(policy, n_estimators=rounds, random_state=seed, **parameters)
    return model.fit_source(source(*digits, 0))


@pytest.mark.parametrize("policy", slow_after(6, POLICIES))
def test_the_reported_loss_is_the_loss_and_falls(policy, digits):
    model = train(digits, policy, rounds=230)  # past two renewals of the weights
    labels = one_column_a_class(digits[1], model.classes_)
    marks, columns = (1, 100, 230), np.ascontiguousarray(digits[0].T)
    for t, scores in zip(marks, model.ensemble_.staged_decision(columns, marks)):
        loss = np.log10(np.mean(np.exp(-labels * scores.T)))
        assert model.staged_log10_loss_[t - 1] == pytest.approx(loss, rel=1e-4, abs=1e-6)
    assert (np.diff(model.staged_log10_loss_) <= 1e-12).all()


@pytest.mark.parametrize("policy", slow_after(6, POLICIES))
def test_score_on_digits(policy, digits):
    """One parametrised table of scores that this code gives; a change here is a change of results."""
    expected = {
        "uniform_naive": 88.4, "uniform_1q": 89.7, "uniform_q1": 89.9, "best_family": 61.0, "ucb": 89.2, "exp3p": 88.7,
        "eps_greedy": 88.4, "tasting_1q": 88.2, "tasting_q1": 88.2, "mas_naive": 87.4, "mas_1q": 87.2,
        "mas_q1": 87.9, "mas_q1_whole": 87.9, "laminating": 88.2, "fixed_sample": 88.2, "tasting_laminating": 87.9,
        "tasting_ucb": 87.9, "pruning": 88.4, "mabsplit": 88.4, "few_features": 88.4,
    }[policy]  # fmt: skip
    X, y = digits
    clf = AdaBoostMHClassifier(policy, n_estimators=200, families=list(Source.families), random_state=0)
    clf.fit(X[:1400], y[:1400])
    assert 100 * clf.score(X[1400:], y[1400:]) == pytest.approx(expected, abs=1.5)


def test_the_first_stump_of_balanced_classes_is_constant():
    X, y = np.random.default_rng(0).integers(0, 256, (500, 6)).astype(np.uint8), np.arange(500) % 10
    model = AdaBoostMHClassifier("uniform_naive", n_estimators=1, random_state=0).fit_source(ArraySource(X, y, 0))
    assert model.ensemble_.constant[0] and (model.ensemble_.votes[0] == -1).all()
    assert model.staged_log10_loss_[0] == pytest.approx(np.log10(0.6), abs=1e-6)  # e = 0.8, Z = 0.6
    assert (model.ensemble_.importances(6) == 0).all()


def test_weights_start_equal_or_balanced_and_sum_to_one():
    labels = one_column_a_class(np.array([0, 1, 2, 2]), np.arange(3))
    uniform = np.abs(signed_weights(labels, np.zeros((4, 3)), "uniform"))
    np.testing.assert_allclose(uniform[:, :3], 1 / 12)
    balanced = np.abs(signed_weights(labels, np.zeros((4, 3)), "balanced"))
    assert balanced[:, :3][labels > 0].sum() == pytest.approx(0.5) and balanced.sum() == pytest.approx(1.0)
    assert uniform.shape == (4, 16) and signed_weights(labels[:, :1], np.zeros((4, 1)), "uniform").shape == (4, 1)


@pytest.mark.parametrize("policy", POLICIES)
def test_a_binary_problem_in_one_column_is_the_problem_in_two(policy, digits):
    rounds = 15 if policy == "mabsplit" else 60  # it draws so many samples that rounding once draws another
    if policy.startswith("mas"):  # kappa takes votes of classes as independent; those of two columns are opposite
        policy = obtain(POLICIES[policy])(noise="paper")
    source = Source(digits[0], digits[1] < 5, 0)
    one = AdaBoostMHClassifier(policy, n_estimators=rounds, random_state=1).fit_source(source)
    two_columns = np.where(source.labels[:, None] == [True, False], 1.0, -1.0)
    codes, rng = np.ascontiguousarray(source.samples.T), np.random.default_rng(np.random.SeedSequence(1))
    board, started = AdaBoostMHClassifier(policy).set_up(codes, Source.families, rng)
    run = TrainingRun(board, started, two_columns, "uniform")
    run.boost(rounds)
    assert (run.ensemble.features == one.ensemble_.features).all()
    np.testing.assert_allclose(run.ensemble.alphas, one.ensemble_.alphas, rtol=1e-4)
    np.testing.assert_allclose(run.loss, one.staged_log10_loss_, rtol=1e-4)


def test_looking_at_everything_is_exhaustive_search(digits):
    everything = train(digits, UniformNaive(Q=64), budget_multiplier=64)
    lamination = train(digits, Laminating(Q=64), budget_multiplier=64 * 6)
    assert (everything.ensemble_.features == lamination.ensemble_.features).all()
    assert (everything.staged_log10_loss_ == lamination.staged_log10_loss_).all()
    few = train(digits, UniformNaive(Q=4))
    assert everything.staged_log10_loss_[-1] < few.staged_log10_loss_[-1]


@pytest.mark.parametrize("policy", POLICIES)
def test_no_step_costs_more_than_the_budget_and_none_can(policy, digits):
    n = len(digits[1])
    model = train(digits, policy, rounds=30)
    charged = model.ledger_["selection"] + model.ledger_["pilot"]
    assert (charged <= 10 * n).all() and model.evaluations_ == charged.sum()
    assert (model.ledger_["refit"] == n).all() and (model.ledger_["update"] == n).all()
    tasted = {"tasting_1q": 30, "tasting_q1": 30, "tasting_ucb": 20}.get(policy, 0) * n
    assert (model.ledger_["tasting"] <= tasted).all() and model.ledger_["tasting"][0] == tasted
    if policy == "laminating":
        assert (charged == charged[0]).all() and charged[0] > 8 * n
    elif policy == "fixed_sample":
        assert (charged == 10 * n).all()
    elif policy == "mabsplit":
        assert (charged > 0).all()
    elif policy.startswith("mas") or policy == "tasting_laminating":
        assert (model.ledger_["pilot"] <= n).all() and model.ledger_["pilot"][0] > 0
    else:
        with pytest.raises(BoostrunError, match="its budget is"):
            train(digits, obtain(POLICIES[policy])(Q=11), rounds=1, budget_multiplier=2)


def test_a_policy_that_asks_for_more_than_the_budget_is_stopped(digits):
    class Greedy:
        def choose(self, board):
            return int(board.edges(np.arange(11))[0].argmax())

    with pytest.raises(BoostrunError, match=r"step 1: the policy asked for 19767 .* where its budget is 17970"):
        train(digits, Greedy(), rounds=1)


@pytest.mark.parametrize("q", [2, 4, 16, 64])
def test_laminatings_rounds_sum_to_q_s_log2_q(q, digits):
    model = train(digits, Laminating(Q=q), rounds=2)
    s = int(10 * len(digits[1]) // (q * np.log2(q)))
    if s * q / 2 < len(digits[1]):  # no round looks at all samples
        assert model.ledger_["selection"][0] == q * s * int(np.log2(q))


def test_policies_keep_to_the_families_they_drew():
    rng = np.random.default_rng(0)
    board = Board(rng.integers(0, 256, (64, 30)).astype(np.uint8), list(Source.families), 10**6, "weight", rng)
    for policy, of in ((Uniform1Q(Q=3), 1), (UniformQ1(Q=3), 3)):
        for _ in range(30):
            features = policy.candidates(board)
            families = {k for k, (_, start, stop) in enumerate(Source.families) for f in features if start <= f < stop}
            assert len(set(features)) == len(features) == 3
            assert len(families) == of
    assert sorted(board.draw(100, family=2)) == list(range(50, 64))


def test_the_sampled_edge_of_a_stump_is_unbiased_and_its_noise_is_kappa_over_s():
    rng = np.random.default_rng(0)
    n, classes, size = 400, 3, 60
    labels = np.where(rng.random((n, classes)) < 0.5, 1.0, -1.0)
    scores = rng.normal(size=(n, classes))
    signed = signed_weights(labels, scores, "uniform")
    phi = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    votes = np.array([1.0, -1.0, 1.0])
    true = float(phi @ signed[:, :classes].astype(float) @ votes)
    for sampling in ("weight", "uniform"):
        board = Board(rng.integers(0, 256, (2, n)).astype(np.uint8), [("all", 0, 2)], 10**9, sampling, rng)
        board.begin_step(signed)
        found = []
        for _ in range(2000):
            sample = board.sample(size)
            found.append(float(phi[sample.rows] @ sample.signed[:, :classes].astype(float) @ votes))
        assert abs(np.mean(found) - true) < 4 * np.std(found) / np.sqrt(2000)
        if sampling == "weight":
            assert np.var(found) <= 1.1 / size


@pytest.mark.parametrize("far", [1.0, 300.0, 3000.0])
@pytest.mark.parametrize("shift", [-900.0, 0.0, 900.0])
def test_weights_are_finite_however_far_the_scores_are(far, shift):
    rng = np.random.default_rng(0)
    labels = np.where(rng.random((50, 3)) < 0.5, 1.0, -1.0)
    margins = far * rng.normal(size=labels.shape) + shift
    signed = signed_weights(labels, labels * margins, "uniform")[:, :3]
    exponents = margins.min() - margins  # in double precision, with the largest weight 1
    wanted = labels * np.exp(exponents) / np.exp(exponents).sum()
    np.testing.assert_allclose(signed, wanted, rtol=1e-5, atol=1e-30)


@pytest.mark.parametrize("policy", slow_after(6, POLICIES))
def test_fitting_T_steps_and_T_more_equals_fitting_2T(policy, digits):
    source = Source(*digits, 0)
    whole = AdaBoostMHClassifier(policy, n_estimators=130, random_state=3).fit_source(source)
    halves = AdaBoostMHClassifier(policy, n_estimators=65, warm_start=True, random_state=3).fit_source(source)
    assert (whole.staged_log10_loss_[:65] == halves.staged_log10_loss_).all()
    halves.n_estimators = 130
    halves.fit_source(source)
    for name in ("features", "thresholds", "votes", "alphas"):
        assert (getattr(whole.ensemble_, name) == getattr(halves.ensemble_, name)).all()
    assert (whole.staged_log10_loss_ == halves.staged_log10_loss_).all()


def test_warm_start_refuses_fewer_rounds_and_other_samples(digits):
    X, y = digits
    model = AdaBoostMHClassifier("ucb", n_estimators=10, warm_start=True, random_state=3).fit_source(Source(X, y, 0))
    model.n_estimators = 12
    for source, words in (
        (Source(X, np.where(y == 9, 10, y), 0), "the class .*10.* was not there when training began"),
        (Source(X[:-1], y[:-1], 0), "1797 samples of 64 features that training began with"),
        (Source(X[:, :60], y, 0), "these are others"),
        (Source(X, y[::-1], 0), "these are others"),
    ):
        with pytest.raises(BoostrunError, match=words):
            model.fit_source(source)
    model.n_estimators = 5
    with pytest.raises(BoostrunError, match="cannot take back"):
        model.fit_source(Source(X, y, 0))


def test_real_values_are_binned_and_a_saved_model_predicts_the_same(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(1e6, 1.0, (300, 5))
    y = np.array(["low", "mid", "high"])[np.digitize(X[:, 2], [1e6 - 0.4, 1e6 + 0.4])]
    clf = AdaBoostMHClassifier("uniform_naive", n_estimators=60, random_state=0).fit(X, y)
    assert clf.score(X, y) > 0.97 and clf.feature_importances_.argmax() == 2
    again = AdaBoostMHClassifier.load(clf.save(tmp_path / "model"))
    assert (again.decision_function(X) == clf.decision_function(X)).all() and (again.predict(X) == clf.predict(X)).all()
    assert clf.feature_importances_.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("policy", POLICIES)
def test_constant_data_make_a_constant_model(policy):
    source = ArraySource(np.full((30, 4), 7, np.uint8), np.arange(30) % 3, 0)
    model = AdaBoostMHClassifier(policy, n_estimators=5, families=[("a", 0, 2), ("b", 2, 4)], random_state=0)
    model.fit_source(source)
    assert model.ensemble_.constant.all() and np.isfinite(model.staged_log10_loss_).all()


BAD = [
    ({"policy": "laminate"}, "did you mean 'laminating'"), ({"sampling": "weights"}, "did you mean 'weight'"),
    ({"init": "half"}, "one of uniform, balanced"), ({"policy": Laminating}, "Laminating.*or an object with choose"),
    ({"policy": 3}, "policy=3: a name"), ({"n_estimators": 0}, "n_estimators=0"), ({"max_bins": 1}, "max_bins=1"),
    ({"budget_multiplier": float("nan")}, "above 0"), ({"budget_multiplier": 1e-4}, "too small for laminating"),
    ({"families": []}, "at least one family"), ({"families": [("a", 0, 2), ("b", 2, 2)]}, "'b' holds no feature"),
    ({"families": [("a", 0, 90)]}, "go from 0 to 90, of 64 features"), ({"families": 7}, "families=7: a list"),
    ({"families": [("a", 0)]}, "a list of .name, start"),
]  # fmt: skip


@pytest.mark.parametrize(("parameters", "words"), BAD)
def test_bad_parameters_get_a_sentence(parameters, words, digits):
    with pytest.raises(BoostrunError, match=words):
        AdaBoostMHClassifier(**{"random_state": 0, **parameters}).fit_source(ArraySource(*digits, 0))


BAD_POLICIES = [
    *((UniformNaive, {"Q": bad}, "Q=.*: a whole number of at least 1") for bad in (0, 2.5, "many", True, float("nan"))),
    (UCB, {"scale": 31}, "scale=31: a whole number from 0 to 30"), (Exp3P, {"horizon": 0}, "horizon=0"),
    (Exp3P, {"mixing": 1.5}, "mixing=1.5: a number above 0"), (Exp3P, {"update": "play"}, "did you mean 'played'"),
    (BestFamily, {"family": -1}, "family=-1: a name or a whole number"), (Tasting1Q, {"R": 0}, "R=0: a whole number"),
    (TastingQ1, {"charge": "yes"}, "charge='yes': true or false"), (TastingLaminating, {"R": 0}, "R=0: a whole number"),
    (TastingLaminating, {"best_of": 0}, "best_of=0: a whole number"), (TastingUCB, {"looks": 0}, "looks=0: a whole"),
    (TastingLaminating, {"pilot_share": 1.0}, "pilot_share=1.0: a number above 0 and of at most 0.9"),
    (TastingUCB, {"age_weight": -1.0}, "age_weight=-1.0: a number of at least 0"),
    *(
        (policy, {key: bad}, f"{key}=")
        for policy in (MASNaive, MAS1Q, MASQ1)
        for key, bad in {"noise": "papers", "pilot_share": 0.95, "components": 0, "s_ratio": 1.0, "grid_points": 3,
                         "deconvolve": "yes"}.items()
    ),
]  # fmt: skip


@pytest.mark.parametrize(("policy", "parameters", "words"), BAD_POLICIES)
def test_a_policy_refuses_parameters_that_do_not_fit(policy, parameters, words):
    with pytest.raises(BoostrunError, match=words):
        policy(**parameters)


@pytest.mark.parametrize("name", POLICIES)
def test_a_policy_object_is_what_its_name_is_and_no_run_changes_it(name, digits):
    policy = obtain(POLICIES[name])()
    before = copy.deepcopy(vars(policy))
    named, first, again = (train(digits, given, rounds=15) for given in (name, policy, policy))
    assert vars(policy) == before
    for model in (first, again):
        assert (model.ensemble_.features == named.ensemble_.features).all()
        assert (model.staged_log10_loss_ == named.staged_log10_loss_).all()
    clf = AdaBoostMHClassifier(policy, n_estimators=15)
    other = clone(clf)
    assert clf.get_params()["policy"] is policy and other.policy == policy and other.policy is not policy


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("policy", "init"), [*((policy, "uniform") for policy in POLICIES), ("laminating", "balanced")]
)
def test_boosting_goes_on_where_one_stump_is_faultless(policy, init):
    X = np.random.default_rng(0).random((60, 12))
    families = [("left", 0, 3), ("right", 3, 12)]  # a policy that looks at three features finds the one
    model = AdaBoostMHClassifier(
        policy, n_estimators=300, init=init, families=families, budget_multiplier=60, random_state=0
    ).fit(X, X[:, 1] > 0.5)
    assert model.score(X, X[:, 1] > 0.5) == 1.0 and np.isfinite(model.ensemble_.alphas).all()
    loss = np.diff(model.staged_log10_loss_)
    assert (loss <= 0.0).all() and model.staged_log10_loss_[-1] < -20
