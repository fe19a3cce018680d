"""`boostrun check` of a whole paper and of its items: a section for each; wrong names are errors before any trial."""

import re

import pytest

from boostrun.conformance import data, method, outcomes, things
from boostrun.errors import BoostrunError

PAPER = """
    from pathlib import Path
    from boostrun.methods.declaration import Method
    from boostrun.methods.paper import DataSet, Paper
    from boostrun.config.fields import Keys, integer, keys
    from boostrun.data.keys import DriftingStreamKeys
    @keys
    class VoteKeys(Keys):
        rounds: int = integer(4, help="T")
    PAPER = Paper(
        title="Anybody 2026",
        methods={"vote": Method("vote:Vote", VoteKeys, "votes", budget={"T": "rounds"}, random=False, given=frozenset(),
                                evaluation="boostrun.evaluation.staged:Fitted")},
        datasets={"coin": DataSet("coin", DriftingStreamKeys, "a coin", "stream")},
        strategies={"first": "vote:first"},
        reference=Path(__file__).with_name("figures.csv"),
    )
"""
VOTE = """
    import numpy as np
    from sklearn.base import BaseEstimator, ClassifierMixin
    from sklearn.neighbors import NearestCentroid
    from own_paper import VoteKeys
    class Vote(VoteKeys):
        def fit(self, X, y):
            self.model_ = NearestCentroid().fit(X, y)
            self.estimators_ = [self.model_] * self.rounds
            return self
        def predict(self, X): return self.model_.predict(X)
    def first(batch, r, rng): return np.arange(r), batch.weights[:r]
"""
COIN = """
    import numpy as np
    from boostrun.data.streams import DriftStream
    def files(options, data_root): return {}
    def places(options, data_root): return "generated"
    def draw(options, data_root, rng, holdout_rng):
        y = rng.integers(0, 2, 500)
        return DriftStream("coin", y[:, None] + rng.normal(size=(500, 1)), y, ("no", "yes"), np.array([100, 300]))
"""
ITEM = """
title: Votes
paper: own_paper
table: table1
metric: test_accuracy_pct
higher_is_better: true
rows: algo
columns: [dataset, T]
where: {method: algo, rounds: T}
overrides: [trials=2]
blocks:
  - sweep: {algo: [vote, rand], dataset: [digits], T: [5, 9]}
quick: [T=3]
targets:
  - {metric: test_accuracy_pct, columns: [[digits, T=5]], order: [vote, rand], slack: 1}
  - {metric: test_accuracy_pct, along: [T=5, T=9], rising: [vote]}
"""


@pytest.fixture
def brought(mine, monkeypatch):
    """A folder with a paper, its modules, figures and one item."""
    for module in (method, data):
        monkeypatch.setattr(module, "in_a_worker", lambda function, *arguments: function(*arguments))
    mine("own_paper.py", PAPER)
    mine("vote.py", VOTE)
    mine("coin.py", COIN)
    mine("figures.csv", "table,method,rounds,metric,mean\ntable1,vote,5,test_accuracy_pct,80\n")
    mine("papers.yaml", "own_paper: own_paper:PAPER\n")
    mine("paper/own_paper/table1.yaml", ITEM)
    return mine


@pytest.mark.parametrize("word", ["own_paper:PAPER", "own_paper"])
def test_a_paper_has_a_section_for_each_thing_and_they_hold(word, brought):
    found = things.sections(word, "mine", [])
    assert [section.title for section in found] == [
        "own_paper, a paper", "vote, an algorithm", "coin, a stream", "first, a strategy",
        "own_paper/table1, a paper's item",
    ]  # fmt: skip
    for section in found:
        broken = [each for each in outcomes(section.checks, section.own) if each.status == "FAILED"]
        assert [each for each in broken if not each.name.startswith("it keeps all")] == []


def test_what_a_declaration_names_and_is_not_there_is_told_with_its_name(brought):
    brought("own_paper.py", PAPER.replace('"vote:first"', '"vote:last"').replace("import integer", "import integer")
            .replace("    PAPER =", "    import numpy\n    PAPER ="))  # fmt: skip
    section = things.sections("own_paper:PAPER", "mine", [])[0]
    found = {each.name: each.reason for each in outcomes(section.checks, section.own) if each.status == "FAILED"}
    assert found["it is read without NumPy, numba or scikit-learn"].startswith("to read it imports numpy")
    assert "strategies first: vote:last" in found["everything that it names is there"] and len(found) == 2


WRONG = {
    "paper: own_papr": ("paper: own_paper", "paper: no figures of a paper 'own_papr'; did you mean 'own_paper'?"),
    "table: table2": ("table: table1", "table: no table of paper 'own_paper' 'table2'; did you mean 'table1'?"),
    "rows: algorithm": ("rows: algo", "rows: 'algorithm' is swept in no block; did you mean 'algo'?"),
    "[dataset, R]": ("[dataset, T]", "columns: 'R' is swept in no block"),
    "methods: algo": ("method: algo", "where: no column of the figures of 'own_paper' 'methods'"),
    "rounds: t": ("rounds: T", "where: no swept key 't'"),
    "order: [vote, rnd]": ("order: [vote, rand]", "target 1: rows: no row 'rnd'; did you mean 'rand'?"),
    "oder:": ("order:", "target 1: keys: no key of a target 'oder'; did you mean 'order'?"),
    "along: [T=5, T=7]": ("along: [T=5, T=9]", "target 2: labels: no label of a column 'T=7'"),
    "rising: [votes]": ("rising: [vote]", "target 2: rows: no row 'votes'; did you mean 'vote'?"),
    "{metric: test_acuracy_pct, columns": ("{metric: test_accuracy_pct, columns", "target 1: metric: no metric"),
    "hints: [a]\ntitle:": ("title:", "hints missing or unknown"),
    "[vote, rond]": ("algo: [vote, rand]", "target 1: rows: no row 'rand'"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_item_is_told_before_any_trial(wrong, brought, command, workplace):
    right, sentence = WRONG[wrong]
    new = wrong if wrong != "[vote, rond]" else "algo: [vote, rond]"
    assert right in ITEM
    brought("paper/own_paper/table1.yaml", ITEM.replace(right, new, 1))
    code, out, err = command("reproduce own_paper/table1 --config-dir mine n_jobs=1")
    assert code == 2 and sentence in err and not (workplace / "results").exists()
    code, out, _ = command("check own_paper/table1 --config-dir mine")
    assert code == 1 and sentence in out
    if "missing or unknown" not in sentence:
        assert re.search(r"mine/paper/own_paper/table1.yaml:\d+: ", out)


def test_a_bad_key_of_an_item_is_told_and_a_paper_takes_none(brought, command):
    brought("paper/own_paper/table1.yaml", ITEM.replace("overrides: [trials=2]", "overrides: [algo.rouns=2]"))
    code, out, _ = command("check own_paper/table1 --config-dir mine")
    assert code == 1 and "FAILED   the settings of every cell can be put together: UnknownKeyError" in out
    assert "has no key 'rouns'" in out
    with pytest.raises(BoostrunError, match="own_paper takes no T: a paper is checked with the defaults"):
        things.sections("own_paper:PAPER", "mine", ["T=3"])
