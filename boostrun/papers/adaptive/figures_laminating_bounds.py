"""A check of the lemma of section 4: how often a round of laminating fails, beside its bound with both constants."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from boostrun.papers.adaptive.laminating_bounds import constant, round_failure, simulated_failures
from boostrun.report.paired import write_text_table

_ROUNDS = [(2, 20, 1.0), (2, 80, 0.5), (2, 100, 0.6), (8, 40, 0.8), (8, 100, 0.6), (16, 60, 0.7), (32, 150, 0.45)]
_SIMULATED = 20_000  # rounds of laminating


def draw_laminating_bounds(folder: Path, data_root: Path) -> str:
    """Dubout & Fleuret 2014, lemma and theorem of section 4, as table.md and table.csv in ``folder``; returns what to
    tell.

    Each line is a Q, an S and a delta, with samples of their own or shared; no data are needed. Raises BoostrunError
    when the folder cannot be written.
    """
    rng = np.random.default_rng(0)
    head = ["Q", "S", "delta", "samples", "failures, simulated", "lemma, range 2", "lemma, range 1"]
    rows, over = [], {2.0: 0, 1.0: 0}
    for q, samples, delta in _ROUNDS:
        for shared in (False, True):
            found = simulated_failures(q, samples, delta, shared, _SIMULATED, rng)
            limits = [float(round_failure(delta, samples, scope)) for scope in over]
            for scope, limit in zip(over, limits):
                over[scope] += found > limit
            told = ["shared" if shared else "independent", f"{found:.2g}", *(f"{limit:.2g}" for limit in limits)]
            rows.append([str(q), str(samples), f"{delta:g}", *told])
    theorem = [f"4 / (exp(delta^2 S / {constant(scope):.1f}) - 1)" for scope in over]
    page = f"""\
All survivors of a round of laminating, the better half of Q features judged on S samples, are worse than the best of
the Q by delta: the share of {_SIMULATED} simulated rounds in which this happened, and the most that the lemma allows,
4 exp(-delta^2 S / 8) for products of -1 and +1, whose range is 2, and 4 exp(-delta^2 S / 2) for variables of range 1,
the constant inferred from the 69 that the paper prints. The theorem sums the rounds: {theorem[0]} and
{theorem[1]}, whatever Q.

More failures than range 2 allows: in {over[2.0]} of {len(rows)} lines; than range 1 allows: in {over[1.0]}."""
    return write_text_table("Laminating: the bound, with both constants", [head, *rows], page, folder, range(7))
