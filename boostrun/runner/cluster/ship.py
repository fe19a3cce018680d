"""Feature banks for machines that do not see them: copied once to each, to the same path, through the engine."""

from __future__ import annotations

import contextlib
import os
import shutil
import uuid
from collections.abc import Iterable
from pathlib import Path

from boostrun.errors import BoostrunError
from boostrun.runner.cluster import Engine

_PIECE = 32 << 20  # bytes of one message


def ship(engine: Engine, folders: Iterable[Path], piece: int = _PIECE) -> int:
    """Copy finished banks to the nodes that do not have them, file by file in pieces; returns the bytes sent.

    A node that sees the bank, because the cache root is on a shared file system or it was sent before, gets nothing.
    Two nodes that share a disk of their own are asked one after the other, so that it is written once.

    Raises
    ------
    BoostrunError
        When a node can write no file at the path of the bank.
    """
    sent = 0
    nodes = engine.nodes()
    for folder in map(str, folders):
        for node in nodes:
            if engine.ask(node, has_bank, folder):
                continue
            temporary = f"{folder}.sent-{uuid.uuid4().hex[:12]}"
            for path in sorted(path for path in Path(folder).iterdir() if path.is_file()):
                sent += _send(engine, node, path, temporary, piece)
            _told(engine.ask(node, finish, temporary, folder), node)
    return sent


def _send(engine: Engine, node: str, path: Path, temporary: str, piece: int) -> int:
    start = 0
    with open(path, "rb") as file:
        while (data := file.read(piece)) or start == 0:
            _told(engine.ask(node, write, temporary, path.name, start, data), node)
            start += len(data)
            if not data:
                break
    return start


def _told(problem: str, node: str) -> None:
    if problem:
        raise BoostrunError(
            f"node {node} does not see the feature bank and cannot keep a copy ({problem}); cache_root=... must be a "
            "folder that all machines share, or one that each can write"
        )


# -- what is asked of a node --------------------------------------------------------------------------------------


def has_bank(folder: str) -> bool:
    """Whether a finished bank is here."""
    return (Path(folder) / "meta.json").is_file()


def write(folder: str, name: str, start: int, data: bytes) -> str:
    """Write a piece of a file of a bank that is not finished yet; says what went wrong, if anything."""
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
        with open(Path(folder) / name, "ab") as file:
            file.truncate(start)
            file.write(data)
    except OSError as error:
        shutil.rmtree(folder, ignore_errors=True)
        return f"{error.strerror or error}: {folder}"
    return ""


def finish(temporary: str, folder: str) -> str:
    """Give a bank that is whole its name; one that came there meanwhile stays."""
    with contextlib.suppress(OSError):
        os.rename(temporary, folder)
    shutil.rmtree(temporary, ignore_errors=True)
    return "" if has_bank(folder) else f"cannot be named {folder}"
