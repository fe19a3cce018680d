"""Tasting: the families whose features had the best edge on a few samples get the step, and its hybrids
(Dubout & Fleuret 2014).
"""

from __future__ import annotations

import numpy as np

from boostrun.errors import BoostrunError, did_you_mean
from boostrun.papers.adaptive.keys import BestFamilyKeys, TastingKeys, TastingLaminatingKeys, TastingUCBKeys
from boostrun.papers.adaptive.policies import BestCandidate, OnAllSamples, random_argmax
from boostrun.papers.adaptive.policies.laminating import Laminating, laminate


class BestFamily(BestFamilyKeys, BestCandidate):
    """Q of the family ``family``, given by its name or its place, counted from 0.

    Parameters
    ----------
    {parameters}
    """

    def start(self, board) -> None:
        """Raises BoostrunError when there is no such family."""
        super().start(board)
        names = [name for name, _, _ in board.families]
        if self.family in names:
            self.k = names.index(self.family)
        elif isinstance(self.family, int) and self.family < len(names):
            self.k = self.family
        else:
            raise BoostrunError(
                f"family={self.family}: a number from 0 to {len(names) - 1} or one of {', '.join(names)} is needed"
                f"{did_you_mean(str(self.family), names)}"
            )

    def candidates(self, board):
        return board.draw(self.Q, family=self.k)


ROUNDING = 1e-6  # edges are summed in single precision: families this near are level


class Tasting(TastingKeys, OnAllSamples):
    """R features of every family are drawn once and watched: their edges on all samples say what a family is worth.

    They are drawn without replacement (a smaller family is watched whole), and only watched: the feature that is
    boosted is drawn afresh in every step. Their edges cost R n evaluations a family and step, which the paper does
    not count: they are booked to the account ``tasting``. With ``charge=True`` they are booked to ``pilot``, and Q is
    as many features as the rest of the budget bears.
    """

    def start(self, board) -> None:
        """Draw the watched features; raises BoostrunError on too small a budget."""
        watched = [board.draw(self.R, family=k) for k in range(len(board.families))]
        self.sizes = np.array([len(features) for features in watched])  # R_k
        self.owners = np.repeat(np.arange(len(watched)), self.sizes)
        self.watched = np.concatenate(watched)
        self._copied = None
        if self.charge:
            bearable = board.budget // board.n - self.most_tasted()
            if bearable < 1:
                raise BoostrunError(
                    f"charge=True: {self.most_tasted()} watched features on all {board.n} samples leave nothing of a "
                    f"budget of {board.budget} a step; raise budget_multiplier, or lower R={self.R}"
                )
            self.Q = min(self.Q, bearable)
        super().start(board)

    def most_tasted(self) -> int:
        """How many watched features a step looks at, at most."""
        return len(self.watched)

    def tasted(self, board, places: slice = slice(None)) -> np.ndarray:
        """Edges of the watched features (sum R_k,), family by family, or of those in some places of that list."""
        if self._copied is not board.codes:  # once a run, unless the samples are others
            self._copied, self.codes = board.codes, board.codes[self.watched]
            self.codes.setflags(write=board.codes.flags.writeable)  # to the compiler, other arrays are another type
        watched = np.arange(len(self.codes))[places]
        return board.edges(watched, "pilot" if self.charge else "tasting", self.codes)[0]


class Tasting1Q(Tasting, BestCandidate):
    """k* = argmax_k E[largest of Q draws from the watched edges of family k]; then Q features of family k*.

    Parameters
    ----------
    {parameters}
    """

    def start(self, board):
        super().start(board)
        self.weights = np.concatenate([rank_weights(r, self.Q) for r in self.sizes])

    def candidates(self, board):
        edges = self.tasted(board)
        ascending = np.lexsort((edges, self.owners))  # within each family
        expected = np.bincount(self.owners, self.weights * edges[ascending])
        return board.draw(self.Q, family=random_argmax(expected, board.rng, ROUNDING))


def rank_weights(r: int, q: int) -> np.ndarray:
    """P(the largest of q draws with replacement from r numbers is the i-th smallest), i = 1..r: (r,), summing to 1.

    It is (i / r)^q - ((i - 1) / r)^q.

    >>> rank_weights(2, 3)
    array([0.125, 0.875])
    """
    return np.diff((np.arange(r + 1) / r) ** q)


class TastingQ1(Tasting):
    """Q times: k = argmax_k mean_r max(e*, watched edge r of family k); a feature of family k; e* the best edge so far.

    No feature is looked at twice in a step; a family of which all have been looked at is out.

    Parameters
    ----------
    {parameters}
    """

    def choose(self, board) -> int:
        watched = self.tasted(board)
        waiting: dict[int, list[int]] = {}  # features of the families picked, in the random order they are taken in
        best, chosen = 0.0, -1
        open_families = np.ones(len(self.sizes), bool)
        for _ in range(self.Q):
            if not open_families.any():
                break
            expected = np.bincount(self.owners, np.maximum(best, watched)) / self.sizes
            k = random_argmax(np.where(open_families, expected, -1.0), board.rng, ROUNDING)
            if k not in waiting:
                waiting[k] = board.rng.permutation(board.draw(self.Q, family=k)).tolist()
            feature = waiting[k].pop()
            open_families[k] = bool(waiting[k])
            (edge,) = board.edges(np.array([feature]))[0]
            if chosen < 0 or edge > best:
                best, chosen = edge, feature
        return chosen


class TastingUCB(TastingUCBKeys, Tasting, BestCandidate):
    """Q features of the most promising of ``looks`` families, those whose promise may have become the largest.

    The promise p_k of family k is that of Tasting 1.Q, E[largest of Q draws from its watched edges], as it was at the
    family's last look, a_k steps ago. Weights change, and so do promises, whether a family is looked at or not. As if
    they went at random, with a variance of s^2 a step, families are looked at in the order of the upper bound

        p_k + age_weight s sqrt(a_k),    s^2 = mean over families of (last change of p_k)^2 / steps that it took,

    the arms of Slivkins & Upfal (2008), of which several may be looked at before one is played: looking ends when no
    bound is above the best promise of this step (Weitzman 1979). A family without a look comes first, one without a
    second adds no change.

    At most ``looks`` R n evaluations a step are counted, as in Tasting, which costs R n for every family.

    Parameters
    ----------
    {parameters}
    """

    def start(self, board) -> None:
        """Nothing has been looked at."""
        super().start(board)
        stops = np.cumsum(self.sizes)
        self.places = [slice(stop - size, stop) for stop, size in zip(stops, self.sizes)]
        self.weights = [rank_weights(r, self.Q) for r in self.sizes]
        self.t = 0
        self.promises = np.full(len(self.sizes), np.inf)
        self.last_look = np.zeros(len(self.sizes))
        self.variances = np.zeros(len(self.sizes))  # of one step, by the last change of each promise

    def most_tasted(self) -> int:
        """``looks`` R, less where families are smaller or fewer."""
        return int(np.sort(self.sizes)[-self.looks :].sum())

    def candidates(self, board):
        self.t += 1
        bounds, best = self.bounds(), -1
        for _ in range(min(self.looks, len(bounds))):
            k = random_argmax(bounds, board.rng, ROUNDING)
            if best >= 0 and self.promises[best] >= bounds[k]:
                break
            self.look(board, k)
            bounds[k] = -np.inf
            if best < 0 or self.promises[k] > self.promises[best]:
                best = k
        return board.draw(self.Q, family=best)

    def bounds(self) -> np.ndarray:
        """Upper bound (M,) on the edge of each family by now; infinite for a family not looked at yet."""
        return self.promises + self.age_weight * np.sqrt(self.variances.mean() * (self.t - self.last_look))

    def look(self, board, k: int) -> None:
        """Update the bound of family k and everything that depends on it."""
        promise = np.sort(self.tasted(board, self.places[k])) @ self.weights[k]
        if np.isfinite(self.promises[k]):
            self.variances[k] = (promise - self.promises[k]) ** 2 / (self.t - self.last_look[k])
        self.promises[k], self.last_look[k] = promise, self.t


class TastingLaminating(TastingLaminatingKeys, Laminating):
    """About Q features, drawn from families in proportion to what they promise, then halved as in Laminating.

    R features of every family are drawn once and watched, as in Tasting, but within the budget: one sample of every
    step, as large as ``pilot_share`` of the budget bears, estimates their edges, and Laminating has the rest. A family
    promises the probability that the best of ``best_of`` watched features, drawn at random with replacement, is its
    own: with 1 all families are equal, with many the one that holds the best watched feature has it all. A family
    smaller than its part is used whole; fewer features are then looked at on more samples.

    The cost of a step is at most that of the watched features and Q' S ceil(log2 Q') of the Q' features drawn.

    Parameters
    ----------
    {parameters}
    """

    def start(self, board) -> None:
        """Draw the watched features; raises BoostrunError when the budget is too small for them and two more."""
        super().start(board)
        self.watched, sizes = board.draw_each(np.full(len(board.families), self.R))
        self.owners = np.repeat(np.arange(len(sizes)), sizes)
        self.pilot_samples = int(self.pilot_share * board.budget / len(self.watched))
        left = board.budget - len(self.watched) * min(self.pilot_samples, board.n)
        if not self.pilot_samples or not self._samples(self.q, left):
            raise BoostrunError(
                f"a budget of {board.budget} a step is too small for laminating with Q={self.q} and "
                f"{len(self.watched)} watched features with a share of {self.pilot_share:g} of it; raise "
                f"budget_multiplier, or lower R={self.R}"
            )

    def choose(self, board) -> int:
        edges = board.sampled_edges(self.watched, board.sample(self.pilot_samples), "pilot")
        shares = promises(edges, self.owners, self.best_of, board.rng)
        features, _ = board.draw_each(board.rng.multinomial(self.q, shares))
        return laminate(board, features, self._samples(len(features), board.left))


def promises(edges: np.ndarray, owners: np.ndarray, best_of: int, rng: np.random.Generator) -> np.ndarray:
    """P(the largest of ``best_of`` draws with replacement from ``edges`` (W,) is of family k), k = 0..M - 1: (M,).

    ``owners`` (W,) are the families, each there at least once. Level edges stand in random order. Cost O(W log W).

    >>> promises(np.array([0.1, 0.3, 0.2]), np.array([0, 0, 1]), 2, np.random.default_rng(0)).round(3)
    array([0.667, 0.333])
    """
    ascending = np.lexsort((rng.random(len(edges)), np.round(edges / ROUNDING)))
    return np.bincount(owners[ascending], rank_weights(len(edges), best_of))
