"""What the scores of ShareBoost and its rivals mean: the multinomial logistic loss with a margin, and two others."""

from __future__ import annotations

import functools

import numpy as np
from scipy.special import softmax

from boostrun.methods.probabilities import Link, of_margins


def multinomial_link(classifier) -> Link:
    """The loss of :mod:`boostrun.papers.shareboost.inner`, with the classifier's margin."""
    return Link(functools.partial(multinomial_probabilities, margin=classifier.margin))


def one_vs_rest_link(classifier) -> Link:
    """ln(1 + exp(-z f)) for each class against the rest; two classes are learnt twice, each against the other."""
    return of_margins(1.0, rows=2)


def jointboost_link(classifier) -> Link:
    """exp(-z H) for each class against the rest, as above."""
    return of_margins(2.0, rows=2)


def multinomial_probabilities(scores: np.ndarray, margin: float) -> np.ndarray:
    """Probabilities (n, k) of scores (n, k), or of the second's less the first's (n,): those for which the scores have
    the least expected loss.

    With s = softmax(scores) they are in proportion to s_q (s_q + e^margin (1 - s_q)): the gradient of the expected loss
    is p' R - p, where R_yq, in proportion to s_q e^(margin 1[q != y]), sums to 1 over q, and these p make it 0. Without
    a margin they are s, the model of multinomial logistic regression; a margin makes scores larger than log-odds are,
    and its softmax too sure.

    >>> multinomial_probabilities(np.array([[0.0, 0.0, np.log(2.0)]]), margin=0.0)
    array([[0.25, 0.25, 0.5 ]])
    >>> multinomial_probabilities(np.array([[0.0, 0.0, np.log(2.0)]]), margin=np.log(3.0)).round(3)
    array([[0.278, 0.278, 0.444]])
    """
    if scores.ndim == 1:
        scores = np.column_stack([np.zeros_like(scores), scores])
    shifted = scores - scores.max(axis=1, keepdims=True)
    own = np.exp(shifted)
    others = own.sum(axis=1, keepdims=True) - own
    rows, first = np.arange(len(own)), shifted.argmax(axis=1)
    own[rows, first] = 0.0  # what is small beside the largest is added up without it
    others[rows, first] = own.sum(axis=1)
    with np.errstate(divide="ignore"):
        return softmax(shifted + np.logaddexp(shifted, margin + np.log(others)), axis=1)
