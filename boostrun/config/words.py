"""The words of a command line, ``key=value``, read by Hydra's parser: the values they list, ranges, sweeps.

Each word is parsed once in a process. A word that cannot be read becomes one sentence.
"""

from __future__ import annotations

import functools
import itertools
import math
import os
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, NamedTuple

from boostrun.config.settings import BUDGET_KEYS, PLACES, Choices
from boostrun.errors import BoostrunError, did_you_mean

MOST_CELLS = 100_000  # of one sweep
_DEEPEST = 20  # nested brackets; the parser takes minutes for more
_CLASSES = ("algo", "algo.class")  # keys whose values are module:Class
_GROUPS = ("algo", "dataset", "features")  # a sweep may mix several choices of these
_BARE = re.compile(r"[A-Za-z_/][\w/.@+-]*(:[\w/.@+-]+)?", re.ASCII)  # texts that need no quotes
_NOT_TEXTS = ("null", "true", "false", "nan", "inf")
_QUOTES = frozenset("'\"")
_STRUCTURE = _QUOTES | frozenset("()[]{},$\\")  # characters by which a value is more than one text
_UNDERSCORED = re.compile(r"(?<=[=,:(\[{])(\s*)([+-]?\.?\d[\d.eE+-]*_[\d_.eE+-]*)(?=\s*(?:[,:)\]}]|$))")


def parse(words: Iterable[str]) -> list[Any]:
    """Hydra's overrides of words ``key=value``; BoostrunError for a word that cannot be read or sets no value."""
    return [_parse(word) for word in words]


def parse_single(words: Iterable[str], advice: str) -> list[Any]:
    """As :func:`parse`; BoostrunError, with an advice, for a word that lists several values."""
    overrides = parse(words)
    for override in overrides:
        if override.is_sweep_override():
            raise BoostrunError(f"{override.input_line} lists several values: {advice}")
    return overrides


@functools.lru_cache(maxsize=MOST_CELLS)
def _parse(word: str) -> Any:
    from hydra.core.override_parser.types import Glob

    override = _read(word)
    if override.is_delete():
        raise BoostrunError(f"{word}: a key cannot be taken away; without it on the line it has its default")
    if override.is_interval_sweep() or (override.is_choice_sweep() and isinstance(override.value(), Glob)):
        raise BoostrunError(f"{word} lists no values: separate them by commas, as in r=100,250, or give range(1,5)")
    return override


@functools.lru_cache(maxsize=MOST_CELLS)
def _read(word: str) -> Any:
    from hydra.errors import HydraException, OverrideParseException

    if "=" not in word and not word.startswith("~"):
        raise BoostrunError(f"cannot read '{word}': settings are given as key=value, as in dataset=mnist r=250")
    if _depth(word) > _DEEPEST:
        raise BoostrunError(f"cannot read '{word}': its brackets are nested too deeply")
    try:
        return _parsed(word)
    except OverrideParseException:
        raise BoostrunError(
            f"cannot read '{word}': quote values that hold spaces, brackets or commas, as in \"key='a, b'\""
        ) from None
    except (ValueError, HydraException) as error:  # a number of 5,000 digits, a range with steps of 0
        raise BoostrunError(f"cannot read '{word}': {error}") from None


def _parsed(word: str) -> Any:
    """Hydra's override, with values that Hydra's grammar does not read as texts: 1_0, é.csv, ~/a.csv, a=b.csv."""
    from hydra.errors import OverrideParseException

    key, _, value = word.partition("=")
    if "_" in value and not _QUOTES & set(value):
        word = _UNDERSCORED.sub(r"\1'\2'", word)
    try:
        return _parser().parse_overrides([word])[0]
    except OverrideParseException:
        if not value or (_STRUCTURE & set(value) and not os.path.exists(value)):
            raise
        return _parser().parse_overrides([f"{key}={quoted(value)}"])[0]


@functools.cache
def _parser() -> Any:
    from hydra.core.override_parser.overrides_parser import OverridesParser

    return OverridesParser.create()


def _depth(word: str) -> int:
    """The largest number of brackets that are open at once."""
    depths = [0]
    for character in word:
        if character in "([{":
            depths.append(depths[-1] + 1)
        elif character in ")]}":
            depths.append(depths[-1] - 1)
    return max(depths)


def listed(override: Any) -> list[str]:
    """The values that an override lists, as they are typed; BoostrunError for more than a sweep may have."""
    if not override.is_sweep_override():
        return [override.get_value_string()]
    if override.is_range_sweep():
        swept = override.value()
        if swept.step == 0:
            raise BoostrunError(f"{override.input_line} has steps of 0, so it would never end")
        count = (swept.stop - swept.start) / swept.step
        if not count <= MOST_CELLS:
            raise BoostrunError(f"{override.input_line} lists {count:,.0f} values: at most {MOST_CELLS:,} can be swept")
    values = list(override.sweep_string_iterator())
    if override.get_key_element() in _CLASSES:  # Hydra escapes their colons
        values = [value.replace("\\:", ":") for value in values]
    return values


def word(value: Any) -> str:
    """A value as it is typed.

    >>> word(None), word(True), word(0.5), word(["lbp", "hog"])
    ('null', 'true', '0.5', '[lbp,hog]')
    """
    if value is None or isinstance(value, bool):
        return "null" if value is None else str(value).lower()
    return f"[{','.join(map(word, value))}]" if isinstance(value, (list, tuple)) else str(value)


def quoted(value: Any) -> str:
    """A value as an override reads it: a text that could be read as something else is quoted.

    >>> print(quoted("mnist"), quoted(None), quoted("it's, this"), quoted("7"), quoted(["a", "b c"]))
    mnist null 'it\\'s, this' '7' [a,'b c']
    """
    if isinstance(value, list):
        return f"[{','.join(map(quoted, value))}]"
    if not isinstance(value, str) or (_BARE.fullmatch(value) and value.lower() not in _NOT_TEXTS):
        return word(value)
    escaped = re.sub(r"(\\*)('|$)", lambda found: found[1] * 2 + ("\\'" if found[2] else ""), value)
    return "'" + re.sub(r"(\\*)\$\{", lambda found: found[1] * 2 + "\\${", escaped) + "'"


def keys_and_values(words: Iterable[str]) -> list[tuple[str, list[str]]]:
    """For each word: its key and the values it lists.

    >>> keys_and_values(["algo=rand,geem", "r=100"])
    [('algo', ['rand', 'geem']), ('r', ['100'])]
    """
    return _pairs(parse(words))


def _pairs(overrides: Iterable[Any]) -> list[tuple[str, list[str]]]:
    return [(override.get_key_element(), listed(override)) for override in overrides]


def words_of_places(words: Iterable[str]) -> list[str]:
    """The words that say where data, records and results lie.

    >>> words_of_places(["r=100", "results=mine"])
    ['results=mine']
    """
    return [f"{key}={values[0]}" for key, values in keys_and_values(words) if key in PLACES]


def single_values(words: Iterable[str]) -> dict[str, Any]:
    """The one value of each key; BoostrunError for a word that lists several.

    >>> single_values(["n=100", "path=my.csv"])
    {'n': 100, 'path': 'my.csv'}
    """
    return {override.key_or_group: override.value() for override in parse_single(words, "one is needed")}


class Span(NamedTuple):
    """A range of numbers as typed; ``log``: it is searched on a logarithmic scale."""

    low: float
    high: float
    log: bool


def split_ranges(words: Iterable[str]) -> tuple[list[str], dict[str, Span | Choices]]:
    """The words that are no ranges, and the ranges by key, as Hydra's sweepers read them.

    A range is ``interval(low,high)`` or ``tag(log,interval(low,high))`` of a budget or a key of the method;
    ``choice(a,b)`` counts as one too. Values without such a word around them are a sweep.

    >>> split_ranges(["algo=geem", "T=interval(10,50)", "algo.base=choice(stump,gnb)", "r=10,20"])
    (['algo=geem', 'r=10,20'], {'T': Span(low=10.0, high=50.0, log=False), 'algo.base': Choices('stump', 'gnb')})
    """
    rest, ranges = list[str](), dict[str, Span | Choices]()
    for word in words:
        key = word.partition("=")[0]
        if not (key in BUDGET_KEYS or key.startswith("algo.")) or "(" not in word:
            rest.append(word)
            continue
        override = _read(word)
        swept = override.value()
        if override.is_interval_sweep():
            ranges[key] = Span(swept.start, swept.end, "log" in swept.tags)
        elif override.is_choice_sweep() and not getattr(swept, "simple_form", True):
            ranges[key] = Choices(*(getattr(value, "text", value) for value in swept.list))
        else:
            rest.append(word)
    return rest, ranges


def combinations(overrides: Iterable[Any], keys_of: Callable[[str, str], Collection[str]]) -> list[list[str]]:
    """The words of each cell of a sweep, each cell once, the last word varying fastest.

    If several methods (data sets, features) are swept, each gets the keys that it has.

    Parameters
    ----------
    overrides : parsed words, which may list several values
    keys_of : group and choice -> its keys as they are typed, for a method with its budgets

    Raises BoostrunError for a key that none of the swept choices has, and for more than MOST_CELLS cells.

    >>> known = {"geem": ["r", "q", "T"], "logitboost": ["T"]}
    >>> words = ["algo=geem,logitboost", "r=10,20", "T=5"]
    >>> for line in combinations(parse(words), lambda group, name: known[name]):
    ...     print(*line)
    algo=geem r=10 T=5
    algo=geem r=20 T=5
    algo=logitboost T=5
    """
    pairs = _pairs(overrides)
    count = math.prod(len(values) for _, values in pairs)
    if count > MOST_CELLS:
        raise BoostrunError(f"this sweep has {count:,} combinations: at most {MOST_CELLS:,} can be run at once")
    swept = {key: values for key, values in pairs if key in _GROUPS and len(values) > 1}
    lacking: dict[tuple[str, str], set[str]] = {}  # (group, choice) -> keys that it does not have
    for key, values in pairs:
        group = _group(key)
        if group in swept:
            without = [name for name in swept[group] if key not in keys_of(group, name)]
            if len(without) == len(swept[group]):
                raise BoostrunError(_no_choice_has(key, values, group, swept[group], keys_of))
            for name in without:
                lacking.setdefault((group, name), set()).add(key)
    cells = []
    for cell in itertools.product(*([(key, value) for value in values] for key, values in pairs)):
        left_out = set().union(*(lacking.get(pair, ()) for pair in cell if pair[0] in swept))
        cells.append(tuple(f"{key}={value}" for key, value in cell if key not in left_out))
    return [list(cell) for cell in dict.fromkeys(cells)]


def _group(key: str) -> str:
    """The group whose choices may have this key, or ""."""
    first, dot, _ = key.partition(".")
    return "algo" if key in BUDGET_KEYS else first if dot and first in _GROUPS else ""


def _no_choice_has(
    key: str, values: Sequence[str], group: str, names: Sequence[str], keys_of: Callable[[str, str], Collection[str]]
) -> str:
    if key not in BUDGET_KEYS:
        known = dict.fromkeys(one for name in names for one in keys_of(group, name) if one not in BUDGET_KEYS)
        return f"none of {group}={','.join(names)} has a key '{key.partition('.')[2]}'{did_you_mean(key, known)}"
    takes = {name: [one for one in keys_of(group, name) if one in BUDGET_KEYS] for name in names}
    budgets = "; ".join(f"{name} takes {', '.join(budget) or 'no budget'}" for name, budget in takes.items())
    return f"none of {group}={','.join(names)} has a use for {key}={','.join(values)} ({budgets})"
