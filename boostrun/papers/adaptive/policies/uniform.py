"""Look at Q features drawn uniformly, on all samples (Dubout & Fleuret 2014, section 4).

``uniform_naive`` draws them of all features, ``uniform_1q`` of one family drawn uniformly, ``uniform_q1`` one of each
of Q families drawn uniformly.
"""

from __future__ import annotations

import numpy as np

from boostrun.papers.adaptive.policies.on_all_samples import BestCandidate


class UniformNaive(BestCandidate):
    """Q of all features.

    Parameters
    ----------
    {parameters}
    """

    def candidates(self, board):
        return board.draw(self.Q)


class Uniform1Q(BestCandidate):
    """Q of one family drawn uniformly.

    Parameters
    ----------
    {parameters}
    """

    def candidates(self, board):
        return board.draw(self.Q, family=int(board.rng.integers(len(board.families))))


class UniformQ1(BestCandidate):
    """One of each of Q families, drawn without replacement unless there are fewer than Q.

    Parameters
    ----------
    {parameters}
    """

    def candidates(self, board):
        families = len(board.families)
        chosen = board.rng.choice(families, self.Q, replace=families < self.Q)
        return np.unique([board.draw(1, family=int(k))[0] for k in chosen])
