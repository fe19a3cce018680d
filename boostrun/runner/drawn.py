"""Figures and checks of papers that need no trials: what an item with ``draws`` writes."""

from __future__ import annotations

from pathlib import Path

DRAWINGS = (
    "expected_edge", "laminating_bounds", "example_images", "pieces", "section6", "drift_types", "drift_methods",
    "drift_data",
)  # fmt: skip
_VARIANCES = (1e-2, 1e-4)
_COSTS = (1_000, 10_000, 100_000)
_MOST = 10_000
_ROUNDS = [(2, 20, 1.0), (2, 80, 0.5), (2, 100, 0.6), (8, 40, 0.8), (8, 100, 0.6), (16, 60, 0.7), (32, 150, 0.45)]
_SIMULATED = 20_000  # rounds of laminating


def draw(name: str, folder: Path, data_root: Path) -> str:
    """Write what a figure shows as figure.png, and figure.csv if it is numbers, into ``folder`` (checks and tables:
    table.md and table.csv); returns what to tell.

    Raises BoostrunError when the folder cannot be written, or a data set is damaged.
    """
    from boostrun.runner import drawn_drift

    drawings = {
        "expected_edge": _expected_edge, "laminating_bounds": _laminating_bounds, "example_images": _example_images,
        "pieces": _pieces, "section6": _section6,
        "drift_types": drawn_drift.types, "drift_methods": drawn_drift.methods, "drift_data": drawn_drift.data,
    }  # fmt: skip
    return drawings[name](folder, data_root)


def _section6(folder: Path, _: Path) -> str:
    """Shalev-Shwartz et al. 2011, Section 6: what the mathematics say beside what the code finds."""
    from boostrun.papers.shareboost import section6
    from boostrun.report.checks import write_checks

    checks = list(section6.checks())
    missed = [check for check in checks if not check.met]
    written = write_checks("ShareBoost, Section 6: exact checks", checks, folder)  # type: ignore[arg-type]  # fields of a named tuple are read-only
    told = [f"not met: example {c.example}, item {c.item}: {c.what}: {c.found}, not {c.expected}" for c in missed]
    told.append(f"{len(missed)} of {len(checks)} checks not met" if missed else f"all {len(checks)} checks are met")
    return "\n".join([*told, "", written])


def _pieces(folder: Path, _: Path) -> str:
    """Shalev-Shwartz et al. 2011, Figure 1: sin(2 pi v) + v on [0, 1] by pieces around 8 anchors."""
    import numpy as np

    from boostrun.papers.shareboost.figures.pieces import pieces_figure
    from boostrun.papers.shareboost.illustration import evaluate_pieces, fit_pieces
    from boostrun.report.files import write_bytes

    v = np.linspace(0, 1, 400)
    target = np.sin(2 * np.pi * v) + v
    pieces = fit_pieces(v, target)
    fit = evaluate_pieces(pieces, v)
    supports = [(piece.anchor - piece.radius, piece.anchor + piece.radius) for piece in pieces]
    pieces_figure(v, target, fit, supports, folder / "figure.png")
    rows = ["anchor,radius,slope,intercept", *(",".join(f"{number:.6g}" for number in piece) for piece in pieces)]
    write_bytes(folder / "figure.csv", ("\n".join(rows) + "\n").encode())
    distance = np.abs(fit - target)
    told = f"{len(pieces)} pieces: mean distance {distance.mean():.3f}, largest {distance.max():.3f}"
    return f"{told}\n\nwritten: {folder}/figure.png and figure.csv"


def _example_images(folder: Path, data_root: Path) -> str:
    """Dubout & Fleuret 2014, Figure 3: images of the data sets that are there."""
    from boostrun.papers.adaptive.figures.example_images import panels
    from boostrun.papers.adaptive.figures.mosaic import mosaic_figure

    shown, absent = panels(data_root)
    mosaic_figure(shown, folder / "figure.png")
    return "\n".join([*(f"missing: {what}" for what in absent), f"written: {folder}/figure.png"])


def _expected_edge(folder: Path, _: Path) -> str:
    """Dubout & Fleuret 2014, Figure 1: Gaussian edges of mean 0 and variance tau^2, estimated with variance 1 / S."""
    import numpy as np

    from boostrun.papers.adaptive.expected_edge import of_gaussian
    from boostrun.papers.adaptive.figures.expected_edge import CostCurve, EdgePanel, edge_figure
    from boostrun.report.files import write_bytes

    counts = np.unique(np.geomspace(1, _MOST, 241).round().astype(int))
    samples = np.geomspace(1, _MOST, 121)
    panels, rows, told = [], ["variance,cost,Q,S,expected_edge"], ["tau^2   cost     Q*    S*    E[eps*]"]
    for variance in _VARIANCES:
        curves = []
        for cost in _COSTS:
            every = np.arange(1, min(cost, _MOST) + 1)
            expected = of_gaussian(every, every / cost, 0.0, variance)
            best = int(expected.argmax())
            shown = counts[counts <= cost]
            edges = expected[shown - 1].round(8) + 0.0
            curves.append(CostCurve(cost, shown, edges, int(every[best]), float(expected[best])))
            rows += [f"{variance:g},{cost},{q},{cost / q:.6g},{edge:.6g}" for q, edge in zip(shown, edges)]
            told.append(f"{variance:<7g} {cost:<8} {every[best]:<5} {cost / every[best]:<5.0f} {expected[best]:.5f}")
        surface = of_gaussian(counts[:, None], 1.0 / samples, 0.0, variance)
        panels.append(EdgePanel(variance, counts, samples, surface, curves))
    edge_figure(panels, folder / "figure.png")
    write_bytes(folder / "figure.csv", ("\n".join(rows) + "\n").encode())
    return "\n".join([*told, "", f"written: {folder}/figure.png and figure.csv"])


def _laminating_bounds(folder: Path, _: Path) -> str:
    """Dubout & Fleuret 2014, lemma and theorem of section 4: how often a round of laminating fails, and may fail."""
    import numpy as np

    from boostrun.papers.adaptive.laminating_bounds import constant, round_failure, simulated_failures
    from boostrun.report.text_table import write_text_table

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
