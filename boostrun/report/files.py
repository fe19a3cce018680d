"""Files that are whole or absent: written under a temporary name, then renamed."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from boostrun.errors import BoostrunError


def write_bytes(path: Path | str, content: bytes) -> Path:
    """Put `content` at `path`, making its folder; a reader sees the old file or the new one, never a part.

    Raises
    ------
    BoostrunError
        The folder cannot be written, or the disk is full; nothing is left behind.
    """
    path = Path(path)
    temporary = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        # mkstemp makes private files; a published table is as readable as any other new file.
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(temporary, 0o666 & ~umask)
        os.replace(temporary, path)
    except OSError as error:
        raise BoostrunError(f"cannot write {path}: {error.strerror or error}") from error
    finally:
        if temporary is not None and os.path.exists(temporary):
            os.unlink(temporary)
    return path
