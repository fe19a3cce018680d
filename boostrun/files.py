"""Files that are complete or absent, removal of temporary files whose writer died, and YAML files.

A file is written under a unique temporary name, so that two writers never meet, even on a disk without working locks.
The name states the writing process and machine; the next command removes the files of dead writers.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import io
import json
import os
import platform
import re
import secrets
import stat
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

_OWNED = re.compile(r"\b([0-9a-f]{8})-(\d+)(?:\.(\d+))?-")
_ABANDONED = 3600.0  # seconds after which another machine's file counts as abandoned


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A file to write, which appears as ``path`` only when it is complete, for readers and after a crash.

    A link stays, and its target is replaced; a device or pipe is written to directly. Raises OSError; then, as after
    any exception in the block, the old file is kept.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> with replacing(folder / "a.txt") as file:
    ...     _ = file.write(b"whole")
    >>> [(path.name, path.read_bytes()) for path in folder.iterdir()]
    [('a.txt', b'whole')]
    """
    if is_device(path):
        content = io.BytesIO()  # seekable, unlike a pipe
        yield content
        Path(path).write_bytes(content.getvalue())
        return
    path = Path(os.path.realpath(path)) if os.path.islink(path) else Path(path)
    temporary = path.with_name(f".{path.name}.{owner()}-{secrets.token_hex(4)}.tmp")
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(descriptor)
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
    sync_folder(path.parent)


def write_whole(path: Path, data: bytes | memoryview) -> None:
    """Put ``data`` at ``path`` as :func:`replacing` does, unless it is its content already; raises OSError.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "a.txt"
    >>> times = [write_whole(path, b"whole") or path.stat().st_mtime_ns for _ in range(2)]
    >>> times[0] == times[1]
    True
    """
    if not is_device(path):
        with contextlib.suppress(OSError):
            if os.stat(path).st_size == len(data) and Path(path).read_bytes() == data:
                return
    with replacing(path) as file:
        file.write(data)


def as_npz(path: Path) -> Path:
    """The path of an .npz file: ``.npz`` is added if it lacks; a device keeps its name.

    >>> as_npz(Path("m.v2")), as_npz(Path("m.npz"))
    (PosixPath('m.v2.npz'), PosixPath('m.npz'))
    """
    return path if path.suffix == ".npz" or is_device(path) else path.with_name(f"{path.name}.npz")


def is_device(path: Path | str) -> bool:
    """Whether a path exists and cannot be replaced: a device, a pipe, or an open file under /proc, as /dev/stdout.

    >>> is_device(os.devnull), is_device("/no/such/file")
    (True, False)
    """
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False
    if stat.S_ISREG(mode):  # perhaps /dev/stdout, redirected to a file
        link = os.readlink(path) if os.path.islink(path) else ""
        return link.startswith("/proc/") or os.path.realpath(os.path.dirname(path)).startswith("/proc/")
    return not stat.S_ISDIR(mode)


def sync_folder(folder: Path) -> None:
    """Wait until the names in a folder are on the disk."""
    if os.name != "posix":
        return  # elsewhere a folder cannot be opened
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sweep(folder: Path) -> None:
    """Remove the temporary files in ``folder`` whose writers are gone."""
    with contextlib.suppress(OSError):
        for entry in os.scandir(folder):
            if entry.name.startswith(".") and entry.name.endswith(".tmp"):
                with contextlib.suppress(OSError):
                    if left_behind(entry.name, entry.stat().st_mtime):
                        os.unlink(entry.path)


def remember(places: Sequence[Path], content: Any) -> Path | None:
    """Write plain values with their checksum at the first writable place; returns it, or None.

    Such a file is a cache: losing it costs time. Only the place's own folder is created, and parents for the last
    place.
    """
    text = json.dumps(content, separators=(",", ":")).encode()
    for place in places:
        with contextlib.suppress(OSError):
            if place is places[-1] or place.parent.parent.is_dir():
                place.parent.mkdir(parents=True, exist_ok=True)
                write_whole(place, f"{hashlib.sha256(text).hexdigest()}\n".encode() + text)
                return place
    return None


def remembered(place: Path) -> Any:
    """The values :func:`remember` wrote at a place; None if they are absent or damaged."""
    try:
        checksum, _, text = place.read_bytes().partition(b"\n")
        return json.loads(text) if checksum == hashlib.sha256(text).hexdigest().encode() else None
    except (OSError, ValueError, RecursionError):
        return None


def read_yaml(path: Path) -> Any:
    """The content of a YAML file as plain values.

    Raises OSError, UnicodeDecodeError, or yaml.YAMLError for text that is no YAML or has a key twice in one mapping.
    """
    import yaml

    return yaml.load(path.read_text(encoding="utf-8"), Loader=_yaml_loader())


@functools.cache
def _yaml_loader() -> Any:
    """PyYAML's safe loader, for which 1e-3 is a number and a duplicate key an error; by libyaml, if it is installed, in
    a tenth of the time.
    """
    import yaml

    class Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
        def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
            keys = [key.value for key, _ in node.value if key.tag == yaml.resolver.BaseResolver.DEFAULT_SCALAR_TAG]
            if twice := next((key for key in keys if keys.count(key) > 1), None):
                raise yaml.constructor.ConstructorError(None, None, f"found duplicate key {twice}", node.start_mark)
            return super().construct_mapping(node, deep)

    exponent = re.compile(r"^[-+]?[0-9]+(?:\.[0-9]*)?[eE][-+]?[0-9]+$")  # 1e-3, a text in YAML 1.1
    Loader.add_implicit_resolver("tag:yaml.org,2002:float", exponent, list("-+0123456789"))
    return Loader


def user_cache() -> Path:
    """boostrun's folder in the user's cache; it may not exist."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(base) / "boostrun"


def owner() -> str:
    """The identity of this process in temporary names: machine, process number and, if known, its start time."""
    return "-".join([_machine(), ".".join(filter(None, [str(os.getpid()), _started(os.getpid())]))])


def left_behind(name: str, changed: float) -> bool:
    """Whether the writer of a temporary file with this name, last changed at ``changed``, is gone."""
    made_by = made_here(name)
    return time.time() - changed > _ABANDONED if made_by is None else not made_by.alive


class Maker(NamedTuple):
    """A process of this machine: its number and start time (empty if unknown)."""

    number: int
    started: str = ""

    @property
    def alive(self) -> bool:
        """Whether it is running; True if the system does not say."""
        if os.name != "posix":
            return True
        try:
            os.kill(self.number, 0)
        except ProcessLookupError:
            return False
        except (OSError, OverflowError):
            pass
        return not self.started or _started(self.number) in ("", self.started)


def made_here(name: str) -> Maker | None:
    """The process of this machine that chose a temporary name; None if another machine did."""
    found = _OWNED.search(name)
    return Maker(int(found[2]), found[3] or "") if found and found[1] == _machine() else None


def _started(process: int) -> str:
    """The start time of a process in ticks of the system's clock; empty if unknown."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return ""


@functools.cache
def _machine() -> str:
    """The scope of process numbers: a machine since its boot, or a container in it."""
    parts = [platform.node()]
    with contextlib.suppress(OSError):
        parts += [Path("/proc/sys/kernel/random/boot_id").read_text(), os.readlink("/proc/self/ns/pid")]
    return hashlib.sha256("".join(parts).encode()).hexdigest()[:8]
