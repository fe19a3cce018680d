"""Words of other tools are answered with ours: by meaning, before spelling, and with the words to type."""

from pathlib import Path

import pytest

from boostrun import BoostrunError, suggestions
from boostrun.cli.arguments import OWN_KEYS, VERBS
from boostrun.config import catalogue
from boostrun.config.fields import GROUPS, Root, Run, fields_of
from boostrun.data import load
from boostrun.report.entry import METRICS

SENTENCES = {
    "n_estimators=100": "no key 'n_estimators'; the number of weak learners is T: T=100",
    "algo=geem nEstimators=7": "T: T=7", "num-boost-round=7": "T: T=7", "algo.iterations=7": "T: T=7",
    "algo=arf dataset=sea n_estimators=10": "the number of weak learners is M: M=10",
    "algo=shareboost n_features=4": "did you mean T=4?", "reservoir_size=50": "r: r=50", "R=50": "did you mean r=50?",
    "learning_rate=0.1": "the step of a weak learner is algo.shrinkage: algo.shrinkage=0.1",
    "algo=xgboost eta=0.1": "algo.learning_rate=0.1", "algo=iboost_stochastic dataset=sea lr=2": "algo.eta=2",
    "max_depth=3": "algo.depth=3", "algo=vfdt dataset=sea depth=3": "algo.max_depth=3",
    "algo=oza max_depth=3": "no key 'max_depth'; nothing here sets the depth of a tree",
    "algo=lightgbm num_leaves=9": "algo.leaves=9", "algo=lightgbm reg_lambda=1": "algo.l2=1",
    "random_state=3": "the seed of the first trial is seed: seed=3", "algo.seed=3": "did you mean seed=3?",
    "cv=5": "the number of repetitions is trials: trials=5", "n_runs=5": "trials=5",
    "threads=2": "the number of trials at once is n_jobs: n_jobs=2", "run.n_jobs=2": "did you mean n_jobs=2?",
    "mine.csv target=kind": "the column of the labels is dataset.label: dataset.label=kind",
    "mine.csv dataset.class=kind": "dataset 'csv' has no key 'class'; the column of the labels is dataset.label",
    "target=kind": "nothing here sets the column of the labels",
    "data=mine.csv": "the file is dataset: dataset=mine.csv", "mine.csv test_size=.3": "dataset.test_fraction=.3",
    "dataset=csv file=mine.csv": "the file is dataset.path: dataset.path=mine.csv", "output=here": "results=here",
    "mine.csv delimiter=tab": "dataset.sep=tab", "mine.csv ignore_columns=[id]": "dataset.drop=[id]",
    "photos/ image_size=64": "dataset.size=64", "batch=3": "did you mean run.batch=3?", "verbose=1": "how much is",
    "scoring=auc": "the list of metrics in the table is table.metrics: table.metrics=auc",
    "tune algo=rand scoring=f1": "the metric that decides is metric: metric=f1", "tune algo=rand cv=5": "tune.seeds=5",
    "tune algo=rand n_trials=5": "tune.trials=5", "plan scoring=f1": "table.metrics=f1",
    "frontier dataset=digits budget=features n_trials=3": "tuning=3", "export algo=rand cv=5": "nothing here sets",
    "-m algo=geem,logitboost algo.n_estimators=5,6": "none of algo=geem,logitboost has a key 'n_estimators'; the",
    "--seed 3": "no option '--seed'; did you mean seed=3?", "--n-estimators=9": "T: T=9", "-j 4": "n_jobs: n_jobs=4",
    "--target kind mine.csv": "dataset.label=kind", "--max_depth 3 algo=xgboost": "algo.depth: algo.depth=3",
    "--format csv": "a table is written as Markdown, CSV and LaTeX", "--json": "a table is written as Markdown",
    "--help-all": "did you mean '--help'?", "--output here": "only; the folder of the results is results: results=here",
    "--list": "did you mean boostrun ls?", "--dry-run": "did you mean boostrun plan?", "--quik": "mean '--quick'?",
    "train": "no verb 'train'; did you mean 'run'?", "optimize": "did you mean 'tune'?", "geem": "mean algo=geem?",
    "run digits": "did you mean dataset=digits?", "reservoir/table3": "mean reproduce reservoir/table3, or table res",
    "algo=RandomForestClassifier": "did you mean 'random_forest'?", "algo=rf": "did you mean 'random_forest'?",
    "algo=XGBoost": "did you mean 'xgboost'?", "algo=lgbm": "did you mean 'lightgbm'?", "algo=dummy": "'majority'?",
    "table.metrics=AUC": "did you mean 'roc_auc'?", "table.metrics=f1": "did you mean 'macro_f1'?",
    "reproduce table3": "no paper item 'table3'; which one: adaptive/table3 or reservoir/table3?",
    "table table3": "which one: adaptive/table3 or reservoir/table3?", "plan fig2": "adaptive/figure2",
    "report Table-3": "adaptive/table3 or reservoir/table3?", "reproduce shareboost": "one: shareboost/affine, ",
    "table digits-samples_held": "did you mean 'frontier/digits-samples_held'?",
}  # fmt: skip


@pytest.mark.parametrize("line", SENTENCES)
def test_a_word_of_another_tool_is_answered_with_ours(line, command, workplace):
    code, _, err = command(line)
    assert code == 2 and err.count("\n") == 1 and err.startswith("boostrun: ") and SENTENCES[line] in err
    assert not (workplace / "results").exists()


@pytest.mark.parametrize("line", [
    "T=7 trials=2", "algo.shrinkage=0.1", "seed=3", "n_jobs=2", "results=here", "algo.depth=3",
])  # fmt: skip
def test_what_is_suggested_is_understood(line, command):
    assert command(f"plan r=20 {line}")[0] == 0


def test_load_answers_as_the_command_does():
    with pytest.raises(BoostrunError, match=r"labels is dataset\.label: dataset\.label=kind"):
        load({"name": "table", "path": "mine.csv", "target": "kind"}, Path())


def test_the_tables_name_keys_and_words_that_there_are():
    known = {*GROUPS, *fields_of(Root), *(f"run.{key}" for key in fields_of(Run)), *sum(OWN_KEYS.values(), ())}
    known |= {"tune.trials", "tune.seeds"}
    for group in catalogue.GROUPS:
        known |= {f"{group}.{key}" for name in catalogue.names(group) for key in catalogue.fields(group, name)}
    known |= {f"algo.{name}" for method in catalogue.methods().values() for name in method.budget.values()}
    for what, keys, words in suggestions._KEYS:
        assert not set(keys.split()) - known, what
        assert all(suggestions.plain(word) == word for word in words.split()), what
    for name, words in suggestions._NAMES.items():
        assert name in {*VERBS, *METRICS, *catalogue.names("algo")}
        assert all(suggestions.plain(word) == word for word in words.split()), name
