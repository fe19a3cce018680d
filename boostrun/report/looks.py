"""How lines are told apart: a hue a method, a dash a setting, a name at each line's end, at most six to a panel."""

from __future__ import annotations

import colorsys
import itertools
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, NamedTuple, TypeVar

from boostrun.report.entry import Entry

#: Lines in one panel; what has more is drawn as several panels.
MOST = 6

#: Okabe and Ito's colours, told apart by the colour-blind (their yellow is too pale for lines on white), then others
#: between them.
COLOURS = (
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8B5A2B", "#5D3A9B", "#7F7F7F",
    "#A50026", "#4D7C0F",
)  # fmt: skip
MARKERS = "osD^vPX"
DASHES: tuple[Any, ...] = (
    "-", (0, (5, 2)), (0, (1.2, 1.4)), (0, (5, 1.5, 1, 1.5)), (0, (9, 2)), (0, (3, 1, 1, 1, 1, 1)),
)  # fmt: skip

_NAME_SIZE = 8  # points
_APART = 1.2  # heights of a letter between two names
_T = TypeVar("_T")


class Line(NamedTuple):
    """An entry and its points, (x, mean, std or nan)."""

    entry: Entry
    points: list[tuple[float, float, float]]


def hue(place: int) -> str:
    """The colour of the method number ``place``; the thirteenth has the first one's, darker.

    >>> hue(0), hue(12) != hue(0), hue(12) == hue(12)
    ('#0072B2', True, True)
    """
    colour, round_ = COLOURS[place % len(COLOURS)], place // len(COLOURS)
    if not round_:
        return colour
    red, green, blue = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    h, light, saturation = colorsys.rgb_to_hls(red, green, blue)
    other = light * 0.62**round_ if light > 0.2 else light + 0.3 * round_
    return "#" + "".join(f"{round(255 * part):02X}" for part in colorsys.hls_to_rgb(h, min(other, 0.8), saturation))


def look(place: int) -> tuple[str, str]:
    """Hue and marker of the method number ``place``."""
    return hue(place), MARKERS[(place + place // len(COLOURS)) % len(MARKERS)]


def kind_of(entry: Entry) -> str:
    """What a column says beyond its first level."""
    return " ".join(entry.column[1:])


def split(
    lines: Sequence[_T], entry: Callable[[_T], Entry] = lambda line: line.entry, most: int = MOST  # type: ignore[attr-defined]
) -> list[tuple[str, list[_T]]]:  # fmt: skip
    """Lines of one data set in groups of at most ``most``, each with what is said above it: all of one kind, then of
    one setting too, what then stands alone in one panel, then so many methods at a time; those of one method alone as
    they come.

    >>> places = [(row, kind, setting) for row in "abcd" for kind in "12" for setting in ("", "tuned")]
    >>> lines = [Entry(row, ("x", kind), {}, 1, [], setting=setting) for row, kind, setting in places]
    >>> [(title, len(group)) for title, group in split(lines, lambda line: line)]
    [('1', 4), ('1 tuned', 4), ('2', 4), ('2 tuned', 4)]
    >>> [title for title, _ in split([line for line in lines if line.column[1] == "1"][:6], lambda line: line)]
    ['']
    >>> fixed = [Entry("fix", ("x", kind), {}, 1, []) for kind in "345"]
    >>> [(title, len(group)) for title, group in split(lines + fixed, lambda line: line)][-2:]
    [('2 tuned', 4), ('', 3)]
    """
    if len(lines) <= most:
        return [("", list(lines))]
    if len(_grouped(lines, lambda line: entry(line).row)) == 1:
        return [("", list(lines[first:last])) for first, last in itertools.pairwise(_cuts(len(lines), most))]
    by_kind = _grouped(lines, lambda line: kind_of(entry(line)))
    if max(map(len, by_kind.values())) > most:
        both = _grouped(lines, lambda line: (kind_of(entry(line)), entry(line).setting))
        by_kind = _joined({" ".join(filter(None, name)): group for name, group in both.items()}, most)
    found: list[tuple[str, list[_T]]] = []
    for title, group in by_kind.items():
        methods = list(_grouped(group, lambda line: entry(line).row).values())
        for first, last in itertools.pairwise(_cuts(len(methods), most)):
            told = f"methods {first + 1} to {last} of {len(methods)}" if len(methods) > most else ""
            here = [one for some in methods[first:last] for one in some]
            found.append((", ".join(filter(None, (title, told))), here))
    return found


def _joined(groups: dict[str, list[_T]], most: int) -> dict[str, list[_T]]:
    """Groups of one line each as one group without a title, the last, where they fit in a panel: lines have names."""
    alone = [group[0] for group in groups.values() if len(group) == 1]
    if not 1 < len(alone) <= most or len(alone) == len(groups):
        return groups
    return {title: group for title, group in groups.items() if len(group) > 1} | {"": alone}


def _cuts(count: int, most: int) -> list[int]:
    """Where to cut so many things into parts of nearly one size, each of at most ``most``."""
    parts = -(-count // most)
    return [round(number * count / parts) for number in range(parts + 1)]


def dashes(entries: Iterable[Entry], panels: Iterable[Sequence[Entry]]) -> Callable[[Entry], Any]:
    """The dash of each entry in a figure: that of its setting, and of its kind too where a panel has several."""
    together = any(len({kind_of(entry) for entry in panel}) > 1 for panel in panels)

    def of(entry: Entry) -> tuple[str, str]:
        return entry.setting, kind_of(entry) if together else ""

    places = list(dict.fromkeys(map(of, entries)))
    return lambda entry: DASHES[places.index(of(entry)) % len(DASHES)]


def _grouped(lines: Iterable[_T], by: Callable[[_T], Hashable]) -> dict[Any, list[_T]]:
    groups: dict[Any, list[_T]] = {}
    for line in lines:
        groups.setdefault(by(line), []).append(line)
    return groups


def name_lines(axis, ends: Sequence[tuple[float, float, str, str]], high: float) -> None:
    """Write names beside a panel, each at the height of its line's end, or as near as they do not overlap.

    Parameters
    ----------
    axis : with its limits and scales, which must not change any more
    ends : (x, y, name, colour) of each line's last point
    high : height of the panel in inches, at least
    """
    gap = _APART * _NAME_SIZE / 72 / high
    wanted = [float(_in_axes(axis, x, y)[1]) for x, y, _, _ in ends]
    for (x, y, name, colour), height in zip(ends, apart(wanted, gap)):
        right = _in_axes(axis, x, y)[0]
        axis.plot([right, 1.015], [float(_in_axes(axis, x, y)[1]), height], color=colour, linewidth=0.5, alpha=0.55,
                  transform=axis.transAxes, clip_on=False, gid="leader", scalex=False, scaley=False)  # fmt: skip
        axis.text(1.022, height, name, color=colour, transform=axis.transAxes, va="center", ha="left",
                  fontsize=_NAME_SIZE, gid="name")  # fmt: skip


def _in_axes(axis, x: float, y: float):
    return axis.transAxes.inverted().transform(axis.transData.transform((x, y)))


def apart(wanted: Sequence[float], gap: float) -> list[float]:
    """Heights as near to the wanted ones, in their order, as they are when each is a ``gap`` from the next; all within
    0 and 1 where there is room.

    >>> [round(height, 3) for height in apart([0.5, 0.5, 0.9], 0.1)]
    [0.45, 0.55, 0.9]
    >>> [round(height, 3) for height in apart([1.2, 1.0], 0.1)]
    [1.0, 0.9]
    """
    order = sorted(range(len(wanted)), key=lambda number: (wanted[number], number))
    groups: list[tuple[float, int]] = []  # (middle, count) of names that touch
    for number in order:
        groups.append((min(max(wanted[number], 0.0), 1.0), 1))
        while len(groups) > 1 and groups[-1][0] - groups[-2][0] < gap * (groups[-1][1] + groups[-2][1]) / 2 - 1e-9:
            (below, fewer), (middle, count) = groups[-2:]
            both, room = fewer + count, gap * (fewer + count - 1) / 2
            middle = (middle * count + below * fewer) / both
            groups[-2:] = [(min(max(middle, room), max(1.0 - room, room)), both)]
    heights = [middle + gap * (place - (count - 1) / 2) for middle, count in groups for place in range(count)]
    found = [0.0] * len(wanted)
    for number, height in zip(order, heights):
        found[number] = height
    return found
