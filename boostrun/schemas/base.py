"""What every algorithm declares."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

MISSING = "???"  # OmegaConf's mark for a value that must be given


@dataclass
class Algorithm:
    """What every algorithm declares: ``paper``, and ``budget``: its short keys with their defaults.

    A default that is another key's name means "as much as that one". ``tunes`` is the key that ``boostrun tune``
    chooses, empty where there is none; such a key may be given as ``tuned``. ``tunes_by`` is what it chooses by: the
    training loss, or the error on held-out training data. ``random`` says whether trials differ, and ``pools`` which
    kinds of features (``pool`` of their schema) it is trained on. ``traits`` are words for what tells it from its
    rivals.
    """

    name: str = MISSING
    paper: ClassVar[str] = ""
    tunes: ClassVar[str] = ""
    tunes_by: ClassVar[str] = "log10_loss"
    budget: ClassVar[dict[str, int | str]] = {}
    random: ClassVar[bool] = True
    pools: ClassVar[tuple[str, ...]] = ("codes", "stumps")
    traits: ClassVar[tuple[str, ...]] = ()


@dataclass
class Majority(Algorithm):
    """Chance level: always the most frequent class."""

    name: str = "majority"
