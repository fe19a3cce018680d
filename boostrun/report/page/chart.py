"""A chart of lines with bands as SVG: text that a page holds, coloured by its style sheet, light or dark."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from markupsafe import Markup, escape

from boostrun.report.page.axis import Axis, axis_over, spreads_over_decades, tick_text

WIDTH, HEIGHT = 460, 290
_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 18, 26, 42
_POINTS, _MARKS = 120, 9  # of a line, at most

#: How many colours the style sheet knows (Okabe and Ito's); the eighth line has the first colour, another marker.
COLOURS = 7
#: Strokes of the markers and of the dashes, by their classes' number.
MARKERS = (
    "m-3 0a3 3 0 1 0 6 0a3 3 0 1 0-6 0", "m-2.6-2.6h5.2v5.2h-5.2z", "m0-3.6l3.2 3.6l-3.2 3.6l-3.2-3.6z",
    "m0-3.4l3.4 5.8h-6.8z", "m0 3.4l3.4-5.8h-6.8z", "m-3-3l6 6m0-6l-6 6", "m-3.6 0h7.2m-3.6-3.6v7.2",
)  # fmt: skip
DASHES = ("", "6 3", "2 3", "8 3 2 3")


class Look(NamedTuple):
    """How a line is drawn: its row's place gives colour and marker, what else tells it apart gives the dashes."""

    place: int
    kind: int = 0

    @property
    def colour(self) -> str:
        """The class of its colour."""
        return f"c{self.place % COLOURS}"

    @property
    def marker(self) -> str:
        """The marker's path, from its middle."""
        return MARKERS[(self.place + self.place // COLOURS) % len(MARKERS)]

    @property
    def dash(self) -> str:
        """The attribute of its dashes."""
        dash = DASHES[self.kind % len(DASHES)]
        return f' stroke-dasharray="{dash}"' if dash else ""


class Line(NamedTuple):
    """A line of a chart: ``points`` are (x, mean, std or nan) by x; ``algo`` is what the filter knows it by."""

    label: str
    algo: str
    look: Look
    points: Sequence[tuple[float, float, float]]


class Level(NamedTuple):
    """A horizontal line."""

    label: str
    algo: str
    look: Look
    y: float


class Point(NamedTuple):
    """A figure of the paper."""

    x: float
    y: float
    label: str


def line_chart(
    lines: Sequence[Line], title: str, x_name: str, y_name: str, *, levels: Sequence[Level] = (),
    points: Sequence[Point] = (), changes: Sequence[tuple[float, str]] = (),
) -> Markup:  # fmt: skip
    """The chart of at least one line with a point; ``changes`` of the concept, each to what it is then called, are
    vertical lines."""
    every = [point for line in lines for point in line.points]
    xs = [x for x, _, _ in every] + [point.x for point in points]
    ys = [edge for _, y, std in every for edge in (y, *([] if math.isnan(std) else [y - std, y + std]))]
    ys += [*(level.y for level in levels), *(point.y for point in points)]
    x_axis = axis_over(xs, _LEFT, WIDTH - _RIGHT, spreads_over_decades([x for x, _, _ in every]))
    y_axis = axis_over(ys, HEIGHT - _BOTTOM, _TOP, margin=0.04)
    parts = [_frame(x_axis, y_axis, title, x_name, y_name)]
    for change, name in changes:
        if x_axis.low <= change <= x_axis.high:
            place = _n(x_axis.at(change))
            told = escape(f"the concept changes after {change} examples" + (f" to {name}" if name else ""))
            parts.append(f'<path class="change" d="M{place} {_TOP}V{HEIGHT - _BOTTOM}"><title>{told}</title></path>')
    parts += [_level(level, y_axis) for level in levels]
    parts += [_line(line, x_axis, y_axis) for line in lines]
    for point in points:
        place = f"{_n(x_axis.at(point.x))} {_n(y_axis.at(point.y))}"
        star = f'<path d="M{place}m0-5l5 5l-5 5l-5-5z"/>'
        parts.append(f'<g class="paper"><title>{escape(point.label)}: {point.y:g}</title>{star}</g>')
    return Markup(
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(title)}: {escape(y_name)} against '
        f'{escape(x_name)}">{"".join(parts)}</svg>'
    )


def swatch(look: Look) -> Markup:
    """The sample of a line for a legend."""
    return Markup(
        f'<svg class="swatch {look.colour}" viewBox="0 0 30 12" aria-hidden="true"><path class="l" d="M0 6H30"'
        f'{look.dash}/><path class="m" d="M15 6{look.marker}"/></svg>'
    )


def _frame(x_axis: Axis, y_axis: Axis, title: str, x_name: str, y_name: str) -> str:
    bottom, middle = HEIGHT - _BOTTOM, (_LEFT + WIDTH - _RIGHT) / 2
    parts = []
    for tick in y_axis.ticks():
        y = _n(y_axis.at(tick))
        parts.append(f'<path class="grid" d="M{_LEFT} {y}H{WIDTH - _RIGHT}"/>')
        parts.append(f'<text x="{_LEFT - 5}" y="{y}" dy=".35em" text-anchor="end">{tick_text(tick)}</text>')
    for tick in x_axis.ticks():
        x = _n(x_axis.at(tick))
        parts.append(f'<path class="grid" d="M{x} {_TOP}V{bottom}"/>')
        parts.append(f'<text x="{x}" y="{bottom + 14}" text-anchor="middle">{tick_text(tick)}</text>')
    parts.append(f'<path class="axis" d="M{_LEFT} {_TOP}V{bottom}H{WIDTH - _RIGHT}"/>')
    parts.append(f'<text class="title" x="{middle:g}" y="16" text-anchor="middle">{escape(title)}</text>')
    parts.append(f'<text x="{middle:g}" y="{HEIGHT - 8}" text-anchor="middle">{escape(x_name)}</text>')
    up = (_TOP + bottom) / 2
    turned = f'transform="rotate(-90 12 {up:g})" text-anchor="middle"'
    return "".join([*parts, f'<text x="12" y="{up:g}" {turned}>{escape(y_name)}</text>'])


def _line(line: Line, x_axis: Axis, y_axis: Axis) -> str:
    places = [
        (x_axis.at(x), y_axis.at(y), y_axis.at(y - std), y_axis.at(y + std))
        for x, y, std in _thinned(line.points, _POINTS)
    ]
    path = "M" + "L".join(f"{_n(x)} {_n(y)}" for x, y, _, _ in places)
    marks = "".join(f"M{_n(x)} {_n(y)}{line.look.marker}" for x, y, _, _ in _thinned(places, _MARKS))
    banded = [place for place in places if not math.isnan(place[2])]
    band = ""
    if len(banded) > 1:
        lower = [f"{_n(x)} {_n(y)}" for x, _, y, _ in banded]
        upper = [f"{_n(x)} {_n(y)}" for x, _, _, y in reversed(banded)]
        band = f'<path class="band" d="M{"L".join([*lower, *upper])}z"/>'
    last = f"{line.label}: {line.points[-1][1]:.4g} at the end"
    return (
        f'<g class="line {line.look.colour}" data-algo="{escape(line.algo)}"><title>{escape(last)}</title>{band}'
        f'<path class="l" d="{path}"{line.look.dash}/><path class="m" d="{marks}"/></g>'
    )


def _level(level: Level, y_axis: Axis) -> str:
    return (
        f'<g class="line {level.look.colour}" data-algo="{escape(level.algo)}"><title>{escape(level.label)}</title>'
        f'<path class="l" d="M{_LEFT} {_n(y_axis.at(level.y))}H{WIDTH - _RIGHT}" stroke-dasharray="5 3"/></g>'
    )


def _thinned(points: Sequence, most: int) -> list:
    """At most so many of the points, spread evenly over them, the first and the last among them."""
    if len(points) <= most:
        return list(points)
    return [points[round(number * (len(points) - 1) / (most - 1))] for number in range(most)]


def _n(pixel: float) -> str:
    """A pixel with one decimal, in few signs."""
    return f"{pixel:.1f}".removesuffix(".0")
