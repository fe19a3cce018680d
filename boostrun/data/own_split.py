"""Whether a person's own data are split anew in each trial: where they have no test part and no seed of a split.

The trial's own seed is then that of the split: all methods have the same one, and each trial another.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from boostrun.errors import BoostrunError

_OF_CELL = ("holdout", "train_samples")  # what a cell's data set has besides its keys


def splits_anew(dataset: Mapping[str, Any], data_root: Path) -> bool:
    """Whether each trial on a data set splits its samples anew: where it has no test part and no seed of a split.

    Files are looked for, and not read; a person's own function is called, once a process, where it does not say it.
    Where files are not there, it is what their keys say.
    """
    from boostrun.config import catalogue
    from boostrun.data.offered import Loader, offered
    from boostrun.data.options import merge

    if dataset.get("split_seed", 0) is not None or dataset.get("test_path") or dataset.get("split") == "time":
        return False
    declared = catalogue.dataset(dataset)
    loader = offered(Loader, importlib.import_module(declared.loader), "loader", "data")
    own = {key: value for key, value in dataset.items() if key not in _OF_CELL}
    try:
        # keys of a person's own class or function are no loader's: see boostrun.extend.loader
        options = own if "class" in own else merge(own, loader.DEFAULTS or {}, "dataset")
        return not loader.has_test_part(options, Path(data_root))
    except BoostrunError:  # which reading them will tell
        return True


def of_trial(dataset: Mapping[str, Any], seed: int, data_root: Path) -> Mapping[str, Any]:
    """A data set's keys as the trial number ``seed`` has them: with the seed of its split where it splits anew."""
    return {**dataset, "split_seed": seed} if splits_anew(dataset, data_root) else dataset


def check(options: Mapping[str, Any]) -> None:
    """Refuse keys of a table's split that contradict each other; BoostrunError with one sentence."""
    split, group = options.get("split", "random"), options.get("group")
    if split == "groups" and group is None:
        raise BoostrunError("dataset.split=groups needs dataset.group=COLUMN, which says whose a row is")
    if split != "groups" and group is not None:
        raise BoostrunError(f"dataset.group={group} is for dataset.split=groups, and dataset.split is {split}")
    if split == "groups" and options.get("test_path"):
        raise BoostrunError("dataset.split=groups has no use where dataset.test_path has the test part")
    if split == "time" and options.get("test_path"):
        raise BoostrunError("dataset.split=time has no use where dataset.test_path has the test part")
