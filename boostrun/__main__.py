"""The installed command, and ``python -m boostrun``: signals are set up before anything else is imported."""

import os
import sys

from boostrun.signals import EXIT, INTERRUPTED, ignore, prepare, terminated


def command() -> int:
    """:func:`boostrun.cli.command`, whose import an interrupt may come into."""
    os.environ["MPLBACKEND"] = "agg"  # pictures go to files; matplotlib refuses a name that it does not know
    try:
        prepare()
        from boostrun.cli import command as run

        return run()
    except (KeyboardInterrupt, RuntimeError) as error:
        # while a class is made, Python 3.11 raises RuntimeError from whatever comes
        if not isinstance(error, KeyboardInterrupt) and not isinstance(error.__cause__, KeyboardInterrupt):
            raise
        ignore()
        print(INTERRUPTED, file=sys.stderr)
        return EXIT if terminated() else 130


if __name__ == "__main__":
    sys.exit(command())
