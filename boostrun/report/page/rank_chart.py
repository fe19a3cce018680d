"""A critical-difference diagram as SVG: mean ranks on a line, and bars over methods that are not told apart."""

from __future__ import annotations

import math

from markupsafe import Markup, escape

from boostrun.report.ranks import Ranks

_WIDTH, _SIDE, _ROW, _TOP = 460, 132, 17, 44


def rank_chart(ranks: Ranks, title: str) -> Markup:
    """Demsar's diagram (2006, Figure 1): the best rank on the left, Nemenyi's critical difference above the line."""
    k = len(ranks.methods)
    left, right = _SIDE, _WIDTH - _SIDE

    def at(rank: float) -> float:
        return round(left + (rank - 1) / (k - 1) * (right - left), 1)

    bars = len(ranks.groups)
    below = _TOP + 12 + 6 * bars
    height = below + _ROW * math.ceil(k / 2) + 6
    parts = [f'<path class="axis" d="M{left} {_TOP}H{right}"/>']
    step = math.ceil(k / 12)
    for tick in range(1, k + 1, step):
        parts.append(f'<path class="axis" d="M{at(tick):g} {_TOP - 4}v4"/>')
        parts.append(f'<text x="{at(tick):g}" y="{_TOP - 8}" text-anchor="middle">{tick}</text>')
    wide = min(at(1 + ranks.critical_difference), right) - left
    told = f"CD {ranks.critical_difference:.2f}"
    parts.append(f'<path class="cd" d="M{left} 14v6m0-3h{wide:g}m0-3v6"/>')
    parts.append(f'<text x="{left + wide / 2:g}" y="11" text-anchor="middle">{told}</text>')
    for number, (first, last) in enumerate(ranks.groups):
        ends = at(ranks.mean_ranks[first]) - 2, at(ranks.mean_ranks[last]) + 2
        parts.append(f'<path class="tied" d="M{ends[0]:g} {_TOP + 7 + 6 * number}H{ends[1]:g}"/>')
    half = math.ceil(k / 2)
    for place, (method, rank) in enumerate(zip(ranks.methods, ranks.mean_ranks)):
        on_left = place < half
        y = below + _ROW * (place if on_left else k - 1 - place) + 8
        edge, anchor = (left - 8, "end") if on_left else (right + 8, "start")
        parts.append(f'<path class="leader" d="M{at(rank):g} {_TOP}V{y}H{edge}"/>')
        inside = f"{escape(method)} {rank:.2f}" if on_left else f"{rank:.2f} {escape(method)}"
        parts.append(
            f'<text x="{edge + (-4 if on_left else 4)}" y="{y}" dy=".35em" text-anchor="{anchor}">{inside}</text>'
        )
    label = f'role="img" aria-label="critical-difference diagram: {escape(title)}"'
    return Markup(f'<svg viewBox="0 0 {_WIDTH} {height}" {label}>{"".join(parts)}</svg>')
