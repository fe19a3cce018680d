"""Rivals of today: quick, the same for the same seed, and never beyond what they may hold."""

import sys

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

from boostrun.cli import main
from boostrun.config import catalogue
from boostrun.conformance.subject import answers
from boostrun.data.source import ArraySource
from boostrun.errors import BoostrunError
from boostrun.methods.declaration import obtain
from boostrun.rivals import linear
from boostrun.rivals.linear import first_on_the_path
from boostrun.runner.frontier import default_methods
from boostrun.runner.plan import cell_of, compose_one
from boostrun.runner.search import Sampler, study_of
from boostrun.runner.tuned import with_values

METHODS = {
    name: method for name, method in catalogue.methods().items()
    if method.paper == "rivals" and "stream" not in method.inputs
}  # fmt: skip
X, Y = load_digits(return_X_y=True)
X = X.astype(np.uint8)
FACTS = {"n_samples": 500, "n_features": 64, "n_classes": 10}


def _budget(name):
    return {symbol: {"T": 3, "q": 50}[symbol] for symbol in METHODS[name].budget}


def made(name, seed=0, **keys):
    """A small one of a method that is installed."""
    rival = METHODS[name].make(keys, _budget(name), {"random_state": seed})
    pytest.importorskip(rival.package)
    return rival


def keeping(name, kind, budget):
    """One that was told to keep a budget, by the words that its declaration gives."""
    words = obtain(METHODS[name].keeps[kind])(budget, FACTS)
    spent = _budget(name) | {word: value for word, value in words.items() if word in METHODS[name].budget}
    keys = {word.removeprefix("algo."): value for word, value in words.items() if word.startswith("algo.")}
    rival = METHODS[name].make(keys, spent, {"random_state": 0})
    pytest.importorskip(rival.package)
    return rival


@pytest.mark.parametrize("name", METHODS)
def test_the_same_seed_gives_the_same_scores_and_another_other_samples(name):
    first, same, other = (made(name, seed, **_few(name)).fit(X[:500], Y[:500]) for seed in (1, 1, 2))
    assert np.array_equal(answers(first, X[1000:1200]), answers(same, X[1000:1200]))
    assert not np.array_equal(answers(first, X[1000:1200]), answers(other, X[1000:1200]))


def _few(name):
    return {"samples_held": 200} if "samples_held" in METHODS[name].fields else {"samples_drawn": 200}


class Watched(ArraySource):
    """A source that remembers its Filters."""

    opened = None

    def open(self, capacity, stream=0):
        self.opened = super().open(capacity, stream)
        return self.opened


@pytest.mark.parametrize("name", [name for name in METHODS if "samples_held" in METHODS[name].keeps])
def test_no_more_samples_are_held_than_the_budget_says(name):
    source = Watched(X[:500], Y[:500], 0)
    rival = keeping(name, "samples_held", 120).fit_source(source)
    assert max(source.opened.capacity, source.opened.peak_held, rival.peak_samples_held_) <= 120
    assert np.mean(rival.predict(X[1000:1200]) == Y[1000:1200]) > 0.4
    with pytest.raises(BoostrunError, match="10 classes"):
        keeping(name, "samples_held", 5)


def keeping_all(*kinds):
    return [(name, kind) for name in METHODS for kind in kinds if kind in METHODS[name].keeps]


SPENT = {"features": "n_features_used_", "evaluations": "evaluations_", "model_bytes": "model_bytes_"}
BUDGETS = {"features": 9, "evaluations": 60_000, "model_bytes": 20_000}


@pytest.mark.parametrize(("name", "kind"), keeping_all("features", "evaluations", "model_bytes"))
def test_a_budget_is_kept_and_something_is_learnt(name, kind):
    budget = BUDGETS[kind] * (5 if (name, kind) == ("lightgbm_goss", "evaluations") else 1)  # first rounds are whole
    rival = keeping(name, kind, budget).fit(X[:500], Y[:500])
    assert 0 < getattr(rival, SPENT[kind]) <= budget
    assert np.mean(rival.predict(X[1000:1200]) == Y[1000:1200]) > 0.25


@pytest.mark.parametrize(("name", "kind"), keeping_all("evaluations", "model_bytes"))
def test_a_budget_that_is_too_small_is_refused(name, kind):
    with pytest.raises(BoostrunError, match=f"^{kind}="):
        keeping(name, kind, 70).fit(X[:500], Y[:500])


@pytest.mark.parametrize("name", [name for name, method in METHODS.items() if "T" in method.budget])
def test_the_curve_ends_in_the_prediction(name):
    rival = made(name, **_few(name)).fit(X[:500], Y[:500])
    stages = list(rival.predict_after(X[1000:1200], [1, 3]))
    assert len(stages) == 2 and np.array_equal(stages[-1], rival.predict(X[1000:1200]))
    assert not np.array_equal(*stages)


@pytest.mark.parametrize("name", METHODS)
def test_two_classes_are_learnt_and_one_is_refused(name):
    two = Y < 5
    rival = made(name).fit(X[:300], two[:300])
    assert rival.predict(X[300:400]).dtype == bool
    assert np.mean(rival.predict(X[1000:1200]) == two[1000:1200]) > 0.6
    with pytest.raises(BoostrunError, match="of one class"):
        made(name).fit(X[:100], np.ones(100, int))


def test_a_rival_that_is_not_installed_is_told_of_before_anything_runs(monkeypatch, tmp_path, capsys):
    monkeypatch.setitem(sys.modules, "catboost", None)
    words = ["-m", "algo=majority,catboost", "dataset=digits", f"store={tmp_path}/runs", f"cache_root={tmp_path}"]
    assert main([*words, f"results={tmp_path}", "n_jobs=1"]) == 2
    assert "catboost is not installed: pip install 'boostrun[rivals]'" in capsys.readouterr().err
    assert not list(tmp_path.glob("runs/**/*.json"))


@pytest.mark.parametrize(("loss", "has"), [("log_loss", True), ("hinge", False)])
def test_a_linear_model_has_probabilities_where_its_loss_means_some(loss, has):
    rival = made("sgd", loss=loss).fit(X[:300], Y[:300])
    found = getattr(rival, "predict_proba", None)
    assert (found is not None) == has
    assert not has or np.allclose(found(X[:5]).sum(axis=1), 1.0)


@pytest.mark.parametrize("name", ["sgd", "logistic"])
def test_linear_models_never_have_more_than_a_piece_as_floats(name, monkeypatch):
    rival, most = made(name).fit(X[:300], Y[:300]), 8 * X.shape[1] * 7
    whole, probable, seen = rival.predict(X), rival.predict_proba(X), []
    of = linear.Between.of
    monkeypatch.setattr(linear, "_PIECE", most)
    monkeypatch.setattr(linear.Between, "of", lambda self, X: seen.append(len(X)) or of(self, X))
    assert np.array_equal(rival.predict(X), whole) and np.allclose(rival.predict_proba(X), probable, atol=1e-12)
    assert max(seen) == 7 and sum(seen) == 2 * len(X)


@pytest.mark.parametrize("name", [name for name, kind in keeping_all("evaluations") if name != "sgd"])
def test_too_few_evaluations_are_refused_before_anything_is_trained(name):
    with pytest.raises(BoostrunError, match=r"^evaluations=500: one round of"):
        keeping(name, "evaluations", 500).refuse(1000, 64, 10)


@pytest.mark.parametrize("name", sorted(METHODS.keys() - {"estimator"}))
def test_a_rival_is_searched_from_its_defaults_on(name):
    study = study_of(compose_one([f"algo={name}"]))
    usual = {key: (study.settings.algo | study.settings.budget)[key.removeprefix("algo.")] for key in study.space}
    asked = Sampler(study.space, usual, 0).ask(5)
    assert asked[0] == usual
    assert len({cell_of(with_values(study.settings, values)).key for values in asked}) == 5


@pytest.mark.parametrize("kind", ["samples_held", "features", "evaluations"])
def test_every_method_that_takes_part_unasked_is_tuned(kind):
    methods = catalogue.methods()
    assert [name for name in default_methods(kind) if not methods[name].search] == []


def test_goss_looks_at_the_largest_gradients_after_rounds_on_all_samples():
    """LightGBM's rule: all samples in the first 1 / learning_rate rounds, then the two shares."""
    few = {"learning_rate": 0.5, "top_rate": 0.1, "other_rate": 0.1, "min_samples_leaf": 5}
    rival = METHODS["lightgbm_goss"].make(few, {"T": 4}, {"random_state": 0})
    pytest.importorskip(rival.package)
    rival.fit(X[:500], Y[:500] > 4)
    roots = [tree["tree_structure"]["internal_count"] for tree in rival.booster_.dump_model()["tree_info"]]
    assert roots == [500, 500, 100, 100]


@pytest.mark.parametrize("budget", [2e5, 5e5, 2e6])
def test_goss_keeps_a_budget_whole_rounds_included(budget):
    keys = {"evaluations": int(budget), "learning_rate": 0.5}
    rival = METHODS["lightgbm_goss"].make(keys, {"T": 30}, {"random_state": 0})
    pytest.importorskip(rival.package)
    rival.fit(X[:500], Y[:500])
    assert 0 < rival.evaluations_ <= budget and rival.score(X[500:], Y[500:]) > 0.4


@pytest.mark.parametrize("budget", [1, 5])
def test_a_price_of_features_is_hardly_higher_than_it_must_be(budget):
    y = Y > 4
    rival, free, cheaper = (METHODS["lightgbm_penalty"].make({"features_used": most}, {"T": 5}, {"random_state": 0})
                            for most in (budget, None, None))  # fmt: skip
    pytest.importorskip(rival.package)
    rival.fit(X[:500], y[:500])
    assert budget / 2 < rival.n_features_used_ <= budget and rival.columns_ is None and rival.price_ > 0.0
    assert free.fit(X[:500], y[:500]).n_features_used_ > 20 and free.price_ == 0.0
    cheaper._penalties = lambda d: {"cegb_penalty_feature_coupled": [rival.price_ / 1.05] * d}
    assert cheaper.fit(X[:500], y[:500]).n_features_used_ > budget


@pytest.mark.parametrize("name", [name for name, method in METHODS.items() if "columns_drawn" in method.fields])
def test_columns_that_are_not_drawn_are_never_looked_at(name):
    first, other = (made(name, seed, columns_drawn=12).fit(X[:500], Y[:500]) for seed in (0, 1))
    assert len(first.columns_) == 12 and not np.array_equal(first.columns_, other.columns_)
    assert 2 < first.n_features_used_ <= 12
    noise = np.random.default_rng(0).integers(0, 17, X[1000:1200].shape).astype(np.uint8)
    noise[:, first.columns_] = X[1000:1200][:, first.columns_]
    assert np.array_equal(first.predict(noise), first.predict(X[1000:1200]))
    alone = made(name, 0).fit(X[:500][:, first.columns_], Y[:500])
    assert np.array_equal(first.predict(X[1000:]), alone.predict(X[1000:][:, first.columns_]))
    few = made(name, 0, columns_drawn=12, features_used=4).fit(X[:500], Y[:500])
    assert set(few.columns_) <= set(first.columns_) and few.n_features_used_ <= 4


@pytest.mark.parametrize("path", ["group", "l1"])
@pytest.mark.parametrize("few", [1, 2, 5, 15, 40])
def test_logistic_regression_uses_as_many_features_as_it_may(path, few):
    rival = METHODS["logistic"].make({"features_used": few, "path": path}, {}, {"random_state": 0})
    assert rival.fit(X[:500], Y[:500]).n_features_used_ == few == len(rival.columns_)


@pytest.mark.filterwarnings("ignore:.*penalty.*:FutureWarning", "ignore:The max_iter")
def test_the_path_of_the_lasso_is_that_of_scikit_learn():
    y, scaled = (Y[:500] > 4).astype(int), X[:500] / 16.0
    chosen, _ = first_on_the_path(scaled, y, 5, "l1")
    kept = [LogisticRegression(C=C, penalty="l1", solver="saga", max_iter=500).fit(scaled, y).coef_[0] != 0.0
            for C in np.geomspace(0.01, 0.1, 40)]  # fmt: skip
    assert any(set(np.flatnonzero(one)) == set(chosen) for one in kept)
