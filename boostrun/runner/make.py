"""From the values of a cell to an estimator: which parameters it is made with. No method is known here by name."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Mapping
from typing import Any


def estimator(made, names: Mapping[str, str], algo: Mapping[str, Any], budget: Mapping[str, int], random_state: int):
    """An unfitted estimator of a packaged algorithm.

    ``made`` is its :class:`boostrun.runner.algorithms.Made`; ``names`` are what the budget's symbols are called in
    code. Null keys are left out where the algorithm is no method of a family.
    """
    module = importlib.import_module(made.module)
    cls = getattr(module, made.cls)
    parameters = {key: value for key, value in algo.items() if key != "name"} | dict(made.fixed or {})
    parameters |= {names[key]: value for key, value in budget.items()}
    if made.method is None:
        given = {key: value for key, value in parameters.items() if value is not None}
        return cls(**given, **_seeded(cls, random_state))
    method: Any = made.method
    if made.policy is not None:
        method = module.policy_class(method)(**{name: parameters.pop(key) for key, name in made.policy.items()})
    return cls(method, random_state=random_state, **parameters)


def parameters_of_own(
    cls: Callable[..., Any], keys: Mapping[str, Any], budget: Mapping[str, int], random_state: int
) -> dict[str, Any]:
    """What a person's own estimator is made with; its class attribute ``budget`` names its parameters."""
    parameters = {key: value for key, value in keys.items() if key not in ("name", "class")}
    parameters |= {getattr(cls, "budget", {})[key]: value for key, value in budget.items()}
    return parameters | _seeded(cls, random_state)


def _seeded(cls: Callable[..., Any], random_state: int) -> dict[str, int]:
    return {"random_state": random_state} if "random_state" in inspect.signature(cls).parameters else {}
