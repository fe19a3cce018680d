"""``python -m boostrun``: the same as the ``boostrun`` command."""

import sys

from boostrun.cli import command

sys.exit(command())
