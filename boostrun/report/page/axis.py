"""An axis of a chart: where a value stands, and the ticks that people read it by."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Axis:
    """Values from ``low`` to ``high`` on pixels from ``start`` to ``end``, linear or (``log``) logarithmic."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def at(self, value: float) -> float:
        """The pixel of a value.

        >>> Axis(1, 100, 0, 200, log=True).at(10)
        100.0
        """
        low, high, value = (math.log10(one) for one in (self.low, self.high, value)) if self.log else (
            self.low, self.high, value
        )  # fmt: skip
        return self.start + (value - low) / (high - low) * (self.end - self.start)

    def ticks(self) -> list[float]:
        """About five round values within the axis; powers of ten on a logarithmic one, with 2 and 5 where few fit.

        >>> Axis(0.0, 10.0, 0, 1).ticks(), Axis(1, 2000, 0, 1, log=True).ticks()
        ([0.0, 2.0, 4.0, 6.0, 8.0, 10.0], [1.0, 10.0, 100.0, 1000.0])
        """
        if self.log:
            powers = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
            inside = [10.0**power for power in powers if self.low <= 10.0**power <= self.high]
            if len(inside) > 2:
                return inside[:: math.ceil(len(inside) / 7)]
            fine = [step * 10.0**power for power in powers for step in (1, 2, 5)]
            return [tick for tick in fine if self.low <= tick <= self.high]
        rough = (self.high - self.low) / 5
        power = 10.0 ** math.floor(math.log10(rough))
        step = next(step * power for step in (1, 2, 5, 10) if step * power >= rough * 0.999)
        first = math.ceil(self.low / step - 1e-9)
        last = math.floor(self.high / step + 1e-9)
        return [float(f"{number * step:.12g}") for number in range(first, last + 1)]


def axis_over(values: Sequence[float], start: float, end: float, log: bool = False, margin: float = 0.0) -> Axis:
    """The axis that holds all ``values``, with a share of its length left free on both sides; one value gets room."""
    low, high = min(values), max(values)
    if low == high:
        low, high = (low / 2, high * 2) if log else (low - (abs(low) or 1.0) / 10, high + (abs(high) or 1.0) / 10)
    if margin and not log:
        low, high = low - margin * (high - low), high + margin * (high - low)
    return Axis(low, high, start, end, log)


def spreads_over_decades(values: Sequence[float]) -> bool:
    """Whether values are better seen on a logarithmic axis: positive, over more than 50-fold, and dense near the low
    end."""
    ordered = sorted(values)
    if not ordered or ordered[0] <= 0 or ordered[-1] <= 50 * ordered[0]:
        return False
    return ordered[len(ordered) // 2] < ordered[-1] / 4


def tick_text(value: float) -> str:
    """A tick in few signs.

    >>> [tick_text(value) for value in (0.25, 20.0, 5000.0, 60000.0, 2.5e6, 1e10, -0.4, 1e-5)]
    ['0.25', '20', '5000', '60k', '2.5M', '10G', '-0.4', '1e-05']
    """
    for unit, sign in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= (1e4 if sign == "k" else unit):
            return f"{value / unit:g}{sign}"
    return f"{value:.6g}"
