"""A saved model as one C99 file without dependencies: what is computed is what is counted."""

from .saved import Saved, read
from .source import c_source

__all__ = ["Saved", "c_source", "read"]
