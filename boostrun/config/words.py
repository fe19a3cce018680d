"""The words of a command line, ``key=value``, as Hydra reads them; what it cannot read is told in one sentence."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any, NamedTuple

from boostrun.config.settings import BUDGET_KEYS, Choices
from boostrun.errors import BoostrunError

MOST_CELLS = 100_000  # of one sweep
_DEEPEST = 20  # brackets inside each other: more take the parser minutes
_CLASSES = ("algo", "algo.class")
_parsed: dict[str, Any] = {}  # words that were read before: a paper's cells have most of theirs in common


def parse(overrides: Iterable[str]) -> list[Any]:
    """Hydra's overrides of words ``key=value``; BoostrunError, one sentence, for words that are none."""
    from hydra.core.override_parser.types import Glob

    parsed = []
    for line in overrides:
        if line in _parsed:
            parsed.append(_parsed[line])
            continue
        override = _read(line)
        if override.is_delete():
            raise BoostrunError(f"{line}: a key cannot be taken away; without it on the line it has its default")
        if override.is_interval_sweep() or (override.is_choice_sweep() and isinstance(override.value(), Glob)):
            raise BoostrunError(f"{line} lists no values: separate them by commas, as in r=100,250, or give range(1,5)")
        if len(_parsed) < MOST_CELLS:
            _parsed[line] = override
        parsed.append(override)
    return parsed


@functools.cache
def _parser() -> Any:
    from hydra.core.override_parser.overrides_parser import OverridesParser

    return OverridesParser.create()


def _read(line: str) -> Any:
    from hydra.errors import HydraException, OverrideParseException

    if "=" not in line and not line.startswith("~"):
        raise BoostrunError(f"cannot read '{line}': settings are given as key=value, as in dataset=mnist r=250")
    if _depth(line) > _DEEPEST:
        raise BoostrunError(f"cannot read '{line}': its brackets are nested too deeply")
    try:
        return _parser().parse_overrides([line])[0]
    except OverrideParseException:
        raise BoostrunError(
            f"cannot read '{line}': quote values that hold spaces, brackets or commas, as in \"key='a, b'\""
        ) from None
    except (ValueError, HydraException) as error:  # a number of 5,000 digits, a range with steps of 0
        raise BoostrunError(f"cannot read '{line}': {error}") from None


class Span(NamedTuple):
    """From one number to another, as typed; ``log``: in the logarithm."""

    low: float
    high: float
    log: bool


def searched(words: Iterable[str]) -> tuple[list[str], dict[str, Span | Choices]]:
    """The words that are no ranges, and of those that are key -> what it lists, as Hydra's sweepers read them.

    A range is ``interval(low,high)`` or ``tag(log,interval(low,high))`` of a key of the method or a budget, and so is
    ``choice(a,b)``; values without a word around them are a sweep. BoostrunError for words that cannot be read.

    >>> searched(["algo=geem", "T=interval(10,50)", "algo.base=choice(stump,gnb)", "r=10,20"])
    (['algo=geem', 'r=10,20'], {'T': Span(low=10.0, high=50.0, log=False), 'algo.base': Choices('stump', 'gnb')})
    """
    rest, found = list[str](), dict[str, Span | Choices]()
    for line in words:
        key = line.partition("=")[0]
        if not (key in BUDGET_KEYS or key.startswith("algo.")) or "(" not in line:
            rest.append(line)
            continue
        override = _read(line)
        swept = override.value()
        if override.is_interval_sweep():
            found[key] = Span(swept.start, swept.end, "log" in swept.tags)
        elif override.is_choice_sweep() and not getattr(swept, "simple_form", True):
            found[key] = Choices(*(getattr(value, "text", value) for value in swept.list))
        else:
            rest.append(line)
    return rest, found


def listed(override: Any) -> list[str]:
    """The values that an override lists, as they are typed; BoostrunError for more than any sweep can have."""
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
    if override.get_key_element() in _CLASSES:  # Hydra writes their colons with a sign of its own
        values = [value.replace("\\:", ":") for value in values]
    return values


def _depth(line: str) -> int:
    """How many brackets are open at once, at most."""
    open_ = [0]
    for character in line:
        if character in "([{":
            open_.append(open_[-1] + 1)
        elif character in ")]}":
            open_.append(open_[-1] - 1)
    return max(open_)
