"""The error shown to users: one sentence, no traceback, exit code 2."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

_LONGEST = 100  # characters of a word that a name may be meant by: comparing takes time


class BoostrunError(ValueError):
    """An error the user can correct; the message is one short paragraph: the fault, its place, the allowed values."""


class DataMissingError(BoostrunError):
    """A data set's files are not there; the message says which file belongs where."""


def did_you_mean(word: str, allowed: Iterable[str]) -> str:
    """The nearest allowed spelling as a clause to append to a message, or an empty string.

    >>> did_you_mean("gem", ["geem", "wsam", "rand"])
    "; did you mean 'geem'?"
    >>> did_you_mean("zzz", ["geem"])
    ''
    """
    match = difflib.get_close_matches(str(word)[:_LONGEST].lower(), list(allowed), n=1, cutoff=0.5)
    return f"; did you mean '{match[0]}'?" if match else ""
