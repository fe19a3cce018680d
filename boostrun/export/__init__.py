"""A saved model as one C99 file without dependencies, which computes only what is counted, or as an ONNX file."""

from boostrun.export.c import c_source
from boostrun.export.parts import Saved, read

__all__ = ["Saved", "c_source", "read"]
