"""Every classifier that can be saved predicts in C, and in ONNX, as it does in Python."""

import numpy as np
import pytest

from boostrun import (
    AdaBoostMHClassifier,
    BoostrunError,
    FullDataClassifier,
    JointBoostClassifier,
    MixedNormClassifier,
    OnlineRivalClassifier,
    ReservoirClassifier,
    ShareBoostClassifier,
    StumpEnsemble,
    VoteEnsemble,
)
from boostrun.export import Saved, c_source, read
from boostrun.export.forms import real_form, real_scores
from boostrun.methods.tree import TreeEnsemble
from boostrun.papers.shareboost.ovr_greedy import OneVsRestGreedyClassifier
from boostrun.papers.shareboost.pools import ColumnProducts, ColumnStumps, Groups, Piecewise
from tests.export.compiled import Compiled
from tests.export.operators_in_numpy import assert_same

LETTERS = np.array(["b", "a", "c", "d"])


def samples(n, classes=4, seed=0):
    """Six attributes, one of them constant, one of ten values, one large."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % classes
    X = rng.normal(size=(n, 6)) + np.outer(y, [1, -1, 0, 0, 2, 0])
    X[:, 2] = 3.5
    X[:, 3] = rng.integers(0, 10, n)
    X[:, 4] = 1e6 + 100 * X[:, 4]
    return X, LETTERS[y]


STUMPS = {
    "reservoir": ReservoirClassifier("geem", reservoir_size=40, n_estimators=12, random_state=0),
    "all data": FullDataClassifier("all", n_estimators=9, random_state=0),
    "trees": ReservoirClassifier(
        "wsam", weak_learner="tree", depth=3, reservoir_size=40, n_estimators=7, random_state=0
    ),
    "trees on all data": FullDataClassifier("all", weak_learner="tree", n_estimators=4, random_state=0),
    "online": OnlineRivalClassifier("oza", n_estimators=5, random_state=0),
    "votes": AdaBoostMHClassifier("laminating", n_estimators=15, random_state=0),
    "vote trees": AdaBoostMHClassifier("laminating", n_estimators=9, random_state=0, weak_learner="tree", depth=3),
    "jointboost": JointBoostClassifier(20),
}
LINEAR = {
    "columns": ShareBoostClassifier(4, reg=1e-3),
    "free constant": ShareBoostClassifier(4, reg=1e-3, bias="free"),
    "constant in the pool": ShareBoostClassifier(5, reg=1e-3, bias="pool"),
    "absent classes": ShareBoostClassifier(4, reg=1e-3, n_classes=6),
    "groups": ShareBoostClassifier(2, Groups([[0, 1], [4, 3], [5]]), reg=1e-3),
    "products": ShareBoostClassifier(8, "products", reg=1e-3),
    "standard products": ShareBoostClassifier(8, ColumnProducts("standard"), reg=1e-3),
    "binned stumps": ShareBoostClassifier(12, ColumnStumps(8), reg=1e-3),
    "sorted stumps": ShareBoostClassifier(12, ColumnStumps(None), reg=1e-3, bias="free"),
    "pieces": ShareBoostClassifier(5, Piecewise(8, 4), reg=1e-3),
    "projected pieces": ShareBoostClassifier(5, Piecewise(8, 4, pca=3), reg=1e-3),
    "one-vs-rest": OneVsRestGreedyClassifier(3, "products", reg=1e-3),
    "mixed norm": MixedNormClassifier(8, "products", lambda_min_ratio=0.05),
    "debiased": MixedNormClassifier(8, "products", lambda_min_ratio=0.05, debias=True),
}


def exported(clf, tmp_path):
    tmp_path.mkdir(exist_ok=True)
    saved = read(clf.save(tmp_path / "model.npz"))
    return saved, Compiled(c_source(saved), tmp_path)


def scores_of(clf, X):
    """(n, scores) as the C file gives them, from the model as it was saved."""
    if hasattr(clf, "ensemble_"):
        return clf.ensemble_.decision(X).T
    if isinstance(clf, MixedNormClassifier):
        return clf.model_.scores(X, clf.debias)
    return clf.stumps_.decision(X) if hasattr(clf, "stumps_") else clf.model_.scores(X)


@pytest.mark.parametrize(
    ("name", "classes"),
    [*((name, 4) for name in STUMPS), *((name, 2) for name in ("reservoir", "votes", "vote trees", "jointboost"))],
)
def test_stumps_give_the_same_bits_in_c_and_the_same_scores_in_onnx(name, classes, tmp_path):
    X, y = samples(300, classes)
    X_new, _ = samples(400, classes, seed=1)
    clf = STUMPS[name].fit(X, y)
    X_new[:50] = X[:50]  # values at thresholds and bins' edges too
    saved, compiled = exported(clf, tmp_path)
    numbers, scores = compiled(X_new)
    np.testing.assert_array_equal(scores, scores_of(clf, X_new))
    np.testing.assert_array_equal(np.array(saved.classes)[numbers], clf.predict(X_new))
    comparisons = clf.ensemble_.depth if isinstance(getattr(clf, "ensemble_", None), TreeEnsemble) else 1
    assert compiled.counted == compiled.runs == scores.shape[1] * getattr(clf, "n_estimators", 20) * comparisons
    assert_same(clf, saved, X_new)


@pytest.mark.parametrize(
    ("name", "classes"),
    [*((name, 4) for name in LINEAR), *((name, 2) for name in ("products", "mixed norm", "absent classes"))],
)
def test_shared_features_give_the_same_scores(name, classes, tmp_path):
    X, y = samples(300, classes)
    X_new, _ = samples(400, classes, seed=1)
    if name in ("columns", "free constant", "constant in the pool", "absent classes", "groups"):
        X[:, 4], X_new[:, 4] = X[:, 4] / 1e6, X_new[:, 4] / 1e6
    if "pieces" in name:
        X, X_new = X * [1, 1, 1, 0.1, 1e-6, 1], X_new * [1, 1, 1, 0.1, 1e-6, 1]
    clf = LINEAR[name].fit(X, y)
    saved, compiled = exported(clf, tmp_path)
    numbers, scores = compiled(X_new)
    expected = scores_of(clf, X_new)
    np.testing.assert_allclose(scores, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())
    np.testing.assert_array_equal(np.array(saved.classes)[numbers], clf.predict(X_new))
    assert len(set(numbers)) == classes and compiled.counted == clf.model_.multiply_adds[-1]
    added = compiled.runs - compiled.counted
    if "pieces" not in name:
        assert_same(clf, saved, X_new)
    if "pieces" in name:
        assert added == (18 if name == "projected pieces" else 6)
    else:
        constants = getattr(clf.model_, "free", 0) + len(getattr(clf.model_, "constants", ()))
        zeros = 0 if not hasattr(clf.model_, "lengths") else compiled.counted - compiled.runs
        assert added == -constants * scores.shape[1] - zeros


def test_codes_are_bytes(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 256, (200, 9), dtype=np.uint8)
    clf = ShareBoostClassifier(5, "codes", reg=1e-3).fit(X, X[:, 0] // 90)
    saved, compiled = exported(clf, tmp_path)
    numbers, scores = compiled(X)
    np.testing.assert_allclose(scores, clf.model_.scores(X), rtol=1e-9, atol=1e-9)
    assert_same(clf, saved, X)
    assert compiled.type == "unsigned char" and (numbers == clf.predict(X)).all()


def test_stumps_of_columns_whose_missing_values_are_means(tmp_path):
    X, y = samples(300)
    X[::7, 0], X[::5, 3] = np.nan, np.nan
    clf = ShareBoostClassifier(6, "stumps", reg=1e-3).fit(X, y)
    saved, compiled = exported(clf, tmp_path)
    assert set(clf.model_.features["index"]) & {0, 3}
    _, scores = compiled(X)
    np.testing.assert_allclose(scores, clf.decision_function(X), rtol=1e-9, atol=1e-9)
    assert_same(clf, saved, X)
    np.testing.assert_allclose(real_scores(real_form(saved), X, saved.missing), scores, rtol=1e-9, atol=1e-9)


def test_any_class_name_is_kept(tmp_path):
    names = np.array(['a"b\\', "*/ int x; /*", "??/", "%s\n\t", "é漢", "\\", " "])
    X = np.arange(70.0)[:, None]
    clf = JointBoostClassifier(12).fit(X, names[np.arange(70) // 10])
    saved, compiled = exported(clf, tmp_path)
    found = [compiled.shared.class_name(number).decode() for number in range(7)]
    assert found == saved.classes == clf.classes_.tolist() == sorted(names)
    assert compiled.shared.class_name(7) == compiled.shared.class_name(-1) == b""
    numbers, _ = compiled(X)
    assert np.array_equal(clf.classes_[numbers], clf.predict(X)) and len(set(numbers)) > 4


def test_constant_attributes_leave_constant_scores(tmp_path):
    X, y = np.full((40, 2), 7.0), np.arange(40) % 4 // 3
    for clf in (AdaBoostMHClassifier("uniform_1q", n_estimators=3, random_state=0), JointBoostClassifier(3)):
        _, compiled = exported(clf.fit(X, y), tmp_path / type(clf).__name__)
        numbers, scores = compiled(np.array([[7.0, 7.0], [-1e300, 1e300]]))
        assert (numbers == 0).all() and (scores[0] == scores[1]).all() and np.isfinite(scores).all()


def test_a_class_without_a_score_is_left_out_and_a_model_without_features_refused(tmp_path):
    model = VoteEnsemble(np.zeros(1, np.int32), np.zeros(1), np.array([[1, -1]], np.int8), np.ones(1))
    compiled = Compiled(c_source(Saved(model, ["a", "b", "c"], 1, {}, "boostrun.VoteEnsemble/1")), tmp_path)
    assert compiled(np.array([[1.0], [-1.0]]))[0].tolist() == [0, 1] and compiled.shared.class_name(2) == b""
    for model in (VoteEnsemble.empty(3), StumpEnsemble.of([[], []])):
        with pytest.raises(BoostrunError, match="nothing to export"):
            c_source(Saved(model, ["a", "b", "c"], 4, {}, f"boostrun.{type(model).__name__}/1"))
