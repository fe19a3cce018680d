"""Standard streams as a command finds them: closed, full, read by nobody, or unable to show more than ASCII."""

from __future__ import annotations

import codecs
import errno
import io
import os
import sys
from typing import TextIO

from boostrun.errors import BoostrunError

_IN_ASCII = {"±": "+-", "·": ".", "…": "...", "–": "-", "—": "-", "×": "x", "≤": "<=", "≥": ">=", "━": "=", "†": "+"}


def prepare() -> None:
    """Make standard output and error such that writing to them can end nothing but what is written.

    A closed stream leads nowhere (its number would be the next opened file's, into which others then print); so does
    one whose reader has gone, from then on. What the encoding lacks is written in ASCII. Where output is lost for
    another reason, as on a full disk, standard output raises BoostrunError, and standard error is silent.
    """
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free
            os.set_inheritable(number, True)
    codecs.register_error("boostrun", _in_ascii)
    sys.stdout = _Stream(sys.stdout, 1, lossy=False)
    sys.stderr = _Stream(sys.stderr, 2, lossy=True)


class _Stream(io.TextIOWrapper):
    """A standard stream that may be lost."""

    def __init__(self, stream: TextIO | None, number: int, lossy: bool) -> None:
        buffer = open(number, "wb", closefd=False) if stream is None else stream.buffer  # noqa: SIM115
        encoding = "utf-8" if stream is None else stream.encoding
        super().__init__(buffer, encoding, "boostrun", line_buffering=lossy or buffer.isatty())
        self._number, self._lossy = number, lossy

    def write(self, text: str) -> int:
        try:
            return super().write(text)
        except OSError as error:
            self._lost(error)
            return len(text)

    def flush(self) -> None:
        try:
            super().flush()
        except OSError as error:
            self._lost(error)

    def _lost(self, error: OSError) -> None:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self._number)
        os.close(nowhere)
        if not self._lossy and error.errno != errno.EPIPE:  # a reader such as `head` has seen what it wanted
            raise BoostrunError(f"standard output cannot be written: {error.strerror or error}") from None


def _in_ascii(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    return "".join(_IN_ASCII.get(letter, "?") for letter in error.object[error.start : error.end]), error.end
