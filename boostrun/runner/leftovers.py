"""What the pools of a killed command leave in shared memory, and how the next command removes it.

A command that has workers leaves a mark, an empty file whose name says whose it is, while it lives. Where a mark is
left and its process is not, what that process had in shared memory belongs to nobody: joblib's folders and loky's
semaphores, which their keeper removes unless it was killed with the rest.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import os
import shutil
import tempfile
from pathlib import Path

from boostrun.files import Maker, made_here, owner

_SHARED = Path("/dev/shm")


@functools.cache
def mark() -> None:
    """This process has workers, until it ends."""
    path = Path(tempfile.gettempdir()) / f"boostrun-{owner()}-.pool"
    with contextlib.suppress(OSError):
        path.touch(exist_ok=True)
        atexit.register(functools.partial(path.unlink, missing_ok=True))


def sweep() -> None:
    """Remove what the pools of this person's killed commands left in shared memory; another machine's marks stay."""
    for path in Path(tempfile.gettempdir()).glob("boostrun-*-.pool"):
        with contextlib.suppress(OSError):
            process = made_here(path.name)
            if process is None or path.stat().st_uid != os.getuid() or Maker(process.number).alive:
                continue  # what another process of the same number holds cannot be told from it
            for left in _of(process.number):
                _remove(left)
            path.unlink()


def _of(process: int) -> list[Path]:
    folders = [_SHARED, Path(os.environ.get("JOBLIB_TEMP_FOLDER") or tempfile.gettempdir())]
    found = [path for folder in folders for path in folder.glob(f"joblib_memmapping_folder_{process}_*")]
    return [*found, *_SHARED.glob(f"sem.loky-{process}-*")]


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink()
