"""A round of JointBoost, beside reading its weights once for every feature; no time is asserted."""

import numpy as np
import pytest
from numba import njit
from sklearn.datasets import load_digits

from boostrun.kernels.lanes import LANES, load, spread, total, zeros
from boostrun.papers.shareboost.jointboost import JointBoostClassifier
from tests.bench.timing import median_ms, show
from tests.conftest import REAL_DATA

pytestmark = pytest.mark.bench


@njit(cache=True)
def read(weights, times):
    """The floor: weights (n, 16 m) read so many times, into a register."""
    out = np.float32(0.0)
    for _ in range(times):
        summed = spread(np.float32(0.0))
        for i in range(weights.shape[0]):
            for part in range(0, weights.shape[1], LANES):
                summed = summed + load(weights, i, part)
        out += total(summed)
    return out


def training_sets():
    """name -> (X, y): StatLog and Pendigits where their files are, else scikit-learn's digits."""
    found = {}
    for name, file, delimiter in (("StatLog", "sat.trn", None), ("Pendigits", "pendigits.tra", ",")):
        if (REAL_DATA / "uci" / file).is_file():
            table = np.loadtxt(REAL_DATA / "uci" / file, delimiter=delimiter)
            found[name] = table[:, :-1], table[:, -1]
    return found or {"digits": load_digits(return_X_y=True)}


def test_a_round_of_jointboost():
    rows = []
    for name, (X, y) in training_sets().items():
        clf = JointBoostClassifier(rounds=60).fit(X, y)
        assert clf.score(X, y) > 0.8
        select, rest = 1e3 * np.median(clf.seconds_select_), 1e3 * np.median(clf.seconds_optimise_)
        weights = zeros(len(X), -(-len(clf.classes_) // LANES) * LANES)
        floor = median_ms(lambda weights=weights, d=X.shape[1]: read(weights, d))
        what = f"{name}: {len(X)} samples, {X.shape[1]} features, {len(clf.classes_)} classes"
        rows.append((what, f"{select:.2f} + {rest:.2f} ms, floor {floor:.2f}"))
    show("JointBoost, best first: search + update a round; the target on StatLog is 50 ms", rows)
