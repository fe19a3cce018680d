"""How much a classifier relies on each feature, from what its learned model adds up.

A paper declares how its classifiers tell (:class:`boostrun.methods.paper.Paper`); ensembles of weak learners that look
at one feature each are told here.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from boostrun.methods.preparation import Preparation
from boostrun.methods.probabilities import declared_for
from boostrun.methods.scikit_learn import check_is_fitted
from boostrun.methods.tree_ensemble import TreeEnsemble


class Importances:
    """Base of classifiers that may choose features; :attr:`feature_importances_` is there where they do."""

    n_features_in_: int

    def _preparation(self) -> Preparation | None:
        return None

    @property
    def feature_importances_(self) -> np.ndarray:
        """(d,) float64 that sum to 1, or all 0 where no feature is used: the share of each in the learned model.

        For stumps the sum of |coefficient| over all rounds and classes; for trees what a split decides, half the
        difference between its sides, as if at each one as many samples went left as right; for weights that classes
        share the norm of each feature's, which compares features of like scale only. Of a model that a run has trained
        they are of the features that it was trained on; what was made of a column's missing values counts to the
        column.
        AttributeError, with the reason, where features are not chosen, and before it is fitted.
        """
        check_is_fitted(self)
        declared = declared_for(self, "importances")
        found = declared(self) if declared is not None else "none are declared for it"
        if isinstance(found, str):
            raise AttributeError(f"{type(self).__name__} as it stands has no importances of features: {found}")
        preparation = self._preparation()
        if preparation is not None and preparation.missing is not None and preparation.kind != "projected":
            found, copies = np.split(found, [len(found) - len(preparation.missing)])
            found[preparation.missing] += copies
        total = found.sum()
        return found / total if total > 0.0 else found


def width_of(classifier: Any) -> int:
    """How many features the learned model takes."""
    preparation = classifier._preparation()
    return classifier.n_features_in_ if preparation is None else preparation.width


def of_ensemble(classifier: Any) -> np.ndarray | str:
    """(d,) sums of |coefficient| over the weak learners that look at each feature; a reason where they look at several.

    An ensemble of stumps has ``features``, one of other hypotheses may have arrays of that name or ``feature``.
    """
    from boostrun.methods.tree_ensemble import TreeEnsemble

    ensemble = classifier.ensemble_
    if isinstance(ensemble, TreeEnsemble):
        return of_trees(ensemble, width_of(classifier))
    features = getattr(ensemble, "features", None)
    if features is None:
        features = ensemble.arrays.get("feature")
    if features is None or features.shape != ensemble.coefficients.shape or features.dtype.kind not in "iu":
        return "its weak learners look at more than one feature"
    return np.bincount(features.ravel(), np.abs(ensemble.coefficients).ravel(), width_of(classifier))


def of_trees(ensemble: TreeEnsemble, width: int) -> np.ndarray:
    """(d,) sums over all splits on a feature of half the difference between the mean leaves of both sides, halved once
    more for each level above: of trees of depth 1 as of stumps.
    """
    means, found = ensemble.leaves, np.zeros(width)
    for level in reversed(range(ensemble.depth)):
        nodes = slice(2**level - 1, 2 ** (level + 1) - 1)
        splits = np.isfinite(ensemble.thresholds[..., nodes])
        left, right = means[..., ::2], means[..., 1::2]
        decided = np.where(splits, np.abs(right - left) / 2 ** (level + 1), 0.0)
        found += np.bincount(ensemble.features[..., nodes].ravel(), decided.ravel(), width)
        means = np.where(splits, (left + right) / 2, left)
    return found
