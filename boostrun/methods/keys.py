"""Keys of parts that methods of several papers have: default, range and meaning of each, said once.

From the values of a cell to the parameters of an estimator and of its parts. No method is known here by name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from boostrun.config.fields import Keys, choice, integer, keys, real


@keys
class StumpKeys(Keys):
    """Keys of the decision stump."""

    stump_search: str = choice(
        "histogram", "exact",
        help="stumps on at most max_bins quantile bins of the first samples drawn, or on the values as they are; 8-bit "
        "data are their own bins, and both then give the same ensemble",
    )  # fmt: skip


@keys
class TreeKeys(Keys):
    """Keys of the decision tree."""

    depth: int = integer(6, most=10, absent=6, help="trees: comparisons from the root to a leaf")
    leaf_values: str = choice(
        "log_odds", "newton", absent="log_odds",
        help="trees: a leaf says half the log-odds of its weights, or takes the Newton step towards it",
    )  # fmt: skip
    leaf_smoothing: float = real(
        1.0, above=0.0, most=1e6, absent=1.0,
        help="trees: what a leaf counts more of either label, in samples of the mean weight",
    )  # fmt: skip
    leaf_weight: float = real(
        1.0, least=0.0, most=1e3, absent=1.0,
        help="trees: least weight on either side of a split, in samples of the mean weight",
    )  # fmt: skip


class Parameter(NamedTuple):
    """One parameter of a method or of one of its parts."""

    place: str
    """``name``, or ``part.name``."""
    part: str
    """Empty for the method's own."""
    name: str
    key: str
    """What it is called among the method's keys."""
    default: Any
    convert: Callable[[Any], Any]
    """From a plain value to what the constructor takes."""


def arguments(
    parameters: Iterable[Parameter], values: Mapping[str, Any], fixed: Mapping[str, Any], spent: Mapping[str, Any],
    unset: Iterable[str],
) -> dict[str, dict[str, Any]]:  # fmt: skip
    """The arguments of the estimator, under the empty name, and of each part, under its own.

    Parameters
    ----------
    parameters : all that there are
    values : key -> value
    fixed : place -> value of what is no key
    spent : place -> value of budgets
    unset : places that keep the constructor's default

    >>> t = Parameter("n_estimators", "", "n_estimators", "n_estimators", 250, int)
    >>> arguments([t], {}, {"strategy": "geem"}, {"n_estimators": 20}, ())
    {'': {'n_estimators': 20, 'strategy': 'geem'}}
    """
    unset, known = frozenset(unset), set[str]()
    found: dict[str, dict[str, Any]] = {"": {}}
    for each in parameters:
        known.add(each.place)
        mine = found.setdefault(each.part, {})
        if each.place in fixed:
            mine[each.name] = fixed[each.place]
        elif each.place in spent:
            mine[each.name] = spent[each.place]
        elif each.place not in unset:
            mine[each.name] = each.convert(values.get(each.key, each.default))
    found[""] |= {place: value for place, value in fixed.items() if place not in known}
    return found
