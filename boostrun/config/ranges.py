"""What ``boostrun tune`` may search: a range or a few choices for a key, said beside the key by who declares it.

A method declares ``search``, a mapping from a key, or the symbol of a budget, to one of these:

>>> search = {
...     "shrinkage": Range(0.02, 1.0, log=True),          # real: one of the ends is
...     "T": Range(50, 400, log=True),                    # whole: both ends are
...     "learner": Choices("stump", "tree"),
...     "depth": Range(2, 8, when={"learner": "tree"}),   # asked for only where it has an effect
... }
>>> search["T"].whole, search["shrinkage"].whole
(True, False)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Range:
    """Numbers from ``low`` to ``high``, both included; whole ones where both ends are.

    Parameters
    ----------
    low, high : int or float, low < high; above 0 where ``log``.
    log : evenly in the logarithm.
    when : key -> the value at which this one has an effect. It is asked for only then; the other key must stand before
        it in the mapping, or be one that is not searched.

    Raises ValueError for ends that make no range: it is an error in a declaration.
    """

    low: float
    high: float
    log: bool = False
    when: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.low < self.high or (self.log and self.low <= 0):
            raise ValueError(f"from {self.low} to {self.high} is no range{' of a logarithm' * self.log}")

    @property
    def whole(self) -> bool:
        """Whether only whole numbers are meant."""
        return isinstance(self.low, int) and isinstance(self.high, int)

    def under(self, when: Mapping[str, Any]) -> Range:
        """The same, which has an effect under other conditions."""
        return Range(self.low, self.high, self.log, when)

    def __str__(self) -> str:
        """As it is typed on a command line: ``tag(log,interval(0.02,1.0))``."""
        interval = f"interval({self.low},{self.high})"
        return f"tag(log,{interval})" if self.log else interval


class Choices:
    """A few plain values (texts, numbers, true, false, None), none nearer to one than another.

    >>> print(Choices("stump", "tree"))
    choice(stump,tree)
    """

    def __init__(self, *values: Any, when: Mapping[str, Any] | None = None) -> None:
        if not values:
            raise ValueError("one value at least is needed")
        self.values, self.when = values, when or {}

    def under(self, when: Mapping[str, Any]) -> Choices:
        """The same, which have an effect under other conditions."""
        return Choices(*self.values, when=when)

    def __repr__(self) -> str:
        return f"Choices{self.values!r}"

    def __str__(self) -> str:
        words = {None: "null", True: "true", False: "false"}
        return f"choice({','.join(words[v] if v is None or isinstance(v, bool) else str(v) for v in self.values)})"
