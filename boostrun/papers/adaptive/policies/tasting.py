"""What the two Tasting policies share: a few features of every family, watched throughout (Dubout & Fleuret 2014)."""

from __future__ import annotations

import numpy as np

from boostrun.errors import BoostrunError
from boostrun.papers.adaptive.keys import TastingKeys
from boostrun.papers.adaptive.policies.on_all_samples import OnAllSamples

ROUNDING = 1e-6  # edges are summed in single precision: families this near are level


class Tasting(TastingKeys, OnAllSamples):
    """R features of every family are drawn once and watched: their edges on all samples say what a family is worth.

    They are drawn without replacement (a smaller family is watched whole), and only watched: what is boosted is drawn
    afresh in every step. Their edges cost R n evaluations a family and step, which the paper does not count: they are
    booked to the account ``tasting``. With ``charge=True`` they are booked to ``pilot``, and Q is as many features as
    the rest of the budget bears.
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
