"""M.A.S. Q.1: models of the families decide on several of them, Q of each, and S (Dubout & Fleuret 2014, section 5)."""

from __future__ import annotations

import numpy as np

from boostrun.papers.adaptive.expected_edge import Mixtures, Plan, best_of_families
from boostrun.papers.adaptive.keys import MASQ1Keys
from boostrun.papers.adaptive.policies.mas_1q import MAS1Q


class MASQ1(MASQ1Keys, MAS1Q):
    """A mixture for every family, from a pilot of every step; features of several families, allotted greedily.

    Parameters
    ----------
    {parameters}
    """

    def plan(self, models: Mixtures, sizes: np.ndarray, **search) -> Plan:
        """(Q_1, ..., Q_M, S*) with the largest expected edge."""
        return best_of_families(models, sizes, **search)
