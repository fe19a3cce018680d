"""A step of each policy beside a step of uniform_naive of the same budget, on MNIST; no time is asserted."""

import time

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from boostrun.features import bank_key
from boostrun.features.bank import Bank
from boostrun.kernels.lanes import LANES, zeros
from boostrun.papers.adaptive.adaboost_mh import TrainingRun, one_column_a_class
from boostrun.papers.adaptive.classifier import AdaBoostMHClassifier
from tests.bench.timing import median_ms, pixels_of_mnist, read_often, show
from tests.conftest import REAL_DATA

pytestmark = pytest.mark.bench

POLICIES = ("uniform_naive", "mas_naive", "mas_1q", "mas_q1", "laminating", "tasting_1q")
STEPS, ROUNDS = 20, 15


@pytest.fixture(scope="module")
def bank():
    """The 19 families if they have been computed, else pixels."""
    pixels = pixels_of_mnist()
    folder = REAL_DATA / "banks" / bank_key({"name": "mnist"}, {"name": "families19"}, REAL_DATA)
    return Bank(folder) if (folder / "meta.json").is_file() else pixels


def training(policy, codes, families, labels, samples):
    model = AdaBoostMHClassifier(policy)
    board, started = model.set_up(codes, families, np.random.default_rng(0), samples)
    return TrainingRun(board, started, one_column_a_class(labels, np.unique(labels)), "uniform")


def test_steps_of_the_policies_beside_a_uniform_step(bank):
    parts = bank.codes("train"), bank.families, bank.labels("train"), bank.samples("train")
    runs, times = {name: training(name, *parts) for name in POLICIES}, {name: [] for name in POLICIES}
    with threadpool_limits(1):
        for one in runs.values():
            one.boost(60)  # compiled, and past the first steps, which are not like the others
        for _ in range(ROUNDS):  # in turn, so that other load on the machine affects all of them
            for name, one in runs.items():
                begun = time.perf_counter()
                one.boost(STEPS)
                times[name].append(1e3 * (time.perf_counter() - begun) / STEPS)
    assert all(one.loss[-1] < one.loss[59] < 0.0 for one in runs.values())
    uniform = np.array(times["uniform_naive"])
    show(f"a step on {len(parts[2])} samples, {bank.n_features} features, budget 10 N (ms, ratio to uniform_naive)", [
        (name, f"{np.median(took):.2f}, {np.median(np.array(took) / uniform):.2f}") for name, took in times.items()
    ])  # fmt: skip


def test_a_step_beside_reading_the_weights_once_for_every_feature():
    rng = np.random.default_rng(0)
    n, classes, features = 60_000, 10, 10
    codes, labels = rng.integers(0, 256, (200, n)).astype(np.uint8), rng.integers(0, classes, n)
    one = training("uniform_naive", codes, None, labels, None)
    signed = zeros(n, LANES)
    signed[:, :classes] = rng.normal(size=(n, classes))
    reads = {
        "NumPy's sum": lambda: [signed.sum() for _ in range(features)],
        "a register, nothing stored": lambda: read_often(signed, features),
    }
    step, floors = [], {name: [] for name in reads}
    for _ in range(9):
        step.append(median_ms(lambda: one.boost(1), 9))
        for name, function in reads.items():
            floors[name].append(median_ms(function, 9))
    assert len(one.loss) > 80 and one.loss[-1] < 0.0
    rows = [("a step: search, refit, update", f"{np.median(step):.2f} ms")]
    for name, took in floors.items():
        ratio = np.median(np.array(step) / took)
        rows.append((f"weights read once a feature into {name}", f"{np.median(took):.2f} ms, ratio {ratio:.2f}"))
    show(f"{features} features, {n} samples, {classes} classes; the target is a ratio of 1.5", rows)
