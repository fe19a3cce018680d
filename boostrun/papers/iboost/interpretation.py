"""What the votes of stream learners mean: the exponential loss of two classes, SAMME's of several, or shares.

How much a committee relies on each feature: |coefficient| of the stumps that look at it, or of the trees that do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
from scipy.special import softmax

from boostrun.kernels.hoeffding import FEATURE, LEFT, RIGHT, HoeffdingTrees
from boostrun.methods.probabilities import LINKS, Link, Votes, normalised, of_margins, width_of
from boostrun.methods.scikit_learn import check_is_fitted
from boostrun.papers.iboost.kernels.committee import CommitteeMembers, predicted
from boostrun.papers.iboost.onlineboost import coefficient

_RIGHT_OR_WRONG = "its coefficients tell right from wrong, which says of more than two classes no probability"


def samme(votes: np.ndarray) -> np.ndarray:
    """Probabilities (n, K) of ``votes`` (n, K), sums of the coefficients of those that say each class.

    SAMME's loss is exp(-y'f / K), f_c = v_c - (sum of the other v) / (K - 1), and the least expected one has p in
    proportion to exp(f_c / (K - 1)) (Zhu, Zou, Rosset & Hastie 2009): to exp(K v_c / (K - 1)^2).

    >>> samme(np.array([[0.0, np.log(3.0) / 2]])).round(3).tolist()  # two classes: 1 / (1 + exp(-2 F))
    [[0.25, 0.75]]
    """
    classes = votes.shape[1]
    return softmax(votes * (classes / (classes - 1) ** 2), axis=1)


def pairwise(votes: np.ndarray) -> np.ndarray:
    """Probabilities (n, K) of ``votes`` (n, K) that minimise the sum of exp(v_c - v_y) over c != y.

    The least expected one has p_a exp(v_b - v_a) = p_b exp(v_a - v_b) for every two classes: p in proportion to
    exp(2 v_c).

    >>> pairwise(np.array([[0.0, np.log(3.0) / 2]])).round(3).tolist()  # two classes: 1 / (1 + exp(-2 F))
    [[0.25, 0.75]]
    """
    return softmax(2.0 * votes, axis=1)


def iboost_link(classifier) -> Link:
    """exp(-F) of two classes and of each class against the rest; of several in one committee its loss."""
    if classifier.multiclass == "ovr":
        return LINKS["exponential"]
    several = pairwise if classifier.loss == "mm" else samme
    return Link(lambda scores: LINKS["exponential"].of(scores) if scores.ndim == 1 else several(scores))


def adaboost_link(classifier) -> Link:
    """SAMME's loss, which is the exponential one of two classes."""
    return Link(samme, _votes_of_committee)


def ocb_link(classifier) -> Link | Votes:
    """exp(-F) of two classes."""
    if _several(classifier):
        return Votes(_RIGHT_OR_WRONG, _without_negatives(_votes_of_committee))
    return Link(samme, _votes_of_committee)


def online_boost_link(classifier) -> Link | Votes:
    """exp(-F) of two classes, F being half of what the votes differ by: they have AdaBoost's coefficients twice."""
    if _several(classifier):
        return Votes(_RIGHT_OR_WRONG, _without_negatives(_votes_of_online_boost))
    if classifier.vote != "hard" or classifier.bad_weight:
        why = "votes that are shared, or of members worse than chance, minimise no loss that tells them"
        return Votes(why, _without_negatives(_votes_of_online_boost))
    return Link(lambda votes: of_margins(1.0).of(votes[:, 1] - votes[:, 0]), _votes_of_online_boost)


def bagging_link(classifier) -> Link:
    """The share of the members that say a class, or the mean of their probabilities (Breiman 1996)."""
    return Link(normalised, _votes_of_bagging)


def smooth_boost_link(classifier) -> Votes:
    """None: its members' weights are what SmoothBoost's analysis asks for, of a loss that is flat where it is right."""
    return Votes("its members' votes minimise no loss that tells probabilities", _of_smooth)


def weighted_majority_link(classifier) -> Votes:
    """None: weights fade with errors."""
    return Votes("the weights of its experts tell how often they were wrong of late, and minimise no loss", _of_experts)


def blocks_link(classifier) -> Votes:
    """None: an unweighted vote."""
    return Votes("its members vote alike, and minimise no loss together", _votes_of_committee)


def frequencies_link(classifier) -> Link:
    """The share of each class among the examples so far."""
    return Link(normalised, _examples_so_far)


def _several(classifier) -> bool:
    return len(getattr(classifier, "classes_", ())) > 2


def _examples_so_far(classifier, X) -> np.ndarray:
    """(n, K) float64."""
    check_is_fitted(classifier)
    return np.tile(classifier._seen.astype(np.float64), (len(classifier._checked(X, reset=False)), 1))


def _votes_of_committee(classifier, X) -> np.ndarray:
    """(n, K) float64."""
    check_is_fitted(classifier)
    X, members = classifier._checked(X, reset=False), classifier.members()
    votes = (classifier._others.voted(X) if members is None else predicted(members, X))[1].T
    # OCB has no say on a class that came after its first window
    new = max(2, len(classifier.classes_)) - votes.shape[1]
    return np.hstack([votes, np.tile(np.minimum(votes.min(axis=1, keepdims=True), 0.0), new)]) if new else votes


def _votes_of_online_boost(classifier, X) -> np.ndarray:
    check_is_fitted(classifier)
    rule = float(classifier.bad_weight), bool(classifier.negative_votes)
    coefficients = np.array([coefficient(classifier.sums_, j, *rule) for j in range(classifier.budget)])
    return _votes(classifier, X, coefficients, classifier.vote == "proba")


def _without_negatives(votes_of: Callable) -> Callable:
    """Votes that begin at 0: a negative coefficient votes against a class."""

    def votes(classifier, X) -> np.ndarray:
        found = votes_of(classifier, X)
        return found - np.minimum(found.min(axis=1, keepdims=True), 0.0)

    return votes


def _of_experts(classifier, X) -> np.ndarray:
    weights = np.zeros(classifier.budget)
    alive = classifier._order[: len(classifier.betas_)]
    weights[alive] = classifier.betas_
    return _votes(classifier, X, weights, False)


def _of_smooth(classifier, X) -> np.ndarray:
    check_is_fitted(classifier)
    return _votes(classifier, X, classifier.betas_, False)


def _votes_of_bagging(classifier, X) -> np.ndarray:
    check_is_fitted(classifier)
    has_say = (classifier.learners_.weight.sum(axis=1) > 0.0).astype(np.float64)
    return _votes(classifier, X, has_say, classifier.vote == "proba")


def _votes(classifier, X, coefficients: np.ndarray, proba: bool) -> np.ndarray:
    """(n, K) float64: what the members give each class, as they are counted for a prediction."""
    X = classifier._checked(X, reset=False)
    return classifier._members.votes(X, np.arange(len(coefficients)), coefficients, proba).T


def committee_importances(classifier) -> np.ndarray | str:
    """Of one committee."""
    return _of_stumps(classifier, lambda: [classifier.members()])


def iboost_importances(classifier) -> np.ndarray | str:
    """Of one committee, or of one a class."""
    return _of_stumps(classifier, classifier._committees)


def tree_importances(classifier) -> np.ndarray | str:
    """Of Hoeffding trees: |coefficient| of each, shared out to its splits, each half as much as the one above it."""
    out = np.zeros(classifier.n_features_in_)
    made: Iterable[CommitteeMembers] = classifier._committees()
    for members in made:
        for model, weight in zip(members.models[: members.size], members.coefficients):
            _add_splits(classifier._trees, int(classifier._trees.roots[int(model[0])]), abs(weight), out)
    return out


def _add_splits(trees: HoeffdingTrees, node: int, share: float, out: np.ndarray) -> None:
    """Add ``share`` to the feature of a split, and half of it below on either side; a leaf looks at no feature."""
    waiting = [(node, share)]
    while waiting:
        node, share = waiting.pop()
        if trees.nodes[node, LEFT] >= 0:
            out[trees.nodes[node, FEATURE]] += share
            waiting += [(int(trees.nodes[node, side]), share / 2) for side in (LEFT, RIGHT)]


def _of_stumps(classifier, committees) -> np.ndarray | str:
    if classifier.base != "stump":
        return f"a classifier with base={classifier.base!r} looks at all features"
    out = np.zeros(width_of(classifier))
    made: Iterable[CommitteeMembers] = committees()
    for members in made:
        features = members.models[: members.size, 0].astype(np.int64)
        out += np.bincount(features, np.abs(members.coefficients[: members.size]), len(out))
    return out
