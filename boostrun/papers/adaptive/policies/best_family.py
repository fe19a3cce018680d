"""Look at Q features of one family, the same in every step (Dubout & Fleuret 2014, section 4).

Which family is best is known only after a run with each of them: ``boostrun tune`` makes these runs.
"""

from __future__ import annotations

from boostrun.errors import BoostrunError, did_you_mean
from boostrun.papers.adaptive.keys import BestFamilyKeys
from boostrun.papers.adaptive.policies.on_all_samples import BestCandidate


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
