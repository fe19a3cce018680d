"""From the words of a command line to the values of a configuration, by Hydra.

Hydra composes the YAML files: ``conf/config.yaml`` and the files that words choose. This takes 0.05 seconds, once for
all cells of a sweep. A declared choice has the values of its declaration. Then each word ``key=value`` changes an
existing key, and references such as ``${features.seed}`` are resolved.

Hydra is imported only to compose, so that help and completion answer at once.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from boostrun import config
from boostrun.config import catalogue
from boostrun.config.fields import fields_of
from boostrun.config.settings import GROUPS, Root
from boostrun.config.words import parse
from boostrun.errors import BoostrunError, did_you_mean
from boostrun.files import read_yaml

_OF_HYDRA = ("hydra", "_dummy_empty_config_.yaml")  # what Hydra itself stores among named configurations


class Composer:
    """Composes the configurations of one command; cells that make the same choices share the work.

    ``config_dir`` is a user's own folder of YAML files, or None. Raises BoostrunError, one sentence, if it does not
    exist or has a file whose name is taken.

    >>> Composer()(parse(["algo=wsam", "r=100"]))["r"]
    100
    """

    def __init__(self, config_dir: str | None = None) -> None:
        self.config_dir = config_dir
        self._bases: dict[tuple[tuple[str, str], ...], tuple[dict[str, Any], bool]] = {}
        if config_dir is not None:
            if not Path(config_dir).is_dir():
                raise BoostrunError(f"--config-dir {config_dir}: there is no such folder")
            catalogue.read_own_papers(Path(config_dir))
            _refuse_taken_names(config_dir)

    def __call__(self, overrides: Sequence[Any]) -> dict[str, Any]:
        """The values by key, those of a group in a dictionary, before they are checked.

        Raises BoostrunError, one sentence, for an unknown choice or key, and for a file that cannot be read.
        """
        chosen = {override.key_or_group: _typed(override.value()) for override in overrides if self._chooses(override)}
        choices = {**default_choices(), **chosen}
        path = choices["dataset"]
        choices["dataset"] = self._reader(choices) or path
        if "features" not in chosen and (declared := catalogue.datasets().get(choices["dataset"])):
            choices["features"] = declared.features or choices["features"]
        key = tuple(choices.items())
        if key not in self._bases:
            self._bases[key] = self._base(choices)
        base, refers = self._bases[key]
        values = {name: dict(value) if name in GROUPS else value for name, value in base.items()}
        if choices["dataset"] != path:
            values["dataset"]["path"] = path
        for override in overrides:
            if override.key_or_group not in choices or override.package is not None:
                _change(values, override)
                refers = refers or "${" in override.input_line
        return _resolved(values) if refers else values

    def _reader(self, choices: Mapping[str, str]) -> str:
        """The data set that reads the file that was typed in its place, for the method; empty for a data set's name."""
        name, method = choices["dataset"], catalogue.methods().get(choices["algo"])
        if name in catalogue.datasets() or catalogue.option("dataset", name, self.config_dir):
            return ""
        found = catalogue.readers(name)
        wanted = "stream" if method is not None and "stream" in method.inputs else "table"
        return found.get(wanted, next(iter(found.values()), ""))

    def keys_of(self, group: str, name: str) -> list[str]:
        """The keys of a choice of a group as they are typed, for a method after its budgets."""
        values = self(parse([f"{group}={name}"]))
        budget = catalogue.method(values["algo"]).budget if group == "algo" else ()
        return [*budget, *_typed_keys(group, values)]

    def _chooses(self, override: Any) -> bool:
        """Whether an override chooses from a group: one of ours, or a folder of that name in the user's own folder."""
        group = override.key_or_group
        if override.package is not None:
            return False
        own = self.config_dir is not None and group.isidentifier() and group not in fields_of(Root)
        return group in GROUPS or (own and Path(self.config_dir, group).is_dir())  # type: ignore[arg-type]

    def _base(self, choices: Mapping[str, str]) -> tuple[dict[str, Any], bool]:
        """The values of the choices before words change them, and whether some are references."""
        files = {}
        for group, name in choices.items():
            if catalogue.is_declared(group, name):
                continue
            if path := catalogue.option(group, name, self.config_dir):
                files[group] = path
            elif not catalogue.own_class(group, name):
                raise BoostrunError(self._unknown(group, name))
        own = self.config_dir is not None and any(path.is_relative_to(self.config_dir) for path in files.values())
        chosen = tuple((group, choices[group]) for group in files)
        composed = _composed(chosen, self.config_dir) if own else _composed_of_boostrun(chosen)
        groups = {group: _with_defaults(group, choices[group], composed.get(group, {})) for group in GROUPS}
        return {**composed, **groups}, "${" in str(composed)

    def _unknown(self, group: str, name: str) -> str:
        """The sentence that a group has no such choice."""
        known = [*catalogue.options(group, self.config_dir), *catalogue.installed(group)]
        known += catalogue.names(group) if group in catalogue.GROUPS else ()
        meant = "; its ending does not say how it is read, dataset=csv dataset.path=... reads a table of text"
        meant = meant if group == "dataset" and os.path.isfile(name) else ""
        where = f" (boostrun ls {group})" if group in GROUPS else ""
        return f"no {group} '{name}'{meant or did_you_mean(name, known)}{where}{catalogue.missing(name)}"


def _typed(value: Any) -> str:
    return "null" if value is None else str(value)


@functools.cache
def default_choices() -> dict[str, str]:
    """The choice of each group unless a word makes another: the defaults of ``conf/config.yaml``."""
    listed = read_yaml(catalogue.conf_dir() / "config.yaml")["defaults"]
    named = {key.split()[-1]: name for entry in listed if isinstance(entry, dict) for key, name in entry.items()}
    return {group: named[group] for group in GROUPS}


def _refuse_taken_names(config_dir: str) -> None:
    for group in GROUPS:
        for name, path in catalogue.options(group, config_dir).items():
            taken = catalogue.option(group, name) or catalogue.is_declared(group, name)
            if path.is_relative_to(config_dir) and taken:
                raise BoostrunError(f"{path}: {group} '{name}' is boostrun's own; give yours another name")


@functools.cache
def _composed_of_boostrun(chosen: tuple[tuple[str, str], ...]) -> dict[str, Any]:
    return _composed(chosen, None)  # boostrun's own files do not change while it runs


def _composed(chosen: tuple[tuple[str, str], ...], config_dir: str | None) -> dict[str, Any]:
    """The values of ``conf/config.yaml`` and the files of these (group, name), composed by Hydra, with references.

    Hydra's state is global: an application of the user's may have initialised it, and have stored groups of our names.
    It is put aside meanwhile.
    """
    from hydra import compose, initialize_config_dir
    from hydra.core.config_store import ConfigStore
    from hydra.core.global_hydra import GlobalHydra
    from hydra.errors import HydraException
    from omegaconf import OmegaConf
    from omegaconf.errors import OmegaConfBaseException

    words = [f"{'' if group in GROUPS else '+'}{group}='{name}'" for group, name in chosen]
    words += [f"hydra.searchpath=['file://{Path(config_dir).resolve()}']"] if config_dir else []
    store = ConfigStore.instance()
    theirs = GlobalHydra.instance().hydra, store.repo
    store.repo = {name: node for name, node in store.repo.items() if name in _OF_HYDRA}
    GlobalHydra.instance().clear()
    try:
        with initialize_config_dir(str(catalogue.conf_dir().resolve()), version_base="1.3"):
            return OmegaConf.to_container(compose("config", words))  # type: ignore[return-value]
    except (HydraException, OmegaConfBaseException) as error:
        raise BoostrunError(_first_line(error)) from None
    except Exception as error:  # errors of YAML and of Hydra's loader
        reason = " ".join(str(error).split())[:300] or type(error).__name__
        raise BoostrunError(f"the settings cannot be put together: {reason}") from None
    finally:
        GlobalHydra.instance().hydra, store.repo = theirs


def _with_defaults(group: str, chosen: str, values: Any) -> dict[str, Any]:
    """The values of a group from files, with the defaults of the choice that they name.

    A ``class`` counts only if the YAML file of this choice, or an entry point, names it; see
    :func:`boostrun.extend.registry.take_named`.
    """
    if not isinstance(values, Mapping):
        raise BoostrunError(f"{group} must be keys with values, as in the files of conf/{group}, not {values!r}")
    name = str(values.get("name", chosen))
    own_class = catalogue.own_class(group, name)
    declared = group == "run" or name in catalogue.names(group)
    if values.get("class", own_class) != own_class:
        raise BoostrunError(_foreign_class(group, name, values["class"], declared))
    defaults = config.defaults(group, name) if declared else {}
    return {"name": name, **({"class": own_class} if own_class else {}), **defaults, **values}


def _foreign_class(group: str, name: str, given: Any, declared: bool) -> str:
    if own_class := catalogue.own_class(group, name):
        return (
            f"{group}.class is {own_class}, as its YAML file or its entry point says, and cannot be given elsewhere "
            f"({given})"
        )
    if declared:
        return f"{group} '{name}' is boostrun's own, and has no key 'class': give yours another name"
    return f"{group} '{name}' names {given}, but its name is that of no YAML file in --config-dir"


def _change(values: dict[str, Any], override: Any) -> None:
    """Give the key of an override its value; BoostrunError if there is no such key."""
    key = override.key_or_group
    group, _, rest = key.partition(".")
    place, last = (values[group], rest) if rest and group in GROUPS else (values, key)
    if override.package is not None or last not in place or (rest and last == "name"):
        raise BoostrunError(_no_key(values, override.get_key_element().lstrip("+")))
    if rest and last == "class" and override.value() != place[last]:
        raise BoostrunError(_foreign_class(group, place["name"], override.value(), True))
    place[last] = override.value()


def _no_key(values: Mapping[str, Any], key: str) -> str:
    """The sentence that a key is not there, with the nearest one that is."""
    group, _, rest = key.partition(".")
    if group in GROUPS and rest:
        known = _typed_keys(group, values)
        alone = rest in fields_of(Root) and rest != "name"
        meant = f"; did you mean '{rest}' alone?" if alone else did_you_mean(key, known)
        name = values[group]["name"]
        return f"{group} '{name}' has no key '{rest}'{meant} (its keys: {', '.join(known) or 'none'})"
    at_top = [*GROUPS, *fields_of(Root)]
    everywhere = [*at_top, *(each for group in GROUPS for each in _typed_keys(group, values))]
    return f"no key '{key}'{did_you_mean(key, everywhere)} (at the top: {', '.join(at_top)})"


def _typed_keys(group: str, values: Mapping[str, Any]) -> list[str]:
    return [f"{group}.{key}" for key in values[group] if key not in ("name", "class")]


def _resolved(values: dict[str, Any]) -> dict[str, Any]:
    """The values with each reference replaced by the value it refers to."""
    from omegaconf import OmegaConf
    from omegaconf.errors import OmegaConfBaseException

    try:
        return OmegaConf.to_container(OmegaConf.create(values), resolve=True)  # type: ignore[return-value]
    except OmegaConfBaseException as error:
        raise BoostrunError(_first_line(error)) from None


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0]
