"""``python -m boostrun``: the same as the ``boostrun`` command."""

import sys

from .cli import main

sys.exit(main())
