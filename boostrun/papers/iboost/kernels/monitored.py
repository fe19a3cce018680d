"""What a method does when a detector that is not compiled has found a change: for `papers.iboost.monitored`."""

from __future__ import annotations

from boostrun.kernels.compiled import kernel
from boostrun.papers.iboost.kernels import iboost_adwin, replay


@kernel
def shrink(state, settings, counts, active, least, sums):
    """IBoost's newest ``active`` examples, of n, are all that count, and ``least`` additions follow; ``sums`` (n,) is
    scratch. Cost M n."""
    iboost_adwin._forget(state, settings, counts, min(active, state.labels.shape[0]), sums)
    counts[iboost_adwin.EAGER] = least
    counts[iboost_adwin.DETECTED] += 1


@kernel
def catch_up(learners, sums, order, learns, window, labels, seen, rng, floor, gaussian, misses):
    """Members with ``learns`` (M,) uint8 of 1 meet the window in OnlineBoost's pass."""
    replay.replay(learners, sums, order, learns, window, labels, seen, rng, floor, gaussian, misses)
