"""Files that are whole or absent: written under a temporary name, then renamed."""

from __future__ import annotations

from pathlib import Path

from boostrun.errors import BoostrunError
from boostrun.files import sweep, write_whole


def write_bytes(path: Path | str, content: bytes) -> Path:
    """Put `content` at `path`, making its folder; a reader sees the old file or the new one, never a part.

    A link stays one, a device is written to. What killed commands left in the folder is removed.

    Raises
    ------
    BoostrunError
        The folder cannot be written, or the disk is full; nothing is left behind.
    """
    path = Path(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        sweep(path.parent)
        write_whole(path, content)
    except OSError as error:
        raise BoostrunError(f"cannot write {path}: {error.strerror or error}") from error
    return path
