"""The user's own choices, without a fork: which YAML file, entry point or word names them, and their declarations.

A word may name a class, ``algo=estimator algo.class=module:Class`` or ``algo=module:Class``, or the function of a
stream, ``dataset=module:function``. While the process lives, such a class is a method of the catalogue, and such a
function a data set. Only modules that words, files of ``--config-dir`` and entry points name are imported, never those
that a value or a record names. See docs/howto/extending.md.
"""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import numbers
import os
import re
import sys
import traceback
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, NamedTuple

from boostrun.config import catalogue
from boostrun.config.catalogue import ENTRY_POINTS, describe_error
from boostrun.config.fields import BUDGET_KEYS, MISSING, Kind, fields_of
from boostrun.config.words import listed, parse
from boostrun.data.keys import OwnDatasetKeys, OwnStreamKeys
from boostrun.errors import BoostrunError, did_you_mean
from boostrun.features.keys import FeatureKeys
from boostrun.methods.declaration import Method, Part
from boostrun.methods.paper import DataSet, Pipeline

_SPELLING = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*")
_allowed: dict[str, str] = {}  # module:Class -> the folder in which it was found, empty if it is installed
# parameters that boostrun gives, so that they are no keys
GIVEN = {
    "algo": ("random_state", "n_jobs"), "part": (), "dataset": ("data_root",), "stream": (), "features": ("images",),
}  # fmt: skip
_BASES: dict[str, type] = {
    "algo": object, "part": object, "dataset": OwnDatasetKeys, "stream": OwnStreamKeys, "features": FeatureKeys,
}  # fmt: skip
_NAMELESS = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD, inspect.Parameter.POSITIONAL_ONLY)
_EVALUATIONS = {"table": "boostrun.evaluation.staged:Fitted", "stream": "boostrun.evaluation.prequential:OnStream"}





def allow(where: str, folder: str = "") -> None:
    """Allow ``where`` to be imported in this process, from ``folder`` if it is not installed."""
    if not isinstance(where, str) or not _SPELLING.fullmatch(where):
        raise BoostrunError(f"'{where}' names no class: module:Class is needed, as in my_algo:MyBooster")
    _allowed[where] = folder


def allowed(wanted: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """The names in ``wanted`` that may be imported here, with their folders, to be passed to a worker."""
    return tuple((where, _allowed[where]) for where in wanted if where in _allowed)


def obtain(where: str) -> Callable[..., Any]:
    """Import an allowed class or function; BoostrunError if it is not allowed, absent, or not callable.

    >>> obtain("os:system")
    Traceback (most recent call last):
    boostrun.errors.BoostrunError: os:system is not imported: no YAML in --config-dir and no entry point names it
    """
    found = named(where)
    if not callable(found):
        raise BoostrunError(f"{where} is neither a class nor a function but of type {type(found).__name__}")
    return found


def named(where: str) -> Any:
    """Import an allowed name, whatever it is; BoostrunError if it is not allowed or absent."""
    if where not in _allowed:
        raise BoostrunError(f"{where} is not imported: no YAML in --config-dir and no entry point names it")
    folder = _allowed[where]
    dotted, _, name = where.partition(":")
    module = _module(dotted, folder)
    try:
        return getattr(module, name)
    except AttributeError:
        hint = did_you_mean(name, [word for word in vars(module) if not word.startswith("_")])
        file = getattr(module, "__file__", None) or dotted
        raise BoostrunError(f"{where}: {file} has no class or function '{name}'{hint}") from None


def module_of(where: str) -> str:
    """Dotted name of the module in ``where``.

    >>> module_of("mine.booster:Booster")
    'mine.booster'
    """
    return where.partition(":")[0]


def call(where: str, function: Callable[..., Any], *arguments: Any, **keys: Any) -> Any:
    """Call ``function`` of ``where``; its exceptions become a BoostrunError that names the line."""
    try:
        return function(*arguments, **keys)
    except BoostrunError:
        raise
    except (Exception, SystemExit) as error:
        file = getattr(sys.modules.get(module_of(where)), "__file__", None)
        frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
        place = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""
        raise BoostrunError(f"{where} failed{place}: {describe_error(error)}") from error


def _module(dotted: str, folder: str) -> ModuleType:
    if folder and folder not in sys.path:
        sys.path.append(folder)  # last: no file of theirs hides a module that something else imports
    importlib.invalidate_caches()
    try:
        module = importlib.import_module(dotted)
    except (Exception, SystemExit) as error:
        if isinstance(error, ModuleNotFoundError) and error.name and f"{dotted}.".startswith(f"{error.name}."):
            looked = f"in {folder} or " if folder else ""
            raise BoostrunError(f"there is no module '{dotted}' {looked}on the Python path") from None
        raise BoostrunError(f"the module '{dotted}' cannot be imported: {describe_error(error)}") from error
    theirs = Path(folder or ".").joinpath(*dotted.split(".")).with_suffix(".py")
    source = getattr(module, "__file__", None)
    if folder and theirs.is_file() and not (source and theirs.samefile(source)):
        raise BoostrunError(f"{theirs} is hidden by {source or f'the module {dotted}'}: give the file another name")
    return module


_CLASS = "algo.class"
_registered: dict[tuple[str, str], Any] = {}  # (group, name) -> class or function
_taken: dict[str, tuple[str, ...]] = {}  # module:Class -> keys that only its **keywords take
_streams: set[str] = set()  # module:function


def take_named(overrides: Sequence[Any], config_dir: str | None = None) -> Sequence[Any]:
    """Put the user's own choices that overrides name into the catalogue, and return the overrides.

    In those returned, each class replaces the method that takes one.

    Raises BoostrunError for a class or function that is missing, or of the wrong kind.

    >>> found = take_named(parse(["algo=geem,estimator", "algo.class=sklearn.svm:SVC", "r=50"]))
    >>> [override.input_line for override in found]
    ['algo=geem,sklearn.svm:SVC', 'r=50']
    """
    by_key = {override.key_or_group: override for override in overrides}
    names = {group: _values(by_key[group]) if group in by_key else [] for group in ENTRY_POINTS}
    folder = os.path.realpath(config_dir or ".")
    for name in names["dataset"]:
        if ":" in name and name not in _streams:
            allow(name, folder)
            take_stream(name)
    for group, chosen in names.items():
        for name in chosen:
            if not catalogue.is_declared(group, name):
                _take_own(group, name, config_dir)
    known = catalogue.methods()
    takers = [name for name in names["algo"] if name in known and known[name].takes_class]
    typed = [name for name in names["algo"] if ":" in name]
    if not takers and not typed:
        return overrides
    classes = _values(by_key[_CLASS]) if takers and _CLASS in by_key else []
    if takers and not classes:
        raise BoostrunError(f"algo={takers[0]} needs a class: {_CLASS}=module:Class, as in {_CLASS}=sklearn.svm:SVC")
    given = [key.removeprefix("algo.") for key in by_key if key.startswith("algo.") and key != _CLASS]
    for where in [*classes, *typed]:
        allow(where, folder)
        take(where, given)
    if not takers:
        return overrides
    found = [each for name in names["algo"] for each in (classes if name in takers else [name])]
    (algo,) = parse([f"algo={','.join(found)}"])
    return [algo if each is by_key["algo"] else each for each in overrides if each is not by_key[_CLASS]]


def _take_own(group: str, name: str, config_dir: str | None) -> None:
    """Put a choice into the catalogue if a YAML file of a user's own folder, or an entry point, names its class."""
    path = catalogue.option(group, name, config_dir) if config_dir is not None else None
    if path is not None:
        where, folder = _class_in(path), os.path.realpath(config_dir or ".")
        if where is not None:  # else values for a choice of boostrun's own
            allow(where, folder)
            register(group, name, where)
    elif point := catalogue.installed(group).get(name):
        allow(point.value)
        register(group, name, point.value)


def _values(override: Any) -> list[str]:
    return listed(override) if override.is_sweep_override() else [str(override.value())]


def take(where: str, given: Collection[str]) -> None:
    """Add an allowed class to the catalogue as the method that takes it; ``given`` are keys for its ``**keywords``."""
    cls = obtain(where)
    base = _taker_of(cls)
    more = tuple(name for name in given if name not in {field.name for field in dataclasses.fields(base.keys)})
    own = budget_of(cls, where, base.class_like)
    budget = {symbol: f"{base.takes_class}.{name}" for symbol, name in own.items()}
    part = Part(where, of_class(cls, where, more, base.class_like))
    summary = f"{where}, named on the command line"
    catalogue.add(
        "algo", where,
        dataclasses.replace(base, parts={base.takes_class: part}, budget=budget, summary=summary, takes_class=""),
    )  # fmt: skip
    _taken[where] = more


def take_stream(where: str) -> None:
    """Add an allowed function to the catalogue as a stream."""
    catalogue.add("dataset", where, of_stream(obtain(where), where))
    _streams.add(where)


def _taker_of(cls: Any) -> Method:
    """The method that takes such a class: the first whose required methods it has, else the first."""
    takers = [method for method in catalogue.methods().values() if method.takes_class]
    able = (one for one in takers if all(callable(getattr(cls, name, None)) for name in one.class_like))
    return next(able, takers[0])


def is_typed(values: Mapping[str, Any]) -> bool:
    """Whether the values of a cell's algo or data set belong to a class or function named on the command line."""
    return values.get("name") in _taken or values.get("name") in _streams


class OwnChoice(NamedTuple):
    """A user's choice as it is passed to a worker: a group and name, a paper (``group`` is paper), or a class or stream
    from the command line with its ``keywords``.
    """

    group: str
    name: str
    where: str
    folder: str
    keywords: tuple[str, ...] = ()


def register(group: str, name: str, where: str) -> None:
    """Declare an allowed class or function, and add it to the catalogue."""
    thing = obtain(where)
    if _registered.get((group, name)) is not thing or catalogue.own_class(group, name) != where:
        catalogue.add(group, name, declared(group, thing, where), where)
        _registered[group, name] = thing


def try_out(algo: Mapping[str, Any], budget: Mapping[str, int]) -> None:
    """Make a user's method once, so that a value its constructor refuses is reported before any trial.

    Raises BoostrunError with the constructor's message and its line.
    """
    name = str(algo["name"])
    if where := name if is_typed(algo) else algo.get("class"):
        try:
            call(where, catalogue.method(algo).make, algo, budget, {"random_state": 0})
        except BoostrunError as error:
            raise BoostrunError(f"algo '{name}': {error}") from error


def registered(chosen: Iterable[tuple[str, Mapping[str, Any]]]) -> tuple[OwnChoice, ...]:
    """The registered choices among these (group, value), and the user's papers, to be passed to a worker."""
    found = dict[OwnChoice, None]()
    for group, values in chosen:
        name = values["name"]
        if "class" in values:
            found[OwnChoice(group, name, values["class"], _allowed[values["class"]])] = None
        elif group == "algo" and is_typed(values):
            found[OwnChoice("class", name, name, _allowed[name], _taken[name])] = None
        elif group == "dataset" and is_typed(values):
            found[OwnChoice("stream", name, name, _allowed[name])] = None
    return (*(OwnChoice("paper", *paper) for paper in catalogue.own_papers()), *found)


def everything() -> tuple[OwnChoice, ...]:
    """Everything the user has registered in this process, for :func:`admit` in another."""
    classes = ((group, name, catalogue.own_class(group, name)) for group, name in _registered)
    found = (OwnChoice(group, name, where, _allowed[where]) for group, name, where in classes)
    return (*(OwnChoice("paper", *paper) for paper in catalogue.own_papers()), *found)


def admit(own: Iterable[OwnChoice]) -> None:
    """In a worker: register and allow everything the command has."""
    for group, name, where, folder, keywords in own:
        if group == "paper":
            catalogue.add_own_papers({name: where}, folder)
        elif group == "class":
            if _taken.get(name) != keywords:
                allow(where, folder)
                take(where, keywords)
        elif group == "stream":
            if not is_typed({"name": name}):
                allow(where, folder)
                take_stream(where)
        elif catalogue.own_class(group, name) != where:
            allow(where, folder)
            register(group, name, where)


def forget() -> None:
    """Remove all registered choices."""
    _registered.clear()
    _taken.clear()
    _streams.clear()
    catalogue.forget()


def _class_in(path: Path) -> Any:
    content = catalogue.content_of(path)
    return content.get("class") if isinstance(content, dict) else None


# -- declarations made from signatures ---------------------------------------------------------------------------------


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
