"""A model file of any kind: the fitted arrays, the names of the classes, and how raw samples become the model's."""

from __future__ import annotations

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
from ..methods.saved import facts_of, kind_of

MODELS = (StumpEnsemble, VoteEnsemble, SharedStumps, SharedFeatures, OneVsRestPath, MixedNormPath)


@dataclass
class Saved:
    """What a model file holds.

    Attributes
    ----------
    model : one of ``MODELS``
    classes : list of str, the name of each class number that is predicted.
    n_features : int, columns that the model itself takes.
    inputs : dict of arrays by name, as :func:`boostrun.methods.preparation.of_bank` made them; empty where the model
    takes
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
    kind = kind_of(path)
    types = {f"boostrun.{type_.__name__}/1": type_ for type_ in MODELS}
    if kind not in types:
        raise BoostrunError(f"{path} holds {kind}, which is no model that can be exported")
    model, extra = types[kind].load(path)
    facts = facts_of(extra, path)
    return Saved(model, [str(name) for name in facts.classes.tolist()], facts.n_features, facts.inputs)
