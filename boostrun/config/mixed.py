"""Sweeps of several choices of a group: a key applies to those that have it, and one that none has is refused."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Sequence

from boostrun.config.settings import BUDGET_KEYS
from boostrun.errors import BoostrunError, did_you_mean

GROUPS = ("algo", "dataset", "features")


def fitting(
    overrides: Sequence[tuple[str, Sequence[str]]], keys_of: Callable[[str, str], Collection[str]]
) -> list[list[str]]:
    """All combinations, the last override varying fastest, each without the keys that its choices lack, and each once.

    Parameters
    ----------
    overrides : each as its key and the values it lists
    keys_of : group and choice -> its keys as they are typed, budgets among those of a method

    Raises BoostrunError for a key that none of several choices has.

    >>> known = {"geem": ["r", "q", "T"], "logitboost": ["T"]}
    >>> words = [("algo", ["geem", "logitboost"]), ("r", ["10", "20"]), ("T", ["5"])]
    >>> for line in fitting(words, lambda group, name: known[name]):
    ...     print(*line)
    algo=geem r=10 T=5
    algo=geem r=20 T=5
    algo=logitboost T=5
    """
    swept = {key: list(values) for key, values in overrides if key in GROUPS and len(values) > 1}
    lacking: dict[tuple[str, str], set[str]] = {}  # (group, choice) -> keys
    for key, values in overrides:
        group = _group(key)
        if group not in swept:
            continue
        having = [name for name in swept[group] if key in keys_of(group, name)]
        if not having:
            raise BoostrunError(_refused(key, values, group, swept[group], keys_of))
        for name in swept[group]:
            if name not in having:
                lacking.setdefault((group, name), set()).add(key)
    found = []
    for combination in itertools.product(*([(key, value) for value in values] for key, values in overrides)):
        without = set().union(*(lacking.get((key, value), ()) for key, value in combination if key in swept))
        found.append(tuple(f"{key}={value}" for key, value in combination if key not in without))
    return [list(words) for words in dict.fromkeys(found)]


def _group(key: str) -> str:
    """The group whose choices have this key, or none of them."""
    first, dot, _ = key.partition(".")
    return "algo" if key in BUDGET_KEYS else first if dot and first in GROUPS else ""


def _refused(
    key: str, values: Sequence[str], group: str, names: Sequence[str], keys_of: Callable[[str, str], Collection[str]]
) -> str:
    if key not in BUDGET_KEYS:
        known = dict.fromkeys(one for name in names for one in keys_of(group, name) if one not in BUDGET_KEYS)
        return f"none of {group}={','.join(names)} has a key '{key.partition('.')[2]}'{did_you_mean(key, known)}"
    takes = {name: [one for one in keys_of(group, name) if one in BUDGET_KEYS] for name in names}
    told = "; ".join(f"{name} takes {', '.join(budget) or 'no budget'}" for name, budget in takes.items())
    return f"none of {group}={','.join(names)} has a use for {key}={','.join(values)} ({told})"
