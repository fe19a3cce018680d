"""Fields of a configuration, dataclass fields with a default, allowed values and a help text; and checked settings.

A class of keys is a dataclass of such fields. An estimator inherits from it, so its constructor, the command's keys,
the checks of both and the reference page all follow from one line:

>>> @keys
... class BoostingKeys(Keys):
...     shrinkage: float = real(0.5, above=0.0, most=1.0, help="factor of every step")
>>> class Boosting(BoostingKeys):
...     '''Boosts.
...
...     Parameters
...     ----------
...     {parameters}
...     '''
>>> Boosting().shrinkage
0.5
>>> print(Boosting.__doc__.split("---")[-1].strip("- \\n"))
shrinkage : a number above 0 and of at most 1, default 0.5
        factor of every step

Below are the keys at the top of the configuration and those of ``run``, search ranges, and checked settings. A method
declares in ``search`` which of its keys and budgets ``boostrun tune`` may search: a mapping from the key, or the symbol
of the budget, to a range or a few choices.

>>> search = {
...     "shrinkage": Range(0.02, 1.0, log=True),
...     "T": Range(50, 400, log=True),                    # whole numbers, as both ends are
...     "learner": Choices("stump", "tree"),
...     "depth": Range(2, 8, when={"learner": "tree"}),   # searched only if it has an effect
... }
>>> search["T"].whole, search["shrinkage"].whole
(True, False)
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
import numbers
import operator
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from boostrun.errors import BoostrunError, UnknownParameterError, did_you_mean

MISSING = "???"  # OmegaConf's mark for a value that must be given


@dataclass(frozen=True)
class Kind:
    """How a value is read.

    Parameters
    ----------
    read : function that returns the plain value, or None for a value that is not allowed
    allowed : the values it accepts, in words
    help : the meaning of the key
    absent : for a key that was added after records had been published, the value that these were made with. A cell
        leaves the key out at this value, so that the records are found.
    follows : the parameter whose value is taken if this one is None
    optional : None is allowed even if it is not the default
    hints : advice for some words that are not allowed
    """

    read: Callable[[Any], Any]
    allowed: str
    choices: tuple[str, ...] = ()
    help: str = ""
    absent: Any = MISSING
    follows: str = ""
    optional: bool = False
    hints: Mapping[str, str] = dataclasses.field(default_factory=dict, hash=False)

    def hint(self, word: Any) -> str:
        """A clause for an error: the word to type in place of one that is not allowed; may be empty."""
        if isinstance(word, str) and word in self.hints:
            return f"; {self.hints[word]}"
        return did_you_mean(word, self.choices) if self.choices else ""


if TYPE_CHECKING:
    from dataclasses import dataclass as keys
else:

    def keys(cls: type | None = None, **more: Any) -> Any:
        """Decorator of a class of keys: estimators inherit its constructor and keep their own ``repr``."""
        if cls is None:
            return functools.partial(keys, **more)
        made = dataclass(eq=False, repr=False, **more)(cls)
        own, names = made.__init__, [field.name for field in dataclasses.fields(made) if field.init]

        @functools.wraps(own)
        def __init__(self, *given, **named):
            for name, value in named.items():
                if name not in names:
                    raise UnknownParameterError(type(self).__name__, name, value, names, _owners(name))
            own(self, *given, **named)

        made.__init__ = __init__
        return made


class Keys:
    """Base of classes of keys; ``{parameters}`` in the docstring of a subclass becomes the list of its fields."""

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        if cls.__doc__ and "{parameters}" in cls.__doc__ and dataclasses.is_dataclass(cls):
            cls.__doc__ = cls.__doc__.replace("{parameters}", described(cls))


def _owners(parameter: str) -> list[str]:
    """The classes of methods that have a parameter."""
    from boostrun.config import catalogue

    with_it = (method for method in catalogue.methods().values() if parameter in method.fields)
    return sorted({method.target.partition(":")[2] for method in with_it})


def described(cls: type, indent: str = "    ") -> str:
    """The fields of a class of keys as a numpydoc list of parameters."""
    lines: list[str] = []
    for name, (kind, default) in _parameters(cls).items():
        lines.append(f"{indent if lines else ''}{name} : {kind.allowed.rstrip(',')}, default {default!r}")
        lines += [f"{indent}    {kind.help}"] if kind.help else []
    return "\n".join(lines)


def kind_of(field: dataclasses.Field) -> Kind:
    """The kind of a field made by a function of this module."""
    return field.metadata["kind"]


def fields_of(cls: type) -> dict[str, dataclasses.Field]:
    """The fields of a class that are keys, by name, in order."""
    return {field.name: field for field in dataclasses.fields(cls) if "kind" in field.metadata}


def _parameters(cls: type) -> dict[str, tuple[Kind, Any]]:
    """The kinds and defaults of the keys of a class, by name."""
    return {name: (kind_of(field), field.default) for name, field in fields_of(cls).items()}


def renamed(field: dataclasses.Field, **changes: Any) -> Any:
    """A copy of a field for another class of keys, with changes of ``default`` or of attributes of its Kind."""
    default = changes.pop("default", field.default)
    return dataclasses.field(default=default, metadata={"kind": dataclasses.replace(kind_of(field), **changes)})


def _field(default: Any, kind: Kind, more: Mapping[str, Any]) -> Any:
    return dataclasses.field(default=default, metadata={"kind": dataclasses.replace(kind, **more)})


def _is_number(value: Any) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def _is_count(value: Any, least: int) -> bool:
    return isinstance(value, numbers.Integral) and not isinstance(value, bool) and int(value) >= least


def integer(default: Any, least: int = 1, most: int | None = None, **more: Any) -> Any:
    """A whole number in a range; 1e3 counts as 1000."""

    def read(value):
        if not _is_number(value) or value != value // 1 or value < least or (most is not None and value > most):
            return None
        return int(value)

    text = f"a whole number of at least {least}" if most is None else f"a whole number from {least} to {most}"
    return _field(default, Kind(read, text), more)


def real(
    default: Any,
    above: float | None = None,
    least: float | None = None,
    most: float | None = None,
    below: float | None = None,
    infinite: bool = False,
    **more: Any,
) -> Any:
    """A number in a range, finite unless ``infinite``: a parameter of the library may be infinite, but no cell's."""

    def read(value):
        if not _is_number(value):
            return None
        value = float(value)
        fits = (
            (above is None or value > above)
            and (least is None or value >= least)
            and (most is None or value <= most)
            and (below is None or value < below)
        )
        return value if fits and (infinite or math.isfinite(value)) else None

    limits = {"above": above, "of at least": least, "of at most": most, "below": below}
    bounds = " and ".join(f"{words} {bound:g}" for words, bound in limits.items() if bound is not None)
    return _field(default, Kind(read, f"a number {bounds}".rstrip()), more)


def choice(default: Any, *allowed: str, **more: Any) -> Any:
    """One of some words."""
    words = (default, *allowed) if default is not None else allowed
    read = lambda value: value if isinstance(value, str) and value in words else None  # noqa: E731
    return _field(default, Kind(read, f"one of {', '.join(words)}", words), more)


def choice_or_some(default: str, *allowed: str, some: tuple[str, ...], **more: Any) -> Any:
    """One of some words, or a list of words of ``some``, in their order there, each once."""
    words = (default, *allowed)

    def read(value):
        return value if isinstance(value, str) and value in words else _some(value, some)

    what = f"one of {', '.join(words)}, or a list of some of {', '.join(some)},"
    return _field(default, Kind(read, what, (*words, *some)), more)


def boolean(default: bool | None, **more: Any) -> Any:
    """true or false; a default of None may stay null."""
    words = "true or false" if default is not None else "true, false or null"
    return _field(default, Kind(lambda value: value if isinstance(value, bool) else None, words), more)


def text(default: Any, **more: Any) -> Any:
    """Any text; a default of None may stay null."""

    def read(value):
        return str(value) if isinstance(value, (str, int)) and not isinstance(value, bool) and value != "" else None

    return _field(default, Kind(read, "a text"), more)


def some_of(*allowed: str, **more: Any) -> Any:
    """A list of some words, in their order here, each once; null for all of them. One word alone is a list of it."""
    what = f"null or a list of some of {', '.join(allowed)}"
    return _field(None, Kind(lambda value: _some(value, allowed), what, allowed), more)


def _some(value: Any, allowed: Sequence[str]) -> list[str] | None:
    """The words of a list, or one word, in the order of ``allowed``; None if there are others, or none."""
    given = [value] if isinstance(value, str) else value
    if not isinstance(given, list) or not given or not all(word in allowed for word in given):
        return None
    return [word for word in allowed if word in given]


def rising(**more: Any) -> Any:
    """A list of whole numbers, each above the one before; null for none. One number alone is a list of it."""

    def read(value):
        value = value if isinstance(value, list) else [value]
        whole = all(_is_number(each) and each % 1 == 0 for each in value)
        rises = whole and value and value[0] >= 1 and all(a < b for a, b in itertools.pairwise(value))
        return [int(each) for each in value] if rises else None

    return _field(None, Kind(read, "null or a list of rising whole numbers of at least 1"), more)


def names(**more: Any) -> Any:
    """A list of names; null for none. One name alone is a list of it."""

    def read(value):
        value = value if isinstance(value, list) else [value]
        good = all(isinstance(each, (str, int, float)) and not isinstance(each, bool) for each in value)
        return [str(each) for each in value] if value and good else None

    return _field(None, Kind(read, "null or a list of names", optional=True), more)


def kinds_of_columns(**more: Any) -> Any:
    """A mapping from columns to what they are; null for none."""
    kinds = ("number", "category", "date", "date_dmy", "date_mdy", "drop")

    def read(value):
        good = isinstance(value, Mapping) and value and all(kind in kinds for kind in value.values())
        return {str(name): str(kind) for name, kind in value.items()} if good else None

    return _field(None, Kind(read, f"null or {{COLUMN: KIND, ...}} with KIND one of {', '.join(kinds)}"), more)


def dimensions(default: str, **more: Any) -> Any:
    """auto, all, or a number of dimensions."""

    def read(value):
        if isinstance(value, str):
            return value if value in ("auto", "all") else None
        return int(value) if _is_count(value, 1) else None

    return _field(default, Kind(read, "auto, all, or a whole number of at least 1"), more)


def name_or_place(default: str | int, **more: Any) -> Any:
    """A name, or a position counted from 0."""

    def read(value):
        if isinstance(value, str):
            return value or None
        return int(value) if _is_count(value, 0) else None

    return _field(default, Kind(read, "a name or a whole number of at least 0"), more)


def or_tuned(field: Any) -> Any:
    """The values of ``field``, or the word ``tuned`` for the value that ``boostrun tune`` has chosen."""
    kind = kind_of(field)

    def read(value):
        return value if isinstance(value, str) and value == "tuned" else kind.read(value)

    return renamed(field, read=read, allowed=f"{kind.allowed}, or tuned,", choices=("tuned",))


def workers(default: int) -> Any:
    """A number of workers, or -1 for all cores."""

    def read(value):
        return value if isinstance(value, int) and (_is_count(value, 1) or value == -1) else None

    return _field(default, Kind(read, "a whole number of at least 1, or -1 for all cores,"), {})


def class_weights(**more: Any) -> Any:
    """Weights of classes: none, ``balanced``, or, in Python, a dict of class -> weight."""

    def read(value):
        return value if isinstance(value, Mapping) or (isinstance(value, str) and value == "balanced") else None

    return _field(None, Kind(read, "null, balanced, or (in Python) a dict of weights by class", ("balanced",)), more)


def component(default: Any, room: str, needs: str, **more: Any) -> Any:
    """A part of a method: an object with the method ``needs``, or a name in the catalogue's ``room`` (strategies,
    policies, weak_learners). A command line can only name it.
    """

    def read(value):
        if isinstance(value, str):
            return value or None
        return value if not isinstance(value, type) and callable(getattr(value, needs, None)) else None

    what = f"a name (boostrun ls {room}) or an object with {needs}()"
    return dataclasses.field(
        default=default, metadata={"kind": dataclasses.replace(Kind(read, what), **more), "room": room}
    )


def whole_number(value: Any, what: str) -> int:
    """``value`` as a plain int of at least 0; BoostrunError otherwise.

    >>> whole_number(-1, "seed")
    Traceback (most recent call last):
    boostrun.errors.BoostrunError: seed must be an integer of at least 0, not -1
    """
    try:
        number = -1 if isinstance(value, bool) else operator.index(value)
    except TypeError:
        number = -1
    if number < 0:
        raise BoostrunError(f"{what} must be an integer of at least 0, not {value!r}")
    return number


def plain_number(value: Any) -> Any:
    """A NumPy scalar as a Python number; any other value unchanged."""
    return value.item() if type(value).__module__ == "numpy" and getattr(value, "ndim", 1) == 0 else value


def _read_seed(value: Any) -> Any:
    named = getattr(value, "__name__", type(value).__name__) in ("RandomState", "numpy.random")
    return value if named or (isinstance(value, numbers.Integral) and type(value) is not bool and value >= 0) else None  # type: ignore[operator]


_COMMON = {  # parameters that a run sets itself, which are no keys: name -> (kind, default)
    "max_bins": (kind_of(integer(256, 2, 256)), 256),
    "random_state": (Kind(_read_seed, "a whole number of at least 0, a RandomState of NumPy or None"), None),
    "warm_start": (Kind(lambda value: value if value in (0, 1) else None, "true or false"), False),
    "n_jobs": (kind_of(workers(1)), None),
}


def check(estimator: Any) -> None:
    """Check the parameters of an estimator whose class inherits its keys.

    ``fit`` calls this, because scikit-learn asks that constructors check nothing. A whole number that is a float
    becomes an int. Raises BoostrunError with one sentence that names the parameter.

    >>> @keys
    ... class Rounds(Keys):
    ...     rounds: int = integer(10)
    >>> check(Rounds(rounds=0))
    Traceback (most recent call last):
    boostrun.errors.BoostrunError: rounds=0: a whole number of at least 1 is needed
    """
    _check_as(estimator, _parameters(type(estimator)))


def check_common(estimator: Any) -> None:
    """Check the parameters of an estimator that are no keys, as a run sets them itself, like :func:`check`."""
    _check_as(estimator, {name: known for name, known in _COMMON.items() if name in vars(estimator)})


def _check_as(estimator: Any, known: Mapping[str, tuple[Kind, Any]]) -> None:
    for name, (kind, default) in known.items():
        value = plain_number(getattr(estimator, name))
        if value is None and (default is None or kind.optional):
            continue
        read = kind.read(value)
        if type(read) is int and type(value) is float:
            setattr(estimator, name, read)  # 8.0 is 8: loops need whole numbers
        if read is None or (type(read) is int and read >= 2**63 and name != "random_state"):
            hint = kind.hint(value) if isinstance(value, str) else ""
            raise BoostrunError(f"{name}={value!r}: {kind.allowed} is needed{hint}")


# -- settings ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Range:
    """Numbers from ``low`` to ``high``, both included; whole numbers if both ends are.

    Parameters
    ----------
    low, high : int or float, low < high; above 0 if ``log``.
    log : search on a logarithmic scale.
    when : key -> the value at which this one has an effect; it is searched only then. The other key must come before it
        in the mapping, or not be searched.

    Raises ValueError for ends that make no range: the declaration is wrong.
    """

    low: float
    high: float
    log: bool = False
    when: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.low < self.high or (self.log and self.low <= 0):
            raise ValueError(f"from {self.low} to {self.high} is no range{' of a logarithm' * self.log}")

    @property
    def whole(self) -> bool:
        """Whether only whole numbers are searched."""
        return isinstance(self.low, int) and isinstance(self.high, int)

    def under(self, when: Mapping[str, Any]) -> Range:
        """The same range with other conditions."""
        return Range(self.low, self.high, self.log, when)

    def __str__(self) -> str:
        """The range as it is typed on a command line: ``tag(log,interval(0.02,1.0))``."""
        interval = f"interval({self.low},{self.high})"
        return f"tag(log,{interval})" if self.log else interval


class Choices:
    """A few plain values without an order: texts, numbers, true, false, None.

    >>> print(Choices("stump", "tree"))
    choice(stump,tree)
    """

    def __init__(self, *values: Any, when: Mapping[str, Any] | None = None) -> None:
        if not values:
            raise ValueError("one value at least is needed")
        self.values, self.when = values, when or {}

    def under(self, when: Mapping[str, Any]) -> Choices:
        """The same choices with other conditions."""
        return Choices(*self.values, when=when)

    def __repr__(self) -> str:
        return f"Choices{self.values!r}"

    def __str__(self) -> str:
        words = {None: "null", True: "true", False: "false"}
        return f"choice({','.join(words[v] if v is None or isinstance(v, bool) else str(v) for v in self.values)})"


BUDGET_KEYS = ("r", "q", "T", "Q", "S", "M", "n", "p", "b")
"""The papers' symbols, in the order of a label."""
GROUPS = ("algo", "dataset", "features", "run")
"""Keys whose value is a choice with keys of its own."""
PLACES = ("store", "results", "data_root", "cache_root")
"""Top-level keys with the folders of data, records and results."""
METRIC_NAMES = ("accuracy", "balanced_accuracy", "macro_f1", "log_loss", "roc_auc", "average_precision")
"""Metrics that can be computed from the predictions of a trial, see :mod:`boostrun.report.entry`."""


@dataclass
class Run:
    """How trials are run.

    Nothing here changes a result, except ``memory_limit`` for dataset=stream: it decides how far the samples are
    shuffled, so it is part of the cells of that data set.
    """

    name: str = "local"
    backend: str = choice("loky", "sequential", "dask", "ray", "slurm", help="what runs the trials")
    scheduler: str | None = text(None, help="address of a Dask scheduler or a Ray cluster")
    batch: int | None = integer(None, help="trials that a worker of a cluster takes at once")
    partition: str | None = text(None, help="partition of a SLURM job")
    account: str | None = text(None, help="account of a SLURM job")
    minutes: int = integer(60, help="time limit of a SLURM job")
    job_memory_mb: int = integer(4096, least=256, help="memory of a SLURM job, in MiB")
    memory_mb: int | None = integer(
        None, least=64,
        help="MiB of a block of work while a bank is built (null: 1024); of dataset=stream, all that a trial may take",
    )  # fmt: skip
    memory_limit: int = integer(512, least=16, help="MiB of the shuffle buffers of dataset=stream")
    apart: bool = boolean(False, help="a process for each trial, so that its record has the memory it took, in MiB")
    predictions: bool = boolean(False, help="keep predictions and probabilities of test samples, and measure them")
    metrics: str | Sequence[str] = choice_or_some(
        "own", "all", "none", some=METRIC_NAMES,
        help="balanced accuracy, macro F1, log loss, ROC AUC, average precision: of your own data, of all data, or not "
        "measured; a list of names: these alone, of all data",
    )  # fmt: skip
    pictures: bool = boolean(True, help="draw curves and dots beside the table of a run, where a record has changed")
    tracker: str = choice("none", "mlflow", help="where else the trials are logged")


@dataclass
class Tune:
    """How ``boostrun tune`` searches."""

    trials: int = integer(30, most=100_000, help="combinations of values to try, the same number for every method")
    seeds: int = integer(1, most=1000, help="runs of each combination, each with its own seed; their mean error counts")


@dataclass
class Root:
    """The keys at the top. Budgets are null unless set; each algorithm declares those it takes."""

    r: int | None = integer(None, help="samples kept in the reservoir")
    q: int | None = integer(None, help="fresh samples a round")
    T: int | None = integer(None, help="weak learners")
    Q: int | None = integer(None, help="features looked at")
    S: int | None = integer(None, help="samples looked at")
    M: int | None = integer(None, help="base classifiers kept")
    n: int | None = integer(None, help="length of the window")
    p: int | None = integer(None, help="examples from one new base classifier to the next")
    b: int | None = integer(None, help="coefficient updates an example")
    holdout: float | None = real(
        None, above=0.0, most=0.9, help="test on this share of the training data instead of the test data"
    )
    train_samples: int | None = integer(None, least=2, help="train on this many training samples, always the same")
    tuned: bool = boolean(False, help="use the values that boostrun tune has found for these settings")
    trials: int = integer(10, most=100_000, help="trials of a cell, each with its own seed")
    seed: int = integer(0, least=0, help="seed of the first trial; the others follow")
    name: str | None = text(None, help="name of the table that the command writes; null: made of the cells")
    n_jobs: int = renamed(workers(-1), help="trials at once; -1: one for each core")
    store: str = text("results/runs", help="folder of the records")
    results: str = text("results", help="folder of the published tables and their records")
    data_root: str | None = text(None, help="folder of the data sets; null: $BOOSTRUN_DATA, else datasets")
    cache_root: str | None = text(None, help="folder of the feature banks; null: under the data root")


def data_root(root: Mapping[str, Any]) -> Path:
    """The folder of the data sets: the key ``data_root``, $BOOSTRUN_DATA, or ``datasets``."""
    return Path(root["data_root"] or os.environ.get("BOOSTRUN_DATA") or "datasets")


@dataclass(frozen=True)
class Settings:
    """One configuration, composed and checked; all values are plain.

    ``algo``, ``dataset``, ``features`` and ``budget`` decide what is computed; ``run`` and ``root`` only where and how
    often (but see ``cell_of`` of :mod:`boostrun.runner.plan`). ``requested`` is the number of trials that the words
    set, 1 if they set none; ``splits`` says whether each trial splits the samples in a new way, the same for every
    method.
    """

    algo: Mapping[str, Any]
    dataset: Mapping[str, Any]
    features: Mapping[str, Any]
    budget: Mapping[str, int]
    run: Mapping[str, Any]
    root: Mapping[str, Any]
    requested: int = 1
    splits: bool = False

    @property
    def seeds(self) -> range:
        """The seeds of the trials."""
        return range(self.root["seed"], self.root["seed"] + self.root["trials"])
