"""The meters of a saved model: each must notice a model that spends more than it says."""

import os
import shutil
import sys
import time

import numpy as np
import pytest

from boostrun import AdaBoostMHClassifier, BoostrunError, StumpEnsemble
from boostrun.export import read
from boostrun.export.flash import flash
from boostrun.methods.stumps import Stump
from boostrun.runner import meters


def data(n=200, d=6):
    generator = np.random.default_rng(0)
    X = generator.normal(size=(n, d))
    return X, (X[:, 1] + X[:, 4] > 0).astype(int)


@pytest.fixture(scope="module")
def model():
    return AdaBoostMHClassifier("laminating", n_estimators=12, random_state=0).fit(*data())


def test_columns_that_a_model_reads_are_those_of_its_stumps(model):
    X, _ = data()
    found = meters.columns_read(model, X)
    assert found.all_others and set(found.columns) == set(model.ensemble_.features)


def test_a_model_that_reads_a_column_it_does_not_name_is_found_out(model):
    X, _ = data()

    class Hiding(AdaBoostMHClassifier):
        feature_importances_ = property(lambda self: np.eye(6)[1])

    model_of_two = Hiding("laminating", n_estimators=12, random_state=0).fit(X, (X[:, 1] + X[:, 4] > 0).astype(int))
    assert not meters.columns_read(model_of_two, X).all_others


def test_flash_grows_with_the_model_and_counts_equal_numbers_once(tmp_path):
    def size(stumps):
        one = StumpEnsemble.of([[(stump, 0.5) for stump in stumps]])
        path = one.save(tmp_path / "m", classes=np.array(["a", "b"]), n_features_in=np.array(400))
        return flash(read(path)).tables

    few, different = [Stump(3, 0.5, 1)] * 2, [Stump(3, 0.5 + n, 1) for n in range(40)]
    far = [Stump(n, 0.5 + n, 1) for n in range(40)]
    assert size(few) < min(size(different), size(far)) and max(size(different), size(far)) < 400


def test_flash_is_that_of_the_file_that_export_writes(model, tmp_path):
    X, _ = data()
    found = flash(read(model.save(tmp_path / "m")), X)
    assert (found.lost, found.rows) == (0, 200) and 0 < found.tables < 12 * 8
    doubled = AdaBoostMHClassifier("laminating", n_estimators=200, random_state=0).fit(*data())
    assert flash(read(doubled.save(tmp_path / "m")), X).tables > 2 * found.tables


@pytest.mark.skipif(shutil.which("gcc") is None, reason="there is no C compiler")
def test_latency_grows_with_rounds_and_counts_instructions(tmp_path):
    X, y = data()
    found = []
    for rounds in (5, 500):
        path = AdaBoostMHClassifier("laminating", n_estimators=rounds, random_state=0).fit(X, y).save(tmp_path / "m")
        found.append(meters.latency(read(path), X))
    assert 0.0 < found[0].microseconds < found[1].microseconds and found[0].rows == 200
    if found[0].instructions is not None:
        assert 20 * found[0].instructions < found[1].instructions < 200 * found[0].instructions
    assert meters.latency(read(path), X, most=1e-6).instructions is None  # too slow for its budget


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("gcc") is None, reason="there is no C compiler")
def test_latency_does_not_count_the_time_in_which_other_programs_run(model, tmp_path, monkeypatch):
    waits = meters._HARNESS.replace("i < n;", "i < n && (i || !usleep(5000));")  # before each pass over the rows
    monkeypatch.setattr(meters, "_HARNESS", f"#include <unistd.h>{waits}")
    found = meters.latency(read(model.save(tmp_path / "m")), data()[0], most=0.0)
    assert found.microseconds < 5.0  # 25 more with the pauses


def test_latency_without_a_compiler_is_a_sentence(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(BoostrunError, match="no compiler is found"):
        meters.compiler()


@pytest.mark.skipif(not hasattr(os, "wait4"), reason="the system does not say what a process took")
def test_the_memory_of_a_process_is_what_it_took():
    taken = [meters.peak_of([sys.executable, "-c", f"x = b'1' * ({mib} << 20)"]) for mib in (1, 200)]
    assert 180 < taken[1] - taken[0] < 220
    with pytest.raises(BoostrunError, match=r"^no such thing$"):
        meters.peak_of([sys.executable, "-c", "import sys; sys.exit('boostrun: no such thing')"])


def test_a_deadline_interrupts_once_and_gives_the_signal_back():
    clock = meters.Deadline(0.4, time.monotonic())
    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt), clock.until(0.5):
        time.sleep(5.0)
    assert clock.rang and 0.1 < time.monotonic() - begun < 2.0
    with clock.until(5.0):
        pass
    assert not clock.rang
    time.sleep(0.05)
    assert meters.Deadline(None, begun).left() == float("inf")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_deadline_that_rings_while_an_object_is_deleted_rings_again():
    clock = meters.Deadline(0.4, time.monotonic())

    class Deaf:
        def __del__(self):
            time.sleep(1.0)  # an exception here is lost

    with pytest.raises(KeyboardInterrupt), clock.until(0.5):
        Deaf()
        time.sleep(10.0)
    assert clock.spent < 8.0


def test_a_deadline_does_not_interrupt_what_its_interrupt_has_begun():
    clock, ended = meters.Deadline(0.4, time.monotonic()), False
    with pytest.raises(KeyboardInterrupt), clock.until(0.5):
        try:
            time.sleep(10.0)
        finally:
            time.sleep(3.0)
            ended = True
    assert ended


@pytest.mark.parametrize(("right", "of"), [(0, 10), (10, 10), (7, 10), (900, 1000)])
def test_the_interval_of_an_accuracy_is_wilsons(right, of):
    low, high = meters.wilson(right, of)
    assert -1e-9 <= low <= 100 * right / of <= high + 1e-9 <= 100 + 1e-8
    for edge in (low, high):  # at its ends the share is 1.96 standard errors away
        share = edge / 100
        assert abs(right / of - share) == pytest.approx(1.959964 * (share * (1 - share) / of) ** 0.5, abs=1e-6)


def test_a_command_that_is_interrupted_ends_with_all_its_processes(tmp_path):
    clock = meters.Deadline(2.0, time.monotonic())
    program = f"import time; time.sleep(1.5); open({str(tmp_path / 'late')!r}, 'w')"
    with pytest.raises(KeyboardInterrupt), clock.until(0.5):
        meters.peak_of([sys.executable, "-c", program])
    time.sleep(1.7)
    assert not (tmp_path / "late").exists()
