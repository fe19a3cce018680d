"""Boosters that see one sample at a time and keep none: two binary classes, labels -1 and +1."""

from .bisc import Bisc
from .leistner import Leistner
from .osboost import OCP, OSBoost
from .oza import Oza

__all__ = ["OCP", "Bisc", "Leistner", "OSBoost", "Oza"]
