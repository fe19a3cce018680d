"""AdaBoost.MH with trees: each split asks the policy for a feature (after Dubout & Fleuret 2014, who boost stumps)."""

from __future__ import annotations

import numpy as np

from boostrun.kernels.lanes import empty
from boostrun.papers.adaptive.adaboost_mh import LEAST_EDGE, Board, Sample, TrainingRun, search
from boostrun.papers.adaptive.kernels import vote_trees as kernels
from boostrun.papers.adaptive.policies import policy as draws
from boostrun.papers.adaptive.policies.policy import hook
from boostrun.papers.adaptive.vote_trees import TreeVoteEnsemble


class SplitBoard(Board):
    """The samples of one node as a policy sees them: a split is a step, with the budget of a step.

    ``n`` is their number and ``signed`` (n, c) their weights, which :func:`boostrun.papers.adaptive.kernels.vote_trees.
    weights_of_node` makes: what one vote for the whole node earns is taken off, so that an edge is what a split parts.
    A look at a feature costs a pair for each sample of the node.
    """

    def begin_split(self, rows: np.ndarray, signed: np.ndarray) -> float:
        """A new step on the samples ``rows`` (k,) int64, ascending, of the signed weights ``signed`` (n, c) of all;
        returns their weight.
        """
        self.rows, self.n = rows, len(rows)
        self._every, self._sums = np.arange(self.n), draws.empty_sums(self.n)
        node = empty(self.n, signed.shape[1])
        weight = kernels.weights_of_node(signed, rows, node)
        self.begin_step(node)
        return weight

    def end_tree(self, splits: int) -> None:
        """One line of the ledger for the tree, of those of its last ``splits``."""
        lines = self.ledger[len(self.ledger) - splits :]
        self.ledger[len(self.ledger) - splits :] = [{name: sum(line[name] for line in lines) for name in lines[0]}]

    def edges(
        self, features: np.ndarray, account: str = "selection", codes: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """As :meth:`Board.edges`, over the samples of the node."""
        self.charge(account, len(features) * self.n)
        return search(self.codes if codes is None else codes, features, self.rows, self.signed)

    def sample(self, size: int) -> Sample:
        """As :meth:`Board.sample`, of the samples of the node."""
        drawn = super().sample(size)
        return Sample(self.rows[drawn.rows], drawn.signed, drawn.size)


class TreeRun(TrainingRun):
    """AdaBoost.MH with trees of ``depth``, on a :class:`SplitBoard`.

    A round grows a tree place by place, each level before the next. At a node the policy chooses a feature, with the
    budget of a step, on the node's samples; its threshold is the one that parts them best, in double precision. Nodes
    of which no sample differs in that feature, or whose samples all say the same, are leaves. With S the sums of signed
    weights, leaves vote by their sign, and the tree's edge is what the stump's is::

        v_{leaf l} = sign(S_{leaf l}),   e = sum_leaf sum_l |S_{leaf l}|,   alpha = 1/2 log((1 + e) / (1 - e))

    The ledger has a line a tree. A policy learns from the edge of each split, on the node's weights.
    """

    board: SplitBoard
    ensemble: TreeVoteEnsemble  # type: ignore[assignment]

    def __init__(
        self, board: SplitBoard, policy, labels: np.ndarray, init: str, depth: int, weights: np.ndarray | None = None
    ):
        self.depth = depth
        super().__init__(board, policy, labels, init, weights=weights)

    def _empty(self, rounds: int = 0) -> TreeVoteEnsemble:  # type: ignore[override]
        return TreeVoteEnsemble.empty(self.labels.shape[1], self.depth, rounds)

    def _step(self, t: int) -> None:
        ensemble, classes = self.ensemble, self.labels.shape[1]
        leaves = self._grow(t)
        sums = np.zeros((ensemble.votes.shape[1], self._signed.shape[1]))
        kernels.sums_of_leaves(leaves, self._signed, sums)
        edge = min(float(np.abs(sums).sum()) / self._total, 1.0 - LEAST_EDGE)
        votes = np.where(sums >= 0.0, np.float32(1.0), np.float32(-1.0))
        if edge >= LEAST_EDGE:
            ensemble.votes[t] = votes[:, :classes]
        self._weigh(t, edge, lambda: kernels.reweigh(leaves, votes, edge, self._signed))

    def _grow(self, t: int) -> np.ndarray:
        """Split the places of tree t; returns the leaf of each sample (n,) int64."""
        board, ensemble = self.board, self.ensemble
        inner, splits = ensemble.features.shape[1], 0
        leaves = np.empty(len(self.labels), np.int64)
        waiting = {0: np.arange(len(self.labels))}
        while waiting:
            place, rows = min(waiting), waiting.pop(min(waiting))
            if place >= inner:
                leaves[rows] = place - inner
                continue
            weight = board.begin_split(rows, self._signed)
            splits += 1
            split = self._split(rows) if board.signed.any() else None  # type: ignore[union-attr]
            if split is None:
                waiting[2 * place + 2] = rows
                continue
            feature, threshold, edge = split
            ensemble.features[t, place], ensemble.thresholds[t, place] = feature, threshold
            ensemble.gains[t, place] = edge * weight
            above = board.codes[feature, rows] >= threshold
            board.charge("update", len(rows))
            waiting[2 * place + 1], waiting[2 * place + 2] = rows[~above], rows[above]
        board.end_tree(splits)
        return leaves

    def _split(self, rows: np.ndarray) -> tuple[int, int, float] | None:
        """(feature, threshold, edge) of the policy's choice; None where it parts nothing."""
        board = self.board
        feature = self.policy.choose(board)
        threshold, edge = kernels.best_threshold(board.codes[feature], rows, board.signed)
        board.charge("refit", len(rows))
        hook(self.policy, "learn")(min(edge, 1.0 - LEAST_EDGE))
        return (feature, threshold, edge) if threshold else None

    def _score(self, rounds: slice) -> None:
        self.ensemble.add_to(self._scores, self.board.codes, rounds)
