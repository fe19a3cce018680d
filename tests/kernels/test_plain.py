"""Where the compiler's own language does not work plain kernels stand in, and models come out the same."""

import os
import subprocess
import sys

import pytest

from boostrun.kernels.plain import needed
from boostrun.papers.reservoir import inverse

TRAINED = """
import hashlib
import numpy as np
from sklearn.datasets import load_digits
import boostrun
from boostrun.kernels import lanes
from boostrun.papers.reservoir.kernels import inverse

X, y = load_digits(return_X_y=True)
X, y = X[:400], y[:400]
print(lanes.load.__module__, type(inverse.inversion_of(3)).__name__)
for name, settings in {
    "ReservoirClassifier": {"strategy": "geem", "reservoir_size": 60, "n_estimators": 3, "random_state": 0},
    "AdaBoostMHClassifier": {"n_estimators": 4, "random_state": 0},
    "ShareBoostClassifier": {"n_features": 3},
    "JointBoostClassifier": {"rounds": 3},
}.items():
    model = getattr(boostrun, name)(**settings).fit(X, y)
    print(name, hashlib.sha256(np.ascontiguousarray(model.decision_function(X)).tobytes()).hexdigest())
"""


@pytest.mark.slow
def test_models_are_equal_to_the_bit(tmp_path):
    def trained(plain):
        surroundings = {**os.environ, "BOOSTRUN_PLAIN_KERNELS": plain, "XDG_CACHE_HOME": str(tmp_path)}
        command = [sys.executable, "-c", TRAINED]
        done = subprocess.run(command, env=surroundings, capture_output=True, text=True, check=False)
        assert not done.returncode, done.stderr
        return done.stdout.split("\n", 1)

    (fast, models), (plain, same) = trained("0"), trained("1")
    assert fast != plain and "lanes_plain" in plain and "PlainInversion" in plain
    assert models == same and models.count("Classifier") == 4


@pytest.mark.parametrize("broken", [ValueError("no such routine"), AttributeError("llvm"), None])
def test_what_does_not_compile_is_replaced(broken, monkeypatch):
    monkeypatch.delenv("BOOSTRUN_PLAIN_KERNELS", raising=False)

    def factor(self):
        if broken:
            raise broken
        return self.matrix * 3

    assert not needed(lambda: True)
    monkeypatch.setattr(inverse.Inversion, "factor", factor)
    inverse._plain.cache_clear()
    try:
        assert isinstance(inverse.inversion_of(3), inverse.PlainInversion)
    finally:
        inverse._plain.cache_clear()
