"""Figures and checks of papers that need no trials: what an item with ``draws`` writes."""

from __future__ import annotations

from pathlib import Path

DRAWINGS = ("expected_edge", "example_images", "pieces", "section6", "drift_types", "drift_methods", "drift_data")
_VARIANCES = (1e-2, 1e-4)
_COSTS = (1_000, 10_000, 100_000)
_MOST = 10_000


def draw(name: str, folder: Path, data_root: Path) -> str:
    """Write what a figure shows as figure.png, and figure.csv if it is numbers, into ``folder`` (checks and tables:
    table.md and table.csv); returns what to tell.

    Raises BoostrunError when the folder cannot be written, or a data set is damaged.
    """
    from boostrun.runner import drawn_drift

    drawings = {
        "expected_edge": _expected_edge, "example_images": _example_images, "pieces": _pieces, "section6": _section6,
        "drift_types": drawn_drift.types, "drift_methods": drawn_drift.methods, "drift_data": drawn_drift.data,
    }  # fmt: skip
    return drawings[name](folder, data_root)


def _section6(folder: Path, _: Path) -> str:
    """Shalev-Shwartz et al. 2011, Section 6: what the mathematics say beside what the code finds."""
    from boostrun.report.checks import write_checks
    from boostrun.sharing import section6

    checks = list(section6.checks())
    missed = [check for check in checks if not check.met]
    write_checks("ShareBoost, Section 6: exact checks", checks, folder)  # type: ignore[arg-type]  # fields of a named tuple are read-only
    told = [f"not met: example {c.example}, item {c.item}: {c.what}: {c.found}, not {c.expected}" for c in missed]
    told.append(f"{len(missed)} of {len(checks)} checks not met" if missed else f"all {len(checks)} checks are met")
    return "\n".join([*told, "", f"written: {folder}/table.md and table.csv"])


def _pieces(folder: Path, _: Path) -> str:
    """Shalev-Shwartz et al. 2011, Figure 1: sin(2 pi v) + v on [0, 1] by pieces around 8 anchors."""
    import numpy as np

    from boostrun.report.files import write_bytes
    from boostrun.report.pieces_figure import pieces_figure
    from boostrun.sharing.illustration import evaluate_pieces, fit_pieces

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
    from boostrun.report.mosaic import mosaic_figure
    from boostrun.runner.example_images import panels

    shown, absent = panels(data_root)
    mosaic_figure(shown, folder / "figure.png")
    return "\n".join([*(f"missing: {what}" for what in absent), f"written: {folder}/figure.png"])


def _expected_edge(folder: Path, _: Path) -> str:
    """Dubout & Fleuret 2014, Figure 1: Gaussian edges of mean 0 and variance tau^2, estimated with variance 1 / S."""
    import numpy as np

    from boostrun.report.edge_figure import CostCurve, EdgePanel, edge_figure
    from boostrun.report.files import write_bytes
    from boostrun.sampling.expected_edge import of_gaussian

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
