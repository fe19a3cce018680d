"""How much ShareBoost and its rivals rely on each feature: the norm of its weights over the classes, at the path's end.

A feature that several candidates look at, as thresholds of one column, has the sum of their norms, and a product of two
gives half of its norm to each.
"""

from __future__ import annotations

import numpy as np

from boostrun.methods.probabilities import width_of


def shared_features_importances(classifier) -> np.ndarray | str:
    """By W_T without constants."""
    model = classifier.model_
    weights = model.path[-1] if model.n_rounds else np.zeros((int(model.free), model.n_classes))
    return _spread(classifier, model, np.delete(weights[int(model.free) :], model.constants, axis=0))


def one_vs_rest_importances(classifier) -> np.ndarray | str:
    """By the weights that each class has of its own."""
    model = classifier.model_
    weights = np.zeros((len(model.used), model.n_classes))
    for number in range(model.n_classes):
        places, own = model.point(number, model.n_rounds)
        weights[places, number] = own
    return _spread(classifier, model, weights)


def mixed_norm_importances(classifier) -> np.ndarray | str:
    """By the rows of W that predictions use."""
    model = classifier.model_
    candidates, rows = model.point(model.n_rounds - 1, len(model.debiased) > 0)
    weights = np.zeros((len(model.used), model.n_classes))
    weights[np.searchsorted(model.used, candidates)] = rows
    return _spread(classifier, model, weights)


def jointboost_importances(classifier) -> np.ndarray:
    """By the weights (a - b) 1_S of the {0, 1} stumps."""
    stumps = classifier.stumps_
    return np.bincount(stumps.features, np.linalg.norm(stumps.columns, axis=1), width_of(classifier))


def _spread(classifier, model, weights: np.ndarray) -> np.ndarray | str:
    """(d,) sums of the norms of ``weights`` (U, k) over the attributes that each feature looks at."""
    if model.kind == "pieces":
        return "its pieces look at all features"
    norms, width = np.linalg.norm(weights, axis=1), width_of(classifier)
    if "pair" in model.features:
        return np.bincount(model.features["pair"].ravel(), np.repeat(0.5 * norms, 2), width)
    index = model.features["index"] if model.features else np.empty(0, np.int64)
    return np.bincount(index, norms, width)
