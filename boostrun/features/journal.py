"""What of a half-built bank may be used again: fitted state and finished blocks, each with its checksum.

A build works in a folder `<key>...tmp/` of its own. Its `journal.json` is written by temporary name, fsync and rename,
after what it names: so whenever the process is killed, the journal names only what is there. What does not fit its
checksum there is computed again.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import io
import json
import sys
import time
from pathlib import Path

import numpy as np

from boostrun.data.on_disk import forget
from boostrun.features.store import create_array, remove
from boostrun.files import sweep, write_whole

NAME = "journal.json"
_FORMAT = 1
# another version may round otherwise
_LIBRARIES = ("numpy", "scipy", "numba", "torch", "scikit-learn", "scikit-image", "PyWavelets")


class NoJournal:
    """For a pipeline that is fitted outside of a build: nothing is kept."""

    def load(self, name: str) -> None:
        """None: there is no such state."""

    def save(self, name: str, **arrays: np.ndarray) -> None:
        """Keeps nothing."""

    def beside(self, name: str, **arrays: np.ndarray) -> None:
        """Keeps nothing."""

    def require_same(self, name: str, array: np.ndarray) -> None:
        """There is nothing to compare with."""


class Journal:
    """The journal of one build; the caller holds the bank's lock.

    Opening it takes over what an earlier build of the same bank left in `folder`, and empties the folder where it is
    another bank's, another format's or damaged.

    Parameters
    ----------
    folder : Path, made if it is not there
    key : str, the bank's key

    Raises
    ------
    OSError
        A full disk, a folder that cannot be written (from all methods that write).
    """

    def __init__(self, folder: Path, key: str):
        self.folder = folder
        self._head = {"format": _FORMAT, "key": key, "libraries": _versions()}
        self._begun = time.perf_counter()
        sweep(folder)
        found = self._read()
        if found is None:
            self._empty()
        else:
            self._states, self._columns, self._earlier = found

    def load(self, name: str) -> dict[str, np.ndarray] | None:
        """The arrays that were saved under a name; None where there are none or their file is damaged."""
        digest = self._states.get(name)
        try:
            content = self._state(name, digest).read_bytes() if digest else b""
        except OSError:
            return None
        if not digest or hashlib.sha256(content).hexdigest() != digest:
            return None
        with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
            return dict(arrays)

    def save(self, name: str, **arrays: np.ndarray) -> None:
        """Keep arrays (no objects) under a name, instead of what was kept there before."""
        stream = io.BytesIO()
        np.savez(stream, **arrays)  # type: ignore[arg-type]
        content, before = stream.getbuffer(), self._states.get(name)
        self._states[name] = digest = hashlib.sha256(content).hexdigest()
        write_whole(self._state(name, digest), content)
        self._write()
        if before not in (None, digest):
            self._state(name, before).unlink(missing_ok=True)

    def beside(self, name: str, **arrays: np.ndarray) -> None:
        """Put arrays (no objects) into the bank, beside its codes: `<name>.npz` of the finished folder."""
        (self.folder / "bank").mkdir(exist_ok=True)
        sweep(self.folder / "bank")
        stream = io.BytesIO()
        np.savez(stream, **arrays)  # type: ignore[arg-type]
        write_whole(self.folder / "bank" / f"{name}.npz", stream.getbuffer())

    def columns(self, path: Path, dtype, shape: tuple[int, int]) -> tuple[np.memmap, int]:
        """The .npy file of a (d, n) array that is filled block of columns by block, and how many columns are done.

        Blocks that an earlier build finished are read and compared with their checksums; the first that differs and
        all after it are computed again.
        """
        array = _opened(path, np.dtype(dtype), shape) if self._columns.get(path.name) else None
        if array is None:
            self._columns.pop(path.name, None)
            return create_array(path, dtype, shape), 0
        good, start = [], 0
        for stop, digest in self._columns[path.name]:
            if not start < stop <= shape[1] or _digest(array[:, start:stop]) != digest:
                break
            good.append([stop, digest])
            start = stop
        self._columns[path.name] = good
        return array, start

    def finished(self, path: Path, array: np.memmap, start: int, stop: int) -> None:
        """Columns start..stop of the array at `path` are there; `start` is where the last block ended.

        A killed process loses nothing that it wrote through a map; what a power cut loses, the checksum tells.
        """
        self._columns.setdefault(path.name, []).append([stop, _digest(array[:, start:stop])])
        self._write()
        forget(array._mmap)  # type: ignore[attr-defined]  # what is written counts as memory otherwise

    def require_same(self, name: str, array: np.ndarray) -> None:
        """Throw all away that was kept, unless `array` equals, byte for byte, the one that was kept under this name.

        What was kept with another array came of another computation. The first array of a build is the one kept.
        """
        kept = self.load(name)
        if kept is not None and kept["it"].dtype == array.dtype and kept["it"].tobytes() == array.tobytes():
            return
        if self._columns or name in self._states:
            self._empty()
        self.save(name, it=array)

    def seconds(self) -> float:
        """Wall time of this build and of the earlier ones, up to their last entries."""
        return self._earlier + time.perf_counter() - self._begun

    def _empty(self) -> None:
        remove(self.folder)
        self.folder.mkdir()
        self._states, self._columns, self._earlier = {}, {}, 0.0

    def _read(self) -> tuple[dict, dict, float] | None:
        try:
            content = json.loads((self.folder / NAME).read_bytes())
            if {part: content[part] for part in self._head} != self._head:
                return None
            body = content["body"]
            if content["sha256"] != hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest():
                raise ValueError
            return body["states"], body["columns"], body["seconds"]
        except OSError:  # there is none
            return None
        except (ValueError, KeyError, TypeError, RecursionError):
            print(f"boostrun: {self.folder / NAME} is damaged; the build begins anew", file=sys.stderr)
            return None

    def _write(self) -> None:
        body = {"states": self._states, "columns": self._columns, "seconds": round(self.seconds(), 3)}
        digest = hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
        write_whole(self.folder / NAME, json.dumps({**self._head, "body": body, "sha256": digest}).encode())

    def _state(self, name: str, digest: str) -> Path:
        return self.folder / f"{name}.{digest[:16]}.npz"


def _versions() -> dict[str, str]:
    found = {"python": ".".join(map(str, sys.version_info[:3]))}
    for library in _LIBRARIES:
        try:
            found[library] = importlib.metadata.version(library)
        except importlib.metadata.PackageNotFoundError:
            found[library] = ""
    return found


def _opened(path: Path, dtype: np.dtype, shape: tuple[int, int]) -> np.memmap | None:
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)  # to write, it would lengthen a file that is too short
    except Exception:  # a damaged head raises any of a dozen kinds
        return None
    fits = array.dtype == dtype and array.shape == shape and array.flags.c_contiguous
    return np.lib.format.open_memmap(path, mode="r+") if fits else None


def _digest(block: np.ndarray) -> str:
    return hashlib.sha256(np.ascontiguousarray(block)).hexdigest()  # type: ignore[arg-type]
