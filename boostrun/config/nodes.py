"""The nodes of a configuration that declarations say all of: what Hydra would make of them, in no time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from boostrun import config
from boostrun.config import catalogue


def of_choices(
    typed: Mapping[str, Any], usual: Mapping[str, str], own: Callable[[str, str], bool]
) -> dict[str, dict[str, Any]]:
    """Algo, data set and features with their defaults, by group; empty where a choice is more than a declared name.

    ``typed`` are choices by group, ``usual`` those where a person makes none, and ``own(group, name)`` says whether a
    name has a YAML file, or comes with a package. A data set names its features.

    >>> usual = {"algo": "logitboost", "dataset": "digits", "features": "raw"}
    >>> of_choices({"dataset": "digits"}, usual, lambda group, name: False)["features"]["name"]
    'raw'
    """
    chosen = {group: name for group, name in usual.items() if group in catalogue.GROUPS}
    if not typed.keys() <= chosen.keys():
        return {}
    chosen |= typed
    declared = catalogue.datasets().get(str(chosen["dataset"]))
    if "features" not in typed and declared is not None and declared.features:
        chosen["features"] = declared.features
    for group, name in chosen.items():
        if name not in catalogue.names(group) or own(group, str(name)):
            return {}
    return {group: {"name": name, **config.defaults(group, name)} for group, name in chosen.items()}
