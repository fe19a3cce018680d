"""Probabilities and feature importances of trained stream learners."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
from scipy.special import softmax

from boostrun.kernels.hoeffding import FEATURE, LEFT, RIGHT, HoeffdingTrees
from boostrun.methods.probabilities import LINKS, Link, Votes, margin_link, normalised, width_of
from boostrun.methods.scikit_learn import check_is_fitted
from boostrun.papers.iboost.kernels.committee import CommitteeMembers, predicted
from boostrun.papers.iboost.onlineboost import coefficient

_RIGHT_OR_WRONG = "its coefficients tell right from wrong, which says of more than two classes no probability"


def samme(votes: np.ndarray) -> np.ndarray:
    """Probabilities (n, K) from ``votes`` (n, K), the sums of the coefficients that vote for each class.

    SAMME's loss is exp(-y'f / K), f_c = v_c - (sum of the other v) / (K - 1). Its expectation is least where p is
    proportional to exp(f_c / (K - 1)), that is to exp(K v_c / (K - 1)^2) (Zhu, Zou, Rosset & Hastie 2009).

    >>> samme(np.array([[0.0, np.log(3.0) / 2]])).round(3).tolist()  # two classes: 1 / (1 + exp(-2 F))
    [[0.25, 0.75]]
    """
    classes = votes.shape[1]
    return softmax(votes * (classes / (classes - 1) ** 2), axis=1)


def pairwise(votes: np.ndarray) -> np.ndarray:
    """Probabilities (n, K) from ``votes`` (n, K) under the loss sum of exp(v_c - v_y) over c != y.

    Its expectation is least where p_a exp(v_b - v_a) = p_b exp(v_a - v_b) for all pairs, so p is proportional to
    exp(2 v_c).

    >>> pairwise(np.array([[0.0, np.log(3.0) / 2]])).round(3).tolist()  # two classes: 1 / (1 + exp(-2 F))
    [[0.25, 0.75]]
    """
    return softmax(2.0 * votes, axis=1)


# For each class of learners, its link from scores to probabilities, or its votes and why they are no probabilities


def iboost_link(classifier) -> Link:
    """exp(-F) for two classes and for each class against the rest, else the loss of the committee."""
    if classifier.multiclass == "ovr":
        return LINKS["exponential"]
    several = pairwise if classifier.loss == "mm" else samme
    return Link(lambda scores: LINKS["exponential"].of(scores) if scores.ndim == 1 else several(scores))


def adaboost_link(classifier) -> Link:
    """SAMME's loss, which is the exponential one for two classes."""
    return Link(samme, _committee_votes)


def ocb_link(classifier) -> Link | Votes:
    """exp(-F) for two classes."""
    if _has_several_classes(classifier):
        return Votes(_RIGHT_OR_WRONG, _without_negatives(_committee_votes))
    return Link(samme, _committee_votes)


def online_boost_link(classifier) -> Link | Votes:
    """exp(-F) for two classes, F half the difference of the votes, whose coefficients are twice AdaBoost's."""
    votes = _without_negatives(_boosted_votes)
    if _has_several_classes(classifier):
        return Votes(_RIGHT_OR_WRONG, votes)
    if classifier.vote != "hard" or classifier.bad_weight:
        return Votes(
            "votes that are shared, or of members worse than chance, minimise no loss with probabilities", votes
        )
    return Link(lambda votes: margin_link(1.0).of(votes[:, 1] - votes[:, 0]), _boosted_votes)


def bagging_link(classifier) -> Link:
    """The share of the members that predict a class, or the mean of their probabilities (Breiman 1996)."""
    return Link(normalised, _bagged_votes)


def smooth_boost_link(classifier) -> Votes:
    """None: SmoothBoost's weights belong to a loss that is constant where it is right."""
    return Votes("its members' votes minimise no loss with probabilities", _uniform_votes)


def weighted_majority_link(classifier) -> Votes:
    """None: weights decrease with errors."""
    return Votes("its experts' weights show how often they were wrong lately, and minimise no loss", _expert_votes)


def blocks_link(classifier) -> Votes:
    """None: an unweighted vote."""
    return Votes("its members vote alike, without a common loss", _committee_votes)


def frequencies_link(classifier) -> Link:
    """The share of each class among the examples so far."""
    return Link(normalised, _frequencies)


def _has_several_classes(classifier) -> bool:
    return len(getattr(classifier, "classes_", ())) > 2


# Share of the votes of each class, (n, K) float64


def _frequencies(classifier, X) -> np.ndarray:
    check_is_fitted(classifier)
    return np.tile(classifier._seen.astype(np.float64), (len(classifier._checked(X, reset=False)), 1))


def _committee_votes(classifier, X) -> np.ndarray:
    check_is_fitted(classifier)
    X, members = classifier._checked(X, reset=False), classifier.members()
    votes = (classifier._others.voted(X) if members is None else predicted(members, X))[1].T
    # OCB never votes for a class that appeared after its first window
    new = max(2, len(classifier.classes_)) - votes.shape[1]
    return np.hstack([votes, np.tile(np.minimum(votes.min(axis=1, keepdims=True), 0.0), new)]) if new else votes


def _boosted_votes(classifier, X) -> np.ndarray:
    check_is_fitted(classifier)
    rule = float(classifier.bad_weight), bool(classifier.negative_votes)
    coefficients = np.array([coefficient(classifier.sums_, j, *rule) for j in range(classifier.budget)])
    return _votes(classifier, X, coefficients, classifier.vote == "proba")


def _expert_votes(classifier, X) -> np.ndarray:
    weights = np.zeros(classifier.budget)
    weights[classifier._order[: len(classifier.betas_)]] = classifier.betas_
    return _votes(classifier, X, weights)


def _uniform_votes(classifier, X) -> np.ndarray:
    check_is_fitted(classifier)
    return _votes(classifier, X, classifier.betas_)


def _bagged_votes(classifier, X) -> np.ndarray:
    check_is_fitted(classifier)
    has_say = (classifier.learners_.weight.sum(axis=1) > 0.0).astype(np.float64)
    return _votes(classifier, X, has_say, classifier.vote == "proba")


def _votes(classifier, X, coefficients: np.ndarray, proba: bool = False) -> np.ndarray:
    X = classifier._checked(X, reset=False)
    return classifier._members.votes(X, np.arange(len(coefficients)), coefficients, proba).T


def _without_negatives(votes_of: Callable) -> Callable:
    """Votes shifted to be at least 0: a negative coefficient votes against a class."""

    def votes(classifier, X) -> np.ndarray:
        found = votes_of(classifier, X)
        return found - np.minimum(found.min(axis=1, keepdims=True), 0.0)

    return votes


# Importances (d,) of features: sums of |coefficient|, or the reason why there are none


def committee_importances(classifier) -> np.ndarray | str:
    """Over the stumps of one committee."""
    return _stump_importances(classifier, lambda: [classifier.members()])


def iboost_importances(classifier) -> np.ndarray | str:
    """Over the stumps of one committee, or of one for each class."""
    return _stump_importances(classifier, classifier._committees)


def _stump_importances(classifier, committees: Callable[[], Iterable[CommitteeMembers]]) -> np.ndarray | str:
    if classifier.base != "stump":
        return f"a classifier with base={classifier.base!r} uses all features"
    out = np.zeros(width_of(classifier))
    for members in committees():
        features = members.models[: members.size, 0].astype(np.int64)
        out += np.bincount(features, np.abs(members.coefficients[: members.size]), len(out))
    return out


def tree_importances(classifier) -> np.ndarray | str:
    """Over the splits of trees; a split counts half as much as the one above it."""
    out = np.zeros(classifier.n_features_in_)
    made: Iterable[CommitteeMembers] = classifier._committees()
    for members in made:
        for model, weight in zip(members.models[: members.size], members.coefficients):
            _add_splits(classifier._trees, int(classifier._trees.roots[int(model[0])]), abs(weight), out)
    return out


def _add_splits(trees: HoeffdingTrees, node: int, share: float, out: np.ndarray) -> None:
    """Add ``share`` to the feature of a split, and half of it to those of the splits below."""
    waiting = [(node, share)]
    while waiting:
        node, share = waiting.pop()
        if trees.nodes[node, LEFT] >= 0:
            out[trees.nodes[node, FEATURE]] += share
            waiting += [(int(trees.nodes[node, side]), share / 2) for side in (LEFT, RIGHT)]
