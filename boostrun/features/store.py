"""Files of feature banks: locks, preallocated arrays, checksums, and the journal from which a killed build resumes.

`meta.json` of a bank holds the checksums its build has written. `seal.json` beside it holds checksums of later files
(the samples, a transposition made on first use) and of `meta.json`, and the file system's state of each file at its
last check; a file in the same state is not read again (see `boostrun.data.digests`).

A build works in its own folder `<key>...tmp/`. Its `journal.json` is written by temporary name, fsync and rename, after
the files it names: whenever the process is killed, the journal names only complete files. Files that do not match their
checksum there are computed again.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import importlib
import io
import json
import os
import secrets
import shutil
import sys
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import numpy as np

from boostrun.data.dataset import forget
from boostrun.data.digests import looked_at, state_of
from boostrun.errors import BoostrunError
from boostrun.files import made_here, owner, sweep, write_whole

_SECONDS = 5.0  # between two plain lines


class Progress:
    """Counts units of work; silent unless `show`. `done` units were finished by an earlier, killed build.

    >>> with Progress("features", total=2, show=False) as progress:
    ...     progress.advance(2)
    """

    def __init__(self, label: str, total: int, show: bool, unit: str = "images", done: int = 0):
        self._label, self._total, self._unit = label, total, unit
        self._done = done
        self._show = show
        self._bar = None
        self._last = time.monotonic()
        if show and sys.stderr.isatty():
            from tqdm import tqdm

            self._bar = tqdm(total=total, initial=done, desc=label, unit=f" {unit}", file=sys.stderr, leave=False)
        if show and done:
            line = f"{label}: resumed at {done} of {total} {unit}"
            print(line, file=sys.stderr, flush=True) if self._bar is None else self._bar.write(line, file=sys.stderr)

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_) -> None:
        if self._bar is not None:
            self._bar.close()

    def advance(self, count: int) -> None:
        self._done += count
        if self._bar is not None:
            self._bar.update(count)
        elif self._show and time.monotonic() - self._last >= _SECONDS:
            self._last = time.monotonic()
            print(f"{self._label}: {self._done} of {self._total} {self._unit}", file=sys.stderr, flush=True)


NAME = "seal.json"
_DERIVED = "samples_"  # derived files, rebuilt from the others
_ROWS = 1024  # samples that are compared at a time


class Findings(NamedTuple):
    """The result of a check of a bank.

    ``damage``: a clause, empty if all files that cannot be rebuilt are intact; ``spoilt``: names of damaged derived
    files; ``sha256`` by name of the files that were read and are intact, and ``states`` of those whose state identifies
    them.
    """

    damage: str
    spoilt: tuple[str, ...] = ()
    sha256: Mapping[str, str] = {}
    states: Mapping[str, Mapping[str, int]] = {}


def look(folder: Path, anew: bool = False) -> Findings:
    """Hash the files that may have changed since the last check, in two threads; changes nothing.

    With ``anew`` all files are hashed.
    """
    sealed, states = _read(folder)
    try:
        content = (folder / "meta.json").read_bytes()
        expected = {str(name): str(entry["sha256"]) for name, entry in json.loads(content)["files"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return Findings("meta.json cannot be read")
    names = {"meta.json", *expected, *(path.name for path in folder.glob("*.np[yz]"))}
    expected = {**sealed, **expected}
    try:
        now = {name: state_of(folder / name) for name in sorted(names)}
        changed = [name for name in now if anew or name not in expected or states.get(name) != now[name]]
        with ThreadPoolExecutor(2) as threads:
            looks = threads.map(lambda name: looked_at(folder / name, sha256_of), changed)
            found = {name: (sha256, state) for name, (sha256, state) in zip(changed, looks)}
    except OSError as error:
        return Findings(f"a file cannot be read: {error.strerror or error}")
    right = {name: sha256 for name, (sha256, _) in found.items() if expected.get(name, sha256) == sha256}
    if lost := [name for name in changed if name not in right and not name.startswith(_DERIVED)]:
        return Findings(f"{lost[0]} is not what was written")
    for name in [name for name in right if name.startswith(_DERIVED) and name not in expected]:
        if not _transposed(folder, name):  # of a bank older than seals
            del right[name]
    spoilt = tuple(name for name in changed if name not in right)
    return Findings("", spoilt, right, {name: state for name in right if (state := found[name][1]) is not None})


def note(folder: Path, sha256: Mapping[str, str], states: Mapping[str, Mapping[str, int]]) -> None:
    """Add to the seal; the caller holds the bank's lock. If the seal cannot be written, it is skipped."""
    if not sha256:
        return
    sealed, known = _read(folder)
    content = {"sha256": {**sealed, **sha256}, "states": {**known, **states}}
    if content == {"sha256": sealed, "states": known}:
        return
    with contextlib.suppress(OSError):
        write_whole(folder / NAME, json.dumps(content, indent=1).encode())


def sha256_of(path: Path) -> str:
    """sha256 (hex) of a file's bytes."""
    digest = hashlib.sha256()
    with open(path, "rb") as stream:
        while chunk := stream.read(1 << 22):
            digest.update(chunk)
    return digest.hexdigest()


def _transposed(folder: Path, name: str) -> bool:
    """Whether samples are the transposition of the codes beside them."""
    try:
        samples, codes = (np.load(folder / each, mmap_mode="r") for each in (name, name.replace(_DERIVED, "codes_")))
    except Exception:  # a damaged head raises any of a dozen kinds
        return False
    rows = (slice(start, start + _ROWS) for start in range(0, len(samples), _ROWS))
    return samples.shape == codes.shape[::-1] and all(np.array_equal(samples[some], codes[:, some].T) for some in rows)


def _read(folder: Path) -> tuple[dict[str, str], dict[str, dict]]:
    """Checksums and states; empty if the seal is absent or damaged."""
    try:
        content = json.loads((folder / NAME).read_bytes())
        return {**content["sha256"]}, {**content["states"]}
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return {}, {}


_ABANDONED = 3 * 24 * 3600.0  # seconds without a change after which a half-built bank is not resumed
_QUIET = 60.0  # seconds after which a builder on another machine, whose lock we hold, is not at work
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@contextmanager
def locked(folder: Path, wait: bool = True) -> Iterator[bool]:
    """Hold the lock of the bank `folder` (`<folder>.lock` beside it); yields whether it was acquired.

    With `wait` it always is. The operating system frees the lock of a process that dies.
    """
    from filelock import FileLock, Timeout

    lock = FileLock(str(folder) + ".lock", timeout=-1 if wait else 0)
    try:
        lock.acquire()
    except Timeout:
        yield False
        return
    except OSError as error:
        raise _unwritable(folder.parent, error) from error
    try:
        yield True
    finally:
        lock.release()


@contextmanager
def out_of_room(folder: Path) -> Iterator[None]:
    """Turn a full disk and a read-only folder into a sentence."""
    try:
        yield
    except OSError as error:
        if error.errno in _NO_ROOM:
            raise BoostrunError(
                f"no room left for the feature bank under {folder.parent}; nothing was left behind. "
                "Free some space or set cache_root=... to a larger disk"
            ) from error
        if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
            raise _unwritable(folder.parent, error) from error
        raise


def make_folder(folder: Path) -> None:
    """Make the folder of the banks, or say that the cache root cannot be written."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _unwritable(folder, error) from error
    if not os.access(folder, os.W_OK):
        raise _unwritable(folder, PermissionError(errno.EACCES, "permission denied"))


def create_array(path: Path, dtype, shape: tuple[int, ...]) -> np.memmap:
    """A new .npy file of zeros, not empty, as a writable memory map, its room on the disk reserved.

    Writing through a map to a disk that is full kills the process; reserving first raises OSError instead.
    """
    dtype = np.dtype(dtype)
    with open(path, "wb") as stream:
        header = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": tuple(shape)}
        np.lib.format.write_array_header_1_0(stream, header)
        stream.flush()
        _reserve(stream, stream.tell(), int(np.prod(shape, dtype=np.int64)) * dtype.itemsize)
    return np.lib.format.open_memmap(path, mode="r+")


def _reserve(stream, start: int, size: int) -> None:
    if sys.platform == "linux":
        os.posix_fallocate(stream.fileno(), start, size)
        return
    zeros = bytes(1 << 20)
    for done in range(0, size, len(zeros)):
        stream.write(zeros[: size - done])


def remove(folder: Path) -> None:
    """Remove a folder with its files; absent is fine."""
    shutil.rmtree(folder, ignore_errors=True)


def place_to_build(folder: Path) -> Path:
    """The name under which this process builds the bank `folder`, in `<name>.tmp`, unique to this process.

    So two builders that a disk without working locks lets in do not meet. The folder of a dead builder is taken over
    under that name; a builder on another machine counts as dead when its journal has not changed for a minute, and
    fails without harm if it was not. The caller holds the lock of the bank.
    """
    mine = folder.with_name(f"{folder.name}.{owner()}-{secrets.token_hex(4)}")
    for half in sorted(folder.parent.glob(f"{folder.name}.*tmp"), key=lambda half: _age(half / "journal.json")):
        if _gone(half):
            with suppress(OSError):  # another one was faster
                half.rename(f"{mine}.tmp")
                break
    return mine


def finish(built: Path, folder: Path) -> None:
    """Rename a complete bank to its name; a bank that appeared there meanwhile stays, being the same to the byte."""
    try:
        built.rename(folder)
    except OSError:
        if not (folder / "meta.json").is_file():
            raise
        remove(built)


def finished_elsewhere(folder: Path) -> bool:
    """Rename the bank `folder` if another builder completed it but ended before renaming it; returns whether."""
    for built in folder.parent.glob(f"{folder.name}.????????-*-????????"):
        if (built / "meta.json").is_file():
            with suppress(OSError):
                finish(built, folder)
                return True
    return False


def sweep_banks(banks: Path, building: str = "") -> None:
    """Remove remains of killed builds in `banks`: folders `*.tmp` whose lock is free.

    A folder with a journal may be resumed, so it stays until the journal is three days old or its bank exists; folders
    of the bank `building` (its key) always stay.
    """
    for half in banks.glob("*.tmp"):
        folder = half.with_name(half.name.partition(".")[0])
        if folder.name == building:
            continue
        with locked(folder, wait=False) as free:
            if free and ((folder / "meta.json").is_file() or _age(half / "journal.json") > _ABANDONED):
                remove(half)


def _gone(half: Path) -> bool:
    """Whether the builder of this folder is gone, as far as can be known on this machine."""
    made_by = made_here(half.name)
    if made_by is None:
        return "-" not in half.name or _age(half / "journal.json") > _QUIET
    return made_by.number == os.getpid() or not made_by.alive


def _age(path: Path) -> float:
    """Seconds since a file was last written; infinite if it is absent."""
    try:
        return time.time() - path.stat().st_mtime
    except OSError:
        return float("inf")


def _unwritable(folder: Path, error: OSError) -> BoostrunError:
    return BoostrunError(
        f"feature banks cannot be written under {folder} ({error.strerror or error}); "
        "set cache_root=... to a folder that can be written"
    )


JOURNAL = "journal.json"
_FORMAT = 1
# another version may round otherwise
_LIBRARIES = ("numpy", "scipy", "numba", "torch", "scikit-learn", "scikit-image", "PyWavelets")


class NoJournal:
    """A journal that keeps nothing, for a pipeline fitted outside of a build."""

    def load(self, name: str) -> None:
        """Always None."""

    def save(self, name: str, **arrays: np.ndarray) -> None:
        """Keep nothing."""

    def beside(self, name: str, **arrays: np.ndarray) -> None:
        """Keep nothing."""

    def require_same(self, name: str, array: np.ndarray) -> None:
        """Compare nothing."""


class Journal:
    """The journal of one build; the caller holds the bank's lock.

    Opening it takes over the remains of an earlier build of the same bank in `folder`, and empties the folder if they
    are of another bank or format, or damaged.

    Parameters
    ----------
    folder : Path, created if it does not exist
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
        """The arrays saved under a name; None if there are none or their file is damaged."""
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
        """Keep arrays (no objects) under a name, replacing earlier ones."""
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
        """Record that columns start..stop of the array at `path` are written; `start` is where the last block ended.

        A killed process loses nothing it wrote through a map; losses by a power cut show in the checksum.
        """
        self._columns.setdefault(path.name, []).append([stop, _digest(array[:, start:stop])])
        self._write()
        forget(array._mmap)  # type: ignore[attr-defined]  # what is written counts as memory otherwise

    def require_same(self, name: str, array: np.ndarray) -> None:
        """Discard all kept state unless `array` equals, byte for byte, the one kept under this name.

        State kept with another array belongs to another computation. The first array of a build is kept.
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
            content = json.loads((self.folder / JOURNAL).read_bytes())
            if {part: content[part] for part in self._head} != self._head:
                return None
            body = content["body"]
            if content["sha256"] != hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest():
                raise ValueError
            return body["states"], body["columns"], body["seconds"]
        except OSError:  # there is none
            return None
        except (ValueError, KeyError, TypeError, RecursionError):
            print(f"boostrun: {self.folder / JOURNAL} is damaged; the build starts again", file=sys.stderr)
            return None

    def _write(self) -> None:
        body = {"states": self._states, "columns": self._columns, "seconds": round(self.seconds(), 3)}
        digest = hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
        write_whole(self.folder / JOURNAL, json.dumps({**self._head, "body": body, "sha256": digest}).encode())

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
