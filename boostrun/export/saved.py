"""A model file of any kind: the fitted arrays, the names of the classes, and how raw samples become the model's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from boostrun.config import catalogue
from boostrun.errors import BoostrunError
from boostrun.methods.archive import kind_of
from boostrun.methods.declaration import obtain
from boostrun.methods.saved import facts_of


@dataclass
class Saved:
    """What a model file holds.

    Attributes
    ----------
    model : what the class that its kind names has loaded
    classes : list of str, the name of each class number that is predicted.
    n_features : int, columns that the model itself takes.
    inputs : dict of arrays by name, as :func:`boostrun.methods.preparation.of_bank` made them; empty where the model
        takes samples as they are.
    kind : str, what the file says that it holds: one of the ``models`` that papers declare.
    labels : list, the classes as they were given in training: numbers, bools or text; empty where only their names are
        known.
    """

    model: Any
    classes: list[str]
    n_features: int
    inputs: Mapping[str, np.ndarray]
    kind: str
    labels: list[Any] = field(default_factory=list)


def read(path: str | Path) -> Saved:
    """Read what any classifier's ``save``, or ``boostrun export ... --to npz``, has written. Never unpickles.

    Raises BoostrunError where there is no such file, it is none of ours, or it does not say what its classes are.
    """
    kind = kind_of(path)
    declared = catalogue.models().get(kind)
    if declared is None:
        missing = catalogue.missing(kind)
        raise BoostrunError(f"{path} holds {kind}, which is no model that can be exported{missing}")
    model, extra = obtain(declared.target).load(path)
    facts = facts_of(extra, path)
    labels = facts.classes.tolist()
    return Saved(model, [str(label) for label in labels], facts.n_features, facts.inputs, kind, labels)
