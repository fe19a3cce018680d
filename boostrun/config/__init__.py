"""The configuration: declarations, words and files, and the check of values against declarations.

A value that does not fit becomes one sentence that tells the user how to correct it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from boostrun.config.fields import BUDGET_KEYS, GROUPS, MISSING, Root, Run, Settings, fields_of, kind_of
from boostrun.errors import BoostrunError, UnknownKeyError

__all__ = [
    "MISSING", "check", "check_budget", "check_group", "check_keys", "check_run", "checked_words",
    "defaults", "fields_in", "late_keys", "without_late", "word",
]  # fmt: skip


def fields_in(group: str, name: str) -> dict[str, dataclasses.Field]:
    """The keys of a choice of a group, by name."""
    from boostrun.config import catalogue

    return fields_of(Run) if group == "run" else catalogue.fields(group, name)


def defaults(group: str, name: str) -> dict[str, Any]:
    """The keys of a choice and their defaults; "???" marks a key that must be given.

    >>> defaults("dataset", "csv")["test_fraction"], defaults("dataset", "csv")["path"]
    (0.2, '???')
    """
    return {key: field.default for key, field in fields_in(group, name).items()}


def late_keys(group: str, name: str) -> dict[str, Any]:
    """The keys of a choice that were added after records had been published, with the values these were made with.

    >>> late_keys("features", "coates_ng")
    {'device': 'cpu'}
    """
    kinds = {key: kind_of(field) for key, field in fields_in(group, name).items()}
    return {key: kind.absent for key, kind in kinds.items() if kind.absent != MISSING}


def without_late(group: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a group as they stand in a cell: without late keys at the values of :func:`late_keys`.

    >>> "device" in without_late("features", {"name": "coates_ng", **defaults("features", "coates_ng")})
    False
    """
    late = late_keys(group, values["name"])
    return {key: value for key, value in values.items() if key not in late or value != late[key]}


def check(values: Mapping[str, Any]) -> Settings:
    """The settings of a composed configuration, every value checked and defaults filled in.

    Raises BoostrunError with one sentence: the key, the allowed values, the nearest match.
    """
    root = check_keys(Root, {key: value for key, value in values.items() if key not in GROUPS})
    groups: dict[str, Any] = {group: check_group(group, values[group]) for group in GROUPS}
    check_run(groups["run"], root["n_jobs"])
    return Settings(**groups, budget=check_budget(groups["algo"], root), root=root)


def check_group(group: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """The values of one group, checked, defaults filled in; the class of a user's own choice is kept.

    Raises BoostrunError with one sentence: the key, the allowed values, the nearest match.

    >>> check_group("algo", {"name": "wsam", "shrinkage": 1})["shrinkage"]
    1.0
    >>> check_group("algo", {"name": "wsam", "shrinkage": 2})
    Traceback (most recent call last):
    boostrun.errors.BoostrunError: algo.shrinkage=2: a number above 0 and of at most 1 is needed
    """
    from boostrun.config import catalogue

    name = str(values.get("name"))
    if group != "run":
        catalogue.declaration(group, name)  # refuses an unknown name
    elif name != "local":
        raise BoostrunError(f"no run '{name}' (boostrun ls run)")
    own_class = catalogue.own_class(group, name)
    kept = {"name": name, "class": own_class} if own_class and "class" in values else {"name": name}
    given = {key: value for key, value in values.items() if key not in kept}
    return {**kept, **_check(fields_in(group, name), given, group, name)}


def check_keys(keys: type, values: Mapping[str, Any], group: str = "", name: str = "") -> dict[str, Any]:
    """The values of a class of keys that no group of the catalogue has, checked, defaults filled in."""
    return _check(fields_of(keys), values, group, name)


def check_budget(algo: Mapping[str, Any], root: Mapping[str, Any]) -> dict[str, int]:
    """The budget of an algorithm, defaults filled in; budget keys that it does not take are refused.

    >>> check_budget({"name": "geem"}, {"r": 100})
    {'r': 100, 'q': 100, 'T': 250}
    >>> check_budget({"name": "geem"}, {"M": 5})
    Traceback (most recent call last):
    boostrun.errors.BoostrunError: algo 'geem' does not take M=5 (it takes r, q, T)
    """
    from boostrun.config import catalogue

    takes = catalogue.method(algo).budget_defaults
    for key in BUDGET_KEYS:
        if root.get(key) is not None and key not in takes:
            has = f"it takes {', '.join(takes)}" if takes else "it takes no budget"
            raise BoostrunError(f"algo '{algo['name']}' does not take {key}={root[key]} ({has})")
    budget: dict[str, int] = {}
    for key, default in takes.items():
        given = root.get(key)
        budget[key] = given if given is not None else budget[default] if isinstance(default, str) else default
    return budget


_LARGEST_WHOLE = 2**63 - 1
_BACKENDS_OF = {
    "scheduler": ("dask", "ray", "slurm"), "batch": ("dask", "ray", "slurm"), "partition": ("slurm",),
    "account": ("slurm",), "minutes": ("slurm",), "job_memory_mb": ("slurm",),
}  # fmt: skip


def check_run(run: Mapping[str, Any], n_jobs: int) -> None:
    """Refuse keys that the backend does not use, or lacks; raises BoostrunError with one sentence.

    >>> check_run({"name": "local", **defaults("run", "local"), "backend": "dask"}, -1)
    Traceback (most recent call last):
    boostrun.errors.BoostrunError: run.backend=dask needs run.scheduler=tcp://host:8786, the address of its scheduler
    """
    backend = run["backend"]
    usual = defaults("run", run["name"])
    for key, backends in _BACKENDS_OF.items():
        if backend not in backends and run[key] != usual[key]:
            raise BoostrunError(
                f"run.backend={backend} does not take run.{key}={word(run[key])} (it is for {', '.join(backends)})"
            )
    if backend == "dask" and run["scheduler"] is None:
        raise BoostrunError("run.backend=dask needs run.scheduler=tcp://host:8786, the address of its scheduler")
    if backend == "slurm" and run["scheduler"] not in (None, "local"):
        raise BoostrunError(
            f"run.scheduler={run['scheduler']}: SLURM is found without an address; local runs the same jobs here"
        )
    if backend == "slurm" and n_jobs == -1:
        raise BoostrunError("run.backend=slurm needs n_jobs=...: how many jobs it may have at once")


def checked_words(words: Iterable[str], keys: type, group: str, some: Collection[str], of: str) -> dict[str, Any]:
    """The values of words ``group.key=value``, for ``some`` of the keys of a class, checked as in a run.

    Raises BoostrunError, one sentence, for a key that ``of`` does not have, and for a value that is not allowed.
    """
    from boostrun.config.words import parse_single

    known = {name: field for name, field in fields_of(keys).items() if name in some}
    typed, values = [f"{group}.{name}" for name in known], {}
    for override in parse_single(words, f"{of} takes one"):
        key = override.get_key_element()
        if key not in typed:
            tail = f" (its keys: {', '.join(typed)})"
            raise UnknownKeyError(f"{of} has no key '{key}'", tail, key, override.get_value_string(), typed)
        values[key.partition(".")[2]] = override.value()
    return {name: value for name, value in _check(known, values, group, "").items() if name in values}


def _check(known: Mapping[str, dataclasses.Field], values: Mapping[str, Any], group: str, name: str) -> dict[str, Any]:
    prefix = f"{group}." if group else ""
    for key in values:
        if key not in known:
            owner = f"{group} '{name}'" if name else group or "the config"
            head = f"{owner} has no key '{key}'"
            tail = f" (its keys: {', '.join(known) or 'none'})"
            typed = [prefix + each for each in known]
            raise UnknownKeyError(head, tail, prefix + key, word(values[key]), typed)
    return {key: _value(values.get(key, field.default), field, prefix + key) for key, field in known.items()}


def _value(value: Any, field: dataclasses.Field, key: str) -> Any:
    kind = kind_of(field)
    if isinstance(value, str) and value == MISSING:
        raise BoostrunError(f"{key} must be given: {kind.allowed}, as in {key}=...")
    if value is None and (field.default is None or kind.optional):
        return None
    plain = kind.read(value)
    if plain is None:
        wrong = next((each for each in value if each not in kind.choices), "") if isinstance(value, list) else value
        raise BoostrunError(f"{key}={word(value)}: {kind.allowed} is needed{kind.hint(wrong)}")
    if type(plain) is int and abs(plain) > _LARGEST_WHOLE:
        raise BoostrunError(f"{key}={word(value)}: no whole number may be beyond 2^63 - 1")
    return plain


def word(value: Any) -> str:
    """A value as it is typed.

    >>> word(None), word(True), word(0.5), word(["lbp", "hog"])
    ('null', 'true', '0.5', '[lbp,hog]')
    """
    if value is None or isinstance(value, bool):
        return "null" if value is None else str(value).lower()
    return f"[{','.join(map(word, value))}]" if isinstance(value, (list, tuple)) else str(value)
