"""What may be configured: one dataclass a choice of each group, with kinds, ranges and defaults.

``conf/`` holds the same names as YAML files with values; a value that does not fit becomes one sentence that says
what to type instead. This module imports the standard library only.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from .errors import BoostrunError, did_you_mean
from .kinds import Kind, choice, dimensions, flag, number, text, whole, workers

MISSING = "???"  # OmegaConf's mark for a value that must be given

# --- algorithms -------------------------------------------------------------------------------------------------


@dataclass
class Algorithm:
    """What every algorithm declares: ``paper``, and ``budget``: its short keys with their defaults.

    A default that is another key's name means "as much as that one".
    """

    name: str = MISSING
    paper: ClassVar[str] = ""
    budget: ClassVar[dict[str, int | str]] = {}


@dataclass
class Majority(Algorithm):
    """Chance level: always the most frequent class."""

    name: str = "majority"


@dataclass
class Reservoir(Algorithm):
    """Keys of every reservoir strategy (Lefakis & Fleuret 2013)."""

    loss: str = choice("logistic", "exponential")
    coefficient: str = choice("log_odds", "line_search", "newton")
    shrinkage: float = number(0.5, above=0.0, most=1.0)
    balanced: bool = flag(False)
    stump_search: str = choice("histogram", "exact")
    paper: ClassVar[str] = "reservoir"
    budget: ClassVar[dict[str, int | str]] = {"r": 250, "q": "r", "T": 250}


@dataclass
class Rand(Reservoir):
    """Keep r samples uniformly at random."""

    name: str = "rand"


@dataclass
class Max(Reservoir):
    """Keep the r largest weights."""

    name: str = "max"


@dataclass
class Window(Reservoir):
    """Keep the newest r samples."""

    name: str = "window"


@dataclass
class WSam(Reservoir):
    """Keep r samples drawn in proportion to their weights."""

    name: str = "wsam"
    stump_weights: str = choice("uniform", "w")


@dataclass
class Geem(Reservoir):
    """Greedy edge expectation maximisation."""

    name: str = "geem"
    ridge: float = number(0.1, least=0.0)
    covariance_dims: str | int = dimensions("auto")
    carry_mass: bool = flag(True)


@dataclass
class GeemLattice(Geem):
    """GEEM with its target chosen among random sign vectors."""

    name: str = "geem_lattice"
    lattice_size: int = whole(100)


# --- data sets --------------------------------------------------------------------------------------------------


@dataclass
class Dataset:
    """A data set with a split of its own."""

    name: str = MISSING


@dataclass
class SplitDataset(Dataset):
    """A data set that boostrun splits, the same way every time."""

    test_fraction: float = number(0.2, above=0.0, most=0.9)
    split_seed: int = whole(0, least=0)


@dataclass
class FileDataset(SplitDataset):
    """A person's own data in a file or folder."""

    path: str = text(MISSING)


@dataclass
class TableDataset(FileDataset):
    """A table with one row a sample."""

    test_path: str | None = text(None)
    label: str | None = text(None)


@dataclass
class ImageFolder(FileDataset):
    """Folders of images."""

    size: int = whole(32)


@dataclass
class Inria(Dataset):
    """The INRIA person set."""

    windows_per_image: int = whole(10)
    split_seed: int = whole(0, least=0)


@dataclass
class Caltech101(Dataset):
    """Caltech-101."""

    train_per_class: int = whole(15)
    test_per_class: int = whole(20)
    split_seed: int = whole(0, least=0)
    size: int = whole(64, least=8)


@dataclass
class OpenML(SplitDataset):
    """A data set of openml.org."""

    data_id: int | None = whole(None)
    data_name: str | None = text(None)
    version: int | None = whole(None)


# --- features and run -------------------------------------------------------------------------------------------


@dataclass
class Features:
    """Keys of every feature pipeline: its quantile bins, and how many training samples they are fitted on."""

    name: str = MISSING
    bins: int = whole(256, least=2, most=256)
    bin_samples: int = whole(10000, least=2)


@dataclass
class Hog(Features):
    """Histograms of oriented gradients."""

    orientations: int = whole(9)
    cell: int = whole(8, least=2)
    block: int = whole(2)


@dataclass
class CoatesNg(Features):
    """Patch dictionary with soft thresholds."""

    atoms: int = whole(1600)
    patches: int = whole(400000)
    patch: int = whole(6, least=2)
    iterations: int = whole(50)
    threshold: float = number(0.25, least=0.0)
    seed: int = whole(0, least=0)
    size: int = whole(32, least=4)


@dataclass
class Run:
    """How trials are run; nothing here changes a result."""

    name: str = "local"
    backend: str = choice("loky", "sequential")
    memory_mb: int = whole(1024, least=64)


@dataclass
class Root:
    """Keys at the top of the config. Budgets are null until given; each algorithm says which it takes."""

    r: int | None = whole(None)
    q: int | None = whole(None)
    T: int | None = whole(None)
    Q: int | None = whole(None)
    S: int | None = whole(None)
    M: int | None = whole(None)
    n: int | None = whole(None)
    p: int | None = whole(None)
    b: int | None = whole(None)
    holdout: float | None = number(None, above=0.0, most=0.9)
    trials: int = whole(10)
    seed: int = whole(0, least=0)
    n_jobs: int = workers(-1)
    store: str = text("results/runs")
    results: str = text("results")
    data_root: str | None = text(None)
    cache_root: str | None = text(None)


BUDGET_KEYS = ("r", "q", "T", "Q", "S", "M", "n", "p", "b")

SCHEMAS: dict[str, dict[str, type]] = {
    "algo": {
        "geem": Geem, "geem_lattice": GeemLattice, "wsam": WSam, "rand": Rand, "max": Max, "window": Window,
        "majority": Majority,
    },
    "dataset": {
        "digits": SplitDataset, "mnist": Dataset, "cifar10": Dataset, "stl10": Dataset, "caltech101": Caltech101,
        "inria": Inria, "pedestrians": Dataset, "npz": FileDataset, "csv": TableDataset, "parquet": TableDataset,
        "image_folder": ImageFolder, "openml": OpenML,
    },
    "features": {"raw": Features, "hog": Hog, "coates_ng": CoatesNg},
    "run": {"local": Run},
}  # fmt: skip


def defaults(group: str, name: str) -> dict[str, Any]:
    """The keys of a choice and their defaults, without its name; "???" marks a key that must be given.

    >>> defaults("dataset", "npz")
    {'test_fraction': 0.2, 'split_seed': 0, 'path': '???'}
    """
    return {field.name: field.default for field in dataclasses.fields(SCHEMAS[group][name]) if field.name != "name"}


def check_group(group: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """The values of one group, checked against its schema, defaults filled in.

    Raises BoostrunError with one sentence: the key, what is allowed, the nearest match.

    >>> check_group("algo", {"name": "wsam", "shrinkage": 1})["shrinkage"]
    1.0
    >>> check_group("algo", {"name": "wsam", "shrinkage": 2})
    Traceback (most recent call last):
    boostrun.errors.BoostrunError: algo.shrinkage=2: a number above 0 and of at most 1 is needed
    """
    name = values.get("name")
    schemas = SCHEMAS[group]
    if name not in schemas:
        raise BoostrunError(f"no {group} '{_typed(name)}'{did_you_mean(str(name), schemas)} (boostrun ls {group})")
    return {"name": name, **_check(schemas[name], {k: v for k, v in values.items() if k != "name"}, group, name)}


def check_root(values: Mapping[str, Any]) -> dict[str, Any]:
    """The keys at the top of the config, checked; raises BoostrunError with one sentence."""
    return _check(Root, values, "", "")


def check_budget(algo: Mapping[str, Any], root: Mapping[str, Any]) -> dict[str, int]:
    """The budget of an algorithm: its own keys, with defaults; keys that it has no use for are refused.

    >>> check_budget({"name": "geem"}, {"r": 100})
    {'r': 100, 'q': 100, 'T': 250}
    >>> check_budget({"name": "geem"}, {"M": 5})
    Traceback (most recent call last):
    boostrun.errors.BoostrunError: algo 'geem' has no use for M=5 (it takes r, q, T)
    """
    takes = SCHEMAS["algo"][algo["name"]].budget
    for key in BUDGET_KEYS:
        if root.get(key) is not None and key not in takes:
            has = f"it takes {', '.join(takes)}" if takes else "it takes no budget"
            raise BoostrunError(f"algo '{algo['name']}' has no use for {key}={root[key]} ({has})")
    budget: dict[str, int] = {}
    for key, default in takes.items():
        given = root.get(key)
        budget[key] = given if given is not None else budget[default] if isinstance(default, str) else default
    return budget


def _check(schema: type, values: Mapping[str, Any], group: str, name: str) -> dict[str, Any]:
    fields = {f.name: f for f in dataclasses.fields(schema) if f.name != "name"}
    prefix = f"{group}." if group else ""
    for key in values:
        if key not in fields:
            owner = f"{group} '{name}'" if group else "the config"
            known = ", ".join(fields) or "none"
            raise BoostrunError(f"{owner} has no key '{key}'{did_you_mean(key, fields)} (its keys: {known})")
    return {key: _value(values.get(key, field.default), field, prefix + key) for key, field in fields.items()}


def _value(value, field: dataclasses.Field, key: str):
    kind: Kind = field.metadata["kind"]
    if value == MISSING:
        raise BoostrunError(f"{key} must be given: {kind.allowed}, as in {key}=...")
    if value is None and field.default is None:
        return None
    plain = kind.read(value)
    if plain is None:
        hint = did_you_mean(value, kind.choices) if kind.choices else ""
        raise BoostrunError(f"{key}={_typed(value)}: {kind.allowed} is needed{hint}")
    return plain


def _typed(value) -> str:
    """A value as a person types it on the command line."""
    if value is None:
        return "null"
    return str(value).lower() if isinstance(value, bool) else str(value)
