"""Drift detectors of river's in the place of ADWIN."""

import pickle

import numpy as np
import pytest

from boostrun.errors import BoostrunError
from boostrun.papers.iboost.keys import DETECTORS
from boostrun.streams import AdwinBaggingClassifier
from tests.papers.iboost.learners import make

pytestmark = pytest.mark.slow  # kernels that take long to compile; other tests ask what all learners must do

drift = pytest.importorskip("river.drift")
with_detector = pytest.mark.parametrize("name", ["adwinbag", "flc", "iboost_adwin"])


def turned(n=240):
    """Two classes far apart, which change places half way."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n)
    X = rng.normal(size=(n, 2)) + 4.0 * y[:, None]
    return X, np.where(np.arange(n) < n // 2, y, 1 - y)


def changes(model):
    """How often something was done about a change."""
    return model.n_detections_ if hasattr(model, "n_detections_") else model.n_replaced_


@with_detector
def test_one_that_finds_nothing_leaves_the_method_as_it_is_without_changes(name):
    """To the bit, of ADWINs so sure of themselves that they are never cut."""
    X, y = turned()
    plain, quiet = make(name, delta=1e-300), make(name, detector=drift.NoDrift())
    np.testing.assert_array_equal(plain.test_then_train(X, y), quiet.test_then_train(X, y))
    assert changes(plain) == changes(quiet) == 0


@with_detector
def test_a_change_is_acted_upon_and_the_stream_may_be_cut_anywhere(name):
    X, y = turned()
    whole, parts = make(name, detector="ddm"), make(name, detector="ddm")
    said = whole.test_then_train(X, y, classes=[0, 1])
    cut = [parts.test_then_train(X[a:b], y[a:b], classes=[0, 1]) for a, b in ((0, 7), (7, 130), (130, 240))]
    np.testing.assert_array_equal(said, np.concatenate(cut))
    assert changes(whole) == changes(parts) > 0


@pytest.mark.parametrize("detector", DETECTORS)
def test_every_detector_is_found_by_its_name(detector):
    model = AdwinBaggingClassifier(budget=2, random_state=0, detector=detector).partial_fit(*turned(12))
    assert type(model._detectors[0]).__name__ == DETECTORS[detector]
    assert model._detectors[0] is not model._detectors[1]


def test_an_object_is_copied_for_each_member_and_stays_as_it_was():
    given = drift.ADWIN(delta=0.3)
    model = make("flc", detector=given)
    X, y = turned()
    model.partial_fit(X, y)
    assert given.width == 0 and changes(model) > 0 and {type(d) for d in model._detectors} == {drift.ADWIN}
    assert model.clone().detector is not given and model.clone()._get_params()["detector"][1]["delta"] == 0.3
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.test_then_train(X, y), model.test_then_train(X, y))


def test_what_is_no_detector_and_what_a_file_cannot_hold_get_a_sentence(tmp_path):
    X, y = turned(30)
    for bad in ("adwim", drift.ADWIN, 3):
        with pytest.raises(BoostrunError, match=r"detector=.*one of adwin, page_hinkley.* is needed"):
            make("flc", detector=bad).partial_fit(X, y)
    with pytest.raises(BoostrunError, match=r"cannot be saved: its _detectors\.0 is a DDM"):
        make("flc", detector="ddm").partial_fit(X, y).save(tmp_path / "model.npz")
