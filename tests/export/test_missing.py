"""Missing values from a table to its predictors: the saved model, C and ONNX say of NaN what the trained one says."""

import numpy as np
import pytest

from boostrun.errors import BoostrunError
from boostrun.export import c_source
from boostrun.export.onnx import predictor
from boostrun.prediction import load
from tests.export import operators_in_numpy
from tests.export.compiled import Compiled
from tests.export.test_trained import scores_of, trained

CASES = ["algo=wsam features=raw r=20 T=9", "algo=shareboost features=linear T=6"]
MORE = [
    "algo=laminating features=raw features.bins=16 T=9",
    "algo=jointboost features=stumps features.bins=16 T=9",
    "algo=shareboost features=stumps T=9",
    "algo=shareboost features=raw features.bins=16 T=4",
    "algo=shareboost features=anchors features.anchors=6 features.radii=3 features.pca=2 T=3",
    "algo=shareboost features=anchors features.anchors=6 features.radii=3 features.pca=0 T=3",
    "algo=ovr_greedy features=products T=4",
]


@pytest.fixture
def folder(workplace):
    """120 training and 90 test samples in three classes, whose label decides which values are missing; others are
    missing in the test part alone.
    """
    rng = np.random.default_rng(0)
    y = np.arange(210) % 3
    x = rng.normal(size=(210, 4))
    x[rng.random(210) < 0.2 + 0.35 * (y == 0), 0] = np.nan
    x[rng.random(210) < 0.2 + 0.35 * (y == 2), 2] = np.nan
    x[150:155, 1] = np.nan
    labels = np.array(["red", "green", "blue"])[y]
    np.savez(workplace / "gaps.npz", x_train=x[:120], y_train=labels[:120], x_test=x[120:], y_test=labels[120:])
    return workplace


@pytest.mark.parametrize("line", [*CASES, *(pytest.param(line, marks=pytest.mark.slow) for line in MORE)])
def test_all_forms_of_a_model_say_the_same_of_missing_values(folder, line):
    _, saved, bank, data = trained(folder, "gaps", line)
    assert np.isnan(data.x_test).any(axis=0).tolist() == [True, True, True, False]
    expected = scores_of(saved, bank)
    numbers = expected.argmax(axis=1)
    assert len(set(numbers)) == 3
    model = load(folder / "model.npz")
    assert model.n_features_in_ == 4 and (model.predict(data.x_test) == np.array(saved.classes)[numbers]).all()
    found, scores = Compiled(c_source(saved), folder / "c")(data.x_test)
    assert (found == numbers).all()
    np.testing.assert_allclose(scores, expected, rtol=1e-9, atol=1e-12)
    if "anchors" not in line:
        labels, scores = operators_in_numpy.run(predictor(saved), data.x_test)
        assert (labels == np.array(saved.classes)[numbers]).all()
        np.testing.assert_allclose(scores, expected, rtol=1e-9, atol=1e-12)


def test_importances_of_a_columns_copies_add_up_to_those_of_the_column(folder):
    _, saved, _, _ = trained(folder, "gaps", CASES[0])
    assert saved.n_features == 6 and saved.inputs["missing"].tolist() == [0, 2]
    each = np.bincount(saved.model.features.ravel(), np.abs(saved.model.coefficients).ravel(), 6)
    whole = each[:4] + np.array([each[4], 0, each[5], 0])
    np.testing.assert_allclose(load(folder / "model.npz").feature_importances_, whole / whole.sum())


DAMAGES = [
    ("missing", np.array([0, 4])), ("missing", np.array([2, 0])), ("missing", np.array([-1, 2])),
    ("missing", np.array([0.0, 2.0])), ("missing", np.arange(6)), ("missing", np.array([0])), ("means", np.zeros(3)),
    ("means", np.full(4, np.nan)), ("means", None), ("missing", None), ("kind", np.array("pixels")),
]  # fmt: skip


def test_a_damaged_file_is_one_sentence(folder):
    trained(folder, "gaps", "algo=shareboost features=linear T=2")
    with np.load(folder / "model.npz") as found:
        whole = dict(found)
    for name, array in DAMAGES:
        arrays = {**whole, f"input_{name}": array}
        np.savez(folder / "damaged.npz", **{key: value for key, value in arrays.items() if value is not None})
        with pytest.raises(BoostrunError, match=r"damaged\.npz is not an ensemble saved by boostrun \("):
            load(folder / "damaged.npz")
