"""How far to step along the stump that was found (spec section 2; the paper leaves the rule open).

Every rule looks at the reservoir only: ``agreement`` (n,) = y_i h(x_i), -1 or +1, ``margins`` (n,) = y_i F(x_i)
before the step, and the corrected weights ``weights`` (n,) that the stump was trained with. Steps stay within
+-1/2 log((1 - 1e-3) / 1e-3) = +-3.45, where an error of one in a thousand would lead.
"""

from __future__ import annotations

import numpy as np

CLIP = 1e-3
LIMIT = 0.5 * np.log((1.0 - CLIP) / CLIP)


def log_odds(agreement, margins, weights, loss) -> float:
    """a = 1/2 log((1 - e) / e), with e the weighted error clipped to [1e-3, 1 - 1e-3]; 0 when no weight is left.

    >>> round(log_odds(np.array([1.0, 1.0, -1.0]), np.zeros(3), np.ones(3), None), 6)
    0.346574
    """
    total = weights.sum()
    if not total > 0.0:  # corrected weights may be negative; their sum can vanish
        weights = np.abs(weights)
        total = weights.sum()
        if total == 0.0:
            return 0.0
    error = min(max(weights[agreement < 0].sum() / total, CLIP), 1.0 - CLIP)
    return 0.5 * float(np.log((1.0 - error) / error))


def line_search(agreement, margins, weights, loss) -> float:
    """Minimiser over the step of sum_i M_i loss(margin_i + a agreement_i), M_i = w~_i / w_i at least 0.

    M_i says how many samples the kept one stands for, so the sum is the corrected-weight loss on the reservoir.
    """
    from scipy.optimize import brentq

    pull = np.maximum(weights, 0.0) * agreement

    def slope(step: float) -> float:
        return -float(np.dot(pull, loss.weight_ratio(margins, margins + step * agreement)))

    if slope(LIMIT) <= 0.0:
        return LIMIT if pull.any() else 0.0
    if slope(-LIMIT) >= 0.0:
        return -LIMIT
    return float(brentq(slope, -LIMIT, LIMIT, xtol=1e-8))


def newton(agreement, margins, weights, loss) -> float:
    """One Newton step from 0 on the objective of :func:`line_search`."""
    weights = np.maximum(weights, 0.0)
    curvature = float(np.dot(weights, loss.bend(margins)))
    return float(np.clip(np.dot(weights, agreement) / curvature, -LIMIT, LIMIT)) if curvature > 0.0 else 0.0


RULES = {rule.__name__: rule for rule in (log_odds, line_search, newton)}
