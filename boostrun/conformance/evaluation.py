"""Checks of how a method is measured: what a record would hold, the same for the same seed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from boostrun.conformance import Check, Failed, plain_and_finite
from boostrun.evaluation.measures import train_and_test
from boostrun.methods.declaration import obtain

NEEDED = ("check", "warm_up", "run")
PARTS = ("metrics", "cost", "curve")


def evaluation_checks(where: str, make: Callable[[int], Any], make_small: Callable[[], Any], data: dict[str, Any]) -> list[Check]:
    """All checks of the evaluation ``where`` of estimators that ``make(seed)``, on ``data``, by what it is."""
    measured = [
        check
        for name, each in data.items()
        for check in (
            Check(f"on {name}: plain, finite metrics, cost and curve",
                  lambda each=each: _held(run(where, make, make_small, each, 1))),  # type: ignore[misc]
            Check(f"on {name}: same seed, same metrics",
                  lambda each=each: _same(where, make, make_small, each)),  # type: ignore[misc]
        )
    ]  # fmt: skip
    return [Check("it has check, warm_up and run", lambda: _complete(where)), *measured]


def takes(where: str, make: Callable[[int], Any], data: Any) -> bool:
    """Whether the evaluation is of data of this kind: whether one trial of it ends."""
    try:
        run(where, make, lambda: make(0), data, 0)
    except Exception:
        return False
    return True


def run(where: str, make: Callable, make_small: Callable, data: Any, seed: int) -> dict[str, Any]:
    """The result of one trial, as the runner has it."""
    evaluation = obtain(where)()
    evaluation.check(make(seed), data)
    return dict(
        train_and_test(
            lambda seeds: data, make, evaluation, seed, lambda opened: evaluation.warm_up(make_small(), opened)
        ).result
    )


def _complete(where: str) -> None:
    missing = sorted(getattr(obtain(where), "__abstractmethods__", ()))  # it could not even be made
    if not missing:
        evaluation = obtain(where)()
        missing = [name for name in NEEDED if not callable(getattr(evaluation, name, None))]
    if missing:
        raise Failed(f"{where} has no {', '.join(missing)}")


def _held(result: Any) -> None:
    if set(result) != set(PARTS) or not all(isinstance(part, dict) for part in result.values()):
        raise Failed(f"run must return a dict of the dicts {', '.join(PARTS)}, not of {', '.join(map(str, result))}")
    if not result["metrics"]:
        raise Failed("there is no metric")
    for name, value in result["metrics"].items():
        if isinstance(value, bool) or not isinstance(value, (int, float)) or value - value != 0:
            raise Failed(f"the metric {name} is {value!r} ({type(value).__name__}): a plain finite number is needed")
    for part in PARTS:
        for name, value in result[part].items():
            if not isinstance(name, str) or not plain_and_finite(value):
                raise Failed(f"{part}.{name} cannot stand in a record: {_shown(value)}")


def _same(where: str, make: Callable, make_small: Callable, data: Any) -> None:
    first, second = (run(where, make, make_small, data, 3)["metrics"] for _ in range(2))
    for name in first.keys() | second.keys():
        if first.get(name) != second.get(name):
            raise Failed(f"the metric {name} is {first.get(name)!r}, and {second.get(name)!r} when it is run again")


def _shown(value: Any) -> str:
    text = repr(value)
    return f"{text[:60]}{' ...' if len(text) > 60 else ''} ({type(value).__name__})"
