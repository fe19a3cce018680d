"""Rivals of today, on tables and on streams: quick, the same for the same seed, never beyond what they may hold."""

import functools
import json
import sys
import tempfile
import types

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

from boostrun.cli import main
from boostrun.config import catalogue
from boostrun.conformance import answers
from boostrun.data.source import ArraySource, Filter
from boostrun.errors import BoostrunError
from boostrun.methods.declaration import obtain
from boostrun.rivals import linear
from boostrun.rivals.linear import first_on_the_path
from boostrun.runner.frontier import default_methods
from boostrun.runner.plan import cell_of, compose_one, with_values
from boostrun.runner.search import Sampler, study_of
from tests.marks import slow_after, slow_but

METHODS = {
    name: method for name, method in catalogue.methods().items()
    if method.paper == "rivals" and "stream" not in method.inputs
}  # fmt: skip
X, Y = load_digits(return_X_y=True)
X = X.astype(np.uint8)
FACTS = {"n_samples": 500, "n_features": 64, "n_classes": 10}


def _budget(name):
    return {symbol: {"T": 3, "q": 50, "r": 40}[symbol] for symbol in METHODS[name].budget}


def made(name, seed=0, **keys):
    """A small one of a method that is installed."""
    rival = METHODS[name].make(keys, _budget(name), {"random_state": seed})
    pytest.importorskip(rival.package)
    return rival


def keeping(name, kind, budget):
    """A rival with a budget, set by the words that its declaration gives."""
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
    if name == "xgboost_external":  # it reads all samples
        return {"feature_fraction": 0.5}
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


@pytest.mark.parametrize("name", [name for name, method in METHODS.items() if "samples_drawn" in method.fields])
def test_warming_up_draws_few_samples_however_many_the_trial_draws(name):
    small = METHODS[name].make_small({"samples_drawn": 10**9}, _budget(name))
    assert small.samples_drawn < 100


CHUNKS = [name for name, method in METHODS.items() if method.evaluation.endswith(":OfChunks")]


@pytest.mark.parametrize("name", CHUNKS)
def test_a_rival_by_chunks_draws_what_it_is_told_and_its_curve_is_that_of_fewer_draws(name):
    rival = made(name, samples_drawn=500).fit(X[:700], Y[:700])
    assert rival.samples_drawn_ == 500 and rival.staged_samples_drawn_.tolist() == list(range(50, 501, 50))
    mark = rival.checkpoints_[-2]
    first, last = rival.predict_after(X[1000:1200], [mark, rival.n_chunks_])
    shorter = made(name, samples_drawn=50 * mark).fit(X[:700], Y[:700])
    assert np.array_equal(first, shorter.predict(X[1000:1200])) and np.array_equal(last, rival.predict(X[1000:1200]))
    assert np.allclose(rival.predict_proba(X[1000:1010]).sum(axis=1), 1.0)


@pytest.mark.parametrize("name", CHUNKS)
def test_a_chunk_may_lack_classes_and_two_classes_are_enough(name):
    order = np.argsort(Y[:700] > 1, kind="stable")  # the Filter shuffles; few samples of eight classes
    some = order[: np.count_nonzero(Y[:700] < 2) + 30]
    rival = made(name, samples_drawn=1500).fit(X[some], Y[some])
    assert np.mean(rival.predict(X[some])[Y[some] < 2] == Y[some][Y[some] < 2]) > 0.7
    rival = made(name, samples_drawn=2000).fit(X[:700], Y[:700] > 4)
    assert rival.score(X[700:], Y[700:] > 4) > 0.7


def test_only_trees_that_have_not_learnt_a_sample_judge_it():
    rival = made("pasting")
    grown = []
    tree = rival._grow_tree
    rival._grow_tree = lambda: (grown.append({x.tobytes() for part, _ in rival._bite for x in part}), tree())
    looked = rival._out_of_bag
    found = []
    rival._out_of_bag = lambda X, first: (
        found.append((X, range(first, rival.n_rounds_), looked(X, first))) or found[-1][2].copy()
    )
    rival.fit(X[:200], Y[:200])
    assert len(grown) == rival.n_rounds_ > 5 and {len(bite) for bite in grown} <= set(range(20, 41))
    for samples, trees, votes in found:
        plain = np.zeros_like(votes)
        for number in trees:
            said = rival.trees_[number].predict(samples.astype(np.float32)).astype(int)
            for row, x in enumerate(samples):
                plain[row, said[row]] += x.tobytes() not in grown[number]
        assert np.array_equal(votes, plain)


def test_bites_hold_more_of_the_samples_that_are_hard():
    rng = np.random.default_rng(0)
    samples = rng.random((4000, 2))
    labels = np.where(samples[:, 0] < 0.5, 0, rng.integers(0, 2, 4000))  # only noise is got wrong
    rival, hard = METHODS["pasting"].make({}, {"r": 100, "q": 20}, {"random_state": 0}), []
    tree = rival._grow_tree
    rival._grow_tree = lambda: (hard.append(np.mean(np.concatenate([x for x, _ in rival._bite])[:, 0] > 0.5)), tree())
    rival.fit(samples, labels)
    assert hard[0] < 0.6 and 0.62 < np.mean(hard[5:]) < 0.72 and 0.2 < rival.error_ < 0.3  # 2/3 at e = 1/4


def test_fourier_features_have_the_inner_products_of_the_kernel():
    rival = METHODS["sgd_fourier"].make({"waves": 20_000, "samples_drawn": 50}, {"q": 50}, {"random_state": 0})
    rival.fit(X[:60], Y[:60])
    scaled = rival.scaling_.of(X[:8])
    waves = rival._inputs(scaled)
    squares = ((scaled[:, None] - scaled[None]) ** 2).sum(axis=2)
    assert np.allclose(waves @ waves.T, np.exp(-squares * rival.scale_**2 / 2), atol=0.05)


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


@pytest.mark.parametrize("batch", slow_after(2, [77, 9999, 1, 500]))
@pytest.mark.parametrize("classes", [2, 3])
def test_xgboost_with_bins_in_files_is_xgboost_with_bins_in_memory(classes, batch, tmp_path, monkeypatch):
    """Of few different values; those that have fewer bins than values depend on the batches."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    filed, held = METHODS["xgboost_external"], METHODS["xgboost"]
    filed = filed.make({"depth": 3}, {"T": 6, "q": batch}, {"random_state": 0})
    pytest.importorskip(filed.package)
    filed.fit(X[:500], Y[:500] % classes)
    held = held.make({"depth": 3}, {"T": 6}, {"random_state": 0}).fit(X[:500], Y[:500] % classes)
    for one, other in zip(filed.staged_predict(X[1000:1100]), held.staged_predict(X[1000:1100]), strict=True):
        assert np.array_equal(one, other)
    assert np.array_equal(filed.predict_proba(X), held.predict_proba(X)) and filed.model_bytes_ == held.model_bytes_
    assert (filed.samples_drawn_, filed.peak_samples_held_) == (1500, min(batch, 500))
    assert list(tmp_path.iterdir()) == []  # of its files none is left


def test_an_error_of_the_rows_ends_xgboost_with_bins_in_files(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    source, reads = ArraySource(X[:100], Y[:100], np.random.SeedSequence(0)), iter(range(3))
    rival = METHODS["xgboost_external"].make({}, {"T": 2, "q": 50}, {"random_state": 0})
    pytest.importorskip(rival.package)

    def read(draw, count):
        if next(reads, None) is None:
            raise BoostrunError("row group 3 is damaged")
        return draw(count)

    drawn = Filter.draw
    monkeypatch.setattr(Filter, "draw", lambda self, count: read(functools.partial(drawn, self), count))
    with pytest.raises(BoostrunError, match="row group 3 is damaged"):
        rival.fit_source(source)
    assert list(tmp_path.iterdir()) == []


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


FOLLOWERS = {
    name: method for name, method in catalogue.methods().items()
    if method.paper == "rivals" and method.inputs == {"stream"}
}  # fmt: skip
RIVERS = [name for name, method in FOLLOWERS.items() if method.search and "capymoa" not in name]
CAPYMOAS = [name for name in FOLLOWERS if "capymoa" in name]
SEEDED = sorted(set(RIVERS) - {"hoeffding_tree"})
RNG = np.random.default_rng(0)
EXAMPLES = RNG.normal(size=(240, 3))
LABELS = (EXAMPLES[:, 0] + EXAMPLES[:, 1] > 0).astype(int)


def follower(name, seed=0, **keys):
    """A small one."""
    pytest.importorskip("river")
    method = FOLLOWERS[name]
    few = {"grace_period": 20, "delta": 0.01} if "grace_period" in method.fields else {}
    return method.make({**few, **keys}, dict.fromkeys(method.budget, 3), {"random_state": seed})


@pytest.mark.parametrize("name", slow_but([name for name in RIVERS if name != "sgbt"], RIVERS))
def test_something_is_learnt_and_the_same_seed_says_the_same(name):
    model = follower(name, seed=1)
    said = model.test_then_train(EXAMPLES, LABELS, [0, 1])
    assert np.mean(said[160:] == LABELS[160:]) > 0.7
    assert np.array_equal(said, follower(name, seed=1).test_then_train(EXAMPLES, LABELS, [0, 1]))
    found = model.predict_proba(EXAMPLES[:20])
    assert found.shape == (20, 2) and np.allclose(found.sum(axis=1), 1.0)
    assert np.array_equal(model.predict(EXAMPLES[:20]), found.argmax(axis=1))


@pytest.mark.parametrize("name", SEEDED)
def test_another_seed_draws_otherwise(name):
    found = [follower(name, seed).partial_fit(EXAMPLES[:150], LABELS[:150]).predict_proba(EXAMPLES) for seed in (1, 2)]
    assert not np.array_equal(*found)


def test_the_accuracy_is_that_which_river_measures_on_the_same_stream():
    evaluate, forest = (pytest.importorskip(f"river.{name}") for name in ("evaluate", "forest"))
    from river import metrics

    from boostrun.evaluation.prequential import prequential

    examples = [(dict(enumerate(x)), y) for x, y in zip(EXAMPLES.tolist(), LABELS.tolist())]
    theirs = evaluate.progressive_val_score(examples, forest.ARFClassifier(n_models=3, seed=5), metrics.Accuracy())
    rival = FOLLOWERS["arf"].make({}, {"M": 3}, {"random_state": 5})
    score, _ = prequential(rival, [(EXAMPLES[:1], LABELS[:1]), (EXAMPLES[1:], LABELS[1:])], [0, 1])
    first = (
        follower("arf").test_then_train(EXAMPLES[:1], LABELS[:1], [0, 1])[0] == LABELS[0]
    )  # which river does not count
    assert score.n_seen == 240
    assert round(score.accuracy_pct * 2.4) - first == round(theirs.get() * 239)


def test_a_class_of_rivers_is_named_on_the_command_line_and_stands_beside_ours(tmp_path, capsys):
    pytest.importorskip("river")
    places = [f"store={tmp_path}/runs", f"cache_root={tmp_path}", f"results={tmp_path}", "n_jobs=1"]
    words = ["-m", "algo=no_change,estimator", "algo.class=river.tree:ExtremelyFastDecisionTreeClassifier"]
    assert main([*words, "algo.grace_period=50", "dataset=rbf", "dataset.n_samples=300", "trials=2", *places]) == 0
    records = [json.loads(path.read_text()) for path in tmp_path.glob("runs/**/*.json")]
    theirs = [one for one in records if ":" in one["cell"]["algo"]["name"]]
    assert len(records) == 4 and [one["cell"]["algo"]["grace_period"] for one in theirs] == [50, 50]
    assert all(one["cost"]["peak_memory_mb"] > 0 and one["cost"]["time_s"] > 0 for one in records)
    assert "ExtremelyFastDecisionTreeClassifier" in capsys.readouterr().out


@pytest.mark.parametrize(("where", "why"), [(
    "river.linear_model:LinearRegression", "LinearRegression of river is not a classifier",
), ("river.linear_model:LogisticRegression", "LogisticRegression of river tells two classes apart")])  # fmt: skip
def test_a_class_that_cannot_tell_the_classes_apart_is_refused(where, why):
    pytest.importorskip("river")
    from boostrun.methods.declaration import obtain

    estimator = FOLLOWERS["stream_estimator"].make({}, {}, {"random_state": 0}).set_params(estimator=obtain(where)())
    with pytest.raises(BoostrunError, match=f"^{why}"):
        estimator.partial_fit(EXAMPLES[:9], np.arange(9) % 3)


def test_a_class_without_a_seed_of_its_own_is_given_the_trials():
    forest = pytest.importorskip("river.forest")
    for given, seed in ((None, 8), (3, 3)):
        rival = FOLLOWERS["stream_estimator"].make({}, {}, {"random_state": 8})
        model = rival.set_params(estimator=forest.ARFClassifier(seed=given)).partial_fit(EXAMPLES[:9], LABELS[:9])
        assert model.model_.seed == seed and model.estimator.seed == given


def test_without_river_the_command_that_installs_it_is_told(monkeypatch, tmp_path, capsys):
    monkeypatch.setitem(sys.modules, "river", None)
    places = [f"store={tmp_path}/runs", f"cache_root={tmp_path}", f"results={tmp_path}", "n_jobs=1"]
    assert main(["-m", "algo=no_change,arf", "dataset=rbf", "dataset.n_samples=200", *places]) == 2
    assert "river is not installed: pip install 'boostrun[streams]'" in capsys.readouterr().err
    assert not list(tmp_path.glob("runs/**/*.json"))


class Capy:
    """The used parts of CapyMOA, by its documentation: a learner that predicts the label of the nearest mean."""

    def __init__(self, schema, random_seed=1, **keys):
        self.schema, self.keys, self.sums = schema, keys, {}

    def train(self, instance):
        assert instance.schema is self.schema
        total, count = self.sums.get(instance.y_index, (0.0, 0))
        self.sums[instance.y_index] = total + instance.x, count + 1

    def predict_proba(self, instance):
        assert not hasattr(instance, "y_index")
        if not self.sums:
            return None
        near = {code: -np.sum((instance.x - total / count) ** 2) for code, (total, count) in self.sums.items()}
        return np.eye(len(self.schema.categories["label"]))[max(near, key=near.get)]

    def predict(self, instance):
        found = self.predict_proba(instance)
        return None if found is None else int(np.argmax(found))


@pytest.fixture
def capymoa(monkeypatch):
    """A CapyMOA without Java."""

    def of(*names):
        return types.SimpleNamespace(from_array=lambda *given: types.SimpleNamespace(**dict(zip(names, given))))

    schema = types.SimpleNamespace(
        from_custom=lambda features, target, categories=None, name="unnamed": types.SimpleNamespace(
            features=features, categories=categories
        )
    )
    learners = dict.fromkeys(
        ("AdaptiveRandomForestClassifier", "StreamingRandomPatches", "HoeffdingAdaptiveTree", "LeveragingBagging",
         "StreamingGradientBoostedTrees"), Capy,
    )  # fmt: skip
    for name, inside in {
        "capymoa": {}, "capymoa.classifier": learners, "capymoa.stream": {"Schema": schema},
        "capymoa.core": {"Instance": of("schema", "x"), "LabeledInstance": of("schema", "x", "y_index")},
    }.items():  # fmt: skip
        module = types.ModuleType(name)
        vars(module).update(inside)
        monkeypatch.setitem(sys.modules, name, module)
    sys.modules["capymoa"].classifier = sys.modules["capymoa.classifier"]


@pytest.mark.parametrize("name", CAPYMOAS)
def test_a_learner_of_moa_is_made_and_fed_as_capymoa_documents(name, capymoa):
    method = FOLLOWERS[name]
    model = method.make({}, dict.fromkeys(method.budget, 3), {"random_state": 0})
    said = model.test_then_train(EXAMPLES, LABELS, [0, 1])
    assert np.mean(said[160:] == LABELS[160:]) > 0.7
    assert np.array_equal(model.predict(EXAMPLES[:9]), model.predict_proba(EXAMPLES[:9]).argmax(axis=1))
    given = model.model_.learner.keys
    assert (3 in given.values()) == ("M" in method.budget)
    assert {key for key in method.search} <= given.keys()
    with pytest.raises(BoostrunError, match="all classes from the start"):
        method.make({}, {}, {"random_state": 0}).partial_fit(EXAMPLES[:9], LABELS[:9]).partial_fit(
            EXAMPLES[:3], [0, 1, 2]
        )


def test_without_capymoa_or_java_it_is_told_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "capymoa", None)
    rival = FOLLOWERS["capymoa_arf"].make({}, {}, {})
    with pytest.raises(BoostrunError, match=r"^capymoa is not installed: pip install 'boostrun\[capymoa\]'"):
        rival.installed()

    def failing(name):
        raise RuntimeError("Java not found. See\nthe site")

    monkeypatch.setattr("importlib.import_module", failing)
    with pytest.raises(BoostrunError, match=r"^CapyMOA needs Java, which did not start \(Java not found. See the site"):
        rival.installed()
