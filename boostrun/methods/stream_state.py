"""The state of a stream learner as named arrays and plain numbers, from which it goes on as if it had never stopped."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from boostrun.errors import BoostrunError
from boostrun.kernels.hoeffding import Roomy
from boostrun.methods import archive
from boostrun.methods import saved as plain

_FORMAT = "boostrun.StreamState/1"
_ELSEWHERE = ("classes_", "n_features_in_", "feature_names_in_")  # stand beside the state in a file
_FOLLOWS = "_settings."  # numbers that follow from the parameters, which compiled loops run by
_NUMBERS = (bool, int, float, np.bool_, np.integer, np.floating)


@dataclass
class StreamState:
    """What a learner holds besides its parameters, by place: ``arrays``, and ``numbers``, which JSON keeps."""

    arrays: dict[str, np.ndarray]
    numbers: dict[str, Any]

    @classmethod
    def of(cls, learner) -> StreamState:
        """Raises BoostrunError where a part is neither an array nor a number, such as a tree of river."""
        state = cls({}, {} if learner._names is None else {"_names": plain.encode("names", learner._names)})
        for place, leaf in _leaves(_parts(learner)):
            if isinstance(leaf, np.ndarray) and leaf.dtype != object:
                state.arrays[place] = leaf
            elif isinstance(leaf, _NUMBERS):
                state.numbers[place] = leaf if isinstance(leaf, (bool, int, float)) else leaf.item()
            elif isinstance(leaf, np.random.Generator):
                state.numbers[place] = leaf.bit_generator.state
            else:
                raise BoostrunError(
                    f"{type(learner).__name__} cannot be saved: its {place} is a {type(leaf).__name__}, not an array"
                )
        return state

    def into(self, learner) -> None:
        """Fill a learner that has just begun, with as many features and classes; its structure is what counts.

        Raises BoostrunError where the state is not one of such a learner.
        """
        if "_names" in self.numbers:
            learner._names = plain.decode("names", self.numbers["_names"])
        for name, part in _parts(learner).items():
            setattr(learner, name, self._filled(part, name))

    def _filled(self, part, place: str):
        """``part`` with the leaves of this state in place of its own."""
        if isinstance(part, np.ndarray):
            found = self.arrays.get(place)
            if found is None or found.shape != part.shape or found.dtype != part.dtype:
                raise BoostrunError(f"the saved state has no {place} of {part.dtype}{list(part.shape)}")
            return np.array(found, order="C")
        if isinstance(part, np.random.Generator):
            part.bit_generator.state = self._number(place)
            return part
        if isinstance(part, _NUMBERS):
            value = self._number(place)
            if place.startswith(_FOLLOWS) and not (type(value) is type(part) and value == part):
                raise BoostrunError(f"the saved state has {place} = {value!r}, and its parameters make it {part!r}")
            return type(part)(value)
        if isinstance(part, tuple):
            part = (
                part.sized(self.arrays, place) if isinstance(part, Roomy) else part
            )  # room that grows with the stream
            filled = [self._filled(each, f"{place}.{i}") for i, each in enumerate(part)]
            return tuple(filled) if type(part) is tuple else type(part)(*filled)  # a NamedTuple
        if isinstance(part, list):
            return [self._filled(each, f"{place}.{i}") for i, each in enumerate(part)]
        raise BoostrunError(f"{place} is no part of a saved state")

    def _number(self, place: str):
        if place not in self.numbers:
            raise BoostrunError(f"the saved state has no {place}")
        return self.numbers[place]

    def save(self, path: str | Path, **extra: np.ndarray) -> Path:
        """Write an npz (no pickle), by a temporary name then a rename; ``extra`` arrays travel with it."""
        arrays = {f"state_{place}": array for place, array in self.arrays.items()}
        return archive.save(path, _FORMAT, {"numbers": np.array(json.dumps(self.numbers)), **arrays, **extra})

    @classmethod
    def load(cls, path: str | Path) -> tuple[StreamState, dict[str, np.ndarray]]:
        """Read back what :meth:`save` wrote: the state, and the extra arrays. Never unpickles."""
        (numbers,), extra = archive.load(path, _FORMAT, ("numbers",))
        places = [name for name in extra if name.startswith("state_")]
        arrays = {name.removeprefix("state_"): extra.pop(name) for name in places}
        return cls(arrays, json.loads(str(numbers))), extra


def _parts(learner) -> dict[str, Any]:
    """The attributes that make up the state."""
    outside = {*learner.get_params(deep=False), *_ELSEWHERE, "_names"}
    outside |= {*learner._constant}
    return {name: value for name, value in vars(learner).items() if name not in outside}


def _leaves(parts: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """(place, array or number or whatever it is), place by place."""
    for name, part in parts.items():
        if isinstance(part, (tuple, list)):
            yield from _leaves({f"{name}.{i}": each for i, each in enumerate(part)})
        else:
            yield name, part
