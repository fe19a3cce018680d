"""The state of a stream learner as named arrays and numbers, from which it goes on as if it had never stopped."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from boostrun.errors import BoostrunError
from boostrun.kernels.hoeffding import Roomy
from boostrun.methods import archive
from boostrun.methods.archive import Array, Damaged, converted, fitted
from boostrun.methods.probabilities import declared_for
from boostrun.methods.saved import decode, encode

MOST = 2**53  # of anything that is counted
_FORMAT = "boostrun.StreamState/1"
_BESIDE = ("classes_", "n_features_in_", "feature_names_in_")  # attributes that a file keeps beside the state
_FIXED = ("_settings.", "_family", "_n_classes", "_n_features")  # numbers that follow from parameters and data
_NUMBERS = (bool, int, float, np.bool_, np.integer, np.floating)
_ROOM = ("budget", "n_window", "batch_size")  # parameters that a learner makes room for when it begins
_SMALL_ROOM = 1024


@dataclass
class StreamState:
    """The arrays and numbers that a learner holds besides its parameters.

    Attributes
    ----------
    arrays, numbers : dict by place, "_window.0" for the first of a tuple; numbers are kept as JSON.
    n_classes : int, classes that the file of a saved state has; 0 otherwise.
    """

    arrays: dict[str, np.ndarray]
    numbers: dict[str, Any]
    n_classes: int = 0

    @classmethod
    def of(cls, learner) -> StreamState:
        """The state of a learner; BoostrunError if a part is neither array nor number, such as a tree of river."""
        state = cls({}, {} if learner._names is None else {"_names": encode("names", learner._names)})
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
        """Fill a new learner with as many features and classes, whose state has the right structure.

        Raises Damaged if this state has other types or shapes, or numbers that the paper's ``states`` refuse.
        """
        if "_names" in self.numbers:
            learner._names = decode("names", self.numbers["_names"])
        for name, part in _parts(learner).items():
            setattr(learner, name, self._filled(part, name))
        check = declared_for(learner, "states")
        if check is not None:
            check(learner, self.n_classes)

    def _filled(self, part, place: str):
        """``part`` with the leaves of this state."""
        if isinstance(part, np.ndarray):
            if place not in self.arrays:
                raise Damaged(f"it has no state_{place}")
            found = converted(f"state_{place}", part.dtype.name, self.arrays[place])
            if found.shape != part.shape:
                raise Damaged(f"state_{place} has the shape {found.shape} where {part.shape} is needed")
            return found
        if isinstance(part, np.random.Generator):
            part.bit_generator.state = self._number(place)
            return part
        if isinstance(part, _NUMBERS):
            value, kind = self._number(place), type(part)
            if place.startswith(_FIXED) and not (type(value) is kind and value == part):
                raise Damaged(f"numbers has {place} = {value!r}, and its parameters make it {part!r}")
            if kind is int and not (type(value) is int and value >= 0):
                raise Damaged(f"numbers has {place} = {value!r}: a whole number of at least 0 is needed")
            return kind(value)
        if isinstance(part, tuple):
            part = part.sized(self.arrays, place) if isinstance(part, Roomy) else part  # room grows with the stream
            filled = [self._filled(each, f"{place}.{i}") for i, each in enumerate(part)]
            return tuple(filled) if type(part) is tuple else type(part)(*filled)  # a NamedTuple
        if isinstance(part, list):
            return [self._filled(each, f"{place}.{i}") for i, each in enumerate(part)]
        raise Damaged(f"{place} is no part of a saved state")

    def _number(self, place: str):
        if place not in self.numbers:
            raise Damaged(f"numbers has no {place}")
        return self.numbers[place]

    def save(self, path: str | Path, **extra: np.ndarray) -> Path:
        """Write an .npz file without pickle, with ``extra`` arrays; returns its path."""
        arrays = {f"state_{place}": array for place, array in self.arrays.items()}
        return archive.save(path, _FORMAT, {"numbers": np.array(json.dumps(self.numbers)), **arrays, **extra})

    @classmethod
    def load(cls, path: str | Path) -> tuple[StreamState, dict[str, np.ndarray]]:
        """The state that :meth:`save` wrote, and the extra arrays. Never unpickles."""
        (numbers,), extra = archive.load(path, _FORMAT, ("numbers",), check_file)
        places = [name for name in extra if name.startswith("state_")]
        arrays = {name.removeprefix("state_"): extra.pop(name) for name in places}
        return cls(arrays, json.loads(str(numbers)), len(extra.get("classes", ()))), extra


def _parts(learner) -> dict[str, Any]:
    """The attributes that make up the state."""
    outside = {*learner.get_params(deep=False), *learner._constant, *_BESIDE, "_names", "_prepared_for"}
    return {name: value for name, value in vars(learner).items() if name not in outside}


def _leaves(parts: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """(place, array, number or other object), in order."""
    for name, part in parts.items():
        if isinstance(part, (tuple, list)):
            yield from _leaves({f"{name}.{i}": each for i, each in enumerate(part)})
        else:
            yield name, part


def check_file(arrays: archive.Arrays, sizes: dict[str, int]) -> dict[str, np.ndarray]:
    """The arrays of a saved state; raises Damaged if a learner with its parameters would need more room than they have.

    A learner makes that room before :meth:`StreamState.into` compares its arrays with these.
    """
    out = fitted({"numbers": Array("text")}, arrays, sizes)
    numbers = json.loads(str(out["numbers"]))
    if not isinstance(numbers, dict):
        raise Damaged("numbers is no object")
    names = numbers.get("_names")
    if names is not None and (not isinstance(names, list) or len(names) != sizes.get("d", len(names))):
        raise Damaged(f"numbers has other names than those of {sizes.get('d')} features")
    if sizes.get("C", 1) < 1:
        raise Damaged("classes is empty")
    room = max((size for name, array in out.items() if name.startswith("state_") for size in array.shape), default=0)
    facts = json.loads(str(out["facts"])) if "facts" in out else {}
    parameters = facts.get("parameters") if isinstance(facts, dict) else None
    for name in _ROOM:
        value = parameters.get(name) if isinstance(parameters, dict) else None
        if isinstance(value, (int, float)) and not value <= room:
            raise Damaged(f"facts has {name} = {value!r}, and the state has room for {room}")
    for name, size in (("n_features_in", "d"), ("classes", "C")):
        if sizes.get(size, 0) > max(room, _SMALL_ROOM):
            raise Damaged(f"{name} says {sizes[size]}, and the state has room for {room}")
    return out


def check_values(
    learner, table: Mapping[str, Array], tuples: Mapping[type, Mapping[str, Array]], sizes: dict[str, int]
) -> None:
    """Check the numbers in the state of a filled learner, whose types and shapes are right; raises Damaged.

    Parameters
    ----------
    table : place of an array, "_window.0", -> what its numbers must be
    tuples : a NamedTuple that is part of the state -> the same by the names of its fields
    sizes : named sizes that are known. Others are those of the arrays in a table, or in one NamedTuple.

    Numbers of all other arrays must be finite.
    """
    _check_values(_parts(learner), table, tuples, sizes)


def _check_values(parts: Mapping[str, Any], table, tuples, sizes: dict[str, int]) -> None:
    arrays, inner, waiting = {}, [], [*parts.items()]
    while waiting:
        place, part = waiting.pop(0)
        if isinstance(part, np.ndarray):
            arrays[place] = part
        elif getattr(part, "_fields", None):
            inner.append((place, part))
        elif isinstance(part, (tuple, list)):
            waiting += [(f"{place}.{i}", each) for i, each in enumerate(part)]
    rules = {f"state_{place}": table.get(place, Array("", "...")) for place in arrays}
    fitted(rules, {f"state_{place}": array for place, array in arrays.items()}, sizes)
    for place, part in inner:
        by_place = {f"{place}.{part._fields.index(name)}": rule for name, rule in tuples.get(type(part), {}).items()}
        _check_values({f"{place}.{i}": each for i, each in enumerate(part)}, by_place, tuples, dict(sizes))
