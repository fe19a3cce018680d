"""Which features and samples to look at: one policy a file, each reading like its pseudocode.

The classes are imported when they are first asked for.

>>> from boostrun.papers.adaptive.policies import Laminating
>>> Laminating(Q=64)
Laminating(Q=64)
"""

from __future__ import annotations


def __getattr__(name: str):
    from boostrun.methods.declaration import obtain
    from boostrun.papers.adaptive import POLICIES

    for where in POLICIES.values():
        if where.endswith(f":{name}"):
            return obtain(where)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
