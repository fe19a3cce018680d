"""How large what was learned is."""

from __future__ import annotations

import contextlib
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from boostrun.errors import BoostrunError


def model_bytes(model: Any) -> int | None:
    """Bytes of the arrays that a saved model has of what it learned; None where it cannot be saved.

    Classes, parameters, names and the edges of bins, which any method needs alike, are left out. It is written to a
    temporary folder and read again, some milliseconds for a thousand trees.
    """
    with tempfile.TemporaryDirectory() as folder, contextlib.suppress(BoostrunError, OSError):
        learned = getattr(model, "_model", None)  # of a stream learner it is put together as it is asked for
        if (save := getattr(learned, "save", None)) is not None:
            with np.load(save(Path(folder) / "model"), allow_pickle=False) as saved:
                return sum(saved[name].nbytes for name in saved.files if name != "format")
    return None
