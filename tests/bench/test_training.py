"""A whole training run on MNIST, beside the targets scaled by the yardsticks of this machine; no time is asserted."""

import time

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from boostrun import ArraySource, ReservoirClassifier
from boostrun.errors import DataMissingError
from boostrun.features import open_bank
from tests.bench.timing import show, slowness, yardsticks
from tests.conftest import REAL_DATA

pytestmark = pytest.mark.bench

TARGETS = {("wsam", 100): 1.5, ("geem", 100): 5.0, ("wsam", 250): None, ("geem", 250): 25.0}


def test_ten_classes_of_mnist_on_one_core():
    try:
        bank = open_bank({"name": "mnist"}, {"name": "raw"}, REAL_DATA, REAL_DATA)
    except DataMissingError as missing:
        pytest.skip(str(missing))
    samples, labels = bank.samples("train"), bank.labels("train")
    rows = []
    with threadpool_limits(1):
        for (strategy, r), target in TARGETS.items():
            ReservoirClassifier(strategy, reservoir_size=5, n_estimators=2, random_state=0).fit_source(
                ArraySource(samples[:100], labels[:100], 0)
            )
            before = yardsticks()
            begun = time.perf_counter()
            clf = ReservoirClassifier(strategy, reservoir_size=r, n_estimators=250, random_state=0)
            clf.fit_source(ArraySource(samples, labels, 0))
            seconds = time.perf_counter() - begun
            assert clf.score(samples[:10_000], labels[:10_000]) > 0.75
            # a shared machine changes its speed within seconds: the yardsticks are taken on both sides of a run
            after = yardsticks()
            scale, (inverse, cityblock) = slowness(before, after), np.mean([before, after], axis=0)
            against = f", target {target * scale:.2f} s, ratio {seconds / target / scale:.2f}" if target else ""
            rows.append((f"{strategy} r={r} T=250, 10 classes", f"{seconds:.2f} s{against}"))
            rows.append(("  yardsticks: inverse, cityblock; scale", f"{inverse:.1f}, {cityblock:.1f} ms; {scale:.2f}"))
    show("training on MNIST", rows)
