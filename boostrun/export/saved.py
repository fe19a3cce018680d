"""A model file of any kind: the fitted arrays, the names of the classes, and how raw samples become the model's."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from boostrun.methods.ensemble import StumpEnsemble
from boostrun.methods.vote_ensemble import VoteEnsemble
from boostrun.papers.shareboost.mixed_norm_path import MixedNormPath
from boostrun.papers.shareboost.model import SharedFeatures
from boostrun.papers.shareboost.ovr_path import OneVsRestPath
from boostrun.papers.shareboost.shared_stumps import SharedStumps

from ..errors import BoostrunError

MODELS = (StumpEnsemble, VoteEnsemble, SharedStumps, SharedFeatures, OneVsRestPath, MixedNormPath)


@dataclass
class Saved:
    """What a model file holds.

    Attributes
    ----------
    model : one of ``MODELS``
    classes : list of str, the name of each class number that is predicted.
    n_features : int, columns that the model itself takes.
    inputs : dict of arrays by name, as :func:`boostrun.export.inputs.of_bank` made them; empty where the model takes
        samples as they are.
    """

    model: Any
    classes: list[str]
    n_features: int
    inputs: Mapping[str, np.ndarray]


def read(path: str | Path) -> Saved:
    """Read what any classifier's ``save``, or ``boostrun export ... --to npz``, has written. Never unpickles.

    Raises BoostrunError where there is no such file, it is none of ours, or it does not say what its classes are.
    """
    kind = _kind(path)
    types = {f"boostrun.{type_.__name__}/1": type_ for type_ in MODELS}
    if kind not in types:
        raise BoostrunError(f"{path} holds {kind}, which is no model that can be exported")
    model, extra = types[kind].load(path)
    for needed in ("classes", "n_features_in"):
        if needed not in extra:
            raise BoostrunError(f"{path} holds a model but no {needed}: save it by a classifier's save")
    classes = [str(name) for name in extra["classes"].tolist()]
    inputs = {name.removeprefix("input_"): array for name, array in extra.items() if name.startswith("input_")}
    return Saved(model, classes, int(extra["n_features_in"]), inputs)


def _kind(path: str | Path) -> str:
    """What :func:`boostrun.methods.archive.save` was told that the arrays at ``path`` are."""
    try:
        with np.load(path, allow_pickle=False) as archive:
            return str(json.loads(str(archive["format"])))
    except FileNotFoundError:
        raise BoostrunError(f"no ensemble at {path}") from None
    except Exception as error:  # a damaged archive raises any of a dozen kinds
        raise BoostrunError(f"{path} is not an ensemble saved by boostrun ({error})") from None
