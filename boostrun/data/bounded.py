"""Text files of which no more is read at a time than memory allows."""

from __future__ import annotations

import gzip
import io
from pathlib import Path
from typing import Any

from boostrun.errors import BoostrunError


class TooMuch(BoostrunError):
    """More text was read for a piece than it may have."""


class BoundedText(io.RawIOBase):
    """The bytes of a file, unpacked where its name ends in .gz, of which ``most`` are handed out until :meth:`renew`.

    Then comes TooMuch with the ``sentence``: a few packed bytes, or one line, may be more than any machine holds.
    """

    def __init__(self, path: Path, most: int, sentence: str):
        self._left = self._most = most
        self._sentence, self._size = sentence, path.stat().st_size
        self._file = open(path, "rb")  # noqa: SIM115
        self._stream: Any = gzip.GzipFile(fileobj=self._file) if path.suffix == ".gz" else self._file

    def readable(self) -> bool:
        """True."""
        return True

    def renew(self) -> None:
        """From here on as many bytes again."""
        self._left = self._most

    def share(self) -> float:
        """How much of the file has been read, 0 to 1."""
        return self._file.tell() / max(1, self._size)

    def readinto(self, buffer) -> int:
        """Fill the first bytes of ``buffer``; returns how many. Raises TooMuch past the limit."""
        content = self._stream.read(len(buffer))
        self._left -= len(content)
        if self._left < 0:
            raise TooMuch(self._sentence)
        buffer[: len(content)] = content
        return len(content)

    def close(self) -> None:
        """Close the file."""
        self._stream.close()
        self._file.close()
        super().close()
