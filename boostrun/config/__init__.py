"""Values held against the schemas: what does not fit becomes one sentence that says what to type instead."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from .errors import BoostrunError, did_you_mean
from .kinds import Kind
from .schemas import BUDGET_KEYS, MISSING, SCHEMAS, Root
from .schemas.data import DRIFTING
from .schemas.drift import Drift
from .schemas.sampling import Sampling
from .schemas.sharing import Sharing

__all__ = [
    "MISSING", "SCHEMAS", "check_budget", "check_drifting", "check_group", "check_pool", "check_root", "check_run",
    "check_streamed", "defaults",
]  # fmt: skip


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
    if not isinstance(name, str) or name not in schemas:
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


def check_pool(algo: Mapping[str, Any], features: Mapping[str, Any]) -> None:
    """Refuse features that an algorithm cannot be trained on; raises BoostrunError with one sentence.

    >>> check_pool({"name": "geem"}, {"name": "products"})
    Traceback (most recent call last):
    boostrun.errors.BoostrunError: algo 'geem' cannot be trained on features=products; it takes raw, hog, coates_ng, ...
    """
    takes = SCHEMAS["algo"][algo["name"]].pools
    if SCHEMAS["features"][features["name"]].pool not in takes:
        fitting = ", ".join(name for name, schema in SCHEMAS["features"].items() if schema.pool in takes)
        raise BoostrunError(
            f"algo '{algo['name']}' cannot be trained on features={features['name']}; it takes {fitting}"
        )


_OF_BACKENDS = {
    "scheduler": ("dask", "ray", "slurm"), "batch": ("dask", "ray", "slurm"), "partition": ("slurm",),
    "account": ("slurm",), "minutes": ("slurm",), "job_memory_mb": ("slurm",),
}  # fmt: skip


def check_run(run: Mapping[str, Any], n_jobs: int) -> None:
    """Refuse what the way of running has no use for, or lacks; raises BoostrunError with one sentence.

    >>> check_run({"name": "local", **defaults("run", "local"), "backend": "dask"}, -1)
    Traceback (most recent call last):
    boostrun.errors.BoostrunError: run.backend=dask needs run.scheduler=tcp://host:8786, the address of its scheduler
    """
    backend = run["backend"]
    usual = defaults("run", run["name"])
    for key, backends in _OF_BACKENDS.items():
        if backend not in backends and run[key] != usual[key]:
            raise BoostrunError(
                f"run.backend={backend} has no use for run.{key}={_typed(run[key])} (it is for {', '.join(backends)})"
            )
    if backend == "dask" and run["scheduler"] is None:
        raise BoostrunError("run.backend=dask needs run.scheduler=tcp://host:8786, the address of its scheduler")
    if backend == "slurm" and run["scheduler"] not in (None, "local"):
        raise BoostrunError(
            f"run.scheduler={run['scheduler']}: SLURM is found without an address; local runs the same jobs here"
        )
    if backend == "slurm" and n_jobs == -1:
        raise BoostrunError("run.backend=slurm needs n_jobs=...: how many jobs it may have at once")


_HOLD_ALL = ("wss", "mada", "logitboost", "geem_split", "majority")  # algorithms that need all samples at hand


def check_streamed(
    algo: Mapping[str, Any], features: Mapping[str, Any], holdout: float | None, train_samples: int | None = None
) -> None:
    """Refuse what cannot be done with a data set that is read in chunks; raises BoostrunError with one sentence.

    >>> check_streamed({"name": "wss"}, {"name": "raw", "bin_samples": 10000}, None)
    Traceback (most recent call last):
    boostrun.errors.BoostrunError: algo 'wss' needs all samples in memory, and dataset=stream hands out few at a ...
    """
    if "class" in algo or algo["name"] in _HOLD_ALL or issubclass(SCHEMAS["algo"][algo["name"]], (Sampling, Sharing)):
        raise BoostrunError(
            f"algo '{algo['name']}' needs all samples in memory, and dataset=stream hands out few at a time; use one "
            "that draws from a filter, as geem, wsam, fix or filterboost do"
        )
    if features["name"] != "raw":
        raise BoostrunError(
            f"features={features['name']}: dataset=stream is trained on as it lies on the disk, so features=raw is the "
            "only choice"
        )
    if features["bin_samples"] != defaults("features", "raw")["bin_samples"]:
        raise BoostrunError(
            f"dataset=stream has no use for features.bin_samples={features['bin_samples']}: bins are fitted on the "
            "first samples that the learner draws"
        )
    if holdout is not None:
        raise BoostrunError(
            f"dataset=stream has no use for holdout={holdout:g}: give the samples to choose settings on as "
            "dataset.test_path"
        )
    if train_samples is not None:
        raise BoostrunError(f"dataset=stream has no use for train_samples={train_samples}: give a shorter file")


def check_drifting(
    algo: Mapping[str, Any],
    dataset: Mapping[str, Any],
    features: Mapping[str, Any],
    holdout: float | None,
    train_samples: int | None = None,
) -> None:
    """Refuse a drifting stream without a learner that follows it, and the reverse; raises BoostrunError.

    >>> check_drifting({"name": "geem"}, {"name": "sea"}, {"name": "raw"}, None)
    Traceback (most recent call last):
    boostrun.errors.BoostrunError: algo 'geem' cannot follow the stream dataset=sea; iboost_stochastic, ... can
    """
    stream = dataset["name"] in DRIFTING
    if issubclass(SCHEMAS["algo"][algo["name"]], Drift) != stream:
        if stream:
            able = ", ".join(name for name, schema in SCHEMAS["algo"].items() if issubclass(schema, Drift))
            raise BoostrunError(f"algo '{algo['name']}' cannot follow the stream dataset={dataset['name']}; {able} can")
        raise BoostrunError(
            f"algo '{algo['name']}' follows a stream, and dataset={dataset['name']} is none; the streams are "
            f"{', '.join(DRIFTING)}"
        )
    if not stream:
        return
    if dict(features) != {"name": "raw", **defaults("features", "raw")}:
        raise BoostrunError(f"dataset={dataset['name']} is learnt as it is: features=raw with its defaults is needed")
    for key, value in (("holdout", holdout), ("train_samples", train_samples)):
        if value is not None:
            raise BoostrunError(f"dataset={dataset['name']} has no use for {key}={value:g}: it is a stream")


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
        wrong = next((word for word in value if word not in kind.choices), "") if isinstance(value, list) else value
        hint = did_you_mean(wrong, kind.choices) if kind.choices else ""
        raise BoostrunError(f"{key}={_typed(value)}: {kind.allowed} is needed{hint}")
    return plain


def _typed(value) -> str:
    """A value as a person types it on the command line."""
    if value is None:
        return "null"
    if isinstance(value, list):
        return f"[{','.join(map(_typed, value))}]"
    return str(value).lower() if isinstance(value, bool) else str(value)
