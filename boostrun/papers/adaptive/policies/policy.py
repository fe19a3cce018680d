"""What policies have in common."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

from boostrun.config.fields import fields_of
from boostrun.papers.adaptive.keys import PolicyKeys


class Policy(PolicyKeys):
    """Base of our policies, which a stranger's may do without: any object with ``choose(board)`` is one.

    The booster copies a policy before it uses it, so that an object can be given to several runs. On its copy it calls
    ``start(board)`` once, where a policy has it, then for each step ``choose(board)``, which returns a feature, and
    ``learn(edge)``, where a policy has it, with the true edge of the stump added on that feature. The board is a
    :class:`boostrun.papers.adaptive.board.Board`.

    Parameters are fields of :mod:`boostrun.config.fields` in a class of keys, checked when they are given:
    BoostrunError with one sentence for one that does not fit. Policies with equal parameters are equal.

    >>> from boostrun.config.fields import integer, keys
    >>> @keys
    ... class First(Policy):
    ...     Q: int = integer(10, help="features that a step looks at")
    ...
    ...     def choose(self, board):
    ...         return int(board.edges(np.arange(self.Q))[0].argmax())
    >>> First(Q=3), First(3) == First(Q=3), First() == First(3)
    (First(Q=3), True, False)
    """

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value in self._parameters().items())
        return f"{type(self).__qualname__}({given})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Policy) or type(other) is not type(self):
            return NotImplemented
        return self._parameters() == other._parameters()

    __hash__ = None  # type: ignore[assignment]  # equal policies may change

    def _parameters(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in fields_of(type(self))}


def own_copy(policy: Any) -> Any:
    """A policy for one run, which changes it: a copy of an object, or the policy of that name with its defaults.

    Raises BoostrunError for a name that is none.

    >>> own_copy("fixed_sample")
    FixedSample(Q=10)
    """
    if not isinstance(policy, str):
        return copy.deepcopy(policy)
    from boostrun.config import catalogue

    return catalogue.part("policies", policy)()


def hook(policy: Any, name: str) -> Callable[[Any], None]:
    """``start`` or ``learn`` of a policy; where it has none, a function that does nothing."""
    return getattr(policy, name, _nothing)


def _nothing(_: Any) -> None:
    pass


def random_argmax(values: np.ndarray, rng: np.random.Generator, tolerance: float = 0.0) -> int:
    """The place of the largest of ``values`` (M,), a random one of those within ``tolerance`` of it."""
    best = np.flatnonzero(values >= values.max() - tolerance)
    return int(best[rng.integers(len(best))])
