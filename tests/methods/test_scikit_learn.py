"""A process that only runs trials does without scikit-learn, and finds the same; everybody else has its classes."""

import json
import subprocess
import sys

import numpy as np
import pytest

from boostrun.methods import scikit_learn

TRAINED = """
import json, sys
import numpy as np
from boostrun.methods import scikit_learn
if {spared}:
    scikit_learn.spare()
from boostrun.data.source import ArraySource
from boostrun.papers.reservoir.classifier import ReservoirClassifier
from boostrun.papers.adaptive.classifier import AdaBoostMHClassifier
from boostrun.papers.iboost.iboost import IBoostClassifier
from boostrun.papers.shareboost.classifier import ShareBoostClassifier

X = np.random.default_rng(0).normal(size=(300, 6))
y = (X[:, 0] + X[:, 1] > 0).astype(np.int64) + (X[:, 2] > 1)
codes = np.clip(X * 40 + 128, 0, 255).astype(np.uint8)
source = ArraySource(codes, y, 1, columns=np.ascontiguousarray(codes.T))
learner = IBoostClassifier(budget=8, n_window=50, random_state=2)
found = [
    ReservoirClassifier("wsam", reservoir_size=20, n_estimators=8, random_state=0).fit_source(source)
    .ensemble_.decision(codes).sum(),
    learner.test_then_train(X, y, np.arange(3)).tolist(),
    learner.predict(X[:9]).tolist(),
    ShareBoostClassifier(n_features=3, random_state=0).fit(X, y).predict(X[:9]).tolist(),
]
loaded = "sklearn" in sys.modules
from sklearn.base import clone, is_classifier
again = clone(learner)
print(json.dumps([loaded, found, again.get_params() == learner.get_params(), bool(is_classifier(learner))]))
"""


@pytest.fixture(scope="module")
def trained():
    return {spared: json.loads(subprocess.run(
        [sys.executable, "-c", TRAINED.format(spared=spared)], check=True, capture_output=True, text=True,
    ).stdout) for spared in (False, True)}  # fmt: skip


@pytest.mark.slow
def test_a_spared_process_trains_the_same_without_scikit_learn(trained):
    assert [trained[spared][0] for spared in (False, True)] == [True, False]
    assert trained[False][1:] == trained[True][1:] and trained[True][2:] == [True, True]


def test_classifiers_are_imported_without_scikit_learn_in_a_spared_process():
    imports = "\n".join(line for line in TRAINED.splitlines() if line.startswith("from boostrun"))
    program = f"{imports.partition('from boostrun.data')[0]}scikit_learn.spare()\n{imports}\nimport sys\n"
    subprocess.run([sys.executable, "-c", f"{program}assert 'sklearn' not in sys.modules"], check=True)


def test_parameters_of_the_plain_base_are_those_of_scikit_learns():
    class Inner(scikit_learn._Parameters):
        def __init__(self, depth=2):
            self.depth = depth

    class Outer(scikit_learn._Parameters):
        def __init__(self, base=None, rate=0.5):
            self.base, self.rate = base, rate

    outer = Outer(Inner())
    assert outer.set_params(base__depth=3, rate=0.1) is outer
    assert outer.get_params() == {"base": outer.base, "base__depth": 3, "rate": 0.1}
    assert outer.get_params(deep=False) == {"base": outer.base, "rate": 0.1}
    with pytest.raises(ValueError, match="no parameter 'deep'"):
        outer.set_params(deep=1)


@pytest.mark.parametrize(
    ("X", "y", "whole"),
    [
        (np.ones((3, 2)), np.array([0, 1, 1]), True),
        (np.ones((3, 2), np.float32), np.array([0, 1, 1]), False),  # to be converted
        (np.array([[1.0, np.nan]]), np.array([0]), False),
        (np.ones(3), np.array([0, 1, 1]), False),
        (np.ones((0, 2)), np.array([], int), False),
        (np.ones((3, 2)), np.array([0.5, 1, 1]), False),
        (np.ones((3, 2)), np.array([0, 1]), False),
        ([[1.0, 2.0]], np.array([0]), False),
    ],
)
def test_only_arrays_that_need_no_word_of_scikit_learn_pass_without_it(X, y, whole):
    class Fitted:
        pass

    assert scikit_learn._as_it_must_be(Fitted(), X, y, True, np.float64) is whole
    fitted = Fitted()
    fitted.n_features_in_ = 3
    assert not scikit_learn._as_it_must_be(fitted, X, y, False, np.float64)
