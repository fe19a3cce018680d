"""The installed command, and ``python -m boostrun``: signals are set up before anything else is imported."""

import sys

from boostrun.signals import EXIT, INTERRUPTED, ignore, prepare, terminated


def command() -> int:
    """:func:`boostrun.cli.command`, whose import an interrupt may come into."""
    try:
        prepare()
        from boostrun.cli import command as run

        return run()
    except KeyboardInterrupt:
        ignore()
        print(INTERRUPTED, file=sys.stderr)
        return EXIT if terminated() else 130


if __name__ == "__main__":
    sys.exit(command())
