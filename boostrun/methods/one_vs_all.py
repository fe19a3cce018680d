"""Several classes by binary learners: one against the rest, or a single problem when there are two."""

from __future__ import annotations

import numpy as np

from boostrun.errors import BoostrunError


def problems(classes: np.ndarray) -> list:
    """The positive class of each binary problem: every class, or only the second of two.

    Raises BoostrunError when there is only one class.

    >>> problems(np.array(["a", "b"]))
    ['b']
    >>> problems(np.array([0, 1, 2]))
    [0, 1, 2]
    """
    if len(classes) < 2:
        raise BoostrunError(f"the labels hold only one class, {classes[0]!r}; two are needed to tell apart")
    positives = list(classes) if len(classes) > 2 else [classes[1]]
    return [p.item() if isinstance(p, np.generic) else p for p in positives]


def decision(scores: np.ndarray) -> np.ndarray:
    """Scores (K, n) in scikit-learn's shape: (n,) for a single problem, (n, K) otherwise."""
    return scores[0] if len(scores) == 1 else scores.T


def predict(scores: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Labels (n,) from scores (K, n): the sign of a single score (0 counts as positive), else the largest."""
    index = (scores[0] >= 0).astype(np.intp) if len(scores) == 1 else scores.argmax(axis=0)
    return classes[index]
