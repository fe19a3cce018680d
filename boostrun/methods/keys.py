"""Keys of parts that methods of several papers have: default, range and meaning of each, said once."""

from __future__ import annotations

from boostrun.config.fields import Keys, choice, keys


@keys
class StumpKeys(Keys):
    """Keys of the decision stump."""

    stump_search: str = choice(
        "histogram", "exact",
        help="stumps on at most max_bins quantile bins of the first samples drawn, or on the values as they are; 8-bit "
        "data are their own bins, and both then give the same ensemble",
    )  # fmt: skip
