"""Saved models of adaptive sampling as C, and as operators of ONNX."""
