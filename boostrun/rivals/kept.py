"""Trees of other libraries as one kind of saved model: arrays that predict without the library, in Python and in C.

Thresholds are changed so that x goes right exactly where x >= threshold in double precision. LightGBM and
scikit-learn's boosting compare x <= t, XGBoost and scikit-learn's forests compare x rounded to single precision.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit, softmax

from boostrun.errors import BoostrunError
from boostrun.export.c import split_program, table
from boostrun.export.parts import ProgramParts, Saved, rounding_to
from boostrun.kernels.trees import add_leaves
from boostrun.methods import archive
from boostrun.methods.archive import Array, Damaged, check_features, fitted
from boostrun.methods.saved import Saveable
from boostrun.methods.scikit_learn import BaseEstimator, ClassifierMixin
from boostrun.rivals.boosted_trees import HistGradientRivalClassifier, LightGBMClassifier, XGBoostClassifier
from boostrun.rivals.forests import RivalExtraTreesClassifier, RivalForestClassifier

_FORMAT = "boostrun.BranchingTrees/1"
LINKS = ("softmax", "share")  # of scores: of boosted trees, and of the shares that leaves of forests hold


@dataclass
class BranchingTrees:
    """F_k(x) = base[k] + sum over the trees of class k, or of all trees, of the leaf that x reaches.

    Attributes
    ----------
    features : (N,) int32 and thresholds (N,) float64 of all splits; x goes to ``children[node, 1]`` where x[feature] >=
        threshold, else to ``children[node, 0]``.
    children : (N, 2) int32; a number below 0 is the leaf ~number, a split comes before its children.
    roots : (T,) int32, the first split of each tree, or its only leaf.
    rows : (T,) int32, the class of each tree; not used if leaves have K numbers.
    leaves : (L, 1) or (L, K) float64.
    base : (K,) float64; K is 1 for two classes of boosted trees.
    link : () text, see :data:`LINKS`.

    >>> children, leaves = np.array([[-1, -2]], np.int32), np.array([[-0.5], [2.0]])
    >>> one = (np.zeros(1, np.int32), np.array([3.0]), children, np.zeros(1, np.int32), np.zeros(1, np.int32), leaves)
    >>> BranchingTrees(*one, np.array([0.25]), np.array("softmax")).decision(np.array([[2.0], [3.0]])).tolist()
    [[-0.25, 2.25]]
    """

    features: np.ndarray
    thresholds: np.ndarray
    children: np.ndarray
    roots: np.ndarray
    rows: np.ndarray
    leaves: np.ndarray
    base: np.ndarray
    link: np.ndarray

    @property
    def n_rounds(self) -> int:
        """T, the number of trees."""
        return len(self.roots)

    def decision(self, samples: np.ndarray) -> np.ndarray:
        """Scores (K, n) float64 of ``samples`` (n, d). Raises BoostrunError if they lack a feature."""
        check_features(self.features, samples.shape[1], self.thresholds)
        scores = np.tile(self.base, (len(samples), 1))
        parts = self.features, self.thresholds, self.children, self.roots, self.rows, self.leaves
        add_leaves(np.ascontiguousarray(samples), *parts, scores)
        return scores.T

    def importances(self, n_features: int) -> np.ndarray:
        """(n_features,) float64: the share of the splits that are on each feature."""
        return np.bincount(self.features, minlength=n_features) / max(len(self.features), 1)

    def save(self, path: str | Path, **extra: np.ndarray) -> Path:
        """Write an npz (no pickle) with ``extra`` arrays, and return its path."""
        return archive.save(path, _FORMAT, self.__dict__ | extra)

    @classmethod
    def load(cls, path: str | Path) -> tuple[BranchingTrees, dict[str, np.ndarray]]:
        """The trees that :meth:`save` wrote, and the extra arrays. Never unpickles."""
        arrays, extra = archive.load(path, _FORMAT, tuple(cls.__dataclass_fields__))
        return cls(*arrays), extra


_LAYOUT = {
    "features": Array("int32", "N", least=0, below="d"),
    "thresholds": Array("float64", "N", values="infinite"),
    "children": Array("int32", "N two"),
    "roots": Array("int32", "T"),
    "rows": Array("int32", "T", least=0, below="K"),
    "leaves": Array("float64", "L W", values="summable"),
    "base": Array("float64", "K"),
    "link": Array("text"),
}


def check_trees(arrays: archive.Arrays, sizes: dict[str, int]) -> dict[str, np.ndarray]:
    """The arrays of BranchingTrees; raises Damaged for a child that is no later split and no leaf, so walks end."""
    out = fitted(_LAYOUT, arrays, sizes)
    nodes, leaves = sizes["N"], sizes["L"]
    places = [(out["children"], np.arange(nodes)[:, None]), (out["roots"], np.full(1, -1))]
    if sizes["two"] != 2 or sizes["W"] not in (1, sizes["K"]) or str(out["link"]) not in LINKS:
        raise Damaged("its trees have other than two children, or leaves of other classes")
    if sizes["K"] != (1 if sizes.get("C", 0) == 2 and str(out["link"]) == "softmax" else sizes.get("C", sizes["K"])):
        raise Damaged(f"it has scores for {sizes['K']} problems and {sizes.get('C')} classes")
    for children, parents in places:
        inner = children >= 0
        if np.any(children >= nodes) or np.any(~children[~inner] >= leaves) or np.any(inner & (children <= parents)):
            raise Damaged("a child is neither a later split nor a leaf")
    return out


# -- the classifier ----------------------------------------------------------------------------------------------------


class RivalModelClassifier(Saveable, ClassifierMixin, BaseEstimator):
    """Trees of another library that predict without it; ``boostrun export algo=lightgbm ... --to npz`` writes them.

    It predicts, and is saved and loaded; it is trained by the rival ``method``.

    Parameters
    ----------
    method : str, the class that trained it
    """

    _model_types = (BranchingTrees,)

    def __init__(self, method: str = ""):
        self.method = method

    def fit(self, X, y):
        """Refused: BoostrunError."""
        raise BoostrunError(f"this model was trained by {self.method or 'a rival'}, and is not trained again")

    def _hold(self, model: BranchingTrees) -> None:
        self._model: Any = model

    def _checked(self, X: Any) -> np.ndarray:
        return self._prepared(X, dtype=[np.float64, np.float32, np.uint8], order="C")

    def decision_function(self, X) -> np.ndarray:
        """Scores (n, K) of X (n, d); (n,) for one row of scores."""
        found = self._model.decision(self._checked(X))
        return found[0] if len(found) == 1 else found.T

    def predict(self, X) -> np.ndarray:
        """Labels (n,) of X (n, d)."""
        found = self.decision_function(X)
        return self.classes_[(found >= 0.0).astype(np.intp) if found.ndim == 1 else found.argmax(axis=1)]

    def predict_proba(self, X) -> np.ndarray:
        """Probabilities (n, n_classes) of X (n, d)."""
        found = self.decision_function(X)
        if found.ndim == 1:
            return np.column_stack([expit(-found), expit(found)])
        if str(self._model.link) == "share":
            return found / np.maximum(found.sum(axis=1, keepdims=True), np.finfo(float).tiny)
        return softmax(found, axis=1)


def importances_of(classifier: RivalModelClassifier) -> np.ndarray:
    """(d,) the share of the splits on each feature."""
    preparation = classifier._preparation()
    return classifier._model.importances(classifier.n_features_in_ if preparation is None else preparation.width)


# -- from the libraries ------------------------------------------------------------------------------------------------


class Grown(NamedTuple):
    """A tree of a library: ``features``, ``thresholds`` (N,), ``children`` (N, 2) as in :class:`BranchingTrees`, its
    own ``leaves`` (L, W), and the class ``row`` that it adds to.
    """

    features: np.ndarray
    thresholds: np.ndarray
    children: np.ndarray
    leaves: np.ndarray
    row: int


def kept(rival: Any) -> RivalModelClassifier:
    """The model of a fitted rival made of trees; BoostrunError for a library's tree that arrays cannot hold."""
    trees, base, link = _MAKERS[next(cls for cls in type(rival).__mro__ if cls in _MAKERS)](rival)
    columns = np.arange(rival.n_features_in_) if rival.columns_ is None else rival.columns_
    parts: list[list[np.ndarray]] = [[], [], [], []]
    roots, splits, leaves = [], 0, 0
    for tree in trees:
        ordered = _in_order(tree)
        children = np.where(ordered.children >= 0, ordered.children + splits, ordered.children - leaves)
        roots.append(splits if len(ordered.features) else ~leaves)
        for part, array in zip(parts, (columns[ordered.features], ordered.thresholds, children, ordered.leaves)):
            part.append(array)
        splits, leaves = splits + len(ordered.features), leaves + len(ordered.leaves)
    features, thresholds, children, values = (np.concatenate(part) for part in parts)
    model = BranchingTrees(
        features.astype(np.int32), thresholds.astype(np.float64), children.astype(np.int32).reshape(-1, 2),
        np.array(roots, np.int32), np.array([tree.row for tree in trees], np.int32), values.astype(np.float64),
        np.asarray(base, np.float64), np.array(link),
    )  # fmt: skip
    found = RivalModelClassifier(type(rival).__name__)
    found.classes_, found.n_features_in_ = rival.classes_, rival.n_features_in_
    found._hold(model)
    return found


def _in_order(tree: Grown) -> Grown:
    """The tree with its splits in preorder, so that a child comes after its parent."""
    order, waiting = [], [0] if len(tree.features) else []
    while waiting:
        node = waiting.pop()
        order.append(node)
        waiting += [child for child in tree.children[node][::-1].tolist() if child >= 0]
    place = np.zeros(len(tree.features), np.int64)
    place[order] = np.arange(len(order))
    children = np.asarray(tree.children).reshape(-1, 2)[order]
    renamed = np.where(children >= 0, place[np.maximum(children, 0)] if len(place) else children, children)
    return tree._replace(
        features=np.asarray(tree.features, np.int64)[order], thresholds=np.asarray(tree.thresholds)[order],
        children=renamed,
    )  # fmt: skip


def above(thresholds: np.ndarray) -> np.ndarray:
    """The least double above each threshold: x > t exactly where x is at least this."""
    return np.nextafter(np.asarray(thresholds, np.float64), np.inf)


Made = tuple[list[Grown], np.ndarray, str]


def _of_lightgbm(rival: Any) -> Made:
    k = 1 if len(rival.classes_) == 2 else len(rival.classes_)
    text, trees = rival.booster_.model_to_string(), []
    for number, part in enumerate(text.split("\nTree=")[1:]):
        lines = dict(line.partition("=")[::2] for line in part.partition("\n\n")[0].splitlines())
        given = {name: np.array(lines.get(name, "").split(), np.float64) for name in (
            "split_feature", "threshold", "left_child", "right_child", "leaf_value", "decision_type",
        )}  # fmt: skip
        if np.any(given["decision_type"].astype(np.int64) & 1):
            raise BoostrunError("a split of LightGBM on categories is not kept")
        children = np.column_stack([given["left_child"], given["right_child"]]).astype(np.int64)
        leaves, features = given["leaf_value"][:, None], given["split_feature"].astype(np.int64)
        trees.append(Grown(features, above(given["threshold"]), children, leaves, number % k))
    return trees, np.zeros(k), "softmax"


def _of_xgboost(rival: Any) -> Made:
    k = 1 if len(rival.classes_) == 2 else len(rival.classes_)
    trees = []
    for number, tree in enumerate(rival._trees()):
        left, right = (np.array(tree[name], np.int64) for name in ("left_children", "right_children"))
        values = np.array(tree["split_conditions"], np.float32)
        one = _of_nodes(
            left, right, np.array(tree["split_indices"]), rounding_to(values), values.astype(np.float64)[:, None]
        )
        trees.append(one._replace(row=number % k))
    import xgboost

    zero = np.zeros((1, rival.booster_.num_features()), np.float32)
    margin = rival.booster_.predict(xgboost.DMatrix(zero, nthread=1), output_margin=True)
    return trees, np.asarray(margin, np.float64).reshape(-1) - _sums(trees, zero, k), "softmax"


def _sums(trees: list[Grown], sample: np.ndarray, k: int) -> np.ndarray:
    """The sum of the trees for each of ``k`` scores of one ``sample`` (1, d), each in its library's columns."""
    total = np.zeros(k)
    for tree in trees:
        node = 0 if len(tree.features) else -1
        while node >= 0:
            node = int(tree.children[node][int(sample[0, tree.features[node]] >= tree.thresholds[node])])
        total[tree.row] += tree.leaves[~node, 0]
    return total


def _of_hist_gradient(rival: Any) -> Made:
    trees = []
    for of_round in rival.model_._predictors:
        for row, tree in enumerate(of_round):
            nodes = tree.nodes
            if np.any(nodes["is_categorical"]):
                raise BoostrunError("a split of scikit-learn on categories is not kept")
            inner = nodes["is_leaf"] == 0
            left = np.where(inner, nodes["left"].astype(np.int64), -1)
            right = nodes["right"].astype(np.int64)
            one = _of_nodes(left, right, nodes["feature_idx"], above(nodes["num_threshold"]), nodes["value"][:, None])
            trees.append(one._replace(row=row))
    return trees, rival.model_._baseline_prediction.reshape(-1), "softmax"


def _of_forest(rival: Any) -> Made:
    trees, count = [], len(rival.forest_.estimators_)
    for each in rival.forest_.estimators_:
        tree = each.tree_
        shares = tree.value[:, 0, :] / tree.value[:, 0, :].sum(axis=1, keepdims=True) / count
        edges = rounding_to(_first_above(tree.threshold))
        trees.append(_of_nodes(tree.children_left, tree.children_right, tree.feature, edges, shares))
    return trees, np.zeros(len(rival.classes_)), "share"


def _first_above(thresholds: np.ndarray) -> np.ndarray:
    """The least single-precision number above each double."""
    near = thresholds.astype(np.float32)
    return np.where(near > thresholds, near, np.nextafter(near, np.float32(np.inf)))


def _of_nodes(left: Any, right: Any, features: Any, thresholds: np.ndarray, values: np.ndarray) -> Grown:
    """A tree whose nodes are splits and leaves in one list; a node is a leaf if ``left`` is below 0."""
    inner = left >= 0
    splits, leaves = np.cumsum(inner) - 1, np.cumsum(~inner) - 1
    name = np.where(inner, splits, ~leaves)
    children = np.column_stack([name[left[inner]], name[right[inner]]])
    return Grown(np.asarray(features)[inner].astype(np.int64), thresholds[inner], children, values[~inner], 0)


_MAKERS: dict[type, Any] = {
    LightGBMClassifier: _of_lightgbm, XGBoostClassifier: _of_xgboost, HistGradientRivalClassifier: _of_hist_gradient,
    RivalForestClassifier: _of_forest, RivalExtraTreesClassifier: _of_forest,
}  # fmt: skip


# -- in C --------------------------------------------------------------------------------------------------------------

_WALK = """
    void scores(const @type@ *x, double *out)
    {
        for (int k = 0; k < @k@; k++)
            out[k] = base[k];
        for (int t = 0; t < @trees@; t++) {
            int node = root[t];
            while (node >= 0)
                node = child[node][@value@ >= threshold[node]];
            @add@
        }
    }
"""
_ONE = "out[row[t]] += leaf[-1 - node][0];"
_ALL = "for (int k = 0; k < @k@; k++)\n                out[k] += leaf[-1 - node][k];"


def in_c(saved: Saved) -> ProgramParts:
    """The C of BranchingTrees; sums are those of Python to the bit."""
    model = saved.model
    k, wide = len(model.base), model.leaves.shape[1]
    tables = [("child", model.children), ("root", model.roots), *([("row", model.rows)] if wide == 1 < k else [])]
    weights = [table(name, array.astype(np.int64)) for name, array in tables]
    weights += [table("leaf", model.leaves), table("base", model.base)]
    add = _ALL.replace("@k@", str(k)) if wide > 1 else _ONE if k > 1 else _ONE.replace("row[t]", "0")
    deep = sum(map(len, _levels(model)))
    return split_program(
        saved, f"{model.n_rounds} trees of {len(model.features)} splits, for {k} scores", _WALK.replace("@add@", add),
        "feature[node]", weights, deep, "at most a comparison for each level of a tree", k=k, trees=model.n_rounds,
    )  # fmt: skip


def _levels(model: BranchingTrees) -> Iterator[list[int]]:
    """For each tree its levels, as a list of their sizes."""
    for root in model.roots.tolist():
        nodes, sizes = [root] if root >= 0 else [], []
        while nodes:
            sizes.append(len(nodes))
            nodes = [child for node in nodes for child in model.children[node].tolist() if child >= 0]
        yield sizes
