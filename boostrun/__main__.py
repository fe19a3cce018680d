"""``python -m boostrun``: the same as the ``boostrun`` command."""

import sys

from .cli import command

sys.exit(command())
