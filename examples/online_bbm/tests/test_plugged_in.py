"""The paper in the real command, found by ``--config-dir``: its records, what makes them stale, wrong items."""

import inspect
import json
import shutil

import pytest
from commands import PACKAGE, boostrun
from online_bbm import PAPER
from online_bbm.thompson import Thompson

from boostrun.config import catalogue
from boostrun.methods.declaration import obtain

SMALL = "dataset=hyperplane dataset.n_samples=1500 dataset.window=300 dataset.curve_every=500 T=3 trials=2 n_jobs=2"
ITEM = """# a table
title: a table
paper: {paper}
table: electricity
metric: test_accuracy_pct
higher_is_better: true
rows: algo
columns: [dataset]
where: {{dataset: dataset, method: algo}}
overrides: [T=2, trials=1, {key}]
blocks:
  - sweep: {{algo: [adaboost_ol, online_bbm], dataset: [hyperplane]}}
targets:
  - {{metric: test_accuracy_pct, columns: [hyperplane], order: [online_bbm, {row}]}}
"""


@pytest.fixture
def copied(tmp_path):
    """A folder with a copy of the package that a test may change, and an item in it."""
    shutil.copytree(PACKAGE / "online_bbm", tmp_path / "mine" / "online_bbm")
    shutil.copy(PACKAGE / "papers.yaml", tmp_path / "mine")
    return tmp_path


def change(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_records_hold_kappa_stay_cached_and_are_stale_where_their_own_learner_has_changed(copied):
    words = f"-m --config-dir mine algo=adaboost_ol,online_bbm {SMALL}"
    done = boostrun(words, copied)
    assert done.code == 0, done.err
    records = [json.loads(path.read_text()) for path in (copied / "results" / "runs").rglob("*.json")]
    assert sorted(record["cell"]["algo"]["name"] for record in records) == ["adaboost_ol"] * 2 + ["online_bbm"] * 2
    for record in records:
        assert record["cell"]["budget"] == {"T": 3} and record["curve"]["examples"] == [500, 1000, 1500]
        assert len(record["curve"]["kappa"]) == 3 and -1 < record["metrics"]["kappa"] < 1
    assert records[0]["metrics"] != records[1]["metrics"]
    plan = "plan --config-dir mine algo={} " + SMALL
    package = copied / "mine" / "online_bbm"
    change(package / "adaboost_ol.py", "eta = 4.0", "eta = 3.0")
    change(package / "__init__.py", "Online BBM: ", "On-line BBM: ")
    assert "2 stale (changed: online_bbm.adaboost_ol.adaboost_ol)" in boostrun(plan.format("adaboost_ol"), copied).out
    assert "2 cached, 0 stale, 0 to run" in boostrun(plan.format("online_bbm"), copied).out


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"row": "online_bmb"}, "target 1: rows: no row 'online_bmb'; did you mean 'online_bbm'?"),
        ({"paper": "online_bmb"}, "no figures of a paper 'online_bmb'; did you mean 'online_bbm'?"),
        ({"key": "algo.var_flour=1"}, "algo 'adaboost_ol' has no key 'var_flour'; did you mean algo.var_floor=1?"),
    ],
)
def test_what_is_wrong_with_an_item_is_told_in_a_sentence_before_the_first_trial(copied, wrong, told):
    item = ITEM.format(**{"paper": "online_bbm", "key": "algo.base=nb", "row": "adaboost_ol"} | wrong)
    (copied / "mine" / "online_bbm" / "items" / "wrong.yaml").write_text(item)
    done = boostrun("reproduce online_bbm/wrong --config-dir mine", copied)
    assert done.code == 2 and told in done.err and done.err.count("\n") == 1, done.err
    assert not (copied / "results").exists()


@pytest.mark.parametrize(
    ("group", "name"),
    [("algo", "adaboost_ol"), ("dataset", "hyperplane"), ("policies", "thompson"), ("strategies", "small_margins")],
)
def test_it_stands_in_the_list(tmp_path, group, name):
    assert name in boostrun(f"ls {group} --config-dir {PACKAGE}", tmp_path).out


def test_constructors_have_the_declared_defaults():
    for method in PAPER.methods.values():
        parameters = inspect.signature(obtain(method.target)).parameters
        assert method.budget_defaults["T"] == parameters["n_learners"].default
        for name, field in method.fields.items():
            assert parameters[name].default == field.default


@pytest.fixture
def here():
    catalogue.read_own_papers(PACKAGE)
    yield
    catalogue.forget()


@pytest.mark.slow
def test_the_policy_is_an_object_of_the_library_too(here):
    from sklearn.datasets import load_digits

    from boostrun import AdaBoostMHClassifier
    from boostrun.papers.adaptive.families import Families19

    digits = load_digits()
    pipeline = Families19({"only": None, "on_gray": "keep"})
    images = (16 * digits.images).clip(0, 255).astype("uint8")
    columns = pipeline.fit(images)(images)
    families = pipeline.families(columns.shape[1])
    policy = Thompson(Q=5, prior="gaussian")
    model = AdaBoostMHClassifier(policy, n_estimators=60, families=families, random_state=0)
    assert len(families) == 19 and model.fit(columns, digits.target).score(columns, digits.target) > 0.8
    named = AdaBoostMHClassifier("thompson", n_estimators=2, families=families, random_state=0)
    assert named.fit(columns, digits.target).evaluations_ > 0
