"""Keys of parts that methods of several papers have: default, range and meaning of each, said once."""

from __future__ import annotations

from boostrun.config.fields import Keys, choice, integer, keys, real


@keys
class StumpKeys(Keys):
    """Keys of the decision stump."""

    stump_search: str = choice(
        "histogram", "exact",
        help="stumps on at most max_bins quantile bins of the first samples drawn, or on the values as they are; 8-bit "
        "data are their own bins, and both then give the same ensemble",
    )  # fmt: skip


@keys
class TreeKeys(Keys):
    """Keys of the decision tree."""

    depth: int = integer(6, most=10, absent=6, help="trees: comparisons from the root to a leaf")
    leaf_values: str = choice(
        "log_odds", "newton", absent="log_odds",
        help="trees: a leaf says half the log-odds of its weights, or takes the Newton step towards it",
    )  # fmt: skip
    leaf_smoothing: float = real(
        1.0, above=0.0, most=1e6, absent=1.0,
        help="trees: what a leaf counts more of either label, in samples of the mean weight",
    )  # fmt: skip
    leaf_weight: float = real(
        1.0, least=0.0, most=1e3, absent=1.0,
        help="trees: least weight on either side of a split, in samples of the mean weight",
    )  # fmt: skip
