"""Arrays that grow with a stream."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np


class Roomy(ABC):
    """A NamedTuple of arrays that has as much room as it wants so far; such types are registered here."""

    @abstractmethod
    def sized(self, arrays: Mapping[str, np.ndarray], place: str) -> Any:
        """The same with as much room as saved ones have, whose arrays have names that begin with ``place``."""
