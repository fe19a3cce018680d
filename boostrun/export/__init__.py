"""A saved model as one C99 file without dependencies, where what is computed is what is counted; or as an ONNX file."""

from .saved import Saved, read
from .source import c_source

__all__ = ["Saved", "c_source", "read"]
