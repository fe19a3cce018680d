"""From the words of a command to checked settings.

First the user's own choices among the words are added to the catalogue (:mod:`boostrun.extend`). Then the configuration
is composed and checked (:mod:`boostrun.config`). Last, the input of the data set refuses settings that it cannot serve,
and it is decided whether each trial splits the samples in a new way.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Sequence
from typing import Any

from boostrun import config
from boostrun.config import catalogue
from boostrun.config.compose import Composer
from boostrun.config.settings import Settings, data_root
from boostrun.config.words import combinations, parse, parse_single
from boostrun.data.options import splits_anew
from boostrun.extend.registry import take_named, try_out
from boostrun.inputs import input_of


def compose_one(words: Sequence[str], config_dir: str | None = None) -> Settings:
    """Compose and check a single configuration; BoostrunError, one sentence, for words that do not fit.

    >>> compose_one(["algo=wsam", "r=100"]).budget
    {'r': 100, 'q': 100, 'T': 250}
    """
    overrides = parse_single(words, "add -m to run them all")
    return _settings(Composer(config_dir), overrides)


def compose_all(words: Sequence[str], config_dir: str | None = None) -> list[Settings]:
    """Compose and check every combination of a sweep, each with the keys that its method has."""
    compose = Composer(config_dir)
    return [_settings(compose, parse(cell)) for cell in _cells(words, compose)]


def expand(words: Sequence[str], config_dir: str | None = None) -> list[list[str]]:
    """The words of every combination of a sweep, the last one varying fastest.

    If several methods (data sets, features) are swept, each gets the keys that it has.

    >>> expand(["algo=logitboost,geem", "r=100", "T=5"])
    [['algo=logitboost', 'T=5'], ['algo=geem', 'r=100', 'T=5']]
    """
    return _cells(words, Composer(config_dir))


def composer(config_dir: str | None = None) -> Callable[[Sequence[str]], Settings]:
    """A function from words to settings, as :func:`compose_one`, for many cells: files are composed once for all."""
    compose = Composer(config_dir)
    return lambda words: _settings(compose, parse(words))


def _cells(words: Sequence[str], compose: Composer) -> list[list[str]]:
    return combinations(take_named(parse(words), compose.config_dir), functools.cache(compose.keys_of))


def _settings(compose: Composer, overrides: Sequence[Any]) -> Settings:
    overrides = take_named(overrides, compose.config_dir)
    settings = config.check(compose(overrides))
    algo, dataset, root = settings.algo, settings.dataset, dict(settings.root)
    method, declared = catalogue.method(algo), catalogue.dataset(dataset)
    input_of(declared.gives).refuse(algo["name"], method, dataset, settings.features, root)
    requested = root["trials"] if any(override.key_or_group == "trials" for override in overrides) else 1
    splits = splits_anew(dataset, data_root(root))
    if not method.random and not splits:
        root["trials"] = 1  # all of them would be the same
    try_out(algo, settings.budget)
    return dataclasses.replace(settings, root=root, requested=requested, splits=splits)
