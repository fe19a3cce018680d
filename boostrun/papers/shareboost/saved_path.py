"""What fitted paths have in common: they are written to a file, and read back, field by field."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import ClassVar

import numpy as np

from boostrun.methods import archive

_FEATURE = "feature_"  # in front of the names of arrays that columns are computed from


class SavedPath:
    """Base of dataclasses of plain values and arrays, and of ``features``, a dict of arrays, as their last field."""

    _format: ClassVar[str]

    def save(self, path: str | Path, **extra: np.ndarray) -> Path:
        """Write an npz (no pickle), by a temporary name then a rename; ``extra`` arrays travel with it."""
        own = {name: np.array(getattr(self, name)) for name in self._names()}
        own |= {_FEATURE + name: array for name, array in self.features.items()}  # type: ignore[attr-defined]
        return archive.save(path, self._format, own | extra)

    @classmethod
    def load(cls, path: str | Path):
        """Read back what :meth:`save` wrote: (the path, the extra arrays by name). Never unpickles."""
        values, extra = archive.load(path, cls._format, cls._names())
        names = [name for name in extra if name.startswith(_FEATURE)]
        features = {name.removeprefix(_FEATURE): extra.pop(name) for name in names}
        return cls(*(value if value.ndim else value.item() for value in values), features), extra  # type: ignore[call-arg]

    @classmethod
    def _names(cls) -> tuple[str, ...]:
        return tuple(field.name for field in fields(cls) if field.name != "features")  # type: ignore[arg-type]
