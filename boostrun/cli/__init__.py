"""The ``boostrun`` command: calls the verb, and turns errors into one sentence and an exit code.

Nothing heavy is imported here, so help and completion answer at once.
"""

from __future__ import annotations

import codecs
import contextlib
import errno
import gc
import importlib
import io
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

from boostrun.cli.arguments import OWN_KEYS, REFUSED_KEYS, Arguments, parse
from boostrun.errors import BoostrunError, ReservoirSizeError, UnknownKeyError
from boostrun.signals import EXIT, INTERRUPTED, ignore, prepare, terminated

# verbs whose process uses scikit-learn for nothing else
_TRIALS = ("run", "fit", "reproduce", "tune", "frontier", "predict")
_HOMES = {  # modules of the verbs that share one
    "check": "doctor:check", "claims": "reproduce:claims", "data": "doctor:data",
    "fit": "tune:fit", "frontier": "reproduce:frontier", "ls": "doctor:ls", "plan": "run:plan",
    "predict": "export:predict", "table": "reproduce:table",
}  # fmt: skip
_LONGEST = 1000  # characters of a sentence
_IN_ASCII = {"±": "+-", "·": ".", "…": "...", "–": "-", "—": "-", "×": "x", "≤": "<=", "≥": ">=", "━": "=", "†": "+"}


def main(argv: Sequence[str] | None = None, alone: bool = False) -> int:
    """Run a command line; returns its exit code (0 done, 1 some trials failed, 2 bad usage, 130 interrupted).

    ``alone``: this process uses estimators for nothing else.
    """
    argv = sys.argv[1:] if argv is None else list(argv)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream.errors in ("strict", "surrogateescape"):
            stream.reconfigure(errors="backslashreplace")  # file names may contain what no encoding has
    sentence, words = "", Arguments([])
    try:
        if argv and argv[0] in ("--shell-completion", "-sc"):
            return importlib.import_module("boostrun.cli.help").complete(argv[1:])
        words = parse(argv)
        if "help" in words.flags or not argv:
            from boostrun.cli import help

            print(help.page(words.typed_verb) if words.typed_verb else help.usage(), end="")
            return 0
        if "version" in words.flags:
            from boostrun import __version__

            print(f"boostrun {__version__}")
            return 0
        if words.config_dir is not None:  # before anything is looked up
            from boostrun.config import catalogue

            catalogue.read_own_papers(Path(words.config_dir))
        if alone and words.verb in _TRIALS:
            from boostrun.methods import scikit_learn

            scikit_learn.spare()
        return _carry_out(words)
    except BoostrunError as error:
        sentence = str(error)
        if isinstance(error, UnknownKeyError):
            sentence = error.sentence(OWN_KEYS.get(words.verb, ()), REFUSED_KEYS.get(words.verb, ()))
        print(f"boostrun: {_printable(sentence)}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(INTERRUPTED, file=sys.stderr)
        return 130
    except MemoryError as error:
        advice = "a smaller run.memory_mb, bins or features may fit"
        print(f"boostrun: out of memory ({_printable(str(error))}); {advice}", file=sys.stderr)
        return 2
    except OSError as error:
        place = f" ({error.filename})" if error.filename else ""
        print(f"boostrun: {_printable(f'{error.strerror or error}{place}')}", file=sys.stderr)
        return 2
    finally:
        with contextlib.suppress(OSError):
            for line in _last_lines(sentence, "--shell-completion" in argv[:1] or "-sc" in argv[:1]):
                print(line, file=sys.stderr)


def _carry_out(words: Arguments) -> int:
    """Call the verb; if the default reservoir does not fit a table of the user's, once more with a smaller one."""
    module, _, function = _HOMES.get(words.verb, words.verb).partition(":")
    verb = getattr(importlib.import_module(f"boostrun.cli.{module}"), function or "main")
    try:
        return verb(words)
    except ReservoirSizeError as error:
        from boostrun.runner.plan import smaller_reservoir

        sizes = smaller_reservoir(error, words.overrides)
        words.overrides += sizes
        words.argv += sizes  # records name the command that makes them again
        return verb(words)


def command() -> int:
    """The installed command: :func:`main` with robust standard streams, and exit code 143 after SIGTERM.

    Once :func:`main` has ended, ctrl-C and SIGTERM are ignored while the interpreter shuts down.
    """
    _prepare_streams()
    gc.set_threshold(50_000, 20, 100)  # records are many objects without cycles: saves a tenth of the time of claims
    prepare()
    code = main(alone=True)
    gc.freeze()  # everything ends with the process
    ignore()
    try:
        sys.stdout.flush()
    except BoostrunError as error:
        print(f"boostrun: {error}", file=sys.stderr)
        code = code or 2
    return EXIT if code == 130 and terminated() else code


def _printable(sentence: str) -> str:
    """A sentence that can be printed, shortened if it contains a very long word."""
    if len(sentence) > _LONGEST:
        sentence = f"{sentence[: _LONGEST // 2]} ... {sentence[-_LONGEST // 2 :]}"
    return sentence.encode("utf-8", "backslashreplace").decode()


def _last_lines(sentence: str, completing: bool) -> list[str]:
    """Lines about records that were set aside, and about broken packages, unless the error's sentence names them."""
    record, catalogue = (sys.modules.get(f"boostrun.{name}") for name in ("store.cell", "config.catalogue"))
    lines = [record.set_aside_line()] if record is not None else []
    if catalogue is not None and not completing:
        lines += [f"boostrun: {_printable(str(one))}" for one in catalogue.left_out() if str(one) not in sentence]
    return [line for line in lines if line]


# -- standard streams --------------------------------------------------------------------------------------------------


def _prepare_streams() -> None:
    """Make writing to standard output and error safe.

    A closed stream is replaced by one that leads nowhere (otherwise the next opened file would get its number, and
    prints of other processes), and so is a stream whose reader has gone. Characters that the encoding lacks are written
    in ASCII. If output is lost for another reason, such as a full disk, standard output raises BoostrunError, and
    standard error stays silent.
    """
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free number
            os.set_inheritable(number, True)
    codecs.register_error("boostrun", _in_ascii)
    sys.stdout = _Stream(sys.stdout, 1, lossy=False)
    sys.stderr = _Stream(sys.stderr, 2, lossy=True)


class _Stream(io.TextIOWrapper):
    """A standard stream whose reader may go away."""

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
        if not self._lossy and error.errno != errno.EPIPE:  # a reader such as `head` has read enough
            raise BoostrunError(f"standard output cannot be written: {error.strerror or error}") from None


def _in_ascii(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    return "".join(_IN_ASCII.get(letter, "?") for letter in error.object[error.start : error.end]), error.end


if __name__ == "__main__":
    sys.exit(command())
