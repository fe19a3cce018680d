"""Metrics beside accuracy: balanced accuracy, macro F1, log loss, ROC AUC and average precision.

A class that no true label names counts in none of them but macro F1, where a predicted class without true labels has an
F1 of 0. With all classes present the figures are those of scikit-learn.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

CURVES = ("balanced_accuracy_pct", "macro_f1_pct")  # metrics of counts, which cost little after every round


def counted(truth: np.ndarray, predicted: np.ndarray, classes: int) -> np.ndarray:
    """(3, classes) int64: samples of each class by ``truth`` (n,), by ``predicted`` (n,), and by both.

    Counts of several parts of a test set can be added. Cost: one pass.

    >>> counted(np.array([0, 0, 1]), np.array([0, 1, 1]), 3).tolist()
    [[2, 1, 0], [1, 2, 0], [1, 1, 0]]
    """
    labels = (truth, predicted, truth[truth == predicted])
    return np.array([np.bincount(each, minlength=classes) for each in labels])


def of_counts(counts: np.ndarray) -> dict[str, float]:
    """Balanced accuracy and macro F1 in percent, of :func:`counted`.

    Balanced accuracy is the mean recall of the classes in the test part. Macro F1 is the mean F1 of the classes that
    are a true or a predicted label.

    >>> of_counts(counted(np.array([0, 0, 0, 1]), np.array([0, 0, 0, 0]), 2))
    {'balanced_accuracy_pct': 50.0, 'macro_f1_pct': 42.857142857142854}
    """
    true, said, right = counts
    there, either = true > 0, true + said > 0
    recall, f1 = right[there] / true[there], 2 * right[either] / (true + said)[either]
    return {"balanced_accuracy_pct": 100.0 * float(recall.mean()), "macro_f1_pct": 100.0 * float(f1.mean())}


def of_probabilities(truth: np.ndarray, probabilities: np.ndarray) -> dict[str, float]:
    """ROC AUC and average precision, from 0 to 1, of class numbers (n,) and probabilities (n, k).

    ROC AUC is the mean over the classes, each against the rest. Average precision is that of the second of two
    classes, and the mean over three classes or more, as in scikit-learn. Either is left out where no class allows it.
    Cost: two sorts of n numbers a class.

    >>> of_probabilities(np.array([0, 0, 1]), np.array([[0.9, 0.1], [0.4, 0.6], [0.5, 0.5]]))
    {'roc_auc': 0.5, 'average_precision': 0.5}
    """
    from sklearn.metrics import average_precision_score, roc_auc_score

    there = np.unique(truth)
    ours = [1] if probabilities.shape[1] == 2 else there.tolist()

    def mean(score: Callable, classes: list[int]) -> list[float]:
        return [float(score(truth == one, probabilities[:, one])) for one in classes if one in there]

    found = {"roc_auc": mean(roc_auc_score, ours if len(there) > 1 else [])}
    found["average_precision"] = mean(average_precision_score, ours)
    return {name: float(np.mean(values)) for name, values in found.items() if values}


def of_test_part(counts: np.ndarray) -> dict[str, float]:
    """The number of samples in the test part, and the percentage of its most frequent class, of :func:`counted`."""
    rows = int(counts[0].sum())
    return {"test_rows": rows, "majority_pct": 100.0 * int(counts[0].max()) / rows}
