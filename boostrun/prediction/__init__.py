"""Saved models on new samples: any classifier's file, and files of samples read a bounded piece at a time."""

from boostrun.prediction import model as answers
from boostrun.prediction.model import load

from .samples import pieces

__all__ = ["answers", "load", "pieces"]
