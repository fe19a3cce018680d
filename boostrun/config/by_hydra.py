"""A whole configuration, composed by Hydra: what a person has in YAML files, or adds to what is declared.

Hydra is imported when something is composed.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath
from typing import Any

from boostrun import config
from boostrun.config import catalogue
from boostrun.config.fields import fields_of
from boostrun.config.settings import Root
from boostrun.config.words import parse
from boostrun.config.yaml_files import conf_dir, options
from boostrun.errors import BoostrunError, did_you_mean
from boostrun.extend import registry

GROUPS = (*catalogue.GROUPS, "run")
_READERS = {".csv": "csv", ".parquet": "parquet", ".npz": "npz", ".arff": "file_stream", ".npy": "file_stream"}


@functools.cache
def defaults_of_groups() -> dict[str, str]:
    """The choice of each group where a person makes none: the defaults of ``conf/config.yaml``."""
    from boostrun.config import quick_yaml

    listed = quick_yaml.load((conf_dir() / "config.yaml").read_text(encoding="utf-8"))["defaults"]
    found = {group: name for entry in listed if isinstance(entry, dict) for group, name in entry.items()}
    return {group: found[group] for group in GROUPS}


def _first_sentence(error: Exception | str) -> str:
    return str(error).strip().splitlines()[0]


def composed(overrides: list[str], config_dir: str | None) -> dict[str, Any]:
    """A configuration as plain values, in a tenth of a second; inside the block of a
    :func:`boostrun.config.compose.composer`.

    Raises BoostrunError, one sentence, for a choice or a key that does not exist and for YAML that cannot be read.
    """
    from hydra import compose
    from hydra.errors import ConfigCompositionException, HydraException
    from omegaconf import OmegaConf
    from omegaconf.errors import OmegaConfBaseException

    overrides = _offered(overrides, config_dir)
    search = [f"hydra.searchpath=[file://{Path(config_dir).resolve()}]"] if config_dir else []
    try:
        made = compose("config", [*overrides, *search])
        plain: dict[str, Any] = OmegaConf.to_container(made, resolve=True)  # type: ignore[assignment]
    except ConfigCompositionException as error:
        raise BoostrunError(_unknown_key(str(error), overrides, config_dir)) from None
    except (HydraException, OmegaConfBaseException) as error:
        raise BoostrunError(_first_sentence(error)) from None
    except Exception as error:  # YAML's own errors, and what Hydra's loader trips over
        reason = " ".join(str(error).split())[:300] or type(error).__name__
        raise BoostrunError(f"the settings cannot be put together: {reason}") from None
    return registry.fill_in(plain, {group: own_files(group, config_dir) for group in registry.ENTRY_POINTS})


def own_files(group: str, config_dir: str | None) -> dict[str, Path]:
    """The YAML files of a group in a person's own folder."""
    if config_dir is None:
        return {}
    base = Path(config_dir) / group
    return {name: path for name, path in options(group, config_dir).items() if path.is_relative_to(base)}


def _offered(overrides: list[str], config_dir: str | None) -> list[str]:
    """The overrides, with the features that a data set is used with; Hydra is offered what was chosen.

    What has no YAML file is a node made of its declaration. Raises BoostrunError for a choice that does not exist,
    with the nearest one that does.
    """
    chosen: dict[str, Any] = dict(defaults_of_groups())
    for override in parse(overrides):
        if override.key_or_group in GROUPS:
            chosen[override.key_or_group] = override.value()
    if "features" not in {override.key_or_group for override in parse(overrides)}:
        declared = catalogue.datasets().get(str(chosen["dataset"]))
        if declared is not None and declared.features:
            chosen["features"] = declared.features
            overrides = [f"features={declared.features}", *overrides]
    for group, value in chosen.items():
        files: Mapping[str, object] = options(group, config_dir)
        if str(value) not in files and not _offer(group, str(value)):
            known = {**files, **dict.fromkeys(catalogue.names(group) if group != "run" else ()),
                     **registry.installed(group)}  # fmt: skip
            typed = "null" if value is None else str(value)
            meant = _own_file(typed) if group == "dataset" else ""
            missing = catalogue.missing(typed)
            raise BoostrunError(
                f"no {group} '{typed}'{meant or did_you_mean(typed, known)} (boostrun ls {group}){missing}"
            )
    return overrides


def _own_file(typed: str) -> str:
    """How a file of one's own is named, where one is given in the place of a data set.

    >>> _own_file("sales.csv")
    '; did you mean dataset=csv dataset.path=sales.csv?'
    """
    reader = _READERS.get(PurePath(typed.removesuffix(".gz")).suffix)
    return f"; did you mean dataset={reader} dataset.path={typed}?" if reader else ""


def offer_all() -> None:
    """Let Hydra find every choice: for its completion of a shell's line."""
    for group in catalogue.GROUPS:
        for name in catalogue.names(group):
            _offer(group, name)


def _offer(group: str, name: str) -> bool:
    """Let Hydra find a choice that is declared, or installed; False where there is none of this name."""
    from hydra.core.config_store import ConfigStore

    point = registry.installed(group).get(name)
    if point is not None:
        node: dict[str, Any] = {"name": name, "class": point.value}
    elif group != "run" and name in catalogue.names(group) and not registry.is_own(group, name):
        node = {"name": name, **config.defaults(group, name)}
    else:
        return False
    ConfigStore.instance().store(group=group, name=name, node=node)
    return True


def _unknown_key(message: str, overrides: Sequence[str], config_dir: str | None) -> str:
    """Hydra's complaint about a key that is not there, with the nearest key that is."""
    match = re.search(r"Could not (?:override|append|delete)[^']*'([^'@]+)", message)
    if match is None:
        return _first_sentence(message)
    key = match.group(1)
    group, _, rest = key.partition(".")
    if group in GROUPS and rest:
        chosen = {o.key_or_group: str(o.value()) for o in parse(overrides) if o.key_or_group in GROUPS}
        plain = composed([f"{k}={v}" for k, v in chosen.items()], config_dir)[group]
        known = [f"{group}.{name}" for name in plain if name not in ("name", "class")]
        at_top = rest in fields_of(Root)
        meant = f"; did you mean '{rest}' alone?" if at_top else did_you_mean(key, known)
        return f"{group} '{plain['name']}' has no key '{rest}'{meant} (its keys: {', '.join(known)})"
    known = [*GROUPS, *fields_of(Root)]
    everything = known + [f"{g}.{name}" for g in GROUPS for name in composed([], None)[g]]
    return f"no key '{key}'{did_you_mean(key, everything)} (at the top: {', '.join(known)})"
