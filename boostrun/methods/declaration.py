"""The declaration of a method: its class, keys, budgets, inputs and evaluation, in one object.

Nothing heavy is imported here, so that help, completion and planning stay fast.
"""

from __future__ import annotations

import dataclasses
import importlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from boostrun.config.fields import (
    MISSING,
    Choices,
    Keys,
    Range,
    boolean,
    choice,
    class_weights,
    fields_of,
    integer,
    keys,
    kind_of,
    or_tuned,
    real,
    renamed,
)

IN_C = frozenset({"raw", "linear", "products", "stumps", "anchors"})  # pipelines that few numbers describe
IN_ONNX = IN_C - {"anchors"}  # pipelines that need an operator or two
ON_HELD_OUT = "boostrun.methods.early_stopping:OnHeldOut"  # the evaluation of a method that stops early
ON_CHIP = "boostrun.export.flash:OnChip"  # the evaluation of a method with the key flash_bytes
METERS = {  # costs of a trial that only a search asks for: functions of a fitted estimator and its table
    "flash_bytes": "boostrun.export.flash:flash_of",
    "prediction_us": "boostrun.export.flash:microseconds_of",
}
_SMALL = 3  # the largest budget of a method that is only compiled


class Parameter(NamedTuple):
    """A parameter of a method or of one of its parts.

    ``place`` is "name", or "part.name"; ``part`` is empty for the method's own parameters. ``key`` is its name among
    the method's keys. ``convert`` turns a plain value into what the constructor takes.
    """

    place: str
    part: str
    name: str
    key: str
    default: Any
    convert: Callable[[Any], Any]


def arguments(
    parameters: Iterable[Parameter], values: Mapping[str, Any], fixed: Mapping[str, Any], spent: Mapping[str, Any],
    unset: Iterable[str],
) -> dict[str, dict[str, Any]]:  # fmt: skip
    """The arguments of the estimator, under the empty name, and of each part, under its name.

    Parameters
    ----------
    parameters : all parameters of the method and its parts
    values : key -> value
    fixed : place -> value, of parameters that are not keys
    spent : place -> value, of budgets
    unset : places of parameters that keep the constructor's default

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


@dataclass(frozen=True)
class Part:
    """An object that is a parameter of a method and has its own keys.

    ``target`` is "module:Class", ``keys`` the dataclass of its parameters; ``names`` maps a parameter to its name among
    the method's keys, if that differs. Parameters in ``hidden`` are not keys.
    """

    target: str
    keys: type
    names: Mapping[str, str] = field(default_factory=dict)
    hidden: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Tuning:
    """A grid that a paper fixes for ``boostrun tune``: the value of ``key`` with the smallest metric ``by`` is chosen.

    Without ``values`` the grid holds the families of the feature bank. With ``holdout`` the metric is measured on that
    share of the training data, which is held out.
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
    target : "module:Class" of the estimator that users import and the runner trains.
    keys : the dataclass whose fields are its keys, with defaults and checks.
    summary : one line, for lists.
    budget : symbol of the paper -> parameter, or "part.parameter". Symbols are not keys.
    inputs : the data that it learns from: codes, values, products, stumps, anchors (kinds of features), chunks,
        row_groups (of many files), stream, and families, if it uses which features belong together.
    evaluation : "module:Class", see :mod:`boostrun.evaluation`; ``on_chunks`` another one for files larger than memory.
    fixed : parameters that make it this method.
    unused : parameters that have no effect in it; they are not keys.
    parts : parameter -> :class:`Part`.
    random : whether its results depend on the seed.
    given : parameters that the runner sets: random_state, n_jobs, checkpoint.
    probe : key -> a smaller value, for compiling the method before the clock starts.
    exports : formats of a saved model: npz, c, onnx.
    in_c, in_onnx : feature pipelines that its predictor in C, or ONNX, computes.
    paper : the paper that it is compared with; set by the catalogue.
    traits : words that distinguish it from its rivals.
    tuning : the grid that its paper fixes for one key.
    search : key, or symbol of a budget -> the values that ``boostrun tune`` may try, a ``Range`` or ``Choices`` of
        :mod:`boostrun.config.fields`, chosen before any data are seen. Keys set on the command line are not searched.
    keeps : kind of budget (samples_held, evaluations, features, model_bytes, flash_bytes) -> "module:function" that
        turns a budget into settings: ``function(budget, facts)`` returns words of a command, ``{"r": 250}``, given the
        facts of the data, and raises BoostrunError if the method cannot keep the budget. ``memory``, for a method that
        has samples in files too: with which settings it reads so many at a time.
    takes_class : the parameter that holds an object of the class ``algo.class=module:Class``; empty if there is none.
    needs : (package, extra) of a library that it imports, with the extra of boostrun that installs it; empty if none.
    class_like : methods that such a class must have. The first declared method whose list is satisfied takes the class.
    """

    target: str
    keys: type
    summary: str
    budget: Mapping[str, str] = field(default_factory=dict)
    inputs: frozenset[str] = frozenset({"codes", "stumps"})
    evaluation: str = "boostrun.evaluation.staged:Staged"
    on_chunks: str = ""
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
        """The keys by name, in order, without budgets and parameters that are fixed or unused.

        A key with a :class:`Tuning` also allows the value ``tuned``.
        """
        no_keys = {*self.budget.values(), *self.fixed, *self.unused}
        found = {
            parameter.key: self._fields[place]
            for place, parameter in self._parameters.items()
            if place not in no_keys
        }  # fmt: skip
        if "flash_bytes" in self.keeps:
            found |= fields_of(ChipKeys)
        if self.tuning is not None and kind_of(found[self.tuning.key]).read("tuned") is None:
            found[self.tuning.key] = or_tuned(found[self.tuning.key])
        return found

    @property
    def budget_defaults(self) -> dict[str, Any]:
        """Symbol -> its default: a number, or another symbol whose value it takes."""
        symbols = {parameter: symbol for symbol, parameter in self.budget.items()}
        defaults = {}
        for symbol, parameter in self.budget.items():
            one = self._fields[parameter]
            follows = kind_of(one).follows
            defaults[symbol] = symbols.get(follows, MISSING) if follows else one.default
        return defaults

    def make(self, values: Mapping[str, Any], budget: Mapping[str, int], given: Mapping[str, Any]) -> Any:
        """An unfitted estimator with the checked ``values`` of :attr:`fields`, and ``budget`` by symbol.

        ``given`` has values from the runner, of which the method takes those named in its own ``given``.
        """
        spent = {self.budget[symbol]: value for symbol, value in budget.items()}
        unset = self.unused | set(self.budget.values())
        made = arguments(self._parameters.values(), values, self.fixed, spent, unset)
        parts = {name: obtain(part.target)(**made.get(name, {})) for name, part in self.parts.items()}
        own = made[""] | parts | {name: value for name, value in given.items() if name in self.given}
        return obtain(self.target)(**own)

    def stops_early(self, values: Mapping[str, Any]) -> bool:
        """Whether these ``values`` ask for the early stopping of :class:`EarlyStoppingKeys`."""
        own, ours = self._fields.get("early_stopping"), fields_of(EarlyStoppingKeys)["early_stopping"]
        return bool(own and kind_of(own) == kind_of(ours) and values.get("early_stopping"))

    def evaluation_of(self, gives: str) -> str:
        """The evaluation on a data set that ``gives`` a table, chunks or a stream."""
        return self.on_chunks if gives == "chunks" and self.on_chunks else self.evaluation

    def evaluator(self, values: Mapping[str, Any], gives: str = "table") -> Any:
        """The evaluation of an estimator that :meth:`make` has made of these ``values``, see :meth:`evaluation_of`."""
        own = obtain(self.evaluation_of(gives))()
        return obtain(ON_HELD_OUT)(own) if self.stops_early(values) else own

    def components(self, values: Mapping[str, Any]) -> list[tuple[str, str, Any]]:
        """(key, room, name) of the parts that ``values``, or fixed parameters, take from the catalogue."""
        found = []
        for place, one in self._fields.items():
            if (room := one.metadata.get("room")) and place not in self.unused:
                parameter = self._parameters[place]
                found.append((parameter.key, room, self.fixed.get(place, values.get(parameter.key, one.default))))
        return found

    def make_small(self, values: Mapping[str, Any], budget: Mapping[str, int]) -> Any:
        """Like :meth:`make`, with budgets of at most three and the values of ``probe``; for compiling the method."""
        values = {**values, **{key: value for key, value in self.probe.items() if key in values}}
        small = {symbol: min(value, self.probe.get(symbol, _SMALL)) for symbol, value in budget.items()}
        return self.make(values, small, {"random_state": 0})


def _as_it_is(value: Any) -> Any:
    return value


def obtain(where: str) -> Any:
    """The object that "module:name" names.

    >>> obtain("boostrun.errors:BoostrunError").__name__
    'BoostrunError'
    """
    module, _, name = where.partition(":")
    return getattr(importlib.import_module(module), name)


# -- keys that methods of several papers share


@keys
class StumpKeys(Keys):
    """Keys of the decision stump."""

    stump_search: str = choice(
        "histogram", "exact",
        help="stumps on at most max_bins quantile bins of the first samples drawn, or on the exact values; 8-bit data "
        "are their own bins, and both then give the same ensemble",
    )  # fmt: skip


@keys
class TreeKeys(Keys):
    """Keys of the decision tree."""

    depth: int = integer(6, most=10, absent=6, help="trees: comparisons from the root to a leaf")
    leaf_values: str = choice(
        "log_odds", "newton", absent="log_odds",
        help="trees: the value of a leaf is half the log-odds of its weights, or the Newton step towards it",
    )  # fmt: skip
    leaf_smoothing: float = real(
        1.0, above=0.0, most=1e6, absent=1.0,
        help="trees: weight added to each label in a leaf, in samples of the mean weight",
    )  # fmt: skip
    leaf_weight: float = real(
        1.0, least=0.0, most=1e3, absent=1.0,
        help="trees: least weight on either side of a split, in samples of the mean weight",
    )  # fmt: skip


@keys
class ClassWeightKeys(Keys):
    """Keys of methods that take weights of samples."""

    class_weight: Any = class_weights(
        absent=None,
        help="weights of the classes, which multiply those of the samples; balanced: inversely proportional to their "
        "frequencies",
    )  # fmt: skip


@keys
class EarlyStoppingKeys(Keys):
    """Keys of methods whose rounds can be chosen."""

    early_stopping: bool = boolean(
        False, absent=False,
        help="hold samples out of training, and keep the rounds that score best on them; see "
        "boostrun.methods.early_stopping, also for n_iter_ and validation_score_, which fit sets",
    )  # fmt: skip
    validation_fraction: float = real(
        0.1, above=0.0, below=1.0, absent=0.1, help="early_stopping: share of the samples held out"
    )
    n_iter_no_change: int = integer(
        10, absent=10, help="early_stopping: rounds without a better score after which none is looked at"
    )


@keys
class ChipKeys(Keys):
    """Keys of methods whose models become predictors of whole numbers, which are no parameters of an estimator."""

    flash_bytes: int | None = integer(
        None, absent=None,
        help="measure the predictor of whole numbers, for chips, with as many rounds, T at most, as these bytes of "
        "flash have room for; see boostrun.export.flash",
    )  # fmt: skip


def early_stopping_field(parameter: str) -> Any:
    """A field for one of the three parameters of :class:`EarlyStoppingKeys`."""
    return renamed(fields_of(EarlyStoppingKeys)[parameter])
