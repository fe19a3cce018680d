"""Classes that a command line names: their keys, their budget, and errors if they are not classifiers."""

import pytest

from boostrun import extend
from boostrun.config import catalogue
from boostrun.errors import BoostrunError
from boostrun.runner.api import run
from boostrun.runner.plan import compose_all, compose_one, expand, own_choices

SVC = "sklearn.svm:SVC"
KEYWORDS = """
from sklearn.neighbors import KNeighborsClassifier
class Near(KNeighborsClassifier):
    def __init__(self, **keys): super().__init__(**keys)
class Numbers:
    def fit(self, X, y): self.mean = y.mean()
    def predict(self, X): return X[:, 0] * 0 + self.mean
"""


@pytest.fixture(autouse=True)
def forgotten():
    yield
    extend.forget()


@pytest.fixture
def here(tmp_path, monkeypatch):
    (tmp_path / "keywords.py").write_text(KEYWORDS, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def trials(here, cache):
    places = {"store": here / "runs", "cache_root": cache, "n_jobs": 1, "trials": 1}
    return lambda *words: run(*words, "dataset=digits", "run.pictures=false", **places)


def test_both_ways_to_name_a_class_make_the_same_cell_with_keys_that_are_its_own():
    long = compose_one(["algo=estimator", f"algo.class={SVC}", "algo.C=3"])
    assert long == compose_one([f"algo={SVC}", "algo.C=3"]) and long.algo["C"] == 3
    found = expand(["algo=geem,estimator", f"algo.class={SVC},sklearn.tree:DecisionTreeClassifier", "algo.C=3", "r=20"])
    assert found == [
        ["algo=geem", "r=20"], [f"algo={SVC}", "algo.C=3"], ["algo=sklearn.tree:DecisionTreeClassifier"],
    ]  # fmt: skip


def test_the_budget_of_samples_is_kept_by_any_class_and_keywords_are_keys_too(trials):
    table = trials("algo=majority,estimator", "algo.class=keywords:Near", "algo.samples_held=100").set_index("algo")
    assert table.peak_samples_held["keywords:Near"] == 100 and table.test_accuracy_pct["keywords:Near"] > 70
    table = trials("algo=keywords:Near", "algo.n_neighbors=1,200", "algo.samples_held=300")
    assert table["algo.n_neighbors"].tolist() == [1, 200]
    assert table.test_accuracy_pct[0] > table.test_accuracy_pct[1] + 5


def test_a_worker_is_told_of_the_class_and_its_keywords(here):
    (settings,) = compose_all(["algo=keywords:Near", "algo.n_neighbors=1"])
    told = own_choices([settings])
    extend.forget()
    extend.admit(told)
    made = catalogue.method(settings.algo).make(settings.algo, settings.budget, {"random_state": 0})
    assert made.estimator.n_neighbors == 1


@pytest.mark.parametrize(("words", "sentence"), [
    (["algo=estimator"], "needs a class: algo.class=module:Class"),
    (["algo=estimator", "algo.class=SVC"], "'SVC' names no class"),
    (["algo=nowhere_at_all:SVC"], "there is no module 'nowhere_at_all'"),
    (["algo=sklearn.svm:SVX"], "has no class or function 'SVX'"), (["algo=os:getcwd"], "is no algorithm"),
    ([f"algo={SVC}", "algo.c=3"], "has no key 'c'; did you mean algo.C=3?"),
    ([f"algo={SVC}", "algo.C=-3"], "algo.C=-3"), ([f"algo={SVC}", "algo.model_bytes=300"], "has no key 'model_bytes'"),
    ([f"algo={SVC}", "r=3"], "does not take r=3"),
    (["algo=keywords:Near", "algo.neighbours=3"], "unexpected keyword argument 'neighbours'"),
    (["algo=geem", f"algo.class={SVC}"], "has no key 'class'"),
])  # fmt: skip
def test_what_cannot_be_used_is_told_in_a_sentence(words, sentence, here):
    with pytest.raises(BoostrunError) as error:
        compose_one(words)
    assert sentence in str(error.value) and "\n" not in str(error.value)


def test_more_samples_held_than_there_are_and_a_regressor_are_refused(trials):
    with pytest.raises(BoostrunError, match="there are 1438 samples to train on"):
        trials("algo=keywords:Near", "algo.samples_held=2000")
    with pytest.raises(BoostrunError, match="labels that it was not trained on"):
        trials("algo=keywords:Numbers", "algo.samples_held=50")
