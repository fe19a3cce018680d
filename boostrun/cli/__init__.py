"""The ``boostrun`` command: finds the verb, hands over, and turns errors into one sentence and an exit code.

Nothing heavy is imported here: help and completion answer at once.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import io
import sys
from collections.abc import Sequence
from pathlib import Path

from boostrun.cli import streams
from boostrun.cli.arguments import parse
from boostrun.errors import BoostrunError
from boostrun.signals import EXIT, INTERRUPTED, ignore, terminated
from boostrun.signals import prepare as hear_signals

_TRIALS = ("run", "reproduce", "tune", "frontier", "predict")  # verbs whose process uses estimators for nothing else
_LONGEST = 1000  # characters of a sentence


def main(argv: Sequence[str] | None = None, alone: bool = False) -> int:
    """Run a command line; returns its exit code (0 done, 1 some trials failed, 2 bad usage, 130 interrupted).

    ``alone``: nobody else uses estimators in this process.
    """
    argv = sys.argv[1:] if argv is None else list(argv)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream.errors in ("strict", "surrogateescape"):
            stream.reconfigure(errors="backslashreplace")  # names of files may hold what no encoding has
    told = ""
    try:
        if argv and argv[0] in ("--shell-completion", "-sc"):
            return importlib.import_module("boostrun.cli.completion").main(argv[1:])
        words = parse(argv)
        if "help" in words.flags or not argv:
            from boostrun.cli import help

            print(help.page(words.about) if words.about else help.usage(), end="")
            return 0
        if "version" in words.flags:
            from boostrun import __version__

            print(f"boostrun {__version__}")
            return 0
        if words.config_dir is not None:  # its papers count for every verb, whatever is looked up first
            from boostrun.config import catalogue

            catalogue.read_own_papers(Path(words.config_dir))
        if alone and words.verb in _TRIALS:
            from boostrun.methods import scikit_learn

            scikit_learn.spare()
        return importlib.import_module(f"boostrun.cli.{words.verb}").main(words)
    except BoostrunError as error:
        told = str(error)
        print(f"boostrun: {_cut(told)}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(INTERRUPTED, file=sys.stderr)
        return 130
    except (OSError, MemoryError) as error:
        print(f"boostrun: {_cut(_system_sentence(error))}", file=sys.stderr)
        return 2
    finally:
        _tell_set_aside()
        if argv[:1] not in (["--shell-completion"], ["-sc"]):
            _tell_left_out(told)


def command() -> int:
    """The installed command: :func:`main` with standard streams that may be lost, and 143 where SIGTERM ended it.

    It is deaf to ctrl-C and SIGTERM once that has ended and the interpreter closes down.
    """
    streams.prepare()
    gc.set_threshold(50_000, 20, 100)  # records are many objects and no cycles: a tenth of the time of claims
    hear_signals()
    code = main(alone=True)
    gc.freeze()  # what is kept ends with the process: nothing is looked through once more
    ignore()
    try:
        sys.stdout.flush()
    except BoostrunError as error:
        print(f"boostrun: {error}", file=sys.stderr)
        code = code or 2
    return EXIT if code == 130 and terminated() else code


def _cut(sentence: str) -> str:
    """A sentence that can be read, and printed, however long the word was that it speaks of."""
    if len(sentence) > _LONGEST:
        sentence = f"{sentence[: _LONGEST // 2]} ... {sentence[-_LONGEST // 2 :]}"
    return sentence.encode("utf-8", "backslashreplace").decode()


def _tell_set_aside() -> None:
    """One line about records that do not fit, where any were read."""
    record = sys.modules.get("boostrun.store.record")
    if record is not None and (line := record.set_aside_line()):
        with contextlib.suppress(OSError):
            print(line, file=sys.stderr)


def _tell_left_out(told: str) -> None:
    """One line for each thing that is installed and broken, but those that an error has ``told``."""
    catalogue = sys.modules.get("boostrun.config.catalogue")
    for one in catalogue.left_out() if catalogue is not None else ():
        if str(one) not in told:
            with contextlib.suppress(OSError):
                print(f"boostrun: {_cut(str(one))}", file=sys.stderr)


def _system_sentence(error: OSError | MemoryError) -> str:
    if isinstance(error, MemoryError):
        return f"out of memory ({error}); a smaller run.memory_mb, bins or features may fit"
    place = f" ({error.filename})" if error.filename else ""
    return f"{error.strerror or error}{place}"


if __name__ == "__main__":
    sys.exit(command())
