"""``boostrun data NAME [dataset.key=value]``: fetch and verify a data set, or say which file belongs where."""

from __future__ import annotations

import sys

from boostrun.compose import compose_one, options
from boostrun.errors import BoostrunError, DataMissingError
from boostrun.runner.plan import roots
from boostrun.words import Words


def main(words: Words) -> int:
    """Describe the data set; fetch it first where it is missing and can be fetched."""
    from boostrun import data

    if not words.names:
        raise BoostrunError(f"data needs the name of a data set ({', '.join(options('dataset', words.config_dir))})")
    settings = compose_one([f"dataset={words.names[0]}", *words.overrides], words.config_dir)
    root, _ = roots(settings)
    try:
        data.checksum(settings.dataset, root)
    except DataMissingError:
        print(f"{words.names[0]} is not in {root} yet; trying to fetch it", file=sys.stderr)
        print(data.fetch(settings.dataset, root))
    print(data.describe(settings.dataset, root))
    return 0
