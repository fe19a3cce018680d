"""Draw the rooms of boostrun and the imports between them: ``python scripts/picture_rooms.py``.

Reads the source of every module of ``boostrun/``, without importing it, assigns it to its room, and draws the rooms in
layers. Boxes are wider for rooms with more lines. An arrow points from a room to a room that it imports; arrows that
follow from others are left out. Imports should point downward: other arrows are drawn in red, and their modules are
printed. Writes ``docs/architecture.svg``; the same sources give the same bytes.
"""

from __future__ import annotations

import ast
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

import matplotlib

matplotlib.use("svg")
matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "boostrun", "font.family": "sans-serif"})
from matplotlib import pyplot as plt  # noqa: E402
from matplotlib.axes import Axes  # noqa: E402
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch  # noqa: E402

ROOT = Path(__file__).parent.parent
PACKAGE = "boostrun"

# Layers from the top; a room may import all rooms below it. (room, centre of its box, caption)
LAYERS = (
    (
        ("papers/reservoir", 1.75, "samples held"), ("papers/adaptive", 4.4, "features looked at"),
        ("papers/shareboost", 7.75, "features used"), ("papers/iboost", 10.75, "concepts that move"),
    ),
    (("cli", 5.95, "the command, a file a verb"), ("rivals", 10.6, "what people use today")),
    (("conformance", 2.7, "boostrun check"), ("export", 11.1, "a saved model as C")),
    (("runner", 4.6, "plan, queue, workers, search"),),
    (("store", 4.0, "cells, records, packs"), ("report", 8.25, "tables, figures, the page")),
    (("inputs", 3.4, "table, chunks, stream"), ("prediction", 5.75, "a saved model's answers")),
    (
        ("extend", 3.0, "a stranger's own things"), ("evaluation", 6.0, "staged, path, prequential"),
        ("streams", 9.2, "stream learners, for river"),
    ),
    (("features", 1.7, "banks and pipelines"), ("methods", 8.7, "estimators, stumps, ensembles")),
    (("data", 5.3, "loaders, sources, streams"),),
    (("kernels", 6.6, "compiled loops that all share"), ("digest", 2.4, "which code made a record")),
)  # fmt: skip
BARS = (
    (
        "declaration",
        "keys and their fields, Method, DataSet, Paper, the catalogue: nothing heavy, and everyone asks it",
    ),
    ("base", "errors, files written whole, sources as text, compiled code kept"),
)
# modules of the room "declaration"; keys and declarations of a paper belong to the paper's room
_DECLARATIONS = (
    "config", "core", "data.keys", "features.keys", "methods.declaration", "methods.paper",
)  # fmt: skip
_ELSEWHERE = {"__main__": "cli", "__init__": "cli"}
_BASE = (
    "", "errors", "files", "import_hooks", "kernel_cache", "normal_form", "papers", "plugins", "signals", "source",
    "suggestions",
)  # fmt: skip
_DRAWN = {"papers": "#dfe9f5", "core": "#f6f3ec", "edge": "#8a93a0", "up": "#c2361d", "side": "#2d6a9f"}
_HEIGHT, _STEP, _WIDE = 0.62, 1.12, 12.2


def room_of(module: str) -> str:
    """The room of a module, whose name is given without the package.

    >>> room_of("papers.iboost.kernels.iboost"), room_of("data.keys"), room_of("runner.plan")
    ('papers/iboost', 'declaration', 'runner')
    """
    if module in _BASE:
        return "base"
    if module in _ELSEWHERE:
        return _ELSEWHERE[module]
    first, *rest = module.split(".")
    if first == "papers":
        return f"papers/{rest[0]}"
    return "declaration" if first in _DECLARATIONS or module in _DECLARATIONS else first


def modules() -> dict[str, Path]:
    """Dotted name without ``boostrun`` -> path, for every module of the package."""
    found = {}
    for path in sorted((ROOT / PACKAGE).rglob("*.py")):
        parts = path.relative_to(ROOT / PACKAGE).with_suffix("").parts
        name = ".".join(parts if parts == ("__init__",) or parts[-1] != "__init__" else parts[:-1])
        found[name] = path
    return found


def imports(tree: ast.AST, known: Mapping[str, Path]) -> Iterator[str]:
    """The modules of the package that a module imports, also inside functions, except for TYPE_CHECKING."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == PACKAGE:
            base = node.module.partition(".")[2]
            for alias in node.names:
                inside = f"{base}.{alias.name}".lstrip(".")
                yield inside if inside in known else base
        elif isinstance(node, ast.Import):
            yield from (a.name.partition(".")[2] for a in node.names if a.name.split(".")[0] == PACKAGE)
        else:
            yield from imports(node, known)


def read() -> tuple[dict[str, int], dict[tuple[str, str], list[str]]]:
    """The number of lines of each room; and for each pair of rooms the imports between them, as "module -> module"."""
    known, lines = modules(), defaultdict[str, int](int)
    arrows: dict[tuple[str, str], list[str]] = defaultdict(list)
    for name, path in known.items():
        text = path.read_text(encoding="utf-8")
        lines[room_of(name)] += text.count("\n")
        for target in sorted(set(imports(ast.parse(text), known))):
            if room_of(target) != room_of(name):
                arrows[room_of(name), room_of(target)].append(f"{name} -> {target}")
    return dict(lines), dict(arrows)


def layer_of() -> dict[str, int]:
    """Room -> number of its layer, counted from the top."""
    found = {room: layer for layer, rooms in enumerate(LAYERS) for room, _, _ in rooms}
    return found | {room: len(LAYERS) + number for number, (room, _) in enumerate(BARS)}


def upward(arrows: Mapping[tuple[str, str], list[str]]) -> list[tuple[str, str]]:
    """The pairs of rooms whose arrow points upward, or sideways between rooms of the core."""
    layer = layer_of()
    return [
        (a, b) for a, b in sorted(arrows)
        if layer[b] < layer[a] or (layer[a] == layer[b] and not a.startswith("papers/"))
    ]  # fmt: skip


def told(arrows: Mapping[tuple[str, str], list[str]]) -> set[tuple[str, str]]:
    """The pairs of rooms whose arrow points downward and does not follow from others."""
    layer = layer_of()
    down = {(a, b) for a, b in arrows if layer[a] < layer[b] < len(LAYERS)}
    reached: dict[str, set[str]] = {}
    for room in sorted(layer, key=lambda each: -layer[each]):
        direct = {b for a, b in down if a == room}
        reached[room] = direct.union(*(reached[b] for b in direct))
    return {(a, b) for a, b in down if not any(b in reached[c] for c in {b for x, b in down if x == a})}


def draw(where: Path) -> None:
    """Write the picture."""
    lines, arrows = read()
    layer, place = layer_of(), {}
    high = len(LAYERS) * _STEP + (len(BARS) - 1) * (_HEIGHT + 0.12) + _HEIGHT + 0.7
    figure = plt.figure(figsize=(_WIDE, high))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, _WIDE), ylim=(_HEIGHT / 2 + 0.55 - high, _HEIGHT / 2 + 0.55))
    axes.axis("off")
    for rooms in LAYERS:
        for room, x, what in rooms:
            wide = max(2.05, 1.55 + lines[room] / 4500, 0.088 * len(what) + 0.3)
            place[room] = (x, -layer[room] * _STEP, wide)
            _box(axes, *place[room], room, what, lines[room])
    said = "An arrow: imports. One that others imply is left out."
    axes.text(0.1, _HEIGHT / 2 + 0.32, said, size=9.5, color="#666666")
    for number, (room, what) in enumerate(BARS):
        place[room] = (_WIDE / 2, -len(LAYERS) * _STEP - number * (_HEIGHT + 0.12), _WIDE - 0.4)
        _box(axes, *place[room], room, what, lines[room])
    for a, b in sorted(told(arrows)):
        _arrow(axes, place[a], place[b], _DRAWN["edge"], 0.9)
    for a, b in sorted(arrows):
        if layer[a] == layer[b] and a.startswith("papers/"):
            _sideways(axes, place[a], place[b])
    for a, b in upward(arrows):
        _arrow(axes, place[a], place[b], _DRAWN["up"], 1.3, bend=0.22)
    key = [("hybrids that papers declare", _DRAWN["side"])]
    key += [("upward", _DRAWN["up"])] if upward(arrows) else []
    for number, (word, colour) in enumerate(key):
        axes.text(_WIDE - 0.1 - 2.6 * number, _HEIGHT / 2 + 0.32, word, size=9.5, color=colour, ha="right")
    figure.savefig(where, format="svg", metadata={"Date": None, "Creator": None})
    plt.close(figure)


def _box(axes: Axes, x: float, y: float, wide: float, room: str, what: str, lines: int) -> None:
    face = _DRAWN["papers" if room.startswith("papers/") else "core"]
    axes.add_patch(
        FancyBboxPatch(
            (x - wide / 2, y - _HEIGHT / 2), wide, _HEIGHT, boxstyle="round,pad=0,rounding_size=0.09", fc=face,
            ec="#5b6470", lw=0.9, zorder=3,
        )
    )  # fmt: skip
    axes.text(x, y + 0.11, room, ha="center", va="center", size=12, weight="bold", color="#222222", zorder=4)
    axes.text(x, y - 0.15, f"{what} · {lines:,}", ha="center", va="center", size=8.5, color="#555555", zorder=4)


def _arrow(axes: Axes, a: tuple, b: tuple, colour: str, width: float, bend: float = 0.0) -> None:
    (xa, ya, wa), (xb, yb, wb) = a, b
    down = yb < ya
    start, end = ya - _HEIGHT / 2 * (1 if down else -1), yb + _HEIGHT / 2 * (1 if down else -1)
    reach = 0.36
    left = xa + max(-wa * reach, min(wa * reach, (xb - xa) * 0.3))
    right = xb + max(-wb * reach, min(wb * reach, (xa - xb) * 0.3))
    axes.add_patch(
        FancyArrowPatch(
            (left, start), (right, end), arrowstyle="-|>,head_length=5,head_width=2.6", color=colour, lw=width,
            connectionstyle=f"arc3,rad={bend}", shrinkA=0, shrinkB=1, zorder=2,
        )
    )  # fmt: skip


def _sideways(axes: Axes, a: tuple, b: tuple) -> None:
    (xa, ya, wa), (xb, yb, wb) = a, b
    right = xb > xa
    near = abs(xa - xb) < 4
    start = (xa + (wa / 2 if right else -wa / 2), ya) if near else (xa, ya + _HEIGHT / 2)
    end = (xb - (wb / 2 if right else -wb / 2), yb) if near else (xb, yb + _HEIGHT / 2)
    axes.add_patch(
        FancyArrowPatch(
            start, end, arrowstyle="-|>,head_length=5,head_width=2.6", color=_DRAWN["side"], lw=1.1, linestyle="--",
            connectionstyle=f"arc3,rad={0 if near else 0.06}", shrinkA=0, shrinkB=1, zorder=2,
        )
    )  # fmt: skip


def main() -> int:
    """Draw the picture and print the imports that point upward."""
    where = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "architecture.svg"
    draw(where)
    lines, arrows = read()
    found = upward(arrows)
    print(f"{where}: {len(lines)} rooms, {sum(lines.values()):,} lines, {len(found)} arrows upward")
    for pair in found:
        print(f"{pair[0]} -> {pair[1]}")
        for names in arrows[pair]:
            print(f"    {names}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
