"""The declaration of a method: one object that says everything about it, once.

It imports nothing heavy, so that help, completion and planning stay fast.
"""

from __future__ import annotations

import dataclasses
import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from boostrun.config.fields import MISSING, kind_of, or_tuned
from boostrun.config.settings import Choices, Range
from boostrun.methods.keys import Parameter, arguments

IN_C = frozenset({"raw", "linear", "products", "stumps", "anchors"})  # of which few numbers make a feature
IN_ONNX = IN_C - {"anchors"}  # of which an operator or two make one
_SMALL = 3  # what a budget is at most where a method is only compiled


@dataclass(frozen=True)
class Part:
    """An object that a method is given as a parameter, made of keys of its own.

    ``target`` is ``module:Class``, ``keys`` the dataclass of its parameters, and ``names`` says what a parameter is
    called among the method's keys, where that is something else. Parameters in ``hidden`` are no keys.
    """

    target: str
    keys: type
    names: Mapping[str, str] = field(default_factory=dict)
    hidden: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Tuning:
    """A grid that a paper fixes for ``boostrun tune``: the value of ``key`` with the least of the metric ``by``.

    Without values they are the families of the feature bank. With ``holdout`` that share of the training data is held
    out, and the metric is that on it.
    """

    key: str
    values: tuple = ()
    by: str = "log10_loss"
    holdout: float | None = None


@dataclass(frozen=True)
class Method:
    """A method as the command, the library and the documentation know it.

    Parameters
    ----------
    target : "module:Class" of the estimator that a person imports, and that the runner trains.
    keys : the dataclass whose fields are its keys, its constructor's defaults and its checks.
    summary : one line, for lists.
    budget : a paper's symbol -> the parameter that it is, "part.parameter" for one of a part. Symbols are no keys.
    inputs : what it can learn from: codes, values, products, stumps, anchors (kinds of features), chunks, stream, and
        families, where it wants to know which features belong together.
    evaluation : "module:Class", see :mod:`boostrun.evaluation`.
    fixed : parameters that make it this method.
    unused : parameters that have no effect in it, so that they are none of its keys.
    parts : parameter -> :class:`Part`.
    random : whether trials differ by their seed.
    given : parameters that the runner sets: random_state, n_jobs, checkpoint.
    probe : key -> a smaller value with which it is compiled before the clock starts.
    exports : what a saved model can be written as: npz, c, onnx.
    in_c, in_onnx : pipelines of features that its predictor in C, or ONNX, computes.
    paper : the paper that it is compared with; filled in by the catalogue.
    traits : words that tell it from its rivals.
    tuning : the grid that its paper fixes for one key.
    search : key, or symbol of a budget -> what ``boostrun tune`` may try for it, a ``Range`` or ``Choices`` of
        :mod:`boostrun.config.settings`, decided before any data are seen. What a person types is not searched.
    keeps : kind of budget (samples_held, evaluations, features, model_bytes, seconds) -> "module:function" that tells
        how the method keeps one: ``function(budget, facts)`` gives words of a command, ``{"r": 250}``, for a budget and
        what is known of the data, and raises BoostrunError where it cannot be kept.
    takes_class : the parameter that is an object of a class which a person names, ``algo.class=module:Class``; empty
        where there is none.
    needs : (package, extra) of a library that it imports, an extra of boostrun's; empty if none.
    class_like : methods that such a class needs; of all methods that take one, the first whose are there has it.
    """

    target: str
    keys: type
    summary: str
    budget: Mapping[str, str] = field(default_factory=dict)
    inputs: frozenset[str] = frozenset({"codes", "stumps"})
    evaluation: str = "boostrun.evaluation.staged:Staged"
    fixed: Mapping[str, Any] = field(default_factory=dict)
    unused: frozenset[str] = frozenset()
    parts: Mapping[str, Part] = field(default_factory=dict)
    random: bool = True
    given: frozenset[str] = frozenset({"random_state"})
    probe: Mapping[str, Any] = field(default_factory=dict)
    exports: frozenset[str] = frozenset()
    in_c: frozenset[str] = IN_C
    in_onnx: frozenset[str] = IN_ONNX
    paper: str = ""
    traits: tuple[str, ...] = ()
    tuning: Tuning | None = None
    search: Mapping[str, Range | Choices] = field(default_factory=dict)
    keeps: Mapping[str, str] = field(default_factory=dict)
    takes_class: str = ""
    class_like: tuple[str, ...] = ("fit", "predict")
    needs: tuple[str, ...] = ()
    _fields: dict[str, dataclasses.Field] = field(init=False, repr=False, compare=False, default_factory=dict)
    _parameters: dict[str, Parameter] = field(init=False, repr=False, compare=False, default_factory=dict)

    def __post_init__(self) -> None:
        """Every parameter by ``name`` or ``part.name``, with its field."""
        for one in dataclasses.fields(self.keys):
            if "kind" in one.metadata and one.name not in self.parts:
                self._take(one, "", one.name)
        for name, part in self.parts.items():
            for one in dataclasses.fields(part.keys):
                if "kind" in one.metadata and one.name not in part.hidden:
                    self._take(one, name, part.names.get(one.name, one.name))
        for symbol, parameter in self.budget.items():
            if parameter not in self._parameters:
                raise ValueError(f"{self.target}: budget {symbol} names the parameter {parameter!r}, and there is none")
        if unknown := self.search.keys() - self.fields.keys() - self.budget.keys():
            raise ValueError(f"{self.target}: no key can be searched that is called {', '.join(sorted(unknown))}")

    def _take(self, one: dataclasses.Field, part: str, key: str) -> None:
        place = f"{part}.{one.name}" if part else one.name
        self._fields[place] = one
        convert = one.metadata.get("make", _as_it_is)
        self._parameters[place] = Parameter(place, part, one.name, key, one.default, convert)

    @property
    def fields(self) -> dict[str, dataclasses.Field]:
        """The keys, by name, in their order: neither budgets nor what is fixed or unused. One that is tuned takes the
        word ``tuned`` too.
        """
        no_keys = {*self.budget.values(), *self.fixed, *self.unused}
        found = {
            parameter.key: self._fields[place]
            for place, parameter in self._parameters.items()
            if place not in no_keys
        }  # fmt: skip
        if self.tuning is not None and kind_of(found[self.tuning.key]).read("tuned") is None:
            found[self.tuning.key] = or_tuned(found[self.tuning.key])
        return found

    @property
    def budget_defaults(self) -> dict[str, Any]:
        """Symbol -> its default: a number, or another symbol, "as much as that one"."""
        symbols = {parameter: symbol for symbol, parameter in self.budget.items()}
        defaults = {}
        for symbol, parameter in self.budget.items():
            one = self._fields[parameter]
            follows = kind_of(one).follows
            defaults[symbol] = symbols.get(follows, MISSING) if follows else one.default
        return defaults

    def make(self, values: Mapping[str, Any], budget: Mapping[str, int], given: Mapping[str, Any]) -> Any:
        """An unfitted estimator of checked ``values`` (of :attr:`fields`) and ``budget``, by symbol.

        ``given`` is what the runner has for it; of that it takes what it names in ``given``.
        """
        spent = {self.budget[symbol]: value for symbol, value in budget.items()}
        unset = self.unused | set(self.budget.values())
        made = arguments(self._parameters.values(), values, self.fixed, spent, unset)
        parts = {name: obtain(part.target)(**made.get(name, {})) for name, part in self.parts.items()}
        own = made[""] | parts | {name: value for name, value in given.items() if name in self.given}
        return obtain(self.target)(**own)

    def components(self, values: Mapping[str, Any]) -> list[tuple[str, str, Any]]:
        """(key, room, name) of the parts that ``values``, or what is fixed, take from the catalogue."""
        found = []
        for place, one in self._fields.items():
            if (room := one.metadata.get("room")) and place not in self.unused:
                parameter = self._parameters[place]
                found.append((parameter.key, room, self.fixed.get(place, values.get(parameter.key, one.default))))
        return found

    def make_small(self, values: Mapping[str, Any], budget: Mapping[str, int]) -> Any:
        """The same, with budgets of at most three and the values of ``probe``: to be compiled, not to be trusted."""
        values = {**values, **{key: value for key, value in self.probe.items() if key in values}}
        small = {symbol: min(value, self.probe.get(symbol, _SMALL)) for symbol, value in budget.items()}
        return self.make(values, small, {"random_state": 0})


def _as_it_is(value: Any) -> Any:
    return value


def obtain(where: str) -> Any:
    """What ``module:name`` names.

    >>> obtain("boostrun.errors:BoostrunError").__name__
    'BoostrunError'
    """
    module, _, name = where.partition(":")
    return getattr(importlib.import_module(module), name)
