"""What policies have in common: parameters that are checked when they are given."""

from __future__ import annotations

import dataclasses

import numpy as np

from boostrun.errors import BoostrunError, did_you_mean


class Policy:
    """Base of the policies: a dataclass whose fields are of the kinds of :mod:`boostrun.kinds`.

    The booster copies a policy before it uses it, so that an object can be given to several runs. On its copy it calls
    ``start(board)`` once, where a policy has it, then for each step ``choose(board)``, which returns a feature, and
    ``learn(edge)``, where a policy has it, with the true edge of the stump added on that feature.

    Raises BoostrunError with one sentence for a parameter that does not fit.
    """

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):  # type: ignore[arg-type]
            key, kind, value = field.name, field.metadata["kind"], getattr(self, field.name)
            if value is None and field.default is None:
                continue
            plain = kind.read(value)
            if plain is None:
                hint = did_you_mean(value, kind.choices) if kind.choices else ""
                raise BoostrunError(f"{key}={value!r}: {kind.allowed} is needed{hint}")
            setattr(self, key, plain)


def random_argmax(values: np.ndarray, rng: np.random.Generator, tolerance: float = 0.0) -> int:
    """The place of the largest of ``values`` (M,), a random one of those within ``tolerance`` of it."""
    best = np.flatnonzero(values >= values.max() - tolerance)
    return int(best[rng.integers(len(best))])
