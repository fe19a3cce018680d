"""A boosted ensemble of trees whose leaves vote for every class: kernels, scores, save, load, export to C and ONNX.

Signed weights s_il = w_il y_il as in :mod:`boostrun.kernels.votes`, m_i = sum_l w_il. A tree of depth D has its splits
in P = 2^D - 1 places, the children of place p at 2 p + 1 (below the threshold) and 2 p + 2, and L = 2^D leaves.

In C a sample walks down each tree. In ONNX all splits are compared at once; the leaf of a sample is the one to which
all D splits on its path lead.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numba import njit

from boostrun.errors import BoostrunError
from boostrun.export.c import split_program, table
from boostrun.export.onnx import compare
from boostrun.export.parts import OnnxParts, Operators, ProgramParts, Saved
from boostrun.kernels import Team, released, shared
from boostrun.methods import archive
from boostrun.methods.archive import Array, Damaged, check_features, fitted

_BINS = 256
_TINY = np.float32(1e-30)  # numbers near the smallest there are cost a hundred times as much
_SCORED = 512  # samples whose scores stay in the first-level cache


@njit(cache=True)
def weights_of_node(signed, rows, out):
    """out_il = (s_il - m_i T_l / M) / Z of the samples in a node, with T = sum_i s_i, M = sum_i m_i, sum |out| = 1.

    Parameters: ``signed`` (n, c) float32; ``rows`` (k,) int64 of the node; ``out`` (k, c) float32 is filled, with zeros
    if all samples agree. The edge of a stump under these weights is that of the split alone: the gain of one vote for
    the whole node is subtracted, so that sum_i out_i = 0 and a constant has the edge 0. Returns M. Cost O(k c), three
    passes.
    """
    lanes = signed.shape[1]
    sums, mass = np.zeros(lanes), 0.0
    for i in range(rows.shape[0]):
        for k in range(lanes):
            s = signed[rows[i], k]
            sums[k] += s
            mass += abs(s)
    total = 0.0
    for i in range(rows.shape[0]):
        m = np.float32(0.0)
        for k in range(lanes):
            m += abs(signed[rows[i], k])
        for k in range(lanes):
            value = np.float32(signed[rows[i], k] - m * sums[k] / mass) if mass > 0.0 else np.float32(0.0)
            out[i, k] = value
            total += abs(value)
    scale = np.float32(1.0 / total) if total > 1e-7 * mass else np.float32(0.0)
    for i in range(rows.shape[0]):
        for k in range(lanes):
            out[i, k] *= scale
    return mass


@njit(cache=True)
def best_threshold(column, rows, signed):
    """(threshold, edge) of the best split of some samples by one feature, in double precision.

    Parameters: ``column`` (N,) uint8 codes; ``rows`` (k,) int64, those in the node; ``signed`` (k, c) float32 of
    :func:`weights_of_node`. The threshold b has samples on both sides and the largest edge sum_l |e_l(b)|, e_l(b) =
    sum_i s_il - 2 sum_{i: code < b} s_il, the smallest b of equal ones; 0 where all codes are equal. Cost O(k c).
    """
    lanes = signed.shape[1]
    histogram, counts = np.zeros((_BINS, lanes)), np.zeros(_BINS, np.int64)
    whole, below = np.zeros(lanes), np.zeros(lanes)
    for i in range(rows.shape[0]):
        code = column[rows[i]]
        counts[code] += 1
        for k in range(lanes):
            histogram[code, k] += signed[i, k]
            whole[k] += signed[i, k]
    best, threshold, seen = -1.0, 0, 0
    for b in range(1, _BINS):
        seen += counts[b - 1]
        edge = 0.0
        for k in range(lanes):
            below[k] += histogram[b - 1, k]
            edge += abs(whole[k] - 2.0 * below[k])
        if 0 < seen < rows.shape[0] and edge > best:
            best, threshold = edge, b
    return threshold, max(best, 0.0)


@njit(cache=True)
def sums_of_leaves(leaves, signed, out):
    """out[leaves[i], :] += signed[i, :], for all i: ``leaves`` (n,) int64, ``out`` (L, c) float64. Cost O(n c)."""
    for i in range(leaves.shape[0]):
        for k in range(signed.shape[1]):
            out[leaves[i], k] += signed[i, k]


@njit(cache=True)
def reweigh(leaves, votes, edge, signed):
    """s_il *= exp(-alpha y_il v_{leaf(i) l}) / Z in place, as :func:`boostrun.kernels.votes.reweigh` for a stump.

    ``leaves`` (n,) int64; ``votes`` (L, c) float32 of -1 and +1; ``edge`` e < 1 that of the tree. Z = sqrt(1 - e^2)
    makes the factors 1 / (1 + e) where leaf and label agree and 1 / (1 - e) where not. Returns the sum of the new
    weights, which is 1 up to rounding. Cost O(n c).
    """
    agree, differ = np.float32(1.0 / (1.0 + edge)), np.float32(1.0 / (1.0 - edge))
    summed = 0.0
    for i in range(leaves.shape[0]):
        for k in range(signed.shape[1]):
            s = signed[i, k]
            s *= agree if s * votes[leaves[i], k] > np.float32(0.0) else differ
            s = s if abs(s) > _TINY else np.float32(0.0)
            signed[i, k] = s
            summed += abs(s)
    return summed


@njit(cache=True)
def add_tree_votes(codes, features, thresholds, steps, scores):
    """F_l(x_i) += sum_t steps[t, leaf_t(x_i), l], in place, tree by tree.

    Parameters: ``codes`` (d, n) of any ordered dtype, feature-major; ``features`` (T, 2^D - 1) int32; ``thresholds``
    (T, 2^D - 1) float64; ``steps`` (T, 2^D, K) float64; ``scores`` (n, K) float64. Cost O(n T (D + K)), in blocks of
    samples.
    """
    n, classes = scores.shape
    inner = features.shape[1]
    for start in range(0, n, _SCORED):
        stop = min(start + _SCORED, n)
        for t in range(features.shape[0]):
            for i in range(start, stop):
                place = 0
                while place < inner:
                    above = codes[features[t, place], i] >= thresholds[t, place]
                    place = 2 * place + (2 if above else 1)
                for k in range(classes):
                    scores[i, k] += steps[t, place - inner, k]


def _votes_in_threads(team: Team, codes, features, thresholds, steps, scores):
    """:func:`add_tree_votes`: threads have blocks of samples."""
    trees, inner = features.shape
    if len(spans := team.spans(len(scores), trees * (4 * inner.bit_length() + scores.shape[1]))) < 2:
        return NotImplemented
    from boostrun.kernels.votes import by_samples_in_threads

    by_samples_in_threads(team, released(add_tree_votes), spans, codes, features, thresholds, steps, scores)
    return None


shared(add_tree_votes, _votes_in_threads)

_FORMAT = "boostrun.TreeVoteEnsemble/1"


@dataclass
class TreeVoteEnsemble:
    """F_l(x) = sum_t alphas[t] votes[t, leaf_t(x), l].

    A tree of depth D has its 2^D - 1 splits in the order of a heap: x goes from place p to 2 p + 2 where
    x[features[t, p]] >= thresholds[t, p], else to 2 p + 1; the places from 2^D - 1 on are the leaves. A threshold of
    minus infinity splits nothing.

    Attributes: ``features`` (T, 2^D - 1) int32, ``thresholds`` (T, 2^D - 1) float64, ``votes`` (T, 2^D, K) int8 of -1
    and +1, ``alphas`` (T,) float64, ``gains`` (T, 2^D - 1) float64, the share of a round's weight in each place times
    the edge of its split. K = 1 for two classes.

    >>> splits, leaves = np.array([[2.0, 1.0, 4.0]]), np.array([[[-1], [1], [1], [-1]]], np.int8)
    >>> trees = TreeVoteEnsemble(np.zeros((1, 3), np.int32), splits, leaves, np.array([0.5]), np.ones((1, 3)))
    >>> trees.decision(np.array([[0.0], [1.0], [2.0], [5.0]]))
    array([[-0.5,  0.5,  0.5, -0.5]])
    """

    features: np.ndarray
    thresholds: np.ndarray
    votes: np.ndarray
    alphas: np.ndarray
    gains: np.ndarray

    @classmethod
    def empty(cls, classes: int, depth: int, rounds: int = 0) -> TreeVoteEnsemble:
        """``rounds`` trees without effect, votes for ``classes`` score rows."""
        inner = 2**depth - 1
        return cls(
            np.zeros((rounds, inner), np.int32), np.full((rounds, inner), -np.inf),
            np.ones((rounds, inner + 1, classes), np.int8), np.zeros(rounds), np.zeros((rounds, inner)),
        )  # fmt: skip

    @property
    def n_rounds(self) -> int:
        """T, the number of trees."""
        return len(self.features)

    @property
    def depth(self) -> int:
        """D, how many splits lead to a leaf."""
        return self.votes.shape[1].bit_length() - 1

    @property
    def splits(self) -> np.ndarray:
        """(T, 2^D - 1) bool: which places split."""
        return ~np.isneginf(self.thresholds)

    @property
    def n_problems(self) -> int:
        """K, the number of score rows."""
        return self.votes.shape[2]

    @property
    def steps(self) -> np.ndarray:
        """alphas[t] votes[t, leaf, l], (T, 2^D, K) float64."""
        return self.alphas[:, None, None] * self.votes

    def decision(self, samples: np.ndarray) -> np.ndarray:
        """Scores (K, n) float64 of sample-major ``samples`` (n, d). Cost O(n T (D + K))."""
        return next(self.staged_decision(np.ascontiguousarray(samples.T), [self.n_rounds]))

    def staged_decision(self, codes: np.ndarray, stages: Sequence[int]) -> Iterator[np.ndarray]:
        """Scores (K, n) after each number of rounds in ``stages`` (ascending), for feature-major ``codes`` (d, n).

        The same array is yielded each time, grown in place: copy it to keep it. Raises BoostrunError where the ensemble
        looks at a feature that there is not.
        """
        check_features(self.features, len(codes), self.thresholds, self.votes[:, 1:], self.gains)
        scores = np.zeros((codes.shape[1], self.n_problems))
        done = 0
        for stage in stages:
            self.add_to(scores, codes, slice(done, stage))
            done = stage
            yield scores.T

    def add_to(self, scores: np.ndarray, codes: np.ndarray, rounds: slice) -> None:
        """Add the scores of some rounds to ``scores`` (n, K) of feature-major ``codes`` (d, n)."""
        steps = self.alphas[rounds, None, None] * self.votes[rounds]
        add_tree_votes(codes, self.features[rounds], self.thresholds[rounds], steps, scores)

    def importances(self, n_features: int) -> np.ndarray:
        """(n_features,) float64: the share of sum alpha times gain that the splits on each feature hold."""
        real = self.splits
        gains = (np.abs(self.alphas)[:, None] * self.gains)[real]
        out = np.bincount(self.features[real], gains, n_features)
        return out / out.sum() if out.sum() > 0 else out

    def in_units_of(self, binner) -> TreeVoteEnsemble:
        """The same trees with thresholds on values instead of codes; ``binner`` made the codes."""
        real = self.splits
        codes = np.where(real, self.thresholds, 0.0)
        values = np.where(real, binner.thresholds(self.features, codes), -np.inf)
        return TreeVoteEnsemble(self.features, values, self.votes, self.alphas, self.gains)

    def extended(self, more: TreeVoteEnsemble) -> TreeVoteEnsemble:
        """These trees followed by the rounds of ``more``, of the same depth."""
        return TreeVoteEnsemble(*(np.concatenate([getattr(self, name), getattr(more, name)]) for name in self.__dict__))

    def save(self, path: str | Path, **extra: np.ndarray) -> Path:
        """Write an npz (no pickle), by a temporary name then a rename; ``extra`` arrays travel with it."""
        return archive.save(path, _FORMAT, self.__dict__ | extra)

    @classmethod
    def load(cls, path: str | Path) -> tuple[TreeVoteEnsemble, dict[str, np.ndarray]]:
        """Read back what :meth:`save` wrote: the trees, and the extra arrays. Never unpickles."""
        arrays, extra = archive.load(path, _FORMAT, ("features", "thresholds", "votes", "alphas", "gains"))
        return cls(*arrays), extra


_TREES = {
    "features": Array("int32", "T P", least=0, below="d"),
    "thresholds": Array("float64", "T P", values="infinite"),
    "votes": Array("int8", "T L rows", least=-1, below=2),
    "alphas": Array("float64", "T", values="summable"),
    "gains": Array("float64", "T P", least=0, values="summable"),
}


def vote_trees(arrays: Mapping[str, np.ndarray], sizes: dict[str, int]) -> dict[str, np.ndarray]:
    """The arrays of a TreeVoteEnsemble; raises Damaged if one is malformed."""
    out = fitted(_TREES, arrays, sizes)
    leaves = sizes["L"]
    if leaves < 2 or leaves & (leaves - 1) or sizes["P"] != leaves - 1:
        raise Damaged(f"it has trees of {sizes['P']} splits and {leaves} leaves")
    return out


_WALK = """
    static void scores_of(const @type@ *rows, int n, double *out)
    {
        int place[@block@];
        for (int i = 0; i < @k@ * n; i++)
            out[i] = 0.0;
        for (int t = 0; t < @rounds@; t++) {
            for (int i = 0; i < n; i++)
                place[i] = 0;
            for (int level = 0; level < @depth@; level++)
                for (int i = 0; i < n; i++) {
                    const @type@ *x = rows + i * @size@;
                    place[i] = 2 * place[i] + 1 + (@value@ >= threshold[t][place[i]]);
                }
            for (int i = 0; i < n; i++)
                for (int k = 0; k < @k@; k++)
                    out[k * n + i] += step[t] * vote[t][place[i] - @inner@][k];
        }
    }

"""


def in_c(saved: Saved) -> ProgramParts:
    """The C of a TreeVoteEnsemble; the scores are those of Python to the bit."""
    model, rounds = saved.model, _some(saved)
    inner, k = model.features.shape[1], model.n_problems
    weights = [table("step", model.alphas), table("vote", model.votes.astype(np.int64))]
    notes = f"{model.depth} comparisons for each tree, and an addition for each tree and score"
    return split_program(
        saved, _what(model), _WALK, "feature[t][place[i]]", weights, rounds * k, notes, k=k, rounds=rounds, inner=inner,
        depth=model.depth,
    )  # fmt: skip


def in_onnx(saved: Saved) -> OnnxParts:
    """The operators of a TreeVoteEnsemble: a tree of P splits costs P (P + 1) multiply-adds."""
    model, rounds = saved.model, _some(saved)
    inner, k = model.features.shape[1], model.n_problems
    operators = Operators()
    compared = compare(operators, saved, model.features, model.thresholds)
    signs = operators.add("Where", compared.above, np.array(1.0, np.float32), np.array(-1.0, np.float32))
    agreed = operators.add("MatMul", signs, _ways(inner))  # (n, T, leaves): D where all splits on the way lead there
    there = operators.add("GreaterOrEqual", agreed, np.array(model.depth - 0.5, np.float32))
    one = operators.add("Where", there, np.array(1.0), np.array(0.0))
    every = operators.add("Reshape", one, np.array([-1, rounds * (inner + 1)]))
    scores = operators.add("MatMul", every, np.ascontiguousarray(model.steps.reshape(-1, k)))
    return OnnxParts(_what(model), compared.x_type, saved.raw_width, compared.x_text, k, operators, scores)


def _ways(inner: int) -> np.ndarray:
    """(P, P + 1) float32: +1 if a leaf is above a split, -1 if it is below, 0 if the split is on another path."""
    ways = np.zeros((inner, inner + 1), np.float32)
    for leaf in range(inner + 1):
        place = leaf + inner
        while place:
            parent = (place - 1) // 2
            ways[parent, leaf] = 1.0 if place == 2 * parent + 2 else -1.0
            place = parent
    return ways


def _what(model) -> str:
    return f"{model.n_rounds} trees of depth {model.depth} with votes for {model.n_problems} scores"


def _some(saved: Saved) -> int:
    if not saved.model.n_rounds:
        raise BoostrunError("the model holds no tree to export")
    return saved.model.n_rounds
