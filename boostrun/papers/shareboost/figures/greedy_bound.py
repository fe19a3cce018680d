"""Theorem 2 and Corollary 1: what they allow beside what is measured, on synthetic sets."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from boostrun.papers.shareboost.greedy_bound import CONSTANT, ROUNDS, all_measured
from boostrun.report.paired import write_text_table

_BOUND_HEAD = [
    "set", "d", "k", "r", "loss of r columns", "loss after T", "excess", "allowed", "share used", "share used by any",
    "rounds to twice", "rounds allowed",
]  # fmt: skip


def draw_greedy_bound(folder: Path, data_root: Path) -> str:
    """Write table.md and table.csv into ``folder``; returns what to tell.

    A line for each set; no data are needed. Raises BoostrunError when the folder cannot be written.
    """
    rows, shares = [], []
    for number, (one, found) in enumerate(all_measured(), start=1):
        d, k = one.truth.shape
        rounds, last = len(found.losses), found.losses[-1]
        columns = int(np.count_nonzero(one.truth.any(axis=1)))
        figures = (
            found.competitor, last, last - found.competitor, CONSTANT * found.size**2 / rounds,
            found.share, found.share_of_any,
        )  # fmt: skip
        sizes = [str(number), str(d), str(k), str(columns)]
        rows.append([*sizes, *(f"{figure:.3g}" for figure in figures), str(found.rounds), f"{found.allowed:.0f}"])
        shares.append(found.share_of_any)
    last_round = ROUNDS
    page = f"""\
{len(rows)} synthetic sets of d features in [-1, 1] and k classes, whose labels r columns of +-1 decide, a tenth of them
at random; T = {last_round} rounds. The competitor is the best W on those r columns, with B the sum of its
columns' largest entries. Theorem 2 allows an excess of 4 B^2 / t after every round t: excess and allowance
after T, and the largest share of the allowance that was used after any round, against these r columns and
against any W at all (the path of the mixed norm, whose points have the least loss of all W with the same B).
Corollary 1 allows 4 B^2 / eps rounds until the loss is twice the competitor's, eps ({last_round + 1}: not reached).

The largest share used is {max(shares):.3g}, of all sets and rounds and any W; of the sharper bound 2 B^2 / t it is
twice that."""
    title = "ShareBoost: the theorem's bound beside the measured excess"
    return write_text_table(title, [_BOUND_HEAD, *rows], page, folder, range(len(_BOUND_HEAD)))
