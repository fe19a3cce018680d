"""From the words of a command line to checked cells: Hydra composes, `boostrun.config` checks.

Hydra is imported when something is composed, so that help and completion answer at once.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from boostrun import config
from boostrun.config import by_hydra, catalogue, mixed, nodes
from boostrun.config.by_hydra import GROUPS, defaults_of_groups, own_files
from boostrun.config.settings import data_root
from boostrun.config.words import MOST_CELLS, listed, parse
from boostrun.config.yaml_files import conf_dir, first_comment, options
from boostrun.data.options import splits_anew
from boostrun.errors import BoostrunError
from boostrun.extend import registry
from boostrun.extend import registry as typed
from boostrun.inputs import input_of

PLACES = ("store", "results", "data_root", "cache_root")
_REFERENCE = re.compile(r"\$\{(\w+(?:\.\w+)*)\}")  # a value that is another key's, as OmegaConf writes it
_BROUGHT = "brought"  # kept beside bases: names that packages or YAML files bring, by group


@dataclass(frozen=True)
class Settings:
    """One composed and checked configuration.

    ``algo``, ``dataset``, ``features``, ``budget`` decide what is computed; ``run`` and ``root`` only where and how
    often (but see ``cell_of`` of :mod:`boostrun.runner.plan`). All values are plain. ``asked``: the trials that the
    overrides ask for, of which there is one where nothing is random; 1 when they say nothing of trials. ``splits``:
    each trial splits the samples anew, the same way for every method.
    """

    algo: Mapping[str, Any]
    dataset: Mapping[str, Any]
    features: Mapping[str, Any]
    budget: Mapping[str, int]
    run: Mapping[str, Any]
    root: Mapping[str, Any]
    asked: int = 1
    splits: bool = False

    @property
    def seeds(self) -> range:
        """Seeds of the trials."""
        return range(self.root["seed"], self.root["seed"] + self.root["trials"])


def choices(group: str, config_dir: str | None = None) -> dict[str, str]:
    """The choices of a group by name, each with a line about it: what is declared, YAML files, installed packages'.

    >>> choices("algo")["rand"]
    'keep samples uniformly at random (Lefakis & Fleuret 2013)'
    """
    rooms: dict[str, Callable[[], Mapping[str, Any]]] = {
        "algo": catalogue.methods, "dataset": catalogue.datasets, "features": catalogue.pipelines,
    }  # fmt: skip
    declared = rooms[group]() if group in rooms else {}
    found = {name: one.summary for name, one in declared.items() if not registry.is_own(group, name)}
    found |= {name: first_comment(path) for name, path in options(group, config_dir).items()}
    for name, point in registry.installed(group).items():
        package = f" ({point.dist.name})" if point.dist else ""
        found.setdefault(name, f"installed: {point.value}{package}")
    return found


def expand_one_by_one(overrides: Sequence[str]) -> list[tuple[str, list[str]]]:
    """Each override as its key and the values it lists.

    >>> expand_one_by_one(["algo=rand,geem", "r=100"])
    [('algo', ['rand', 'geem']), ('r', ['100'])]
    """
    return [(override.get_key_element(), listed(override)) for override in parse(overrides)]


def places_of(overrides: Sequence[str]) -> list[str]:
    """Those overrides that say where things lie.

    >>> places_of(["r=100", "results=mine"])
    ['results=mine']
    """
    return [f"{key}={values[0]}" for key, values in expand_one_by_one(overrides) if key in PLACES]


def values_of(overrides: Sequence[str]) -> dict[str, Any]:
    """Each override's key and its one value.

    >>> values_of(["n=100", "path=my.csv"])
    {'n': 100, 'path': 'my.csv'}
    """
    for override in parse(overrides):
        if override.is_sweep_override():
            raise BoostrunError(f"{override.input_line} lists several values: one is needed")
    return {override.key_or_group: override.value() for override in parse(overrides)}


def expand(overrides: Sequence[str], config_dir: str | None = None) -> list[list[str]]:
    """All combinations of overrides that list several values, the last one varying fastest.

    Of several methods (data sets, features) each is given the keys that it has; see :mod:`boostrun.config.mixed`.

    >>> expand(["algo=logitboost,geem", "r=100", "T=5"])
    [['algo=logitboost', 'T=5'], ['algo=geem', 'r=100', 'T=5']]
    """
    with composer(config_dir):
        return _fitting(overrides, config_dir)


def _fitting(overrides: Sequence[str], config_dir: str | None) -> list[list[str]]:
    choices = expand_one_by_one(typed.translated(overrides, config_dir))
    count = math.prod(len(values) for _, values in choices)
    if count > MOST_CELLS:
        raise BoostrunError(f"this sweep has {count:,} combinations: at most {MOST_CELLS:,} can be run at once")
    return mixed.fitting(choices, functools.cache(lambda group, name: _keys_of(group, name, config_dir)))


def _keys_of(group: str, name: str, config_dir: str | None) -> list[str]:
    """The keys of a choice of a group as they are typed; of a method its budgets before them."""
    declared = name in catalogue.names(group) and not registry.is_own(group, name)
    values = (
        {"name": name, **config.defaults(group, name)}
        if declared
        else by_hydra.composed([f"{group}={name}"], config_dir)[group]
    )
    budget = catalogue.method(values).budget if group == "algo" else ()
    return [*budget, *(f"{group}.{key}" for key in values if key not in ("name", "class"))]


@contextmanager
def composer(config_dir: str | None = None, bases: dict | None = None) -> Iterator:
    """A function from overrides to Settings; Hydra is set up once for all calls inside the ``with`` block.

    ``bases`` keeps what was composed for the next block of the same command.
    """
    from hydra import initialize_config_dir
    from hydra.core.global_hydra import GlobalHydra

    if config_dir is not None and not Path(config_dir).is_dir():
        raise BoostrunError(f"--config-dir {config_dir}: there is no such folder")
    if config_dir is not None:
        catalogue.read_beside(Path(config_dir))
    for group in GROUPS:
        for name in own_files(group, config_dir):
            if name in options(group) or (group in catalogue.GROUPS and name in catalogue.names(group)
                                          and not registry.is_own(group, name)):  # fmt: skip
                path = Path(config_dir or "") / group / f"{name}.yaml"
                raise BoostrunError(f"{path}: {group} '{name}' is boostrun's own; give yours another name")
    GlobalHydra.instance().clear()
    try:
        with initialize_config_dir(str(conf_dir().resolve()), version_base="1.3"):
            kept = {} if bases is None else bases
            yield lambda overrides: _settings(overrides, config_dir, kept)
    finally:
        GlobalHydra.instance().clear()


def compose_one(overrides: Sequence[str], config_dir: str | None = None, bases: dict | None = None) -> Settings:
    """Compose and check a single configuration; ``bases`` is what others of the same command share, see
    :func:`composer`.

    >>> compose_one(["algo=wsam", "r=100"]).budget
    {'r': 100, 'q': 100, 'T': 250}
    """
    for override in parse(overrides):
        if override.is_sweep_override():
            raise BoostrunError(f"{override.input_line} lists several values: add -m to run them all")
    with composer(config_dir, bases) as compose:
        return compose(overrides)


def compose_all(overrides: Sequence[str], config_dir: str | None = None) -> list[Settings]:
    """Compose and check every combination of a sweep, each with the keys that its method has."""
    with composer(config_dir) as compose:
        return [compose(combination) for combination in _fitting(overrides, config_dir)]


def _settings(overrides: Sequence[str], config_dir: str | None, bases: dict) -> Settings:
    plain = _from_base(typed.translated(overrides, config_dir), config_dir, bases)
    root = {key: value for key, value in plain.items() if key not in GROUPS}
    checked = config.check_root(root)
    groups = {group: _checked(group, plain.get(group) or {}) for group in GROUPS}
    method, dataset = catalogue.method(groups["algo"]), groups["dataset"]
    input_of(catalogue.dataset(dataset).gives).refuse(
        groups["algo"]["name"], method, dataset, groups["features"], checked
    )
    config.check_run(groups["run"], checked["n_jobs"])
    asked = checked["trials"] if any(word.lstrip("+").startswith("trials=") for word in overrides) else 1
    splits = splits_anew(dataset, data_root(checked))
    if not method.random and not splits:
        checked["trials"] = 1  # more of them would be the same one again
    budget = config.check_budget(groups["algo"], checked)
    settings = Settings(**groups, budget=budget, root=checked, asked=asked, splits=splits)
    registry.try_out(settings.algo, settings.budget)
    return settings


def _checked(group: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a group, checked; the class of a person's own choice stays beside its keys."""
    if not isinstance(values, Mapping):
        raise BoostrunError(f"{group} must be keys with values, as in the files of conf/{group}, not {values!r}")
    own = {"class": values["class"]} if group in registry.ENTRY_POINTS and "class" in values else {}
    checked = config.check_group(group, {key: value for key, value in values.items() if key not in own})
    return {"name": checked["name"], **own, **checked}


def _from_base(overrides: list[str], config_dir: str | None, bases: dict) -> dict[str, Any]:
    """As :func:`by_hydra.composed`, which takes a tenth of a second; cells that choose the same groups share a base.

    Only plain choices of what is declared, and changes of keys that are there, to plain values or to another key's
    (``${features.seed}``), are made here; whatever else is asked for goes to Hydra as a whole.
    """
    from hydra.core.override_parser.types import OverrideType

    choices: dict[str, Any] = {}
    changes: list[Any] = []
    references: list[Any] = []
    for override in parse(overrides):
        if override.type is not OverrideType.CHANGE or override.is_sweep_override():
            return by_hydra.composed(overrides, config_dir)
        refers = "${" in str(override.input_line)
        if override.key_or_group in GROUPS and not refers and not override.package:
            choices[override.key_or_group] = override  # of several the last one counts
        else:
            (references if refers else changes).append(override)
    key = tuple(choice.input_line for choice in choices.values())
    if key not in bases:
        bases[key] = _declared(choices, config_dir, bases) or by_hydra.composed(list(key), config_dir)
    plain = _copied(bases[key])
    referring = {override.key_or_group for override in references}
    if not referring.isdisjoint(override.key_or_group for override in changes):
        return by_hydra.composed(overrides, config_dir)  # which of the two is meant hangs on their order
    for override in (*changes, *references):
        value, place = override.value(), _place(plain, override.key_or_group)
        if override.key_or_group in referring:
            told = _REFERENCE.fullmatch(str(value))
            source = _place(plain, told[1]) if told and told[1] not in referring else None
            place, value = (place, source[0][source[1]]) if source else (None, None)
        if place is None or place[1] in ("name", "class") or override.package:
            return by_hydra.composed(overrides, config_dir)
        place[0][place[1]] = value
    return plain


def _copied(value: Any) -> Any:
    """A copy of plain values; what copy.deepcopy does of anything takes five times as long."""
    if isinstance(value, dict):
        return {key: _copied(inner) for key, inner in value.items()}
    return [_copied(inner) for inner in value] if isinstance(value, list) else value


def _place(plain: dict[str, Any], key: str) -> tuple[dict[str, Any], str] | None:
    """The mapping that holds a dotted key's plain value and the key's last word; None where there is no such value."""
    *parents, last = key.split(".")
    place: Any = plain
    for part in parents:
        place = place.get(part) if isinstance(place, dict) else None
    return (place, last) if isinstance(place, dict) and last in place and not isinstance(place[last], dict) else None


def _declared(choices: Mapping[str, Any], config_dir: str | None, bases: dict) -> dict[str, Any]:
    """As :func:`by_hydra.composed` of plain choices that are all declared; empty for others."""
    typed = {group: choice.value() for group, choice in choices.items()}
    if _BROUGHT not in bases:  # looked up once: it takes longer than the rest
        bases[_BROUGHT] = {
            group: {*registry.installed(group), *options(group, config_dir)} for group in catalogue.GROUPS
        }

    def own(group: str, name: str) -> bool:
        return name in bases[_BROUGHT][group] or registry.is_own(group, name)

    made = nodes.of_choices(typed, defaults_of_groups(), own)
    if made and () not in bases:
        bases[()] = by_hydra.composed([], config_dir) if config_dir else _unchosen()
    return {**bases[()], **made} if made else {}


@functools.cache
def _unchosen() -> dict[str, Any]:  # boostrun's own files do not change while it runs
    return by_hydra.composed([], None)
