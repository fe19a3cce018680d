"""Declarations made from signatures: parameters become keys, with the default and its type."""

from __future__ import annotations

import dataclasses
import inspect
import numbers
from collections.abc import Callable, Collection, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

from boostrun.config.fields import MISSING, Kind, fields_of
from boostrun.config.settings import BUDGET_KEYS
from boostrun.data.keys import OwnDatasetKeys, OwnStreamKeys
from boostrun.errors import BoostrunError
from boostrun.features.keys import FeatureKeys
from boostrun.methods.declaration import Method
from boostrun.methods.paper import DataSet, Pipeline

# parameters that boostrun gives, so that they are no keys
GIVEN = {
    "algo": ("random_state", "n_jobs"), "part": (), "dataset": ("data_root",), "stream": (), "features": ("images",),
}  # fmt: skip
_BASES: dict[str, type] = {
    "algo": object, "part": object, "dataset": OwnDatasetKeys, "stream": OwnStreamKeys, "features": FeatureKeys,
}  # fmt: skip
_NAMELESS = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD, inspect.Parameter.POSITIONAL_ONLY)
_EVALUATIONS = {"table": "boostrun.evaluation.staged:Fitted", "stream": "boostrun.evaluation.prequential:OnStream"}


def declared(group: str, thing: Callable[..., Any], where: str) -> Method | DataSet | Pipeline:
    """The declaration of a user's algorithm, data set or family, as papers write it.

    A class may declare more than its signature by class attributes named as in
    :class:`boostrun.methods.declaration.Method`: ``budget``, ``inputs``, ``evaluation``, ``random``, ``probe``;
    ``follows`` = {"q": "r"} makes the default of one budget the value of another. Ranges come from a class of keys it
    inherits from, or from scikit-learn's ``_parameter_constraints``.
    Raises BoostrunError for an unsuitable signature or ``budget``.

    >>> def blobs(n: int = 100, spread: float = 1.0): ...
    >>> [(name, field.default) for name, field in fields_of(declared("dataset", blobs, "mine:blobs").keys).items()][2:]
    [('n', 100), ('spread', 1.0)]
    """
    parameters = parameters_of(thing, where)
    summary = (inspect.getdoc(thing) or where).partition("\n")[0]
    if group == "dataset":
        return DataSet("boostrun.extend.loader", _keys(group, thing, parameters, where, {}), summary)
    if group == "features":
        if not inspect.isclass(thing) and "images" not in parameters:
            raise BoostrunError(f"{where} is called with images, and has no parameter 'images'")
        return Pipeline("boostrun.extend.pipeline", _keys(group, thing, parameters, where, {}), summary)
    budget = budget_of(thing, where)
    says = SimpleNamespace(**{name: getattr(thing, name, None) for name in ("inputs", "evaluation", "probe", "random")})
    inputs = frozenset(says.inputs or ("codes", "values"))
    seeded = "random_state" in parameters or callable(getattr(thing, "fit_source", None))
    return Method(
        target=where,
        keys=_keys(group, thing, parameters, where, budget),
        summary=summary,
        budget=budget,
        inputs=inputs,
        evaluation=says.evaluation or _EVALUATIONS["stream" if inputs == {"stream"} else "table"],
        random=seeded if says.random is None else bool(says.random),
        given=frozenset(parameters) & frozenset(GIVEN["algo"]),
        probe=says.probe or {},
    )


def of_stream(thing: Callable[..., Any], where: str) -> DataSet:
    """The declaration of a function that yields examples, or of a class that is walked through."""
    made = _keys("stream", thing, parameters_of(thing, where), where, {})
    return DataSet("boostrun.extend.stream", made, (inspect.getdoc(thing) or where).partition("\n")[0], "stream")


def of_part(thing: Callable[..., Any], where: str) -> type:
    """The class of keys of a strategy, a policy or a weak learner: the parameters of its class, none of a function."""
    return _keys("part", thing, parameters_of(thing, where) if inspect.isclass(thing) else {}, where, {})


def of_all(group: str) -> set[str]:
    """Keys of every choice of a group, besides its class."""
    return {"name", *(fields_of(_BASES[group]) if _BASES[group] is not object else ())}


def of_class(
    thing: Callable[..., Any], where: str, keywords: Collection[str], needed: Sequence[str] = ("fit", "predict")
) -> type:
    """The keys of a user's class: its parameters, and ``keywords`` if it takes ``**kwargs``."""
    parameters = {
        name: parameter for name, parameter in _signature(thing, where).items() if parameter.kind not in _NAMELESS
    }
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in _signature(thing, where).values()):
        new = {name: inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None) for name in keywords}
        parameters = {**new, **parameters}
    return _keys("algo", thing, parameters, where, budget_of(thing, where, needed))


def parameters_of(thing: Callable[..., Any], where: str) -> dict[str, inspect.Parameter]:
    """Parameters by name; BoostrunError for ``*args`` and ``**kwargs``."""
    parameters = _signature(thing, where)
    for name, parameter in parameters.items():
        if parameter.kind in _NAMELESS:
            raise BoostrunError(
                f"{where} takes {parameter}, and its keys are the names of its parameters: spell '{name}' out"
            )
    return parameters


def _signature(thing: Callable[..., Any], where: str) -> dict[str, inspect.Parameter]:
    try:
        return dict(inspect.signature(thing).parameters)
    except (TypeError, ValueError):
        raise BoostrunError(f"{where} has no signature that can be read") from None


def budget_of(cls: Callable[..., Any], where: str, needed: Sequence[str] = ("fit", "predict")) -> dict[str, str]:
    """The class attribute ``budget``, short key -> parameter.

    Raises BoostrunError if it is malformed, or a ``needed`` method is absent.
    """
    follower = callable(getattr(cls, "test_then_train", None))
    for name in ("predict",) if follower else needed:
        if not inspect.isclass(cls) or not callable(getattr(cls, name, None)):
            raise BoostrunError(
                f"{where} is no algorithm: a class with fit and predict, or with test_then_train and predict, is needed"
            )
    budget = getattr(cls, "budget", {})
    if not isinstance(budget, Mapping):
        budget = {}  # a parameter of that name, as a class of keys has its defaults
    if not all(isinstance(name, str) for name in budget.values()):
        raise BoostrunError(f"{where}.budget must say which parameter a short key is, as in {{'T': 'n_estimators'}}")
    for key in budget:
        if key not in BUDGET_KEYS:
            raise BoostrunError(f"{where}.budget has the key {key!r}; the short keys are {', '.join(BUDGET_KEYS)}")
    return dict(budget)


def kind(default: Any) -> Kind:
    """The values a key accepts: numbers if its default is a number, else any plain value."""
    if default is None or (isinstance(default, str) and default == MISSING):
        return Kind(
            lambda value: value if _is_plain(value) else None, "a number, a text, true, false or a list of them"
        )
    if isinstance(default, bool):
        return Kind(lambda value: value if isinstance(value, bool) else None, "true or false")
    if isinstance(default, int):
        return Kind(lambda value: int(value) if _is_number(value) and value == value // 1 else None, "a whole number")
    if isinstance(default, float):
        return Kind(lambda value: float(value) if _is_number(value) else None, "a finite number")
    if isinstance(default, (list, tuple)):
        return Kind(lambda value: list(value) if _is_plain_list(value) else None, "a list of numbers or texts")
    return Kind(
        lambda value: value if isinstance(value, (str, bool)) or _is_number(value) else None, "a text or a number"
    )


def _keys(
    group: str, thing: Callable[..., Any], parameters: Mapping[str, inspect.Parameter], where: str, budget: Mapping
) -> type:
    """A class of keys of the parameters that a record can hold."""
    own = fields_of(thing) if inspect.isclass(thing) and dataclasses.is_dataclass(thing) else {}
    constraints = getattr(thing, "_parameter_constraints", {})
    reserved = {"class", *of_all(group)}
    follows = {budget[key]: budget[other] for key, other in getattr(thing, "follows", {}).items()}
    made = []
    for name, parameter in parameters.items():
        if name in GIVEN[group]:
            continue
        if name in reserved:
            raise BoostrunError(f"{where} has a parameter '{name}', which is a key of boostrun's own: rename it")
        default = MISSING if parameter.default is parameter.empty else parameter.default
        metadata: dict[str, Any] = {"kind": own[name].metadata["kind"] if name in own else kind(default)}
        if name not in own and name in constraints:
            metadata["kind"] = _constrained(constraints[name], metadata["kind"])
        if name in budget.values():
            metadata["kind"] = _budget_kind(default, name in follows, name, where, follows.get(name, ""))
        if isinstance(default, (list, tuple)):
            if not _is_plain_list(default):
                continue
            metadata["make"], default = type(default), tuple(default)
        elif not (default is None or isinstance(default, (bool, str)) or _is_number(default)):
            continue  # an object, which no record can hold: it keeps its default
        made.append((name, object, dataclasses.field(default=default, metadata=metadata)))
    for name in budget.values():
        if name not in parameters:
            raise BoostrunError(f"{where}.budget names the parameter '{name}', and there is none")
    return dataclasses.make_dataclass("Own", made, bases=(_BASES[group],))


def _budget_kind(default: Any, follows: bool, name: str, where: str, whom: str) -> Kind:
    if not follows and (isinstance(default, bool) or not isinstance(default, int) or default < 1):
        raise BoostrunError(f"{where}: '{name}' is a budget, so its default must be a whole number of at least 1")
    return dataclasses.replace(kind(1), follows=whom)


def _constrained(constraints: Any, by_default: Kind) -> Kind:
    """The values that scikit-learn's constraints of a parameter allow."""
    from sklearn.utils._param_validation import make_constraint

    if constraints == "no_validation":
        return by_default
    made = [make_constraint(constraint) for constraint in constraints]

    def read(value):
        value = list(value) if isinstance(value, (list, tuple)) else value
        return value if any(constraint.is_satisfied_by(value) for constraint in made) else None

    return Kind(read, " or ".join(str(constraint) for constraint in made))


def _is_number(value: Any) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool) and abs(value) < float("inf")  # type: ignore[operator]


def _is_plain(value: Any) -> bool:
    return isinstance(value, (bool, str)) or _is_number(value) or _is_plain_list(value)


def _is_plain_list(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and all(map(_is_plain, value))
