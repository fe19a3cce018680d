"""Models of other libraries as arrays: the predictions are the library's, in Python, from a file and in C."""

import numpy as np
import pytest

from boostrun import BoostrunError
from boostrun.export import c_source, read
from boostrun.methods.archive import Damaged
from boostrun.prediction import load
from boostrun.rivals import boosted_trees, forests
from boostrun.rivals.kept import BranchingTrees, check_trees, kept
from tests.export.compiled import Compiled
from tests.marks import slow_but

RIVALS = {
    "lightgbm": lambda: boosted_trees.LightGBMClassifier(n_estimators=12, random_state=0, min_samples_leaf=3),
    "xgboost": lambda: boosted_trees.XGBoostClassifier(n_estimators=12, random_state=0, depth=4),
    "hist_gradient": lambda: boosted_trees.HistGradientRivalClassifier(n_estimators=12, random_state=0),
    "random_forest": lambda: forests.RivalForestClassifier(n_estimators=12, random_state=0),
    "extra_trees": lambda: forests.RivalExtraTreesClassifier(n_estimators=12, random_state=0),
}


def samples(dtype, classes, n=240):
    """Six attributes: codes, or numbers of which many are the same in single precision, or near a whole number."""
    generator = np.random.default_rng(classes)
    y = np.arange(n) % classes
    X = generator.normal(size=(n, 6)) + 0.7 * np.outer(y, [1, -1, 0, 2, 0, 0])
    if dtype == np.uint8:
        return np.clip(40 * X + 128, 0, 255).astype(np.uint8), y
    X[:, 1], X[:, 2] = np.round(X[:, 1]), 16777216.0 + np.round(X[:, 2] * 4) / 4
    X[:, 4] = 1.0 + X[:, 4] * 1e-8
    return X.astype(dtype), np.array(["b", "a", "c"])[y]


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("dtype", slow_but([np.float64], [np.uint8, np.float64]))
@pytest.mark.parametrize("name", RIVALS)
def test_arrays_predict_what_the_library_does(name, dtype, classes, tmp_path):
    X, y = samples(dtype, classes)
    rival = RIVALS[name]()
    try:
        rival.installed()
    except BoostrunError as missing:
        pytest.skip(str(missing))
    rival.features_used = 4
    rival.fit(X[:160], y[:160])
    found = kept(rival)
    assert found.predict(X).tolist() == rival.predict(X).tolist()
    assert np.allclose(found.predict_proba(X), rival.predict_proba(X), rtol=0, atol=2e-6)
    assert set(np.flatnonzero(found.feature_importances_)) <= set(rival.columns_)
    assert np.count_nonzero(found.feature_importances_) == rival.n_features_used_ <= 4
    edges = np.unique(np.concatenate([found._model.thresholds, np.nextafter(found._model.thresholds, -np.inf)]))
    if dtype == np.float64:  # just at every threshold, and just below
        near = np.tile(X[:1], (len(edges), 1))
        for column in rival.columns_:
            near[:, column] = edges
            assert found.predict(near).tolist() == rival.predict(near).tolist()
    loaded = load(found.save(tmp_path / "m"))
    assert loaded.predict(X).tolist() == found.predict(X).tolist() and loaded.method == type(rival).__name__
    with pytest.raises(BoostrunError, match="not trained again"):
        loaded.fit(X, y)
    in_c = Compiled(c_source(read(tmp_path / "m.npz")), tmp_path)
    numbers, scores = in_c(X)
    assert np.array_equal(scores.T, found._model.decision(np.asarray(X, np.float64)))
    assert found.classes_[numbers].tolist() == found.predict(X).tolist()


def test_a_tree_of_one_leaf_and_a_chain_are_kept(tmp_path):
    rival = forests.RivalForestClassifier(n_estimators=3, random_state=0, min_samples_leaf=200)
    X, y = samples(np.float64, 2)
    rival.fit(X, y)
    model = kept(rival)._model
    assert len(model.features) == 0 and (model.roots < 0).all() and np.allclose(model.decision(X), 0.5, atol=0.1)
    chain = forests.RivalForestClassifier(n_estimators=1, random_state=0, min_samples_leaf=1)
    ramp = np.arange(300.0)[:, None]
    chain.fit(ramp, np.arange(300) % 2)
    assert kept(chain).predict(ramp).tolist() == chain.predict(ramp).tolist()


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("children", lambda array: np.full_like(array, 0)),  # a walk that would not end
        ("children", lambda array: np.full_like(array, len(array))),
        ("children", lambda array: np.full_like(array, -(10**6))),
        ("roots", lambda array: np.full_like(array, 10**6)),
        ("roots", lambda array: np.full_like(array, -(10**6))),
        ("features", lambda array: np.full_like(array, 6)),
        ("rows", lambda array: np.full_like(array, 3)),
        ("leaves", lambda array: np.tile(array, (1, 2))),
        ("link", lambda array: np.array("votes")),
        ("base", lambda array: array[:2]),
    ],
)
def test_a_damaged_file_is_refused_before_compiled_code_reads_it(name, change):
    rival = forests.RivalForestClassifier(n_estimators=3, random_state=0)
    model = kept(rival.fit(*samples(np.float64, 3)))._model
    arrays, sizes = {**vars(model)}, {"d": 6, "C": 3}
    assert isinstance(BranchingTrees(*check_trees(arrays, dict(sizes)).values()), BranchingTrees)
    with pytest.raises(Damaged):
        check_trees(arrays | {name: change(arrays[name])}, sizes)
