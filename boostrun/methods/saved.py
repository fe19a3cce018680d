"""Saved models: the one place that writes what a loaded model needs beside its arrays, and the one that reads it.

A file holds the fitted arrays, the classes in their type, the number and names of the features, the parameters, and how
raw samples become what the model takes (:mod:`boostrun.methods.preparation`). It never holds a pickle. A parameter that
is neither a plain value nor an object of ours made of plain values is left out with a warning that names it.

Parameters as JSON and back: plain values, and our own objects that are made of plain values.
"""

from __future__ import annotations

import importlib
import inspect
import json
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from boostrun.config.fields import Keys, fields_of
from boostrun.config.fields import kind_of as kind_of_field
from boostrun.errors import BoostrunError
from boostrun.methods.archive import kind_of
from boostrun.methods.declaration import obtain
from boostrun.methods.preparation import PREFIX, Preparation
from boostrun.methods.probabilities import Importances, Probabilities
from boostrun.methods.scikit_learn import BaseEstimator, check_is_fitted, validate_data

_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
_PLAIN = (bool, int, float, str, type(None))


class NotPlain(ValueError):
    """A value that a file does not keep."""


def arguments_of(thing) -> dict[str, Any]:
    """Constructor arguments, its own and its bases', of an object that keeps them under their names."""
    made = [vars(cls)["__init__"] for cls in type(thing).__mro__ if "__init__" in vars(cls) and cls is not object]
    names = {name for init in made for name, it in inspect.signature(init).parameters.items() if it.kind in _NAMED}
    return {name: vars(thing)[name] for name in sorted(names & vars(thing).keys())}


def encode(name: str, value) -> Any:
    """The value of a parameter as JSON has it; raises NotPlain.

    >>> encode("groups", [(0, 1), np.float64(0.5)])
    [{'tuple': [0, 1]}, 0.5]
    """
    if type(value) in _PLAIN:
        return value
    if isinstance(value, (np.bool_, np.integer, np.floating)):
        return value.item()
    if type(value) is list:
        return [encode(name, each) for each in value]
    if type(value) is tuple:
        return {"tuple": [encode(name, each) for each in value]}
    if type(value) is dict:
        return {"dict": [[encode(name, key), encode(name, each)] for key, each in value.items()]}
    if type(value) is np.ndarray and value.dtype.kind in "biuf":
        return {"array": value.tolist(), "dtype": value.dtype.str}
    if isinstance(value, Path):
        return {"path": str(value)}
    word = _word(type(value))
    if _class(name, word) is type(value):
        keys = arguments_of(value)
        return {"object": word, "keys": {key: encode(key, each) for key, each in keys.items()}}
    raise NotPlain(f"{name} is a {type(value).__name__}")


def decode(name: str, value) -> Any:
    """What :func:`encode` was given. Makes plain values and objects of our own; raises ValueError for anything else."""
    if isinstance(value, list):
        return [decode(name, each) for each in value]
    if not isinstance(value, Mapping):
        return value
    match value:
        case {"tuple": each}:
            return tuple(decode(name, one) for one in each)
        case {"dict": pairs}:
            return {decode(name, key): decode(name, each) for key, each in pairs}
        case {"array": numbers, "dtype": kind}:
            return np.array(numbers, dtype=np.dtype(kind))
        case {"path": text}:
            return Path(text)
        case {"object": cls, "keys": keys} if (found := _class(name, cls)) is not None:
            return found(**{key: decode(key, each) for key, each in keys.items()})
    raise ValueError(f"{name}={value!r} is no parameter")


def _word(cls: type) -> str:
    """What a file calls a class: its name, unless its module's ``SAVED_AS`` (word -> class) has another word."""
    others = getattr(importlib.import_module(cls.__module__), "SAVED_AS", {})
    return next((word for word, one in others.items() if one is cls), cls.__name__)


def _class(name: str, word: str) -> type | None:
    """The class that a file calls so, among the objects that the parameter may be."""
    from boostrun.config import catalogue

    module = catalogue.parts("objects").get(name)
    if module is None:
        return None
    place = importlib.import_module(module)
    found = getattr(place, "SAVED_AS", {}).get(word) or getattr(place, word, None)
    return found if isinstance(found, type) and found.__module__.startswith(module) else None


_MOST = 2**63
_LABELS = (bool, int, float, str)


@dataclass
class ModelFacts:
    """What stands beside the arrays of a model.

    Attributes
    ----------
    classes : (n_classes,) array, in the type of the labels.
    n_features : int, columns that the model itself takes.
    feature_names : list of str, empty where they have none.
    parameters : dict by name; None in files that an older version wrote.
    left : list of str, parameters that were not kept.
    written_by : list of str, the class that wrote the file, and the engines that it is made of.
    inputs : dict of arrays by name for :class:`boostrun.methods.preparation.Preparation`; empty where samples are taken
    as
        they are given.
    """

    classes: np.ndarray
    n_features: int
    feature_names: list[str]
    parameters: dict[str, Any] | None
    left: list[str]
    written_by: list[str]
    inputs: dict[str, np.ndarray]


def write(
    path: str | Path, held, model, *, classes, n_features: int, feature_names: Sequence[str] = (),
    inputs: Mapping[str, np.ndarray] | None = None, without: Sequence[str] = (),
) -> Path:  # fmt: skip
    """Write ``held``, the fitted arrays of ``model``, and the facts about it, but the parameters ``without``.

    Raises BoostrunError where it cannot be written, or for labels that are no plain values.
    """
    facts: dict[str, Any] = {"written_by": _names(type(model)), "parameters": {}, "left": []}
    for name, value in model.get_params(deep=False).items():
        if name in without:
            continue
        try:
            facts["parameters"][name] = encode(name, value)
        except NotPlain as said:
            facts["left"].append(name)
            warnings.warn(f"{said}, which a saved model does not keep: {_LEFT.format(name=name)}", stacklevel=4)
    classes = np.asarray(classes)
    if classes.dtype == object:  # Python's own values, in the order of the classes
        labels = classes.tolist()
        if not all(type(label) in _LABELS for label in labels):
            odd = next(label for label in labels if type(label) not in _LABELS)
            raise BoostrunError(f"the label {odd!r} is a {type(odd).__name__}: text, numbers and bools can be saved")
        facts["labels"], classes = labels, classes.astype(str)
    extra = {"classes": classes, "n_features_in": np.array(n_features), "facts": np.array(json.dumps(facts))}
    if len(feature_names):
        extra["column_names"] = np.array([str(name) for name in feature_names])
    return held.save(path, **extra, **(inputs or {}))


_LEFT = "a loaded one predicts as it did, with the default of {name} for the next fit"


def facts_of(extra: dict[str, np.ndarray], path: str | Path) -> ModelFacts:
    """The facts among the arrays that stand beside a model.

    Raises BoostrunError with one sentence where they are not there, or not what they should be.
    """
    for needed in ("classes", "n_features_in"):
        if needed not in extra:
            raise BoostrunError(f"{path} holds a model but no {needed}: save it by a classifier's save")
    try:
        known = json.loads(str(extra["facts"])) if "facts" in extra else {}
        parameters = known.get("parameters")
        if parameters is not None:
            parameters = {name: decode(name, value) for name, value in parameters.items()}
            for name, value in parameters.items():
                if type(value) is int and abs(value) >= _MOST and name != "random_state":
                    raise ValueError(f"{name} is beyond 64 bits")
        classes = extra["classes"]
        if "labels" in known:
            labels = known["labels"]
            if len(labels) != len(classes) or not all(type(label) in _LABELS for label in labels):
                raise ValueError(f"{len(labels)} labels, and {len(classes)} classes")
            classes = np.empty(len(labels), dtype=object)
            classes[:] = labels
        if len(set(classes.tolist())) != len(classes):
            raise ValueError("two of its classes are the same")
        return ModelFacts(
            classes, int(extra["n_features_in"]), extra.get("column_names", np.array([])).tolist(), parameters,
            list(known.get("left", ())), list(known.get("written_by", ())),
            {name.removeprefix(PREFIX): array for name, array in extra.items() if name.startswith(PREFIX)},
        )  # fmt: skip
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise BoostrunError(f"{path} is not a model saved by boostrun ({error})") from None


class Saveable(Probabilities, Importances):
    """Base of classifiers that are saved and loaded.

    A subclass has ``_model``, what it has learned, of one of the types ``_model_types`` (some may be named there, as
    "module:Class"), with ``save(path, **arrays)`` and ``load(path) -> (model, arrays)``, and ``_hold(model)``, which
    sets all attributes that follow from it. Its first parameter that counts rounds is ``_rounds``, for files of older
    versions, which hold no parameters.
    """

    _model: Any
    _model_types: tuple[type | str, ...] = ()
    _rounds: str
    classes_: np.ndarray
    n_features_in_: int

    def save(self, path: str | Path) -> Path:
        """Write what was learned, classes, parameters and names of features as npz, without pickle; see :meth:`load`.

        Returns the path, ``.npz`` added where it lacked. Warns of parameters that a file does not keep. Raises
        BoostrunError where the file cannot be written, or what was learned cannot be saved.
        """
        check_is_fitted(self)
        preparation = self._preparation()
        inputs = {} if preparation is None else {PREFIX + key: array for key, array in preparation.arrays.items()}
        return write(
            path, self._model, self, classes=self.classes_, feature_names=getattr(self, "feature_names_in_", ()),
            n_features=self.n_features_in_ if preparation is None else preparation.width, inputs=inputs,
        )  # fmt: skip

    @classmethod
    def load(cls, path: str | Path):
        """A classifier that predicts as the saved one did, and is fitted again as it was.

        Of a model that a run has trained, raw samples are what it takes. Raises BoostrunError with one sentence where
        there is no such file, or it holds the model of another class.
        """
        found = kind_of(path)
        given = kinds(cls).get(found)
        if given is None:
            raise BoostrunError(f"{path} holds {found}, which {cls.__name__} cannot load")
        model_type: Any = obtain(given) if isinstance(given, str) else given
        model, extra = model_type.load(path)
        facts = facts_of(extra, path)
        if facts.written_by and not set(facts.written_by) & set(_names(cls)):
            raise BoostrunError(f"{path} holds a model of {facts.written_by[0]}, which {cls.__name__} cannot load")
        try:
            return cls._loaded(facts, model)
        except (BoostrunError, ValueError, TypeError, KeyError, AttributeError, OverflowError, MemoryError) as error:
            raise BoostrunError(f"{path} is not a model saved by boostrun ({error})") from None

    @classmethod
    def _loaded(cls, facts: ModelFacts, model):
        loaded = cls._made(facts, model)
        loaded.classes_, loaded.n_features_in_ = facts.classes, facts.n_features
        if facts.feature_names:
            loaded.feature_names_in_ = np.array(facts.feature_names, dtype=object)
        loaded._hold(model)
        if facts.inputs:
            preparation = Preparation(facts.inputs, facts.n_features)
            loaded._prepared_for = (model, preparation)
            loaded.n_features_in_ = preparation.n_features
        return loaded

    @classmethod
    def _made(cls, facts: ModelFacts, model):
        """Unfitted, with the parameters of the file; those that it lacks get their defaults."""
        if facts.parameters is None:
            return cls(**{cls._rounds: max(1, model.n_rounds)})
        names = cls._get_param_names()  # type: ignore[attr-defined]
        odd = [f"{name}={value!r}" for name, value in facts.parameters.items() if name not in names]
        if odd:
            warnings.warn(f"{facts.written_by[0]} had {', '.join(odd)}, which {cls.__name__} has not", stacklevel=4)
        for name in facts.left:
            warnings.warn(f"{name} was not kept: {_LEFT.format(name=name)}", stacklevel=4)
        given = {name: value for name, value in facts.parameters.items() if name in names}
        for name, field in (fields_of(cls) if issubclass(cls, Keys) else {}).items():
            value = given.get(name)
            if type(value) is float and abs(value) >= _MOST and type(kind_of_field(field).read(value)) is int:
                raise BoostrunError(f"facts has {name} = {value!r}, which is no whole number of 64 bits")
        if "features" in names and "features" not in given:
            given["features"] = _FEATURES.get(model.kind, "raw")
        return cls(**given)

    def _preparation(self) -> Preparation | None:
        """What comes before the fitted model; None once it is fitted anew."""
        held, preparation = self.__dict__.get("_prepared_for", (None, None))
        return preparation if held is not None and held is self._model else None

    def _prepared(self, X, **checks) -> np.ndarray:
        """Samples as the fitted model takes them, checked as scikit-learn does by ``checks``."""
        check_is_fitted(self)
        preparation = self._preparation()
        if preparation is None:
            return validate_data(self, X, reset=False, **checks)
        X = preparation.flat(X)
        preparation.check_width(X)
        check = _validate_or_missing if takes_missing(preparation) else validate_data
        return preparation(check(self, X, reset=False, **checks))


def kinds(cls: type[Saveable]) -> dict[str, type | str]:
    """What files say that they hold -> the type of model that ``cls`` loads from them."""
    given = getattr(cls, "_model_types", ())
    named = ((each.partition(":")[2] if isinstance(each, str) else each.__name__, each) for each in given)
    return {f"boostrun.{name}/1": each for name, each in named}


def takes_missing(preparation: Preparation | None) -> bool:
    """Whether NaN is data to a model with this preparation."""
    return preparation is not None and preparation.missing is not None


def _validate_or_missing(estimator, X, **checks) -> np.ndarray:
    """As ``validate_data``, with NaN where a value is missing."""
    if type(X) is not np.ndarray or X.dtype.kind != "f":
        from sklearn.utils.validation import validate_data as with_options

        return with_options(estimator, X, ensure_all_finite="allow-nan", **checks)
    missing = np.isnan(X)
    if not missing.any():
        return validate_data(estimator, X, **checks)
    found = np.array(validate_data(estimator, np.where(missing, X.dtype.type(0), X), **checks))
    found[missing] = np.nan
    return found


# what candidates are called by a classifier, of models that a run has trained on a bank
_FEATURES = {"products": "products", "stumps": "stumps", "pieces": "piecewise"}


def _names(cls: type) -> list[str]:
    """Its own, and those of the classes that it is made from whose models it can load: not of its keys."""

    engines = [
        base.__name__
        for base in cls.__mro__[1:]
        if "__init__" in vars(base) and base is not object and not issubclass(base, (BaseEstimator, Keys))
    ]
    return [cls.__name__, *engines]
