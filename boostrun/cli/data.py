"""``boostrun data NAME [dataset.key=value]``: fetch and verify a data set, or say which file belongs where."""

from __future__ import annotations

from boostrun.cli.arguments import Arguments
from boostrun.config import catalogue
from boostrun.errors import BoostrunError
from boostrun.runner.compose import compose_one
from boostrun.runner.plan import roots


def main(words: Arguments) -> int:
    """Fetch the data set where it is missing and can be fetched, verify it, and say in one line what is there."""
    from boostrun import data
    from boostrun.extend import loader

    if not words.names:
        known = ", ".join(catalogue.summaries("dataset", words.config_dir))
        raise BoostrunError(f"data needs the name of a data set ({known})")
    settings = compose_one([*naming(words.names[0]), *words.overrides], words.config_dir)
    root, _ = roots(settings)
    print(data.fetch(loader.config_for(settings.dataset, root), root))
    return 0


def naming(name: str) -> list[str]:
    """The overrides that name a data set, with an algorithm that can be trained on it.

    >>> naming("digits")
    ['dataset=digits']
    """
    from boostrun.config import catalogue

    declared = catalogue.datasets().get(name)
    able = (each for each, method in catalogue.methods().items() if declared and declared.gives in method.inputs)
    fitting = next(able, None)
    return [f"dataset={name}", *([f"algo={fitting}"] if fitting else [])]
