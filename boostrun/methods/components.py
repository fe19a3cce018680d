"""The objects that an estimator is given as parameters, or the names of them."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Sequence
from typing import Any

from boostrun.config import catalogue
from boostrun.config.fields import fields_of


def component_of(model: Any, key: str, takes: Sequence[str] = ()) -> Any:
    """The object that the parameter ``key`` of ``model`` is, for one run: a copy of the one that was given.

    A name is looked up in the catalogue; what is found there is made with those parameters of ``model``, of the ones
    in ``takes``, that it has too, and with its own defaults. Raises BoostrunError for a name that is none.
    """
    given = getattr(model, key)
    if not isinstance(given, str):
        return copy.deepcopy(given)
    found = catalogue.part(fields_of(type(model))[key].metadata["room"], given)
    if not isinstance(found, type):
        return found  # a function, or an object, of a plug-in's
    own = {field.name for field in dataclasses.fields(found)} if dataclasses.is_dataclass(found) else set()
    return found(**{name: getattr(model, name) for name in takes if name in own})
