"""Shalev-Shwartz, Wexler & Shashua 2011: ShareBoost, one small set of features for all classes, and its rivals.

``shareboost.py`` is the loop; ``pools/`` holds one kind of candidate features a file.
"""
