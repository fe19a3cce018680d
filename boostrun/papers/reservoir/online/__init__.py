"""Boosters that see one sample at a time and keep none: two binary classes, labels -1 and +1."""

from boostrun.papers.reservoir.online.bisc import Bisc
from boostrun.papers.reservoir.online.leistner import Leistner
from boostrun.papers.reservoir.online.osboost import OCP, OSBoost
from boostrun.papers.reservoir.online.oza import Oza

__all__ = ["OCP", "Bisc", "Leistner", "OSBoost", "Oza"]
