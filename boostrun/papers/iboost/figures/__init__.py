"""Figures of the paper."""
