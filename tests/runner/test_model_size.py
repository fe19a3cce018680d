"""Bytes of models, as records have them."""

import numpy as np
import pytest

import boostrun
from boostrun.errors import BoostrunError
from boostrun.runner.predictions import model_bytes


def drawn(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(120, 5))
    return X, (X[:, 0] > 0).astype(int) + (X[:, 1] > 1)


def test_a_stump_takes_its_feature_threshold_polarity_and_coefficient(tmp_path):
    X, y = drawn()
    model = boostrun.ReservoirClassifier(n_estimators=7, reservoir_size=40, random_state=0).fit(X, y)
    assert model_bytes(model) == 7 * 3 * (4 + 8 + 1 + 8)
    model.save(tmp_path / "model")
    assert model_bytes(model) < (tmp_path / "model.npz").stat().st_size


def test_more_trees_take_more():
    X, y = drawn()
    sizes = [
        model_bytes(boostrun.ReservoirClassifier(n_estimators=T, reservoir_size=40, weak_learner="tree",
                                                 random_state=0).fit(X, y))
        for T in (2, 4)
    ]  # fmt: skip
    assert sizes[1] == 2 * sizes[0] > 0


@pytest.mark.parametrize("model", [object(), boostrun.ReservoirClassifier()])
def test_what_cannot_be_saved_has_no_size(model):
    assert model_bytes(model) is None


def test_what_is_put_together_as_it_is_asked_for_and_cannot_be_has_no_size():
    class Unsaved:
        @property
        def _model(self):
            raise BoostrunError("its model_ is a tree of someone else's, not an array")

    assert model_bytes(Unsaved()) is None
