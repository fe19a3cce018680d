"""Digests of files, remembered by (path, size, time of change), so that a checksum costs no second reading."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from boostrun.errors import BoostrunError

_CHUNK = 1 << 22


class FileDigests:
    """Digests of files under one data root; use as a context manager, which writes the memory on leaving.

    The memory is `<data_root>/.checksums/digests.json`, or a file in the user's cache folder where the data root is
    absent or read-only. It is only a memory: losing it costs time, never correctness.

    >>> import tempfile, pathlib
    >>> root = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (root / "a.txt").write_bytes(b"abc")
    >>> with FileDigests(root) as digests:
    ...     digests.of(root / "a.txt", "md5")
    '900150983cd24fb0d6963f7d28e17f72'
    """

    def __init__(self, data_root: Path):
        self._places = [Path(data_root) / ".checksums" / "digests.json", _user_cache() / "digests.json"]
        self._known: dict[str, dict] = {}
        self._fresh: dict[str, dict] = {}
        for place in reversed(self._places):
            self._known.update(_read(place))

    def __enter__(self) -> FileDigests:
        return self

    def __exit__(self, *_) -> None:
        if self._fresh:
            self._save()

    def of(self, path: Path, algorithm: str = "sha256") -> str:
        """Hex digest of a file's bytes. Raises BoostrunError where the file cannot be read."""
        return self.derived(path, algorithm, lambda p: _digest(p, algorithm))

    def derived(self, path: Path, what: str, compute: Callable[[Path], str]) -> str:
        """compute(path), a text that depends on the file's bytes alone, remembered under the name `what`."""
        path = Path(path)
        try:
            stat = path.stat()
            key = os.path.abspath(path)
            entry = self._known.get(key)
            if not entry or entry.get("size") != stat.st_size or entry.get("mtime_ns") != stat.st_mtime_ns:
                entry = {"size": stat.st_size, "mtime_ns": stat.st_mtime_ns}
            if what not in entry:
                entry = {**entry, what: compute(path)}
                self._known[key] = self._fresh[key] = entry
        except OSError as error:
            raise BoostrunError(f"{path} cannot be read: {error.strerror or error}") from error
        return entry[what]

    def _save(self) -> None:
        for place in self._places:
            # A data root that does not exist is not made just to remember something.
            if place is self._places[0] and not place.parent.parent.is_dir():
                continue
            try:
                place.parent.mkdir(parents=True, exist_ok=True)
                merged = {**_read(place), **self._fresh}
                with tempfile.NamedTemporaryFile("w", dir=place.parent, delete=False, suffix=".tmp") as stream:
                    json.dump(merged, stream, indent=0, sort_keys=True)
                os.replace(stream.name, place)
                return
            except OSError:
                with contextlib.suppress(OSError, UnboundLocalError):
                    os.unlink(stream.name)


def _digest(path: Path, algorithm: str) -> str:
    digest = hashlib.md5(usedforsecurity=False) if algorithm == "md5" else hashlib.new(algorithm)
    with open(path, "rb") as stream:
        while chunk := stream.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def _user_cache() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(base) / "boostrun"


def _read(place: Path) -> dict[str, dict]:
    try:
        content = json.loads(place.read_text())
    except (OSError, ValueError):
        return {}
    if not isinstance(content, dict):
        return {}
    return {key: entry for key, entry in content.items() if isinstance(entry, dict)}
