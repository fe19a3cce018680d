"""``boostrun check module:Class [key=value ...]``: a person's own algorithm, data set or family, check by check."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from boostrun.errors import BoostrunError
from boostrun.words import Words

KINDS = {"algo": "an algorithm", "dataset": "a data set", "features": "a feature family"}


def main(words: Words) -> int:
    """Print one line a check; 0 when all hold, 1 when one does not.

    The module is looked for in ``--config-dir``, else in the current folder, and where Python finds its modules. Keys
    are those of the class or function.
    """
    from boostrun import conformance
    from boostrun.extend import objects

    if not words.names:
        raise BoostrunError("check needs the name of a class or function, as in check my_algo:MyBooster")
    where = words.names[0]
    folder = Path(words.config_dir or ".")
    if not folder.is_dir():
        raise BoostrunError(f"--config-dir {words.config_dir}: there is no such folder")
    objects.allow(where, str(folder.resolve()))
    group = kind_of(objects.obtain(where), where)
    checks = _checks(group, where, given(group, where, words.overrides))
    print(f"{where}, {KINDS[group]}")
    failed = 0
    for outcome in conformance.outcomes(checks):
        print(f"{outcome.status:<8} {outcome.name}{f': {outcome.reason}' if outcome.reason else ''}", flush=True)
        failed += outcome.status == "FAILED"
    print(f"{len(checks)} checks, {failed} failed")
    return 1 if failed else 0


def kind_of(thing: Callable[..., Any], where: str) -> str:
    """The group that a class or function belongs to; BoostrunError where it is none of them."""
    from boostrun.conformance.family import is_family

    if inspect.isclass(thing):
        if hasattr(thing, "fit") and hasattr(thing, "predict"):
            return "algo"
        if hasattr(thing, "read"):
            return "dataset"
        if is_family(thing):
            return "features"
        raise BoostrunError(
            f"{where} is none of ours: an algorithm has fit and predict, a data set read, a feature family __call__"
        )
    return "features" if is_family(thing) else "dataset"


def given(group: str, where: str, overrides: Sequence[str]) -> dict[str, Any]:
    """The keys of the class or function, defaults filled in; BoostrunError for an unknown or bad one."""
    from boostrun.config import check_group
    from boostrun.config.compose import values_of
    from boostrun.extend import keys, registry

    registry.register(group, where, where)
    values = check_group(group, {"name": where, **values_of(overrides)})
    return {key: value for key, value in values.items() if key not in keys.of_all(group)}


def _checks(group: str, where: str, values: dict[str, Any]) -> list:
    from boostrun.conformance import algorithm, dataset, family

    if group == "algo":
        return algorithm.checks(where, values)
    if group == "features":
        return family.checks(where, values)
    return dataset.checks(where, values, Path(os.environ.get("BOOSTRUN_DATA") or "datasets"))
