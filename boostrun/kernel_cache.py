"""Numba's cache of compiled kernels, mended: neither a damaged file nor a folder that cannot be written stops anything.

Numba keeps a kernel beside its module, or in the user's cache folder, and takes whatever it finds there for whole.
Where neither folder can be written (a container, a project mounted read-only) it refuses to make the kernel at all, and
a file that is cut or has a wrong bit ends every call, or runs. Here each file ends in the digest of its content and
counts as absent when that is wrong, so that the kernel is compiled again; a folder for temporary files is the last
resort. To read and digest the 40 files of a command takes 2 ms.

Numba compiles a kernel again when its own file has changed, but not when that of a kernel that it calls has: after a
``git pull`` old code would run on, under the digest of the new. Here a kernel's file is known by the files of all
modules that it reaches.

Kernels of plug-ins import Numba themselves, so Numba is mended where it defines its cache, as soon as that is loaded.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import io
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

_MARK = b"boostrun sealed\n"
_DIGEST = hashlib.sha256().digest_size


def sealed(content: bytes) -> bytes:
    """What is written for ``content``: itself, a mark and its digest, which a reader of pickles does not look at."""
    return content + _MARK + hashlib.sha256(content).digest()


def whole(content: bytes) -> bool:
    """Whether what was read is as it was written; True of a file without a seal, which Numba wrote without us.

    >>> whole(sealed(b"kernel")), whole(sealed(b"kernel").replace(b"k", b"j")), whole(b"kernel")
    (True, False, True)
    """
    head, seal = content[: -len(_MARK) - _DIGEST], content[-len(_MARK) - _DIGEST :]
    return not seal.startswith(_MARK) or hashlib.sha256(head).digest() == seal[len(_MARK) :]


@functools.cache
def last_resort() -> Path:
    """Where kernels are kept when no usual folder can be written: one folder a person, shared by all processes.

    A folder of that name that is somebody else's is not used, since what lies in it is executed: then kernels are kept
    nowhere, and the path given is one that cannot be made.
    """
    nowhere = Path(os.devnull) / "numba"
    try:
        folder = Path(tempfile.gettempdir()) / f"boostrun-numba-{os.getuid() if os.name == 'posix' else 'user'}"
        folder.mkdir(mode=0o700, exist_ok=True)
        status = folder.lstat()
    except OSError:
        return nowhere
    if os.name == "posix" and (folder.is_symlink() or status.st_uid != os.getuid() or status.st_mode & 0o022):
        return nowhere
    return folder


def modules_behind(kernel: Any) -> set[str]:
    """Names of the modules, of a kernel's own package and of this one, that a Python function under a kernel reaches:
    those of what its names stand for, and so on through other kernels and modules.

    >>> from boostrun.kernels import trees
    >>> sorted(modules_behind(trees.grow.py_func))
    ['boostrun.kernels.trees']
    """
    packages = {kernel.__module__.partition(".")[0], "boostrun"}
    found, seen, waiting = {kernel.__module__}, set(), [kernel.__globals__]
    while waiting:
        names = waiting.pop()
        if id(names) in seen:
            continue
        seen.add(id(names))
        for value in list(names.values()):
            whole_module = isinstance(value, ModuleType)
            module = value.__name__ if whole_module else getattr(value, "__module__", None)
            if isinstance(module, str) and module.partition(".")[0] in packages:
                found.add(module)
                inner = vars(value) if whole_module else getattr(getattr(value, "py_func", None), "__globals__", None)
                if inner is not None:
                    waiting.append(inner)
    return found


def stamp_of(kernel: Any) -> tuple:
    """Name, time and size of the file of each module behind a kernel, in the order of their names."""
    files = ((name, getattr(sys.modules.get(name), "__file__", None)) for name in sorted(modules_behind(kernel)))
    stats = ((name, os.stat(file)) for name, file in files if file and os.path.exists(file))
    return tuple((name, found.st_mtime, found.st_size) for name, found in stats)


def mend(caching: Any) -> None:
    """Replace the class of Numba's cache files, add a folder to those it tries, and let no error of the cache out.

    These are no public parts of Numba's: a version that has others is left as it is.
    """
    with contextlib.suppress(AttributeError):
        _mend(caching)


def _mend(caching: Any) -> None:

    class SealedFiles(caching.IndexDataCacheFile):
        """Index and data files that are whole, or count as absent."""

        def _load_index(self) -> dict:
            try:
                return super()._load_index() if _whole_file(self._index_path) else {}
            except Exception:  # a damaged pickle raises any of a dozen kinds
                return {}

        def _load_data(self, name: str) -> Any:
            path = self._data_path(name)
            if not _whole_file(path):
                raise FileNotFoundError(path)
            return super()._load_data(name)

        @contextlib.contextmanager
        def _open_for_write(self, filepath: str) -> Iterator[io.BytesIO]:
            content = io.BytesIO()
            with super()._open_for_write(filepath) as file:
                yield content
                file.write(sealed(content.getvalue()))

    class LastResort(caching._SourceFileBackedLocatorMixin, caching._CacheLocator):
        """Numba's way to a folder: this one is never refused, and written to where it can be."""

        def __init__(self, py_func: Any, py_file: str) -> None:
            self._py_file, self._lineno = py_file, py_func.__code__.co_firstlineno

        @classmethod
        def from_function(cls, py_func: Any, py_file: str) -> LastResort | None:
            return cls(py_func, py_file) if os.path.exists(py_file) else None

        def get_cache_path(self) -> str:
            return str(last_resort() / self.get_suitable_cache_subpath(self._py_file))

    cache = caching.Cache
    load, save = cache._load_overload, cache.save_overload

    @functools.wraps(load)
    def load_or_nothing(self: Any, *arguments: Any) -> Any:
        try:
            self._cache_file._source_stamp = stamp_of(
                self._py_func
            )  # by now all names have come to stand for something
            return load(self, *arguments)
        except Exception:  # whatever is wrong with what was kept, the kernel can be compiled
            return None

    @functools.wraps(save)
    def save_if_possible(self: Any, *arguments: Any) -> None:
        with contextlib.suppress(OSError):  # a full disk, a folder that was writable a moment ago
            save(self, *arguments)

    caching.IndexDataCacheFile = SealedFiles
    caching.CacheImpl._locator_classes.append(LastResort)
    cache._load_overload, cache.save_overload = load_or_nothing, save_if_possible


def _whole_file(path: str) -> bool:
    try:
        return whole(Path(path).read_bytes())
    except OSError:
        return False
