"""Predictions of saved models: the classifier in any model file, and files of samples, read in pieces."""

from boostrun.prediction import model as answers
from boostrun.prediction.model import load
from boostrun.prediction.samples import pieces

__all__ = ["answers", "load", "pieces"]
